"""``dmlcy compare``: what passes, what fails and how it is shown, and every way in which files can be wrong."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import (
    EXAMPLES,
    IDS,
    Array,
    Case,
    bits_moved,
    cases,
    command,
    compare,
    expect,
    grid,
    manifest,
    models,
    pooling,
    random_values,
    reference,
    write_file,
    write_model,
)
from hypothesis import assume, given
from hypothesis import strategies as st

import dmlcy as dml
from dmlcy._cli.example import model
from dmlcy._model import accuracy, ulp
from dmlcy._model.accuracy import SIDES, Bound
from dmlcy._model.differences import measure
from dmlcy._model.histogram import Histogram
from dmlcy._spec import Example, Operator
from dmlcy._tables import DTYPES

Factory = pytest.TempPathFactory


def copied(expected: Path, to: Path) -> Path:
    """A folder of actual values that are the expected ones."""
    shutil.copytree(expected, to)
    (to / "manifest.json").unlink()
    return to


def one_output(report: dict[str, Any]) -> dict[str, Any]:
    (output,) = report["outputs"]
    return dict(output)


def output_of(report: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """What the report says of an output of the manifest, where all others passed."""
    (output,) = (one for one in report["outputs"] if one["resource"] == stated["resource"])
    assert all(one["status"] == "passed" for one in report["outputs"] if one is not output)
    return dict(output)


def allowed_errors(expected: Path, output: dict[str, Any], values: Array) -> Array:
    """What may be off by ``dmlcy compare``'s own documents, computed here: twice the bound, per element."""
    if output["accuracy"] == "exact":
        return np.zeros(values.shape)
    if "tolerance" in output["accuracy"]:
        return 2 * np.asarray(np.load(expected / output["accuracy"]["tolerance"]))
    return 2 * output["accuracy"]["ulp"] * ulp.unit(values, values.dtype)


# What passes


@pytest.mark.parametrize(("operator", "example"), EXAMPLES, ids=IDS)
def test_the_examples_agree_with_themselves(operator: Operator, example: Example, tmp_path: Path) -> None:
    expected = expect(tmp_path, model(operator, example))
    done, report = compare(expected, expected)
    assert done.status == 0
    assert report["warnings"][0]["id"] == "DML-MODEL-actual-same" and len(done.err.splitlines()) == 1
    assert len(report["outputs"]) == len(example.outputs)
    for output in report["outputs"]:
        assert output["status"] == "passed" and output["problem"] is None and output["window"] is None
        found = output["differences"]
        assert (found["different"], found["exceeding"], found["worst"]) == (0, 0, None)
        assert found["histogram"] == [{"first": 0, "last": 0, "count": found["elements"]}]
        assert output["bounds_that_pass"] == SIDES == 2


