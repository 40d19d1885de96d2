"""Reductions: sums and products in float64, or in the integers of the data type; extremes by numbers, not NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array

INDEX = ("ARGMAX", "ARGMIN")


def lines_of(x: Array, axes: Sequence[int]) -> tuple[Array, tuple[int, ...]]:
    """The elements that become one along the last axis, and the sizes of the result."""
    kept = [d for d in range(x.ndim) if d not in axes]
    lines = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[d] for d in kept), -1)
    return lines, tuple(1 if d in axes else size for d, size in enumerate(x.shape))


def extreme(lines: Array, least: bool) -> Array:
    """The extreme of each line; NaN only where there is no number, and -0 before +0."""
    if lines.dtype.kind != "f":
        return np.asarray(lines.min(-1) if least else lines.max(-1))
    worst = np.inf if least else -np.inf
    numbers = np.where(np.isnan(lines), worst, lines)
    found = numbers.min(-1) if least else numbers.max(-1)
    zeros = (lines == 0) & (np.signbit(lines) == least)
    signed = np.where(zeros.any(-1), -0.0 if least else 0.0, 0.0 if least else -0.0)
    found = np.where(found == 0, signed, found)
    return np.where(np.isnan(lines).all(-1), np.nan, found).astype(lines.dtype)


def place(lines: Array, least: bool, last: bool) -> Array:
    """Where the extreme is; NaN is behind all numbers."""
    if lines.dtype.kind == "f":
        bad = np.isnan(lines)
        worst = np.inf if least else -np.inf
        numbers = np.where(bad, worst, lines)
        found = numbers.min(-1, keepdims=True) if least else numbers.max(-1, keepdims=True)
        at = (numbers == found) & (~bad | bad.all(-1, keepdims=True))
    else:
        at = lines == (lines.min(-1, keepdims=True) if least else lines.max(-1, keepdims=True))
    return np.asarray(at.shape[-1] - 1 - at[..., ::-1].argmax(-1) if last else at.argmax(-1))


def product(lines: Array) -> Array:
    """The product of floats, which neither overflows nor vanishes before all of it is there."""
    parts, powers = np.frexp(lines.astype(np.float64))
    result = np.empty(lines.shape[:-1])
    for at in np.ndindex(*result.shape):
        part, power = 1.0, int(powers[at].sum())
        for begin in range(0, lines.shape[-1], 500):
            part, more = math.frexp(float(np.prod(parts[at][begin : begin + 500])) * part)
            power += more
        result[at] = np.ldexp(part, max(min(power, 3000), -3000))
    return result


def reduce(x: Array, *, function: Any, axes: Sequence[int] = (), output_dtype: Any = None, **_: Any) -> Near | Array:
    name = getattr(function, "name", function)
    lines, sizes = lines_of(x, axes)
    if name in INDEX:
        return indexed(lines, sizes, name == "ARGMIN", False, output_dtype)
    if name in ("MAX", "MIN"):
        return extreme(lines, name == "MIN").reshape(sizes)
    with np.errstate(all="ignore"):
        if x.dtype.kind != "f":
            found = {
                "SUM": lambda: lines.sum(-1, dtype=x.dtype), "MULTIPLY": lambda: lines.prod(-1, dtype=x.dtype),
                "SUM_SQUARE": lambda: (lines * lines).sum(-1, dtype=x.dtype),
                "L1": lambda: np.where(lines < 0, 0 - lines, lines).sum(-1, dtype=x.dtype),
            }[name]()  # fmt: skip
            return np.asarray(found).reshape(sizes)
        wide = lines.astype(np.float64) * 1.0
        exact, terms = of_floats(name, wide)
    return Near(exact.reshape(sizes), 1, np.abs(terms).reshape(sizes))


def of_floats(name: str, wide: Array) -> tuple[Array, Array]:
    """The result, and the size of its terms."""
    total = np.abs(wide).sum(-1)
    match name:
        case "SUM":
            return wide.sum(-1) + 0.0, total
        case "AVERAGE":
            return wide.mean(-1) + 0.0, total / wide.shape[-1]
        case "LOG_SUM":
            found = np.log(wide.sum(-1))
            return found, np.abs(found) + total / np.abs(wide.sum(-1))
        case "LOG_SUM_EXP":
            top = extreme(wide, False)
            top = np.where(np.isfinite(top), top, 0.0)
            found = np.log(np.exp(wide - top[..., None]).sum(-1))
            return found + top, np.abs(found) + np.abs(top) + 1
    ways: dict[str, Callable[[], Array]] = {
        "L1": lambda: total, "L2": lambda: np.sqrt((wide * wide).sum(-1)), "SUM_SQUARE": lambda: (wide * wide).sum(-1),
        "MULTIPLY": lambda: product(wide),
    }  # fmt: skip
    found = ways[name]()
    return found, found


def indexed(lines: Array, sizes: tuple[int, ...], least: bool, last: bool, output_dtype: Any) -> Array:
    """The place as the data type that the output has."""
    name = getattr(output_dtype, "name", output_dtype) or "UINT32"
    return place(lines, least, last).reshape(sizes).astype(str(name).lower())


def argmax(
    x: Array, *, axes: Sequence[int] = (), axis_direction: Any = "INCREASING", output_dtype: Any = None, **_: Any
) -> Array:
    last = getattr(axis_direction, "name", axis_direction) == "DECREASING"
    return indexed(*lines_of(x, axes), False, last, output_dtype)


def argmin(
    x: Array, *, axes: Sequence[int] = (), axis_direction: Any = "INCREASING", output_dtype: Any = None, **_: Any
) -> Array:
    last = getattr(axis_direction, "name", axis_direction) == "DECREASING"
    return indexed(*lines_of(x, axes), True, last, output_dtype)
