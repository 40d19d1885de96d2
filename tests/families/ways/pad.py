"""The ways of pad."""

from __future__ import annotations

from checks import assert_same_bits as same
from strategies import MODES, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("uint8", "float16", "int32", "float64")
LONG = [
    ((3,), (2000,), (3000,)),  # the mirror continues for longer than any table
    ((5000,), (1,), (1500,)),
    ((70_000,), (1100,), (3,)),
    ((2, 40_000), (1, 0), (2, 5)),
    ((300, 2, 3), (200, 0, 0), (10, 0, 0)),  # whole cells move
    ((40, 130), (3, 2), (1, 4)),
    ((2, 3, 33, 65), (0, 0, 3, 2), (0, 0, 4, 1)),
    ((1, 1, 1), (5, 1500, 2), (0, 7, 2)),
    ((2, 3, 5, 6), (1, 0, 12, 3), (0, 1, 4, 7)),  # planes that are mostly padding
    ((3, 32, 8), (0, 16, 12), (0, 16, 12)),  # of doubles: as large as a buffer for planes
    ((3, 32, 8), (0, 16, 12), (0, 17, 12)),  # a line more
    ((3, 2, 8), (0, 2, 600), (0, 3, 700)),  # rows of several pieces
    ((3, 2, 8, 5), (0, 2, 6, 0), (0, 3, 1, 0)),  # cells
    # Tensors of which the input or the output is turned.
    *((sizes, (2,) * len(sizes), (3,) * len(sizes)) for sizes in ((20, 70), (70, 20), (64, 64), (3, 130, 67))),
    ((130, 3, 67), (2, 2, 2), (3, 3, 3)),
]


def ways(operator: Operator) -> list[Way]:
    return [
        Way(sizes, {"start_padding": start, "end_padding": end, "padding_mode": mode, "padding_value": 7})
        for sizes, start, end in LONG
        for mode in MODES
    ]


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
