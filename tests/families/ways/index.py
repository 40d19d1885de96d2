"""The ways of index: rows of elements or single ones, own coordinates or none, few indices and many."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from checks import assert_same_bits as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("uint8", "float16", "float32", "uint64")
Sizes = tuple[int, ...]
Others = Callable[[str], tuple[Array, ...]]
INDICES = {"uint8": "u4", "float16": "i4", "float32": "i8", "uint64": "u8"}
"""By the data type of the elements, that of the indices."""


def places(sizes: Sizes, counted: Any, dtype: str) -> Array:
    """Indices below ``counted``, and negative ones where the data type has them. Half of them are there twice."""
    counted, kind = np.asarray(counted), np.dtype(INDICES[dtype])
    random = np.random.default_rng(math.prod(sizes))
    low = -counted if kind.kind == "i" else 0 * counted
    return random.integers(low, np.maximum(counted - counted // 2, 1), sizes).astype(kind)


def taken(sizes: Sizes, counted: Any) -> Others:
    return lambda dtype: (places(sizes, counted, dtype),)


def given(sizes: Sizes, counted: Any, updates: Sizes) -> Others:
    return lambda dtype: (places(sizes, counted, dtype), any_bits(7, updates, dtype))


SLICES: list[tuple[Sizes, int, Sizes]] = [
    ((300, 130), 0, (1, 700)),
    ((70, 9), 1, (1, 5)),
    ((1, 1, 3000), 2, (1, 1, 2000)),
    ((1, 40, 6, 70), 2, (1, 1, 3, 4)),
    ((40, 2, 500), 1, (1, 1, 1)),
    ((2, 90_000), 1, (1, 600)),
    ((1, 5, 300, 2), 2, (1, 1, 1, 40)),
]
"""Sizes, an axis, and the sizes of the indices, of which those behind the leading ones count."""
LINES: list[tuple[Sizes, int, Sizes]] = [
    ((600, 70), 0, (600, 70)),
    ((70, 600), 1, (70, 600)),
    ((40, 3, 50), 1, (40, 5, 50)),
    ((200_000,), 0, (600,)),
    ((9, 20, 30), 2, (5, 20, 700)),
    ((3, 2000, 2), 1, (3, 1, 2)),
]
TUPLES: list[tuple[Sizes, int, Sizes, int]] = [
    ((40, 50, 60), 3, (1, 700, 3), 2),
    ((40, 50, 60), 3, (1, 30, 2), 2),
    ((300, 130), 2, (600, 1), 2),
    ((300, 2), 2, (600, 2), 2),
    ((1, 7, 8, 9), 3, (1, 5, 4, 1), 3),
]
"""Sizes, how many of them count, the sizes of the indices, and how many of those count."""


def slices() -> list[Way]:
    return [
        Way(sizes, {"axis": axis, "index_dimensions": sum(n > 1 for n in indices)}, others=taken(indices, sizes[axis]))
        for sizes, axis, indices in SLICES
    ]


def lines(gives: bool) -> list[Way]:
    found = []
    for sizes, axis, indices in LINES:
        if not gives or all(n <= size or d == axis for d, (n, size) in enumerate(zip(indices, sizes, strict=True))):
            others = given(indices, sizes[axis], indices) if gives else taken(indices, sizes[axis])
            found.append(Way(sizes, {"axis": axis}, others=others))
    return found


def tuples(gives: bool, batches: int | None = None) -> list[Way]:
    found = []
    for sizes, count, indices, own in TUPLES:
        shared = batches or 0
        counted = sizes[len(sizes) - count :]
        if shared and (indices[len(indices) - own] != counted[0] or indices[-1] + shared > count):
            indices = (*indices[: len(indices) - own], counted[0], *indices[len(indices) - own + 1 : -1], 1)
        axes = counted[shared : shared + indices[-1]]
        result = (*indices[len(indices) - own : -1], *counted[shared + indices[-1] :])
        said = {"input_dimension_count": count, "indices_dimension_count": own}
        if batches is not None:
            said["batch_dimension_count"] = shared
        updates = (1,) * (len(sizes) - len(result)) + result
        found.append(Way(sizes, said, others=given(indices, axes, updates) if gives else taken(indices, axes)))
    return found


def whole() -> list[Way]:
    found = []
    for sizes, scale in (((1, 3, 20, 30), 2), ((2, 1, 100, 70), 3)):
        output = (*sizes[:2], sizes[2] * scale, sizes[3] * scale)
        count = math.prod(output)

        def others(dtype: str, sizes: Sizes = sizes, count: int = count) -> tuple[Array, ...]:
            kind = "u8" if INDICES[dtype].endswith("8") else "u4"
            return (np.random.default_rng(1).permutation(count)[: math.prod(sizes)].reshape(sizes).astype(kind),)

        found.append(Way(sizes, {"output_sizes": output}, others=others))
    return found


def reversals() -> list[Way]:
    found = []
    for sizes, axis, alike in (
        ((70, 40, 30), 1, True),
        ((70, 40, 30), 1, False),
        ((3, 50, 700), 1, True),
        ((60, 500), 1, False),
        ((500, 60), 0, True),
        ((900, 1), 0, False),
        ((2, 3, 4, 90), 3, True),
    ):

        def others(dtype: str, sizes: Sizes = sizes, axis: int = axis, alike: bool = alike) -> tuple[Array, ...]:
            lines = (*sizes[:axis], 1, *sizes[axis + 1 :])
            lengths = np.random.default_rng(1).integers(0, sizes[axis] + 3, lines[:1] if alike else lines)
            whole = np.broadcast_to(lengths.reshape(lengths.shape + (1,) * (len(lines) - lengths.ndim)), lines)
            return (whole.astype("u8" if INDICES[dtype].endswith("8") else "u4"),)

        found.append(Way(sizes, {"axis": axis}, others=others))
    return found


WAYS: dict[str, list[Way]] = {
    "gather": slices(),
    "gather_elements": lines(False),
    "scatter": lines(True),
    "gather_nd": tuples(False),
    "gather_nd1": tuples(False, 0) + tuples(False, 1),
    "scatter_nd": tuples(True),
    "max_unpooling": whole(),
    "reverse_subsequences": reversals(),
}


def ways(operator: Operator) -> list[Way]:
    return WAYS[operator.python]


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
