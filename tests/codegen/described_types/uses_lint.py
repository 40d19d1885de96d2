"""Models with such fields: where each mistake is marked, and the bindings of several tensors."""

from __future__ import annotations

import copy
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from dmlcy._cli import main

PIECES = [{"DataType": "FLOAT32", "Sizes": [size]} for size in (3, 2, 5)]
JOIN = {
    "resources": {
        "A": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 10, "value": 1}},
        "B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 2, "value": 1}},
        "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 10, "value": 0}},
    },
    "dispatchables": {
        "one": {
            "type": "DML_OPERATOR_JOIN",
            "desc": {
                "Axis": 0, "InputCount": 3, "InputTensors": PIECES,
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [10]},
            },
        }
    },
    "commands": [
        {
            "type": "dispatch",
            "dispatchable": "one",
            "bindings": {"InputTensors": ["A", "B", {"name": "A", "elementOffset": 4}], "OutputTensor": "Out"},
        }
    ],
}  # fmt: skip
RNN = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 4]},
    "WeightTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 5, 4]},
    "RecurrenceTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 5, 5]},
    "OutputSingleTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 8, 5]},
    "ActivationDescCount": 2,
    "ActivationDescs": [
        {"Type": "ACTIVATION_CELU", "Alpha": 0.5},
        {"Type": "DML_OPERATOR_ACTIVATION_LEAKY_RELU", "Desc": {"Alpha": 3.5}},
    ],
    "Direction": "DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL",
}


def found(folder: Path, model: Any) -> list[tuple[str, str, str]]:
    """The id, the place and the hint of each finding."""
    file, out = folder / "model.json", io.StringIO()
    file.write_text(json.dumps(model))
    with redirect_stdout(out):
        main(["lint", "--format", "json", str(file)])
    (report,) = json.loads(out.getvalue())["files"]
    return [(one["id"], one["path"].removeprefix("$."), one["hint"]) for one in report["findings"]]


def changed(**desc: Any) -> dict[str, Any]:
    """The model with a network, and other members in its desc."""
    model: dict[str, Any] = {"resources": {}, "dispatchables": {}, "commands": []}
    model["dispatchables"]["one"] = {"type": "DML_OPERATOR_RNN", "desc": {**copy.deepcopy(RNN), **desc}}
    return model


def test_a_model_binds_each_tensor_of_an_array(tmp_path: Path) -> None:
    assert found(tmp_path, JOIN) == []
    assert found(tmp_path, changed()) == []


def test_bindings_of_an_array(tmp_path: Path) -> None:
    model = copy.deepcopy(JOIN)
    bindings = model["commands"][0]["bindings"]
    bindings["InputTensors"] = ["A", "B"]
    assert [one[:2] for one in found(tmp_path, model)] == [
        ("DML-MODEL-bind-count", "commands[0].bindings.InputTensors")
    ]
    bindings["InputTensors"] = ["A", "B", "B"]
    place = "commands[0].bindings.InputTensors[2]"
    assert [one[:2] for one in found(tmp_path, model)] == [("DML-MODEL-buffer-size", place)]
    whole = copy.deepcopy(JOIN)
    whole["dispatchables"][next(iter(whole["dispatchables"]))]["desc"]["InputTensors"] = {}
    assert [one[0] for one in found(tmp_path, whole)] == ["DML-JOIN-inputs-type"]
    bindings["InputTensors"] = ["A", "B", "A"]
    bindings["OutputTensor"] = "A"
    assert {one[0] for one in found(tmp_path, model)} == {"DML-MODEL-shared"}


@pytest.mark.parametrize(
    ("change", "id_", "place"),
    [
        ({"Sizes": [0]}, "DML-JOIN-inputs-range", "InputTensors[1].Sizes[0]"),
        ({"DataType": "INT8"}, "DML-JOIN-inputs-same-dtype", "InputTensors[1].DataType"),
        ({"Sizes": [1, 2]}, "DML-JOIN-inputs-same-rank", "InputTensors[1].Sizes"),
        ({"Sizes": None}, "DML-JOIN-inputs-required", "InputTensors[1].Sizes"),
        ({"Strids": [1]}, "DML-MODEL-unknown", "InputTensors[1].Strids"),
    ],
)
def test_a_mistake_in_a_tensor_is_marked_there(tmp_path: Path, change: Any, id_: str, place: str) -> None:
    model = copy.deepcopy(JOIN)
    model["dispatchables"]["one"]["desc"]["InputTensors"][1].update(change)  # type: ignore[index]
    assert found(tmp_path, model)[0][:2] == (id_, f"dispatchables.one.desc.{place}")


@pytest.mark.parametrize(
    ("entry", "id_", "place", "hint"),
    [
        ({"Type": "ACTIVATION_CELU", "Alpha": "x"}, "DML-ACTIVATION_CELU-alpha-type", "[1].Alpha", ""),
        ({"Type": "ACTIVATION_CELU", "Desc": {"Alpha": "x"}}, "DML-ACTIVATION_CELU-alpha-type", "[1].Desc.Alpha", ""),
        ({"Type": "ACTIVATION_CELU"}, "DML-ACTIVATION_CELU-alpha-required", "[1]", 'Add the member "Alpha".'),
        (
            {"Type": "ACTIVATION_CELU", "Alhpa": 1},
            "DML-ACTIVATION_CELU-alpha-required", "[1].Alhpa", 'Rename "Alhpa" to "Alpha".',
        ),
        ({"Type": "JOIN"}, "DML-RNN-activation_descs-member", "[1]", None),
        ({"Type": "ACTIVATION_RELU", "InputTensor": PIECES[0]}, "DML-RNN-activation_descs-tensors", "[1]", None),
        (None, "DML-RNN-activation_descs-type", "[1]", None),
    ],
)  # fmt: skip
def test_a_mistake_in_an_activation_is_marked_there(
    tmp_path: Path, entry: Any, id_: str, place: str, hint: str | None
) -> None:
    ((identifier, path, said),) = found(tmp_path, changed(ActivationDescs=[RNN["ActivationDescs"][0], entry]))  # type: ignore[index]
    assert (identifier, path) == (id_, f"dispatchables.one.desc.ActivationDescs{place}")
    assert hint is None or said == hint
