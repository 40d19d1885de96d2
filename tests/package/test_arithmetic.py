"""The numbers of the reference: arrays give what exact numbers give, and exact functions what mpmath gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from each import each_of

from codegen.expr.parse import REFERENCE
from codegen.expr.types import SPREAD
from dmlcy._arithmetic import EXACT, WIDE, Arithmetic, digits
from dmlcy._arithmetic.rounding import nearest

F4 = np.dtype(np.float32)
ONE = (
    "floor", "ceil", "trunc", "round_even", "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
)  # fmt: skip
TWO = ("add", "subtract", "multiply", "divide", "mod_floor", "mod_trunc", "minimum", "maximum", "pow", "atan2")
OF_INTEGERS = ("add", "subtract", "multiply", "floor_divide", "div_trunc", "mod_floor", "mod_trunc", "int_pow")
BITS = ("bit_and", "bit_or", "bit_xor", "shift_left", "shift_right")
ENDS = [0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 0.5, -0.5, 1.5, 2.5, 2**-149, 2.0**127, -3.0]


def of(m: Arithmetic, name: str) -> Callable[..., Any]:
    """A method, or a function."""
    return getattr(m, name, lambda *values: m.function(name, *values))


def same(found: Iterable[Any], message: str = "") -> None:
    """Both results are the same."""
    wide, exact = found
    np.testing.assert_array_equal(wide, exact, err_msg=message)


def floats(seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    drawn = random.standard_normal(30) * random.choice([1e-30, 1e-3, 1, 30, 1e10], 30)
    return random.permutation(np.array([*drawn, *ENDS], np.float32))


@each_of("name, count", [*((name, 1) for name in ONE), *((name, 2) for name in TWO)])
def test_arrays_give_what_exact_numbers_give(name: str, count: int) -> None:
    """After the one rounding, the signs of zeros included."""
    arrays = [floats(seed) for seed in range(count)]
    with np.errstate(all="ignore"):
        found = [m.stored(of(m, name)(*map(m.of, arrays)), F4, arrays[0].shape) for m in (WIDE, EXACT)]
    same(found)
    known = ~np.isnan(found[0])
    same(np.signbit(one[known]) for one in found)


@each_of("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_integers_are_exact(dtype: str) -> None:
    limits = np.iinfo(dtype)
    negative = [-1, -2, -7] if limits.min else []
    ends = np.array([0, 1, limits.max, limits.min, 5, 7, limits.max - 1, *negative], dtype)
    a, b = np.meshgrid(ends, ends)
    for name in (*OF_INTEGERS, *(BITS if limits.min == 0 else ())):
        found = [m.stored(of(m, name)(m.of(a), m.of(b)), a.dtype, a.shape) for m in (WIDE, EXACT)]
        same(found, f"{name} of {dtype}")


def test_integers_beyond_int64_beside_small_ones() -> None:
    """An attribute may be larger than all elements."""
    small, most = np.array([0, 5], np.uint64), 2**64 - 1
    for name in ("minimum", "maximum", "add", "subtract", "multiply"):
        for values in ([small, most], [most, small]):
            found = [
                m.stored(of(m, name)(*(m.of(x) if x is small else x for x in values)), np.dtype("u8"), (2,))
                for m in (WIDE, EXACT)
            ]
            same(found, name)
    test = np.array([True, False])
    assert np.asarray(WIDE.where(test, WIDE.of(small), most)).tolist() == [0, most]
    assert np.asarray(WIDE.where(test, most, WIDE.of(small))).tolist() == [most, 5]


def test_extremes_prefer_numbers_to_signalling_attributes() -> None:
    signalling = float(np.array(0x7FF4000000000000, np.uint64).view(np.float64))
    assert math.isnan(signalling)
    for name in ("minimum", "maximum"):
        assert [
            of(WIDE, name)(np.array([1.0, -0.0]), signalling).tolist(),
            of(WIDE, name)(signalling, np.array([2.0])).tolist(),
        ] == [[1, 0], [2]]


@each_of("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_floats_saturate(dtype: str) -> None:
    limits = np.iinfo(dtype)
    ends = [float(limits.min), float(limits.max), 0.9, -0.9, 1e30, -1e30, math.inf, -math.inf, math.nan, 200.7]
    found = [m.stored(m.of(np.array(ends)), np.dtype(dtype), (len(ends),)) for m in (WIDE, EXACT)]
    same(found)
    cut = [0 if x != x else limits.min if x <= limits.min else limits.max if x >= limits.max else int(x) for x in ends]
    assert found[0].tolist() == cut


def test_numbers_are_rounded_to_the_nearest() -> None:
    third = Fraction(1, 3)
    assert nearest(third, F4) == float(np.float32(1 / 3))
    assert nearest(Fraction(2**24 + 1), F4) == 2.0**24, "ties go to even"
    assert nearest(Fraction(2) ** 128, F4) == math.inf
    assert math.copysign(1, nearest(-Fraction(1, 2**200), F4)) == -1
    assert nearest(Fraction(65519), np.dtype(np.float16)) == 65504


def test_every_function_is_computed() -> None:
    """Also the functions of the language that an arithmetic has no method for."""
    methods = {"f32", "f64", "saturate", "negative", "div_trunc", "mod_trunc", "mod_floor", "bit_not"}
    of_conditions = {*SPREAD, "in_range"}  # tests/operators/test_unjudged.py has these
    assert {*ONE, *TWO, *OF_INTEGERS, *BITS, "bit_count"} >= {*REFERENCE} - methods - of_conditions


@each_of("name", [name for name in digits.FUNCTIONS if name != "atan2"])
def test_functions_have_forty_digits(name: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    random = Random(name)
    kinds: list[Callable[[], float]] = [lambda: random.uniform(-1, 1), lambda: random.uniform(-1e-30, 1e-30)]
    if name in ("asin", "acos", "atanh"):
        kinds.append(lambda: 1 - random.random() * 1e-12)
    else:
        kinds.append(lambda: random.uniform(-9, 9))
    if name in ("sin", "cos", "tan", "atan", "tanh", "asinh", "sqrt", "log"):
        kinds.append(lambda: random.uniform(-1e20, 1e20))
    if name in ("exp", "expm1", "sinh", "cosh"):
        kinds.append(lambda: random.uniform(-digits.LARGE, digits.LARGE))
    with mpmath.workdps(2000):
        for draw in kinds * 8:
            x = draw()
            x = abs(x) + 1e-300 if name in ("sqrt", "log") else 1 + abs(x) if name == "acosh" else x
            x = abs(x) if name == "log1p" and x <= -1 else x
            found = digits.value(name, Fraction(x))
            expected = getattr(mpmath, name)(mpmath.mpf(x))
            assert abs(mpmath.mpf(found.numerator) / found.denominator - expected) <= abs(expected) * 1e-40, (name, x)


ALONG = ("sum", "product", "least", "greatest")


@each_of(
    "name, dtype", [(name, dtype) for name in (*ALONG, "sums", "products") for dtype in ("f4", "i1", "i4", "i8", "u8")]
)
def test_along_axes(name: str, dtype: str) -> None:
    """Arrays give what exact numbers give, NaN and the signs of zeros included; float64 rounds a little."""
    random = np.random.default_rng(7)
    if dtype == "f4":
        a = random.permutation(np.resize(np.array([1, 2, -3, 0.5, 4, -0.25], dtype), 48)).reshape(4, 3, 4)
        a[0, 0], a[1, 0], a[2, 0, 1], a[3, 0, :2], a[3, 1, 2] = (
            -0.0,
            [0, -0.0, -0.0, 0],
            np.inf,
            [np.inf, -np.inf],
            np.nan,
        )
    else:
        limits = np.iinfo(dtype)
        a = random.choice(np.array([limits.min, limits.max, 0, 1, 3, 5], dtype), (4, 3, 4))
    for axes in (2,) if name.endswith("s") and name != "greatest" else (2, (0, 2)):
        with np.errstate(all="ignore"):
            found = [getattr(m, name)(m.of(a), axes) for m in (WIDE, EXACT)]
            stored = [m.stored(one, a.dtype, one.shape) for m, one in zip((WIDE, EXACT), found, strict=True)]
        same(stored)
        if dtype == "f4":
            known = ~np.isnan(stored[0])
            same(np.signbit(one[known]) for one in stored)


@each_of("dtype, size", [("f4", 3), ("f4", 1200), ("f2", 700), ("i8", 30), ("u8", 30), ("i8", 3)])
def test_long_products(dtype: str, size: int) -> None:
    """A product of all numbers is right, though products of some of them are beyond the range of float64."""
    random = np.random.default_rng(9)
    if dtype[0] == "f":
        limits = np.finfo(dtype)
        half = random.choice(np.array([limits.max / 2, -limits.max / 4, 3, 1], dtype), (2, size // 2))
        turned = np.float64(1) / half
        a = np.concatenate([half, turned.astype(dtype)], 1)
    else:
        a = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, size), dtype, True)
    for name, axes in (("product", 1), ("product", (0, 1)), ("products", 1), ("products", 0), ("sum", (0, 1))):
        with np.errstate(all="ignore"):
            found = [getattr(m, name)(m.of(a), axes) for m in (WIDE, EXACT)]
            stored = [m.stored(one, a.dtype, one.shape) for m, one in zip((WIDE, EXACT), found, strict=True)]
        same(stored, f"{name} along {axes}")


@each_of("dtype, bits", [("f2", 0x7C01), ("f2", 0xFCBD), ("f4", 0x7F800001), ("f8", 0x7FF0000000000001)])
def test_signalling_nan_is_a_quiet_one(dtype: str, bits: int) -> None:
    a = np.array([1, 2, 3], dtype)
    a.view(f"u{a.itemsize}")[1] = bits
    with np.errstate(all="ignore"):
        for m in (WIDE, EXACT):
            x = m.of(a)
            assert (m.least(x, 0)[0], m.greatest(x, 0)[0]) == (1, 3)
            assert [*m.maximum(x[:2], x[1:])] == [1, 3]
            assert [*m.function("pow", x, m.of(np.zeros(3, dtype)))] == [1, 1, 1]


@each_of("dtype", ["f4", "i1", "i4", "i8", "u8"])
def test_products_of_matrices(dtype: str) -> None:
    random = np.random.default_rng(8)
    ends = np.array([1, 2, -3, 0.5] if dtype == "f4" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 1, 3], dtype)
    a, b = (random.choice(ends, shape) for shape in ((2, 1, 3, 5), (3, 5, 4)))
    found = [m.stored(m.matmul(m.of(a), m.of(b)), a.dtype, (2, 3, 3, 4)) for m in (WIDE, EXACT)]
    same(found)


def test_large_integers_are_multiplied_by_their_bits() -> None:
    """Sums that float64 or int64 cannot hold, of numbers of 33 bits, and of some large and some small ones."""
    random = np.random.default_rng(9)
    for left, right in ((33, 33), (33, 2), (3, 40), (20, 60)):
        a, b = (random.integers(-(2**bits), 2**bits, sizes) for bits, sizes in ((left, (3, 50)), (right, (50, 4))))
        np.testing.assert_array_equal(WIDE.matmul(a, b), a.astype(object) @ b.astype(object))
        assert WIDE.matmul(a[:, :0], b[:0]).tolist() == [[0] * 4] * 3


def test_numbers_are_shortened() -> None:
    """Exact ones keep 70 digits, within the range of float64; others stay as they are."""
    for value in (Fraction(1, 3), Fraction(-(10**300), 7), Fraction(1, 3**400)):
        found = EXACT.shortened(value)
        assert 0 < abs(found / value - 1) < Fraction(1, 10**70)
        assert min(abs(found.numerator).bit_length(), found.denominator.bit_length()) <= 241
    ends = [Fraction(2**1024), -Fraction(10**400), Fraction(1, 10**500), Fraction(5, 8), Fraction(0), 7, -0.0]
    assert [EXACT.shortened(value) for value in ends] == [math.inf, -math.inf, 0, *ends[3:]]
    array = np.array([1.5, np.nan])
    np.testing.assert_array_equal(WIDE.shortened(array), array)
