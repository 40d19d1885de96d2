"""``dmlcy compare``: which files are compared with an output, and how they are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import (
    Done,
    at,
    command,
    compare,
    dispatch,
    expect,
    manifest,
    pad,
    summed,
    whole,
    write_file,
    write_model,
    zeros,
)  # fmt: skip

X = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]}
Y = {"initialValuesDataType": "FLOAT32", "initialValues": [5, 6, 7, 8]}
COPY = pad(4, 0, 0)


def own(folder: Path, commands: list[dict[str, Any]], **resources: Any) -> tuple[Path, Path]:
    """The two folders that ``run --expect`` writes: the expected values, and the files of the model's own commands."""
    given = {"x": X, "y": Y, "o": zeros(4), **resources}
    return expect(folder, whole(given, {"copy": COPY}, *commands)), folder / "device"


def verdicts(pair: tuple[Path, Path]) -> tuple[int, list[str | None]]:
    """The exit status, and of each output its status, or the slug of its problem."""
    done, report = compare(*pair)
    found = [
        one["status"] if one["problem"] is None else one["problem"]["id"].removeprefix("DML-MODEL-")
        for one in report["outputs"]
    ]
    return done.status, found


def spoil(pair: tuple[Path, Path], name: str) -> None:
    path = pair[1] / name
    np.save(path, np.full_like(np.load(path), np.nan))


FILLED = dispatch("copy", "x", "o")
PASSED, FAILED, MISSING = (0, ["passed"]), (1, ["failed"]), (1, ["actual-missing"])


# Only the files that get the final values of the model count


def test_the_file_of_the_last_write_counts(tmp_path: Path) -> None:
    """Not the one that has the name of the expected values, which was written before the last dispatch."""
    pair = own(tmp_path, [FILLED, write_file("o", "o.npy"), FILLED, write_file("o", "final.npy")])
    assert verdicts(pair) == PASSED
    spoil(pair, "final.npy")
    assert verdicts(pair) == FAILED
    (pair[1] / "final.npy").unlink()
    assert verdicts(pair) == MISSING


def test_an_input_that_is_written_under_the_name_of_the_output(tmp_path: Path) -> None:
    pair = own(tmp_path, [write_file("x", "o.npy"), FILLED, write_file("o", "res.npy")])
    assert verdicts(pair) == PASSED
    spoil(pair, "res.npy")
    assert verdicts(pair) == FAILED


def test_files_of_no_writefile_do_not_count_where_the_model_writes_the_output(tmp_path: Path) -> None:
    pair = own(tmp_path, [FILLED, write_file("o", "final.npy")])
    (pair[1] / "final.npy").rename(pair[1] / "o.npy")
    assert verdicts(pair) == MISSING


@pytest.mark.parametrize("name", ["a.npy", "b.bin", "sub/c.npy"])
def test_each_file_of_the_final_values_counts(tmp_path: Path, name: str) -> None:
    commands = [FILLED, *(write_file("o", target) for target in ("a.npy", "b.bin", "sub/c.npy"))]
    pair = own(tmp_path, commands)
    done, report = compare(*pair)
    assert (done.status, done.err) == (0, "")
    assert [Path(file).name for file in report["outputs"][0]["files"]] == ["a.npy", "b.bin", "c.npy"]
    path = pair[1] / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    done, report = compare(*pair)
    assert done.status == 1 and Path(report["outputs"][0]["actual"]) == path
    text = command("compare", *pair).out
    assert f"the values of {path.name}" in text or str(path) in text.replace("\n    ", " ")
    path.unlink()
    assert verdicts(pair) == PASSED


# Files that hold other values


