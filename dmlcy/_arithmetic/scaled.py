"""Products of floats in parts, a fraction and an exponent of two each: no product of some of them overflows."""

from __future__ import annotations

from typing import Final

import numpy as np

from dmlcy._types import Array

Parts = tuple[Array, Array]

CHUNK: Final = 512
"""Fractions from 1/2 to 1, of which the product is a normal number of float64."""
FAR: Final = 1 << 14
"""Exponents beyond are all the same: every number of float64 is infinite or 0 with them."""


def parts(a: Array) -> Parts:
    """The fractions and the exponents of floats; an infinity and NaN are fractions."""
    fraction, exponent = np.frexp(a)
    return fraction, exponent.astype(np.int64)


def number(found: Parts) -> Array:
    """The numbers that have these parts, as float64."""
    fraction, exponent = found
    return np.ldexp(fraction, exponent.clip(-FAR, FAR).astype(np.int32))


def product(found: Parts, axis: int) -> Parts:
    """The product along an axis, which stays with size 1."""
    fraction, exponent = (np.moveaxis(one, axis, -1) for one in found)
    while True:
        fraction, exponent = _chunks(fraction, 1.0).prod(-1), _chunks(exponent, 0).sum(-1)
        fraction, more = parts(fraction)
        exponent = exponent + more
        if fraction.shape[-1] == 1:
            return np.moveaxis(fraction, -1, axis), np.moveaxis(exponent, -1, axis)


def products(found: Parts, axis: int) -> Parts:
    """The product up to each element of an axis."""
    fraction, exponent = (np.moveaxis(one, axis, -1) for one in found)
    size = fraction.shape[-1]
    fractions, exponents = _chunks(fraction, 1.0).cumprod(-1), _chunks(exponent, 0).cumsum(-1)
    if fractions.shape[-2] > 1:
        last, more = parts(fractions[..., -1])
        before = products((last, more + exponents[..., -1]), -1)
        fractions[..., 1:, :] *= before[0][..., :-1, None]
        exponents[..., 1:, :] += before[1][..., :-1, None]
    fraction = fractions.reshape(*fraction.shape[:-1], -1)[..., :size]
    fraction, more = parts(fraction)
    exponent = exponents.reshape(*exponent.shape[:-1], -1)[..., :size] + more
    return np.moveaxis(fraction, -1, axis), np.moveaxis(exponent, -1, axis)


def _chunks(a: Array, filling: float) -> Array:
    """The last axis as two: chunks, and the elements of each."""
    size = a.shape[-1]
    chunk = min(CHUNK, size)
    missing = -size % chunk
    if missing:
        a = np.concatenate([a, np.full((*a.shape[:-1], missing), filling, a.dtype)], -1)
    return a.reshape(*a.shape[:-1], -1, chunk)
