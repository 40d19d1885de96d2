"""How far two arrays are apart, and whether every element is within its bound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from exchange import Array, bits_moved, cases, random_values
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._cli.compare_text import leaning
from dmlcy._facts.tables import DTYPES
from dmlcy._judge.differences import measure
from dmlcy._judge.histogram import Histogram
from dmlcy._judge.passes import Passes
from dmlcy._reference import ulp
from dmlcy._reference.device import SUSPECT


def ulps(values: Array, count: int) -> Passes:
    """So many units in the last place of each value pass."""
    return Passes(count * ulp.unit(np.nan_to_num(values), values.dtype))


EXACT = Passes(None)


@pytest.mark.parametrize("dtype", sorted(d.numpy for d in DTYPES.values() if d.numpy))
def test_exact_values_fail_at_one_step(dtype: str) -> None:
    values = random_values(3, (50,), dtype, "ordinary")
    moved = values.copy()
    moved[17:18] = bits_moved(values[17:18], 1)
    found = measure(values, moved, EXACT)
    assert (found.different, found.failing.count) == (1, 1) and found.verdict == "failed"
    assert found.worst is not None and (found.worst.at, found.worst.steps) == (17, 1)


def limits(values: Array, most: int, rng: np.random.Generator) -> Array:
    """Differences that pass, some of them of larger numbers; 0, infinite and NaN here and there."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = most * ulp.unit(np.nan_to_num(values.astype("f8")) * rng.choice([1, 1, 64], values.size), values.dtype)
    for value in (np.inf, np.nan, 0):
        found[rng.random(values.size) < 0.1] = value
    return np.asarray(found)


def distance(e: Any, a: Any) -> float:
    """How far two numbers are apart, where an infinity is the number after the largest one; infinite of one NaN."""
    if np.isnan(e) or np.isnan(a):
        return 0.0 if np.isnan(e) and np.isnan(a) else math.inf
    if e.dtype == np.float64 and (np.isinf(e) or np.isinf(a)):
        return float(ulp.difference(np.array([e]), np.array([a]))[0])
    after = float(np.ldexp(1.0, np.finfo(e.dtype).maxexp)) if e.dtype != np.float64 else 0.0
    numbers = [math.copysign(after, x) if np.isinf(x) else float(x) for x in (e, a)]
    return abs(numbers[0] - numbers[1])


@cases(80)
@given(st.sampled_from(["f2", "f4", "f8"]), st.integers(0, 999), st.integers(1, 9), st.data())
def test_measure_agrees_with_a_slow_count(dtype: str, seed: int, most: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    values = random_values(seed, (40,), dtype, data.draw(st.sampled_from(["ordinary", "any"])))
    actual = values.copy()
    for at in rng.integers(0, 40, 12):
        actual[at : at + 1] = bits_moved(values[at : at + 1], int(rng.integers(-3 * most, 3 * most + 1)))
    for at in rng.integers(0, 40, 3):
        actual[at] = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]).astype(dtype))
    allowed = limits(values, most, rng) if data.draw(st.booleans()) else None
    typical = None if allowed is None else allowed * rng.choice([0.1, 0.5, 3], 40)
    flushed = np.where(rng.random(40) < 0.3, actual, values), limits(values, 1, rng)
    other = flushed if data.draw(st.booleans()) else None
    marks = tuple((f"ID-{n}", rng.random(40) < 0.1) for n in range(data.draw(st.integers(0, 2))))
    standing = rng.random(40) < 0.8 if data.draw(st.booleans()) else None
    found = measure(values, actual, Passes(allowed, typical, other, marks, standing))
    failing, suspect, left, free, different, ratios = [], [], 0, 0, 0, []
    for at, (e, a) in enumerate(zip(values, actual, strict=True)):
        if standing is not None and not standing[at]:
            continue
        left += 1
        error = distance(e, a)
        different += error > 0
        limit = 0.0 if allowed is None else float(allowed[at])
        nan = np.isnan(e) != np.isnan(a)
        if any(mask[at] for _, mask in marks) or math.isnan(limit) or (math.isinf(limit) and not nan):
            free += 1
            continue
        limit = 0.0 if math.isinf(limit) else limit
        passes = error <= limit
        near = other is not None and (math.isnan(other[1][at]) or distance(other[0][at], a) <= other[1][at])
        passes |= near
        if not passes:
            failing.append(at)
        elif typical is not None and typical[at] < error <= limit and not (near and distance(e, flushed[0][at])):
            suspect += [] if np.isinf(a) else [at]  # an infinity that passes is an overflow
        if error:
            ratio = math.inf if limit == 0 or math.isinf(error) else error / limit
            ratios.append(ratio if at in failing else min(ratio, 1.0))
    assert (found.elements, found.left_out, found.unjudged, found.different) == (40, 40 - left, free, different)
    assert (found.failing.count, found.failing.first) == (len(failing), failing[:4])
    assert (found.suspect.count, found.suspect.first) == (len(suspect), suspect[:4])
    assert found.ratio == max(ratios, default=0.0) and (found.worst is None) == (not ratios)
    if found.worst is not None and (failing or suspect):
        assert found.worst.at in (failing or suspect)
    assert sum(one.count for one in found.histogram.bins()) == left - free
    for name, mask in marks:
        assert found.not_judged.get(name, 0) == (mask if standing is None else mask & standing).sum()


