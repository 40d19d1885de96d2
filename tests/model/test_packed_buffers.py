"""Models with buffers of INT4 and UINT4: initial values, what is written, expected values, offsets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from four_bits import packed_bytes
from helpers import storage

import dmlcy as dml
from dmlcy._cli import main

X, ZERO = [1, 2, 3, 15, 0, 9], [2, 0, 15]
"""What is dequantized, in blocks of two, with these zero points; the scales are 0.5, 1 and 2."""
Y = [-0.5, 0.0, 3.0, 15.0, -30.0, -12.0]


def tensor(dtype: str, *sizes: int) -> dict[str, Any]:
    return {"DataType": dtype, "Sizes": [*sizes]}


def operator(name: str, source: str, target: str) -> dict[str, Any]:
    desc = {
        "InputTensor": tensor(source, 6),
        "QuantizationType": "SCALE_ZERO_POINT",
        "QuantizationTensorCount": 2,
        "QuantizationTensors": [tensor("FLOAT32", 3), tensor("UINT4", 3)],
        "OutputTensor": tensor(target, 6),
    }
    return {"type": f"DML_OPERATOR_{name}", "desc": desc}


def model(**changes: Any) -> dict[str, Any]:
    """Numbers from packed ones, and these packed again."""
    bound = {"QuantizationTensors": ["scale", "zero"]}
    resources = {
        "x": {"initialValuesDataType": "UINT4", "initialValues": X},
        "zero": {"initialValuesDataType": "UINT4", "initialValues": ZERO},
        "scale": {"initialValuesDataType": "FLOAT32", "initialValues": [0.5, 1, 2]},
        "y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}},
        "q": {"initialValuesDataType": "UINT4", "initialValues": {"valueCount": 6, "value": 7}},
    }
    return {
        "resources": resources | changes,
        "dispatchables": {
            "d": operator("DEQUANTIZE", "UINT4", "FLOAT32"),
            "e": operator("QUANTIZE", "FLOAT32", "UINT4"),
        },
        "commands": [
            {"type": "print", "resource": "q"},
            {"type": "dispatch", "dispatchable": "d", "bindings": {"InputTensor": "x", **bound, "OutputTensor": "y"}},
            {"type": "print", "resource": "y"},
            {"type": "dispatch", "dispatchable": "e", "bindings": {"InputTensor": "y", **bound, "OutputTensor": "q"}},
            {"type": "print", "resource": "q"},
            {"type": "writeFile", "resource": "q", "targetPath": "q.npy", "dimensions": [2, 3]},
            {"type": "writeFile", "resource": "q", "targetPath": "q.bin"},
            {"type": "writeFile", "resource": "y", "targetPath": "y.npy"},
        ],
    }


def written(folder: Path, whole: dict[str, Any]) -> str:
    path = folder / "model.json"
    path.write_text(json.dumps(whole))
    return str(path)


def test_initial_values_print_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, model())
    assert main(["lint", path]) == 0
    capsys.readouterr()
    assert main(["run", path, "--output-path", str(tmp_path)]) == 0
    said = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines() if line.startswith("Resource")]
    assert said[:3] == ["7, 7, 7, 7, 7, 7", ", ".join(f"{one:g}" for one in Y), ", ".join(map(str, X))]
    expected = packed_bytes(np.array(X))
    assert (tmp_path / "q.bin").read_bytes() == expected.tobytes()
    found = np.load(tmp_path / "q.npy")
    assert found.dtype == np.uint8 and found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([-8, 7, -1], "INT4", [-8, 7, -1]),
        ({"valueCount": 5, "value": -3}, "INT4", [-3] * 5),
        ({"valueCount": 16, "valueStart": -8, "valueDelta": 1}, "INT4", [*range(-8, 8)]),
        ({"valueCount": 15, "valueStart": 15, "valueDelta": -1}, "INT4", None),
        ({"valueCount": 3, "valueStart": 1, "valueDelta": 7}, "UINT4", [1, 8, 15]),
    ],
)
def test_forms_of_initial_values(values: Any, dtype: str, expected: list[int] | None) -> None:
    """The last half of an odd number of elements is 0."""
    given = {"initialValuesDataType": dtype, "initialValues": values}
    if expected is None:
        with pytest.raises(dml.ModelError) as caught:
            storage(given)
        assert caught.value.id == "DML-MODEL-value"
        return
    found = storage(given)
    assert found.size == (len(expected) + 1) // 2
    assert found.data[: found.size].tolist() == packed_bytes(np.array(expected)).tolist()


@pytest.mark.parametrize(("value", "dtype"), [(8, "INT4"), (-9, "INT4"), (16, "UINT4"), (-1, "UINT4"), (1.5, "UINT4")])
def test_values_that_4_bits_cannot_hold(value: float, dtype: str) -> None:
    with pytest.raises(dml.ModelError) as caught:
        storage({"initialValuesDataType": dtype, "initialValues": [value]})
    assert caught.value.id == "DML-MODEL-value"


def test_files_have_the_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", packed_bytes(np.array(X)))
    packed_bytes(np.array(ZERO)).tofile(tmp_path / "zero.bin")
    files = {
        "x": {"initialValuesDataType": "UINT4", "initialValues": {"sourcePath": "x.npy"}},
        "zero": {"initialValuesDataType": "UINT4", "initialValues": {"sourcePath": "zero.bin"}},
    }
    assert main(["run", written(tmp_path, model(**files)), "--output-path", str(tmp_path)]) == 0
    assert np.load(tmp_path / "y.npy").tolist() == Y
    np.save(tmp_path / "x.npy", np.array(X, np.int8))
    assert main(["run", written(tmp_path, model(**files)), "--output-path", str(tmp_path)]) == 1
    assert "DML-MODEL-npy-type" in capsys.readouterr().err


def test_a_list_of_single_values_has_none_of_4_bits() -> None:
    with pytest.raises(dml.ModelError) as caught:
        storage({"initialValues": [{"type": "UINT4", "value": 1}]})
    assert caught.value.id == "DML-MODEL-data-type"


def test_offsets_lead_to_whole_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An offset counts elements: two of them are a byte."""
    whole = model(x={"initialValuesDataType": "UINT4", "initialValues": [7, 7, *X, 7, 7]})
    binding = whole["commands"][1]["bindings"]
    for offset, status in ((2, 0), (3, 1)):
        binding["InputTensor"] = {"name": "x", "elementOffset": offset}
        path = written(tmp_path, whole)
        assert main(["lint", path]) == status
        said = capsys.readouterr()
        assert ("DML-MODEL-packed-offset" in said.out) is bool(status), said
        assert main(["run", path, "--output-path", str(tmp_path)]) == status
        said = capsys.readouterr()
        assert ("DML-MODEL-packed-offset" in said.err) is bool(status), said
    assert np.load(tmp_path / "y.npy").tolist() == Y


