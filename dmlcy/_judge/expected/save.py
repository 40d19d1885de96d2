"""Write the folder of expected values: what a recorder kept of a run, with bounds, and the manifest."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np

from dmlcy._desc.memory import dtype_of, in_file
from dmlcy._errors import ModelError
from dmlcy._facts.levels import current_level
from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._frontends.dxdispatch import files, npy
from dmlcy._frontends.dxdispatch.files import distinct
from dmlcy._frontends.dxdispatch.model import Model
from dmlcy._frontends.dxdispatch.operators import tensor_of
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.expected.manifest import NAME, Input, Manifest, Output
from dmlcy._judge.expected.recorder import Recorder, Tensor, Written
from dmlcy._judge.passes import grouped, judged
from dmlcy._types import Array


class _NotWritten(Exception):
    """A file that cannot be written, and why."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(path, why)
        self.path, self.why = path, why


def save(folder: Path, model: Model, level: FeatureLevelName | None, recorder: Recorder) -> list[Path]:
    """Write values, inputs, what passes and the manifest; the files of an earlier run that were removed.

    The saved values are the results of the reference for the inputs of each dispatch, not the values that the
    dispatches wrote.

    A file that exists already is replaced or removed only when a valid manifest of an earlier run lists it. ModelError
    where no dispatch wrote anything, and for a file that cannot be written.
    """
    reader, root = Reader(model.document), model.document.root
    if not recorder.written:
        reader.report("DML-MODEL-no-output", root.get("commands") or root)
        reader.finish()
    try:
        return _save(folder, printable(Path(model.document.name).name), level or current_level(), recorder)
    except _NotWritten as error:
        reader.report("DML-MODEL-write", root, path=str(error.path), why=error.why)
        reader.finish()
        raise


def _save(folder: Path, model: str, level: FeatureLevelName, recorder: Recorder) -> list[Path]:
    """The same, with the name of the file of the model."""
    contents: dict[str, Array] = {}
    outputs = _Outputs(contents)
    found = tuple(map(outputs.add, recorder.written))
    manifest = Manifest(model, level, found, tuple(recorder.files.values()))
    ours = _ours(folder)
    for path in (*contents, NAME):
        if recorder.has_written(folder / path):
            raise _NotWritten(
                folder / path, "a writeFile command of the model has written this file: give --expect another folder"
            )
        if path not in ours and os.path.lexists(folder / path):
            raise _NotWritten(folder / path, "it exists, and no valid manifest of dmlcy lists it")
    content: dict[str, Callable[[IO[bytes]], object]] = {path: _writer(values) for path, values in contents.items()}
    content[NAME] = lambda stream: stream.write(manifest.to_bytes())
    try:
        files.write_all(folder, {tuple(path.split("/")): write for path, write in content.items()})
    except OSError as error:
        raise _NotWritten(folder, error.strerror or str(error)) from None
    removed = []
    left = {path for path in ours - content.keys() if not recorder.has_written(folder / path)}
    for path in sorted(left):  # of an earlier run, which wrote more
        with suppress(OSError):  # what is elsewhere, or no file, was not written by it
            removed.append(files.remove(folder, tuple(path.split("/"))))
    return removed


class _Outputs:
    """Gives each array a file; ``contents`` has the arrays by file."""

    def __init__(self, contents: dict[str, Array]) -> None:
        self.contents = contents
        self.taken: set[str] = set()
        self.files: dict[int, str] = {}

    def add(self, one: Written) -> Output:
        """The entry of the manifest: the values of the reference, and what passes."""
        desc, field, entry = one.dispatchable.desc.value, one.output.field, one.output.entry
        dtype = dtype_of(tensor_of(desc, field, entry))
        name = field.python if entry is None else f"{field.python}[{entry}]"
        values, passes = judged(
            desc, grouped((tensor.field, tensor.entry, tensor.values) for tensor in one.inputs), name
        )
        file = self.beside("", one, in_file(dtype, values))
        allowed = None if passes.allowed is None else self.beside("allowed/", one, passes.allowed)
        typical = None if passes.typical is None else self.beside("typical/", one, passes.typical)
        flushed = None
        if passes.flushed is not None:
            values = in_file(dtype, passes.flushed[0])
            flushed = self.beside("flushed/", one, values), self.beside("flushed/", one, passes.flushed[1])
        marks = [(id_, self.beside("not_judged/", one, mask.astype(np.uint8))) for id_, mask in passes.not_judged]
        sources = {
            tensor.name: self.source(tensor, dtype_of(tensor_of(desc, tensor.field, tensor.entry)))
            for tensor in one.inputs
        }
        standing = None
        if one.standing is not None:
            standing = self.beside("standing/", one, np.asarray(one.standing, np.uint8))
        return Output(
            file=file,
            resource=one.output.resource,
            dispatchable=one.dispatchable.name,
            desc=desc,
            field=field,
            entry=entry,
            buffer=one.buffer,
            inputs=MappingProxyType(sources),
            allowed=allowed,
            typical=typical,
            flushed=flushed,
            not_judged=tuple(marks),
            written_to=one.files,
            standing=standing,
        )

    def beside(self, folder: str, one: Written, values: Array) -> str:
        """A file of numbers for the elements of an output."""
        file = self.file(folder, one.output.resource)
        self.contents[file] = values
        return file

    def source(self, tensor: Tensor, dtype: Dtype) -> Input:
        """The file of an input, which several dispatches may share."""
        values = tensor.values
        if id(values) not in self.files:
            self.files[id(values)] = self.file("inputs/", tensor.resource)
            self.contents[self.files[id(values)]] = in_file(dtype, values)
        return Input(self.files[id(values)], tensor.resource, tensor.computed_by)

    def file(self, folder: str, name: str) -> str:
        """A path that is like the name, that every file system takes, and that no other file has."""
        return f"{folder}{distinct(name, self.taken, folder)}.npy"


def _ours(folder: Path) -> frozenset[str]:
    """The files in a folder that its manifest lists; of a damaged manifest, only itself."""
    try:
        if not manifest_reader.is_ours(manifest_reader.decode_file(folder / NAME).root):
            return frozenset()
    except ModelError:
        return frozenset()
    try:
        return frozenset({NAME}) | manifest_reader.files(manifest_reader.read(folder).manifest.outputs)
    except ModelError:
        return frozenset({NAME})


def _writer(values: Array) -> Callable[[IO[bytes]], None]:
    return lambda stream: npy.writer(np.ascontiguousarray(values))(stream)
