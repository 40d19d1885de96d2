"""Violations, and the exceptions that carry them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as slot
from dataclasses import fields as fields_of
from enum import Enum
from typing import Any, Final, NoReturn, Protocol

from dmlcy._words.notebook import Shown
from dmlcy._words.values import MOST_BITS, show

SEARCHED: Final = 20
"""Searches for repairs that one message, or the report of one file, makes."""


@dataclass(frozen=True, slots=True)
class Repair(Shown):
    """A change of one field that makes a desc, or a call, valid.

    Attributes
    ----------
    field
        Python name of the field; of a tensor of an array with its place (inputs[1]), in a desc that a field holds
        after that field (fused_activation.axes).
    value
        The value that the field needs: in DirectML's JSON spelling if the desc was read from JSON. In a call, a tensor
        has a TensorDesc as its value.
    text
        The change as it is written in the call, in the desc or in JSON.
    """

    field: str
    value: Any
    text: str

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """All attributes, as json.dumps takes them: members of enums by their names."""
        value = self.value.to_dict() if hasattr(self.value, "to_dict") else self.value
        shown = value.name if isinstance(value, Enum) else as_json(value)
        return {"field": self.field, "value": shown, "text": self.text}


class Search(Protocol):
    """The search that finds the repairs of a desc, when they are read."""

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """All repairs that were found."""

    @property
    def sentence(self) -> str:
        """The sentence of a message on the repairs."""

    @property
    def searches(self) -> bool:
        """Whether it makes checks to find them."""


@dataclass(frozen=True, slots=True)
class Violation(Shown):
    """One broken condition.

    Attributes
    ----------
    id
        Stable name of the condition, such as DML-AVERAGE_POOLING-window_size-fits.
    operator, field, member, index
        The place: DirectML's name of the operator and the Python name of the field; the part of a tensor or of a size
        that is meant (sizes, strides, height); and the entry. The entry of an element of a tensor is a tuple.
    message
        The sentence, without id and hint.
    rule
        The condition as a formula; None for one that follows from the field itself.
    values
        The values that were put into the sentence.
    hint, fix
        The remedy, and the nearest valid value, where they are known. The value is that of the entry at ``index``, or,
        where ``index`` is None, of the whole member or field.
    level
        Lowest feature level at which the value would be valid, where the level is the reason.
    provenance
        documented, header, observed or inferred.
    error
        Name of the exception class.
    severity
        error, or warning: of a rule that was observed. Nothing is refused because of a warning.
    repairs
        Changes of one field each, of which every one makes the whole desc valid: () where none is known. The repairs
        are searched when they are read, with at most 64 checks.
    """

    id: str
    operator: str
    field: str | None
    member: str | None
    index: int | tuple[int, ...] | None
    message: str
    rule: str | None
    values: dict[str, object]
    hint: str
    fix: object
    level: str | None
    provenance: str
    error: str
    severity: str = "error"
    _search: Search | None = slot(default=None, repr=False, compare=False)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """Changes of one field each, of which every one makes the whole desc valid."""
        return () if self._search is None else self._search.repairs

    @property
    def text(self) -> str:
        """The sentence with its hint and, for a rule, the nearest valid value."""
        nearest = f"Nearest valid value: {show(self.fix)}." if self.rule is not None and self.fix is not None else ""
        return _joined(self.message, self.hint, nearest)

    def __str__(self) -> str:
        return self._line(None if self._search is None else self._search.sentence)

    def _line(self, repairs: str | None) -> str:
        mended = (
            repairs and self.index is None and (self.field, self.fix) in [(it.field, it.value) for it in self.repairs]
        )
        told = _joined(self.message, self.hint) if mended else self.text  # a repair says the nearest valid value
        return _joined(told, repairs or "", f"[{self.id}]")

    def __hash__(self) -> int:
        return hash((self.id, self.index, self.message))

    def to_json(self) -> dict[str, Any]:
        """All attributes, as json.dumps takes them: NaN and infinities as text."""
        shown = {one.name: as_json(getattr(self, one.name)) for one in fields_of(self) if one.name != "_search"}
        return shown | {"repairs": [repair.to_json() for repair in self.repairs]}


def _joined(*sentences: str) -> str:
    """Those sentences that there are."""
    return " ".join(filter(None, sentences))


class Violations(Shown, list[Violation]):
    """A list of violations that a notebook shows as a table."""

    __slots__ = ()


def as_json(value: object) -> object:
    """The value as json.dumps takes it."""
    if isinstance(value, dict):
        return {str(name): as_json(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return show(value)
    return value


class DmlError(Exception):
    """Base of the errors about descs, calls and models: carries every violation, of which the first sets the class."""

    def __init__(self, violations: Sequence[Violation], function: str | None = None) -> None:
        self.violations: tuple[Violation, ...] = tuple(violations)
        self.function = function
        super().__init__(self.violations, function)

    @property
    def id(self) -> str:
        """Id of the first violation."""
        return self.violations[0].id

    @property
    def operator(self) -> str:
        """Operator of the first violation."""
        return self.violations[0].operator

    @property
    def field(self) -> str | None:
        """Field of the first violation."""
        return self.violations[0].field

    @property
    def index(self) -> int | tuple[int, ...] | None:
        """Index of the first violation."""
        return self.violations[0].index

    @property
    def values(self) -> dict[str, object]:
        """Values of the first violation."""
        return self.violations[0].values

    @property
    def hint(self) -> str:
        """Hint of the first violation."""
        return self.violations[0].hint

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs of the first violation."""
        return self.violations[0].repairs

    def to_json(self) -> dict[str, Any]:
        """The error as json.dumps takes it."""
        return {
            "error": type(self).__name__,
            "function": self.function,
            "violations": [violation.to_json() for violation in self.violations],
        }

    def __str__(self) -> str:
        where = f"{self.function}(): " if self.function else ""
        sentences, left = repairs_of(self.violations)
        lines = [f"{where}{one._line(said)}" for one, said in zip(self.violations, sentences, strict=True)]
        more = [f"dmlcy searched for repairs of the first {SEARCHED} descs only."] if left else []
        return "\n".join([*lines, *more])


