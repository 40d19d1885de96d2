"""``dmlcy compare``: the verdicts passed, suspect, FAILED and not judged, and what the user says of the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import Array, command, compare, copied, dispatch, expect, one_output, pad, summed, unwrapped, whole
from old_manifests import aged

import dmlcy as dml
from dmlcy._reference.device import SUSPECT

ONES = np.ones((2, 4096), "f4")
"""Rows whose sums are 4096: an error of 0.5 is beyond what rounding typically gives, one of 2 beyond any order."""


def device(expected: Path, change: Any) -> Path:
    """The folder of a device that gives other values."""
    actual = copied(expected, expected.parent / "actual") if not (expected.parent / "actual").exists() else None
    folder = actual or expected.parent / "actual"
    np.save(folder / "o.npy", np.asarray(change, np.load(expected / "o.npy").dtype))
    return folder


def off(expected: Path, *by: float) -> Path:
    """A device whose sums differ by so much, row by row."""
    values = np.load(expected / "o.npy")
    return device(expected, values + np.array(by, values.dtype).reshape(-1, 1))


@pytest.mark.parametrize(
    ("by", "verdict", "status", "strict", "end"),
    [
        ((0, 0), "passed", 0, 0, "1 output: 1 passed, 0 failed"),
        ((0.25, -0.25), "passed", 0, 0, "1 output: 1 passed, 0 failed"),
        ((0, 0.75), "suspect", 0, 1, "1 output: 0 passed, 0 failed, 1 suspect"),
        ((3, 0.75), "failed", 1, 1, "1 output: 0 passed, 1 failed"),
    ],
)
def test_the_verdicts_of_a_sum(
    tmp_path: Path, by: tuple[float, float], verdict: str, status: int, strict: int, end: str
) -> None:
    expected = summed(tmp_path, ONES)
    actual = off(expected, *by)
    done, report = compare(expected, actual)
    output = one_output(report)
    assert (done.status, output["status"]) == (status, verdict)
    assert compare(expected, actual, "--strict")[0].status == strict
    text = command("compare", expected, actual).out
    assert text.endswith(f"\n{end}\n")
    assert (end == "1 output: 1 passed, 0 failed") == report["passed"]
    found = output["differences"]
    assert found["suspect"] == (0.75 in by) and found["exceeding"] == (3 in by)


def test_a_suspect_element_is_named(tmp_path: Path) -> None:
    expected = summed(tmp_path, ONES)
    actual = off(expected, 0, 0.75)
    _, report = compare(expected, actual)
    found = one_output(report)["differences"]
    assert (found["first_suspect"], found["ranges_suspect"]) == ([[1, 0]], [[1, 1], [0, 0]])
    assert found["mean_in_typical_deviations"] is None
    worst = found["worst"]
    assert (worst["index"], worst["error"]) == ([1, 0], 0.75)
    assert worst["typical"] < 0.75 < worst["allowed"]
    lines = unwrapped(command("compare", expected, actual).out)
    assert "1 element is suspect: rounding rarely adds up to so large a difference" in lines
    assert any(line.endswith(f"passes here, and more than {worst['typical']!r} is suspect") for line in lines)
    off(expected, 3, 0.75)
    lines = unwrapped(command("compare", expected, actual).out)
    assert "suspect: [1, 0]" in lines and any(line.startswith("worst element [0, 0]") for line in lines)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_result_that_is_shifted_by_a_little_everywhere_is_suspect(tmp_path: Path, sign: int) -> None:
    """By two typical deviations, which no element is suspect for; a device with errors of both signs passes."""
    x = np.random.default_rng(3).random((2000, 64)).astype("f4")
    expected = summed(tmp_path, x)
    typical = np.load(expected / "typical" / "o.npy") / SUSPECT
    values = np.load(expected / "o.npy").astype("f8")
    signs = np.where(np.arange(2000) % 2, 1, -1).reshape(-1, 1)
    assert one_output(compare(expected, device(expected, values + 2 * signs * typical))[1])["status"] == "passed"
    actual = device(expected, values + 2 * sign * typical)
    done, report = compare(expected, actual)
    output = one_output(report)
    assert (done.status, output["status"], output["differences"]["suspect"]) == (0, "suspect", 0)
    assert output["differences"]["mean_in_typical_deviations"] == pytest.approx(2 * sign, rel=0.1)
    side = "larger" if sign > 0 else "smaller"
    (line,) = [line for line in unwrapped(command("compare", expected, actual).out) if line.startswith("suspect: ")]
    assert line.startswith(f"suspect: the elements are {side} than expected, on average by ")
    assert line.endswith(" times the deviation that rounding typically causes")
    assert compare(expected, actual, "--strict")[0].status == 1


def test_each_output_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    """The last line counts all of them, and the elements that are not judged."""
    integers = {"initialValuesDataType": "INT32", "initialValues": [6, 1, 5]}
    divisors = {"initialValuesDataType": "INT32", "initialValues": [2, 0, 0]}
    three = dml.TensorDesc("INT32", (3,))
    one = dml.TensorDesc("INT32", (1,))
    ratio, single = dml.desc.ElementWiseDivide(a=three, b=three), dml.desc.ElementWiseDivide(a=one, b=one)
    zero = {**integers, "initialValues": [0]}
    resources = {
        "a": integers, "b": divisors, "z": zero, "o": {**integers, "initialValues": [0, 0, 0]}, "p": zero,
        "x": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2]},
        "q": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0]},
    }  # fmt: skip

    def divide(name: str, a: str, b: str, output: str) -> dict[str, Any]:
        bindings = {"ATensor": a, "BTensor": b, "OutputTensor": output}
        return {"type": "dispatch", "dispatchable": name, "bindings": bindings}

    dispatchables = {"ratio": ratio.to_dict(), "single": single.to_dict(), "copy": pad(2, 0, 0)}
    commands = [divide("ratio", "a", "b", "o"), divide("single", "z", "z", "p"), dispatch("copy", "x", "q")]
    expected = expect(tmp_path, whole(resources, dispatchables, *commands))
    actual = copied(expected, tmp_path / "actual")
    np.save(actual / "o.npy", np.array([3, 99, -7], "i4"))
    np.save(actual / "p.npy", np.array([5], "i4"))
    done, report = compare(expected, actual)
    assert done.status == 0
    assert [one["status"] for one in report["outputs"]] == ["passed", "not judged", "passed"]
    assert compare(expected, actual, "--strict")[0].status == 1
    (actual / "q.npy").unlink()
    np.save(actual / "o.npy", np.array([4, 99, -7], "i4"))
    done = command("compare", expected, actual)
    end = "3 outputs: 0 passed, 1 failed, 1 missing, 1 not judged; 3 elements not judged"
    assert done.status == 1 and done.out.endswith(f"\n{end}\n")


# Subnormal operands


def product(folder: Path) -> Path:
    """The expected values of 1e-40 * 1e30, which is 0 where the first factor is taken for 0, and of 2 * 3."""
    two = dml.TensorDesc("FLOAT32", (2,))
    values = {"a": [1e-40, 2], "b": [1e30, 3], "o": [0, 0]}
    resources = {name: {"initialValuesDataType": "FLOAT32", "initialValues": one} for name, one in values.items()}
    bindings = {"ATensor": "a", "BTensor": "b", "OutputTensor": "o"}
    command_ = {"type": "dispatch", "dispatchable": "m", "bindings": bindings}
    return expect(folder, whole(resources, {"m": dml.desc.ElementWiseMultiply(a=two, b=two).to_dict()}, command_))


def test_flushed_operands(tmp_path: Path) -> None:
    """Both values pass, and none between them."""
    expected = product(tmp_path)
    exact = float(np.load(expected / "o.npy")[0])
    assert exact == pytest.approx(1e-10, rel=1e-4)
    for value, verdict in ((exact, "passed"), (0, "passed"), (exact / 2, "failed"), (-exact, "failed"), (1, "failed")):
        actual = device(expected, [value, 6])
        assert one_output(compare(expected, actual)[1])["status"] == verdict
    device(expected, [0, 6])
    lines = unwrapped(command("compare", expected, actual).out)
    assert "an input has subnormal numbers: the result of a device that takes 0 for them passes too" in lines
    assert any(line.endswith("and the result with 0 for subnormal numbers passes too") for line in lines)
    assert lines[-1] == "1 output: 1 passed, 0 failed"


# The user's statements about the device


def judged(expected: Path, by: float, *options: object) -> str:
    """The verdict on a device whose first sum differs by so much."""
    actual = off(expected, by, 0)
    return str(one_output(compare(expected, actual, *options)[1])["status"])


def test_the_options_replace_the_bound(tmp_path: Path) -> None:
    """The new bounds may be wider or narrower. The sum of both options passes, and nothing is suspect."""
    expected = summed(tmp_path, ONES)
    unit = 4096 * 2.0**-23
    for options, most in (
        (["--ulp", 3], 3 * unit),
        (["--ulp", 0], 0.0),
        (["--rtol", "1e-3"], 4.095),
        (["--atol", 0.75], 0.75),
        (["--ulp", 1000, "--rtol", "2e-3", "--atol", 1], 1000 * unit + 8.191 + 1),
    ):
        assert judged(expected, most, *options, "--strict") == "passed"
        assert judged(expected, -most - 3 * unit, *options) == "failed"
    for options in (["--ulp", 1e308], ["--rtol", 1e308], ["--atol", 1e308]):
        assert judged(expected, 1e30, *options) == "passed"
        assert judged(expected, np.nan, *options) == "failed"


def test_exact_outputs_stay_exact(tmp_path: Path) -> None:
    resources = {
        name: {"initialValuesDataType": "FLOAT32", "initialValues": values}
        for name, values in (("x", [1, 2, 3]), ("o", [0, 0, 0]))
    }
    expected = expect(tmp_path, whole(resources, {"copy": pad(3, 0, 0)}, dispatch("copy", "x", "o")))
    actual = device(expected, [1, 2, np.nextafter(np.float32(3), np.float32(4))])
    done, report = compare(expected, actual, "--ulp", 9, "--rtol", 1, "--atol", 1)
    assert done.status == 1 and one_output(report)["accuracy"] == "exact"
    assert "no difference passes: the values are exact" in command("compare", expected, actual, "--ulp", 9).out


def test_the_options_replace_the_bound_of_flushed_operands(tmp_path: Path) -> None:
    expected = product(tmp_path)
    for value, options, verdict in (
        (1e-12, [], "failed"),
        (1e-12, ["--atol", 1e-11], "passed"),
        (1e-11, ["--atol", 1e-12], "failed"),
    ):
        assert one_output(compare(expected, device(expected, [value, 6]), *options)[1])["status"] == verdict


def half_sum(x: Array) -> Array:
    """The sum of each row, one term after another in FLOAT16."""
    found = np.zeros(x.shape[0], np.float16)
    for column in x.T:
        found = (found + column).astype(np.float16)
    return found.reshape(-1, 1)


def test_a_device_that_adds_float16_in_float16(tmp_path: Path) -> None:
    """Its values pass only if the user says that it does so. A gross fault is found all the same."""
    x = np.random.default_rng(5).random((8, 512)).astype("f2")
    expected = summed(tmp_path, x)
    values = half_sum(x)
    assert (values != np.load(expected / "o.npy")).any()
    actual = device(expected, values)
    assert one_output(compare(expected, actual)[1])["status"] == "failed"
    done, report = compare(expected, actual, "--allow-half-precision", "--strict")
    assert (done.status, report["passed"]) == (0, True)
    text = command("compare", expected, actual, "--allow-half-precision").out
    assert "a difference passes if a correct device that adds FLOAT16 in FLOAT16 may have it" in unwrapped(text)
    device(expected, np.load(expected / "o.npy") * np.float16(3))
    assert compare(expected, actual, "--allow-half-precision")[0].status == 1


def test_the_flag_does_not_change_other_types_or_other_versions(tmp_path: Path) -> None:
    single = summed(tmp_path / "single", ONES)
    for options in ((), ("--allow-half-precision",)):
        assert judged(single, 0.75, *options) == "suspect" and judged(single, 3, *options) == "failed"
    x = np.random.default_rng(5).random((8, 512)).astype("f2")
    half = summed(tmp_path / "half", x)
    aged(half)
    actual = device(half, half_sum(x))
    done, _ = compare(half, actual, "--allow-half-precision")
    assert done.status == 1
    text = unwrapped(command("compare", half, actual, "--allow-half-precision").out)
    assert any(
        line.endswith("version 2 of the manifest, which --allow-half-precision does not change") for line in text
    )
