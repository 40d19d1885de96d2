"""GEMM and CONVOLUTION: matrix products of NumPy, and what each element of the filter adds to the output."""

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