def test_expected_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The expected values are those of the reference, packed as a device writes them. A half of a byte that differs
    fails.
    """
    path = written(tmp_path, model())
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    assert main(["run", path, "--output-path", str(theirs), "--expect", str(ours)]) == 0
    assert np.load(ours / "q.npy").tolist() == packed_bytes(np.array(X)).tolist()
    assert np.load(ours / "inputs" / "zero.npy").tolist() == packed_bytes(np.array(ZERO)).tolist()
    assert main(["compare", str(ours), str(theirs)]) == 0
    data = np.fromfile(theirs / "q.bin", np.uint8)
    data[1] ^= 0x20
    data.tofile(theirs / "q.bin")
    capsys.readouterr()
    assert main(["compare", str(ours), str(theirs)]) == 1
    said = capsys.readouterr().out
    assert "worst element [3]: expected 15 (0x0F), actual 13 (0x0D)" in said, said
    np.save(theirs / "q.npy", np.array(X, np.int8))
    assert main(["compare", str(ours), str(theirs)]) == 1
    assert "DML-MODEL-npy-type" in capsys.readouterr().out
    raw = tmp_path / "raw"
    raw.mkdir()
    for file in ("y.npy", "q.npy"):
        np.save(raw / file, np.load(ours / file))
    (raw / "q.bin").write_bytes(packed_bytes(np.array(X)).tobytes()[:-1])
    assert main(["compare", str(ours), str(raw)]) == 1


def test_an_output_that_is_partly_written_over(tmp_path: Path) -> None:
    """The elements in the bytes that a later dispatch writes do not count."""
    whole = model(q={"initialValuesDataType": "UINT4", "initialValues": {"valueCount": 12, "value": 0}})
    again = json.loads(json.dumps(whole["commands"][3]))
    again["bindings"]["OutputTensor"] = {"name": "q", "elementOffset": 4}
    whole["commands"] = [whole["commands"][1], whole["commands"][3], again]
    ours = tmp_path / "ours"
    assert main(["run", written(tmp_path, whole), "--output-path", str(tmp_path), "--expect", str(ours)]) == 0
    outputs = json.loads((ours / "manifest.json").read_text())["outputs"]
    (first,) = (one for one in outputs if "standing" in one)
    assert np.load(ours / first["standing"]).tolist() == [1, 1, 1, 1, 0, 0]
    assert [one["buffer"]["offset_in_bytes"] for one in outputs if one["resource"] == "q"] == [0, 2]
