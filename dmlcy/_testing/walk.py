"""Walks from one valid desc of an operator to others: a field is drawn anew, and what follows from it is adapted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, cast

from hypothesis import strategies as st

from dmlcy._check.checker import Check
from dmlcy._check.optional import descs_for
from dmlcy._facts.rows import MISSING, Field, Operator
from dmlcy._facts.tables import LEVEL_INDEX
from dmlcy._field_types import type_of
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._testing.starts import Values, elements, tensors_of
from dmlcy._testing.values import specials

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _TensorFlags

Sizes = Callable[[tuple[int, ...]], Sequence[int]]

MOST_AXES: Final = 8

LARGE: Final = 2**16
"""With so many elements and more, sizes are up to 2**32 - 1, and ends of ranges more frequent."""
ADAPTED: Final = 3
"""How often what follows from others is adapted, for something may follow from that."""
FLAGS: Final[Sequence[_TensorFlags]] = ["NONE", "NONE", "OWNED_BY_DML"]
ALIGNMENTS: Final = [0, 0, 0, 16, 64, 4096, 2**31]


class Walk:
    """The values of a valid desc, and the steps to others."""

    def __init__(self, draw: st.DrawFn, operator: Operator, level: int, most: int, start: Values) -> None:
        self.draw = draw
        self.operator = operator
        self.level = level
        self.most = most
        self.values = dict(start)
        given = [
            field
            for field in operator.fields
            if field.kind != "output" or is_drawn(operator, field) or self.values[field.python] is not None
        ]
        self.given = [
            field.python
            for field in given
            if field.value is None and (field.kind != "output" or field.optional or is_drawn(operator, field))
        ]

    def check(self, values: Values) -> Check:
        return Check(self.operator, values, self.level, call=False)

    def take(self, changes: Values) -> bool:
        """Goes on to the desc with these changes, and with what follows from them, if it is valid."""
        check = self.changed(changes)
        if check.violations or elements(check.resolved) > self.most:
            return False
        self.values = check.resolved
        return True

    def changed(self, changes: Values) -> Check:
        """The desc with these changes, and with what follows from them."""
        values = {name: self.values[name] for name in self.given} | changes
        check = self.check(values)
        for _ in range(ADAPTED):
            given = {name: check.resolved[name] for name in self.given}
            before, values = values, adapted(self.operator, given, check) if check.violations else values
            if values == before:
                break
            check = self.check(values)
        return check

    def tensors(self, field: Field) -> tuple[TensorDesc, ...]:
        """The tensor of a field, or those of an array."""
        return tensors_of(self.values[field.python])

    def as_value(self, field: Field, tensors: Sequence[TensorDesc]) -> TensorDesc | tuple[TensorDesc, ...] | None:
        """The value that a field has with these tensors."""
        single = tensors[0] if tensors else None
        return tuple(tensors) if isinstance(self.values[field.python], tuple) else single

    def new_count(self, field: Field) -> None:
        """Another number of tensors of an array."""
        if isinstance(self.values[field.python], tuple):
            old, count = self.tensors(field), self.draw(st.integers(1, 5))
            tensors = tuple(old[place % len(old)] for place in range(count))
            any(self.take(changes) for changes in ({field.python: tensors}, *self.joined(field, tensors)))

    def joined(self, field: Field, tensors: Sequence[TensorDesc]) -> Iterator[Values]:
        """The tensors of an array, and another tensor of which they may be the parts along an axis."""
        for whole in self.operator.fields:
            if whole is field or whole.kind == "attribute" or whole.python not in self.given or self.lacks(whole):
                continue
            for axis in range(min(tensor.rank for tensor in tensors)):
                size = sum(tensor.sizes[axis] for tensor in tensors)
                sizes = partial(_with_size, axis, size)
                yield {field.python: tuple(tensors), whole.python: self.resized(whole, sizes)}

    def lacks(self, field: Field) -> bool:
        """Whether the desc does not have this tensor."""
        return self.values[field.python] is None

    def new_presence(self, field: Field) -> None:
        """An optional tensor is left out or given."""
        if self.draw(st.booleans()):
            self.take({field.python: None})
        elif self.lacks(field):
            dtype = self.draw(st.sampled_from(dtypes_at(field, self.level)))
            any(self.take({field.python: desc}) for desc in self.made(field, dtype))

    def made(self, field: Field, dtype: str) -> Iterator[TensorDesc]:
        """Descs of a tensor that is not there."""
        return descs_for(self.operator, field, self.values, self.level, dtype)

    def new_dtype(self, field: Field) -> None:
        """Another data type, of all tensors that share it."""
        if self.sharing(field)[0] is field:
            self.retype(field, self.draw(st.sampled_from(dtypes_at(field, self.level))))

    def sharing(self, field: Field) -> list[Field]:
        """The tensors of the desc that have the data type of this one."""
        root = field.same_dtype_as or field.python
        shared = [one for one in self.operator.fields if root in (one.python, one.same_dtype_as)]
        return [one for one in shared if one.python in self.given and not self.lacks(one)]

    def retype(self, field: Field, dtype: str) -> bool:
        """Take a data type for a tensor and the tensors that share it; if it must, with other ones for the rest."""
        if field.mixed:
            old = self.tensors(field)
            first = self.draw(st.integers(0, len(old) - 1))
            places = [*range(first, len(old)), *range(first)]
            entries = [
                {field.python: self._with(field, place, TensorDesc(dtype, old[place].sizes))} for place in places
            ]
            others = [{}, *self.other_dtypes([field], dtype)]
            return any(self.take(changes | other) for changes in entries for other in others)
        given = self.sharing(field)
        changes = {one.python: self._retyped(one, dtype) for one in given}
        return self.take(changes) or any(self.take(changes | other) for other in self.other_dtypes(given, dtype))

    def other_dtypes(self, fields: Sequence[Field], dtype: str) -> Iterator[Values]:
        """Data types of the other tensors, that rules may tie to this one: the same, or any for one of them."""
        others = [one for one in self.operator.fields if one.kind != "attribute" and one.python in self.given]
        others = [one for one in others if one not in fields and not self.lacks(one)]
        alike = {one.python: self._retyped(one, dtype) for one in others if dtype in dtypes_at(one, self.level)}
        yield alike
        for one in others:
            if one.mixed:
                for place, old in enumerate(self.tensors(one)):
                    yield {one.python: self._with(one, place, TensorDesc(dtype, old.sizes))}
            elif self.sharing(one)[0] is one:
                for other in dtypes_at(one, self.level):
                    yield {shared.python: self._retyped(shared, other) for shared in self.sharing(one)}
        for choice in self.members():
            yield choice
            yield alike | choice

    def members(self) -> Iterator[Values]:
        """Other members of the enums of the desc."""
        for field in self.operator.fields:
            info = type_of(field.type).info
            if info is not None and field.python in self.given:
                known = info.members.items()
                yield from (
                    {field.python: info.cls[name]} for name, (_, since) in known if LEVEL_INDEX[since] <= self.level
                )

    def _retyped(self, field: Field, dtype: str) -> object:
        """The value of a field with another data type of its tensor, or of each tensor of an array."""
        return self.as_value(field, [TensorDesc(dtype, old.sizes) for old in self.tensors(field)])

    def new_rank(self, field: Field) -> None:
        """Another number of dimensions; a tensor that follows from others can only have ones in front."""
        rank = self.draw(st.sampled_from(ranks_at(field, self.level)))
        if not follows(field):
            self.rerank(field, rank)
        elif rank != len(self.tensors(field)[0].sizes):
            self.take({field.python: self.resized(field, lambda old: (*[1] * 8, *old)[-rank:])})

    def rerank(self, field: Field, rank: int) -> bool:
        """Takes a number of dimensions for one field, or else for all that must have the same."""
        tensors = [one for one in self.operator.fields if one.kind != "attribute" and one.python in self.given]
        tensors = [one for one in tensors if not self.lacks(one) and rank in ranks_at(one, self.level)]
        new = (*self.tensors(field)[0].sizes, *[1] * 8)[:rank]
        *alone, ones = self.ranked([field], rank)
        several = [*self.ranked(tensors, rank)][:-1] if len(tensors) > 1 else []
        for changes in (*alone, *several, *self.together(field, new), ones):  # ones last: they lose all sizes
            if self.take(changes) and self.tensors(field)[0].rank == rank:
                return True
        return False

    def ranked(self, fields: Sequence[Field], rank: int) -> Iterator[Values]:
        """So many axes for tensors: others of size 1 behind or in front; only such axes, and the least attributes."""

        def behind(old: Sequence[int]) -> tuple[int, ...]:
            return (*old, *[1] * 8)[:rank]

        def front(old: Sequence[int]) -> tuple[int, ...]:
            return (*[1] * 8, *old)[-rank:]

        least: Values = {}
        moved: Values = {}
        more = rank - len(self.tensors(fields[0])[0].sizes)
        for one in self.operator.fields:
            value = self.values[one.python]
            if one.python not in self.given or one.minimum is None or one.maximum is None:
                continue
            entry = max(one.minimum, 0)
            if isinstance(value, tuple):
                least[one.python] = () if one.max_length is not None else (entry,) * len(value)
            elif value is not None:
                least[one.python] = entry
                moved |= {one.python: max(value + more, entry)} if one.maximum <= MOST_AXES else {}
        yield from ({one.python: self.resized(one, way) for one in fields} for way in (behind, front))
        yield moved | {one.python: self.resized(one, front) for one in fields}
        for way in (behind, front, lambda old: (1,) * rank):
            yield least | {one.python: self.resized(one, way) for one in fields}
        given = [one for one in self.operator.fields if one.python in self.given and one.kind != "attribute"]
        yield least | {
            one.python: self.resized(one, lambda old: (1,) * (rank if rank in ranks else len(old)))
            for one in given
            if not self.lacks(one) and (ranks := ranks_at(one, self.level))
        }

    def new_sizes(self, field: Field) -> None:
        """Other sizes; of an array along one axis after the other, and of each tensor by itself."""
        if self.lacks(field) or (follows(field) and not self.operator.has_open_sizes(field)):
            return
        counts = COUNTS if self.most < LARGE else _LARGE_COUNTS
        sizes = self.tensors(field)[0].sizes
        drawn = [self.draw(counts) for _ in sizes]
        self.take_entries(drawn, sizes, lambda sizes: {field.python: self.resized(field, lambda old: sizes)})
        if self.tensors(field)[0].sizes == sizes and not self.take_together(field, tuple(drawn)):
            for axis, size in enumerate(drawn):
                now = self.tensors(field)[0].sizes
                self.take_together(field, (*now[:axis], size, *now[axis + 1 :]))
        if not isinstance(self.values[field.python], tuple):
            return
        for place in range(len(self.tensors(field))):
            axis, old = self.draw(st.integers(0, len(sizes) - 1)), self.tensors(field)[place]
            other = TensorDesc(old.dtype, (*old.sizes[:axis], self.draw(counts), *old.sizes[axis + 1 :]))
            tensors = self._with(field, place, other)
            any(self.take(changes) for changes in ({field.python: tensors}, *self.joined(field, tensors)))

    def take_together(self, field: Field, new: tuple[int, ...]) -> bool:
        """Takes other sizes of a tensor with those of the tensors that rules may tie to it."""
        return any(self.take(changes) for changes in self.together(field, new))

    def together(self, field: Field, new: tuple[int, ...]) -> Iterator[Values]:
        """Other sizes of a tensor, and of the tensors that rules may tie to it: no formula says what these must be."""
        old = self.tensors(field)[0].sizes
        others = [one for one in self.operator.fields if one is not field and one.python in self.given]
        others = [one for one in others if one.kind != "attribute" and not self.lacks(one)]
        changes: list[Sizes] = [
            lambda sizes: (*sizes, *[1] * 8)[: len(new)] if len(sizes) == len(old) else sizes,
            lambda sizes: [len(new) if size == len(old) else size for size in sizes],
        ]
        if len(old) == len(new):
            moved = dict(zip(old, new, strict=True))
            changes = [
                lambda sizes: new if sizes == old else sizes,
                lambda sizes: [moved.get(size, size) for size in sizes],
            ]
        for change in changes:
            yield {
                field.python: self.resized(field, lambda old: new),
                **{one.python: self.resized(one, change) for one in others},
            }

    def _with(self, field: Field, place: int, tensor: TensorDesc) -> tuple[TensorDesc, ...]:
        """An array with another tensor at a place."""
        tensors = self.tensors(field)
        return (*tensors[:place], tensor, *tensors[place + 1 :])

    def take_entries(self, drawn: list[int], before: Sequence[int], changes: Callable[[Sequence[int]], Values]) -> None:
        """Takes all entries that were drawn, or else those of them that are valid beside the ones before."""
        if self.take(changes(drawn)):
            return
        entries = list(before)
        for index, entry in enumerate(drawn):
            changed = [*entries[:index], entry, *entries[index + 1 :]]
            if self.take(changes(changed)):
                entries = changed

    def resized(self, field: Field, sizes: Callable[[tuple[int, ...]], Sequence[int]]) -> object:
        """The value of a field with other sizes of its tensor, or of each tensor of an array."""
        return self.as_value(field, [TensorDesc(old.dtype, sizes(old.sizes)) for old in self.tensors(field)])

    def new_length(self, field: Field) -> None:
        """Another number of entries of an array that is as long as it is given: as it was, or of different numbers."""
        if field.max_length is None or self.lacks(field):
            return
        most = self.check(self.values).evaluated(field.max_length)
        length, order = self.draw(st.integers(0, most)), self.draw(st.permutations(range(most)))
        value = self.values[field.python]
        for entries in ((*value, *value * most)[:length], order[:length]):
            self.take({field.python: tuple(entries)})

    def new_attribute(self, field: Field) -> None:
        self.new_length(field)
        value = self.values[field.python]
        kind = type_of(field.type)
        if isinstance(value, tuple) and kind.array:
            entries = kind.random(field, self)
            drawn: list[Any] = [self.draw(entries) for _ in value]
            self.take_entries(drawn, value, lambda entries: {field.python: tuple(entries)})
        elif field.minimum is not None and field.maximum is not None and field.maximum <= MOST_AXES:
            numbers = self.draw(st.permutations(range(field.minimum, field.maximum + 1)))
            any(self.take({field.python: number}) for number in numbers)  # of few numbers, each is often the only one
        else:
            self.choose(field, self.draw(kind.random(field, self)))

    def choose(self, field: Field, value: object) -> bool:
        """Takes a value of an attribute; if a rule ties it to data types, with others of those."""
        rules = [rule for rule in self.operator.rules if field.python in rule.reads]
        tied = any(read.endswith(".dtype") for rule in rules for read in rule.reads)
        others = self.other_dtypes([], "") if tied and type_of(field.type).info is not None else iter(())
        change = {field.python: value}
        return self.take(change) or any(self.take(other | change) for other in others)

    def smallest(self, inputs: Sequence[Field], attributes: Sequence[Field]) -> None:
        """Sizes of 1 and the least attributes, beside which one can be large: an attribute, or the size of an axis."""
        for field in [*attributes, *attributes]:
            if field.minimum is not None:
                self.put(field, field.minimum, None)
        for field in inputs:
            self.ones(field)
        given = [field for field in inputs if not self.lacks(field)]
        if self.most >= LARGE and given:
            field = self.draw(st.sampled_from(given))
            sizes = self.tensors(field)[0].sizes
            large = _with_size(self.draw(st.integers(0, len(sizes) - 1)), UINT_MAX, sizes)
            alone = {field.python: self.resized(field, lambda old: large)}
            any(self.take(changes) for changes in (alone, *self.together(field, large)))

    def ones(self, field: Field) -> None:
        """Sizes of 1."""
        if self.lacks(field):
            return
        sizes = self.tensors(field)[0].sizes
        ones = [1] * len(sizes)
        self.take_entries(ones, sizes, lambda sizes: {field.python: self.resized(field, lambda old: sizes)})

    def extremes(self, fields: Sequence[Field]) -> None:
        """Ends of the ranges, of all entries or along one axis; twice, since one allows another."""
        only = self.draw(st.sampled_from([None, 0, 0, 1]))
        ranged = [field for field in fields if field.minimum is not None and field.maximum is not None]
        ends = [self.draw(st.sampled_from([field.maximum, field.maximum, field.minimum])) for field in ranged]
        chosen = [(field, end or 0) for field, end in zip(ranged, ends, strict=True)]
        if self.take({field.python: self.with_end(field, end, only) for field, end in chosen}):
            return
        for field, end in chosen * 2:
            self.put(field, end, only)

    def with_end(self, field: Field, end: int, only: int | None) -> int | tuple[int, ...]:
        """This value for an attribute; of an array, for the entry of one axis, or for all."""
        value = self.values[field.python]
        if not isinstance(value, tuple):
            return end
        return tuple(end if only in (None, axis) else entry for axis, entry in enumerate(value))

    def put(self, field: Field, end: int, only: int | None) -> None:
        """Takes this value for an attribute; of an array, those of its entries that are valid."""
        chosen, value = self.with_end(field, end, only), self.values[field.python]
        if isinstance(chosen, tuple):
            self.take_entries([*chosen], value, lambda entries: {field.python: tuple(entries)})
        else:
            self.take({field.python: chosen})

    def larger_sizes(self, field: Field) -> None:
        """An output with sizes that follow from other fields, or with larger ones if these are valid."""
        for axis in self.draw(st.sets(st.integers(0, len(self.values[field.python].sizes) - 1))):
            desc = self.values[field.python]
            sizes = tuple(size + (d == axis) for d, size in enumerate(desc.sizes))
            values = self.values | {field.python: TensorDesc(desc.dtype, sizes)}
            if elements(values) <= self.most and not self.check(values).violations:
                self.values = values

    def new_output(self, field: Field) -> None:
        """An optional output, or none."""
        dtype = self.draw(st.sampled_from([None, *dtypes_at(field, self.level)]))
        for desc in [None] if dtype is None else self.made(field, dtype):
            values = self.values | {field.python: desc}
            if elements(values) <= self.most and not self.check(values).violations:
                self.values = values
                return

    def _largest(self) -> int:
        """The largest size of an input: what attributes are often compared with."""
        tensors = [tensor for name in self.given for tensor in tensors_of(self.values[name])]
        return max((size for tensor in tensors for size in tensor.sizes), default=1)

    def counts(self) -> st.SearchStrategy[int]:
        """Counts such as windows and paddings are, many of them beside the sizes of the inputs."""
        return _near(self._largest())

    def specials(self, dtype: str) -> list[object]:
        """Values of a data type at which errors like to show."""
        return [value.item() for value in specials(dtype)]

    def new_layout(self, field: Field) -> None:
        """Another layout of a tensor, and other members that make no difference to the operator."""
        several = isinstance(self.values[field.python], tuple)
        for place, desc in enumerate(self.tensors(field)):
            moved = self.laid_out(field, desc)
            values = {**self.values, field.python: self._with(field, place, moved) if several else moved}
            if not self.check(values).violations:
                self.values = values

    def laid_out(self, field: Field, desc: TensorDesc) -> TensorDesc:
        """The tensor in another layout."""
        strides = self.draw(_strides(desc.sizes, shared=field.kind == "input"))
        owned = field.kind == "input" and field.owned
        flags = self.draw(st.sampled_from(FLAGS)) if owned else "NONE"
        alignment = self.draw(st.sampled_from(ALIGNMENTS))
        total = self.draw(st.sampled_from([None, None, 0, 4, 1000]))
        if total is not None:
            total += TensorDesc(desc.dtype, desc.sizes, strides).total_tensor_size_in_bytes
        return TensorDesc(desc.dtype, desc.sizes, strides, flags, total, alignment)


def adapted(operator: Operator, given: Values, check: Check) -> Values:
    """The values with the sizes and lengths that follow from others; new entries are neutral."""
    values = dict(given)
    lengths = {one.field: one.values.get("expected") for one in check.violations if one.id.endswith("-length")}
    for violation in check.violations:
        name, sizes = violation.field or "", cast("Sequence[int]", violation.values.get("expected"))
        if name in values and violation.id.endswith(f"-{name}-sizes") and violation.fix is not None:
            old: TensorDesc = values[name]
            ones = old.rank - len(sizes) if operator.field(name).leading_ones == "both" else 0
            values[name] = TensorDesc(old.dtype, (*[1] * ones, *sizes))
    for field in operator.fields:
        value = values.get(field.python)
        if field.scalar_type is not None and any(one.id.endswith("-value") for one in check.violations):
            values[field.python] = 0
        if field.length is not None and isinstance(value, tuple):
            length = cast("int | None", lengths.get(field.python)) or check.evaluated(field.length) or len(value)
            neutral = type_of(field.type).entry_more(field, value) if field.default is MISSING else field.default
            values[field.python] = (*value, *[neutral] * length)[:length]
        elif field.max_length is not None and isinstance(value, tuple):
            values[field.python] = value[: check.evaluated(field.max_length)]
    return values


def _with_size(axis: int, size: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes with another one along an axis, where they have it."""
    return (*sizes[:axis], size, *sizes[axis + 1 :]) if axis < len(sizes) else sizes