def repairs_of(violations: Sequence[Violation]) -> tuple[list[str], int]:
    """The lines on the repairs of each desc, behind its last violation, and the number of descs not searched."""
    searches = {id(one._search): one._search for one in violations if one._search and one._search.searches}
    waiting = dict([*searches.items()][:SEARCHED])
    sentences = []
    for one in reversed(violations):
        search = waiting.pop(id(one._search), None)
        sentences.append("" if search is None else search.sentence)
    return sentences[::-1], max(0, len(searches) - SEARCHED)


class InvalidDescError(DmlError, ValueError):
    """A field has a value that its operator does not take."""


class InvalidDataTypeError(DmlError, TypeError):
    """A value has the wrong type, or a tensor has a data type that its operator does not take."""


class FeatureLevelError(DmlError, ValueError):
    """An operator, data type, rank or enum member was added at a later feature level."""


class InvalidDataError(DmlError, ValueError):
    """A value inside a tensor, found when the operator ran, is not acceptable."""


class ModelError(DmlError, ValueError):
    """A model file, or an operator desc in JSON, cannot be understood."""


class OperatorNotRunnableError(DmlError, NotImplementedError):
    """An operator is described, and does not run yet."""


CLASSES: dict[str, type[DmlError]] = {
    cls.__name__: cls
    for cls in (
        InvalidDescError,
        InvalidDataTypeError,
        FeatureLevelError,
        InvalidDataError,
        ModelError,
        OperatorNotRunnableError,
    )
}
for public in (DmlError, Repair, Violation, *CLASSES.values()):
    public.__module__ = "dmlcy"  # as users import them, and as a traceback shows them


def raise_violations(
    violations: Sequence[Violation], function: str | None = None, cause: BaseException | None = None
) -> NoReturn:
    """Raises the violations as the class that the first one names; ``cause``: what an object of a stranger raised."""
    raise CLASSES[violations[0].error](violations, function) from cause
