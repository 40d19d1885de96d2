"""Sums of products: matrix products of NumPy, and what each element of a filter adds to the output."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .elementwise import Near, activated
from .windows import Array

Ints = Sequence[int]


def finished(dtype: Any, exact: Any, sizes: Any, roundings: int, fused: Any) -> Near:
    """Sums with the sizes of their terms: their activation, and how far FLOAT32 may be off after some roundings."""
    ulp = roundings if dtype == np.float32 else 1 + (roundings + 8) // 4096
    axes = {"activation_softmax": (-1,), "activation_softmax1": getattr(fused, "axes", ())}
    if fused is not None and fused.operator.python in axes:
        axis = tuple(axes[fused.operator.python])
        powers = np.exp(exact - exact.max(axis, keepdims=True))
        result = powers / powers.sum(axis, keepdims=True)
        return Near(result, ulp, result * (2 * sizes.max(axis, keepdims=True) + 1))
    like = np.empty(0, dtype)
    near = activated(lambda _: (exact, sizes), ulp)(like, fused_activation=fused)
    # The sign of an activation that is zero is its own affair.
    return near if fused is None else near._replace(terms=np.maximum(near.terms, 2.0**-149))


def gemm(
    a: Array,
    b: Array,
    c: Array | None = None,
    *,
    trans_a: str = "NONE",
    trans_b: str = "NONE",
    alpha: float = 1,
    beta: float = 1,
    fused_activation: Any = None,
) -> Near:
    left, right = (np.swapaxes(x, -1, -2) if turned == "TRANSPOSE" else x for x, turned in ((a, trans_a), (b, trans_b)))
    factors = np.float64(np.float32(alpha)), np.float64(np.float32(beta))
    with np.errstate(all="ignore"):
        left, right = left.astype(np.float64), right.astype(np.float64)
        exact = np.matmul(left, right) * factors[0]
        sizes = np.matmul(np.abs(left), np.abs(right)) * abs(factors[0])
        if c is not None:
            exact = exact + c.astype(np.float64) * factors[1]
            sizes = sizes + np.abs(c.astype(np.float64) * factors[1])
        return finished(a.dtype, exact, sizes, left.shape[-1] + 4, fused_activation)


def convolution(
    x: Array,
    filters: Array,
    bias: Array | None = None,
    *,
    mode: str = "CROSS_CORRELATION",
    direction: str = "FORWARD",
    group_count: int = 1,
    fused_activation: Any = None,
    **window: Any,
) -> Near:
    spatial = x.ndim - 2
    strides, dilations, start, end, appended = (
        [given] * spatial if np.isscalar(given) else list(given)
        for given in (
            window.get(name, default)
            for name, default in zip(
                ("strides", "dilations", "start_padding", "end_padding", "output_padding"), (1, 1, 0, 0, 0), strict=True
            )
        )
    )
    backward = direction == "BACKWARD"
    taps = filters.shape[2:]
    extents = [dilation * (n - 1) + 1 for dilation, n in zip(dilations, taps, strict=True)]
    sizes = []
    for n, extent, step, before, behind, more in zip(x.shape[2:], extents, strides, start, end, appended, strict=True):
        reached = (n - 1) * step + extent - before - behind if backward else (n + before + behind - extent) // step + 1
        sizes.append(reached + more)
    sizes = [*(window.get("output_sizes") or sizes)][-spatial:]
    outputs = filters.shape[1] * group_count if backward else filters.shape[0]
    with np.errstate(all="ignore"):  # signalling NaN
        wide, weights = x.astype(np.float64), filters.astype(np.float64)
    totals = [np.zeros((len(x), outputs, *sizes)) for _ in range(2)]
    reached = sizes if backward else [n - more for n, more in zip(sizes, appended, strict=True)]
    for group, tap in itertools.product(range(group_count), np.ndindex(*taps)):
        at = [n - 1 - t for n, t in zip(taps, tap, strict=True)] if mode == "CONVOLUTION" else list(tap)
        inputs = x.shape[1] // group_count
        source = wide[:, group * inputs : (group + 1) * inputs]
        rows = weights[(slice(None), slice(None), *at)]
        own = (
            rows[group * inputs : (group + 1) * inputs].T
            if backward
            else rows[group * (outputs // group_count) : (group + 1) * (outputs // group_count)]
        )
        moves = [t * d - s for t, d, s in zip(tap, dilations, start, strict=True)]
        place = slice(group * (outputs // group_count), (group + 1) * (outputs // group_count))
        few, many = (x.shape[2:], reached) if backward else (reached, x.shape[2:])
        lists = [
            [(i, i * step + move) for i in range(n) if 0 <= i * step + move < most]
            for n, most, step, move in zip(few, many, strides, moves, strict=True)
        ]
        if not all(lists):
            continue
        one, other = (np.ix_(*([pair[side] for pair in pairs] for pairs in lists)) for side in (0, 1))
        read, write = (one, other) if backward else (other, one)
        elements = source[(slice(None), slice(None), *read)]
        with np.errstate(all="ignore"):
            for total, first, second in (
                (totals[0], own, elements),
                (totals[1], np.abs(own), np.abs(elements)),
            ):
                total[:, place][(slice(None), slice(None), *write)] += np.einsum("oi,ni...->no...", first, second)
    exact, terms = totals
    with np.errstate(all="ignore"):
        if bias is not None:
            exact, terms = exact + bias.astype(np.float64), terms + np.abs(bias.astype(np.float64))
        depth = x.shape[1] // group_count * int(np.prod(taps))
        return finished(x.dtype, exact, terms, depth + 2, fused_activation)


def less(x: Array, zero: Array | None, sizes: Ints) -> Array:
    """Python's integers, less their zero points, which have these sizes or one element."""
    return x.astype(object) - (0 if zero is None else zero.astype(object).reshape(sizes if zero.size > 1 else ()))


