"""The ways of elementwise: rows and blocks, operands that repeat elements or lie in another order, scale and bias."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SIZES = [
    (2, 3, 4, 5), (1,), (1023,), (1024,), (1025,), (3, 1031), (2, 3, 700), (1, 1, 1, 8), (7, 1, 9), (16384,), (16385,),
    (2, 16390), (64, 3, 5), (5, 64, 33), (4100,), (3, 2050), (1, 40, 50), (2, 2, 2, 2, 3), (1, 5000), (90, 90),
    (50000,), (33, 31), (2, 5, 1026), (1, 1, 25), (11, 1024), (3, 3, 1), (300, 4), (600, 3), (2049,), (1, 2, 4096),
]  # fmt: skip
NUMBERS: dict[str, Any] = {
    "alpha": 0.3, "beta": 0.6, "gamma": 1.3, "steepness": 1.7, "sigmoid_input_scale": 0.8, "exponent": 2.3,
    "scale_bias": (1.7, -0.4), "min": 2.7, "max": 90.6, "bias": 0.2, "threshold": 0.7, "scale": 0.3,
    "learning_rate": 0.1, "beta1": 0.8, "epsilon": 0.3, "spatial": True,
}  # fmt: skip
"""Values of attributes, by name: with more digits than FLOAT16 has. A member of an enum is that of the default."""
WHOLE: dict[str, Any] = {"min": 2, "max": 90}
"""The same of numbers that have the data type of a tensor."""
CHANNELS = 1
RANK = 4


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


def fitted(operator: Operator, sizes: tuple[int, ...], number: int) -> tuple[int, ...]:
    """The sizes, for an operator whose tensors have as many axes as an image, and perhaps as many channels."""
    if [(row.min, row.max) for row in operator.fields[0].ranks] != [(RANK, RANK)]:
        return sizes
    kept = (*(1,) * (RANK - len(sizes)), *sizes[: RANK - 1], math.prod(sizes[RANK - 1 :]))[-RANK:]
    of_channels = any(field.python == "channel_count" for field in operator.fields)
    return (kept[0], (1, 3)[number % 2], *kept[CHANNELS + 1 :]) if of_channels else kept


def given_of(operator: Operator, sizes: tuple[int, ...]) -> dict[str, Any]:
    """The attributes of a call."""
    given: dict[str, Any] = {}
    for field in operator.fields:
        number = (WHOLE if field.type == "scalar_union" else NUMBERS).get(field.python)
        if field.kind == "attribute" and number is not None:
            several = field.type == "float_array"
            given[field.python] = [number + place for place in range(sizes[CHANNELS])] if several else number
    return given


def quantizations(operator: Operator, sizes: tuple[int, ...], dtype: str, number: int) -> tuple[Array, ...]:
    """A scale, and in most uses a zero point, for blocks along some axes: not always the same ones."""
    floats = dtype.startswith("float")
    types = (dtype, "int8") if floats else ("float32", dtype)
    found = []
    for place, own in enumerate(types[: 1 + (number % 4 > 0)]):
        counts = [size if (axis + number + place * (number % 3)) % 2 else divisor(size, number + place * (number % 3))
                  for axis, size in enumerate(sizes)]  # fmt: skip
        found.append(LAYOUTS[(number + place) % len(LAYOUTS)](any_bits(number + place, tuple(counts), own)))
    return tuple(found)


def divisor(size: int, number: int) -> int:
    every = [one for one in range(1, size + 1) if size % one == 0]
    return every[number % len(every)]


def ways(operator: Operator) -> list[Way]:
    more = [field for field in operator.fields if field.kind == "input"][1:]
    found = []
    for number, plain in enumerate(SIZES):
        sizes = fitted(operator, plain, number)
        given = given_of(operator, sizes)
        if number % 3:
            given.pop("scale_bias", None)
        outputs = [field for field in operator.fields if field.kind == "output"]
        if any(field.python == "quantization_type" for field in operator.fields):
            given["quantization_type"] = "SCALE_ZERO_POINT" if number % 4 else "SCALE"
        if outputs[0].same_dtype_as is None:
            dtypes = [name for row in outputs[0].dtypes for name in row.dtypes]
            if len(dtypes) > 1:
                given["output_dtype"] = dtypes[0 if "quantization_type" in given else number % len(dtypes)]
        left_out = [field.python for field in more if field.optional and number % 5 == 0]
        if any(field.same_dtype_as in left_out for field in outputs):
            given["output_dtype"] = "INT8"

        def others(dtype: str, number: int = number, sizes: tuple[int, ...] = sizes) -> tuple[Array, ...]:
            found: list[Any] = []
            for place, field in enumerate(more):
                if field.type == "tensor_array":
                    found.append(quantizations(operator, sizes, dtype, number))
                    continue
                dtypes = [name.lower() for row in field.dtypes for name in row.dtypes]
                own = dtype if dtype in dtypes else dtypes[0]
                if field.optional and number % 5 == 0:
                    found.append(None)
                elif field.sizes is not None and field.sizes.text == "ones":
                    found.append(np.full((1,) * len(sizes), 3, own))
                else:
                    x = any_bits(number + 7 * place + 7, sizes, own)
                    found.append(LAYOUTS[(number + place) % len(LAYOUTS)](x))
            return tuple(found)

        found.append(Way(sizes, given, others=others))
    return found


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
