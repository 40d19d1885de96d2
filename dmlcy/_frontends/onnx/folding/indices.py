"""Folding of nodes that read or write elements at indices."""

from __future__ import annotations

import numpy as np

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.folding.reading import bounded, numbers
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array


def gather(use: Use) -> Array:
    axis, sizes = shapes.looked_up(use)
    bounded(use, sizes)
    return np.take(use.constant(0), _indices(use, use[0].sizes[axis]), axis)


def gather_elements(use: Use) -> Array:
    axis = shapes.looked_up_by_elements(use)
    places = _along(_indices(use, use[0].sizes[axis]), axis)
    return use.constant(0)[places]


def gather_nd(use: Use) -> Array:
    batches = use.attribute("batch_dims") or 0
    depth, sizes = shapes.looked_up_by_tuples(use, batches)
    bounded(use, sizes)
    return use.constant(0)[_tuples(use, batches, depth)].reshape(sizes)


def scatter_elements(use: Use) -> Array:
    axis = shapes.scattered_elements(use)
    return _write(use, _along(_indices(use, use[0].sizes[axis]), axis))


def scatter_nd(use: Use) -> Array:
    depth = shapes.scattered_tuples(use)
    return _write(use, _tuples(use, 0, depth))


def one_hot(use: Use) -> Array:
    """Indices outside of the depth choose no place."""
    axis, sizes = shapes.one_hot(use)
    bounded(use, sizes)
    off, on = use.constant(2)
    indices, depth = numbers(use, 0), sizes[axis]
    wrapped = np.where(indices < 0, indices + depth, indices)
    places = np.arange(depth).reshape([-1 if at == axis else 1 for at in range(len(sizes))])
    found: Array = np.where(np.expand_dims(wrapped, axis) == places, on, off)
    return found


def nonzero(use: Use) -> Array:
    """A scalar counts as a vector of one element."""
    array = numbers(use, 0, "biuf")
    return np.array(np.nonzero(np.atleast_1d(array)), np.int64)


REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _write(use: Use, places: tuple[Array, ...]) -> Array:
    """The data with updates at these places."""
    reduction = use.attribute("reduction") or "none"
    bounded(use, use[0].sizes)
    made, updates = use.constant(0).copy(), use.constant(2)
    if reduction == "none":
        made[places] = updates
    elif reduction in REDUCTIONS:
        numbers(use, 0)
        REDUCTIONS[reduction].at(made, places, updates)
    else:
        use.refuse("DML-ONNX-attribute-value", name="reduction", value=reduction, known=["none", *REDUCTIONS])
    return made


def _indices(use: Use, size: int) -> Array:
    """The second input, as indices of an axis of this size."""
    return _within(use, numbers(use, 1, "iu"), size)


def _within(use: Use, indices: Array, size: int) -> Array:
    """Indices counted from the first element."""
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        use.refuse("DML-ONNX-index", input=use[1].name, index=int(wrong[0]), size=size)
    return np.where(indices < 0, indices + size, indices).astype(np.int64)


def _along(indices: Array, axis: int) -> tuple[Array, ...]:
    """For each element the place along an axis that it names, and its own place along the others."""
    own: list[Array] = list(np.indices(indices.shape, sparse=True))
    own[axis] = indices
    return tuple(own)


def _tuples(use: Use, batches: int, depth: int) -> tuple[Array, ...]:
    """The places that the last axis of the second input names, within each batch."""
    indices, own = numbers(use, 1, "iu"), use[0].sizes
    outer = np.indices(indices.shape[:-1], sparse=True)[:batches]
    inner = [_within(use, indices[..., at], own[batches + at]) for at in range(depth)]
    return (*outer, *inner)
