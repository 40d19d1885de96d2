"""``dmlcy compare``: every way in which the files of a device or of expected values can be wrong."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import (
    EXAMPLES,
    cases,
    command,
    compare,
    copied,
    expect,
    manifest,
    one_output,
    unwrapped,
    write_model,
    writing,
)
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._cli.example import model
from dmlcy._reference import accuracy

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
    assert "bytes, and must have 16 bytes." in problem(pair, 1, "DML-MODEL-npy-sizes")


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
    assert "100 bytes, and must have 16 bytes." in problem(pair, 1, "DML-MODEL-npy-sizes")


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
def test_files_with_damaged_bytes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
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
    if identifier in ("DML-MODEL-manifest", "DML-MODEL-actual"):  # of the file as a whole
        assert found and path == "$" and not any(": $: " in line for line in found), done.err
    else:
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
    refused(pair, "DML-MODEL-manifest", "$", f"{path}: ", "No such file")
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
    assert done.status == 1 and "of UINT32, and must have" in done.out and "of FLOAT32." in done.out


def test_usage() -> None:
    for arguments in ([], ["x"], ["x", "y", "z"], ["x", "y", "--format", "xml"]):
        assert command("compare", *arguments).status == 2


def test_the_fact_of_two_bounds_stands_in_one_place(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert accuracy.SIDES == 2
    assert "up to 2 bounds passes" in manifest(pair[0])["comparison"]
    assert "of up to 10 ulp pass: twice the bound of 5 ulp, since both" in command("compare", *pair).out
