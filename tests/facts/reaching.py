"""Valid descs with a certain data type and number of dimensions of a tensor, by the steps of ``dmlcy.testing``."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sources import Cell, Row, claims, first_levels, rows

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import LEVELS, OPERATORS
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._testing.descs import class_of
from dmlcy._testing.starts import Values, starts, tensors_of
from dmlcy._testing.walk import Walk

MOST = 10**6


def _least(strategy: object) -> int:
    return 0


_drawn: Any = _least
"""For a walk of which nothing is drawn."""


def walks(operator: Operator, level: int, chosen: Mapping[str, str] | None = None) -> Iterator[Walk]:
    """From each example of an operator; ``chosen``: members of its enums."""
    for start in starts(operator.name, level):
        walk = Walk(_drawn, operator, level, MOST, start)
        others = walk.other_dtypes([], "")
        if not chosen or walk.take({**chosen}) or any(walk.take({**more, **chosen}) for more in others):
            yield walk


def shows(values: Values, field: Field, dtype: str, rank: int) -> bool:
    """Whether a tensor, or one of an array, has this data type and so many dimensions."""
    return any((one.dtype.name, one.rank) == (dtype, rank) for one in tensors_of(values[field.python]))


def reach(
    operator: Operator, level: int, field: Field, dtype: str, rank: int, chosen: Mapping[str, str] | None = None
) -> OperatorDesc | None:
    """A valid desc in which a tensor is so."""
    for walk in walks(operator, level, chosen):
        present(walk, field, dtype)
        if walk.lacks(field):
            continue
        root = next(one for one in operator.fields if one.python == (field.same_dtype_as or field.python))
        for one in (field, root):
            if one.python in walk.given and not walk.lacks(one) and walk.retype(one, dtype):
                break
        if not shows(walk.values, field, dtype, rank):
            ranked(walk, field, rank)
        if shows(walk.values, field, dtype, rank):
            return class_of(operator)(**walk.values)
        found = in_front(walk, field, dtype, rank)
        if found is not None:
            return class_of(operator)(**found)
    return None


def present(walk: Walk, field: Field, dtype: str) -> None:
    """Gives an optional tensor."""
    if walk.lacks(field):
        for name in (dtype, *dtypes_at(field, walk.level)):
            if any(with_(walk, {field.python: one}) for one in walk.made(field, name)):
                return


def with_(walk: Walk, changes: Values) -> bool:
    """Goes on to the desc with these values, if it is valid; an output that follows from others is one too."""
    values = walk.values | changes
    if walk.check(values).violations:
        return False
    walk.values = values
    walk.given += [name for name in changes if name not in walk.given]
    return True


def ranked(walk: Walk, field: Field, rank: int) -> None:
    """Another number of dimensions of the tensor, or of one that it follows from."""
    for one in (field, *walk.operator.fields):
        if one.kind in ("input", "output") and one.python in walk.given and not walk.lacks(one):
            if rank in ranks_at(one, walk.level):
                walk.rerank(one, rank)
            if any(tensor.rank == rank for tensor in walk.tensors(field)):
                return


def in_front(walk: Walk, field: Field, dtype: str, rank: int) -> Values | None:
    """The desc with the output in another data type, or with ones in front, where nothing else has to change."""
    single: Any = walk.values[field.python]
    if isinstance(single, tuple):
        return None
    values = walk.values | {field.python: TensorDesc(dtype, (*[1] * 8, *single.sizes)[-rank:])}
    return None if walk.check(values).violations else values


@dataclass(frozen=True, slots=True)
class Reached:
    """A claimed cell, its level, and a valid desc that has it; ``chosen``: the member of an enum that it holds for."""

    field: Field
    dtype: str
    rank: int
    level: int
    chosen: dict[str, str]
    desc: OperatorDesc | None

    def __str__(self) -> str:
        return f"{self.field.python} {self.dtype} rank {self.rank} {self.chosen or ''} from {LEVELS[self.level].name}"


def variants(name: str, every: bool) -> Iterator[tuple[dict[str, str], dict[Cell, int]]]:
    """The claims for each set of enum members that the page tells apart: of one of the members, or of each."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows(name):
        groups.setdefault(row.members, []).append(row)
    for members, found in groups.items():
        if not members:
            yield {}, claims(name)
            continue
        enum = next(field.python for field in OPERATORS[name].fields if field.name == found[0].when)
        yield from (({enum: member}, first_levels(tuple(found))) for member in members[: None if every else 1])


def some(levels: dict[Cell, int], every: bool) -> list[Cell]:
    """Each cell, or for each tensor each data type once and each rank once, where it came first."""
    if every:
        return [*levels]
    found: dict[Cell, None] = {}
    first = sorted(levels, key=lambda cell: levels[cell])
    for place in (1, 2):
        met: set[tuple[object, ...]] = set()
        for cell in first:
            if (cell[0], cell[place]) not in met:
                met.add((cell[0], cell[place]))
                found[cell] = None
    return [*found]


@functools.cache
def reached(name: str, every: bool) -> list[Reached]:
    """The claims of an operator, with descs."""
    operator = OPERATORS[name]
    found: list[Reached] = []
    for chosen, levels in variants(name, every):
        for python, dtype, rank in some(levels, every):
            field, level = operator.field(python), levels[python, dtype, rank]
            known = (one.desc for one in found if (one.level, one.chosen) == (level, chosen) and one.desc is not None)
            desc = next((one for one in known if shows(one._values(), field, dtype, rank)), None)
            desc = reach(operator, level, field, dtype, rank, chosen) if desc is None else desc
            found.append(Reached(field, dtype, rank, level, chosen, desc))
    return found


def changed(desc: OperatorDesc, field: Field, tensor: TensorDesc) -> OperatorDesc:
    """The desc with another tensor, the first one of an array; what follows from other fields is not given."""
    given = {one.python: getattr(desc, one.python) for one in desc.operator.fields if one.value is None}
    value = given[field.python]
    return type(desc)(**{**given, field.python: (tensor, *value[1:]) if isinstance(value, tuple) else tensor})
