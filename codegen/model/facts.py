"""Facts about all operators, and the spelling of DirectML's names in Python."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .bindings import Bindings

LANGUAGES = ("python", "cpp")
DTYPE_ENUM = "DML_TENSOR_DATA_TYPE"


@functools.cache
def snake(name: str) -> str:
    """A DirectML name in snake_case, without the word Tensor at its end: ROITensor -> roi, InputTensors -> inputs."""
    stem = re.sub(r"(?<=.)Tensor(s?)$", r"\1", name)
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem)
    return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower()


def camel(name: str) -> str:
    """SOME_NAME1 -> SomeName1."""
    return "".join(word.capitalize() for word in name.split("_"))


@dataclass(frozen=True, slots=True)
class Level:
    """A feature level."""

    name: str
    value: int
    directml: str
    max_rank: int
    windows: str | None
    note: str | None
    dxdispatch: bool


@dataclass(frozen=True, slots=True)
class Dtype:
    """A tensor data type."""

    name: str
    value: int
    bits: int
    since: str
    numpy: str | None


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A member of an enum, and the level that brought it; ``also``: what other libraries call it."""

    name: str
    value: int
    since: str
    doc: str
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Enum:
    """A DirectML enum."""

    name: str
    prefix: str
    python: str
    flags: bool
    since: str
    source: str | None
    note: str | None
    members: tuple[EnumMember, ...]
    tensors: bool = False  # a member of tensor descs has this type


@dataclass(frozen=True, slots=True)
class CatalogueField:
    """A member of an operator's struct, as the header declares it; ``count``: of an array, what counts it."""

    name: str
    kind: str
    type: str
    optional: bool
    count: str | None = None


@dataclass(frozen=True, slots=True)
class CatalogueOperator:
    """An operator of DirectML, built here or not."""

    name: str
    value: int
    since: str
    struct: str
    kind: str
    in_place: tuple[str, ...]  # the inputs whose memory an output may share
    source: str
    fields: tuple[CatalogueField, ...]
    directmlx: str | None = None  # the function of DirectMLX, with the members that its parameters stand for


@dataclass(frozen=True, slots=True)
class ErrorText:
    """An implicit error of fields (``id`` is its slug), or an error of a model file.

    ``breaks`` of the latter: what to change in a valid model to get it, by path; the empty path is the whole text.
    """

    id: str
    error: str
    message: str
    about: str
    applies: tuple[str, ...]
    when: str | None
    breaks: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Returned:
    """Calls that return an error code, and when."""

    call: str
    when: str
    source: str


@dataclass(frozen=True, slots=True)
class Term:
    """A word that is neither an operator nor a field of one; ``errors`` are slugs of implicit errors.

    ``page`` is the page that says more, below the root; ``source`` is "" where no document of DirectML has the word.
    """

    name: str
    also: tuple[str, ...]
    is_: str
    doc: str
    source: str
    page: str | None
    errors: tuple[str, ...]
    value: int | None
    returned: tuple[Returned, ...]
    command: str | None


@dataclass(frozen=True, slots=True)
class Library:
    """Another library that has equivalents; ``prelude`` is what their code imports, where it is Python."""

    name: str
    language: str
    needs: tuple[str, ...]
    tested: str | None
    prelude: str


@dataclass(frozen=True, slots=True)
class Fused:
    """An operator that a field of another one, the host, can hold; ``hosts`` None: of each that has such a field."""

    operator: str
    hosts: tuple[str, ...] | None
    since: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is true of all operators."""

    levels: tuple[Level, ...]
    dtypes: tuple[Dtype, ...]
    enums: Mapping[str, Enum]
    catalogue: Mapping[str, CatalogueOperator]
    implicit: tuple[ErrorText, ...]
    model_errors: tuple[ErrorText, ...]
    terms: tuple[Term, ...] = ()
    libraries: tuple[Library, ...] = ()
    fused: tuple[Fused, ...] = ()
    bindings: Bindings = field(default_factory=Bindings)
    no_dtype: EnumMember | None = None  # the member of DTYPE_ENUM that no tensor may have

    def is_fused(self, operator: str) -> bool:
        """Whether a desc of the operator may have no tensors, for a field of another operator can hold it."""
        return any(row.operator == operator for row in self.fused)

    def held_by(self, host: str) -> dict[str, str]:
        """The operators that a field of the host can hold, each with the first level at which it can."""
        rows = [row for row in self.fused if row.hosts is None or host in row.hosts]
        levels = {row.operator: (self.catalogue[row.operator].since, self.catalogue[host].since) for row in rows}
        return {
            row.operator: max(*levels[row.operator], *(() if row.since is None else (row.since,)), key=self.level_index)
            for row in rows
        }

    def library(self, name: str) -> Library:
        """The library of this name."""
        return next(library for library in self.libraries if library.name == name)

    def level_index(self, name: str) -> int:
        """Position of a level: 0 for 1_0."""
        return next(number for number, level in enumerate(self.levels) if level.name == name)

    def dtype(self, name: str) -> Dtype:
        """The data type of this name."""
        return next(dtype for dtype in self.dtypes if dtype.name == name)
