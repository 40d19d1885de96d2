"""Each tensor of each operator with each data type and each number of dimensions, at the levels where rows begin.

The rows of the specs say what is accepted; tests/operators/test_levels.py calls the operators with loops, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from depth import deep, in_turn
from each import each_of
from few import few_of_each_family
from test_levels import DTYPES, all_levels, changing, expected
from uses import EARLY, LEVELS, RUNNABLE

import dmlcy as dml
from codegen.model import Field, Operator

MOST_RANK = 9
ABOUT = ("dtype", "rank", "level")


def cross(operator: Operator, field: Field) -> Iterator[tuple[str, int]]:
    """Each data type with the number of dimensions of the example, and the other way round.

    Every second of these, the others for the operators beside it: deep tests have all cells.
    """
    array = EARLY[operator.name].arrays[EARLY[operator.name].path(field)]
    cells = [(dtype, array.ndim) for dtype in DTYPES]
    cells += [(array.dtype.name.upper(), rank) for rank in range(1, MOST_RANK + 1)]
    own = (array.dtype.name.upper(), array.ndim)  # which is accepted
    yield from {own, *cells[list(RUNNABLE).index(operator.name) % 2 :: 2]}


def product(operator: Operator, field: Field) -> Iterator[tuple[str, int]]:
    """Each data type with each number of dimensions."""
    yield from ((dtype, rank) for dtype in DTYPES for rank in range(1, MOST_RANK + 1))


def described(operator: Operator, field: Field, dtype: str, rank: int) -> Any:
    """A desc in which one tensor is so; the others are those of an example."""
    use = EARLY[operator.name]
    sizes = use.arrays[use.path(field)].shape
    return use.make(
        use.values() | {use.path(field): dml.TensorDesc(dtype, sizes if rank == len(sizes) else (1,) * rank)}
    )


def follows(violation: dml.Violation, field: Field, rank: int) -> bool:
    """Whether a tensor is refused because it does not have as many dimensions as the example, whatever the rows say."""
    return violation.id.endswith(f"-{field.python}-rank") and f"must have {rank}." in violation.message


def levels_of(operator: Operator) -> list[str]:
    """The level of each change, the one before it, and the newest."""
    return changing(operator)


Cells = Callable[[Operator, Field], Iterator[tuple[str, int]]]


FEW = few_of_each_family()
REFERENCE = [name for name in RUNNABLE if name not in FEW]


@each_of("name", REFERENCE)
def test_the_rows_decide_at_each_level(name: str) -> None:
    rows_decide(name, cross, levels_of)


@deep
@in_turn
@pytest.mark.parametrize("name", REFERENCE)
def test_the_rows_decide_in_each_cell_at_each_level(name: str) -> None:
    rows_decide(name, product, all_levels)


def rows_decide(name: str, cells: Cells, levels: Callable[[Operator], list[Any]]) -> None:
    operator = RUNNABLE[name]
    accepted, looked_at = set(), levels(operator)
    for field in filter(EARLY[name].has, operator.tensors):
        path = EARLY[name].path(field)
        rank_of_example = EARLY[name].arrays[path].ndim
        ids = {f"{field.python}-{slug}" for slug in ABOUT} | {"operator-level"}
        for dtype, rank in cells(operator, field):
            desc = described(operator, field, dtype, rank)
            for level in looked_at:
                violations = dml.check(desc, level)
                wanted = expected(operator, field, dtype, rank, LEVELS.index(level))
                found = {one.id.removeprefix(f"DML-{name}-") for one in violations}
                if f"{field.python}-rank" not in wanted and any(
                    follows(one, field, rank_of_example) for one in violations
                ):
                    found -= {f"{field.python}-rank"}  # what it has follows from another tensor
                level_id, of_first = f"{field.python}-level", f"{operator.tensors[0].python}-level"
                if level_id in wanted - found and of_first in found:
                    wanted.discard(level_id)  # the first tensor has the data type, too, and is told of it
                assert found & ids == wanted, (path, dtype, rank, level)
                if not found:
                    accepted.add((path, level))
    since = LEVELS.index(operator.since)
    assert {LEVELS.index(level) for _, level in accepted} <= {*range(since, len(LEVELS))}
    assert (EARLY[name].path(operator.tensors[0]), LEVELS[-1]) in accepted