@pytest.mark.parametrize(
    "commands",
    [
        [write_file("o", "o.npy"), FILLED],
        [FILLED, write_file("o", "o.npy"), dispatch("copy", "y", "o")],
        [FILLED, write_file("o", "O.npy"), dispatch("copy", "y", "o")],
        [FILLED, write_file("x", "o.NPY")],
        [FILLED, write_file("o", "o.npy", [2])],
        [FILLED, write_file("o", "o.npy"), write_file("y", "O.npy")],
    ],
    ids=["before", "stale", "stale, another case", "another resource", "a part of it", "written over"],
)
def test_a_file_that_holds_other_values_is_not_taken(tmp_path: Path, commands: list[dict[str, Any]]) -> None:
    pair = own(tmp_path, commands)
    assert manifest(pair[0])["outputs"][0]["written_to"] == []
    assert verdicts(pair) == MISSING
    _, report = compare(*pair)
    assert 'The model writes other values to "o.npy"' in report["outputs"][0]["problem"]["hint"]
    np.save(pair[1] / "o.npy", np.full(4, 9, "f4"))
    assert verdicts(pair) == MISSING
    np.load(pair[0] / "o.npy").tofile(pair[1] / "o.bin")
    assert verdicts(pair) == PASSED


def test_the_initial_values_are_not_the_output(tmp_path: Path) -> None:
    pair = own(tmp_path, [write_file("o", "o.npy"), FILLED, write_file("o", "after.npy")])
    assert verdicts(pair) == PASSED


def test_resources_whose_names_differ_in_case_only(tmp_path: Path) -> None:
    pair = own(tmp_path, [FILLED, write_file("O", "o.npy"), write_file("o", "res.npy")], O=Y)
    assert verdicts(pair) == PASSED


def test_no_name_is_left(tmp_path: Path) -> None:
    pair = own(tmp_path, [FILLED, *(write_file("x", f"o.{suffix}") for suffix in ("npy", "bin", "dat"))])
    assert verdicts(pair) == MISSING


@pytest.mark.parametrize("name", ["early.npy", "EARLY.npy", "sub/early.npy"])
def test_one_file_that_holds_other_values_is_refused(tmp_path: Path, name: str) -> None:
    pair = own(tmp_path, [write_file("o", "early.npy"), FILLED, write_file("o", "late.npy")])
    path = tmp_path / "g" / name
    path.parent.mkdir(parents=True)
    np.save(path, np.load(pair[0] / "o.npy"))
    done: Done = command("compare", pair[0] / "o.npy", path)
    assert (done.status, done.out) == (2, "") and "[DML-MODEL-actual]" in done.err
    path.rename(path.with_name("late.npy"))
    assert command("compare", pair[0] / "o.npy", path.with_name("late.npy")).status == 0


# Views, and parts of a buffer


def halves(second: str, *commands: dict[str, Any]) -> list[dict[str, Any]]:
    return [dispatch("copy", "x", "o"), dispatch("copy", second, at("o", 4)), *commands]


@pytest.mark.parametrize("second", ["x", "y"])
def test_a_file_of_the_first_half_holds_one_of_two_views(tmp_path: Path, second: str) -> None:
    pair = own(tmp_path, halves(second, write_file("o", "o.npy", [4])), o=zeros(8))
    assert [one["written_to"] for one in manifest(pair[0])["outputs"]] == [["o.npy"], []]
    assert verdicts(pair) == (1, ["passed", "actual-missing"])


@pytest.mark.parametrize("dimensions", [None, [8], [2, 2, 2]])
def test_a_file_of_the_whole_buffer_holds_both(tmp_path: Path, dimensions: list[int] | None) -> None:
    pair = own(tmp_path, halves("y", write_file("o", "o.npy", dimensions)), o=zeros(8))
    assert verdicts(pair) == (0, ["passed", "passed"])
    values = np.load(pair[1] / "o.npy")
    for place, expected in ((3, ["failed", "passed"]), (4, ["passed", "failed"])):
        spoiled = values.copy()
        spoiled.reshape(-1)[place] = np.nan
        np.save(pair[1] / "o.npy", spoiled)
        assert verdicts(pair) == (1, expected)


def test_a_view_is_read_at_its_offset_from_a_part_of_the_buffer(tmp_path: Path) -> None:
    """Eight of twelve elements: the view of the last four of these eight."""
    pair = own(tmp_path, [dispatch("copy", "x", at("o", 4)), write_file("o", "p.npy", [2, 4])], o=zeros(12))
    assert manifest(pair[0])["written"] == [
        {"path": "p.npy", "resource": "o", "dimensions": [2, 4], "size_in_bytes": 32}
    ]
    assert verdicts(pair) == PASSED
    values = np.load(pair[1] / "p.npy")
    values[1, 3] = 5
    np.save(pair[1] / "p.npy", values)
    assert verdicts(pair) == FAILED
    np.save(pair[1] / "p.npy", values[:1])
    assert verdicts(pair) == (1, ["npy-sizes"])


