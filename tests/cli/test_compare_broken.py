"""``dmlcy compare``: every way in which the files of a device can be wrong, and which of them are compared."""

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
    FIRST,
    cases,
    command,
    compare,
    copied,
    edited,
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
from dmlcy._words.values import quote

# Files with mistakes


def problem(pair: tuple[Path, Path], status: int, identifier: str) -> str:
    """The report has the problem once, of the actual file, and goes on with the other output."""
    done, report = compare(*pair)
    assert (done.status, done.err) == (status, "")
    statuses = [one["status"] for one in report["outputs"]]
    said = {"DML-MODEL-actual-missing": "missing"}.get(identifier, "failed" if status == 1 else "unreadable")
    assert statuses == [said, "passed"]
    found = report["outputs"][0]["problem"]
    assert found["id"] == identifier and "output." in found["message"] and "manifest" not in found["message"]
    text = command("compare", *pair).out
    count = "0 failed, 1 missing" if said == "missing" else "1 failed"
    assert text.endswith(f"\n2 outputs: 1 passed, {count}\n")
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


@pytest.mark.parametrize("name", ["ulp", "rtol", "atol"])
@pytest.mark.parametrize("value", ["-1", "x", "nan", "inf", "", "1e999", "\x1b[31m"])
def test_differences_that_are_no_numbers(pair: tuple[Path, Path], name: str, value: str) -> None:
    done = command("compare", *pair, f"--{name}={value}")
    assert (done.status, done.out) == (2, "")
    assert f"argument --{name}: it must be a finite number, 0 or more, not {quote(value)}\n" in done.err
