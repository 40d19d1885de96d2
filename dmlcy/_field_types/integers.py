"""The parts that the types of integers share: their range, and the entries of an array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._field_types.bad import BAD
from dmlcy._field_types.base import Break, Broken, Draws, FieldType, Pass
from dmlcy._field_types.values import Refused, as_int, as_ints
from dmlcy._field_types.wording import axis_hint
from dmlcy._field_types.wording import entries as entry_text
from dmlcy._words.values import show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

UINT_MAX: Final = 2**32 - 1
VECTOR: Final = 8
"""The most entries of an array of integers."""
OUTSIDE: Final = [-1, UINT_MAX + 1, 2**64, -(2**31), 10**30]
"""Integers that no UINT holds, and an INT only the least of them."""


class Integers(FieldType):
    """A type whose values are integers."""

    limits: ClassVar[tuple[int, int]] = (0, UINT_MAX)  # where a spec does not narrow them

    def range_of(self, field: Field) -> tuple[int, int]:
        """The least and the greatest value of the field, or of each entry."""
        low, high = self.limits
        return low if field.minimum is None else field.minimum, high if field.maximum is None else field.maximum

    def beyond(self, field: Field, number: int) -> Refused | None:
        """The refusal of a number that is out of the range."""
        low, high = self.range_of(field)
        if low <= number <= high:
            return None
        values: dict[str, object] = {"actual": number, "minimum": low, "maximum": high}
        return Refused("range", values=values, fix=min(max(number, low), high))

    def take(self, field: Field, number: int, check: Pass) -> None:
        """Refuses the number that is the value, or fills all of it, where it is out of the range."""
        refused = self.refusal(field, number, check)
        if refused is not None:
            check.fail(field.python)
            check.refused(field, refused)

    def refusal(self, field: Field, number: int, check: Pass) -> Refused | None:
        """The refusal of a number that is out of the range; of an axis, by the tensor at hand."""
        refused = self.beyond(field, number)
        sizes = None if refused is None or field.axis_of is None else check.evaluated(field.axis_of)
        if refused is not None and sizes:
            refused.values["maximum"] = len(sizes) - 1
            refused.hint = axis_hint(number, sizes)
            refused.fix = number + len(sizes) if -len(sizes) <= number < 0 else min(max(number, 0), len(sizes) - 1)
        return refused

    def take_entries(
        self,
        field: Field,
        entries: Sequence[object],
        check: Pass,
        kind: Callable[[Iterable[Any]], object],
        parts: Sequence[str] = (),
    ) -> None:
        """Keep the entries of an array or of a struct; formulas may read the valid ones."""
        numbers: list[int] = []
        readable: list[object] = []
        for index, entry in enumerate(entries):
            refused: Refused | None
            try:
                numbers.append(as_int(entry))
                refused = self.refusal(field, numbers[-1], check)
            except Refused as error:
                refused = error
            if refused is None:
                readable.append(numbers[-1])
                continue
            readable.append(BAD)
            if parts:
                refused.part, refused.at = parts[index], index
            else:
                refused.index = index
            check.refused(field, refused)
        if len(numbers) == len(entries):
            check.hold(field, kind(numbers))
        check.read(field, kind(readable))

    def random(self, field: Field, draws: Draws) -> SearchStrategy[object]:
        counts = draws.counts()
        return counts if self.limits[0] == 0 else counts | counts.map(lambda count: -count)

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        if field.minimum is None or field.maximum is None:
            return
        outside = [field.minimum - 1, field.maximum + 1, *(one for one in OUTSIDE if self.beyond(field, one))]
        if self.several:
            yield "range", lambda b, field: b.with_(field, b.entries(field, b.of(*outside)))
        else:
            yield "range", lambda b, field: b.with_(field, b.of(*outside))


class Integer(Integers):
    """One integer."""

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        number = as_int(value)
        check.keep(field, number)
        self.take(field, number, check)

    def counted(self, value: object, literal: bool) -> object:
        return as_int(value)

    def contradicted(self, field: Field, given: object, expected: object, check: Pass) -> Refused:
        numbers = cast(int, given), cast(int, expected)
        refused = check.miscounted(cast(Formula, field.value), f"is {show(given)}", "must be", *numbers)
        refused.fix = expected
        return refused

    def contradictions(self, field: Field) -> Iterator[tuple[str, Break]]:
        yield "length", lambda b, field: b.with_(field, b.of(0, 1, 2, 3, 9, UINT_MAX))


class IntegerArray(Integers):
    """An array of integers, which one integer fills."""

    array = several = True

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        entries = as_ints(value, fill=not check.literal)
        if field.max_length is not None:
            self._free(field, (entries,) if isinstance(entries, int) else entries, check)
            return
        length = None if field.length is None else check.evaluated(field.length)
        if isinstance(entries, int) and field.length is None:  # as many as there are
            entries = (entries,)
        if isinstance(entries, int):
            self.take(field, entries, check)
            if length is None:
                check.fail(field.python)
                check.hold(field, entries)
            else:
                check.keep(field, (entries,) * length)
            return
        if length is not None and len(entries) != length:
            check.fail(field.python)
            has = f"has {entry_text(len(entries))}"
            check.refused(field, check.miscounted(cast(Formula, field.length), has, "needs", len(entries), length))
        self.take_entries(field, entries, check, tuple)

    def _free(self, field: Field, entries: tuple[object, ...], check: Pass) -> None:
        """Takes an array that is as long as it is given."""
        most = cast(Formula, field.max_length)
        limit = check.evaluated(most)
        if len(entries) > (VECTOR if limit is None else limit):
            check.fail(field.python)
            if limit is not None:
                has = f"has {entry_text(len(entries))}"
                check.refused(field, check.miscounted(most, has, "needs at most", len(entries), limit))
        self.take_entries(field, entries, check, tuple)

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield from super().breaks(operator, field, level)
        if field.length is not None or field.max_length is not None:
            yield "length", miscounts


def miscounts(b: Broken, field: Field) -> object:
    """The desc with an array that is too short or too long."""
    value = getattr(b.desc, field.python)
    return b.with_(field, b.of((*value, 1), value[1:], (1,) * 50))