def test_a_view_written_later_is_not_in_an_earlier_file(tmp_path: Path) -> None:
    first, second = halves("y")
    pair = own(tmp_path, [first, write_file("o", "one.npy"), second, write_file("o", "two.npy")], o=zeros(8))
    assert [one["written_to"] for one in manifest(pair[0])["outputs"]] == [["one.npy", "two.npy"], ["two.npy"]]
    assert verdicts(pair) == (0, ["passed", "passed"])


# The order of the elements


def transposed(folder: Path, target: str, dimensions: list[int] | None) -> tuple[Path, Path]:
    """A copy of 2 x 2 elements into a buffer that has them by columns."""
    desc = pad(4, 0, 0)["desc"] | {"DimensionCount": 2, "StartPadding": [0, 0], "EndPadding": [0, 0]}
    desc["InputTensor"] = {"DataType": "FLOAT32", "Sizes": [2, 2]}
    desc["OutputTensor"] = {"DataType": "FLOAT32", "Sizes": [2, 2], "Strides": [1, 2]}
    turn = {"type": "DML_OPERATOR_PADDING1", "desc": desc}
    model = whole(
        {"x": X, "o": zeros(4)}, {"turn": turn}, dispatch("turn", "x", "o"), write_file("o", target, dimensions)
    )
    return expect(folder, model), folder / "device"


@pytest.mark.parametrize("dimensions", [None, [4], [2, 2], [1, 2, 2]])
def test_a_file_of_a_writefile_is_the_buffer_in_its_order(tmp_path: Path, dimensions: list[int] | None) -> None:
    pair = transposed(tmp_path, "o.npy", dimensions)
    assert np.load(pair[1] / "o.npy").ravel().tolist() == [1, 3, 2, 4]
    assert verdicts(pair) == PASSED
    assert command("compare", pair[0] / "o.npy", pair[1] / "o.npy").status == 0
    values = np.load(pair[1] / "o.npy")
    np.save(pair[1] / "o.npy", np.array([1, 2, 3, 4], "f4").reshape(values.shape))
    assert verdicts(pair) == FAILED


def test_a_file_of_no_writefile_with_the_sizes_of_the_output_is_the_tensor(tmp_path: Path) -> None:
    pair = transposed(tmp_path, "another.npy", [2, 2])
    stated = manifest(pair[0])
    assert stated["outputs"][0]["written_to"] == ["another.npy"]
    by_hand = tmp_path / "tensor.npy"
    np.save(by_hand, np.array([[1, 2], [3, 4]], "f4"))
    assert command("compare", pair[0] / "o.npy", by_hand).status == 0
    np.save(by_hand, np.array([1, 3, 2, 4], "f4"))  # as long as the buffer, and flat
    assert command("compare", pair[0] / "o.npy", by_hand).status == 0
    pair = transposed(tmp_path, "o.npy", None)
    np.save(pair[1] / "o.npy", np.array([[1, 2], [3, 4]], "f4"))
    assert verdicts(pair) == (1, ["npy-sizes"])


# The padding of a buffer


def half(folder: Path, *commands: dict[str, Any]) -> tuple[Path, Path]:
    """Five elements of FLOAT16: 10 bytes, in a buffer of 12."""
    copy = pad(5, 0, 0)
    for name in ("InputTensor", "OutputTensor"):
        copy["desc"][name] = {"DataType": "FLOAT16", "Sizes": [5]}
    copy["desc"]["PaddingValueDataType"] = "FLOAT16"
    x = {"initialValuesDataType": "FLOAT16", "initialValues": [1, 2, 3, 4, 5]}
    model = whole({"x": x, "o": zeros(5, "FLOAT16")}, {"copy": copy}, dispatch("copy", "x", "o"), *commands)
    return expect(folder, model), folder / "device"


