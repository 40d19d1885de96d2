"""An array of numbers of single precision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._field_types.bad import BAD
from dmlcy._field_types.base import Break, Draws, FieldType, Pass, number_in_json, spelled_in_json
from dmlcy._field_types.cpp import single_precision
from dmlcy._field_types.float import FLOATS, NOT_FINITE, as_float, shortest, single
from dmlcy._field_types.integers import miscounts
from dmlcy._field_types.values import Refused, as_entries
from dmlcy._field_types.wording import entries as entry_text

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SEVERAL: Final = "a sequence of numbers"


def as_floats(value: object, fill: bool = True) -> float | tuple[object, ...]:
    """One number, or the entries of a sequence: each goes through as_float later."""
    expected = f"a number or {SEVERAL}" if fill else "a list of numbers"
    try:
        return as_entries(value, expected, kinds="iuf")
    except Refused as refused:
        if not fill:
            raise
        try:
            return as_float(value)
        except Refused as other:
            raise refused from other.__cause__ or refused.__cause__


class FloatArray(FieldType):
    """const FLOAT*: every entry is finite. One number fills the array, or is one entry."""

    directml = "FLOAT"
    serialized = "FloatArray"
    array = several = True
    element = "float"

    def entry_more(self, field: Field, entries: tuple[object, ...]) -> object:
        return entries[0] if entries else 1.0

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        entries = as_floats(value, fill=not check.literal)
        length = None if field.length is None else check.evaluated(field.length)
        alone = isinstance(entries, float) and not field.fills
        if alone:
            entries = (entries,)
        if isinstance(entries, float):
            if length is None and field.length is not None:
                check.fail(field.python)
                check.hold(field, entries)
                return
            entries = (entries,) * (1 if length is None else length)
        elif length is not None and len(entries) != length:
            check.fail(field.python)
            has = "is one number" if alone else f"has {entry_text(len(entries))}"
            refused = check.miscounted(cast(Formula, field.length), has, "needs", len(entries), length)
            if alone:
                refused.hint = " ".join(filter(None, (refused.hint, field.hint)))
            check.refused(field, refused)
        self._take(field, entries, check)

    def _take(self, field: Field, entries: tuple[object, ...], check: Pass) -> None:
        """Keep the entries; formulas may read the valid ones, in single precision."""
        numbers: list[float] = []
        readable: list[object] = []
        for index, entry in enumerate(entries):
            refused = None
            try:
                numbers.append(as_float(entry))
                rounded = single(numbers[-1])
                finite = math.isfinite(rounded)
                refused = None if finite else Refused("finite", values={"actual": entry})
                readable.append(rounded if finite else BAD)
            except Refused as error:
                refused = error
                readable.append(BAD)
            if refused is not None:
                refused.index = index
                check.refused(field, refused)
        if len(numbers) == len(entries):
            check.hold(field, tuple(numbers))
        check.read(field, tuple(readable))

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        return [number_in_json(entry) for entry in value] if type(value) is list else value

    def to_json(self, value: object) -> object:
        return [spelled_in_json(entry) for entry in value] if type(value) is tuple else super().to_json(value)

    def from_serialized(self, value: Iterable[float], dtype: str | None) -> list[float]:
        return [shortest(np.float32(entry)) for entry in value]

    def cpp_number(self, value: float | str) -> str:
        return single_precision(value)

    def random(self, field: Field, draws: Draws) -> SearchStrategy[float]:
        from hypothesis import strategies as st

        return st.sampled_from(FLOATS) | st.floats(width=32, allow_nan=False, allow_infinity=False)

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield "finite", lambda b, field: b.with_(field, b.entries(field, b.of(*NOT_FINITE)))
        if field.length is not None:
            yield "length", miscounts


TYPE = FloatArray
