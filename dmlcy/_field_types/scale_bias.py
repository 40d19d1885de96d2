"""A scale and a bias, applied to each element of an input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dmlcy._facts.rows import Field, Operator
from dmlcy._field_types.base import Break, Broken, Draws, FieldType, Pass, number_in_json, spelled_in_json
from dmlcy._field_types.cpp import Source, single_precision
from dmlcy._field_types.float import FLOATS, NOT_FINITE, as_float, shortest, single
from dmlcy._field_types.values import STRUCTS, Refused, as_entries, wrong_type
from dmlcy._words.values import show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

PAIR: Final = "(scale, bias)"
OBJECT: Final = 'an object with the members "Scale" and "Bias"'


class ScaleBias(NamedTuple):
    """The number that each element is multiplied by, and the number that is added then."""

    scale: float
    bias: float

    def _json(self) -> dict[str, object]:
        return {"Scale": spelled_in_json(self.scale), "Bias": spelled_in_json(self.bias)}

    def _shown(self) -> str:
        return f"scale {show(self.scale)}, bias {show(self.bias)}"


ScaleBias.__module__ = "dmlcy.desc"  # as users import it
STRUCTS.add(ScaleBias)


def as_scale_bias(value: object, pair: bool = True) -> ScaleBias:
    """Scale and bias; each goes through as_float later."""
    if type(value) is ScaleBias:
        return value
    expected = PAIR if pair else OBJECT
    if not pair:
        raise wrong_type(value, expected)
    try:
        entries = as_entries(value, expected, kinds="iuf")
    except Refused as refused:
        raise wrong_type(value, expected) from refused.__cause__
    if len(entries) != 2:
        raise wrong_type(value, expected)
    return ScaleBias(*entries)  # type: ignore[arg-type]


class ScaleBiasType(FieldType):
    """DML_SCALE_BIAS."""

    directml = "DML_SCALE_BIAS"
    serialized = "ScaleBias"
    members = ("Scale", "Bias")

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        numbers: list[float] = []
        pair = as_scale_bias(value, pair=not check.literal)
        for at, (name, entry) in enumerate(zip(ScaleBias._fields, pair, strict=True)):
            try:
                numbers.append(as_float(entry))
                refused = None if math.isfinite(single(numbers[-1])) else Refused("finite", values={"actual": entry})
            except Refused as error:
                refused = error
            if refused is not None:
                refused.part, refused.at = f".{name}", at
                check.fail(field.python)
                check.refused(field, refused)
        check.hold(field, ScaleBias(*numbers) if len(numbers) == len(pair) else value)

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        if type(value) is not dict:
            return value
        whole = {*self.members} <= set(value) and (ignore_unknown or len(value) == len(self.members))
        if not whole:
            return value
        return ScaleBias._make(number_in_json(value[name]) for name in self.members)

    def from_serialized(self, value: Iterable[float], dtype: str | None) -> dict[str, float]:
        return dict(zip(self.members, (shortest(np.float32(entry)) for entry in value), strict=True))

    def infinite_in_json(self, value: object) -> object:
        return {"Scale": 1e39, "Bias": 0.0}

    def cpp(self, name: str, value: Mapping[str, float | str], dtype: str | None, source: Source) -> str:
        source.lines.append(f"const {self.directml} {name} = {self.cpp_number(value)};")
        return f"&{name}"

    def cpp_number(self, value: Mapping[str, float | str]) -> str:
        return f"{{{', '.join(single_precision(value[member]) for member in self.members)}}}"

    def directmlx(self, name: str, value: object, source: Source) -> str:
        found = super().directmlx(name, value, source)
        return found if value is None else f"{self.directml}{found}"

    def random(self, field: Field, draws: Draws) -> SearchStrategy[ScaleBias | None]:
        from hypothesis import strategies as st

        number = st.sampled_from(FLOATS) | st.floats(width=32, allow_nan=False, allow_infinity=False)
        pairs = st.builds(ScaleBias, number, number)
        return st.none() | pairs if field.optional else pairs

    def mistyped(self, b: Broken, field: Field, other: object) -> object:
        number = b.of(None, "1", 1j, True)
        return b.with_(field, b.of(other, (1.0, number), (number, 0.0), (1.0,), (1.0, 0.0, 0.0), 1.0))

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield "finite", lambda b, field: b.with_(field, b.of(*((1.0, one) for one in NOT_FINITE), (math.nan, 0.0)))


TYPE = ScaleBiasType