def test_large_arrays_are_taken_in_parts() -> None:
    values = np.random.default_rng(1).standard_normal(3_000_000).astype("f4")
    actual = values.copy()
    actual[2_500_000] = np.nextafter(values[2_500_000], np.float32(9))
    actual[12] = np.nextafter(np.nextafter(values[12], np.float32(9)), np.float32(9))
    found = measure(values, actual, EXACT)
    assert found.worst is not None and (found.worst.at, found.worst.steps) == (12, 2)
    assert (found.different, found.failing.count) == (2, 2)
    assert [one.count for one in found.histogram.bins()] == [2_999_998, 1, 1]


# Special values


def test_nan_zeros_and_infinities() -> None:
    e = np.array([np.nan, -np.nan, 0.0, np.inf, -np.inf], "f4")
    a = np.array([-np.nan, np.array([0x7FC12345], "u4").view("f4")[0], -0.0, np.inf, -np.inf], "f4")
    for passes in (EXACT, ulps(e, 3)):
        found = measure(e, a, passes)
        assert found.verdict == "passed" and (found.different, found.signs) == (0, 1) and found.worst is None
        assert [one.label for one in found.histogram.bins()] == ["0"]


@pytest.mark.parametrize("most", [0, 3], ids=["exact", "3 ulp"])
@pytest.mark.parametrize(("e", "a"), [(np.nan, 1), (1, np.nan), (np.nan, np.inf), (np.inf, -np.inf), (1, np.inf)])
def test_what_never_passes(most: int, e: float, a: float) -> None:
    expected = np.array([0, e], "f4")
    found = measure(expected, np.array([0, a], "f4"), ulps(expected, most) if most else EXACT)
    assert (found.different, found.failing.count) == (1, 1)
    assert found.worst is not None and found.worst.at == 1


def test_an_infinity_is_the_number_after_the_largest() -> None:
    largest = np.finfo("f2").max
    e, a = np.array([largest], "f2"), np.array([np.inf], "f2")
    assert measure(e, a, ulps(e, 1)).verdict == "passed"
    assert measure(a, e, ulps(a, 1)).verdict == "passed"
    assert measure(e, a, EXACT).verdict == "failed"
    found = measure(np.array([65000], "f2"), a, ulps(e, 1))
    assert found.verdict == "failed" and found.worst is not None and found.worst.distance == math.inf


def test_integers_of_64_bits() -> None:
    e, a = np.array([2**63 - 1, 5], "i8"), np.array([-(2**63), 5], "i8")
    found = measure(e, a, EXACT)
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


def test_an_output_of_which_no_element_is_judged_neither_passes_nor_fails() -> None:
    """The values do not matter: one bound is not finite, and other elements are marked."""
    expected = np.full(4, np.inf, "f4")
    nothing, marked = Passes(np.full(4, np.inf)), Passes(None, not_judged=(("ID", np.ones(4, bool)),))
    for passes in (nothing, marked):
        assert measure(expected, expected.copy(), passes).verdict == "not judged"
        found = measure(expected, np.array([1, -5, 0, 2], "f4"), passes)
        assert (found.different, found.unjudged, found.verdict) == (4, 4, "not judged")
    found = measure(expected, np.array([np.nan, np.inf, np.inf, np.inf], "f4"), nothing)
    assert (found.verdict, found.unjudged) == ("failed", 3)  # NaN in place of a number


def test_elements_that_are_left_out_pass_nothing() -> None:
    """An output is not judged if none of the elements that are left is."""
    values, left = np.arange(4, dtype="f4"), np.array([True, False, False, True])
    marks = (("ID", left | np.array([False, True, False, False])),)
    found = measure(values, values + 1, Passes(None, not_judged=marks, standing=left))
    assert (found.verdict, found.unjudged, found.left_out, found.different) == ("not judged", 2, 2, 2)
    assert found.not_judged == {"ID": 2}
    found = measure(values, values + 1, Passes(None, standing=np.zeros(4, bool)))
    assert (found.verdict, found.left_out, found.failing.count) == ("passed", 4, 0)


# Suspect results


def rough(count: int, deviation: float = 1.0) -> tuple[Array, Passes]:
    """Ones, of which up to a hundred typical deviations pass."""
    return np.ones(count, "f8"), Passes(np.full(count, 100 * deviation), np.full(count, SUSPECT * deviation))


def test_an_element_far_beyond_what_rounding_gives_is_suspect() -> None:
    values, passes = rough(9)
    for off, verdict in ((15.9, "passed"), (16.1, "suspect"), (99.9, "suspect"), (100.1, "failed")):
        actual = values.copy()
        actual[4] += off
        found = measure(values, actual, passes)
        assert found.verdict == verdict and found.suspect.count == (verdict == "suspect")
        assert found.worst is not None and found.worst.typical == SUSPECT


