"""Whether results of two libraries are the same, and how far a result is from the exact one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.calls import Call
from benchmarks.cells import Array
from benchmarks.groups.contenders import by_torch, room
from benchmarks.groups.model import BESIDE, Cell

TOLERANCES = {"float32": 1e-4, "float16": 1e-2}  # of the greatest magnitude; whole numbers are equal


class Differs(Exception):
    """A contender's result is not ours."""


def first(result: Any) -> Array:
    """The first result of a call, as NumPy's array."""
    while isinstance(result, tuple | list):
        result = result[0]
    return result if isinstance(result, np.ndarray) else np.asarray(result.detach().numpy())


def compare(cell: Cell, calls: Mapping[str, Call]) -> None:
    """Make each call once, and refuse a first result that differs from that of the first call."""
    expected: Array | None = None
    for name, call in calls.items():
        result = first(call.once())
        if expected is None:
            expected = result.copy()
        elif name != BESIDE and not same(result, expected, cell.tolerance):
            raise Differs(f"{cell.name}: the result of {name} differs from dmlcy's")


def same(actual: Array, expected: Array, tolerance: float | None) -> bool:
    """Whether the elements are as near as they must be, in whatever sizes and data types the libraries give them."""
    if actual.size != expected.size:
        return False
    given, wanted = actual.reshape(-1), expected.reshape(-1)
    share = tolerance if tolerance is not None else TOLERANCES.get(expected.dtype.name, 0)
    if share == 0:
        return bool(np.array_equal(given, wanted, equal_nan=wanted.dtype.kind == "f"))
    largest = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=1))
    with np.errstate(invalid="ignore"):
        near = np.abs(given.astype(np.float64) - wanted) <= share * largest
    return bool(np.all(near | (given == wanted) | (np.isnan(given) & np.isnan(wanted))))


def errors(cell: Cell, inputs: Mapping[str, Array], calls: Mapping[str, Call]) -> dict[str, float]:
    """The greatest error of each FLOAT32 result over these inputs, in units in the last place of the exact result,
    which is torch's in double precision; nothing without torch."""
    if cell.dtype != "float32" or "torch" not in calls:
        return {}
    ours = next(iter(calls.values())).once()
    exact = first(by_torch(cell, inputs, room(ours), wide=True).once())
    unit = np.abs(np.spacing(exact.astype(np.float32))).astype(np.float64)
    found = {}
    for name, call in calls.items():
        distance = np.abs(first(call.once()).reshape(exact.shape).astype(np.float64) - exact) / unit
        found[name] = float(np.nanmax(distance, initial=0))
    return found
