"""A number of single precision."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dmlcy._facts.rows import Field, Operator
from dmlcy._field_types.base import Break, Draws, FieldType, Pass, number_in_json
from dmlcy._field_types.cpp import single_precision
from dmlcy._field_types.values import Refused, wrong_type
from dmlcy._words.values import is_a

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FLOATS: Final = [1.0, 0.5, 0.0625, 2.0, 0.0, -1.0, 2.0**-149, 2.0**-126, float(np.finfo(np.float32).max)]
"""Values that tests often try."""
NOT_FINITE: Final = (math.nan, math.inf, -math.inf, 1e39, 10**400)
"""Values that no FLOAT holds as a finite number."""


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


def shortest(value: float | np.floating[Any]) -> float:
    """The number with no more digits than its data type tells apart."""
    return float(np.format_float_scientific(value))


class Float(FieldType):
    """FLOAT: finite, unless the spec says that it may be infinite or no number."""

    directml = "FLOAT"
    serialized = "Float32"

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        number = as_float(value)
        rounded = single(number)
        check.read(field, rounded)
        # A number that is infinite by itself, or NaN, may be taken; one that only becomes so may not.
        refused = not math.isfinite(rounded) and not (field.infinite and (number != number or value == rounded))
        if not (refused and field.infinite):
            check.hold(field, number)
        if refused:
            raise Refused("finite", values={"actual": value})

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        return number_in_json(value)

    def recorded(self, value: float) -> float:
        return shortest(np.float32(value))

    def from_serialized(self, value: float, dtype: str | None) -> float:
        return shortest(np.float32(value))

    def cpp_number(self, value: float | str) -> str:
        return single_precision(value)

    def random(self, field: Field, draws: Draws) -> SearchStrategy[float]:
        from hypothesis import strategies as st

        return st.one_of(st.sampled_from(FLOATS), st.floats(width=32))

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        beyond = (1e39, -1e39) if field.infinite else (math.nan, math.inf, -math.inf, 1e39)
        yield "finite", lambda b, field: b.with_(field, b.of(*beyond))


TYPE = Float
