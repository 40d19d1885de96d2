"""Softmax, normalizations and their gradients, in float64 over whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from . import elementwise
from .elementwise import Near
from .windows import Array

Ints = Sequence[int]
UNITS = {"softmax": 9, "log_softmax": 9, "normalized": 9, "norm": 5, "gradient": 6, "training_gradient": 15}
"""How far results of FLOAT32 may be off, in units in the last place, where that is not 1."""


def near(exact: Array, dtype: Any, terms: Array | None = None, ulp: int = 1) -> Near:
    """Results that round once to a data type, or are as far off as ``ulp`` says for FLOAT32."""
    terms = np.abs(exact) if terms is None else np.maximum(np.broadcast_to(terms, exact.shape), np.abs(exact))
    return Near(exact, ulp if dtype == np.float32 else 1, terms)


def fused(found: Near, activation: Any, dtype: Any) -> Near:
    """The result of an activation of a result."""
    if activation is None:
        return found
    operator = activation.operator
    values = {name: np.float64(np.float32(value)) for name, value in operator.arguments(activation).items()}
    function = partial(getattr(elementwise, operator.python).function, **values)
    with np.errstate(all="ignore"):
        exact = function(found.exact)
        step = found.terms * 2.0 ** -np.finfo(dtype).nmant
        changes = np.maximum(*(np.abs(function(one) - exact) for one in (found.exact + step, found.exact - step)))
    terms = np.maximum(np.abs(exact), changes * 2.0 ** (np.finfo(dtype).nmant + 1))
    return Near(exact, found.ulp + 3 if dtype == np.float32 else 1, unsigned(terms))


def unsigned(terms: Array) -> Array:
    """The terms of results whose sign is left open where they are rounded to 0: a bit more."""
    return np.abs(terms) * (1 + 1e-12) + 5e-324


def greatest(x: Array, axes: Ints) -> Array:
    """The greatest number along axes; NaN where there is none."""
    found = np.where(np.isnan(x), -np.inf, x).max(tuple(axes), keepdims=True)
    return np.where(np.isnan(x).all(tuple(axes), keepdims=True), np.nan, found)


def activation_softmax(x: Array, *, axes: Ints = (-1,)) -> Near:
    with np.errstate(all="ignore"):
        powers = np.exp(x.astype(np.float64) - greatest(x, axes))
        exact = powers / powers.sum(tuple(axes), keepdims=True)
    return near(exact, x.dtype, ulp=UNITS["softmax"])


def activation_log_softmax(x: Array, *, axes: Ints = (-1,)) -> Near:
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64) - greatest(x, axes)
        ties = (wide == 0).sum(tuple(axes), keepdims=True)
        rest = np.where(wide == 0, 0, np.exp(wide)).sum(tuple(axes), keepdims=True)
        exact = wide - np.log1p(rest + (ties - 1.0))
    # The sign of a zero is left open: it may be that of a difference that is too small.
    return near(exact, x.dtype, unsigned(exact), UNITS["log_softmax"])


def activation_hardmax(x: Array, *, axes: Ints = (-1,)) -> Array:
    kept = [d for d in range(x.ndim) if d not in {axis % x.ndim for axis in axes}]
    order = [*kept, *(d for d in range(x.ndim) if d not in kept)]
    numbers = np.where(np.isnan(x), -np.inf, x).transpose(order)
    lines = numbers.reshape(*numbers.shape[: len(kept)], -1)
    # Where all are NaN, the first one counts; elsewhere no NaN does.
    some = np.where(np.isnan(x), 0, 1).transpose(order).reshape(lines.shape)
    first = np.where(some.any(-1), np.where((lines == lines.max(-1, keepdims=True)) & (some == 1), 1, 0).argmax(-1), 0)
    hot = np.arange(lines.shape[-1]) == first[..., None]
    return np.ascontiguousarray(hot.reshape(numbers.shape).transpose(np.argsort(order))).astype(x.dtype)


def centered(x: Array, axes: Ints) -> tuple[Array, Array]:
    """The mean, and the elements less it, both without a loss of digits."""
    wide = x.astype(np.float64)
    about = wide.mean(tuple(axes), keepdims=True)
    rest = (wide - about).mean(tuple(axes), keepdims=True)
    return about + rest, wide - about - rest


def normalized(
    x: Array, scale: Array | None, bias: Array | None, axes: Ints, epsilon: float, mean: bool, divide: bool, fuse: Any
) -> Near:
    with np.errstate(all="ignore"):
        deviation = centered(x, axes)[1] if mean else x.astype(np.float64)
        variance = (deviation * deviation).mean(tuple(axes), keepdims=True)
        normal = deviation / np.sqrt(variance + np.float64(np.float32(epsilon))) if divide else deviation
        factor = np.float64(1) if scale is None else scale.astype(np.float64)
        more = np.float64(0) if bias is None else bias.astype(np.float64)
        exact = np.broadcast_to(normal * factor + more, x.shape)
        size = np.abs(factor) * (np.abs(normal) + (1.0 if divide else np.sqrt(variance))) + np.abs(more)
    return fused(near(exact, x.dtype, size, UNITS["normalized"]), fuse, x.dtype)


def mean_variance_normalization(
    x: Array, scale: Array | None = None, bias: Array | None = None, *, axes: Ints | None = None,
    cross_channel: bool = False, normalize_variance: bool = True, use_mean: bool = True, use_variance: bool = True,
    epsilon: float = 1e-5, fused_activation: Any = None,
) -> Near:  # fmt: skip
    if axes is None:
        axes = (1, 2, 3) if cross_channel else (2, 3)
    divide = normalize_variance and use_variance
    return normalized(x, scale, bias, axes, epsilon, use_mean, divide, fused_activation)


def folded(part: Array) -> tuple[int, ...]:
    """The axes along which one element is for all."""
    return tuple(d for d, size in enumerate(part.shape) if size == 1)


def batch_normalization_training(
    x: Array, scale: Array, bias: Array, fused_add: Array | None = None, *, epsilon: float, fused_activation: Any = None
) -> tuple[Near, Near, Near]:
    axes = folded(scale)
    with np.errstate(all="ignore"):
        mean, deviation = centered(x, axes)
        variance = (deviation * deviation).mean(axes, keepdims=True)
        normal = deviation / np.sqrt(variance + np.float64(np.float32(epsilon)))
        factor, more = scale.astype(np.float64), bias.astype(np.float64)
        added = np.float64(0) if fused_add is None else fused_add.astype(np.float64)
        exact = normal * factor + more + added
        size = np.abs(factor) * (np.abs(normal) + 1.0) + np.abs(more) + np.abs(added)
        size_of_mean = np.abs(mean) + np.sqrt(variance)
    ulp = UNITS["normalized"]
    output = fused(near(exact, x.dtype, size, ulp), fused_activation, x.dtype)
    return output, near(mean, x.dtype, size_of_mean), near(variance, x.dtype, ulp=ulp)


def sums(x: Array, gradient: Array, mean: Array, root: Array, axes: Ints) -> tuple[Near, Near]:
    """The gradients of the scale and of the bias."""
    products = gradient * (x.astype(np.float64) - mean.astype(np.float64))
    of_scale = products.sum(tuple(axes), keepdims=True) / root
    scales = np.abs(products).sum(tuple(axes), keepdims=True) / root
    biases = np.abs(gradient).sum(tuple(axes), keepdims=True)
    return near(of_scale, x.dtype, scales, UNITS["gradient"]), near(
        gradient.sum(tuple(axes), keepdims=True), x.dtype, biases
    )


def batch_normalization_grad(
    x: Array, input_gradient: Array, mean: Array, variance: Array, scale: Array, *, epsilon: float
) -> tuple[Near, Near, Near]:
    with np.errstate(all="ignore"):
        root = np.sqrt(variance.astype(np.float64) + np.float64(np.float32(epsilon)))
        gradient = input_gradient.astype(np.float64)
        output = gradient * scale.astype(np.float64) / root
        return near(output, x.dtype, ulp=UNITS["gradient"]), *sums(x, gradient, mean, root, folded(mean))


def batch_normalization_training_grad(
    x: Array, input_gradient: Array, mean: Array, variance: Array, scale: Array, *, epsilon: float
) -> tuple[Near, Near, Near]:
    axes = folded(mean)

    def average(one: Array) -> Array:
        found: Array = one.mean(axes, keepdims=True)
        return found

    with np.errstate(all="ignore"):
        wide = variance.astype(np.float64) + np.float64(np.float32(epsilon))
        gradient, root, factor = input_gradient.astype(np.float64), np.sqrt(wide), scale.astype(np.float64)
        deviation, change = centered(x, axes)[1], centered(input_gradient, axes)[1]
        slope = average(change * deviation)
        output = factor / root * (change - deviation * slope / wide)
        about, changes = np.abs(deviation) + average(np.abs(deviation)), np.abs(change) + average(np.abs(change))
        size = np.abs(factor) / root * (changes + about * average(changes * about) / np.abs(wide))
        return near(output, x.dtype, size, UNITS["training_gradient"]), *sums(x, gradient, mean, root, axes)


def lp_normalization(x: Array, *, axis: int, epsilon: float = 1e-5, p: int = 2) -> Near:
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        total = (np.abs(wide) if p == 1 else wide * wide).sum(axis, keepdims=True)
        norm = total if p == 1 else np.sqrt(total)
        limit = np.float64(np.float32(epsilon))
        return near(wide / np.where(norm < limit, limit, norm), x.dtype, ulp=UNITS["norm"])


def dynamic_quantize_linear(x: Array, *, output_dtype: Any = None, **_: Any) -> tuple[Array, Array, Array]:
    dtype = np.dtype("uint8" if output_dtype is None else getattr(output_dtype, "name", str(output_dtype)).lower())
    limits = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        numbers = np.where(np.isnan(x), 0, x).astype(np.float32)
        low, high = min(numbers.min(), np.float32(0)), max(numbers.max(), np.float32(0))
        scale = np.float32(np.float32(high - low) / np.float32(255))
        scale = np.float32(1) if scale == 0 else scale
        bottom = np.float32(limits.min)
        zero = np.clip(np.rint(np.float32(bottom - np.float32(low / scale))), limits.min, limits.max)
        found = np.rint(x.astype(np.float32) / scale).astype(np.float64) + zero
        found = np.where(np.isnan(found), 0, np.clip(found, limits.min, limits.max))
    ones = (1,) * x.ndim
    return found.astype(dtype), np.full(ones, scale, np.float32), np.full(ones, np.nan_to_num(zero)).astype(dtype)


def shifted(x: Array, axis: int, far: int) -> Array:
    """The elements so far behind each, and 0 where there is none."""
    found = np.zeros_like(x)
    size = x.shape[axis]
    if abs(far) < size:
        to, of = (slice(0, size - far), slice(far, size)) if far >= 0 else (slice(-far, size), slice(0, size + far))
        found[(slice(None),) * axis + (to,)] = x[(slice(None),) * axis + (of,)]
    return found


def neighbors(x: Array, cross_channel: bool, local_size: int, mirrored: bool = False) -> Array:
    """The sums over neighbors; mirrored: over the elements of which each is a neighbor."""
    for axis in (1,) if cross_channel else (2, 3):
        before, after = (local_size - 1) // 2, local_size // 2
        before, after = (after, before) if mirrored else (before, after)
        most = x.shape[axis]
        sums: Any = sum(shifted(x, axis, far) for far in range(-min(before, most), min(after, most) + 1))
        x = sums
    return x


def responses(x: Array, cross_channel: bool, local_size: int, **given: float) -> tuple[Array, Array, Array]:
    """The base of the power, the power, and how far off it may be, in units of itself."""
    alpha, beta, bias = (np.float64(np.float32(given.get(name, value))) for name, value in RESPONSE.items())
    squares = neighbors(x * x, cross_channel, local_size)
    base = (bias * local_size + alpha * squares) / local_size
    weight = (abs(bias) * local_size + abs(alpha) * squares) / local_size
    power = base**beta
    sure = (np.abs(base) > weight * 1e-15) & (np.abs(power) > 1e-290) & (np.abs(power) < 1e290)
    return base, power, np.where(sure, (abs(beta) + 1) * weight / np.abs(base) + 1, np.inf)


RESPONSE = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0}


def local_response_normalization(x: Array, *, cross_channel: bool, local_size: int, **given: float) -> Near:
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        _, power, loss = responses(wide, cross_channel, local_size, **given)
        exact = wide / power
        return near(exact, x.dtype, np.abs(exact) * loss, 3)


def local_response_normalization_grad(
    x: Array, input_gradient: Array, *, cross_channel: bool, local_size: int, **given: float
) -> Near:
    with np.errstate(all="ignore"):
        wide, gradient = x.astype(np.float64), input_gradient.astype(np.float64)
        base, power, loss = responses(wide, cross_channel, local_size, **given)
        shares = gradient * wide / (power * base)
        alpha, beta = (np.float64(np.float32(given.get(name, RESPONSE[name]))) for name in ("alpha", "beta"))
        factor = 2 * alpha * beta / local_size
        exact = gradient / power - factor * wide * neighbors(shares, cross_channel, local_size, True)
        terms = neighbors(np.abs(shares) * loss, cross_channel, local_size, True)
        size = np.abs(gradient / power) * loss + np.abs(factor * wide) * terms
        return near(exact, x.dtype, unsigned(size), 3)
