"""``dmlcy compare``: every way in which the folder of expected values and its manifest can be wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import FIRST, command, compare, copied, edited, expect, manifest, whole, zeros
from old_manifests import aged

import dmlcy as dml
from dmlcy._cli.example import model
from dmlcy._facts.tables import OPERATORS
from dmlcy._judge.expected import manifest_reader


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


def example_desc(name: str) -> dict[str, Any]:
    """The desc of the first example of an operator as JSON."""
    (dispatchable,) = model(OPERATORS[name], OPERATORS[name].examples[0])["dispatchables"].values()
    return {"type": dispatchable["type"], "desc": dispatchable["desc"]}


P = "$.outputs[0]"
DESC = f"{FIRST}/operator/desc"
ID = "AVERAGE_POOLING-window-only-padding"
ALLOWED = "allowed/output.npy"
NUMBERS = {
    "DML-MODEL-type": 5,
    "DML-MODEL-manifest-path": "../x.npy",
    "DML-MODEL-manifest-file": "x.npy",
    "DML-MODEL-npy-type": "output.npy",
    "DML-MODEL-npy-sizes": "three.npy",
    "DML-MODEL-npy": "damaged.npy",
}
"""Mistakes in a file of numbers for the elements of an output."""
FILE = {"path": "a.npy", "resource": "output", "dimensions": [], "size_in_bytes": 16}
OUTSIDE = ("../output.npy", "/etc/passwd", "a/../../x.npy", "", "x.txt", "C:\\x.npy", "..\\x.npy", "a\0.npy")


@pytest.mark.parametrize(
    ("identifier", "path", "value", "place"),
    [
        ("DML-MODEL-manifest", "format", "x", "$"),
        ("DML-MODEL-manifest", "format", ..., "$"),
        ("DML-MODEL-version", "version", 1, "$.version"),
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
        ("DML-MODEL-manifest-file", f"{FIRST}/file", "none.npy", f"{P}.file"),
        ("DML-MODEL-manifest-file", f"{FIRST}/file", "\x1b[31m.npy", f"{P}.file"),
        ("DML-MODEL-missing", f"{FIRST}/resource", ..., P),
        ("DML-MODEL-type", f"{FIRST}/dispatchable", 1, f"{P}.dispatchable"),
        ("DML-MODEL-missing", f"{FIRST}/operator", ..., P),
        ("DML-MODEL-type", f"{FIRST}/operator", [], f"{P}.operator"),
        ("DML-MODEL-missing", f"{FIRST}/operator/type", ..., f"{P}.operator"),
        ("DML-MODEL-operator-unknown", f"{FIRST}/operator/type", "FLY", f"{P}.operator.type"),
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
        ("DML-MODEL-missing", f"{FIRST}/accuracy/allowed", ..., f"{P}.accuracy"),
        ("DML-MODEL-missing", f"{FIRST}/accuracy", {}, f"{P}.accuracy"),
        *(
            (identifier, f"{FIRST}/accuracy/{name}", value, f"{P}.accuracy.{name}")
            for name in ("allowed", "typical")
            for identifier, value in NUMBERS.items()
        ),
        ("DML-MODEL-type", f"{FIRST}/flushed", "x.npy", f"{P}.flushed"),
        ("DML-MODEL-missing", f"{FIRST}/flushed", {"file": "output.npy"}, f"{P}.flushed"),
        ("DML-MODEL-missing", f"{FIRST}/flushed", {"allowed": "allowed/output.npy"}, f"{P}.flushed"),
        *(
            (identifier, f"{FIRST}/flushed", {"file": "output.npy", "allowed": value}, f"{P}.flushed.allowed")
            for identifier, value in NUMBERS.items()
        ),
        ("DML-MODEL-npy-type", f"{FIRST}/flushed", {"file": ALLOWED, "allowed": ALLOWED}, f"{P}.flushed.file"),
        ("DML-MODEL-type", f"{FIRST}/not_judged", {}, f"{P}.not_judged"),
        ("DML-MODEL-type", f"{FIRST}/not_judged", ["x.npy"], f"{P}.not_judged[0]"),
        ("DML-MODEL-missing", f"{FIRST}/not_judged", [{"id": ID}], f"{P}.not_judged[0]"),
        ("DML-MODEL-missing", f"{FIRST}/not_judged", [{"file": "output.npy"}], f"{P}.not_judged[0]"),
        ("DML-MODEL-type", f"{FIRST}/not_judged", [{"id": 1, "file": "output.npy"}], f"{P}.not_judged[0].id"),
        *(
            ("DML-MODEL-reference", f"{FIRST}/not_judged", [{"id": id_, "file": "output.npy"}], f"{P}.not_judged[0].id")
            for id_ in ("", "beyond the range", "DML-AVERAGE_POOLING-window_size-fits", "REDUCE-nan-and-zeros", "\x1b")
        ),
        *(
            (identifier, f"{FIRST}/not_judged", [{"id": ID, "file": value}], f"{P}.not_judged[0].file")
            for identifier, value in NUMBERS.items()
        ),
        ("DML-MODEL-manifest-file", f"{FIRST}/standing", "x.npy", f"{P}.standing"),
        ("DML-MODEL-manifest-file", f"{FIRST}/inputs/InputTensor/file", "x.npy", f"{P}.inputs.InputTensor.file"),
        ("DML-MODEL-npy-sizes", f"{FIRST}/file", "uoutput.npy", f"{P}.file"),
        ("DML-MODEL-npy-type", f"{FIRST}/file", ALLOWED, f"{P}.file"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isascii() and value.isprintable() else "",
)
def test_an_edited_manifest(pair: tuple[Path, Path], identifier: str, path: str, value: Any, place: str) -> None:
    wrong_files(pair[0], np.uint8 if "not_judged" in path else np.float64)
    edited(pair, path, value)
    refused(pair, identifier, place)


def wrong_files(expected: Path, dtype: Any) -> None:
    """The files of NUMBERS."""
    np.save(expected / "three.npy", np.zeros(3, dtype))
    (expected / "damaged.npy").write_bytes(b"abc")


@pytest.mark.parametrize(
    ("identifier", "name", "value", "place"),
    [
        ("DML-MODEL-choice", "ulp", 0, ".ulp"),
        ("DML-MODEL-choice", "ulp", -1, ".ulp"),
        ("DML-MODEL-choice", "ulp", 10**400, ".ulp"),
        ("DML-MODEL-type", "ulp", True, ".ulp"),
        ("DML-MODEL-missing", "ulp", ..., ""),
        ("DML-MODEL-missing", "formula", ..., ""),
        ("DML-MODEL-choice", "of", "sizes", ".of"),
        ("DML-MODEL-missing", "tolerance", ..., ""),
        *((identifier, "tolerance", value, ".tolerance") for identifier, value in NUMBERS.items()),
        *((identifier, "allowed", value, ".allowed") for identifier, value in NUMBERS.items()),
    ],
)
def test_an_edited_manifest_of_version_2(
    pair: tuple[Path, Path], identifier: str, name: str, value: Any, place: str
) -> None:
    aged(pair[0])
    wrong_files(pair[0], np.float64)
    edited(pair, f"{FIRST}/accuracy/{name}", value)
    refused(pair, identifier, f"{P}.accuracy{place}")


@pytest.mark.parametrize("version", [2, 3])
def test_members_of_another_version_are_ignored(pair: tuple[Path, Path], version: int) -> None:
    """Each such member is unknown, whatever its value is, and a warning says so."""
    names = {"typical", "flushed", "not_judged"} if version == 2 else {"ulp", "formula", "of", "tolerance"}
    if version == 2:
        aged(pair[0])
    for name in names:
        inner = "accuracy/" if version == 3 or name == "typical" else ""
        edited(pair, f"{FIRST}/{inner}{name}", 5)
    done, report = compare(*pair)
    assert done.status == 0 and report["passed"]
    warned = [one["message"] for one in report["warnings"] if one["id"] == "DML-MODEL-unknown"]
    assert len(warned) == len(names) and all(any(f'"{name}"' in one for one in warned) for name in names)


def test_an_operator_that_does_not_run(pair: tuple[Path, Path], described: str) -> None:
    edited(pair, f"{FIRST}/operator", example_desc(described))
    refused(pair, "DML-MODEL-operator-not-runnable", f"{P}.operator.type")


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
@pytest.mark.parametrize("member", ["allowed", "typical", "tolerance", "flushed"])
def test_a_difference_below_0(pair: tuple[Path, Path], member: str, value: float) -> None:
    if member == "tolerance":
        aged(pair[0])
    values = np.ones((1, 1, 2, 2))
    values[0, 0, 1, 1] = value
    np.save(pair[0] / "negative.npy", values)
    if member == "flushed":
        edited(pair, f"{FIRST}/flushed", {"file": "output.npy", "allowed": "negative.npy"})
    else:
        edited(pair, f"{FIRST}/accuracy/{member}", "negative.npy")
    place = "flushed.allowed" if member == "flushed" else f"accuracy.{member}"
    refused(pair, "DML-MODEL-manifest-tolerance", f"{P}.{place}", "has an element below 0. Its elements are")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("member", ["allowed", "typical"])
def test_a_difference_that_is_not_finite(pair: tuple[Path, Path], member: str, value: float) -> None:
    """Any number passes, none is suspect, and nothing breaks."""
    np.save(pair[0] / "all.npy", np.full((1, 1, 2, 2), value))
    edited(pair, f"{FIRST}/accuracy/{member}", "all.npy")
    assert [one["status"] for one in compare(*pair)[1]["outputs"]] == [
        "not judged" if member == "allowed" else "passed", "passed"
    ]  # fmt: skip
    np.save(pair[1] / "output.npy", np.full((1, 1, 2, 2), 7, "f4"))
    assert compare(*pair)[1]["outputs"][0]["status"] == ("not judged" if member == "allowed" else "failed")


def test_an_input_that_is_needed_for_another_bound(pair: tuple[Path, Path]) -> None:
    """With --allow-half-precision, the bound comes from the inputs, which must be there and be right ones."""
    half = half_gather(pair[0].parent / "half")
    assert compare(*half, "--allow-half-precision")[0].status == 0
    node = manifest(half[0])["outputs"][0]["inputs"]
    indices = half[0] / node["IndicesTensor"]["file"]
    np.save(indices, np.array([99], np.uint32))
    for options, status in (([], 0), (["--allow-half-precision"], 2)):
        done = command("compare", *half, *options)
        assert done.status == status and ("$.outputs[0].inputs: " in done.err) == bool(status), done.err
    edited(half, f"{FIRST}/inputs/IndicesTensor", ...)
    done = command("compare", *half, "--allow-half-precision")
    assert done.status == 2 and "[DML-MODEL-missing]" in done.err


def half_gather(folder: Path) -> tuple[Path, Path]:
    """Two of three numbers of FLOAT16, and a device that gives them."""
    tensors = {"input": dml.TensorDesc("FLOAT16", (3,)), "indices": dml.TensorDesc("UINT32", (1,))}
    desc = dml.desc.Gather(**tensors, axis=0, index_dimensions=1)
    resources = {
        "x": {"initialValuesDataType": "FLOAT16", "initialValues": [1, 2, 3, 0]},
        "i": {"initialValuesDataType": "UINT32", "initialValues": [1]},
        "o": zeros(2, "FLOAT16"),
    }
    bindings = {"InputTensor": "x", "IndicesTensor": "i", "OutputTensor": "o"}
    one = {"type": "dispatch", "dispatchable": "g", "bindings": bindings}
    expected = expect(folder, whole(resources, {"g": desc.to_dict()}, one))
    return expected, copied(expected, folder / "actual")


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


def test_a_manifest_of_a_version_that_is_not_read(pair: tuple[Path, Path]) -> None:
    edited(pair, "version", manifest_reader.VERSIONS.newest + 1)
    edited(pair, "written", ...)
    refused(pair, "DML-MODEL-version", "$.version", "Compare with the version of dmlcy that wrote the file")
    edited(pair, "version", manifest_reader.VERSIONS.oldest - 1)
    refused(pair, "DML-MODEL-version", "$.version", "Write the expected values again: dmlcy run --expect.")
