"""Constants, sequences, diagonals and lines with an index, by NumPy and element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .windows import Array

Ints = Sequence[int]


def numbered(name: Any) -> np.dtype[Any]:
    """The data type of that name, FLOAT32 without one."""
    return np.dtype("float32" if name is None else getattr(name, "name", str(name)).lower())


def fill_value_constant(*, output_sizes: Ints, value: Any, output_dtype: Any = None) -> Array:
    return np.full(output_sizes, value, numbered(output_dtype))


def fill_value_sequence(*, output_sizes: Ints, value_start: Any, value_delta: Any, output_dtype: Any = None) -> Array:
    dtype = numbered(output_dtype)
    count = int(np.prod(output_sizes))
    start, delta = (dtype.type(one).item() for one in (value_start, value_delta))
    if dtype.kind == "f":
        result: Array = (start + np.arange(count) * np.float64(delta)).astype(dtype).reshape(output_sizes)
        return result
    bits = 8 * dtype.itemsize
    found = [(start + k * delta) % 2**bits for k in range(count)]
    return np.array(found, f"u{dtype.itemsize}").view(dtype).reshape(output_sizes)


def diagonals(sizes: Ints) -> Array:
    """How many columns each place is to the right of the main diagonal."""
    rows, columns = sizes[-2:]
    return np.arange(columns) - np.arange(rows)[:, None]


def diagonal_matrix(*, output_sizes: Ints, offset: int = 0, value: float = 1, output_dtype: Any = None) -> Array:
    dtype = numbered(output_dtype)
    number: Any = np.float32(value)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        number = min(max(int(np.nan_to_num(number, posinf=2**70, neginf=-(2**70))), limits.min), limits.max)
    with np.errstate(over="ignore"):
        filled = np.where(diagonals(output_sizes) == offset, np.array(number).astype(dtype), dtype.type(0))
    return np.broadcast_to(filled, output_sizes).copy()


def diagonal_matrix1(
    x: Array | None = None,
    *,
    output_sizes: Ints,
    value: Any = 1,
    diagonal_fill_begin: int = 0,
    diagonal_fill_end: int = 1,
    output_dtype: Any = None,
) -> Array:
    dtype = numbered(output_dtype) if x is None else x.dtype
    at = diagonals(output_sizes)
    begin, end = diagonal_fill_begin, diagonal_fill_end
    filled = (begin <= at) & (at < end) if begin <= end else (begin <= at) | (at < end)
    under = np.zeros(output_sizes, dtype) if x is None else x
    return np.where(filled, np.array(value).astype(dtype), under)


def one_hot(indices: Array, values: Array, *, axis: int, output_sizes: Ints) -> Array:
    other, own = values.ravel()[:2]
    result = np.full(output_sizes, other, values.dtype)
    length = output_sizes[axis]
    for place in np.ndindex(*indices.shape):
        index = int(indices[place])
        index += length if index < 0 else 0
        if 0 <= index < length:
            result[(*place[:axis], index, *place[axis + 1 :])] = own
    return result


def random_generator(
    state: Array, *, output_sizes: Ints, type: Any = None, output_state: Any = None, **_: Any
) -> Array | tuple[Array, Array]:
    """Philox 4x32-10, counter by counter."""
    words = [int(word) for word in state.ravel()]
    counter, key = sum(word << 32 * place for place, word in enumerate(words[:4])), words[4:]
    count = -(-int(np.prod(output_sizes)) // 4)
    found = []
    for more in range(count):
        x = [(counter + more) % 2**128 >> 32 * place & 0xFFFFFFFF for place in range(4)]
        for turn in range(10):
            own = [(key[0] + turn * 0x9E3779B9) & 0xFFFFFFFF, (key[1] + turn * 0xBB67AE85) & 0xFFFFFFFF]
            one, other = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
            x = [other >> 32 ^ x[1] ^ own[0], other & 0xFFFFFFFF, one >> 32 ^ x[3] ^ own[1], one & 0xFFFFFFFF]
        found += x
    result = np.array(found[: int(np.prod(output_sizes))], np.uint32).reshape(output_sizes)
    after = [(counter + count) % 2**128 >> 32 * place & 0xFFFFFFFF for place in range(4)]
    return (result, np.array([*after, *key], np.uint32).reshape(state.shape)) if output_state else result