@cases(60)
@given(models(), st.sampled_from(["copy", "flat", "bin", "dat", "buffer", "buffer.bin", "one"]))
def test_every_form_of_the_same_values_passes(tmp_path_factory: Factory, case: Case, form: str) -> None:
    folder = tmp_path_factory.mktemp("case")
    name, *others = case.outputs
    expected = case.expect(folder)
    targets = [write_file(name, target) for target in ("written.npy", "written.bin")]
    writing = write_model(folder, case.whole | {"commands": case.whole["commands"] + targets}, "writing.json")
    assert command("run", writing, "--output-path", folder / "device").status == 0
    values = np.load(expected / f"{name}.npy")
    actual = folder / "actual"
    actual.mkdir()
    for other in others:
        shutil.copy(expected / f"{other}.npy", actual)
    if form == "copy":
        np.save(actual / f"{name}.npy", np.asfortranarray(values))
    elif form == "flat":
        np.save(actual / f"{name}.npy", values.ravel())
        buffer = manifest(expected)["outputs"][0]["buffer"]
        assume(values.nbytes != buffer["size_in_bytes"] or "Strides" not in json.dumps(case.whole))
    elif form in ("bin", "dat"):
        (actual / f"{name}.{form}").write_bytes(values.tobytes())
        buffer = manifest(expected)["outputs"][0]["buffer"]
        assume(values.nbytes not in (buffer["size_in_bytes"], -(-buffer["size_in_bytes"] // 4) * 4)
               or "Strides" not in json.dumps(case.whole))  # fmt: skip
    elif form == "buffer":  # as DxDispatch writes the resource
        shutil.copy(folder / "device" / "written.npy", actual / f"{name}.npy")
    elif form == "buffer.bin":
        shutil.copy(folder / "device" / "written.bin", actual / f"{name}.bin")
    else:
        actual = folder / "device" / "written.npy"
    done, report = compare(expected / f"{name}.npy" if form == "one" else expected, actual)
    assert done.status == 0, done.err + str(report)
    assert output_of(report, manifest(expected)["outputs"][0])["differences"]["different"] == 0


@cases(80)
@given(models(kinds=("ordinary",)), st.data())
def test_one_element_off(tmp_path_factory: Factory, case: Case, data: st.DataObject) -> None:
    """Just within twice the bound passes, one step beyond fails, and the element is named."""
    folder = tmp_path_factory.mktemp("case")
    expected = case.expect(folder)
    stated = data.draw(st.sampled_from(manifest(expected)["outputs"]))
    values = np.load(expected / stated["file"])
    allowed = allowed_errors(expected, stated, values)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in values.shape)
    sign = data.draw(st.sampled_from([1, -1]))
    before = values[at]
    assume(np.isfinite(float(before)))
    assume(values.dtype.kind == "f" or np.iinfo(values.dtype).min < before < np.iinfo(values.dtype).max)
    limit = allowed[at]
    largest = before
    if limit:
        with np.errstate(over="ignore"):
            target = np.asarray(float(before) + sign * limit).astype(values.dtype)
        assume(np.isfinite(target))
        largest = target[()]
        while abs(float(largest) - float(before)) > limit:
            largest = bits_moved(largest, -sign)[()]
    beyond = bits_moved(largest, sign)[()]
    while abs(float(beyond) - float(before)) <= limit and beyond != largest and limit:
        largest, beyond = beyond, bits_moved(beyond, sign)[()]
    assume(np.isfinite(float(beyond)))
    actual = copied(expected, folder / "actual")

    def judged(value: Any) -> tuple[int, dict[str, Any]]:
        changed = values.copy()
        changed[at] = value
        np.save(actual / stated["file"], changed)
        done, report = compare(expected, actual)
        assert not done.err
        return done.status, output_of(report, stated)

    status, output = judged(largest)
    assert status == 0 and output["differences"]["exceeding"] == 0
    assert output["differences"]["different"] == int(largest != before)
    status, output = judged(beyond)
    assert status == 1 and output["status"] == "failed"
    found = output["differences"]
    assert found["exceeding"] == found["different"] == 1
    worst = found["worst"]
    assert tuple(worst["index"]) == at and worst["allowed"] == limit
    assert worst["expected"]["value"] == before.item() and worst["actual"]["value"] == beyond.item()
    pattern = np.asarray(beyond).reshape(1).view(f"u{values.itemsize}")[0]
    assert int(worst["actual"]["bits"], 16) == pattern
    assert np.asarray(worst["actual"]["text"], values.dtype) == beyond
    assert worst["ulp"] == int(ulp.steps(np.asarray([before]), np.asarray([beyond]))[0])
    assert worst["error"] == pytest.approx(abs(beyond.item() - before.item()), rel=1e-15)
    assert sum(one["count"] for one in found["histogram"]) == values.size
    if output["accuracy"] == "exact":
        assert found["histogram"][-1] == {"first": 1, "last": 1, "count": 1}


@pytest.mark.parametrize("dtype", sorted(d.numpy for d in DTYPES.values() if d.numpy))
def test_exact_values_fail_at_one_step(dtype: str) -> None:
    values = random_values(3, (50,), dtype, "ordinary")
    moved = values.copy()
    moved[17:18] = bits_moved(values[17:18], 1)
    found = measure(values, moved, None)
    assert (found.different, found.exceeding) == (1, 1) and not found.passed
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
        assert found.passed and (found.different, found.signs) == (0, 1) and found.worst is None
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
    assert measure(e, a, Bound(1, "1", "result")).passed
    assert measure(a, e, Bound(1, "1", "result")).passed
    assert not measure(e, a, None).passed
    found = measure(np.array([65000], "f2"), a, Bound(1, "1", "result"))
    assert not found.passed and found.worst is not None and found.worst.distance == math.inf


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


# The window


def shown_elements(window: dict[str, Any]) -> dict[tuple[int, ...], Any]:
    """Value by position in the input; None in the padding."""
    found = {}
    for plane in window["planes"]:
        for row, values in zip(plane["rows"] or [None], plane["values"], strict=True):
            for column, value in zip(plane["columns"], values, strict=True):
                position = (*plane["at"], *(() if row is None else (row,)), column)
                found[position] = value
    return found


@cases(60)
@given(models(only_windows=True, kinds=("ordinary",)), st.data())
def test_the_window_is_what_the_element_depends_on(tmp_path_factory: Factory, case: Case, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("case")
    expected = case.expect(folder)
    stated = manifest(expected)["outputs"][0]
    values = np.load(expected / stated["file"])
    at = tuple(data.draw(st.integers(0, size - 1)) for size in values.shape)
    actual = copied(expected, folder / "actual")
    changed = values.copy()
    changed[at] = 99 if values.dtype.kind != "f" or values[at] != 77 else 77
    assume(changed[at] != values[at])
    assume(values.dtype.kind != "f" or abs(float(changed[at]) - float(values[at])) > 1)
    np.save(actual / stated["file"], changed)
    done, report = compare(expected, actual)
    window = output_of(report, stated)["window"]
    assert done.status == 1 and window["whole"]
    (x,) = case.inputs.values()
    shown = shown_elements(window)
    assert min(shown) == tuple(window["start"])
    assert len(shown) == math.prod(window["sizes"])
    inside = {position for position in shown if all(0 <= p < size for p, size in zip(position, x.shape, strict=True))}
    for position, value in shown.items():
        assert value == (x[position].item() if position in inside else None)
    # Which elements of the input the element of the output, or for a copy its whole column, depends on.
    compiled = dml.compile(dml.desc.OperatorDesc.from_dict(stated["operator"]))

    def operator(given: Array) -> Array:
        """The first output."""
        found: Any = compiled(given)
        return found[0] if isinstance(found, tuple) else found

    assert case.operator.window is not None
    copies = case.operator.window.blocks is not None
    depends, blank = set(), operator(np.zeros(x.shape, x.dtype))[at]
    for position in grid(x.shape):
        marked = np.zeros(x.shape, x.dtype)
        marked[position] = 1
        result = operator(marked)
        touched = result[at]
        if copies and position[len(x.shape) - len(window["sizes"]) - 1] == window["start"][-len(window["sizes"]) - 1]:
            rows = math.prod(window["sizes"])
            first = at[-2] // rows * rows
            touched = result[(*at[:-2], slice(first, first + rows), at[-1])].max()
        if touched != blank:
            depends.add(position)
        if copies and result[at] != 0:
            assert tuple(window["source"]) == position
    assert depends == inside
    if copies and not operator(np.ones(x.shape, x.dtype))[at]:
        assert window["source"] is None


def unfolded(tmp_path: Path, window: list[int], sizes: list[int], at: tuple[int, ...], **attributes: Any) -> Any:
    """The window shown for a failing element of UNFOLD, and the text."""
    count = len(window)
    x = np.arange(math.prod(sizes), dtype=np.int32).reshape(sizes)
    np.save(tmp_path / "x.npy", x)
    ones, none = [1] * count, [0] * count
    output = dml.TensorDesc("INT32", attributes.pop("output")) if "output" in attributes else None
    given_ = {"strides": ones, "dilations": ones, "start_padding": none, "end_padding": none, **attributes}
    desc = dml.desc.Unfold(input=dml.TensorDesc("INT32", sizes), output=output, window_sizes=window, **given_)
    elements = math.prod(desc.output.sizes)
    whole = {
        "resources": {
            "x": {"initialValues": {"sourcePath": "x.npy"}},
            "out": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": elements, "value": 0}},
        },
        "dispatchables": {"u": desc.to_dict()},
        "commands": [
            {"type": "dispatch", "dispatchable": "u", "bindings": {"InputTensor": "x", "OutputTensor": "out"}}
        ],
    }
    expected = expect(tmp_path, whole)
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "out.npy")
    values[at] -= 1
    np.save(actual / "out.npy", values)
    _, report = compare(expected, actual)
    return one_output(report)["window"], command("compare", expected, actual).out


def test_a_large_window_is_shown_in_part(tmp_path: Path) -> None:
    window, text = unfolded(tmp_path, [20, 30], [1, 1, 22, 33], (0, 12 * 30 + 29, 0))
    assert not window["whole"] and "20 x 30 elements, in part:" in text
    (plane,) = window["planes"]
    assert plane["rows"] == list(range(8, 16)) and plane["columns"] == list(range(22, 30))
    assert window["source"] == [0, 0, 12, 29] and "the element is a copy of [0, 0, 12, 29]" in text
    assert plane["values"][4][7] == 12 * 33 + 29


def test_a_window_of_three_axes_is_shown_in_planes(tmp_path: Path) -> None:
    window, text = unfolded(tmp_path, [2, 2, 2], [1, 2, 3, 3, 3], (0, 8 + 5, 0), start_padding=[0, 1, 0])
    assert [plane["at"] for plane in window["planes"]] == [[0, 1, 1]]
    assert "  at [0, 1, 1]:\n" in text
    assert window["planes"][0]["values"][0] == [None, None] and "pad" in text
    assert window["source"] is None and "the element is padding" in text


def test_a_window_of_one_axis_is_shown_in_a_row(tmp_path: Path) -> None:
    window, text = unfolded(tmp_path, [3], [1, 2, 9], (0, 4, 2), dilations=[2])
    assert window["planes"] == [{"at": [0, 1], "rows": [], "columns": [2, 4, 6], "values": [[11, 13, 15]]}]
    assert "3 elements, dilations 2:" in text and "       2   4   6\n      11  13  15\n" in text


def test_leading_ones_of_the_output(tmp_path: Path) -> None:
    window, _ = unfolded(tmp_path, [2, 2], [3, 2, 4, 4], (0, 2, 4 + 3, 5), output=(1, 3, 8, 9))
    assert (window["start"], window["source"]) == ([2, 1, 1, 2], [2, 1, 2, 3])


def test_without_the_input_there_is_a_warning(tmp_path: Path) -> None:
    unfolded(tmp_path, [2], [1, 1, 4], (0, 0, 0))
    shutil.rmtree(tmp_path / "expected" / "inputs")
    done, report = compare(tmp_path / "expected", tmp_path / "actual")
    assert done.status == 1 and "warning: " in done.err and "[DML-MODEL-source]" in done.err
    assert one_output(report)["window"] is None and len(report["warnings"]) == 1


# The text


def test_the_text(tmp_path: Path) -> None:
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    expected = expect(tmp_path, model(operator, example))
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    values[0, 0, 1, 0] = 6.5
    np.save(actual / "output.npy", values.ravel())
    done = command("compare", expected, actual)
    assert (done.status, done.err) == (1, "")
    assert done.out == (
        'FAILED  output.npy, OutputTensor of "average_pooling" (AVERAGE_POOLING), FLOAT32 1 x 1 x 2 x 2\n'
        "  elements: 4, different: 1, by more than passes: 1\n"
        "  differences of up to 10 ulp pass: twice the bound of 5 ulp, since both values may be off\n"
        "  counted in ulp of the result for the absolute values of the inputs\n"
        "  the bound is prod(window_size) // max(1, min(window_size)) + max(window_size) + 1\n"
        "  worst element [0, 0, 1, 0]: expected 6.0 (0x40C00000), actual 6.5 (0x40D00000)\n"
        "  difference: 0.5, that is 1048576 ulp, 1048576 ulp of the result itself; up to 4.76837158203125e-06\n"
        "    passes here\n"
        "  window of InputTensor from [0, 0, 1, 0], 2 x 2 elements:\n"
        "           0    1\n"
        "      1  4.0  5.0\n"
        "      2  7.0  8.0\n"
        "  differences in ulp, and how many:\n"
        "                 0  3  ########################################\n"
        "    524289-1048576  1  #############\n"
        "\n"
        "1 output: 0 passed, 1 failed\n"
    )


def test_notes(tmp_path: Path) -> None:
    """Zeros of another sign, subnormal numbers that became 0, and inputs that were computed."""
    tiny = float(np.finfo("f4").smallest_subnormal)
    one = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 1, 1]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "BlockSize": 2,
        "Order": "DEPTH_COLUMN_ROW",
    }
    data = {"initialValuesDataType": "FLOAT32", "initialValues": [-0.0, tiny, 1, 2]}
    two = {"InputTensor": one["OutputTensor"], "OutputTensor": one["OutputTensor"], "PaddingMode": "EDGE",
           "PaddingValueDataType": "FLOAT32", "PaddingValue": 0, "DimensionCount": 4, "StartPadding": [0] * 4,
           "EndPadding": [0] * 4}  # fmt: skip
    whole = {
        "resources": {"x": data, "y": {**data, "initialValues": [0] * 4}, "z": {**data, "initialValues": [0] * 4}},
        "dispatchables": {
            "d\x1b[2J": {"type": "DEPTH_TO_SPACE1", "desc": one},
            "p": {"type": "PADDING1", "desc": two},
        },
        "commands": [
            {"type": "dispatch", "dispatchable": "d\x1b[2J", "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
            {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensor": "y", "OutputTensor": "z"}},
        ],
    }
    expected = expect(tmp_path, whole)
    actual = copied(expected, tmp_path / "actual")
    np.save(actual / "z.npy", np.array([[[[0, 0], [1, 2]]]], "f4"))
    _, report = compare(expected, actual)
    assert [one["status"] for one in report["outputs"]] == ["passed", "failed"]
    found = report["outputs"][1]["differences"]
    assert (found["signs_of_zero"], found["flushed_to_zero"], found["exceeding"]) == (1, 1, 1)
    text = command("compare", expected, actual).out
    assert "note: 1 failing element should be subnormal, not 0: " in text
    assert "note: 1 zero of another sign, which passes\n" in text
    note = 'note: InputTensor was written by "d\\x1b[2J": the bound is that of the last operator alone, for inputs'
    assert f"{note} without error" in unwrapped(text)
    assert text.endswith("2 outputs: 1 passed, 1 failed\n")


@cases(40)
@given(
    st.sampled_from(["FLOAT32", "FLOAT16"]),
    st.integers(0, 999),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.sampled_from(["ordinary", "any", "cancelling"]),
    st.booleans(),
)
def test_a_device_that_conforms_passes(
    tmp_path_factory: Factory, dtype: str, seed: int, window: tuple[int, int], kind: str, include: bool
) -> None:
    """Averages summed in double precision and rounded once, which no spec forbids."""
    folder = tmp_path_factory.mktemp("case")
    x = random_values(seed, (1, 2, 5, 6), dtype.lower(), "any" if kind == "any" else "ordinary")
    if kind == "cancelling":
        x = (x + np.random.default_rng(seed).choice([4096, -4096], x.shape)).astype(x.dtype)
    np.save(folder / "x.npy", x)
    attributes: dict[str, Any] = {
        "window_size": window, "strides": (1, 1), "start_padding": (1, 0), "end_padding": (0, 2),
        "include_padding": include,
    }  # fmt: skip
    expected = expect(folder, pooling(x, **attributes))
    with np.errstate(over="ignore"):
        result = reference.average_pooling(x, **attributes).mean().astype(x.dtype)
    result.tofile(folder / "output.bin")
    done, report = compare(expected, folder / "output.bin")
    assert done.status == 0, report


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


def test_values_that_differ_do_not_pass_where_nothing_can_be_judged() -> None:
    expected, bound = np.full(4, np.inf, "f4"), Bound(4, "4", "magnitudes")
    nothing = np.full(4, np.inf)
    assert measure(expected, expected.copy(), bound, nothing).passed
    found = measure(expected, np.array([1, -5, 0, 2], "f4"), bound, nothing)
    assert (found.different, found.unjudged, found.passed) == (4, 4, False)


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


# What is wrong with files


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Expected values of an average and of a copy, and actual ones that pass."""
    chosen = {operator.name: model(operator, operator.examples[0]) for operator, _ in EXAMPLES}
    first, second = chosen["AVERAGE_POOLING"], chosen["UNFOLD"]
    for command_ in second["commands"]:
        for key, name in command_.get("bindings", {"": ""}).items():
            command_.setdefault("bindings", {})[key] = f"u{name}"
    whole = {
        "resources": {**first["resources"], **{f"u{name}": value for name, value in second["resources"].items()}},
        "dispatchables": {**first["dispatchables"], **second["dispatchables"]},
        "commands": [first["commands"][0], second["commands"][0]],
    }
    expected = expect(tmp_path, whole)
    return expected, copied(expected, tmp_path / "actual")


def problem(pair: tuple[Path, Path], status: int, identifier: str) -> str:
    """The report has the problem once, of the actual file, and goes on with the other output."""
    done, report = compare(*pair)
    assert (done.status, done.err) == (status, "")
    statuses = [one["status"] for one in report["outputs"]]
    assert statuses == ["failed" if status == 1 else "unreadable", "passed"]
    found = report["outputs"][0]["problem"]
    assert found["id"] == identifier and "output." in found["message"] and "manifest" not in found["message"]
    text = command("compare", *pair).out
    (line,) = [part for part in unwrapped(text) if part.startswith("not compared: ")]
    assert line == f"not compared: {found['message']} [{identifier}]" and text.count(identifier) == 1
    (path,) = [part.removeprefix("actual: ") for part in unwrapped(text) if part.startswith("actual: ")]
    assert Path(path) == (pair[1] if "missing" in identifier else Path(report["outputs"][0]["actual"]))
    return str(found["message"])


def unwrapped(text: str) -> list[str]:
    """The lines of a report, each with those that continue it."""
    assert all(len(line) <= 100 or len(line.split()) < 4 or "/" in line for line in text.splitlines()), text
    return re.sub(r"\n {4}(?=\S)", " ", text).replace("\n  ", "\n").splitlines()


def test_a_missing_file(pair: tuple[Path, Path]) -> None:
    (pair[1] / "output.npy").unlink()
    error = problem(pair, 1, "DML-MODEL-actual-missing")
    assert error.endswith('there is no "output.npy", "output.bin" or "output.dat".')


@pytest.mark.parametrize("dtype", ["f8", "f2", "i4", "u4", bool, object, "U3", "M8[s]", [("a", "f4")]])
def test_another_data_type(pair: tuple[Path, Path], dtype: Any) -> None:
    np.save(pair[1] / "output.npy", np.zeros((1, 1, 2, 2), dtype), allow_pickle=True)
    problem(pair, 1, "DML-MODEL-npy-type")


@pytest.mark.parametrize("shape", [(3,), (5,), (2, 2, 1), (4, 1), (0,), (), (1, 1, 2, 3), (2, 1, 2, 1, 1, 2)], ids=str)
def test_other_sizes(pair: tuple[Path, Path], shape: tuple[int, ...]) -> None:
    if shape == (2, 2, 1):  # ones do not matter
        np.save(pair[1] / "output.npy", np.load(pair[0] / "output.npy").reshape(shape))
        assert compare(*pair)[0].status == 0
        return
    np.save(pair[1] / "output.npy", np.zeros(shape, "f4"))
    problem(pair, 1, "DML-MODEL-npy-sizes")


@pytest.mark.parametrize("size", [0, 15, 17, 20, 1000])
def test_a_raw_file_of_another_size(pair: tuple[Path, Path], size: int) -> None:
    (pair[1] / "output.npy").unlink()
    (pair[1] / "output.bin").write_bytes(bytes(size))
    assert "bytes; expected 16 bytes." in problem(pair, 1, "DML-MODEL-npy-sizes")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{", b"PK\x03\x04", b"x" * 500])
def test_a_damaged_file(pair: tuple[Path, Path], content: bytes) -> None:
    (pair[1] / "output.npy").write_bytes(content)
    problem(pair, 2, "DML-MODEL-npy")


def test_a_truncated_file(pair: tuple[Path, Path]) -> None:
    path = pair[1] / "output.npy"
    path.write_bytes(path.read_bytes()[:-1])
    problem(pair, 2, "DML-MODEL-npy")


def test_a_header_with_absurd_sizes(pair: tuple[Path, Path]) -> None:
    for shape, identifier in (("(10000000000000000000000,)", "DML-MODEL-npy-sizes"), ("(1, 1, 2, 2)", "DML-MODEL-npy")):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(118)
        (pair[1] / "output.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        problem(pair, 1 if identifier.endswith("sizes") else 2, identifier)


@pytest.mark.parametrize("shape", ["(True, 2, 2, 2)", "(1, 1, 2, False)", "(1.0, 1, 2, 2)", "(-1, 1, 2, 2)"])
def test_a_header_with_sizes_that_are_no_integers(pair: tuple[Path, Path], shape: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(118)
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(32)
    (pair[1] / "output.npy").write_bytes(data)
    problem(pair, 2, "DML-MODEL-npy")


@pytest.mark.parametrize("size", [2**40, 2**64 - 1])
def test_a_buffer_of_absurd_size(pair: tuple[Path, Path], size: int) -> None:
    edited(pair, f"{FIRST}/buffer/size_in_bytes", size)
    (pair[1] / "output.npy").unlink()
    (pair[1] / "output.bin").write_bytes(bytes(100))
    assert "100 bytes; expected 16 bytes." in problem(pair, 1, "DML-MODEL-npy-sizes")


def test_what_is_no_file(pair: tuple[Path, Path]) -> None:
    path = pair[1] / "output.npy"
    path.unlink()
    path.mkdir()
    assert "it is a folder" in problem(pair, 2, "DML-MODEL-source")
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        assert "it is not a regular file" in problem(pair, 2, "DML-MODEL-source")
        path.unlink()
        path.symlink_to("nowhere")
        problem(pair, 2, "DML-MODEL-source")


@given(st.data())
@cases(100)
def test_files_with_damaged_bytes(tmp_path_factory: Factory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("case")
    operator, example = EXAMPLES[0]
    expected = expect(folder, model(operator, example))
    names = sorted(path.relative_to(expected).as_posix() for path in expected.rglob("*") if path.is_file())
    path = expected / data.draw(st.sampled_from(names))
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    actual = copied(expected, folder / "actual")
    path.write_bytes(raw)
    done = command("compare", expected, actual)
    assert done.status in (0, 1, 2)
    assert done.status == 0 or done.out or "[DML-" in done.err


# What is wrong with the expected folder


def refused(pair: tuple[Path, Path], identifier: str, path: str, *texts: str) -> None:
    done = command("compare", *pair)
    assert (done.status, done.out) == (2, ""), done
    found = [line for line in done.err.splitlines() if line.endswith(f"[{identifier}]")]
    assert found and any(f": {path}: " in line for line in found), done.err
    for text in texts:
        assert text in done.err


def edited(pair: tuple[Path, Path], path: str, value: Any) -> None:
    """Change a member of the manifest; ... removes it."""
    found = manifest(pair[0])
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    owner: Any = found
    for step in steps:
        owner = owner[step]
    if value is ...:
        del owner[last]
    else:
        owner[last] = value
    (pair[0] / "manifest.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


FIRST = "outputs/0"
P = "$.outputs[0]"
DESC = f"{FIRST}/operator/desc"
FILE = {"path": "a.npy", "resource": "output", "dimensions": [], "size_in_bytes": 16}
OUTSIDE = ("../output.npy", "/etc/passwd", "a/../../x.npy", "", "x.txt", "C:\\x.npy", "..\\x.npy", "a\0.npy")


@pytest.mark.parametrize(
    ("identifier", "path", "value", "place"),
    [
        ("DML-MODEL-manifest", "format", "x", "$"),
        ("DML-MODEL-manifest", "format", ..., "$"),
        ("DML-MODEL-choice", "version", 1, "$.version"),
        ("DML-MODEL-integer", "version", 1.5, "$.version"),
        ("DML-MODEL-missing", "version", ..., "$"),
        ("DML-MODEL-type", "version", "1", "$.version"),
        ("DML-MODEL-type", "dmlcy", 1, "$.dmlcy"),
        ("DML-MODEL-type", "comparison", [], "$.comparison"),
        ("DML-MODEL-type", "model", None, "$.model"),
        ("DML-MODEL-missing", "model", ..., "$"),
        ("DML-MODEL-choice", "feature_level", "9_9", "$.feature_level"),
        ("DML-MODEL-missing", "outputs", ..., "$"),
        ("DML-MODEL-type", "outputs", {}, "$.outputs"),
        ("DML-MODEL-no-output", "outputs", [], "$.outputs"),
        ("DML-MODEL-type", FIRST, "x", P),
        ("DML-MODEL-missing", f"{FIRST}/file", ..., P),
        ("DML-MODEL-type", f"{FIRST}/file", 1, f"{P}.file"),
        *(("DML-MODEL-manifest-path", f"{FIRST}/file", name, f"{P}.file") for name in OUTSIDE),
        ("DML-MODEL-type", f"{FIRST}/written_to", "x.npy", f"{P}.written_to"),
        ("DML-MODEL-type", f"{FIRST}/written_to", [1], f"{P}.written_to[0]"),
        ("DML-MODEL-missing", f"{FIRST}/written_to", ..., P),
        ("DML-MODEL-reference", f"{FIRST}/written_to", ["a.npy"], f"{P}.written_to[0]"),
        ("DML-MODEL-missing", "written", ..., "$"),
        ("DML-MODEL-type", "written", ["a.npy"], "$.written[0]"),
        *(
            ("DML-MODEL-target", "written", [{**FILE, "path": name}], "$.written[0].path")
            for name in OUTSIDE
            if name != "x.txt"
        ),
        ("DML-MODEL-type", "written", [{**FILE, "path": 1}], "$.written[0].path"),
        ("DML-MODEL-type", "written", [{**FILE, "resource": 1}], "$.written[0].resource"),
        ("DML-MODEL-range", "written", [{**FILE, "dimensions": [0]}], "$.written[0].dimensions[0]"),
        ("DML-MODEL-missing", "written", [{"path": "a", "resource": "b", "dimensions": []}], "$.written[0]"),
        ("DML-MODEL-source", f"{FIRST}/file", "none.npy", f"{P}.file"),
        ("DML-MODEL-source", f"{FIRST}/file", "\x1b[31m.npy", f"{P}.file"),
        ("DML-MODEL-missing", f"{FIRST}/resource", ..., P),
        ("DML-MODEL-type", f"{FIRST}/dispatchable", 1, f"{P}.dispatchable"),
        ("DML-MODEL-missing", f"{FIRST}/operator", ..., P),
        ("DML-MODEL-type", f"{FIRST}/operator", [], f"{P}.operator"),
        ("DML-MODEL-missing", f"{FIRST}/operator/type", ..., f"{P}.operator"),
        ("DML-MODEL-operator-unknown", f"{FIRST}/operator/type", "FLY", f"{P}.operator.type"),
        ("DML-MODEL-operator-unbuilt", f"{FIRST}/operator/type", "GEMM", f"{P}.operator.type"),
        ("DML-AVERAGE_POOLING-window_size-fits", f"{DESC}/WindowSize", [9, 2], f"{P}.operator.desc.WindowSize[0]"),
        ("DML-AVERAGE_POOLING-window_size-type", f"{DESC}/WindowSize", "x", f"{P}.operator.desc.WindowSize"),
        ("DML-AVERAGE_POOLING-strides-required", f"{DESC}/Strides", ..., f"{P}.operator.desc"),
        ("DML-MODEL-reference", f"{FIRST}/field", "Output", f"{P}.field"),
        ("DML-MODEL-reference", f"{FIRST}/field", "InputTensor", f"{P}.field"),
        ("DML-MODEL-type", f"{FIRST}/field", 1, f"{P}.field"),
        ("DML-MODEL-manifest-desc", f"{FIRST}/dtype", "FLOAT16", f"{P}.dtype"),
        ("DML-MODEL-manifest-desc", f"{FIRST}/sizes", [1, 1, 2, 3], f"{P}.sizes"),
        ("DML-MODEL-manifest-desc", f"{FIRST}/sizes", [1, True, 2, 2], f"{P}.sizes"),
        ("DML-MODEL-manifest-desc", f"{FIRST}/sizes", [2**70] * 5000, f"{P}.sizes"),
        ("DML-MODEL-missing", f"{FIRST}/sizes", ..., P),
        ("DML-MODEL-missing", f"{FIRST}/buffer", ..., P),
        ("DML-MODEL-data-type", f"{FIRST}/buffer/dtype", "FLOAT23", f"{P}.buffer.dtype"),
        ("DML-MODEL-type", f"{FIRST}/buffer/dtype", 1, f"{P}.buffer.dtype"),
        ("DML-MODEL-buffer-size", f"{FIRST}/buffer/size_in_bytes", 8, f"{P}.buffer"),
        ("DML-MODEL-buffer-size", f"{FIRST}/buffer/offset_in_bytes", 2**63, f"{P}.buffer"),
        ("DML-MODEL-range", f"{FIRST}/buffer/offset_in_bytes", -4, f"{P}.buffer.offset_in_bytes"),
        ("DML-MODEL-integer", f"{FIRST}/buffer/size_in_bytes", 16.0, f"{P}.buffer.size_in_bytes"),
        ("DML-MODEL-type", f"{FIRST}/inputs", [], f"{P}.inputs"),
        ("DML-MODEL-missing", f"{FIRST}/inputs", ..., P),
        ("DML-MODEL-reference", f"{FIRST}/inputs/OutputTensor", {}, f"{P}.inputs.OutputTensor"),
        ("DML-MODEL-type", f"{FIRST}/inputs/InputTensor", 1, f"{P}.inputs.InputTensor"),
        ("DML-MODEL-manifest-path", f"{FIRST}/inputs/InputTensor/file", "../x.npy", f"{P}.inputs.InputTensor.file"),
        ("DML-MODEL-type", f"{FIRST}/inputs/InputTensor/computed_by", 1, f"{P}.inputs.InputTensor.computed_by"),
        ("DML-MODEL-missing", f"{FIRST}/inputs/InputTensor/resource", ..., f"{P}.inputs.InputTensor"),
        ("DML-MODEL-missing", f"{FIRST}/accuracy", ..., P),
        ("DML-MODEL-choice", f"{FIRST}/accuracy", "exactly", f"{P}.accuracy"),
        ("DML-MODEL-type", f"{FIRST}/accuracy", 5, f"{P}.accuracy"),
        ("DML-MODEL-choice", f"{FIRST}/accuracy/ulp", 0, f"{P}.accuracy.ulp"),
        ("DML-MODEL-choice", f"{FIRST}/accuracy/ulp", -1, f"{P}.accuracy.ulp"),
        ("DML-MODEL-choice", f"{FIRST}/accuracy/ulp", 10**400, f"{P}.accuracy.ulp"),
        ("DML-MODEL-type", f"{FIRST}/accuracy/ulp", True, f"{P}.accuracy.ulp"),
        ("DML-MODEL-missing", f"{FIRST}/accuracy/ulp", ..., f"{P}.accuracy"),
        ("DML-MODEL-missing", f"{FIRST}/accuracy/formula", ..., f"{P}.accuracy"),
        ("DML-MODEL-choice", f"{FIRST}/accuracy/of", "sizes", f"{P}.accuracy.of"),
        ("DML-MODEL-missing", f"{FIRST}/accuracy/tolerance", ..., f"{P}.accuracy"),
        ("DML-MODEL-manifest-path", f"{FIRST}/accuracy/tolerance", "/x.npy", f"{P}.accuracy.tolerance"),
        ("DML-MODEL-source", f"{FIRST}/accuracy/tolerance", "x.npy", f"{P}.accuracy.tolerance"),
        ("DML-MODEL-npy-type", f"{FIRST}/accuracy/tolerance", "output.npy", f"{P}.accuracy.tolerance"),
        ("DML-MODEL-npy-sizes", f"{FIRST}/file", "uoutput.npy", f"{P}.file"),
        ("DML-MODEL-npy-type", f"{FIRST}/file", "tolerance/output.npy", f"{P}.file"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isascii() and value.isprintable() else "",
)
def test_an_edited_manifest(pair: tuple[Path, Path], identifier: str, path: str, value: Any, place: str) -> None:
    edited(pair, path, value)
    refused(pair, identifier, place)


def test_unknown_members_are_warnings(pair: tuple[Path, Path]) -> None:
    for path in (
        "x",
        f"{FIRST}/x",
        f"{FIRST}/buffer/x",
        f"{FIRST}/inputs/InputTensor/x",
        f"{FIRST}/accuracy/x",
        f"{DESC}/x",
    ):
        edited(pair, path, 1)
    done, report = compare(*pair)
    assert done.status == 0 and done.err.count("warning: ") == len(report["warnings"]) == 6
    assert "[DML-MODEL-unknown]" in done.err


def test_everything_wrong_is_said_at_once(pair: tuple[Path, Path]) -> None:
    edited(pair, "feature_level", "9_9")
    edited(pair, f"{FIRST}/file", "../x.npy")
    edited(pair, "outputs/1/accuracy", "x")
    refused(pair, "DML-MODEL-choice", "$.feature_level", "[DML-MODEL-manifest-path]", "$.outputs[1].accuracy")


@pytest.mark.parametrize("value", [-1.0, -np.inf])
def test_a_tolerance_that_is_none(pair: tuple[Path, Path], value: float) -> None:
    path = pair[0] / "tolerance" / "output.npy"
    values = np.load(path)
    values[0, 0, 1, 1] = value
    np.save(path, values)
    refused(pair, "DML-MODEL-manifest-tolerance", f"{P}.accuracy.tolerance")


@pytest.mark.parametrize(
    ("content", "identifier", "path"),
    [
        (b"", "DML-MODEL-json", "$"),
        (b"{", "DML-MODEL-json", "$"),
        (b"[" * 10_000_000, "DML-MODEL-json", "$"),
        (b'{"outputs": ' + b"[" * 10_000_000, "DML-MODEL-json", "$"),
        (b"[]", "DML-MODEL-type", "$"),
        (b"null", "DML-MODEL-type", "$"),
        (b'"\x1b"', "DML-MODEL-json", "$"),
        (b"\xff\xfe", "DML-MODEL-json", "$"),
        (b"{}", "DML-MODEL-manifest", "$"),
        (b'{"format": ["dmlcy-expected"]}', "DML-MODEL-manifest", "$"),
        (b" " * (64 * 2**20 + 1), "DML-MODEL-manifest", "$"),
    ],
    ids=range(11),
)
def test_no_manifest(pair: tuple[Path, Path], content: bytes, identifier: str, path: str) -> None:
    (pair[0] / "manifest.json").write_bytes(content)
    refused(pair, identifier, path)


def test_a_manifest_that_is_no_file(pair: tuple[Path, Path], tmp_path: Path) -> None:
    path = pair[0] / "manifest.json"
    path.unlink()
    refused(pair, "DML-MODEL-manifest", "$", f"{path}:1:1: ", "No such file")
    path.mkdir()
    refused(pair, "DML-MODEL-manifest", "$", "it is a folder")
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        refused(pair, "DML-MODEL-manifest", "$", "it is not a regular file")


def test_what_is_compared_must_be_there(pair: tuple[Path, Path], tmp_path: Path) -> None:
    expected, actual = pair
    refused((tmp_path / "none", actual), "DML-MODEL-manifest", "$", "there is no such file or folder")
    refused((tmp_path / "a\0b", actual), "DML-MODEL-manifest", "$")
    refused((expected / "manifest.json", actual), "DML-MODEL-manifest", "$", 'it does not list "manifest.json"')
    refused((actual / "output.npy", actual), "DML-MODEL-manifest", "$", "No such file")
    refused((expected, tmp_path / "none"), "DML-MODEL-actual", "$", "there is no such file or folder")
    refused((expected, actual / "output.npy"), "DML-MODEL-actual", "$", "it is one file, and there are 2 outputs")


def test_one_file_of_several(pair: tuple[Path, Path]) -> None:
    expected, actual = pair
    done, report = compare(expected / "uoutput.npy", actual)
    assert done.status == 0 and one_output(report)["resource"] == "uoutput"
    done, report = compare(expected / "uoutput.npy", actual / "uoutput.npy")
    assert done.status == 0
    (actual / "raw.dat").write_bytes(np.load(actual / "uoutput.npy").tobytes())
    assert compare(expected / "uoutput.npy", actual / "raw.dat")[0].status == 0
    done, _ = compare(expected / "output.npy", actual / "uoutput.npy")
    assert done.status == 1 and "DML-MODEL-npy-sizes" in done.out


def test_each_file_of_the_name_is_compared(pair: tuple[Path, Path]) -> None:
    np.load(pair[1] / "output.npy").tofile(pair[1] / "output.bin")
    assert compare(*pair)[0].status == 0
    (pair[1] / "output.bin").write_bytes(bytes(16))
    done, report = compare(*pair)
    assert (done.status, report["warnings"]) == (1, [])
    assert report["outputs"][0]["actual"] == str(pair[1] / "output.bin")


def writing(*targets: str, resource: str = "output") -> dict[str, Any]:
    """A model whose output goes to these files."""
    whole = model(*next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING"))
    whole["commands"] += [{"type": "writeFile", "resource": resource, "targetPath": target} for target in targets]
    return whole


@pytest.mark.parametrize("target", ["out.npy", "out.bin", "out.raw", "sub/out.npy", "sub\\deep\\out.npy", "OUTPUT.NPY"])
def test_the_files_that_the_model_writes(tmp_path: Path, target: str) -> None:
    expected = expect(tmp_path, writing(target))
    (output,) = manifest(expected)["outputs"]
    assert output["written_to"] == [target.replace("\\", "/")]
    done, report = compare(expected, tmp_path / "device")
    assert (done.status, done.err) == (0, "")
    assert Path(one_output(report)["actual"]) == tmp_path / "device" / target.replace("\\", "/")
    shutil.rmtree(tmp_path / "device")
    (tmp_path / "device").mkdir()
    done, report = compare(expected, tmp_path / "device")
    assert done.status == 1 and json.dumps(output["written_to"][0]) in one_output(report)["problem"]["message"]


def test_only_what_is_written_after_the_dispatch_counts(tmp_path: Path) -> None:
    whole = writing("a.npy", "b.npy", "c.npy")
    whole["commands"].append({"type": "writeFile", "resource": "input", "targetPath": "C.npy"})
    whole["commands"].insert(0, {"type": "writeFile", "resource": "output", "targetPath": "early.npy"})
    expected = expect(tmp_path, whole)
    assert manifest(expected)["outputs"][0]["written_to"] == ["a.npy", "b.npy"]
    done, report = compare(expected, tmp_path / "device")
    assert done.status == 0 and [Path(file).name for file in one_output(report)["files"]] == ["a.npy", "b.npy"]
    assert [one["id"] for one in report["warnings"]] == ["DML-MODEL-actual-extra"]
    assert '"C.npy"' in done.err and '"early.npy"' in done.err


def test_a_name_that_the_model_gives_to_another_output(pair: tuple[Path, Path]) -> None:
    """Each of the two outputs is written under the name of the other."""
    sizes = [one["buffer"]["size_in_bytes"] for one in manifest(pair[0])["outputs"]]
    names = [("uoutput.npy", "output"), ("output.npy", "uoutput")]
    files = [
        {"path": name, "resource": resource, "dimensions": [], "size_in_bytes": size}
        for (name, resource), size in zip(names, sizes, strict=True)
    ]
    edited(pair, "written", files)
    edited(pair, "outputs/0/written_to", ["uoutput.npy"])
    edited(pair, "outputs/1/written_to", ["output.npy"])
    (pair[1] / "output.npy").rename(pair[1] / "x")
    (pair[1] / "uoutput.npy").rename(pair[1] / "output.npy")
    (pair[1] / "x").rename(pair[1] / "uoutput.npy")
    done, _ = compare(*pair)
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("wrong", [{"resource": "x"}, {"size_in_bytes": 15}])
def test_a_file_that_cannot_hold_the_output(pair: tuple[Path, Path], wrong: dict[str, Any]) -> None:
    edited(pair, "written", [{**FILE, **wrong}])
    edited(pair, f"{FIRST}/written_to", ["a.npy"])
    refused(pair, "DML-MODEL-reference", f"{P}.written_to[0]", "that holds all of OutputTensor")


def test_a_manifest_of_an_older_version(pair: tuple[Path, Path]) -> None:
    edited(pair, "version", 1)
    edited(pair, "written", ...)
    refused(pair, "DML-MODEL-choice", "$.version", "Write the expected values again: dmlcy run --expect.")


def test_files_of_no_output(pair: tuple[Path, Path]) -> None:
    for name in ("notes.txt", "z.npy", "\x1b.bin", *(f"{n}.dat" for n in range(9))):
        (pair[1] / name).write_bytes(b"")
    done, report = compare(*pair)
    assert done.status == 0 and [one["id"] for one in report["warnings"]] == ["DML-MODEL-actual-extra"]
    assert "4 more" not in done.err and '"\\x1b.bin"' in done.err and "and 3 more." in done.err
    assert "notes" not in done.err
    assert not compare(pair[0] / "output.npy", pair[1])[0].err


def test_what_is_compared_with_itself(pair: tuple[Path, Path]) -> None:
    expected, actual = pair
    (actual / "output.npy").unlink()
    os.link(expected / "output.npy", actual / "output.npy")
    for one, other in ((expected, expected), (expected, actual), (expected / "output.npy", expected / "output.npy")):
        done, report = compare(one, other)
        assert done.status == 0 and [x["id"] for x in report["warnings"]] == ["DML-MODEL-actual-same"]
        assert "is compared with itself" in done.err


def test_a_whole_wrong_row_is_seen(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((1, 1, 5, 7), "f4"))
    attributes: dict[str, Any] = {
        "window_size": (1, 1), "strides": (1, 1), "start_padding": (0, 0), "end_padding": (0, 0),
        "include_padding": False,
    }  # fmt: skip
    expected = expect(tmp_path, pooling(np.ones((1, 1, 5, 7), "f4"), **attributes))
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    values[0, 0, 3, 1:] = np.inf
    values[0, 0, 3, 2] = 2
    np.save(actual / "output.npy", values)
    _, report = compare(expected, actual)
    found = one_output(report)["differences"]
    assert found["first_exceeding"] == [[0, 0, 3, 1], [0, 0, 3, 2], [0, 0, 3, 3], [0, 0, 3, 4]]
    assert found["ranges_exceeding"] == [[0, 0], [0, 0], [3, 3], [1, 6]]
    assert found["histogram"][-1] == {"first": "inf", "last": "inf", "count": 5}
    text = command("compare", expected, actual).out
    assert "failing: [0, 0, 3, 1], [0, 0, 3, 2], [0, 0, 3, 3], [0, 0, 3, 4] and 2 more\n" in text
    assert "all of these lie in [0, 0, 3, 1 to 6]\n" in text
    assert "difference: infinite; up to " in text and "\n           infinite   5  " in text
    assert not re.search(r"\d{12}-", text)


def test_the_limit_is_printed_in_full(tmp_path: Path) -> None:
    """A limit that passes is not smaller than the difference beside it."""
    expected = expect(tmp_path, writing())
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    limit = 2 * np.load(expected / "tolerance" / "output.npy")
    at = (0, 0, 1, 1)
    values[at] += np.float32(limit[at])
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == 0
    (line,) = [line for line in unwrapped(command("compare", expected, actual).out) if line.startswith("difference: ")]
    difference, passes = re.findall(r"difference: ([^,]+),.*up to (\S+) passes here", line)[0]
    assert float(passes) == limit[at] == float(difference)


@pytest.mark.parametrize("name", ["output-path", "expect"])
def test_a_nul_in_the_name_of_a_folder(tmp_path: Path, name: str) -> None:
    folders = {"output-path": tmp_path / "device", "expect": tmp_path / "expected", name: tmp_path / "a\0b"}
    options = [text for key, folder in folders.items() for text in (f"--{key}", str(folder))]
    done = command("run", write_model(tmp_path, writing("a.npy")), *options)
    assert done.status == 2 and "[DML-MODEL-write]" in done.err and "there is a NUL in its name" in done.err


def test_a_buffer_of_another_type(tmp_path: Path) -> None:
    """The device writes the resource in the type of its initial values."""
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "UNFOLD")
    whole = model(operator, example)
    count = whole["resources"]["output"]["initialValues"]["valueCount"]
    whole["resources"]["output"] = {
        "initialValuesDataType": "UINT32",
        "initialValues": {"valueCount": count, "value": 0},
    }
    expected = expect(tmp_path, whole)
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    np.save(actual / "output.npy", values.ravel().view("u4"))
    assert compare(expected, actual)[0].status == 0
    np.save(actual / "output.npy", values.view("u4"))
    done, _ = compare(expected, actual)
    assert done.status == 1 and "of UINT32; expected" in done.out and "of FLOAT32." in done.out


def test_usage() -> None:
    for arguments in ([], ["x"], ["x", "y", "z"], ["x", "y", "--format", "xml"]):
        assert command("compare", *arguments).status == 2


def test_the_command(tmp_path: Path) -> None:
    operator, example = EXAMPLES[0]
    path = write_model(tmp_path, model(operator, example))
    for arguments in (
        ["run", str(path), "--expect", str(tmp_path / "e")],
        ["run", str(path), "--expect", str(tmp_path / "f")],
        ["compare", str(tmp_path / "e"), str(tmp_path / "f")],
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "dmlcy", *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_the_fact_of_two_bounds_stands_in_one_place(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert accuracy.SIDES == 2
    assert "up to 2 bounds passes" in manifest(pair[0])["comparison"]
    assert "of up to 10 ulp pass: twice the bound of 5 ulp, since both" in command("compare", *pair).out
