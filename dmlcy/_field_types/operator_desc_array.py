"""The descs of several operators: activations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._field_types.base import Break, Broken, Draws, Pass
from dmlcy._field_types.cpp import Source, array
from dmlcy._field_types.operators import Descs, Spelled, shown_in_words, under
from dmlcy._field_types.values import Nested, as_entries, wrong_type
from dmlcy._field_types.wording import entries as entry_text
from dmlcy._words.values import is_a

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SEVERAL: Final = "a sequence of descs of operators"
LIST: Final = "a list of operator descs"


class OperatorDescArray(Descs):
    """const DML_OPERATOR_DESC*, with a count beside it."""

    directml = "operator desc"
    serialized = "ActivationArray"
    array = True

    def entry_more(self, field: Field, entries: tuple[object, ...]) -> object:
        return entries[0] if entries else super().entry_more(field, entries)

    def shown(self, value: object) -> str | None:
        return "\n".join(map(shown_in_words, value[:16])) if type(value) is tuple else None

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        expected = LIST if check.literal else SEVERAL
        if is_a(value, Nested, Mapping):
            hint = "Put it into brackets: [{...}]." if check.literal else "Pass a tuple of it."
            raise wrong_type(value, expected, hint)
        entries = as_entries(value, expected)
        formula = field.max_length if field.length is None else field.length
        length = None if formula is None else check.evaluated(formula)
        most = field.length is None
        if length is not None and (len(entries) > length if most else len(entries) != length):
            check.fail(field.python)
            has, needs = f"has {entry_text(len(entries))}", "needs at most" if most else "needs"
            check.refused(field, check.miscounted(cast(Formula, formula), has, needs, len(entries), length))
        check.keep(field, tuple(self.take(under(field, place), one, check) for place, one in enumerate(entries)))

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        if type(value) is not list:
            return value
        return [self.read(field, entry, ignore_unknown) for entry in value]

    def to_json(self, value: object) -> object:
        if type(value) not in (tuple, list):
            return self.json_of(value)
        return [self.json_of(entry) for entry in cast("tuple[object, ...] | list[object]", value)]

    def cpp(self, name: str, value: Sequence[Spelled], dtype: str | None, source: Source) -> str:
        names = [f"{name}{place}" for place in range(len(value))]
        for own, one in zip(names, value, strict=True):
            source.operation(own, one["Type"], one["Desc"])
        source.lines.append(array("DML_OPERATOR_DESC", name, names))
        return name

    def in_place(self, desc: object) -> object:
        return [desc]

    def random(self, field: Field, draws: Draws) -> SearchStrategy[object]:
        return self.one(field, draws)

    def mistyped(self, b: Broken, field: Field, other: object) -> object:
        entries = getattr(b.desc, field.python)
        return b.with_(field, b.of(other, entries[0] if entries else other, (*entries[1:], other), 3))

    def put(self, b: Broken, field: Field, desc: object) -> object:
        return b.entries(field, desc)

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield from super().breaks(operator, field, level)
        if field.length is not None or field.max_length is not None:
            yield "length", _miscounted


def _miscounted(b: Broken, field: Field) -> object:
    value = getattr(b.desc, field.python)
    few = [value[1:]] if field.max_length is None else []
    return b.with_(field, b.of((*value, value[0]), value * 50, *few))


TYPE = OperatorDescArray
