"""``dmlcy compare``: what passes, what fails and how the report shows it."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each_of
from exchange import (
    EXAMPLES,
    PLAIN,
    Array,
    Case,
    bits_moved,
    cases,
    command,
    compare,
    copied,
    each_example,
    examples,
    expect,
    grid,
    manifest,
    models,
    one_output,
    optional_outputs,
    pooling,
    random_values,
    unjudged,
    unwrapped,
    write_file,
    write_model,
    writing,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from old_manifests import aged
from reference.window_reduce import average_pooling

import dmlcy as dml
from dmlcy._cli.example import model
from dmlcy._facts.rows import Example, Operator
from dmlcy._families import window_of
from dmlcy._reference import ulp

Factory = pytest.TempPathFactory


def output_of(report: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """The report's entry for an output of the manifest, where all other outputs passed as far as they are judged."""
    (output,) = (one for one in report["outputs"] if one["resource"] == stated["resource"])
    for one in report["outputs"]:
        judged = one["differences"]["elements"] - one["differences"]["not_judged"] if one is not output else 0
        assert one is output or one["status"] == ("passed" if judged else "not judged")
    return dict(output)


def allowed_errors(expected: Path, output: dict[str, Any], values: Array) -> Array:
    """The allowed errors as ``dmlcy compare`` documents them: the manifest's own; twice the bound of version 2."""
    if output["accuracy"] == "exact":
        return np.zeros(values.shape)
    if "tolerance" in output["accuracy"]:
        return 2 * np.asarray(np.load(expected / output["accuracy"]["tolerance"]))
    return np.asarray(np.load(expected / output["accuracy"]["allowed"]))


# Values that pass


@each_example
def test_the_examples_agree_with_themselves(operator: Operator, example: Example, tmp_path: Path) -> None:
    expected = expect(tmp_path, model(operator, example))
    done, report = compare(expected, expected)
    assert done.status == 0
    assert report["warnings"][0]["id"] == "DML-MODEL-actual-same" and len(done.err.splitlines()) == 1
    assert len(report["outputs"]) == len(example.outputs)
    for output in report["outputs"]:
        found = output["differences"]
        judged = found["elements"] - found["not_judged"]
        assert output["status"] == ("passed" if judged else "not judged")
        assert output["problem"] is None and output["window"] is None
        assert (found["different"], found["exceeding"], found["suspect"], found["worst"]) == (0, 0, 0, None)
        assert found["histogram"] == [{"first": 0, "last": 0, "count": judged}][: judged > 0]


@each_of("operator, example", [pair for pair in PLAIN if any(f.optional for f in pair[0].fields if f.kind == "output")])
def test_random_models_ask_for_the_optional_outputs_of_an_example(operator: Operator, example: Example) -> None:
    """The sizes do not matter: RANDOM_GENERATOR's state has six elements, and its output any number."""
    tensors = {name: dml.TensorDesc(*given[:2]) for name, given in operator.example_tensors(example).items()}
    made = getattr(dml.desc, operator.desc)
    asked = optional_outputs(operator, example, made(**tensors, **example.attributes))
    assert not dml.check(made(**tensors, **asked, **example.attributes))
    assert {name: tensor.sizes for name, tensor in asked.items()}.items() <= {
        name: sizes for name, (_, sizes, _) in example.outputs.items()
    }.items()


@examples(20, 60, models(), st.sampled_from(["copy", "flat", "bin", "dat", "buffer", "buffer.bin", "one"]))
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
    found = output_of(report, manifest(expected)["outputs"][0])
    assert found["status"] in ("passed", "not judged") and not found["differences"]["exceeding"]
    if form in ("copy", "flat", "bin", "dat"):  # of the reference; the others are what the loops give
        assert found["differences"]["different"] == 0


@examples(
    25, 80, models(kinds=("ordinary",)), st.sampled_from(["new", "new", "version 2", "pack of version 2"]), st.data()
)
def test_one_element_off(tmp_path_factory: Factory, case: Case, version: str, data: st.DataObject) -> None:
    """Just within what passes it passes, one step beyond it fails, and is named: by the rules of each version."""
    folder = tmp_path_factory.mktemp("case")
    expected = case.expect(folder)
    if version != "new":
        aged(expected, allowed=version != "version 2")
    stated = data.draw(st.sampled_from(manifest(expected)["outputs"]))
    values = np.load(expected / stated["file"])
    allowed = allowed_errors(expected, stated, values)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in values.shape)
    sign = data.draw(st.sampled_from([1, -1]))
    before = values[at]
    assume(np.isfinite(float(before)) and not unjudged(expected, stated)[at] and "flushed" not in stated)
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
        assert [one["id"] for one in report["warnings"]] == ["DML-MODEL-version-old"] * (version != "new")
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
    assert sum(one["count"] for one in found["histogram"]) == values.size - unjudged(expected, stated).sum()
    if output["accuracy"] == "exact":
        assert found["histogram"][-1] == {"first": 1, "last": 1, "count": 1}


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