def test_the_suspect_element_is_the_worst_one() -> None:
    """Another one that is nearer to what passes is no matter of concern."""
    values, passes = rough(2)
    typical = np.array([90.0, 16.0])
    found = measure(values, values + np.array([80, 20]), Passes(passes.allowed, typical))
    assert found.worst is not None and (found.worst.at, found.ratio) == (1, 0.8)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("count", [100, 10_000, 3_000_000])
def test_a_result_that_is_shifted_by_a_little_everywhere_is_suspect(count: int, sign: int) -> None:
    """By so little that no element is suspect for itself; errors of both signs are not, however large."""
    values, passes = rough(count)
    limit = 1 + 15 / math.sqrt(count)
    assert measure(values, values + 0.99 * sign * limit, passes).verdict == "passed"
    found = measure(values, values + 1.01 * sign * limit, passes)
    assert (found.verdict, found.suspect.count) == ("suspect", 0)
    assert found.leaning == pytest.approx(1.01 * sign * limit)
    both = np.where(np.arange(count) % 2, 15.0, -15.0)
    assert measure(values, values + both, passes).leaning == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_result_that_is_too_large_in_size_everywhere_is_suspect(sign: int) -> None:
    """Of numbers of both signs, whose signed errors have the mean 0."""
    values, passes = rough(10_000)
    values *= np.where(np.arange(10_000) % 2, 1, -1)
    limit = 1 + 15 / math.sqrt(10_000)
    assert measure(values, values + 0.99 * sign * limit * np.sign(values), passes).verdict == "passed"
    found = measure(values, values + 1.01 * sign * limit * np.sign(values), passes)
    assert (found.verdict, found.suspect.count, found.leaning) == ("suspect", 0, 0)
    assert found.outward == pytest.approx(1.01 * sign * limit)
    assert leaning(found).startswith(f"the elements are {'farther from' if sign > 0 else 'nearer to'} 0 than expected")


def test_what_does_not_count_in_the_mean() -> None:
    """Elements that fail or are suspect, have another value that passes, are exact, not judged or left out."""
    values, passes = rough(100)
    assert passes.allowed is not None and passes.typical is not None
    actual = values.copy()
    actual[:50] += 1e6
    ahead = np.arange(100) < 50
    assert measure(values, actual, passes).leaning == 0
    found = measure(values, np.where(ahead, 50, values), passes)
    assert (found.suspect.count, found.leaning) == (50, 0)
    assert measure(values, actual, replace(passes, flushed=(actual, np.zeros(100)))).verdict == "passed"
    assert measure(values, actual, replace(passes, not_judged=(("ID", ahead),))).verdict == "passed"
    assert measure(values, actual, replace(passes, standing=~ahead)).verdict == "passed"
    free = replace(passes, allowed=np.where(ahead, np.nan, passes.allowed))
    assert measure(values, actual, free).verdict == "passed"
    exact = Passes(np.where(ahead, 0.0, passes.allowed), np.where(ahead, 0.0, passes.typical))
    assert measure(values, np.where(ahead, values, values + 5), exact).leaning == pytest.approx(5)


# Flushed operands


def test_the_result_for_0_in_place_of_subnormal_operands_passes_too() -> None:
    """Both values pass, each with what is off around it; one between them does not."""
    expected, flushed = np.array([2.0, 2.0, 2.0], "f4"), np.array([8.0, 8.0, 8.0], "f4")
    passes = Passes(np.full(3, 0.5), None, (flushed, np.full(3, 0.25)))
    for value, verdict in ((2.5, "passed"), (8.25, "passed"), (2.75, "failed"), (8.5, "failed"), (5.0, "failed")):
        assert measure(expected, np.array([2, value, 8], "f4"), passes).verdict == verdict
    exact = Passes(None, None, (flushed, np.zeros(3)))
    for value, verdict in ((2, "passed"), (8, "passed"), (np.nextafter(np.float32(8), np.float32(9)), "failed")):
        assert measure(expected, np.array([2, value, 8], "f4"), exact).verdict == verdict
    typical = Passes(np.full(3, 9.0), np.full(3, 1.0), (flushed, np.full(3, 0.25)))
    for value, verdict in ((7.5, "suspect"), (8.25, "passed"), (2.5, "passed"), (3.5, "suspect")):
        assert measure(expected, np.array([2, value, 2], "f4"), typical).verdict == verdict
    same = replace(typical, flushed=(expected, np.full(3, 9.0)))  # no operand of these is subnormal
    assert measure(expected, np.array([2, 3.5, 2], "f4"), same).verdict == "suspect"
    anything = Passes(None, None, (flushed, np.full(3, np.nan)))
    assert measure(expected, np.array([2, np.nan, 5], "f4"), anything).verdict == "passed"
