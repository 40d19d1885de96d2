"""Violations, the exceptions that carry them, and how a value is said in a message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from enum import Enum
from typing import Any, NoReturn

import numpy as np

LONGEST_TEXT = 60
MOST_ENTRIES = 8
MOST_BITS = 256
NUMPY_SCALARS = frozenset(cls for cls in np.sctypeDict.values() if issubclass(cls, np.number | np.bool))


def quote(text: str) -> str:
    """The text in quotation marks, short, with everything escaped that a terminal could obey."""
    head = str.__getitem__(text, slice(0, LONGEST_TEXT))
    safe = "".join(c if c.isprintable() and c not in '"\\' else _escape(c) for c in head)
    return f'"{safe}{"..." if str.__len__(text) > LONGEST_TEXT else ""}"'


def show(value: object, depth: int = 2) -> str:
    """A value in a few words, whatever its class does."""
    try:
        return _show(value, depth)
    except Exception:
        return "an object"


def in_json(value: object) -> str:
    """A value that comes from JSON, in the words of JSON."""
    if type(value) is dict:
        names = [show(name) for name in list(value)[:MOST_ENTRIES]]
        more = [f"... {len(value)} in all"] if len(value) > MOST_ENTRIES else []
        return f"an object of {', '.join(names + more)}" if value else "an empty object"
    return {None: "null", True: "true", False: "false"}[value] if value is None or type(value) is bool else show(value)


def _show(value: object, depth: int) -> str:
    cls = type(value)
    if value is None or cls is bool or cls is float:
        return repr(value)
    if issubclass(cls, Enum):
        return _clean(str(getattr(value, "_name_", None) or getattr(value, "_value_", None)))
    if issubclass(cls, int):
        bits = int.bit_length(value)  # type: ignore[arg-type]
        sign = "-" if int.__lt__(value, 0) else ""  # type: ignore[operator]
        return int.__repr__(value) if bits <= MOST_BITS else f"{sign}2**{bits - 1} or more"
    if issubclass(cls, str):
        return quote(value)  # type: ignore[arg-type]
    if cls in NUMPY_SCALARS:
        return str(value)
    if issubclass(cls, float):
        return float.__repr__(value)
    if issubclass(cls, np.ndarray):
        kind = "array" if cls is np.ndarray else _name(cls)
        dtype, shape = np.ndarray.dtype.__get__(value), np.ndarray.shape.__get__(value)
        return f"{_article(kind)} of {show(dtype)} with shape {shape}"
    if issubclass(cls, np.dtype):
        return _clean(str(value)) if value.fields is None else "a structured type"  # type: ignore[attr-defined]
    if cls is list or cls is tuple or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return _show_entries(value, depth)  # type: ignore[arg-type]
    if issubclass(cls, type):
        return f"the type {_name(value)}"  # type: ignore[arg-type]
    return _article(_name(cls))


def plain(value: object) -> object:
    """The value as numbers, text and tuples only, so that it can be kept, compared, pickled and written as JSON."""
    try:
        return _plain(value)
    except Exception:
        return show(value)


def _plain(value: object) -> object:
    cls = type(value)
    if value is None or cls is bool or cls is float or printable(value):
        return value
    if issubclass(cls, Enum) or cls is np.dtype:
        return show(value)
    if cls is str:
        return _clean(value)  # type: ignore[arg-type]
    if cls is list or cls is tuple or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        head: list[object] = list(value)[:1000]  # type: ignore[call-overload]
        return tuple(entry if printable(entry) else show(entry) for entry in head)
    return show(value)


def printable(value: object) -> bool:
    """Whether repr of this entry of an array is short and cannot fail: an int of few digits."""
    return type(value) is int and value.bit_length() <= MOST_BITS


def listing(names: Sequence[str]) -> str:
    """A list of names in a sentence."""
    return ", ".join(names[:16]) + (f" and {len(names) - 16} more" if len(names) > 16 else "")


def _show_entries(value: Sequence[object], depth: int) -> str:
    cls: Any = tuple if issubclass(type(value), tuple) else list
    length, head = cls.__len__(value), cls.__getitem__(value, slice(0, MOST_ENTRIES))
    if depth == 0 and length:
        return f"{length} entries"
    parts = [show(entry, depth - 1) for entry in head] + ([f"... {length} in all"] if length > MOST_ENTRIES else [])
    text = ", ".join(parts) + ("," if cls is tuple and length == 1 else "")
    return f"({text})" if cls is tuple else f"[{text}]"


def _escape(character: str) -> str:
    return f"\\{character}" if character in '"\\' else character.encode("unicode_escape", "backslashreplace").decode()


def _clean(text: str) -> str:
    short = text if len(text) <= LONGEST_TEXT * 4 else text[: LONGEST_TEXT * 4] + "..."
    return "".join(c if c.isprintable() else _escape(c) for c in short)


def _name(cls: type) -> str:
    name = type.__dict__["__name__"].__get__(cls)
    return _clean(name[:LONGEST_TEXT])


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken condition.

    Attributes
    ----------
    id
        Stable name of the condition, such as DML-AVERAGE_POOLING-window_size-fits.
    operator, field, member, index
        Where: DirectML's name of the operator, Python name of the field, the part of a tensor or of a size that is
        meant (sizes, strides, height), entry of that part or of the field.
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
    """

    id: str
    operator: str
    field: str | None
    member: str | None
    index: int | None
    message: str
    rule: str | None
    values: dict[str, object]
    hint: str
    fix: object
    level: str | None
    provenance: str
    error: str

    @property
    def text(self) -> str:
        """The sentence with its hint and, for a rule, the nearest valid value."""
        nearest = f"Nearest valid value: {show(self.fix)}." if self.rule is not None and self.fix is not None else ""
        return " ".join(part for part in (self.message, self.hint, nearest) if part)

    def __str__(self) -> str:
        return f"{self.text} [{self.id}]"

    def __hash__(self) -> int:
        return hash((self.id, self.index, self.message))

    def _repr_html_(self) -> str:
        from dmlcy import _html

        return _html.violation(self)

    def to_json(self) -> dict[str, Any]:
        """All attributes, as json.dumps takes them: NaN and infinities as text."""
        return {field.name: _json(getattr(self, field.name)) for field in fields_of(self)}


class Violations(list[Violation]):
    """A list of violations that a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from dmlcy import _html

        return _html.violations(self)


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
    def index(self) -> int | None:
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


CLASSES: dict[str, type[DmlError]] = {
    cls.__name__: cls
    for cls in (InvalidDescError, InvalidDataTypeError, FeatureLevelError, InvalidDataError, ModelError)
}
for public in (DmlError, Violation, *CLASSES.values()):
    public.__module__ = "dmlcy"  # as users import them, and as a traceback shows them


def raise_violations(
    violations: Sequence[Violation], function: str | None = None, cause: BaseException | None = None
) -> NoReturn:
    """Raises the violations as the class that the first one names; ``cause``: what an object of a stranger raised."""
    raise CLASSES[violations[0].error](violations, function) from cause
