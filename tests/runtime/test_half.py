"""float16 conversion agrees with NumPy, and its implementations agree with each other, bit for bit."""

from itertools import product

import numpy as np
import pytest
from each import each_of

from dmlcy._runtime import half

HALVES = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
IS_NAN = (HALVES & 0x7FFF) > 0x7C00


def floats() -> np.ndarray:
    """Every float16 value, the ties between neighbours and their neighbours, all exponents, random bits."""
    exact = HALVES.view(np.float16).astype(np.float32)
    finite = np.sort(exact[np.isfinite(exact)])
    ties = (finite[1:] + finite[:-1]) / 2
    limits = np.array([65504, 65519.996, 65520, 65536, 1e38, np.inf, np.nan, 1e-45, 2**-25, 2**-24, 0], np.float32)
    exponents = (np.arange(1 << 12, dtype=np.uint32) << 20).view(np.float32)
    bits = np.random.default_rng(1).integers(0, 1 << 32, 1 << 20, dtype=np.uint32).view(np.float32)
    below, above = np.nextafter(ties, np.float32(-np.inf)), np.nextafter(ties, np.float32(np.inf))
    return np.concatenate([exact, ties, below, above, limits, -limits, exponents, bits])


def numpy_half(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return values.astype(np.float16).view(np.uint16)


@pytest.mark.parametrize("portable", [False, True])
def test_to_float(portable: bool) -> None:
    result = half.to_float(HALVES, portable)
    expected = HALVES.view(np.float16).astype(np.float32)
    assert np.array_equal(result.view(np.uint32)[~IS_NAN], expected.view(np.uint32)[~IS_NAN])
    assert np.isnan(result[IS_NAN]).all()


@pytest.mark.parametrize("portable", [False, True])
def test_to_half(portable: bool) -> None:
    values = floats()
    nan = np.isnan(values)
    result = half.to_half(values, portable=portable)
    assert np.array_equal(result[~nan], numpy_half(values)[~nan])
    assert ((result[nan] & 0x7FFF) > 0x7C00).all()


@pytest.mark.parametrize("portable", [False, True])
def test_nan_becomes_quiet_and_keeps_its_sign_and_upper_bits(portable: bool) -> None:
    nan = HALVES[IS_NAN].astype(np.uint32)
    expected = (nan & 0x8000) << 16 | 0x7F800000 | (nan & 0x3FF) << 13 | 0x400000
    assert np.array_equal(half.to_float(HALVES[IS_NAN], portable).view(np.uint32), expected)

    payloads = np.concatenate([np.arange(1, 1 << 13), np.arange(1 << 13, 1 << 23, 997), [(1 << 23) - 1]]).astype("u4")
    for sign in (0, 1 << 31):
        bits = payloads | 0x7F800000 | np.uint32(sign)
        result = half.to_half(bits.view(np.float32), portable=portable)
        assert np.array_equal(result, (bits >> 16 & 0x8000 | 0x7E00 | bits >> 13 & 0x3FF).astype(np.uint16))


@pytest.mark.parametrize("portable", [False, True])
def test_there_and_back_again(portable: bool) -> None:
    back = half.to_half(half.to_float(HALVES, portable), portable=portable)
    assert np.array_equal(back, np.where(IS_NAN, HALVES | 0x200, HALVES))


@pytest.mark.parametrize("portable", [False, True])
def test_ties_go_to_even(portable: bool) -> None:
    """Between every two neighbours of one sign, and between the largest one and the number after it."""
    lower = np.arange(0x7C00, dtype=np.uint16)
    exact = lower.view(np.float16).astype(np.float64)
    after = np.append(exact[1:], 65536.0)
    tie = ((exact + after) / 2).astype(np.float32)
    even = np.where(lower % 2 == 0, lower, lower + 1).astype(np.uint16)
    for sign, bit in ((1, 0), (-1, 0x8000)):
        results = [
            half.to_half(np.float32(sign) * values, portable=portable) & 0x7FFF
            for values in (tie, np.nextafter(tie, np.float32(0)), np.nextafter(tie, np.float32(np.inf)))
        ]
        assert all(
            np.array_equal(found, wanted) for found, wanted in zip(results, (even, lower, lower + 1), strict=True)
        )
        assert (half.to_half(np.float32(sign) * tie, portable=portable) & 0x8000 == bit).all()


@pytest.mark.slow
@pytest.mark.parametrize("portable", [False, True])
def test_every_float(portable: bool) -> None:
    for first in range(0, 1 << 32, 1 << 25):
        values = np.arange(first, first + (1 << 25), dtype=np.uint64).astype(np.uint32).view(np.float32)
        result, nan = half.to_half(values, portable=portable), np.isnan(values)
        assert np.array_equal(result[~nan], numpy_half(values)[~nan]), hex(first)
        assert ((result[nan] & 0x7FFF) > 0x7C00).all(), hex(first)


@each_of("step, size, portable", [*product((1, 2, 3, -1, -2), (0, 1, 7, 8, 9, 31), (False, True))])
def test_strides(step: int, size: int, portable: bool) -> None:
    source = HALVES[15000:15200][::step][:size]
    values = half.to_float(source, portable)
    assert np.array_equal(values, source.view(np.float16).astype(np.float32))

    memory = np.full(200, 0xABCD, np.uint16)
    target = memory[::step][:size]
    half.to_half(values, target, portable)
    assert np.array_equal(target, source)
    assert (memory == 0xABCD).sum() == 200 - size
