"""The parts that the types of fields share: raw values to ints and data types, refusals, equality.

Each ``as_`` function, here and in the files of the types, returns the value that an operator takes, or raises Refused.
The functions take the values that dmlcy._runtime.arguments takes: a value that it refuses must be refused here too.
Ranges, lengths and levels, which depend on other fields, are not looked at.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import numpy as np

from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import DTYPES, ENUMS, TensorDataType
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import to_numbers
from dmlcy._types import DType
from dmlcy._words.values import is_a

if TYPE_CHECKING:
    from dmlcy._errors import Violation

LONGEST: Final = 4096
"""Entries of an array that are looked at; no operator takes as many."""

REPORTED: Final = 10
"""Entries of one field, or indices of one rule, that are reported."""

STRUCTS: Final[set[type]] = set()
"""The classes of tuples that are structs in DirectML: ``_json`` gives such a tuple as JSON, ``_shown`` in words."""

T = TypeVar("T")


class Keyed:
    """Base of classes that say by ``_key`` what makes two of them equal."""

    __slots__ = ()

    def _key(self) -> object:
        raise NotImplementedError


DEEPEST: Final = 4
"""Descs within each other that are written out; no operator takes as many."""


class Nested(Keyed):
    """Base of the descs of operators, for the types of fields that hold one: only its attributes count there."""

    operator: ClassVar[Operator]
    _given: frozenset[str]  # fields whose values do not follow from others
    _nesting: int  # descs within each other, this one included
    _class_of: ClassVar[Callable[[str], Any]]  # the class of the descs of an operator; the folder of descs gives it

    def _violations_inside(self, path: str, level: int) -> list[Violation]:
        """Every violation of the attributes, at the level of that position; messages name them under the path."""
        raise NotImplementedError

    def _given_tensors(self) -> list[str]:
        """The tensors that are given, by their Python names."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """DirectML's JSON spelling."""
        raise NotImplementedError


class Refused(Exception):
    """Why a value is not taken: the slug of the error and what its message needs.

    ``part`` and ``index`` follow the field's name (``.sizes[0]``), ``words`` go into the message as they are, and
    ``values`` are shown. ``member`` and ``at`` are the part and the index that are meant where the name does not say
    them. ``note`` is a sentence that follows the message.
    """

    def __init__(
        self,
        slug: str,
        *,
        values: dict[str, object] | None = None,
        words: dict[str, str] | None = None,
        part: str = "",
        member: str | None = None,
        index: int | None = None,
        at: int | None = None,
        note: str = "",
        hint: str = "",
        fix: object = None,
    ) -> None:
        super().__init__(slug)
        self.slug = slug
        self.values = values or {}
        self.words = words or {}
        self.part = part
        self.member = member
        self.index = index
        self.at = at
        self.note = note
        self.hint = hint
        self.fix = fix


def wrong_type(value: object, expected: str, hint: str = "", *, part: str = "", member: str | None = None) -> Refused:
    """The refusal of a value of the wrong kind."""
    words = {"expected": expected}
    return Refused("type", values={"actual": value}, words=words, part=part, member=member, hint=hint)


def guarded(function: Callable[[], T], refusal: Refused) -> T:
    """The function's result; what a stranger's class raises becomes the cause of the refusal, except MemoryError."""
    try:
        return function()
    except (Refused, MemoryError):
        raise
    except Exception as error:
        raise refusal from (None if type(error) is TypeError else error)  # Python's own says no more than the refusal


def as_int(value: object) -> int:
    """The int of a value that operator.index takes, bool excepted."""
    if type(value) is int:
        return value
    hint = f"Write {value:.0f}." if type(value) is float and value.is_integer() and abs(value) < 2**53 else ""
    refusal = wrong_type(value, "an int", hint)
    if is_a(value, bool, np.bool):
        raise refusal
    return guarded(lambda: int.__index__(operator.index(value)), refusal)  # type: ignore[arg-type]


def as_entries(value: object, expected: str, kinds: str = "iu", longest: int = LONGEST) -> tuple[object, ...]:
    """The entries of a sequence or of a 1-D array, as they are; ``kinds`` are those of NumPy that an array may have.

    Where they may be floats, a NumPy array without dimensions has one entry.
    """
    if type(value) in (tuple, list) and len(value) <= longest:  # type: ignore[arg-type]
        return tuple(value)  # type: ignore[arg-type]
    refusal = wrong_type(value, expected)
    if is_a(value, str, bytes, bytearray, memoryview):
        raise refusal
    if not is_a(value, tuple, list, Sequence):
        array = guarded(lambda: to_numbers(value), refusal)
        if array is not None and array.ndim == 0 and "f" in kinds and is_a(value, np.ndarray):
            return (array.item(),)
        if array is None or array.ndim != 1 or array.dtype.kind not in kinds:
            raise refusal
        value = array[: longest + 1].tolist()
    entries = guarded(lambda: tuple(islice(iter(value), longest + 1)), refusal)  # type: ignore[call-overload]
    if len(entries) > longest:
        raise wrong_type(value, f"at most {longest} entries long")
    return entries


def as_ints(value: object, fill: bool = True) -> int | tuple[object, ...]:
    """An int that fills an array, or the entries of a sequence: each goes through as_int later."""
    if fill and type(value) is int:
        return value
    expected = "an int or a sequence of ints" if fill else "a list of ints"
    try:
        return as_entries(value, expected)
    except Refused as refused:
        if not fill:
            raise
        try:
            return as_int(value)
        except Refused as other:
            raise refused from other.__cause__ or refused.__cause__


NUMPY: Final[dict[DType, TensorDataType]] = {
    four_bits.MARKERS[dtype.name] if dtype.numpy is None else np.dtype(dtype.numpy): TensorDataType(dtype.value)
    for dtype in DTYPES.values()
}
"""The data types of arrays inside the package."""


def as_dtype(value: object, numpy: bool = True) -> TensorDataType | None:
    """A data type from its member, its DirectML spelling or what numpy.dtype takes; None for everything else."""
    if type(value) is TensorDataType:
        return value if value.name in DTYPES else None
    if is_a(value, str):
        name = str.__str__(value)
        short = name.removeprefix(ENUMS["DML_TENSOR_DATA_TYPE"].prefix)
        if short in DTYPES:
            return TensorDataType(DTYPES[short].value)
        if len(name) > 20:
            return None
    elif not is_a(value, type, np.dtype):
        return None
    try:
        found = np.dtype(value)  # type: ignore[call-overload]
        half = four_bits.name_of(found)
        known = NUMPY.get(found) if half is None else TensorDataType[half]
        return known if numpy else None
    except Exception:
        return None


def key(value: object, depth: int = 20) -> object:
    """A key by which two values of descs are equal: hashable, with NaN equal to itself and 1, 1.0 and True apart."""
    cls = type(value)
    if depth == 0:
        return (cls, id(value))
    if cls is float:
        return (cls, float.__repr__(value))
    if cls is int or cls is str or cls is bool or value is None or is_a(value, IntEnum):
        return (cls, value)
    if cls is tuple or cls is list or cls in STRUCTS:
        return (cls, tuple(key(entry, depth - 1) for entry in value))  # type: ignore[attr-defined]
    if cls is dict:
        return (cls, tuple((key(name, depth - 1), key(entry, depth - 1)) for name, entry in value.items()))  # type: ignore[attr-defined]
    if is_a(value, Keyed):
        return value._key()  # type: ignore[attr-defined]
    return (cls, id(value))
