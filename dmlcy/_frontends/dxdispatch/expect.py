"""What the dispatches of a model wrote, kept for comparison with a device: values, inputs and bounds, as files.

An output counts as far as its elements are still in their buffer at the end: of several dispatches that write to the
same place the last one does. Two views of one resource that share no element are two outputs.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import dtype_of, extent
from dmlcy._errors import ModelError
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._frontends.dxdispatch import files, manifest_reader, npy
from dmlcy._frontends.dxdispatch.manifest import NAME, Buffer, Input, Manifest, Output, WrittenFile
from dmlcy._frontends.dxdispatch.model import Dispatch, Dispatchable
from dmlcy._frontends.dxdispatch.operators import entry_name, tensor_of, tensors_of
from dmlcy._frontends.dxdispatch.resources import Storage
from dmlcy._reference import expected
from dmlcy._reference.accuracy import bound, varying
from dmlcy._reference.passing import passing
from dmlcy._runtime.tensor import may_overlap

Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]

_LONGEST: Final = 100
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """What is bound to a field, or to an entry of its array: the resource and the elements."""

    field: Field
    entry: int | None
    resource: str
    values: Array
    computed_by: str | None = None

    @property
    def name(self) -> str:
        """What it is bound as."""
        return self.field.name if self.entry is None else entry_name(self.field, self.entry)


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """An output that a dispatch wrote, in its place in the buffer, and the inputs as they were.

    ``files`` are those that the model has written since the last change of its elements, and that hold all of them.
    ``standing`` says which elements no later dispatch has written over; None: all of them.
    """

    dispatchable: Dispatchable
    output: Tensor
    buffer: Buffer
    inputs: tuple[Tensor, ...]
    files: tuple[WrittenFile, ...] = ()
    standing: Flags | None = None

    def is_in(self, file: WrittenFile) -> bool:
        """Whether a file holds all elements: they end before the file does."""
        desc = tensor_of(self.dispatchable.desc.value, self.output.field, self.output.entry)
        return file.resource == self.output.resource and self.buffer.offset + extent(desc) <= file.size

    def after(self, other: Tensor, offset: int) -> Written | None:
        """This output after a dispatch has written another tensor to its resource; None if no element is left."""
        if not _meet(self.output, other):
            return self
        changed = np.zeros(max(_end(self.output, self.buffer.offset), _end(other, offset)), np.bool_)
        for flags in _bytes(changed, other.values, offset):
            flags[...] = True
        hit = np.logical_or.reduce(list(_bytes(changed, self.output.values, self.buffer.offset)))
        if not hit.any():
            return self
        left = ~hit if self.standing is None else self.standing & ~hit
        return replace(self, standing=left, files=()) if left.any() else None


class NotWritten(Exception):
    """A file that cannot be written, and why."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(path, why)
        self.path, self.why = path, why


