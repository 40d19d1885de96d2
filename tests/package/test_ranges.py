"""Numbers with ranges have what devices compute in FLOAT32, and not much more."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import SEED

import dmlcy as dml
from dmlcy._arithmetic import WIDE
from dmlcy._arithmetic.devices import CHAINED, Devices
from dmlcy._arithmetic.ranges import is_record, radius, unsure_of
from dmlcy._facts.tables import RUNNABLE
from dmlcy._families import family_of
from dmlcy._reference.device import device

M = Devices(4)
UNIT = 2.0**-23
LARGEST = float(np.finfo(np.float32).max)
Array = np.ndarray[Any, Any]


def drawn(*sizes: int, scale: float = 4.0) -> Array:
    return (np.random.default_rng(SEED).standard_normal(sizes) * scale).astype(np.float32)


def truncated(exact: Array) -> Array:
    """The numbers of FLOAT32 next to exact ones toward 0."""
    found = exact.astype(np.float32)
    larger = np.abs(found.astype(np.float64)) > np.abs(exact)
    return np.where(larger, np.nextafter(found, np.float32(0)), found)


def has(numbers: Any, values: Any) -> bool:
    """Whether the ranges have these values."""
    found = M.settled(numbers)
    values = np.asarray(values, np.float64)
    return bool(((found["low"] <= values) & (values <= found["high"])).all())


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_have_nearest_and_truncated_results(name: str) -> None:
    a, b = drawn(1000), drawn(1000)[::-1]
    found = getattr(M, name)(M.of(a), M.of(b))
    exact = OPERATIONS[name](a.astype(np.float64), b.astype(np.float64))
    assert has(found, exact.astype(np.float32)) and has(found, truncated(exact))
    assert (radius(found) <= 2 * UNIT * np.abs(exact)).all()


SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 0.7, 7, -7.5], np.float32)
PAIRS = np.stack(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
PLAIN = (0, 0.0, -0.0, 1, -1.0, 2.5, np.inf, np.nan)


def nominal(a: Any) -> Array:
    return np.asarray(a["value"] if is_record(a) else a, np.float64)


def differ(found: Any, expected: Any) -> bool:
    """Whether a number or the sign of a zero differs."""
    a, b = np.broadcast_arrays(nominal(found), np.asarray(expected, np.float64))
    same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    return not same.all()


@pytest.mark.parametrize(
    "name", [*OPERATIONS, "mod_floor", "mod_trunc", "minimum", "maximum", "less", "less_equal", "equal"]
)
def test_operations_keep_the_numbers_of_the_reference(name: str) -> None:
    of_devices, of_reference = getattr(M, name), getattr(WIDE, name)
    records, wide = [M.of(one) for one in PAIRS], [WIDE.of(one) for one in PAIRS]
    sums = M.sum(records[0][:, None], 1)[:, 0], WIDE.sum(wide[0][:, None], 1)[:, 0]
    with np.errstate(all="ignore"):
        assert not differ(of_devices(*records), of_reference(*wide))
        assert not differ(of_devices(sums[0], records[1]), of_reference(sums[1], wide[1]))
        for plain in PLAIN:
            assert not differ(of_devices(records[0], plain), of_reference(wide[0], plain)), plain
            assert not differ(of_devices(plain, records[1]), of_reference(plain, wide[1])), plain
            assert not differ(of_devices(sums[0], plain), of_reference(sums[1], plain)), plain


@pytest.mark.parametrize("name", ["sum", "product", "least", "greatest", "sums", "products"])
def test_functions_along_axes_keep_the_numbers_of_the_reference(name: str) -> None:
    for table in PAIRS.reshape(2, len(SPECIAL), -1):
        for axis in (0, 1):
            with np.errstate(all="ignore"):
                expected = getattr(WIDE, name)(WIDE.of(table), axis)
            assert not differ(getattr(M, name)(M.of(table), axis), expected)


def test_sums_of_whole_numbers_are_exact() -> None:
    """A step of a quantization that is added to its zero point stays the same step; large and broken numbers round."""
    found = M.add(M.of(np.array([7, -(2.0**21), 2.0**23, 0.5], np.float32)), M.of(np.array([3, 5, 5, 5], np.float32)))
    assert (radius(found) > 0).tolist() == [False, False, True, True]
    four = dml.TensorDesc("FLOAT32", (1, 1, 1, 4))
    steps = dml.TensorDesc("UINT8", (1, 1, 1, 4))
    desc = dml.desc.ElementWiseQuantizeLinear(input=four, scale=four, zero_point=steps, output=steps)
    x = np.array([0.25, 0.7, 1.33, 9], np.float32)  # in units of 0.1, the first one is beside a step
    arrays: dict[str, Array] = {
        "input": x,
        "scale": np.full(4, 0.1, np.float32),
        "zero_point": np.array([3, 0, 9, 1], np.uint8),
    }
    allowed = device(desc, {name: one.reshape(1, 1, 1, 4) for name, one in arrays.items()})
    assert allowed.worst.ravel().tolist() == [1, 0, 0, 0]


def test_a_sum_has_every_order_of_additions() -> None:
    a = drawn(4, 3000) + np.float32(4)
    found = M.sum(M.of(a), 1)
    serial = np.add.accumulate(a, 1, dtype=np.float32)[:, -1:]
    backwards = np.add.accumulate(a[:, ::-1], 1, dtype=np.float32)[:, -1:]
    cut = np.zeros((4, 1), np.float32)
    for k in range(a.shape[1]):
        cut = truncated(cut.astype(np.float64) + a[:, k : k + 1])
    assert has(found, serial) and has(found, backwards) and has(found, cut) and has(found, a.sum(1, keepdims=True))
    assert not has(found, cut - 20 * np.abs(a.astype(np.float64).sum(1, keepdims=True) - cut))


def test_parts_of_a_sum_are_one_sum() -> None:
    a = drawn(6, 500)
    whole = M.settled(M.sum(M.of(a), 1))
    parts = M.partial(M.of(np.zeros((6, 1))))
    for first in range(0, 500, 100):
        parts = M.add(parts, M.sum(M.of(a[:, first : first + 100]), 1))
    assert np.allclose(radius(M.settled(parts)), radius(whole), rtol=0.02)


def test_products_of_matrices_are_sums() -> None:
    a, b = drawn(5, 700), drawn(700, 3)
    found = M.matmul(M.of(a), M.of(b))
    serial = np.add.accumulate(a[:, None, :] * b.T[None], 2, dtype=np.float32)[..., -1]
    assert has(found, a @ b) and has(found, serial)
    assert np.array_equal(found["value"], WIDE.matmul(WIDE.of(a), WIDE.of(b)))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "sin", "cos", "log1p", "expm1", "sinh", "cosh", "atan"])
def test_functions_have_those_of_numpy_in_single_precision(name: str) -> None:
    x = np.abs(drawn(2000)) if name in ("log", "sqrt", "log1p") else drawn(2000)
    numpy_name = {"atan": "arctan"}.get(name, name)
    found = M.function(name, M.of(x))
    assert has(found, getattr(np, numpy_name)(x))
    assert (radius(found) < 0.01 * (1 + np.abs(found["value"]))).all()


def test_formulas_of_devices_lose_what_cancels() -> None:
    x = np.float32(1e-4) * drawn(100)
    assert has(M.function("expm1", M.of(x)), np.exp(x) - np.float32(1))
    assert has(M.function("log1p", M.of(np.abs(x))), np.log(np.float32(1) + np.abs(x)))


def test_a_step_within_a_range_has_both_sides() -> None:
    sums = M.sum(M.of(np.array([[2**24, 1.25, -(2.0**24)]], np.float32)), 1)
    found = M.function("floor", sums)
    assert has(found, 0.0) and has(found, 2.0) and not has(found, 50.0)
    positive = M.less(0.0, M.settled(M.sum(M.of(np.array([[2**24, 0.5, -(2.0**24)]], np.float32)), 1)))
    assert np.all(positive) and np.all(unsure_of(positive))
    assert has(M.where(positive, 7.0, 3.0), 7.0) and has(M.where(positive, 7.0, 3.0), 3.0)
    assert not np.any(unsure_of(M.less(M.of(np.ones(3, np.float32)), 2.0)))


def test_conditions_are_joined_with_what_is_unsure() -> None:
    unsure = M.less(0.0, M.sum(M.of(np.array([[2**24, 0.5, -(2.0**24)]], np.float32)), 1))
    assert np.any(unsure_of(M.both(unsure, True))) and not np.any(unsure_of(M.both(unsure, False)))
    assert np.any(unsure_of(M.either(unsure, False))) and not np.any(unsure_of(M.either(unsure, True)))
    assert np.any(unsure_of(M.negation(unsure)))


def test_overflow_and_infinities() -> None:
    huge = M.of(np.array([3e38, 3e38, -3e38], np.float32))
    total = M.settled(M.sum(huge[None], 1))
    assert total["low"][0, 0] == -np.inf and total["high"][0, 0] == np.inf  # an order of them is infinite
    product = M.multiply(huge, huge)
    assert product["high"][0] == np.inf and product["low"][0] <= LARGEST
    infinite = M.add(M.of(np.array([np.inf, -np.inf, np.nan], np.float32)), 1.0)
    assert infinite["low"][0] == infinite["high"][0] == np.inf and infinite["low"][1] == -np.inf
    assert np.isnan(infinite["low"][2]) and np.isnan(infinite["high"][2])
    sigmoid = M.divide(1.0, M.add(1.0, M.function("exp", M.of(np.array([200.0], np.float32)))))
    assert 0 <= sigmoid["low"][0] <= sigmoid["high"][0] < 1e-30


def may_be_anything(numbers: Any) -> bool:
    """Whether the ranges have all numbers: NaN passes too."""
    found = M.settled(numbers)
    return bool(np.all(np.isneginf(found["low"]) & np.isposinf(found["high"])))


def of(*numbers: float) -> Array:
    return M.of(np.array([numbers], np.float32))


def test_parts_of_a_sum_may_be_infinite() -> None:
    infinite, opposite = of(np.inf, -3e38, -3e38), of(3e38, 3e38, -3e38)
    assert may_be_anything(M.sum(infinite, 1)) and may_be_anything(M.matmul(infinite, of(1, 1, 1).T))
    assert may_be_anything(M.divide(M.sum(opposite, 1), 3)) and may_be_anything(M.multiply(M.sum(opposite, 1), 0.1))
    assert not may_be_anything(M.sum(of(np.inf, -1, -2), 1)) and not may_be_anything(M.divide(M.sum(of(1e38, 1), 1), 2))
    halves = np.full((1, 1000), 100, np.float16)
    found = [m.settled(m.divide(m.sum(m.of(halves), 1), 1000)) for m in (Devices(2), Devices(2, half=True))]
    assert np.isfinite(found[0]["high"]) and np.isposinf(found[1]["high"])


def test_what_an_infinity_makes_undefined() -> None:
    huge, zero, small = M.multiply(of(3e38), of(3e38)), of(0), M.multiply(of(1e-30), of(1e-20))
    assert may_be_anything(M.multiply(zero, huge)) and may_be_anything(M.multiply(huge, small))
    assert may_be_anything(M.divide(huge, huge)) and may_be_anything(M.divide(small, zero))
    assert not may_be_anything(M.multiply(of(2), huge)) and not may_be_anything(M.divide(of(1), huge))
    lost = M.multiply(zero, huge)
    assert may_be_anything(M.absolute(lost))
    for name in ("tanh", "exp", "erf", "sin", "sqrt", "floor"):
        assert may_be_anything(M.function(name, lost)), name
        assert not may_be_anything(M.function(name, of(2))), name
    assert may_be_anything(M.shortened(lost))


@pytest.mark.parametrize("number", [89.0, 700.0, 1e5])
def test_a_device_that_truncates_has_no_infinity_of_numbers(number: float) -> None:
    """Beyond FLOAT32, and beyond FLOAT64."""
    grows = M.function("exp", of(number))
    assert has(grows, LARGEST) and has(grows, np.inf) and not has(grows, LARGEST / 2)
    assert has(M.function("cosh", of(number)), LARGEST / 2) and has(M.function("sinh", of(-number)), -LARGEST / 2)
    assert has(M.function("pow", of(number), of(number)), LARGEST * (1 + UNIT))
    assert has(M.divide(1.0, M.add(1.0, grows)), 1 / LARGEST)


def test_what_is_infinite_of_itself_is_exact() -> None:
    for found in (M.function("exp", of(np.inf)), M.function("cosh", of(-np.inf)), M.function("pow", of(0), of(-1))):
        assert found["low"][0, 0] == found["high"][0, 0] == np.inf
    assert M.function("log", of(0))["high"][0, 0] == -np.inf


def test_the_square_of_a_number_may_be_infinite() -> None:
    """``asinh(x)`` is ``log(x + sqrt(x * x + 1))`` on a device."""
    found = M.function("asinh", of(1e20, -1e20))
    assert has(found, [[np.inf, -np.inf]]) and has(found, np.arcsinh([[1e20, -1e20]]).astype(np.float32))
    assert has(M.function("asinh", of(0)), 0) and radius(M.function("asinh", of(3, -3, 1e-3))).max() < 1e-5


@pytest.mark.parametrize("factors", [(1e30, 1e30, 1e-30, 1e-30), (1e-30, 1e-30, 1e30, 1e30)])
def test_parts_of_a_product_may_be_infinite_or_zero(factors: tuple[float, ...]) -> None:
    assert may_be_anything(M.product(of(*factors), 1)) and may_be_anything(M.products(of(*factors), 1)[:, 3:])
    assert not may_be_anything(M.products(of(*factors), 1)[:, :2])
    assert radius(M.product(of(*factors[1:3]), 1)) < 1e-6
    assert has(M.products(of(1e-30, 1e-30, 1e30), 1)[:, 2], 0.0)


def test_products_of_many_numbers() -> None:
    """More than FLOAT64 holds on the way, and a step for each doubling of their number."""
    halves = np.tile(np.array([2.0**100, 2.0**-100], np.float32), 1000)[None]
    grouped = np.sort(halves)
    with np.errstate(all="ignore"):
        assert not differ(M.product(M.of(grouped), 1), WIDE.product(WIDE.of(grouped), 1))
        assert not differ(M.products(M.of(grouped), 1), WIDE.products(WIDE.of(grouped), 1))
    assert may_be_anything(M.product(M.of(grouped), 1))
    random = M.products(M.of(drawn(1, 3000, scale=1.0)), 1)
    assert not np.isinf(random["low"]).any()

    class Counting(Devices):
        count = 0

        def multiply(self, a: Any, b: Any) -> Any:
            self.count += 1
            return super().multiply(a, b)

    counting = Counting(4)
    found = counting.products(counting.of(np.full((1, 3000), 1.0001, np.float32)), 1)
    assert counting.count <= 12 and (np.diff(radius(found)) > 0).all()
    assert has(found, np.multiply.accumulate(np.full((1, 3000), 1.0001, np.float32), 1))


def test_terms_below_the_normal_numbers_may_be_zero() -> None:
    terms = of(*[1e-20] * 5)
    products, factor = M.matmul(terms, terms.T), 1e20
    assert has(products, 0.0) and has(M.multiply(products, factor), 0.0)
    assert not has(M.matmul(terms, of(*[1e-15] * 5).T), 0.0)
    nothing = M.settled(M.matmul(of(0, 0), of(1, 1).T))
    assert nothing["low"] == nothing["high"] == 0


def test_results_below_the_normal_numbers_may_be_zero() -> None:
    small = M.multiply(M.of(np.array([2.0**-100], np.float32)), M.of(np.array([2.0**-30], np.float32)))
    assert has(small, 2.0**-130) and has(small, 0.0)


def test_halves_round_to_their_own_type_and_add_in_single() -> None:
    a = drawn(3, 2000).astype(np.float16)
    half, added = Devices(2), Devices(2, half=True)
    sums = [m.settled(m.sum(m.of(a), 1)) for m in (half, added)]
    assert (radius(sums[0]) * 50 < radius(sums[1])).all()
    stored = half.stored(half.of(a), np.dtype(np.float16), a.shape)
    assert not radius(stored).any()


def test_halves_are_rounded_before_something_is_added_to_a_sum() -> None:
    m = Devices(2)
    total = m.sum(m.of(np.array([[1000.0, 0.25]], np.float16)), 1)
    found = m.settled(m.add(m.kept(total), m.of(np.array([[-1000.0]], np.float16))))
    rounded = float(np.float16(1000.25)) - 1000
    assert found["low"][0, 0] <= rounded <= found["high"][0, 0]


def test_a_state_does_not_take_the_worst_signs_at_each_step() -> None:
    state, weight = M.of(drawn(1, 64, scale=0.3)), M.of(drawn(64, 64, scale=0.2))
    for _ in range(40):
        state = M.shortened(M.function("tanh", M.matmul(state, weight)))
    assert (radius(state) <= 1.001 * CHAINED * np.sqrt(state["variance"])).all()
    assert radius(state).max() < 0.05


def test_the_page_names_the_operators_that_keep_subnormal_operands() -> None:
    page = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")
    listed = page.partition("<!-- operators that keep subnormal operands -->")[2].partition("<!-- end")[0]

    class Use:
        def __init__(self, operator: Any) -> None:
            self.operator = operator

    kept = {name for name, one in RUNNABLE.items() if not family_of(one).flushes(Use(one))}  # type: ignore[arg-type]
    assert {*re.findall(r"`(\w+)`", listed)} == kept