@examples(20, 60, models(only_windows=True, kinds=("ordinary",)), st.data())
def test_the_window_is_what_the_element_depends_on(tmp_path_factory: Factory, case: Case, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("case")
    expected = case.expect(folder)
    stated = manifest(expected)["outputs"][0]
    values = np.load(expected / stated["file"])
    at = tuple(data.draw(st.integers(0, size - 1)) for size in values.shape)
    actual = copied(expected, folder / "actual")
    changed = values.copy()
    changed[at] = 99 if values.dtype.kind != "f" or values[at] != 77 else 77
    assume(changed[at] != values[at] and not unjudged(expected, stated)[at])
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
        result: Array = found[0] if isinstance(found, tuple) else found
        return result

    roles = window_of(case.operator)
    assert roles is not None
    copies = roles.blocks is not None
    depends, blank = set(), operator(np.zeros(x.shape, x.dtype))[at]
    for position in grid(x.shape):
        marked = np.zeros(x.shape, x.dtype)
        marked[position] = 1
        result = operator(marked)
        touched = result[at]
        if copies and position[len(x.shape) - len(window["sizes"]) - 1] == window["start"][-len(window["sizes"]) - 1]:
            rows = math.prod(window["sizes"])
            first = at[-2] // rows * rows
            under: tuple[Any, ...] = (*at[:-2], slice(first, first + rows), at[-1])
            touched = result[under].max()
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


def test_with_a_damaged_input_there_is_a_warning(tmp_path: Path) -> None:
    """Nothing is judged by the input; the window is not shown."""
    unfolded(tmp_path, [2], [1, 1, 4], (0, 0, 0))
    for path in (tmp_path / "expected" / "inputs").iterdir():
        path.write_bytes(b"abc")
    done, report = compare(tmp_path / "expected", tmp_path / "actual")
    assert done.status == 1 and "warning: " in done.err and "[DML-MODEL-npy]" in done.err
    assert one_output(report)["window"] is None and len(report["warnings"]) == 1


# The text


def test_the_text(tmp_path: Path) -> None:
    operator, example = next(pair for pair in EXAMPLES if pair[0].name == "AVERAGE_POOLING")
    expected = expect(tmp_path, model(operator, example))
    actual = copied(expected, tmp_path / "actual")
    values = np.load(expected / "output.npy")
    values[0, 0, 1, 0] = 6.5
    np.save(actual / "output.npy", values.ravel())
    limit = float(np.load(expected / "allowed" / "output.npy")[0, 0, 1, 0])
    done = command("compare", expected, actual)
    assert (done.status, done.err) == (1, "")
    assert done.out == (
        'FAILED  output.npy, OutputTensor of "average_pooling" (AVERAGE_POOLING), FLOAT32 1 x 1 x 2 x 2\n'
        "  elements: 4, different: 1, by more than passes: 1\n"
        "  a difference passes if a correct device may have it\n"
        "  worst element [0, 0, 1, 0]: expected 6.0 (0x40C00000), actual 6.5 (0x40D00000)\n"
        f"  difference: 0.5, that is 1048576 ulp; up to {limit!r} passes here\n"
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
    note = 'note: InputTensor was written by "d\\x1b[2J": what passes is what the last operator alone may differ by'
    assert f"{note}, for inputs without error" in unwrapped(text)
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
        result = average_pooling(x, **attributes).mean().astype(x.dtype)
    result.tofile(folder / "output.bin")
    done, report = compare(expected, folder / "output.bin")
    assert done.status == 0, report


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
    limit, at = np.load(expected / "allowed" / "output.npy"), (0, 0, 1, 1)
    limit[at] = 13 * np.spacing(values[at])
    np.save(expected / "allowed" / "output.npy", limit)
    values[at] += np.float32(limit[at])
    np.save(actual / "output.npy", values)
    assert compare(expected, actual)[0].status == 0
    (line,) = [line for line in unwrapped(command("compare", expected, actual).out) if line.startswith("difference: ")]
    difference, passes = re.findall(r"difference: ([^,]+),.*up to (\S+) passes here", line)[0]
    assert float(passes) == limit[at] == float(difference)


def test_the_command(tmp_path: Path) -> None:
    operator, example = EXAMPLES[0]
    path = write_model(tmp_path, model(operator, example))
    for arguments in (
        ["run", str(path), "--expect", str(tmp_path / "e")],
        ["run", str(path), "--expect", str(tmp_path / "f")],
        ["compare", str(tmp_path / "e"), str(tmp_path / "f")],
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "dmlcy", *arguments], capture_output=True, text=True, timeout=300, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