class Recorder:
    """Looks at every dispatch just before it runs, and at every file just after it is written.

    ``written`` has the outputs that are in their buffers, ``files`` each file by its name without regard to case.
    """

    def __init__(self, storages: Mapping[str, Storage]) -> None:
        self.written: list[Written] = []
        self.files: dict[str, WrittenFile] = {}
        self.paths: set[Path] = set()  # of these files
        self._storages = storages
        self._writers: list[tuple[Tensor, str]] = []
        self._writes: Counter[str] = Counter()
        self._copies: dict[object, Array] = {}

    def dispatch(self, command: Dispatch, dispatchable: Dispatchable, bound: Mapping[str, Array]) -> None:
        """Keep the inputs, and the places of the outputs. ``bound`` has the tensors by field name."""
        inputs, outputs = [], []
        for name, (field, entry) in tensors_of(dispatchable.desc.value, "input").items():
            binding = command.bindings.get(name)
            source = dispatchable.bindings[name].resource if binding is None else binding.resource
            inputs.append(self._input(Tensor(field, entry, source, bound[name]), initial=binding is None))
        for name, (field, entry) in tensors_of(dispatchable.desc.value, "output").items():
            if name in command.bindings:  # what is bound at initialisation is a copy that nobody sees
                outputs.append(Tensor(field, entry, command.bindings[name].resource, bound[name]))
        for output in outputs:
            storage = self._storages[output.resource]
            offset = output.values.ctypes.data - storage.data.ctypes.data
            buffer = Buffer(storage.dtype, storage.size, offset)
            after = (one.after(output, offset) for one in self.written)
            self.written = [one for one in after if one is not None]
            self.written.append(Written(dispatchable, output, buffer, tuple(inputs)))
            self._writers = [one for one in self._writers if _view(one[0]) != _view(output)]
            self._writers.append((output, dispatchable.name))
            self._writes[output.resource] += 1
        kept = {id(tensor.values) for one in self.written for tensor in one.inputs}
        self._copies = {key: values for key, values in self._copies.items() if id(values) in kept}

    def write_file(self, file: WrittenFile, path: Path) -> None:
        """Note what a file holds, and its place; what a file of this name held before is gone."""
        self.paths.add(path.resolve())
        self.files[file.key] = file
        kept = [(one, tuple(other for other in one.files if other.key != file.key)) for one in self.written]
        self.written = [replace(one, files=(*others, file) if one.is_in(file) else others) for one, others in kept]

    def has_written(self, path: Path) -> bool:
        """Whether a command of the model has written to this place."""
        try:
            return path.resolve() in self.paths
        except ValueError:  # a name that no file can have
            return False

    def _input(self, tensor: Tensor, initial: bool) -> Tensor:
        if initial:  # bound at initialisation, which made a copy
            return tensor
        writers = (name for output, name in reversed(self._writers) if _meet(output, tensor))
        key = (*_view(tensor), self._writes[tensor.resource])
        if key not in self._copies:
            self._copies[key] = tensor.values.copy()
        return replace(tensor, values=self._copies[key], computed_by=next(writers, None))


def save(folder: Path, model: str, level: FeatureLevelName, recorder: Recorder, exact: bool = False) -> list[Path]:
    """Write values, inputs, tolerances and the manifest; the files of an earlier run that were removed.

    ``exact``: not the values that the dispatches wrote, but those of exact arithmetic, with the differences that pass.

    A file that exists already is replaced or removed only when a valid manifest of an earlier run lists it.
    """
    contents: dict[str, Callable[[], Array]] = {}
    outputs = _Outputs(contents, level)
    found = tuple((outputs.exact if exact else outputs.add)(one) for one in recorder.written)
    manifest = Manifest(model, level, found, tuple(recorder.files.values()))
    ours = _ours(folder)
    for path in (*contents, NAME):
        if recorder.has_written(folder / path):
            raise NotWritten(folder / path, "a writeFile command of the model has written it: use two folders")
        if path not in ours and os.path.lexists(folder / path):
            raise NotWritten(folder / path, "it exists, and no valid manifest of dmlcy lists it")
    content: dict[str, Callable[[IO[bytes]], Any]] = {path: _writer(values) for path, values in contents.items()}
    content[NAME] = lambda stream: stream.write(manifest.to_bytes())
    try:
        files.write_all(folder, {tuple(path.split("/")): write for path, write in content.items()})
    except OSError as error:
        raise NotWritten(folder, error.strerror or str(error)) from None
    removed = []
    left = {path for path in ours - content.keys() if not recorder.has_written(folder / path)}
    for path in sorted(left):  # of an earlier run, which wrote more
        with suppress(OSError):  # what is elsewhere, or no file, was not written by it
            removed.append(files.remove(folder, tuple(path.split("/"))))
    return removed


