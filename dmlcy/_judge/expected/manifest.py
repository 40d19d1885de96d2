"""The manifest of a folder of expected values: what ``dmlcy run --expect`` says of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Dtype, Field
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._families.base import tensors_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.observer import WrittenFile
from dmlcy._frontends.dxdispatch.operators import entry_name, tensor_of
from dmlcy._reference.accuracy import Bound
from dmlcy._version import __version__

NAME: Final = "manifest.json"
FORMAT: Final = "dmlcy-expected"
VERSION: Final = 3
OLD: Final = 2
"""The version before, whose outputs have what dmlcy promises of itself in place of what a device may differ by."""
OLDEST: Final = OLD
"""The oldest version that is read."""

_COMPARISON: Final = (
    "A difference of up to the number in the file `allowed` passes: what a correct device may differ by, and how far "
    "the expected value may be off. Where this number is NaN, any value passes. A difference that passes is suspect if "
    "it is larger than the number in the file `typical`. The values in `flushed` pass as well. Elements marked in a "
    "file of `not_judged` have a value that no document promises."
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
class Old:
    """The bound of an output of the version before, and the file of the bound of each element, if any."""

    bound: Bound
    tolerance: str | None


@dataclass(frozen=True, slots=True)
class Output:
    """One output and what passes. ``node`` is its place in a manifest.

    ``written_to`` has the files that hold all of its final values because the model itself writes them there.
    ``allowed`` is the file of the differences that pass, None where the values are exact; ``typical`` that of the
    differences that are not suspect. ``flushed`` has the files of other values that pass, and of the differences from
    them that do. ``not_judged`` has the files that mark elements, by id. ``standing`` is the file that says which
    elements are left, where a later dispatch has written over some. ``old``: what the version before has, which packs
    of that version have beside ``allowed``.
    """

    file: str
    resource: str
    dispatchable: str
    desc: OperatorDesc
    field: Field
    entry: int | None
    buffer: Buffer
    inputs: Mapping[str, Input]
    allowed: str | None = None
    typical: str | None = None
    flushed: tuple[str, str] | None = None
    not_judged: tuple[tuple[str, str], ...] = ()
    written_to: tuple[WrittenFile, ...] = ()
    standing: str | None = None
    old: Old | None = None
    node: Node | None = None

    @property
    def tensor(self) -> TensorDesc:
        """The desc of the output."""
        return tensor_of(self.desc, self.field, self.entry)

    @property
    def name(self) -> str:
        """The name of the binding: the field, or an entry of its array."""
        return self.field.name if self.entry is None else entry_name(self.field, self.entry)

    @property
    def path(self) -> str:
        """The Python name of the output; of an entry of an array with its place."""
        return self.field.python if self.entry is None else f"{self.field.python}[{self.entry}]"

    @property
    def is_exact(self) -> bool:
        """Whether each element must be equal."""
        return self.allowed is None and self.old is None

    @property
    def dtype(self) -> Dtype:
        """The data type of the output."""
        return dtype_of(self.tensor)

    @property
    def has_half(self) -> bool:
        """Whether a tensor of the operator is of FLOAT16, in which a device may add if it is allowed to."""
        return any(dtype_of(one).name == "FLOAT16" for one in tensors_of(self.desc))

    def to_json(self) -> dict[str, object]:
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
            **({} if self.flushed is None else {"flushed": dict(zip(("file", "allowed"), self.flushed, strict=True))}),
            **(
                {"not_judged": [{"id": name, "file": file} for name, file in self.not_judged]}
                if self.not_judged
                else {}
            ),
        }

    def _accuracy(self) -> object:
        found: dict[str, object] = {"allowed": self.allowed, "typical": self.typical}
        if self.old is not None:
            bound = self.old.bound
            found |= {"tolerance": self.old.tolerance, "ulp": bound.ulp, "formula": bound.formula, "of": bound.of}
        return {name: value for name, value in found.items() if value is not None} or "exact"


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
            "comparison": _COMPARISON,
            "written": [_written(file) for file in self.written],
            "outputs": [output.to_json() for output in self.outputs],
        }
        text = json.dumps(members, indent=2, allow_nan=False)
        return (_SPREAD.sub(lambda match: f"[{' '.join(match[1].split())}]", text) + "\n").encode()


def _written(file: WrittenFile) -> dict[str, object]:
    """A file that the model writes as the manifest has it."""
    return {
        "path": file.path,
        "resource": file.resource,
        "dimensions": list(file.dimensions),
        "size_in_bytes": file.size,
    }
