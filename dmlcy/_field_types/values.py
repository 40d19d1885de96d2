"""Raw values of attributes to what an operator takes: each function returns the value, or raises Refused.

They take what dmlcy._runtime.arguments takes: what that refuses must be refused here too. Ranges, lengths and levels,
which depend on other fields, are not looked at.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import IntEnum, IntFlag
from itertools import islice
from numbers import Real
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from dmlcy._facts.tables import DTYPES, ENUMS, EnumInfo, TensorDataType
from dmlcy._runtime.tensor import to_array
from dmlcy._words.alike import closest, did_you_mean
from dmlcy._words.values import is_a, plain

LONGEST: Final = 4096
"""Entries of an array that are looked at; no operator takes as many."""

T = TypeVar("T")


class Size2D(NamedTuple):
    """Height and width, in the order of the axes."""

    height: int
    width: int


class Keyed:
    """Base of classes that say by ``_key`` what makes two of them equal."""

    __slots__ = ()

    def _key(self) -> object:
        raise NotImplementedError


class Refused(Exception):
    """Why a value is not taken: the slug of the error and what its message needs.

    ``part`` follows the field's name (``.sizes``), ``words`` go into the message as they are, ``values`` are shown;
    ``member`` is the part that is meant where the name does not say it.
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
        self.hint = hint
        self.fix = fix


def wrong_type(value: object, expected: str, hint: str = "", **more: Any) -> Refused:
    """The refusal of a value of the wrong kind."""
    return Refused("type", values={"actual": value}, words={"expected": expected}, hint=hint, **more)


def guarded(function: Callable[[], T], refusal: Refused) -> T:
    """The function's result; what a stranger's class raises becomes the cause of the refusal, except MemoryError."""
    try:
        return function()
    except (Refused, MemoryError):
        raise
    except Exception as error:
        raise refusal from (None if type(error) is TypeError else error)  # Python's own says no more than the refusal


def as_int(value: object) -> int:
    """What operator.index takes, bool excepted."""
    if type(value) is int:
        return value
    hint = f"Write {value:.0f}." if type(value) is float and value.is_integer() and abs(value) < 2**53 else ""
    refusal = wrong_type(value, "an int", hint)
    if is_a(value, bool, np.bool):
        raise refusal
    return guarded(lambda: int.__index__(operator.index(value)), refusal)  # type: ignore[arg-type]


def as_entries(value: object, expected: str) -> tuple[object, ...]:
    """The entries of a sequence or of a 1-D array, as they are."""
    refusal = wrong_type(value, expected)
    if is_a(value, str, bytes, bytearray, memoryview):
        raise refusal
    if not is_a(value, tuple, list, Sequence):
        array = guarded(lambda: to_array(value), refusal)
        if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
            raise refusal
        value = array[: LONGEST + 1].tolist()
    entries = guarded(lambda: tuple(islice(iter(value), LONGEST + 1)), refusal)  # type: ignore[call-overload]
    if len(entries) > LONGEST:
        raise wrong_type(value, f"at most {LONGEST} entries long")
    return entries


def as_ints(value: object, fill: bool = True) -> int | tuple[object, ...]:
    """An int that fills an array, or the entries of a sequence: each goes through as_int later."""
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


def as_bool(value: object) -> bool:
    """True or False only."""
    if type(value) is bool:
        return value
    if is_a(value, np.bool):
        return bool(value)
    raise wrong_type(value, "True or False")


def as_float(value: object) -> float:
    """A number; one beyond the range of a float becomes infinite. Whether it is finite is for the caller to look at."""
    if type(value) is float:
        return value
    refusal = wrong_type(value, "a number")
    if is_a(value, bool, np.bool) or not is_a(value, Real, Decimal):
        raise refusal
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except MemoryError:
        raise
    except Exception as error:
        raise refusal from error


