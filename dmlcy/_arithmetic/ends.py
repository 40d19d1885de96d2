"""The ends of the range of a result, made of those of its operands."""

from __future__ import annotations

import numpy as np

from dmlcy._types import Array, Number, Operation


def product(a: Number, b: Number) -> Number:
    """The product of two ends; 0 times an infinity is 0, for the other ends tell of the infinity."""
    return filled(np.multiply(a, b), a, b)


def quotient(a: Number, b: Number) -> Number:
    """The quotient of two ends."""
    return filled(np.true_divide(a, b), a, b)


def filled(found: Number, a: Number, b: Number) -> Number:
    """Ends, with 0 in place of NaN that the ends that they are made of do not have."""
    lost = np.isnan(found)
    return np.where(lost & ~(np.isnan(a) | np.isnan(b)), 0.0, found) if lost.any() else found


def of(function: Operation, a: Array, b: Array) -> tuple[Number, Number]:
    """The least and the greatest result of the ends of two ranges."""
    pairs = [(a["low"], b["low"])]
    if is_wide(a):
        pairs += [(a["high"], one) for _, one in pairs]
    if is_wide(b):
        pairs += [(one, b["high"]) for one, _ in pairs]
    found = [function(*pair) for pair in pairs]
    return (found[0], found[0]) if len(found) == 1 else (np.minimum.reduce(found), np.maximum.reduce(found))


def may_vanish(a: Array) -> Number:
    """Whether a range has 0."""
    return (a["low"] <= 0) & (a["high"] >= 0)


def may_overflow(a: Array) -> Number:
    """Whether a range has an infinity."""
    return np.isinf(a["low"]) | np.isinf(a["high"])


def unknown(where: Number, low: Number, high: Number) -> tuple[Number, Number]:
    """The ends of a range, all numbers where it is unknown: a device may have NaN."""
    return (np.where(where, -np.inf, low), np.where(where, np.inf, high)) if np.any(where) else (low, high)


def is_wide(a: Array) -> bool:
    """Whether a range has more than one number."""
    return not (a["low"] == a["high"]).all()


def stretches(factors: Array, most: float, least: float) -> tuple[Number, Number]:
    """Whether a product of some factors beside each other may be infinite, and whether one may be 0.

    Of those up to each one of the last axis: in some order, they are multiplied with each other first.
    """
    sizes = [np.abs(factors[end]) for end in ("low", "high")]
    above, below = np.log2(np.maximum(*sizes)), np.log2(np.minimum(*sizes))
    grown = _largest_stretch(np.where(np.isfinite(above), above, 0.0)) > np.log2(most)
    small = _largest_stretch(np.where(np.isfinite(below), -below, 0.0)) > -np.log2(least)
    infinite, zero = (np.logical_or.accumulate(one, -1) for one in (may_overflow(factors), may_vanish(factors)))
    return grown | infinite, small | zero


def _largest_stretch(a: Array) -> Array:
    """The largest sum of some numbers beside each other, of those up to each one of the last axis."""
    totals = np.cumsum(a, -1)
    before = np.concatenate([np.zeros((*a.shape[:-1], 1)), totals[..., :-1]], -1)
    found: Array = np.maximum.accumulate(totals - np.minimum.accumulate(before, -1), -1)
    return found


def errors_of(a: Number, b: Number) -> Number:
    """Products of errors; an infinite one makes the sum unknown, whatever it is multiplied with."""
    if np.isfinite(a).all() and np.isfinite(b).all():
        return np.matmul(a, b)
    found = np.matmul(np.where(np.isfinite(a), a, 0.0), np.where(np.isfinite(b), b, 0.0))
    unknown = np.matmul((~np.isfinite(a)).astype(float), np.ones(b.shape)) + np.matmul(
        np.ones(a.shape), (~np.isfinite(b)).astype(float)
    )
    return np.where(unknown > 0, np.inf, found)