class _Outputs:
    """Gives each array a file; ``contents`` has the arrays by file, to be made when they are written."""

    def __init__(self, contents: dict[str, Callable[[], Array]], level: FeatureLevelName) -> None:
        self.contents = contents
        self.level = level
        self.taken: set[str] = set()
        self.files: dict[int, str] = {}

    def add(self, one: Written) -> Output:
        """The entry of the manifest."""
        desc, field, values = one.dispatchable.desc.value, one.output.field, one.output.values
        made = self.output(one, values)
        if made.bound is None:
            return made
        bounds = varying(desc, field, made.bound, _grouped(one.inputs), values, self.level)
        return made if bounds is None else replace(made, tolerance=self.beside("tolerance/", one, bounds))

    def exact(self, one: Written) -> Output:
        """The entry of the manifest, of values that are rounded from exact ones."""
        field, entry = one.output.field, one.output.entry
        name = field.python if entry is None else f"{field.python}[{entry}]"
        values, allowed = passing(expected(one.dispatchable.desc.value, _grouped(one.inputs), name))
        made = self.output(one, values.reshape(one.output.values.shape))
        if allowed is None:
            return replace(made, bound=None)
        return replace(made, allowed=self.beside("allowed/", one, lambda: allowed))

    def beside(self, folder: str, one: Written, values: Callable[[], Array]) -> str:
        """A file of numbers for the elements of an output."""
        file = self.file(folder, one.output.resource)
        self.contents[file] = values
        return file

    def output(self, one: Written, values: Array) -> Output:
        """The entry of the manifest without what tells how far each element may be off."""
        desc, field = one.dispatchable.desc.value, one.output.field
        file = self.beside("", one, lambda: values)
        sources = {tensor.name: self.source(tensor) for tensor in one.inputs}
        standing = None
        if one.standing is not None:
            standing = self.beside("standing/", one, partial(np.asarray, one.standing, np.uint8))
        return Output(
            file=file,
            resource=one.output.resource,
            dispatchable=one.dispatchable.name,
            desc=desc,
            field=field,
            entry=one.output.entry,
            buffer=one.buffer,
            inputs=MappingProxyType(sources),
            bound=bound(desc, dtype_of(tensor_of(desc, field, one.output.entry))),
            tolerance=None,
            written_to=one.files,
            standing=standing,
        )

    def source(self, tensor: Tensor) -> Input:
        """The file of an input, which several dispatches may share."""
        values = tensor.values
        if id(values) not in self.files:
            self.files[id(values)] = self.file("inputs/", tensor.resource)
            self.contents[self.files[id(values)]] = lambda: values
        return Input(self.files[id(values)], tensor.resource, tensor.computed_by)

    def file(self, folder: str, name: str) -> str:
        """A path that is like the name, that every file system takes, and that no other file has."""
        return f"{folder}{distinct(name, self.taken, folder)}.npy"


def _grouped(tensors: Iterable[Tensor]) -> dict[str, Any]:
    """The elements by the Python name of the field: a tuple for an array of tensors."""
    found: dict[str, Any] = {}
    for tensor in tensors:
        name = tensor.field.python
        found[name] = tensor.values if tensor.entry is None else (*found.get(name, ()), tensor.values)
    return found


def distinct(name: str, taken: set[str], folder: str = "") -> str:
    """A file name like this one that every file system takes; it is added to ``taken``."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:_LONGEST].strip(".") or "_"
    if stem.split(".")[0].lower() in _RESERVED:
        stem = f"_{stem}"
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    chosen = next(name for name in candidates if (folder + name).lower() not in taken)
    taken.add((folder + chosen).lower())
    return chosen


def _view(tensor: Tensor) -> tuple[object, ...]:
    """What tells two views of a resource apart."""
    values = tensor.values
    return tensor.resource, values.ctypes.data, values.dtype, values.shape, values.strides


def _end(tensor: Tensor, offset: int) -> int:
    """The byte behind the last element of a tensor at this offset."""
    values = tensor.values
    steps = zip(values.shape, values.strides, strict=True)
    return int(offset + sum((size - 1) * step for size, step in steps) + values.itemsize)


def _bytes(flags: Flags, values: Array, offset: int) -> Iterator[Flags]:
    """Flags of the first byte of each element of a tensor, then of the second one, and so on."""
    for byte in range(values.itemsize):
        yield np.ndarray(values.shape, np.bool_, flags.data, offset + byte, values.strides)


def _meet(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have an element in common; what takes long to find out counts as yes."""
    return a.resource == b.resource and may_overlap(a.values, b.values)


def _ours(folder: Path) -> frozenset[str]:
    """The files in a folder that its manifest lists; of a damaged manifest, only itself."""
    try:
        if not manifest_reader.is_ours(manifest_reader.decode_file(folder / NAME).root):
            return frozenset()
    except ModelError:
        return frozenset()
    try:
        return frozenset({NAME}) | manifest_reader.files(manifest_reader.read(folder).manifest)
    except ModelError:
        return frozenset({NAME})


def _writer(values: Callable[[], Array]) -> Callable[[IO[bytes]], None]:
    return lambda stream: npy.writer(np.ascontiguousarray(values()))(stream)
