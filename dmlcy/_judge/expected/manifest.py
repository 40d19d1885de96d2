"""The manifest of a folder of expected values: what ``dmlcy run --expect`` says of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Dtype, Field
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.observer import WrittenFile
from dmlcy._frontends.dxdispatch.operators import entry_name, tensor_of
from dmlcy._reference.accuracy import SIDES, Bound
from dmlcy._version import __version__

NAME: Final = "manifest.json"
FORMAT: Final = "dmlcy-expected"
VERSION: Final = 2
OLDEST: Final = 2
"""The oldest version that is read."""

_COMPARISON: Final = (
    f"A difference of up to {SIDES} bounds passes: the expected value and that of a conforming device may each be off "
    "by one, to opposite sides."
)


_EXACT: Final = (
    "The values are rounded from exact ones. A difference of up to the number in the file `allowed` passes, and any "
    "difference where it is NaN."
)


_SPREAD: Final = re.compile(r"\[\n([-+.0-9e,\s]*)\]")
"""A list of numbers over several lines."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the dispatch, as it was then. ``computed_by``: the dispatchable that had written it before."""

    file: str
    resource: str
    computed_by: str | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """The buffer that an output lies in: its size and the place of the output in bytes, the type it is written in."""

    dtype: Dtype | None
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class Output:
    """One output and how exact it is. ``bound`` is None where it is exact; ``node`` is its place in a manifest.

    ``written_to`` has the files that hold all of its final values because the model itself writes them there.
    ``allowed`` is the file of the differences that pass, where the values are rounded from exact ones; without it a
    difference of ``sides`` bounds passes. ``standing`` is the file that says which elements are left, where a later
    dispatch has written over some.
    """

    file: str
    resource: str
    dispatchable: str
    desc: OperatorDesc
    field: Field
    entry: int | None
    buffer: Buffer
    inputs: Mapping[str, Input]
    bound: Bound | None
    tolerance: str | None
    written_to: tuple[WrittenFile, ...] = ()
    standing: str | None = None
    allowed: str | None = None
    node: Node | None = None

    @property
    def tensor(self) -> TensorDesc:
        """The desc of the output."""
        return tensor_of(self.desc, self.field, self.entry)

    @property
    def name(self) -> str:
        """What it is bound as: the field, or an entry of its array."""
        return self.field.name if self.entry is None else entry_name(self.field, self.entry)

    @property
    def sides(self) -> int:
        """How many bounds pass: exact values are not off themselves."""
        return SIDES if self.allowed is None else 1

    @property
    def dtype(self) -> Dtype:
        """The data type of the output."""
        return dtype_of(self.tensor)

    def to_json(self) -> dict[str, Any]:
        """The output as the manifest has it."""
        buffer = self.buffer
        return {
            "file": self.file,
            "written_to": [file.path for file in self.written_to],
            "resource": self.resource,
            "dispatchable": self.dispatchable,
            "operator": self.desc.to_dict(),
            "field": self.name,
            "dtype": self.dtype.name,
            "sizes": list(self.tensor.sizes),
            "buffer": {
                "dtype": buffer.dtype.name if buffer.dtype else None,
                "size_in_bytes": buffer.size,
                "offset_in_bytes": buffer.offset,
            },
            "inputs": {
                name: {"file": source.file, "resource": source.resource, "computed_by": source.computed_by}
                for name, source in self.inputs.items()
            },
            "accuracy": self._accuracy(),
            **({} if self.standing is None else {"standing": self.standing}),
        }

    def _accuracy(self) -> Any:
        if self.bound is None:
            return "exact"
        stated = {"ulp": self.bound.ulp, "formula": self.bound.formula, "of": self.bound.of}
        files = {"tolerance": self.tolerance, "allowed": self.allowed}
        return stated | {name: file for name, file in files.items() if file is not None}


@dataclass(frozen=True, slots=True)
class Manifest:
    """The outputs of a model, and every file that it writes, whatever the file holds.

    ``version``: that of the file which was read; its rules judge the outputs.
    """

    model: str
    level: FeatureLevelName
    outputs: tuple[Output, ...]
    written: tuple[WrittenFile, ...]
    version: int = VERSION

    def to_bytes(self) -> bytes:
        """The text of the file."""
        members = {
            "format": FORMAT,
            "version": VERSION,
            "dmlcy": __version__,
            "model": self.model,
            "feature_level": self.level,
            "comparison": _EXACT if any(one.allowed for one in self.outputs) else _COMPARISON,
            "written": [_written(file) for file in self.written],
            "outputs": [output.to_json() for output in self.outputs],
        }
        text = json.dumps(members, indent=2, allow_nan=False)
        return (_SPREAD.sub(lambda match: f"[{' '.join(match[1].split())}]", text) + "\n").encode()


def _written(file: WrittenFile) -> dict[str, Any]:
    """A file that the model writes as the manifest has it."""
    return {
        "path": file.path,
        "resource": file.resource,
        "dimensions": list(file.dimensions),
        "size_in_bytes": file.size,
    }
