"""Elements by index: NumPy's indexing, one tuple or line at a time."""

from __future__ import annotations

import numpy as np

from .windows import Array


def gather(x: Array, indices: Array, *, axis: int, index_dimensions: int) -> Array:
    counted = indices.shape[indices.ndim - index_dimensions :]
    found = np.take(x, indices.reshape(counted).astype(np.intp), axis)
    return with_ones(found.reshape(found.shape[max(found.ndim - x.ndim, 0) :]), x.ndim)


def gather_elements(x: Array, indices: Array, *, axis: int) -> Array:
    result = np.empty(indices.shape, x.dtype)
    for place in np.ndindex(*indices.shape):
        result[place] = x[(*place[:axis], int(indices[place]), *place[axis + 1 :])]
    return result


def scatter(x: Array, indices: Array, updates: Array, *, axis: int) -> Array:
    result = np.array(x)
    for place in np.ndindex(*indices.shape):
        result[(*place[:axis], int(indices[place]), *place[axis + 1 :])] = updates[place]
    return result


def counting(x: Array, count: int) -> Array:
    """The last axes, which count."""
    return x.reshape(x.shape[x.ndim - count :])


def with_ones(x: Array, rank: int) -> Array:
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def gather_nd1(
    x: Array,
    indices: Array,
    *,
    input_dimension_count: int,
    indices_dimension_count: int,
    batch_dimension_count: int = 0,
) -> Array:
    source, tuples = counting(x, input_dimension_count), counting(indices, indices_dimension_count)
    own = tuples.shape[:-1]
    found = np.empty(own + source.shape[batch_dimension_count + tuples.shape[-1] :], x.dtype)
    for place in np.ndindex(*own):
        found[place] = source[(*place[:batch_dimension_count], *map(int, tuples[place]))]
    return with_ones(found, x.ndim)


def gather_nd(x: Array, indices: Array, *, input_dimension_count: int, indices_dimension_count: int) -> Array:
    return gather_nd1(
        x, indices, input_dimension_count=input_dimension_count, indices_dimension_count=indices_dimension_count
    )


def scatter_nd(
    x: Array, indices: Array, updates: Array, *, input_dimension_count: int, indices_dimension_count: int
) -> Array:
    result = np.array(x, order="C")
    target, tuples = counting(result, input_dimension_count), counting(indices, indices_dimension_count)
    given = updates.reshape(tuples.shape[:-1] + target.shape[tuples.shape[-1] :])
    for place in np.ndindex(*tuples.shape[:-1]):
        target[tuple(map(int, tuples[place]))] = given[place]
    return result


def max_unpooling(x: Array, indices: Array, *, output_sizes: tuple[int, ...]) -> Array:
    result = np.zeros(output_sizes, x.dtype)
    for place in np.ndindex(*x.shape):
        result.reshape(-1)[int(indices[place])] = x[place]
    return result


def reverse_subsequences(x: Array, lengths: Array, *, axis: int) -> Array:
    result = np.array(x, order="C")
    for place in np.ndindex(*lengths.shape):
        line = (*place[:axis], slice(0, min(int(lengths[place]), x.shape[axis])), *place[axis + 1 :])
        result[line] = x[line][::-1]
    return result
