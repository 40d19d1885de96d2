"""The ways of elementwise: rows and blocks, operands that repeat elements or lie in another order, scale and bias."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from checks import assert_same_values as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SIZES = [
    (2, 3, 4, 5), (1,), (1023,), (1024,), (1025,), (3, 1031), (2, 3, 700), (1, 1, 1, 8), (7, 1, 9), (16384,), (16385,),
    (2, 16390), (64, 3, 5), (5, 64, 33), (4100,), (3, 2050), (1, 40, 50), (2, 2, 2, 2, 3), (1, 5000), (90, 90),
    (50000,), (33, 31), (2, 5, 1026), (1, 1, 25), (11, 1024), (3, 3, 1), (300, 4), (600, 3), (2049,), (1, 2, 4096),
]  # fmt: skip
NUMBERS = {
    "alpha": 0.3, "beta": 0.6, "gamma": 1.3, "steepness": 1.7, "sigmoid_input_scale": 0.8, "exponent": 2.3,
    "scale_bias": (1.7, -0.4),
}  # fmt: skip
"""What attributes are, by name: with more digits than FLOAT16 has. A member of an enum is that of the default."""


def repeated(axes: Callable[[int], tuple[int, ...]]) -> Callable[[Array], Array]:
    """An operand whose elements are the same along some axes."""

    def lay(x: Array) -> Array:
        first = tuple(slice(0, 1) if axis in axes(x.ndim) else slice(None) for axis in range(x.ndim))
        return np.broadcast_to(x[first], x.shape)

    return lay


LAYOUTS: list[Callable[[Array], Array]] = [
    lambda x: x,
    repeated(lambda rank: tuple(range(rank - 1))),  # a row for all rows
    repeated(lambda rank: (rank - 1,)),             # an element for each row
    repeated(lambda rank: tuple(range(rank))),      # an element for all
    lambda x: np.asfortranarray(x),
    lambda x: np.flip(x),
]  # fmt: skip


def ways(operator: Operator) -> list[Way]:
    first, *more = (field for field in operator.fields if field.kind == "input")
    given = {field.python: NUMBERS[field.python] for field in operator.fields if field.python in NUMBERS}
    plain = {name: value for name, value in given.items() if name != "scale_bias"}
    found = []
    for number, sizes in enumerate(SIZES):

        def others(dtype: str, number: int = number, sizes: tuple[int, ...] = sizes) -> tuple[Array, ...]:
            found = []
            for place, field in enumerate(more):
                dtypes = [name.lower() for row in field.dtypes for name in row.dtypes]
                own = dtype if field.same_dtype_as == first.python else dtypes[number % len(dtypes)]
                x = any_bits(number + 7 * place + 7, sizes, own)
                found.append(LAYOUTS[(number + place) % len(LAYOUTS)](x))
            return tuple(found)

        found.append(Way(sizes, given if number % 3 == 0 else plain, others=others))
    return found


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
