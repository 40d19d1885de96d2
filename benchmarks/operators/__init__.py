"""The operators measured: their cells, and how each library does their work."""

from __future__ import annotations

from benchmarks.cells import Cell
from benchmarks.operators import (
    average_pooling,
    average_pooling1,
    depth_to_space,
    depth_to_space1,
    fold,
    lp_pooling,
    lp_pooling1,
    max_pooling,
    max_pooling1,
    max_pooling2,
    padding,
    padding1,
    roi_pooling,
    space_to_depth,
    space_to_depth1,
    unfold,
)
from benchmarks.operators.base import Operator

OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        unfold.OPERATOR,
        fold.OPERATOR,
        average_pooling.OPERATOR,
        average_pooling1.OPERATOR,
        max_pooling.OPERATOR,
        max_pooling1.OPERATOR,
        max_pooling2.OPERATOR,
        lp_pooling.OPERATOR,
        lp_pooling1.OPERATOR,
        depth_to_space.OPERATOR,
        depth_to_space1.OPERATOR,
        space_to_depth.OPERATOR,
        space_to_depth1.OPERATOR,
        padding.OPERATOR,
        padding1.OPERATOR,
        roi_pooling.OPERATOR,
    )
}


def all_cells() -> list[Cell]:
    """The grid."""
    return [cell for operator in OPERATORS.values() for cell in operator.cells]
