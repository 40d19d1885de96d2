"""The simulated devices compute as they say."""

from __future__ import annotations

import numpy as np
import pytest

from devices.arithmetic import (
    ROUNDED,
    SERIAL,
    SHORT,
    TO_NEAREST,
    TRUNCATING,
    Device,
    Numpy,
    can_truncate,
    toward_zero,
)  # fmt: skip
from devices.functions import LIBRARY, SHADER
from dmlcy._arithmetic import WIDE

ALMOST = 2.0**-24
"""A number that does not change 1 by one addition, and does by two."""
TINY = 1e-40
truncates = pytest.mark.skipif(not can_truncate(), reason="the rounding of this machine is not changed here")


def column(*numbers: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array(numbers, np.float32)


def test_the_order_of_sums() -> None:
    terms = column(1, ALMOST, ALMOST, ALMOST)
    assert SERIAL.sum(terms, 0) == 1
    assert Device(lanes=None).sum(terms, 0) == 1 + 2 * ALMOST
    assert Device(lanes=2).sum(terms, 0) == 1 + 2 * ALMOST
    assert SERIAL.sums(terms, 0).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("lanes", [1, 3, 16, None])
def test_sums_have_all_terms(lanes: int | None) -> None:
    random = np.random.default_rng(1)
    a, b = random.integers(-9, 9, (2, 5, 37)).astype(np.float32), random.integers(-9, 9, (37, 6)).astype(np.float32)
    device = Device(lanes=lanes)
    assert np.array_equal(device.matmul(a, b), np.matmul(a, b))
    assert np.array_equal(device.sum(a, (0, 2)), a.sum((0, 2), keepdims=True))
    assert np.array_equal(device.sums(a, 2), a.cumsum(2))
    assert np.array_equal(Numpy().sum(a, -1), a.sum(-1, keepdims=True))


def test_products_are_rounded_or_fused() -> None:
    small = 1 + 2.0**-12
    a, b = column(1 + 2.0**-11, small)[None], column(-1, small)[:, None]
    assert SERIAL.matmul(a, b) == 0 and Device(fused=True).matmul(a, b) == 2.0**-24


@truncates
def test_truncation() -> None:
    terms = column(1, *[ALMOST * 1.9] * 3)
    assert TRUNCATING.sum(terms, 0) == 1 and SERIAL.sum(terms, 0) > 1
    assert TRUNCATING.add(np.float32(1), np.float32(ALMOST * 1.9)) == 1
    assert TRUNCATING.subtract(np.float32(-1), np.float32(ALMOST)) == -1
    short = TRUNCATING.stored(column(1 + 2.0**-11 + 2.0**-12, -1 - 2.0**-10 * 0.9), np.dtype(np.float16), (2,))
    assert short.tolist() == [1, -1]


@truncates
def test_the_rounding_is_set_back() -> None:
    with pytest.raises(ZeroDivisionError), toward_zero():
        raise ZeroDivisionError
    assert np.add(np.float32(1), np.float32(ALMOST * 1.9)) > 1 and TO_NEAREST == 0


def test_denormal_numbers() -> None:
    device = Device(flushes=True)
    assert device.of(column(TINY, -TINY, 1)).tolist() == [0, 0, 1]
    assert np.signbit(device.of(column(-TINY)))
    assert device.multiply(np.float32(1e-20), np.float32(1e-20)) == 0
    assert SERIAL.multiply(np.float32(1e-20), np.float32(1e-20)) > 0


def test_halves() -> None:
    ones = np.ones(4096, np.float32)
    assert SHORT.sum(ones, 0) == 2048 and ROUNDED.sum(ones, 0) == 4096
    assert ROUNDED.multiply(np.float32(1.0001), np.float32(1)) == 1
    assert SERIAL.multiply(np.float32(1.0001), np.float32(1)) > 1


RANGES = {
    "sqrt": (0, 8), "log": (0.1, 8), "log1p": (-0.9, 8), "asin": (-1, 1), "acos": (-1, 1), "acosh": (1, 8),
    "atanh": (-0.9, 0.9), "tan": (-1, 1),
}  # fmt: skip
ROUGH = {"sin", "cos", "tan", "erf", "erfc"}


@pytest.mark.parametrize("name", SHADER)
def test_functions(name: str) -> None:
    """A part in a million, or of rough functions a thousandth."""
    x = np.linspace(*RANGES.get(name, (-4, 4)), 4001, dtype=np.float32)
    given = (x, np.float32(3)) if name in ("pow", "atan2") else (x,)
    exact = WIDE.function(name, *(np.asarray(one, np.float64) for one in given))
    for functions, error in ((LIBRARY, 1e-6), (SHADER, 3e-3 if name in ROUGH else 1e-4)):
        with np.errstate(all="ignore"):
            found = Device(functions=functions).function(name, *given)
        assert found.dtype == np.float32
        assert np.allclose(found, exact, error, error)