def test_dxdispatch_writes_the_padding_of_a_buffer(tmp_path: Path) -> None:
    """A .npy without dimensions has the elements of the rounded size there, and a raw file its bytes."""
    values = np.array([1, 2, 3, 4, 5, 9], "f2")
    for number, target in enumerate(("o.npy", "o.bin")):
        pair = half(tmp_path / str(number), write_file("o", target))
        assert verdicts(pair) == PASSED
        np.save(pair[1] / "o.npy", values) if target == "o.npy" else values.tofile(pair[1] / "o.bin")
        assert verdicts(pair) == PASSED


def test_padding_is_not_taken_from_other_files(tmp_path: Path) -> None:
    values = np.array([1, 2, 3, 4, 5, 9], "f2")
    pair = half(tmp_path / "1", write_file("o", "o.npy", [5]))
    np.save(pair[1] / "o.npy", values)
    assert verdicts(pair) == (1, ["npy-sizes"])
    pair = half(tmp_path / "2")
    pair[1].mkdir()
    np.save(pair[1] / "o.npy", values)
    assert verdicts(pair) == (1, ["npy-sizes"])
    np.save(pair[1] / "o.npy", values[:5])
    assert verdicts(pair) == PASSED


@pytest.mark.skipif(os.path.normcase("A") == "a", reason="the two names are one file here")
def test_of_names_that_differ_in_case_the_last_one_counts(tmp_path: Path) -> None:
    pair = own(tmp_path, [FILLED, write_file("o", "f.npy"), FILLED, write_file("o", "F.npy")])
    assert manifest(pair[0])["outputs"][0]["written_to"] == ["F.npy"]
    (pair[1] / "F.npy").unlink()
    assert verdicts(pair) == MISSING


# Parts of an output, several files, odd names


def test_elements_that_a_later_dispatch_leaves_are_compared(tmp_path: Path) -> None:
    second = {"type": "dispatch", "dispatchable": "half", "bindings": {
        "InputTensor": "y", "OutputTensor": {"name": "o", "elementOffset": 2},
    }}  # fmt: skip
    given = {"x": X, "y": Y, "o": zeros(4)}
    found = whole(given, {"copy": COPY, "half": pad(2, 0, 0)}, FILLED, second, write_file("o", "o.npy"))
    pair = expect(tmp_path, found), tmp_path / "device"
    assert np.load(pair[1] / "o.npy").tolist() == [1, 2, 5, 6]
    assert verdicts(pair) == (0, ["passed", "passed"])
    assert compare(*pair)[1]["outputs"][0]["differences"]["written_over"] == 2
    for at_, wanted in ((0, ["failed", "passed"]), (3, ["passed", "failed"])):
        values = np.array([1, 2, 5, 6], "f4")
        values[at_] = np.nan
        np.save(pair[1] / "o.npy", values)
        assert verdicts(pair) == (1, wanted)


def test_the_worst_verdict_of_several_files_counts(tmp_path: Path) -> None:
    """Suspect is worse than passed, and failed is worse than suspect, whichever file comes first."""
    pair = summed(tmp_path, np.ones((1, 4096), "f4"), "o.npy", "o2.npy"), tmp_path / "device"
    assert verdicts(pair) == PASSED
    first, second = pair[1] / "o.npy", pair[1] / "o2.npy"
    for one, other in ((first, second), (second, first)):
        np.save(one, np.array([[4096.75]], np.float32))
        assert verdicts(pair) == (0, ["suspect"])
        np.save(other, np.array([[4100]], np.float32))
        assert verdicts(pair) == FAILED
        for file in (one, other):
            np.save(file, np.array([[4096]], np.float32))


@pytest.mark.parametrize("name", [".npy", "s/.NPY"])
def test_a_name_that_is_only_a_suffix(tmp_path: Path, name: str) -> None:
    assert verdicts(own(tmp_path, [FILLED, write_file("o", name)])) == PASSED


def test_expected_values_are_not_written_over_the_files_of_the_model(tmp_path: Path) -> None:
    found = whole({"x": X, "o": zeros(4)}, {"copy": COPY}, FILLED, write_file("o", "o.npy"))
    path, folder = write_model(tmp_path, found), tmp_path / "both"
    done = command("run", path, "--expect", folder, "--output-path", folder)
    assert done.status == 2
    assert "a writeFile command of the model has written this file: give --expect another folder" in done.err
    assert np.load(folder / "o.npy").tolist() == [1, 2, 3, 4]