def column(x: Array) -> Array:
    return x.astype(np.float64).reshape((-1, 1) if x.size > 1 else ())


def row(x: Array) -> Array:
    return x.astype(np.float64).reshape((1, -1) if x.size > 1 else ())


def wrapped(exact: Array) -> Array:
    return (exact & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def quantized(values: Array, scale: Array, zero: Array | None, asked: str | None) -> Array:
    """Rounded to FLOAT32, then to whole numbers; NaN is 0."""
    assert zero is not None or asked is not None
    dtype = str(zero.dtype) if zero is not None else str(asked).lower()
    with np.errstate(all="ignore"):
        whole = np.rint((values / scale).astype(np.float32)).astype(np.float64)
    limits = np.iinfo(dtype)
    moved = np.nan_to_num(whole + (0 if zero is None else column(zero)), nan=0, posinf=np.inf, neginf=-np.inf)
    return np.clip(moved, limits.min, limits.max).astype(dtype)


def of_matrices(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> Array:
    """Exact: those of 8 bits are in float64, too."""
    kind = object if a.itemsize > 1 else np.float64
    left, right = less(a, a_zero, (-1, 1)).astype(kind), less(b, b_zero, (1, -1)).astype(kind)
    exact = np.matmul(left, right)
    found: Array = exact if kind is object else exact.astype(np.int64).astype(object)
    return found


def matrix_multiply_integer(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None = None) -> Array:
    return wrapped(of_matrices(a, a_zero, b, b_zero))


def matrix_multiply_integer_to_float(
    a: Array, a_scale: Array, a_zero: Array | None, b: Array, b_scale: Array, b_zero: Array | None, bias: Array | None
) -> Array:
    with np.errstate(all="ignore"):
        scaled = of_matrices(a, a_zero, b, b_zero).astype(np.float64) * column(a_scale) * row(b_scale)
        return (scaled if bias is None else scaled + bias.astype(np.float64)).astype(a_scale.dtype)


def quantized_linear_matrix_multiply(
    a: Array,
    a_scale: Array,
    a_zero: Array | None,
    b: Array,
    b_scale: Array,
    b_zero: Array | None,
    scale: Array,
    zero: Array | None = None,
    *,
    output_dtype: str | None = None,
) -> Array:
    with np.errstate(all="ignore"):
        scaled = of_matrices(a, a_zero, b, b_zero).astype(np.float64) * column(a_scale) * row(b_scale)
        return quantized(scaled, column(scale), zero, output_dtype)


def of_windows(x: Array, x_zero: Array | None, filters: Array, zero: Array | None, window: dict[str, Any]) -> Array:
    """Exact in float64 for what tests draw: groups, channels and places, of each image."""
    given = {name: value for name, value in window.items() if name != "output_dtype"}
    ones = (1,) * (x.ndim - 2)
    numbers = less(x, x_zero, ()).astype(np.float64), less(filters, zero, (-1, 1, *ones)).astype(np.float64)
    exact = convolution(*numbers, **given).exact
    assert np.abs(exact).max(initial=0) < 2**53
    return exact


def convolution_integer(
    x: Array, x_zero: Array | None, filters: Array, zero: Array | None = None, **window: Any
) -> Array:
    return wrapped(of_windows(x, x_zero, filters, zero, window).astype(np.int64).astype(object))


def quantized_linear_convolution(
    x: Array,
    x_scale: Array,
    x_zero: Array | None,
    filters: Array,
    filter_scale: Array,
    filter_zero: Array | None,
    bias: Array | None,
    scale: Array,
    zero: Array | None = None,
    **window: Any,
) -> Array:
    exact = of_windows(x, x_zero, filters, filter_zero, window)
    each = (-1, *(1,) * (x.ndim - 2)) if filter_scale.size > 1 else ()
    if bias is not None:
        exact = exact + bias.astype(np.float64)
    with np.errstate(all="ignore"):
        scaled = exact * x_scale.astype(np.float64).reshape(()) * filter_scale.astype(np.float64).reshape(each)
        return quantized(scaled, scale.astype(np.float64).reshape(()), zero, window.get("output_dtype"))
