"""``dmlcy compare``: elements of which the accuracy promises nothing, where a sum leaves its data type."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import EXAMPLES, Array, cases, command, compare, copied, dispatch, expect, manifest, one_output, whole
from hypothesis import assume, given
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._cli.example import model
from dmlcy._families.window_reduce.promises import unpromised, window_sums
from dmlcy.testing import expected

KINDS = {"f4": "FLOAT32", "f2": "FLOAT16"}


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
    """The exit status for these values of a device, and how many elements could not be judged."""
    np.array(values, dtype).tofile(folder / "device.bin")
    done, report = compare(folder / "expected" / "o.npy", folder / "device.bin")
    assert not done.err
    return done.status, report["outputs"][0]["differences"]["unjudged"]


def bounds(folder: Path) -> Array | None:
    accuracy: dict[str, Any] = manifest(folder / "expected")["outputs"][0]["accuracy"]
    assert accuracy["of"] == "result"
    return np.load(folder / "expected" / accuracy["tolerance"]).ravel() if "tolerance" in accuracy else None


@pytest.mark.parametrize(("value", "given_"), [(10.0, math.inf), (0.1, 0.0)], ids=["overflow", "underflow"])
def test_a_sum_of_powers_outside_the_accumulator_is_not_judged(tmp_path: Path, value: float, given_: float) -> None:
    norms(tmp_path, [[value, value], [1, 1], [1, 0]], 400)
    own = np.load(tmp_path / "expected" / "o.npy").ravel().tolist()
    assert own[0] == given_
    true = value * 2 ** (1 / 400)
    assert judge(tmp_path, own) == judge(tmp_path, [true, *own[1:]]) == (0, 1)
    assert judge(tmp_path, [true, own[1], 1.001]) == (1, 1)
    assert judge(tmp_path, [math.nan, *own[1:]]) == (1, 1)
    found = bounds(tmp_path)
    assert found is not None and np.isinf(found[0]) and (found[1:] == 2.0**-23).all()
    text = command("compare", tmp_path / "expected" / "o.npy", tmp_path / "device.bin").out.replace("\n    ", " ")
    assert "note: 1 element cannot be judged, for the accuracy promises nothing: the sum of the window" in text


def test_where_nothing_can_be_judged_other_values_neither_pass_nor_fail(tmp_path: Path) -> None:
    norms(tmp_path, [[10, 10]], 400)
    assert judge(tmp_path, [math.inf]) == (0, 1)
    assert judge(tmp_path, [math.nan]) == (1, 1)
    assert judge(tmp_path, [10.017]) == (0, 1)
    _, report = compare(tmp_path / "expected" / "o.npy", tmp_path / "device.bin")
    assert (report["passed"], report["outputs"][0]["status"]) == (False, "unjudged")
    text = command("compare", tmp_path / "expected" / "o.npy", tmp_path / "device.bin").out.replace("\n    ", " ")
    assert text.startswith("UNJUDGED  o.npy") and "0 passed, 0 failed, 1 unjudged" in text
    assert "note: values differ, but no element can be judged" in text


@pytest.mark.parametrize("p", [1, 2, 3, 8])
def test_ordinary_norms_are_all_judged(tmp_path: Path, p: int) -> None:
    norms(tmp_path, [[3, 4], [1e-3, 1e4], [0, 0], [math.inf, 1], [math.nan, 1]], p)
    assert bounds(tmp_path) is None


def test_sums_that_lost_digits_are_not_judged(tmp_path: Path) -> None:
    """0.1 to the 320th power is a subnormal number of float64; 0 alone adds nothing, and is exact."""
    norms(tmp_path, [[0.1, 0], [0.2, 0], [0, 0]], 320)
    found = bounds(tmp_path)
    assert found is not None and np.isinf(found).tolist() == [True, False, False]


def test_a_signalling_nan_of_the_input_warns_of_nothing() -> None:
    desc = dml.desc.LpPooling(input=dml.TensorDesc("FLOAT16", (1, 1, 1, 2)), window_size=(1, 2), p=400)
    x = np.array([[[[0x7D01, 0x4900]]]], np.uint16).view(np.float16)
    output = next(field for field in desc.operator.fields if field.python == "output")
    assert unpromised(desc, output, {"input": x}) is None


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_infinities_and_nan_of_the_input_are_judged(tmp_path: Path, value: float) -> None:
    norms(tmp_path, [[10, 10], [value, 10], [value, 0.1]], 400)
    own = np.load(tmp_path / "expected" / "o.npy").ravel().tolist()
    assert judge(tmp_path, own) == (0, 1)
    assert judge(tmp_path, [*own[:2], 7]) == judge(tmp_path, [own[0], 7, own[2]]) == (1, 1)


def test_half_norms_that_overflow_only_at_the_end_are_judged(tmp_path: Path) -> None:
    norms(tmp_path, [[65504, 65504], [6e-8, 6e-8]], 2, "f2")
    assert bounds(tmp_path) is None
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


@cases(100)
@given(descs(st.just(1)), st.integers(0, 999))
def test_window_sums_are_those_of_the_operator(desc: dml.desc.LpPooling1, seed: int) -> None:
    x = np.random.default_rng(seed).integers(0, 9, desc.input.sizes).astype("f4")
    result: Any = dml.compile(desc)(x)
    np.testing.assert_array_equal(window_sums(desc, x.astype("f8"), result.shape), result)


@cases(100)
@given(descs(st.sampled_from([1, 2, 7, 90, 300, 2**32 - 1])), st.integers(0, 999))
def test_the_definition_promises_nothing_of_the_same_elements(desc: dml.desc.LpPooling1, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.choice(np.array([0, 0.07, 0.1, 1, -8, 12, 3e38, 1e-45]), desc.input.sizes).astype("f4")
    units = expected(desc, {"input": x}).units
    assert units is not None
    output = next(field for field in desc.operator.fields if field.python == "output")
    found = unpromised(desc, output, {"input": x})
    wanted = np.equal(units, None)
    np.testing.assert_array_equal(np.zeros(units.shape, bool) if found is None else found, wanted)


def test_a_window_far_larger_than_its_input() -> None:
    desc = dml.desc.LpPooling1(
        input=dml.TensorDesc("FLOAT32", (1, 1, 1, 4)), window_size=(1, 2**32 - 1), start_padding=(0, 2**32 - 5), p=2
    )
    assert window_sums(desc, np.ones((1, 1, 1, 4)), desc.output.sizes).tolist() == [[[[4.0]]]]


# Sums of numbers


def test_elements_without_a_bound_are_not_judged(tmp_path: Path) -> None:
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    whole = model(operator, example)
    whole["resources"]["input"] = {"initialValues": {"sourcePath": "x.npy"}}
    x = np.ones((1, 1, 3, 3), "f4")
    x[0, 0, 0, :2] = np.finfo("f4").max, -np.finfo("f4").max
    np.save(tmp_path / "x.npy", x)
    expected = expect(tmp_path, whole)
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    values[0, 0, 0, 0] = np.inf
    np.save(actual / "output.npy", values)
    done, report = compare(expected, actual)
    assert done.status == 0
    found = one_output(report)["differences"]
    assert (found["unjudged"], found["different"]) == (1, 1)
    assert sum(one["count"] for one in found["histogram"]) == 3
    assert "note: 1 element cannot be judged" in command("compare", expected, actual).out
    values[0, 0, 0, 0] = np.nan
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == 1


@pytest.mark.parametrize(("signs", "status"), [((1, 1, 1, 1), 1), ((1, 1, -1, 1), 1), ((1, 1, -1, -1), 0)])
def test_a_nan_passes_where_sums_of_both_signs_may_overflow(
    tmp_path: Path, signs: tuple[int, ...], status: int
) -> None:
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    whole = model(operator, example)
    whole["resources"]["input"] = {"initialValues": {"sourcePath": "x.npy"}}
    x = np.ones((1, 1, 3, 3), "f4")
    x[0, 0, :2, :2] = np.array(signs, "f4").reshape(2, 2) * np.finfo("f4").max
    np.save(tmp_path / "x.npy", x)
    expected = expect(tmp_path, whole)
    values = np.load(expected / "output.npy")
    values[0, 0, 0, 0] = 7 if np.isnan(values[0, 0, 0, 0]) else np.nan
    actual = copied(expected, tmp_path / "actual")
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == status


def test_a_nan_of_the_input_is_judged_beside_numbers_that_overflow(tmp_path: Path) -> None:
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    whole = model(operator, example)
    whole["resources"]["input"] = {"initialValues": {"sourcePath": "x.npy"}}
    x = np.ones((1, 1, 3, 3), "f4")
    x[0, 0, 0, :2] = x[0, 0, 1, 0] = np.finfo("f4").max
    x[0, 0, 1, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    expected = expect(tmp_path, whole)
    values = np.load(expected / "output.npy")
    assert np.isnan(values[0, 0, 1, 1])
    actual = copied(expected, tmp_path / "actual")
    values[np.isnan(values)] = np.inf
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == 1


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_an_infinity_in_the_input_has_no_tolerance(tmp_path: Path, value: float) -> None:
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    whole = model(operator, example)
    whole["resources"]["input"] = {"initialValues": {"sourcePath": "x.npy"}}
    x = np.full((1, 1, 3, 3), np.finfo("f4").max / 8, "f4")
    x[0, 0, 0, 0] = value
    np.save(tmp_path / "x.npy", x)
    expected = expect(tmp_path, whole)
    tolerance = np.load(expected / "tolerance" / "output.npy")
    assert (tolerance == 0).tolist() == [[[[True, False], [False, False]]]]
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    values[0, 0, 0, 0] = np.finfo("f4").max
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == 1