def follows(field: Field) -> bool:
    """Whether the sizes of a tensor follow from other fields alone."""
    return field.sizes is not None and field.sizes.reads.isdisjoint({f"{field.python}.sizes", f"{field.python}.rank"})


def is_drawn(operator: Operator, field: Field) -> bool:
    """Whether an output is drawn as an input is, because not all of it follows from other fields."""
    return operator.is_open(field) or operator.has_open_sizes(field)


COUNTS: Final = st.one_of(st.integers(1, 4), st.integers(1, 12), st.sampled_from([16, 17, 31, 64]))
_LARGE_COUNTS: Final = st.one_of(COUNTS, COUNTS, st.sampled_from([2**16, 2**31, UINT_MAX]))


@cache
def _near(size: int) -> st.SearchStrategy[int]:
    """Counts such as windows and paddings are: small ones, those about a size, the ends of the range."""
    about = [size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 1, 3 * size + 2]
    small = st.integers(0, 4)
    return st.one_of(small, small, small, small, st.sampled_from(about), st.sampled_from([UINT_MAX, 2**31 - 1, *about]))


@st.composite
def _strides(draw: st.DrawFn, sizes: tuple[int, ...], shared: bool) -> tuple[int, ...] | None:
    """Strides of a tensor: none, channels last, in any order of its axes, with gaps; ``shared``: also 0."""
    kind = draw(st.sampled_from(["none", "none", "packed", "channels last", "any", "any", "any"]))
    if kind == "none":
        return None
    order = [*reversed(range(len(sizes)))]
    if kind == "channels last" and len(sizes) > 2:
        order = [1, *order[:-2], 0]
    elif kind == "any":
        order = draw(st.permutations(order))
    strides, step = [0] * len(sizes), 1
    for axis in order:
        if kind == "any":
            if shared and draw(st.integers(0, 5)) == 0:
                continue
            step *= draw(st.sampled_from([1, 1, 1, 2, 3]))
        strides[axis] = step
        step *= sizes[axis]
    return tuple(strides)
