"""A number of the data type that another field holds."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import DTYPES
from dmlcy._field_types.base import Break, Draws, FieldType, Pass, number_in_json
from dmlcy._field_types.cpp import Source
from dmlcy._field_types.float import as_float, shortest
from dmlcy._field_types.values import Refused, as_int, guarded, wrong_type
from dmlcy._types import Array
from dmlcy._words.values import is_a, plain

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

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
        hint = f"Write {number:.0f}, not {number:.0f}.0." if whole else "Pass an int." if within else holds
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


class ScalarUnion(FieldType):
    """DML_SCALAR_UNION."""

    directml = "DML_SCALAR_UNION"
    serialized = "ScalarUnionData"

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        united = check.literal and type(value) is dict
        dtype = check.value_of(field.scalar_type or "")
        if dtype is None:
            check.fail(field.python)
            if not united:
                as_float(value)
            return
        one = from_union(cast("dict[str, object]", value), dtype.name) if united else as_scalar(value, dtype.name)
        check.keep(field, one)

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        if type(value) is dict:
            return {name: number_in_json(one) for name, one in value.items()}
        return number_in_json(value)

    def json_member(self, member: str) -> str | None:
        return member

    def recorded(self, value: float | Array) -> object:
        if isinstance(value, int | float):
            return value
        return shortest(value[0]) if value.dtype.kind == "f" else value.item()

    def from_serialized(self, value: bytes, dtype: str | None) -> float:
        """The number in the first of the eight bytes; 0 where no number has the data type, which is wrong itself."""
        if dtype not in UNION:
            return 0
        kind = np.dtype(dtype.lower()).newbyteorder("<")
        number = np.frombuffer(value[: kind.itemsize], kind)[0]
        return shortest(number) if kind.kind == "f" else int(number)

    def to_serialized(self, value: object, dtype: str | None) -> bytes:
        assert dtype is not None
        packed = np.array(value, np.dtype(dtype.lower()).newbyteorder("<")).tobytes()
        return packed.ljust(8, b"\0")

    def cpp(self, name: str, value: float | str, dtype: str | None, source: Source) -> str:
        """The eight bytes, which are the first member in C, with the number beside them."""
        assert dtype is not None
        number = float(value) if dtype in PACKED else int(value)
        return f"{{{{{', '.join(f'0x{byte:02x}' for byte in self.to_serialized(number, dtype))}}}}} /* {value} */"

    def random(self, field: Field, draws: Draws) -> SearchStrategy[object]:
        from hypothesis import strategies as st

        dtype = np.dtype(draws.values[field.scalar_type or ""].name.lower())
        special = st.sampled_from(draws.specials(dtype.name))
        if dtype.kind == "f":
            return st.one_of(special, st.floats(width=8 * dtype.itemsize))
        return st.one_of(special, st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)))

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield "value", lambda b, field: b.with_(field, b.of(2**64, -(2**63) - 1, 10**400, -1, 300, 2**31, 2**16))


TYPE = ScalarUnion
