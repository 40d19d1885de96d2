"""Elements that are chosen: lines sorted by Python, and coordinates counted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .windows import Array


def named(given: Any, default: str = "UINT32") -> np.dtype[Any]:
    """The data type of that name."""
    return np.dtype(getattr(given, "name", str(given or default)).lower())


def _rank(line: list[Any], least_first: bool, n: int) -> tuple[bool, Any]:
    """Where an element is in the order; NaN is behind all numbers."""
    return line[n] != line[n], 0 if line[n] != line[n] else line[n] if least_first else -line[n]


def top_k(
    x: Array, *, axis: int, k: int, axis_direction: Any = "DECREASING", output_index_dtype: Any = None, **_: Any
) -> tuple[Array, Array]:
    least_first = getattr(axis_direction, "name", axis_direction) == "INCREASING"
    lines = np.moveaxis(x, axis, -1)
    values, places = np.empty((*lines.shape[:-1], k), x.dtype), np.empty((*lines.shape[:-1], k), np.int64)
    for at in np.ndindex(*lines.shape[:-1]):
        line = lines[at].tolist()
        order = sorted(range(len(line)), key=partial(_rank, line, least_first))
        places[at] = order[:k]
        values[at] = lines[at][order[:k]]
    found = (np.ascontiguousarray(np.moveaxis(one, -1, axis)) for one in (values, places))
    return next(found), next(found).astype(named(output_index_dtype))


def nonzero_coordinates(
    x: Array, *, output_count_sizes: Sequence[int] = (), output_coordinates_sizes: Sequence[int] = (), **_: Any
) -> tuple[Array, Array]:
    sizes = tuple(output_coordinates_sizes) or (*[1] * (x.ndim - 2), x.size, x.ndim)
    rows = np.zeros((x.size, sizes[-1]), np.uint32)
    found = [at for at in np.ndindex(*x.shape) if x[at] != 0]
    for row, at in zip(rows, found, strict=False):
        row[:] = at[x.ndim - sizes[-1] :]
    return np.full(tuple(output_count_sizes) or (1,) * x.ndim, len(found), np.uint32), rows.reshape(sizes)
