"""Arrays that are hard to add up: cancellation, subnormal numbers, the ends of the range, infinities and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from strategies import Array, any_bits

KINDS = (
    "normal", "positive", "cancellation", "magnitudes", "infinite", "opposite infinities", "bits", "largest",
    "subnormal", "zeros", "one and many small", "ties", "sums beyond the range",
)  # fmt: skip


def adversarial(seed: int, shape: tuple[int, ...], dtype: Any, kind: str) -> Array:
    """Numbers of one kind; the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    limits = np.finfo(dtype)
    most = float(limits.max)
    if kind == "bits":
        return any_bits(seed, shape, dtype)
    if kind == "largest":
        return rng.choice([most, most, -most], shape).astype(dtype)
    if kind == "subnormal":
        found: Array = (rng.integers(-9, 10, shape) * limits.smallest_subnormal).astype(dtype)
        return found
    if kind == "zeros":
        return rng.choice([0.0, -0.0], shape).astype(dtype)
    if kind == "one and many small":  # each of them is lost beside the one
        x = np.full(shape, 2.0 ** (-limits.nmant - 2 if dtype.itemsize > 2 else -24), dtype)
        x.reshape(-1)[rng.integers(0, x.size)] = 1
        return x
    if kind == "ties":  # of two whole numbers the mean is halfway between neighbours
        base = 2.0**limits.nmant
        return (base + rng.integers(0, 4, shape)).astype(dtype)
    if kind == "sums beyond the range":  # the mean is not
        return (rng.choice([1.0, 0.5, -0.25], shape) * most).astype(dtype)
    x = rng.standard_normal(shape)
    if kind == "positive":
        x = np.abs(x)
    if kind == "cancellation":
        large = rng.choice([1.0, -1.0], shape) * (2.0**12 if dtype.itemsize == 2 else 2.0**40)
        x += np.where(rng.random(shape) < 0.5, large, 0)
    if kind == "magnitudes":
        x *= 2.0 ** rng.integers(-12, 12, shape)
    if kind in ("infinite", "opposite infinities"):
        x[rng.random(shape) < 0.05] = np.inf
        if kind == "opposite infinities":
            x[rng.random(shape) < 0.2] = -np.inf
        else:
            x[rng.random(shape) < 0.05] = np.nan
    return x.astype(dtype)
