"""Single changes of the fields of a desc that may be what its user meant, by the kinds of the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from dmlcy._facts.rows import Field
from dmlcy._facts.tables import LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc, minimum_size, packed_strides
from dmlcy._field_types.values import STRUCTS, Nested
from dmlcy._words.values import is_a

T = TypeVar("T")

MAX_RANK: Final = LEVELS[-1].max_rank
ADDED: Final = 4
"""The most leading axes of size 1 that are added."""
SMALLER: Final = 8
"""Smaller numbers that are tried in place of a count."""
LOOKED_AT: Final = 16
"""Tensors whose sizes are compared."""

Sizes: TypeAlias = tuple[int, ...]


class Change(NamedTuple):
    """Another value of one field, or of one tensor of an array (inputs[1]), or in a desc that a field holds.

    ``array``: how a call gets such an array from the one that it is given, whose name is ``{0}``.
    """

    path: str
    field: Field
    value: object
    array: str = ""


class Places(NamedTuple):
    """The ranks and counts of a desc, which limit the numbers that its attributes may be."""

    ranks: Sequence[int]
    counts: Sequence[int]


def changes(
    values: Mapping[str, object], fields: Sequence[Field], expected: Mapping[str, Sizes], tensors: Sequence[Field]
) -> Iterator[Change]:
    """Changes of these fields: flags and members of enums first, then numbers, arrays of numbers and tensors.

    ``values``: those of all fields; ``expected``: the sizes that tensors must have; ``tensors``: the fields of tensors.
    """
    described = (one for field in tensors for one in _descs(field, values.get(field.python)))
    shapes = _unlike([desc.sizes for _, desc in islice(described, LOOKED_AT)])
    attributes = [field for field in fields if field.kind in ("attribute", "chosen")]
    counts: list[Any] = [values[field.python] for field in attributes if _is_count(field)]
    places = Places(_unlike([len(sizes) for sizes in shapes]), _unlike([*counts, 1, *_quotients(shapes)]))
    for way in (_members, _numbers, _entries):
        for field in attributes:
            value = values.get(field.python)
            yield from (Change(field.python, field, other) for other in way(field, value, places))
            yield from _inside(field, value, places, way)
    for field in fields:
        for path, desc in _descs(field, values.get(field.python)) if field not in attributes else ():
            others = [*shapes, *_stretched(desc.sizes, shapes)]
            targets = [expected[path]] if path in expected else [*_along_one(desc.sizes, others), *others]
            yield from (Change(path, field, *one) for one in _tensor(desc, places.ranks, _unlike(targets)))


def changed(values: Mapping[str, object], change: Change) -> dict[str, object]:
    """The values with the change."""
    head, _, inner = change.path.partition(".")
    name, _, entry = head.partition("[")
    old = values[name]
    if not entry:
        return {**values, name: _with(old, inner, change.value)}
    assert isinstance(old, tuple)
    place = int(entry[:-1])
    return {**values, name: (*old[:place], _with(old[place], inner, change.value), *old[place + 1 :])}


def _with(old: object, inner: str, value: object) -> object:
    """The value, or the desc that a field holds with this value of an attribute."""
    if not inner:
        return value
    desc = cast(Nested, old)
    return type(desc)(**{**{one: getattr(desc, one) for one in desc._given}, inner: value})


def _members(field: Field, value: object, places: Places) -> Iterator[object]:
    """The other value of a flag, the other members of an enum."""
    info = type_of(field.type).info
    if type(value) is bool:
        yield not value
    elif info is not None and type(value) is info.cls:
        yield from (info.cls[name] for name in info.members if name != value.name)


def _is_axis(field: Field) -> bool:
    return field.axis_of is not None


def _is_count(field: Field) -> bool:
    return field.minimum == 1 and field.maximum != MAX_RANK and not type_of(field.type).several


def _numbers(field: Field, value: object, places: Places) -> Iterator[int]:
    """Of an axis or of a number of axes another one; of a count other counts, quotients of sizes, and smaller ones."""
    if type(value) is not int or field.minimum is None:
        return
    most = max(places.ranks, default=0)
    if value < 0:
        yield from (value + rank for rank in places.ranks if _is_axis(field))
    elif _is_axis(field):
        yield from (value - 1,) if value >= most else (axis for axis in range(most) if axis != value)
    elif field.maximum in (MAX_RANK - 1, MAX_RANK):
        yield from (number for number in range(field.minimum, most + 1) if number != value)
    elif _is_count(field):
        smaller = range(value - 1, max(0, value - 1 - SMALLER), -1)
        yield from (number for number in _unlike([*places.counts, *smaller]) if number != value)


def _entries(field: Field, value: Any, places: Places) -> Iterator[object]:
    """Axes counted from the end or from 1; of other arrays two entries exchanged."""
    if not (type(value) is tuple or type(value) in STRUCTS) or {*map(type, value)} != {int} or len(value) > MAX_RANK:
        return
    made = tuple if type(value) is tuple else type(value)._make
    if _is_axis(field):
        if min(value) < 0:
            yield from (made(axis + rank if axis < 0 else axis for axis in value) for rank in places.ranks)
        else:
            yield made(axis - 1 for axis in value)
        return
    yield from (made(_exchange(value, i, j)) for i, j in combinations(range(len(value)), 2) if value[i] != value[j])


def _inside(
    field: Field, value: object, places: Places, way: Callable[[Field, object, Places], Iterator[object]]
) -> Iterator[Change]:
    """Changes of the attributes of the descs that a field holds."""
    if not type_of(field.type).holds_operators or value is None:
        return
    descs = value if type(value) is tuple else (value,)
    several = descs is value
    for place, desc in enumerate(descs):
        path = f"{field.python}[{place}]" if several else field.python
        for one in desc.operator.fields if is_a(desc, Nested) else ():
            if one.kind == "attribute" and one.python in desc._given:
                others = way(one, getattr(desc, one.python), places)
                yield from (Change(f"{path}.{one.python}", one, other) for other in others)


def _tensor(desc: TensorDesc, ranks: Sequence[int], targets: Sequence[Sizes]) -> Iterator[tuple[TensorDesc, str]]:
    """Another number of axes, strides of 0, another order of axes, other strides."""
    if len(desc.strides or desc.sizes) == desc.rank:
        yield from _with_ones(desc, ranks)
        yield from _spread(desc, targets)
        yield from _exchanged(desc)
    yield from ((one, "numpy.ascontiguousarray({0})") for one in _laid_out(desc))


def _with_ones(desc: TensorDesc, ranks: Sequence[int]) -> Iterator[tuple[TensorDesc, str]]:
    """The tensor with more leading ones, or without some that it has, or with as many axes as others have."""
    sizes, strides = desc.sizes, desc.strides
    leading = [(more, 0) for more in range(1, min(ADDED, MAX_RANK - len(sizes)) + 1)]
    around = [(before, rank - len(sizes) - before) for rank in ranks for before in range(rank - len(sizes))]
    for before, after in (*leading, *around):
        steps = strides and (0,) * before + strides + (0,) * after
        ones = (1,) * before + sizes + (1,) * after
        yield _described(desc, ones, steps), f"{{0}}.reshape{ones}"
    for fewer in range(1, len(sizes)):
        if sizes[fewer - 1] != 1:
            break
        yield _described(desc, sizes[fewer:], strides and strides[fewer:]), f"{{0}}.reshape({_listed(sizes[fewer:])})"


def _spread(desc: TensorDesc, targets: Sequence[Sizes]) -> Iterator[tuple[TensorDesc, str]]:
    """The tensor repeated by strides of 0, so that it has the sizes of another one."""
    sizes, steps = desc.sizes, desc.strides or packed_strides(desc.sizes)
    for target in targets:
        for before in range(len(target) - len(sizes), -1, -1):  # first as NumPy does, from the last axis on
            after = len(target) - len(sizes) - before
            ones, strides = (1,) * before + sizes + (1,) * after, (0,) * before + steps + (0,) * after
            if target == sizes or any(one not in (1, size) for one, size in zip(ones, target, strict=True)):
                continue
            spread = tuple(0 if one == 1 else step for one, step in zip(ones, strides, strict=True))
            array = f"{{0}}.reshape{ones}" if after or ones == target else "{0}"
            if ones != target:
                array = f"numpy.broadcast_to({array}, {target})"
            yield _described(desc, target, None if ones == target and desc.strides is None else spread), array
            break


def _stretched(sizes: Sizes, shapes: Sequence[Sizes]) -> Iterator[Sizes]:
    """The sizes with those of another tensor in place of leading ones, and in front: one matrix for each of several."""
    own = sizes[next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes)) :]
    for shape in shapes:
        if len(shape) >= len(sizes):
            yield shape[: len(shape) - len(own)] + own


def _along_one(sizes: Sizes, targets: Sequence[Sizes]) -> Iterator[Sizes]:
    """The sizes with one entry of a target, where the target repeats the tensor along several axes: fewer may do."""
    for target in targets:
        longer = [axis for axis, pair in enumerate(zip(sizes, target, strict=False)) if pair[0] != pair[1]]
        if len(target) == len(sizes) and len(longer) > 1 and all(sizes[axis] == 1 for axis in longer):
            yield from ((*sizes[:axis], target[axis], *sizes[axis + 1 :]) for axis in longer)


def _exchanged(desc: TensorDesc) -> Iterator[tuple[TensorDesc, str]]:
    """The tensor with two axes exchanged, or with its channels at the other end."""
    sizes, strides, rank = desc.sizes, desc.strides, len(desc.sizes)
    for i, j in combinations(range(rank), 2):
        if sizes[i] != sizes[j]:
            order = _exchange(tuple(range(rank)), i, j)
            yield _permuted(desc, order), f"{{0}}.swapaxes({i}, {j})"
    if rank > 3:
        last_first, first_last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
        yield _permuted(desc, last_first), "numpy.moveaxis({0}, -1, 1)"
        yield _permuted(desc, first_last), "numpy.moveaxis({0}, 1, -1)"
    for i, j in combinations([axis for axis in range(rank) if sizes[axis] > 1], 2):
        other = None if strides is None else _exchange(strides, i, j)
        if other not in (strides, packed_strides(sizes)):  # those are proposed as no strides
            yield _described(desc, sizes, other), "numpy.ascontiguousarray({0})"


def _laid_out(desc: TensorDesc) -> Iterator[TensorDesc]:
    """The tensor without strides, and with the stride of a repeated axis that is missing."""
    if desc.strides is not None:
        yield _described(desc, desc.sizes, None)
        if len(desc.strides) < len(desc.sizes):
            yield _described(desc, desc.sizes, (0,) * (len(desc.sizes) - len(desc.strides)) + desc.strides)


def _permuted(desc: TensorDesc, order: Sequence[int]) -> TensorDesc:
    sizes = tuple(desc.sizes[axis] for axis in order)
    return _described(desc, sizes, None if desc.strides is None else tuple(desc.strides[axis] for axis in order))


def _described(desc: TensorDesc, sizes: Sizes, strides: Sizes | None) -> TensorDesc:
    """The desc of a tensor with another layout, with as many bytes as before if these were not just enough."""
    total = desc.total_tensor_size_in_bytes
    return TensorDesc(
        desc.dtype,
        sizes,
        strides,
        desc.flags,
        None if total == minimum_size(desc) else total,
        desc.guaranteed_base_offset_alignment,
    )


def _descs(field: Field, value: object) -> Iterator[tuple[str, TensorDesc]]:
    """The descs of tensors that a field has, with their paths; without those whose sizes or strides are not known."""
    descs = value if type(value) is tuple and type_of(field.type).tensors else (value,)
    several = descs is value
    for place, one in enumerate(descs):
        if type(one) is TensorDesc and _is_known(one.sizes) and (one.strides is None or _is_known(one.strides)):
            yield f"{field.python}[{place}]" if several else field.python, one


def _is_known(entries: object) -> bool:
    return type(entries) is tuple and {*map(type, entries)} == {int}


def _quotients(shapes: Sequence[Sizes]) -> Sequence[int]:
    """The whole quotients of sizes of different tensors, those of one axis first."""
    pairs = [(a, b) for a in shapes for b in shapes if a is not b]
    same = [(x, y) for a, b in pairs for x, y in zip(a, b, strict=False)]
    others = [(x, y) for a, b in pairs for x in a for y in b]
    return _unlike([x // y for x, y in (*same, *others) if y and x % y == 0])


def _unlike(entries: Sequence[T]) -> list[T]:
    return list(dict.fromkeys(entries))


def _exchange(entries: Sizes, i: int, j: int) -> Sizes:
    found = list(entries)
    found[i], found[j] = found[j], found[i]
    return tuple(found)


def _listed(sizes: Sizes) -> str:
    return ", ".join(map(str, sizes))
