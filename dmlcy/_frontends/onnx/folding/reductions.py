"""Folding of nodes that combine elements along axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.folding.reading import numbers
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array, DType


def _reduce(combine: np.ufunc, first: Callable[[DType], object], kinds: str = "iuf") -> Callable[[Use], Array]:
    """Along the axes of the node; ``first``: the result for no element."""

    def fold(use: Use) -> Array:
        array = numbers(use, 0, kinds)
        axes = shapes.axes_of(use, "axes", 1, array.ndim)
        if not axes and use.attribute("noop_with_empty_axes"):
            return array
        chosen = axes or tuple(range(array.ndim))
        kept, initial = bool(use.integer("keepdims")), first(array.dtype)
        found: Array = combine.reduce(array, chosen, array.dtype, keepdims=kept, initial=initial)
        return found

    return fold


def _lowest(dtype: DType) -> object:
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def _highest(dtype: DType) -> object:
    if dtype.kind == "f":
        return np.inf
    return True if dtype.kind == "b" else np.iinfo(dtype).max


total = _reduce(np.add, lambda dtype: 0)
product = _reduce(np.multiply, lambda dtype: 1)
largest = _reduce(np.maximum, _lowest, "biuf")
smallest = _reduce(np.minimum, _highest, "biuf")


def largest_at(use: Use) -> Array:
    return _place(use, np.argmax)


def smallest_at(use: Use) -> Array:
    return _place(use, np.argmin)


def _place(use: Use, find: Callable[..., Array]) -> Array:
    axis, array = use.axis(), np.atleast_1d(numbers(use, 0))
    if array.shape[axis] == 0:
        use.refuse("DML-ONNX-empty", name=use[0].name)
    last = bool(use.attribute("select_last_index"))
    found = find(np.flip(array, axis) if last else array, axis, keepdims=True)
    found = array.shape[axis] - 1 - found if last else found
    return found.reshape(use[0].sizes and found.shape) if use.integer("keepdims") else np.squeeze(found, axis)


def cumulated(use: Use) -> Array:
    """CumSum."""
    array = np.atleast_1d(numbers(use, 0))
    axis = use.axes([use.single(1, "iu")], "axis", array.ndim)[0]
    array = np.flip(array, axis) if use.integer("reverse") else array
    if use.integer("exclusive") and array.shape[axis]:
        widths = [(int(at == axis), 0) for at in range(array.ndim)]
        array = np.pad(array, widths)[tuple(map(slice, array.shape))]
    found = np.cumsum(array, axis, array.dtype)
    found = np.flip(found, axis) if use.integer("reverse") else found
    return found.reshape(use[0].sizes)
