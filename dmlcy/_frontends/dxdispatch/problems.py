"""Problems of model files: each is a violation with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple, NoReturn, TypeAlias

from dmlcy._errors import ModelError, Repair, Violation
from dmlcy._facts.tables import ERRORS
from dmlcy._words import alike
from dmlcy._words.values import plain, show, visible

UNREADABLE: Final = frozenset(
    {
        "DML-MODEL-file",
        "DML-MODEL-json",
        "DML-MODEL-kind",
        "DML-MODEL-source",
        "DML-MODEL-npy",
        "DML-MODEL-write",
        "DML-MODEL-memory",
        "DML-GRAPH-file-alignment",
        "DML-GRAPH-file-constant",
        "DML-GRAPH-file-end",
        "DML-GRAPH-file-kind",
        "DML-GRAPH-file-length",
        "DML-GRAPH-file-missing",
        "DML-GRAPH-file-nesting",
        "DML-GRAPH-file-offset",
        "DML-GRAPH-file-overlap",
        "DML-GRAPH-file-size",
        "DML-GRAPH-file-text",
        "DML-GRAPH-file-vtable",
        *(id_ for id_ in ERRORS if id_.startswith(("DML-MODEL-script-", "DML-ONNX-file-", "DML-ONNX-graph-"))),
    }
)
"""Problems of a file, or of this machine, rather than of what the file says."""

_FROM_FILE: Final = frozenset({"name", "path", "value"})
_COMPARED: Final = 40
_CANDIDATES: Final = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a model file: JSON path, line and column (from 1), offset in the text (-1: there is no text).

    Line and column are 0 for the file as a whole, which is not there or is no text. ``byte``: where in a file that is
    no text; -1 elsewhere.
    """

    file: str
    path: str
    line: int
    column: int
    at: int = field(default=-1, compare=False)
    byte: int = -1

    def __str__(self) -> str:
        if self.line:
            return f"{printable(self.file)}:{self.line}:{self.column}: {self.path}"
        return printable(self.file) if self.byte < 0 else f"{printable(self.file)}: {self.path}"


def whole(file: str) -> Place:
    """The file as a whole."""
    return Place(file, "$", 0, 0)


def at_byte(file: str, byte: int) -> Place:
    """A byte of a file that is no text; the file as a whole for -1."""
    return Place(file, f"byte {byte}", 0, 0, byte=byte) if byte >= 0 else whole(file)


class Splice(NamedTuple):
    """Other characters in place of those from ``at`` to ``end``."""

    at: int
    end: int
    text: str


Mender: TypeAlias = Callable[[Repair], tuple[Splice, ...]]
"""Makes a repair of a desc a change of the text of its file; no splices where the file does not have the value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A violation, or a warning, at its place. ``mender``: what makes a repair a change of the file."""

    place: Place
    violation: Violation
    warning: bool = False
    mender: Mender | None = field(default=None, repr=False, compare=False)

    def located(self) -> Violation:
        """The violation, its message opened by the place."""
        word = "warning: " if self.warning else ""
        return replace(self.violation, message=f"{self.place}: {word}{self.violation.message}")

    def __str__(self) -> str:
        return str(ModelError([self.located()]))


class Refusal(ModelError):
    """The error about a model file. Its violations open with their place; ``problems`` has the two apart."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__([problem.located() for problem in self.problems])
        self.args = (self.problems,)  # what makes a copy of it


def message_of(identifier: str, values: Mapping[str, object]) -> str:
    """The message of this id; what comes from a file is made safe to show."""
    shown = {name: show(value) if name in _FROM_FILE else value for name, value in values.items()}
    return visible(ERRORS[identifier].message.format(**shown))


def make(
    identifier: str,
    place: Place,
    values: Mapping[str, object] = MappingProxyType({}),
    *,
    warning: bool = False,
    hint: str = "",
) -> Problem:
    """The problem of this id; ``values`` go into its message, those from the file made safe to show."""
    violation = Violation(
        id=identifier,
        operator="MODEL",
        field=None,
        member=None,
        index=None,
        message=message_of(identifier, values),
        rule=None,
        values={name: plain(value) for name, value in values.items()},
        hint=hint,
        fix=None,
        level=None,
        provenance="observed",
        error=ERRORS[identifier].error,
    )
    return Problem(place, violation, warning)


def refuse(problems: Sequence[Problem]) -> NoReturn:
    """Raise every problem at once, in the order of the file."""
    raise Refusal(in_order(problems))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """The problems in the order of the file."""
    return sorted(problems, key=lambda problem: (problem.place.line, problem.place.column, problem.place.byte))


def printable(text: str) -> str:
    """The text without what a terminal would obey, and not much longer than a line."""
    return str(plain(text))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or nothing."""
    return alike.did_you_mean(word[:_COMPARED], list(islice(known, _CANDIDATES)))