def single(value: float) -> float:
    """The value rounded to FLOAT32."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def as_enum(value: object, info: EnumInfo) -> IntEnum | IntFlag:
    """A member, or its short or full DirectML spelling."""
    if type(value) is info.cls and value.name in info.members:
        return value
    if not is_a(value, str):
        raise wrong_type(value, f"a {info.cls.__name__} or its name")
    name = str.__str__(value).removeprefix(info.prefix)
    if name in info.members:
        return info.members[name][0]
    meant = info.also.get(name.upper(), name)
    raise Refused(
        "member",
        values={"actual": value},
        words={"allowed": ", ".join(info.members)},
        hint=did_you_mean(meant, list(info.members)),
        fix=closest(meant, list(info.members)),
    )


NUMPY: Final[dict[np.dtype[Any], TensorDataType]] = {
    np.dtype(dtype.numpy): TensorDataType(dtype.value) for dtype in DTYPES.values() if dtype.numpy is not None
}


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
        return NUMPY.get(np.dtype(value)) if numpy else None  # type: ignore[call-overload]
    except Exception:
        return None


def as_size(value: object, fill: bool = True) -> Size2D:
    """Height and width; the entries go through as_int later."""
    if type(value) is Size2D:
        return value
    expected = "(height, width), or an int for both" if fill else 'an object with the members "Width" and "Height"'
    if not fill:
        raise wrong_type(value, expected)
    try:
        entries = as_ints(value)
    except Refused as refused:
        raise wrong_type(value, expected) from refused.__cause__
    if isinstance(entries, int):
        return Size2D(entries, entries)
    if len(entries) != 2:
        raise wrong_type(value, expected)
    return Size2D(*entries)  # type: ignore[arg-type]


UNION: Final = {
    **{name.upper(): name for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")},
    **{"FLOAT16": "UInt16", "FLOAT32": "Float32", "FLOAT64": "Float64"},
}
"""The member of DML_SCALAR_UNION that holds a value of the data type; those of FLOAT16 are bits."""


def from_union(value: dict[str, object], dtype: str) -> object:
    """The value in DxDispatch's long form of a scalar in JSON, an object of the one member that fits the data type."""
    name = UNION.get(dtype)
    if name is None:
        raise wrong_type(value, "a number")
    other = next((given for given in value if given != name), None)
    if other is not None or not value:
        expected = f'a number or an object of "{name}" alone, as the data type is {dtype}'
        hint = "" if dtype != "FLOAT16" else f'"{name}" holds the bits.'
        raise wrong_type(value, expected, hint, member=None if other is None else str(plain(other)))
    try:
        number = as_scalar(value[name], "UINT16" if dtype == "FLOAT16" else dtype)
    except Refused as refused:
        refused.part = f".{name}"
        raise
    return float(struct.unpack("<e", struct.pack("<H", number))[0]) if dtype == "FLOAT16" else number


PACKED: Final = {"FLOAT16": "<e", "FLOAT32": "<f", "FLOAT64": "<d"}


def as_scalar(value: object, dtype: str) -> int | float:
    """A number of the data type: an int for integers, exact; else a float, which the data type may round."""
    if dtype in PACKED:
        number = as_float(value)
        overflow = math.isinf(number) and guarded(lambda: bool(value != number), wrong_type(value, "a number"))
        try:
            struct.pack(PACKED[dtype], number)
        except OverflowError:
            overflow = True
        if overflow:
            hint = f"The largest number is {float(np.finfo(dtype.lower()).max):.9g}, and inf is allowed."
            raise Refused("value", values={"actual": value}, words={"dtype": dtype}, hint=hint)
        return number
    low, high = integer_range(dtype)
    holds = f"The data type holds {low} to {high}."
    if is_a(value, float, np.floating):
        number = as_float(value)
        within = low <= number <= high
        whole = number.is_integer() and within and abs(number) < 2**53
        hint = f"Write {number:.0f}." if whole else "Pass an int." if within else holds
        raise Refused("value", values={"actual": value}, words={"dtype": dtype}, hint=hint)
    number = as_int(value)
    if not low <= number <= high:
        fix = min(max(number, low), high)
        raise Refused("value", values={"actual": number}, words={"dtype": dtype}, hint=holds, fix=fix)
    return number


def integer_range(dtype: str) -> tuple[int, int]:
    """Smallest and largest value of an integer data type."""
    bits = DTYPES[dtype].bits
    return (0, 2**bits - 1) if dtype.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def key(value: object, depth: int = 20) -> object:
    """What makes two values of descs equal: hashable, with NaN equal to itself and 1, 1.0 and True apart."""
    cls = type(value)
    if depth == 0:
        return (cls, id(value))
    if cls is float:
        return (cls, float.__repr__(value))
    if cls is int or cls is str or cls is bool or value is None or is_a(value, IntEnum):
        return (cls, value)
    if cls is tuple or cls is list or cls is Size2D:
        return (cls, tuple(key(entry, depth - 1) for entry in value))  # type: ignore[attr-defined]
    if cls is dict:
        return (cls, tuple((key(name, depth - 1), key(entry, depth - 1)) for name, entry in value.items()))  # type: ignore[attr-defined]
    if is_a(value, Keyed):
        return value._key()  # type: ignore[attr-defined]
    return (cls, id(value))
