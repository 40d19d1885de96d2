"""How far two arrays are apart, and whether every element is within its bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exchange import (
    bits_moved,
    cases,
    random_values,
)
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._facts.tables import DTYPES
from dmlcy._judge.differences import measure
from dmlcy._judge.histogram import Histogram
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import Bound


@pytest.mark.parametrize("dtype", sorted(d.numpy for d in DTYPES.values() if d.numpy))
def test_exact_values_fail_at_one_step(dtype: str) -> None:
    values = random_values(3, (50,), dtype, "ordinary")
    moved = values.copy()
    moved[17:18] = bits_moved(values[17:18], 1)
    found = measure(values, moved, None)
    assert (found.different, found.exceeding) == (1, 1) and found.verdict == "failed"
    assert found.worst is not None and (found.worst.at, found.worst.steps) == (17, 1)


@cases(60)
@given(
    st.sampled_from(["f2", "f4", "f8"]),
    st.integers(0, 999),
    st.integers(1, 9),
    st.sampled_from(["result", "magnitudes"]),
    st.data(),
)
def test_measure_agrees_with_a_slow_count(dtype: str, seed: int, bound: int, of: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    values = random_values(seed, (40,), dtype, data.draw(st.sampled_from(["ordinary", "any"])))
    actual = values.copy()
    for at in rng.integers(0, 40, 12):
        actual[at : at + 1] = bits_moved(values[at : at + 1], int(rng.integers(-3 * bound, 3 * bound + 1)))
    for at in rng.integers(0, 40, 3):
        actual[at] = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]).astype(dtype))
    tolerance = None
    if of == "magnitudes":
        with np.errstate(over="ignore", invalid="ignore"):
            magnitudes = np.nan_to_num(values.astype("f8")) * rng.choice([1, 1, 64], 40)
        tolerance = bound * ulp.unit(magnitudes, values.dtype)
        tolerance[rng.random(40) < 0.1] = np.inf
        tolerance[rng.random(40) < 0.1] = np.nan
        tolerance[rng.random(40) < 0.1] = 0
    found = measure(values, actual, Bound(bound, "bound", of), tolerance)
    rows, unbounded, outside = [], 0, 0
    for at, (e, a) in enumerate(zip(values, actual, strict=True)):
        limit = 2 * (bound * float(ulp.unit(np.nan_to_num(e), e.dtype)) if tolerance is None else float(tolerance[at]))
        if math.isnan(limit):
            unbounded += 1
            outside += int(not (e == a or (np.isnan(e) and np.isnan(a))))
            continue
        if math.isinf(limit):
            unbounded += 1
            if np.isnan(e) != np.isnan(a):
                rows.append((at, math.inf, 0.0, math.inf))
            elif not np.isnan(e):
                outside += int(e != a)
            continue
        if (np.isnan(e) and np.isnan(a)) or e == a:
            rows.append((at, 0.0, limit, 0.0))
            continue
        error = math.inf
        if not np.isnan(e) and not np.isnan(a):
            top = 2.0 ** int(np.finfo(dtype).maxexp - 1) * 2 if dtype != "f8" else None
            if top is None and (np.isinf(e) or np.isinf(a)):
                error = float(ulp.difference(np.array([e]), np.array([a]))[0])
            else:
                numbers = [math.copysign(top or 0, x) if np.isinf(x) else float(x) for x in (e, a)]
                error = abs(numbers[0] - numbers[1])
        rows.append((at, error, limit, math.inf if limit == 0 or math.isinf(error) else error / limit))
    assert found.elements == 40 and found.unjudged == unbounded
    assert found.different == outside + sum(error > 0 for _, error, _, _ in rows)
    assert found.exceeding == sum(error > limit for _, error, limit, _ in rows)
    worst = max(rows, key=lambda row: (row[3], row[1]), default=(0, 0.0, 0.0, 0.0))
    assert (found.worst is None) == (worst[1] == 0)
    if found.worst is not None:
        assert (found.worst.ratio, found.worst.error) == (worst[3], worst[1])
    assert sum(one.count for one in found.histogram.bins()) == len(rows)


def test_large_arrays_are_taken_in_parts() -> None:
    values = np.random.default_rng(1).standard_normal(3_000_000).astype("f4")
    actual = values.copy()
    actual[2_500_000] = np.nextafter(values[2_500_000], np.float32(9))
    actual[12] = np.nextafter(np.nextafter(values[12], np.float32(9)), np.float32(9))
    found = measure(values, actual, None)
    assert found.worst is not None and (found.worst.at, found.worst.steps) == (12, 2)
    assert (found.different, found.exceeding) == (2, 2)
    assert [one.count for one in found.histogram.bins()] == [2_999_998, 1, 1]


# Special values


def test_nan_zeros_and_infinities() -> None:
    e = np.array([np.nan, -np.nan, 0.0, np.inf, -np.inf], "f4")
    a = np.array([-np.nan, np.array([0x7FC12345], "u4").view("f4")[0], -0.0, np.inf, -np.inf], "f4")
    for bound in (None, Bound(3, "3", "result")):
        found = measure(e, a, bound)
        assert found.verdict == "passed" and (found.different, found.signs) == (0, 1) and found.worst is None
        assert [one.label for one in found.histogram.bins()] == ["0"]


@pytest.mark.parametrize("bound", [None, Bound(3, "3", "result")], ids=["exact", "3 ulp"])
@pytest.mark.parametrize(("e", "a"), [(np.nan, 1), (1, np.nan), (np.nan, np.inf), (np.inf, -np.inf), (1, np.inf)])
def test_what_never_passes(bound: Bound | None, e: float, a: float) -> None:
    found = measure(np.array([0, e], "f4"), np.array([0, a], "f4"), bound)
    assert (found.different, found.exceeding) == (1, 1)
    assert found.worst is not None and found.worst.at == 1


def test_an_infinity_is_the_number_after_the_largest() -> None:
    largest = np.finfo("f2").max
    e, a = np.array([largest], "f2"), np.array([np.inf], "f2")
    assert measure(e, a, Bound(1, "1", "result")).verdict == "passed"
    assert measure(a, e, Bound(1, "1", "result")).verdict == "passed"
    assert measure(e, a, None).verdict == "failed"
    found = measure(np.array([65000], "f2"), a, Bound(1, "1", "result"))
    assert found.verdict == "failed" and found.worst is not None and found.worst.distance == math.inf


def test_integers_of_64_bits() -> None:
    e, a = np.array([2**63 - 1, 5], "i8"), np.array([-(2**63), 5], "i8")
    found = measure(e, a, None)
    assert found.worst is not None and found.worst.distance == 2**64 - 1
    assert [(one.label, one.count) for one in found.histogram.bins()][-1] == (f"{2**63 + 1}-{2**64 - 1}", 1)


def test_bins() -> None:
    histogram = Histogram()
    histogram.add(np.array([1, 2, 3, 4, 5, 8, 9, 16, 17, 2**63, 2**64 - 1], np.uint64), 2)
    histogram.add_zeros(80)
    histogram.add(np.array([], np.uint64), infinities=3)
    found = [(one.label, one.count) for one in histogram.bins()]
    assert found == [
        ("0", 80), ("1", 1), ("2", 1), ("3-4", 2), ("5-8", 2), ("9-16", 2), ("17-32", 1),
        (f"{2**62 + 1}-{2**63}", 1), (f"{2**63 + 1}-{2**64 - 1}", 1), ("infinite", 3), ("NaN", 2),
    ]  # fmt: skip
    lines = list(histogram.lines())
    assert lines[0].endswith("  80  " + "#" * 40) and lines[1].endswith("   1  #")
    assert all(line.isascii() for line in lines)
    assert list(Histogram().lines()) == []


def test_values_that_differ_neither_pass_nor_fail_where_nothing_can_be_judged() -> None:
    expected, bound = np.full(4, np.inf, "f4"), Bound(4, "4", "magnitudes")
    nothing = np.full(4, np.inf)
    assert measure(expected, expected.copy(), bound, nothing).verdict == "passed"
    found = measure(expected, np.array([1, -5, 0, 2], "f4"), bound, nothing)
    assert (found.different, found.unjudged, found.verdict) == (4, 4, "unjudged")
