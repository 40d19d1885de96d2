"""The gradients of pooling, and averages of quantized integers: one position of the window after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .elementwise import Near
from .windows import Array, order, pooled, under


def average_pooling_grad(
    x: Array, *, output_sizes: Sequence[int], window_size: Sequence[int], strides: Sequence[int],
    start_padding: Sequence[int], end_padding: Sequence[int], include_padding: bool = False,
) -> Near:  # fmt: skip
    """Each position gives its part to all elements under the window."""
    numbers = np.arange(math.prod(output_sizes)).reshape(1, 1, *output_sizes)
    window = {"window_size": window_size, "strides": strides, "start_padding": start_padding}
    result = np.zeros((*x.shape[:2], numbers.size))
    terms = result.copy()
    with np.errstate(invalid="ignore"):
        for at, places in under(numbers, output_sizes=(1, 1, *x.shape[2:]), end_padding=end_padding, **window):
            count = math.prod(window_size) if include_padding else max(places.size, 1)
            share = x[at].astype(np.float64)[..., None] / count
            result[..., places.ravel()] += share
            terms[..., places.ravel()] += np.abs(share)
    sizes = (*x.shape[:2], *output_sizes)
    return Near(result.reshape(sizes), 1, terms.reshape(sizes))


def max_pooling_grad(x: Array, gradient: Array, **window: Any) -> Near:
    """The first of the greatest elements under each window gets the element of the gradient."""
    ordered, numbers = order(x).ravel(), np.arange(x.size).reshape(x.shape)
    result = np.zeros(x.size)
    terms = np.zeros(x.size)
    with np.errstate(invalid="ignore"):
        for at, places in under(numbers, output_sizes=gradient.shape, **window):
            if places.size:
                first = ordered[places].argmax(-1)[..., None]
                found = np.take_along_axis(places, first, -1)[..., 0]
                result[found] += gradient[at].astype(np.float64)
                terms[found] += np.abs(gradient[at].astype(np.float64))
    return Near(result.reshape(x.shape), 1, terms.reshape(x.shape))


def each(tensor: Array | None, channels: int) -> Array:
    """The entry of each channel, in float64."""
    flat = np.zeros(1) if tensor is None else tensor.ravel().astype(np.float64)
    return np.broadcast_to(flat, channels)


def quantized_linear_average_pooling(
    x: Array, scale: Array, zero: Array | None, output_scale: Array, output_zero: Array | None, *,
    include_padding: bool = False, output_dtype: Any = None, **window: Any,
) -> Array:  # fmt: skip
    channels = x.shape[1]
    dtype = np.dtype(output_dtype.lower()) if output_dtype else x.dtype if output_zero is None else output_zero.dtype
    limits = np.iinfo(dtype)
    result = np.zeros(pooled(x, **window), dtype)
    volume = math.prod(window["window_size"])
    for at, elements in under(x.astype(np.int64), **window):
        sums = (elements - each(zero, channels).astype(np.int64)[:, None]).sum(-1)
        count = volume if include_padding else max(elements.shape[-1], 1)
        with np.errstate(all="ignore"):
            mean = sums * each(scale, channels) / (count * each(output_scale, channels))
            mean = np.rint(mean.astype(np.float32).astype(np.float64)) + each(output_zero, channels)
        result[at] = np.where(np.isnan(mean), 0, np.clip(mean, limits.min, limits.max)).astype(dtype)
    return result
