"""Runs the cases of a pack, and writes each output as its model says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dmlcy._desc.memory import view
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._frontends.dxdispatch.operators import tensors_of
from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.expected.manifest import Output
from dmlcy._judge.packs import reader
from dmlcy._judge.packs.pack import EXPECTED
from onnx_graphs.graph import NotExpressible, evaluate, refuse


@dataclass(frozen=True)
class Outcome:
    """A case, and why it was not run."""

    operator: str
    case: str
    why: str = ""


def run(pack: Path, results: Path) -> Iterator[Outcome]:
    """Run every case of a pack."""
    for entry in reader.read(pack).cases:
        try:
            _run(pack / entry.name / EXPECTED, results / entry.name)
        except NotExpressible as error:
            yield Outcome(entry.operator, entry.name, str(error))
        else:
            yield Outcome(entry.operator, entry.name)


def _run(expected: Path, folder: Path) -> None:
    manifest = manifest_reader.read(expected).manifest
    first = manifest.outputs[0]
    arrays = {}
    for name, (field, place) in tensors_of(first.desc, "input").items():
        path = field.python if place is None else f"{field.python}_{place}"
        arrays[path] = np.load(expected / first.inputs[name].file)
    found = evaluate(first.desc, arrays)
    assert len(found) == len(manifest.outputs)
    for output, values in zip(manifest.outputs, found, strict=True):
        wanted = tuple(size for size in output.tensor.sizes if size != 1)
        refuse(tuple(size for size in values.shape if size != 1) != wanted, "the sizes of the output are others")
        _write(folder, output, values)


def _write(folder: Path, output: Output, values: Any) -> None:
    """Write an output to the files of the model: the elements as they lie in the buffer."""
    values = values.reshape(output.tensor.sizes)
    for file in output.written_to:
        data = np.zeros(output.buffer.size, np.uint8)
        view(data, output.tensor, output.buffer.offset)[...] = values
        kind = numpy_dtype(output.dtype)
        assert values.dtype == kind, f"{values.dtype} in place of {kind}"
        flat = data[: file.size].view(kind)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / file.path, flat.reshape(file.dimensions) if file.dimensions else flat)
