"""The ways of rearrange. Sizes are those of the tensor whose blocks are in its channels."""

from __future__ import annotations

from checks import assert_same_bits as same
from strategies import ORDERS, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("uint8", "float16", "float32", "float64")
DEEP = [
    ((2, 12, 70, 65), 2), ((1, 64, 9, 130), 8), ((1, 9, 3, 3000), 3), ((1, 16, 200, 1), 4), ((3, 7, 40, 41), 1),
    ((1, 400, 5, 3), 20), ((1, 288, 17, 16), 3), ((2, 64, 3, 64), 2), ((2, 64, 5, 63), 2), ((1, 12, 2, 700), 2),
    ((2, 16, 9, 65), 4), ((1, 256, 3, 17), 4), ((1, 144, 4, 31), 3), ((2, 9, 17, 33), 3), ((1, 27, 3, 48), 3),
    ((1, 9, 2, 15), 3), ((1, 1152, 2, 9), 3), ((1, 50, 3, 40), 5), ((1, 162, 2, 33), 9), ((1, 2400, 1, 3), 2),
    ((2, 68, 3, 37), 2), ((1, 189, 2, 35), 3),
]  # fmt: skip


def ways(operator: Operator) -> list[Way]:
    """An operator without the parameter has the first order."""
    ordered = any(field.python == "order" for field in operator.fields)
    to_space = operator.python.startswith("depth")
    found = []
    for (n, c, h, w), block in DEEP:
        sizes = (n, c, h, w) if to_space else (n, c // block**2, h * block, w * block)
        for order in ORDERS if ordered else ORDERS[:1]:
            found.append(Way(sizes, {"block_size": block, **({"order": order} if ordered else {})}))
    return found


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
