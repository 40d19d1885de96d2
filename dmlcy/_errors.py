"""Violations, and the exceptions that carry them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, NoReturn

from dmlcy._words.notebook import Shown
from dmlcy._words.values import MOST_BITS, show


@dataclass(frozen=True, slots=True)
class Violation(Shown):
    """One broken condition.

    Attributes
    ----------
    id
        Stable name of the condition, such as DML-AVERAGE_POOLING-window_size-fits.
    operator, field, member, index
        Where: DirectML's name of the operator, Python name of the field, the part of a tensor or of a size that is
        meant (sizes, strides, height), entry of that part or of the field; of an element of a tensor a tuple.
    message
        The sentence, without id and hint.
    rule
        The condition as a formula; None for one that follows from the field itself.
    values
        What was put into the sentence.
    hint, fix
        What to do, and the nearest valid value, where they are known: the value of the entry at ``index``, or, where
        ``index`` is None, of the whole member or field.
    level
        Lowest feature level at which the value would be valid, where the level is the reason.
    provenance
        documented, header, observed or inferred.
    error
        Name of the exception class.
    severity
        error, or warning: of a rule that was observed. Nothing is refused because of a warning.
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

    @property
    def text(self) -> str:
        """The sentence with its hint and, for a rule, the nearest valid value."""
        nearest = f"Nearest valid value: {show(self.fix)}." if self.rule is not None and self.fix is not None else ""
        return " ".join(part for part in (self.message, self.hint, nearest) if part)

    def __str__(self) -> str:
        return f"{self.text} [{self.id}]"

    def __hash__(self) -> int:
        return hash((self.id, self.index, self.message))

    def to_json(self) -> dict[str, Any]:
        """All attributes, as json.dumps takes them: NaN and infinities as text."""
        return {field.name: _json(getattr(self, field.name)) for field in fields_of(self)}


class Violations(Shown, list[Violation]):
    """A list of violations that a notebook shows as a table."""

    __slots__ = ()


def _json(value: object) -> Any:
    if isinstance(value, dict):
        return {str(name): _json(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_json(entry) for entry in value]
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

    def to_json(self) -> dict[str, Any]:
        """The error as json.dumps takes it."""
        return {
            "error": type(self).__name__,
            "function": self.function,
            "violations": [violation.to_json() for violation in self.violations],
        }

    def __str__(self) -> str:
        where = f"{self.function}(): " if self.function else ""
        return "\n".join(f"{where}{violation}" for violation in self.violations)


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
for public in (DmlError, Violation, *CLASSES.values()):
    public.__module__ = "dmlcy"  # as users import them, and as a traceback shows them


def raise_violations(
    violations: Sequence[Violation], function: str | None = None, cause: BaseException | None = None
) -> NoReturn:
    """Raises the violations as the class that the first one names; ``cause``: what an object of a stranger raised."""
    raise CLASSES[violations[0].error](violations, function) from cause
