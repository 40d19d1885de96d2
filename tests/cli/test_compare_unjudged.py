"""``dmlcy compare``: elements that are not judged: a sum leaves its data type, or nobody promises their values."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import (
    EXAMPLES,
    Array,
    cases,
    command,
    compare,
    copied,
    dispatch,
    expect,
    manifest,
    one_output,
    unjudged,
    unwrapped,
    whole,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from old_manifests import aged

import dmlcy as dml
from dmlcy._cli.example import model
from dmlcy._judge.passes import judged
from dmlcy.testing import expected as expected_of

KINDS = {"f4": "FLOAT32", "f2": "FLOAT16"}
DOUBLE = "LP_POOLING-accumulates-in-double"
OVERFLOW = "AVERAGE_POOLING-sum-overflows"


def norms(folder: Path, rows: list[list[float]], p: int, dtype: str = "f4") -> Path:
    """The expected values of a model that gives the norm of each row."""
    x = np.array([[rows]], dtype)
    folder.mkdir(exist_ok=True)
    np.save(folder / "x.npy", x)
    desc = dml.desc.LpPooling(
        input=dml.TensorDesc(KINDS[dtype], x.shape), window_size=(1, x.shape[3]), strides=(1, 1), p=p
    )
    zeros = {"initialValuesDataType": KINDS[dtype], "initialValues": {"valueCount": len(rows), "value": 0}}
    resources = {"x": {"initialValues": {"sourcePath": "x.npy"}}, "o": zeros}
    return expect(folder, whole(resources, {"norm": desc.to_dict()}, dispatch("norm", "x", "o")))


def judge(folder: Path, values: list[float], dtype: str = "f4") -> tuple[int, int]:
    """The exit status for these values of a device, and how many elements are not judged."""
    np.array(values, dtype).tofile(folder / "device.bin")
    done, report = compare(folder / "expected" / "o.npy", folder / "device.bin")
    return done.status, report["outputs"][0]["differences"]["not_judged"]


def left_out(folder: Path) -> list[bool]:
    """The elements that are not judged."""
    found: list[bool] = unjudged(folder / "expected", manifest(folder / "expected")["outputs"][0]).ravel().tolist()
    return found


def text_of(folder: Path) -> list[str]:
    return unwrapped(command("compare", folder / "expected" / "o.npy", folder / "device.bin").out)


@pytest.mark.parametrize(("value", "given_"), [(10.0, math.inf), (0.1, 0.0)], ids=["overflow", "underflow"])
def test_a_sum_of_powers_outside_the_accumulator_is_not_judged(tmp_path: Path, value: float, given_: float) -> None:
    norms(tmp_path, [[value, value], [1, 1], [1, 0]], 400)
    own = np.load(tmp_path / "expected" / "o.npy").ravel().tolist()
    assert own[0] == given_
    true = value * 2 ** (1 / 400)
    for first in (own[0], true, 7, math.nan):
        assert judge(tmp_path, [first, *own[1:]]) == (0, 1)
    assert f"note: not judged: 1 element, {DOUBLE}" in text_of(tmp_path)
    assert text_of(tmp_path)[-1] == "1 output: 1 passed, 0 failed; 1 element not judged"
    assert judge(tmp_path, [true, own[1], 1.001]) == (1, 1)


def test_an_output_without_a_judged_element_neither_passes_nor_fails(tmp_path: Path) -> None:
    norms(tmp_path, [[10, 10]], 400)
    for value in (math.inf, math.nan, 10.017):
        assert judge(tmp_path, [value]) == (0, 1)
        _, report = compare(tmp_path / "expected" / "o.npy", tmp_path / "device.bin")
        assert (report["passed"], report["outputs"][0]["status"]) == (False, "not judged")
        assert report["outputs"][0]["differences"]["not_judged_by"] == {DOUBLE: 1}
    lines = text_of(tmp_path)
    assert lines[0].startswith("not judged  o.npy")
    assert lines[-1] == "1 output: 0 passed, 0 failed, 1 not judged; 1 element not judged"
    assert "note: no element can be judged: nothing tells whether the output is right" in lines
    strict = command("compare", tmp_path / "expected" / "o.npy", tmp_path / "device.bin", "--strict")
    assert strict.status == 1 and unwrapped(strict.out) == lines


@pytest.mark.parametrize("p", [1, 2, 3, 8])
def test_ordinary_norms_are_all_judged(tmp_path: Path, p: int) -> None:
    norms(tmp_path, [[3, 4], [1e-3, 1e4], [0, 0], [math.inf, 1], [math.nan, 1]], p)
    assert not any(left_out(tmp_path))


def test_sums_that_lost_digits_are_not_judged(tmp_path: Path) -> None:
    """0.1 to the 320th power is a subnormal number of float64; 0 alone adds nothing, and is exact."""
    norms(tmp_path, [[0.1, 0], [1.1, 0], [0, 0]], 320)
    assert left_out(tmp_path) == [True, False, False]


def test_a_signalling_nan_of_the_input_warns_of_nothing() -> None:
    desc = dml.desc.LpPooling(input=dml.TensorDesc("FLOAT16", (1, 1, 1, 2)), window_size=(1, 2), p=400)
    x = np.array([[[[0x7D01, 0x4900]]]], np.uint16).view(np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, passes = judged(desc, {"input": x}, "output")
    assert np.isnan(values).all() and not passes.not_judged


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_infinities_and_nan_of_the_input_are_judged(tmp_path: Path, value: float) -> None:
    norms(tmp_path, [[10, 10], [value, 10], [value, 0.1]], 400)
    own = np.load(tmp_path / "expected" / "o.npy").ravel().tolist()
    assert judge(tmp_path, own) == (0, 1)
    assert judge(tmp_path, [*own[:2], 7]) == judge(tmp_path, [own[0], 7, own[2]]) == (1, 1)


def test_half_norms_that_overflow_only_at_the_end_are_judged(tmp_path: Path) -> None:
    norms(tmp_path, [[65504, 65504], [6e-8, 6e-8]], 2, "f2")
    assert not any(left_out(tmp_path))
    assert judge(tmp_path, [math.inf, 5.96e-8], "f2")[0] == 0
    assert judge(tmp_path, [100, 5.96e-8], "f2")[0] == 1


@st.composite
def descs(draw: st.DrawFn, powers: st.SearchStrategy[int]) -> dml.desc.LpPooling1:
    spatial = draw(st.sampled_from([2, 3]))

    def numbers(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=spatial, max_size=spatial))

    desc = dml.desc.LpPooling1(
        input=dml.TensorDesc("FLOAT32", (1, draw(st.integers(1, 2)), *numbers(1, 6))),
        window_size=numbers(1, 5), strides=numbers(1, 4), dilations=numbers(1, 3),
        start_padding=numbers(0, 5), end_padding=numbers(0, 5), p=draw(powers),
    )  # fmt: skip
    assume(not dml.check(desc))
    return desc


@cases(60)
@given(descs(st.sampled_from([1, 2, 7, 90, 300, 2**32 - 1])), st.integers(0, 999))
def test_what_dmlcy_does_not_promise_of_itself_is_not_judged(desc: dml.desc.LpPooling1, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.choice(np.array([0, 0.07, 0.1, 1, -8, 12, 3e38, 1e-45]), desc.input.sizes).astype("f4")
    units = expected_of(desc, {"input": x}).units
    _, passes = judged(desc, {"input": x}, "output")
    free = np.zeros(desc.output.sizes, bool) if passes.allowed is None else np.isnan(passes.allowed)
    for _, marks in passes.not_judged:
        free |= marks
    nothing: Any = None
    assert units is not None and free[np.equal(units, nothing)].all()


# Sums of numbers


def averages(tmp_path: Path, x: Array) -> Path:
    """The expected values of averages of 2 x 2 elements."""
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    whole = model(operator, example)
    whole["resources"]["input"] = {"initialValues": {"sourcePath": "x.npy"}}
    np.save(tmp_path / "x.npy", x)
    return expect(tmp_path, whole)


def test_elements_without_a_bound_are_not_judged(tmp_path: Path) -> None:
    x = np.ones((1, 1, 3, 3), "f4")
    x[0, 0, 0, :2] = np.finfo("f4").max, -np.finfo("f4").max
    expected = averages(tmp_path, x)
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    for value in (np.inf, np.nan, 7):
        values[0, 0, 0, 0] = value
        np.save(actual / "output.npy", values)
        done, report = compare(expected, actual)
        assert done.status == 0
        found = one_output(report)["differences"]
        assert found["not_judged"] == 2 and found["different"] == 1
        assert sum(one["count"] for one in found["histogram"]) == 2
        assert f"note: not judged: 2 elements, {OVERFLOW}" in unwrapped(command("compare", expected, actual).out)


def test_the_bound_may_be_infinite_without_an_interpretation(tmp_path: Path) -> None:
    """A product of sums may be infinite on a device: the report says why, with no id."""
    row = dml.TensorDesc("FLOAT32", (1, 1, 1, 2))
    desc = dml.desc.Gemm(
        a=row, b=row, trans_b="TRANSPOSE", alpha=1.0, beta=0.0, output=dml.TensorDesc("FLOAT32", (1, 1, 1, 1))
    )
    a = {"initialValuesDataType": "FLOAT32", "initialValues": [3e38, 3e38]}
    b = {"initialValuesDataType": "FLOAT32", "initialValues": [1, -1]}
    zero = {"initialValuesDataType": "FLOAT32", "initialValues": [0]}
    bindings = {"ATensor": "a", "BTensor": "b", "OutputTensor": "o"}
    one = {"type": "dispatch", "dispatchable": "g", "bindings": bindings}
    expected = expect(tmp_path, whole({"a": a, "b": b, "o": zero}, {"g": desc.to_dict()}, one))
    actual = copied(expected, tmp_path / "actual")
    np.save(actual / "o.npy", np.full((1, 1, 1, 1), np.inf, "f4"))
    done, report = compare(expected, actual)
    assert done.status == 0 and one_output(report)["status"] == "not judged"
    text = unwrapped(command("compare", expected, actual).out)
    assert "note: not judged: 1 element, because a sum or a step may exceed the range of its data type" in text


def test_a_nan_of_the_input_is_judged_beside_numbers_that_overflow(tmp_path: Path) -> None:
    x = np.ones((1, 1, 3, 3), "f4")
    x[0, 0, 0, :2] = x[0, 0, 1, 0] = np.finfo("f4").max
    x[0, 0, 1, 1] = np.nan
    expected = averages(tmp_path, x)
    values = np.load(expected / "output.npy")
    assert np.isnan(values).all()
    actual = copied(expected, tmp_path / "actual")
    np.save(actual / "output.npy", np.full_like(values, np.inf))
    done, report = compare(expected, actual)
    assert done.status == 1 and one_output(report)["differences"]["exceeding"] == 4


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_an_infinity_in_the_input_allows_no_difference(tmp_path: Path, value: float) -> None:
    x = np.full((1, 1, 3, 3), np.finfo("f4").max / 8, "f4")
    x[0, 0, 0, 0] = value
    expected = averages(tmp_path, x)
    allowed = np.load(expected / "allowed" / "output.npy")
    assert (allowed == 0).tolist() == [[[[True, False], [False, False]]]]
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    values[0, 0, 0, 0] = np.finfo("f4").max
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == 1


# Version 2 of the manifest: an infinite bound lets any number pass, and NaN lets NaN pass, too


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize(
    ("bound", "values"),
    [(math.inf, {7: 0, math.inf: 0, math.nan: 1}), (math.nan, {7: 0, math.inf: 0, math.nan: 0})],
    ids=["infinite", "NaN"],
)
def test_elements_of_version_2_without_a_bound(
    tmp_path: Path, bound: float, values: dict[float, int], pack: bool
) -> None:
    norms(tmp_path, [[3, 4], [6, 8]], 2)
    aged(tmp_path / "expected", allowed=pack)
    file = tmp_path / "expected" / ("allowed" if pack else "tolerance") / "o.npy"
    numbers = np.load(file)
    numbers.flat[0] = bound
    np.save(file, numbers)
    for value, status in values.items():
        assert judge(tmp_path, [value, 10]) == (status, 1 - status)
    assert judge(tmp_path, [7, 10.1]) == (1, 1)
    reason = "for which dmlcy promises no accuracy"
    assert f"note: not judged: 1 element, {reason}" in text_of(tmp_path)
    numbers[...] = bound
    np.save(file, numbers)
    judge(tmp_path, [7, 10.1])
    assert text_of(tmp_path)[-1] == "1 output: 0 passed, 0 failed, 1 not judged; 2 elements not judged"


def bound_lines(folder: Path, *options: Any) -> list[str]:
    """The lines of the report about the bounds of values that pass."""
    text = command("compare", folder / "expected" / "o.npy", folder / "device.bin", *options).out
    return [line for line in unwrapped(text) if line.startswith(("a difference passes", "differences of up to"))]


def test_the_report_says_by_which_rules_it_judges(tmp_path: Path) -> None:
    norms(tmp_path, [[3, 4], [6, 8]], 2)
    judge(tmp_path, [5, 10])
    assert bound_lines(tmp_path) == ["a difference passes if a correct device may have it"]
    given_ = ("--ulp", "3", "--atol", "0.5")
    instead = "differences of up to --ulp 3 and --atol 0.5 pass, in place of the differences of a correct device"
    assert bound_lines(tmp_path, *given_) == [instead]
    aged(tmp_path / "expected")
    rules = "by the rules of version 2 of the manifest"
    assert bound_lines(tmp_path) == [f"differences of up to 2 ulp pass: 2 times the accuracy of dmlcy, {rules}"]
    assert bound_lines(tmp_path, *given_) == [instead]
    aged(tmp_path / "expected", allowed=True)
    assert bound_lines(tmp_path) == [f"a difference passes if the accuracy of dmlcy allows it, {rules}"]
