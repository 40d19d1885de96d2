"""Valid descs with one mistake each, such as people make: in a flag, an axis, a count, an order of axes, strides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from example_descs import desc_of_example

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides

COUNTS = ("group_count", "head_count", "query_head_count", "key_value_head_count")
"""Fields that divide channels into groups."""


class Mistake(NamedTuple):
    """A desc that is refused because one field has another value than ``right``."""

    kind: str
    desc: Any
    field: str
    right: object

    def __str__(self) -> str:
        return f"{self.kind}: {self.field} must be {self.right} in {self.desc}"


def mistakes() -> dict[str, list[Mistake]]:
    """All single mistakes in the examples of all operators that the check refuses, by their kind."""
    found: dict[str, list[Mistake]] = {}
    for operator in OPERATORS.values():
        for example in operator.examples:
            desc = desc_of_example(operator, example)
            if desc._violations(NEWEST):
                continue
            for kind, path, right, wrong in _wrong(desc):
                made = _with(desc, path, wrong)
                if made._violations(NEWEST):
                    found.setdefault(kind, []).append(Mistake(kind, made, path, right))
    return found


def _with(desc: OperatorDesc, path: str, value: object) -> OperatorDesc:
    """The desc with another value there; what follows from other fields follows again."""
    name, _, entry = path.partition("[")
    given = {one: getattr(desc, one) for one in desc._given}
    if entry:
        old, place = given[name], int(entry[:-1])
        value = (*old[:place], value, *old[place + 1 :])
    return type(desc)(**{**given, name: value})


def _wrong(desc: OperatorDesc) -> Iterator[tuple[str, str, Any, Any]]:
    """The kind of a mistake, where it is, the right value and the wrong one."""
    for field in desc.operator.fields:
        value = getattr(desc, field.python)
        if field.kind != "attribute":
            several = type(value) is tuple
            for place, one in enumerate(value if several else (value,)):
                path = f"{field.python}[{place}]" if several else field.python
                if one is not None and field.python in desc._given:
                    like = sum(other.sizes == one.sizes for other in _all_tensors(desc)) > 1
                    yield from ((kind, path, right, wrong) for kind, right, wrong in _tensors(field, one, like))
        elif field.value is None and value is not None:
            yield from ((kind, field.python, value, wrong) for kind, wrong in _attributes(desc, field, value))


def _attributes(desc: OperatorDesc, field: Field, value: Any) -> Iterator[tuple[str, Any]]:
    info = type_of(field.type).info
    rank = len(next(one.sizes for one in _all_tensors(desc)))
    if type(value) is bool:
        yield "flag", not value
    elif info is not None:
        yield from (("enum", name) for name in info.members if name != value.name)
    elif field.maximum == 7 and type(value) is int:
        yield "axis", value - rank
        yield "axis", value + 1
    elif field.maximum == 7 and value:
        yield "axis", tuple(axis - rank for axis in value)
        yield "axis", tuple(axis + 1 for axis in value)
    elif field.python in COUNTS:
        yield from (("count", number) for number in (1, 2, 3, 4, 8) if number != value)
    elif type(value) is tuple and type_of(field.type).several and {*map(type, value)} == {int}:
        yield from (("order", other) for other in _orders(value))


def _all_tensors(desc: OperatorDesc) -> Iterator[TensorDesc]:
    for field in desc.operator.fields:
        value = getattr(desc, field.python)
        if field.kind != "attribute" and value is not None:
            yield from value if type(value) is tuple else (value,)


def _tensors(field: Field, right: TensorDesc, like: bool) -> Iterator[tuple[str, TensorDesc, TensorDesc]]:
    """Mistakes in a tensor; ``like``: another one has the same sizes."""
    sizes, dtype = right.sizes, right.dtype.name
    for other in _orders(sizes):
        yield "order", right, TensorDesc(dtype, other)
    if len(sizes) > 3:
        yield "order", right, TensorDesc(dtype, (sizes[0], *sizes[2:], sizes[1]))
    packed = packed_strides(sizes)
    for axis in range(len(sizes)):
        if sizes[axis] > 1 and field.kind == "input" and like:  # a size of 1 in place of a stride of 0
            short = (*sizes[:axis], 1, *sizes[axis + 1 :])
            own = packed_strides(short)
            steps = (*own[:axis], 0, *own[axis + 1 :])
            yield "strides", TensorDesc(dtype, sizes, steps), TensorDesc(dtype, short)
    if field.kind == "input" and len(sizes) > 1:
        missing = TensorDesc(dtype, sizes, packed[1:])
        yield "strides", TensorDesc(dtype, sizes, (0, *packed[1:])), missing
    for i, j in combinations(range(len(sizes)), 2):
        if field.kind == "output" and packed[i] != packed[j]:
            turned = list(packed)
            turned[i], turned[j] = turned[j], turned[i]
            yield "strides", TensorDesc(dtype, sizes, packed), TensorDesc(dtype, sizes, tuple(turned))


def _orders(entries: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The entries with two exchanged that differ."""
    for i, j in combinations(range(len(entries)), 2):
        if entries[i] != entries[j]:
            other = list(entries)
            other[i], other[j] = other[j], other[i]
            yield tuple(other)
