"""Recordings as models: what is written, to which folders, and what a recorded call is."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "operators"))

from checks import assert_same_bits
from example_descs import inputs_of
from pooled import X, pool
from strategies import (
    MODES,
)

import dmlcy as dml
from dmlcy._facts.tables import LEVELS, RUNNABLE
from dmlcy._frontends.dxdispatch import files

# Models


def test_reprs_are_short() -> None:
    recording = dml.record()
    assert repr(recording) == "<new dmlcy.Recording of 0 calls>"
    with recording:
        pool(np.zeros((1, 1, 300, 300), np.float32))
        assert repr(recording) == "<open dmlcy.Recording of 1 call>"
    assert repr(recording) == "<closed dmlcy.Recording of 1 call>"
    assert repr(recording.calls[0]) == f"RecordedCall({recording.calls[0].desc!r})"


def test_recorded_calls_are_frozen_and_travel() -> None:
    with dml.record() as recording:
        pool()
    (call,) = recording.calls
    with pytest.raises(dataclasses.FrozenInstanceError):
        call.desc = None  # type: ignore[assignment, misc]  # frozen
    assert not hasattr(call, "__dict__")
    for again in (pickle.loads(pickle.dumps(call)), copy.deepcopy(call)):
        assert again.desc == call.desc
        assert_same_bits(again.inputs["input"], X)
        assert_same_bits(again.outputs["output"], pool())


def test_the_model(tmp_path: Path) -> None:
    with dml.record() as recording:
        dml.padding1(X.astype(np.uint8), start_padding=1, end_padding=1, padding_mode="EDGE")
    written = recording.export(tmp_path / "a" / "b")
    assert written == dml.Export(tmp_path / "a" / "b" / "model.json", ())
    assert sorted(path.name for path in written.model.parent.iterdir()) == ["1_padding1_input.npy", "model.json"]
    assert_same_bits(np.load(written.model.parent / "1_padding1_input.npy"), X.astype(np.uint8))
    whole = json.loads(written.model.read_text("utf-8"))
    sizes = [3, 4, 6, 6]
    assert whole == {
        "resources": {
            "1_padding1_input": {"initialValues": {"sourcePath": "1_padding1_input.npy"}},
            "1_padding1_output": {
                "initialValuesDataType": "UINT8",
                "initialValues": {"valueCount": 3 * 4 * 6 * 6, "value": 0},
            },
        },
        "dispatchables": {
            "1_padding1": {
                "type": "DML_OPERATOR_PADDING1",
                "desc": {
                    "InputTensor": {"DataType": "DML_TENSOR_DATA_TYPE_UINT8", "Sizes": [1, 2, 4, 4]},
                    "OutputTensor": {"DataType": "DML_TENSOR_DATA_TYPE_UINT8", "Sizes": sizes},
                    "PaddingMode": "DML_PADDING_MODE_EDGE",
                    "PaddingValueDataType": "DML_TENSOR_DATA_TYPE_UINT8",
                    "PaddingValue": 0,
                    "DimensionCount": 4,
                    "StartPadding": [1] * 4,
                    "EndPadding": [1] * 4,
                },
            }
        },
        "commands": [
            {
                "type": "dispatch",
                "dispatchable": "1_padding1",
                "bindings": {"InputTensor": "1_padding1_input", "OutputTensor": "1_padding1_output"},
            },
            {
                "type": "writeFile",
                "resource": "1_padding1_output",
                "targetPath": "1_padding1_output.npy",
                "dimensions": sizes,
            },
        ],
    }


def test_what_no_stock_dxdispatch_knows(tmp_path: Path) -> None:
    (unknown,) = [level.name for level in LEVELS if not level.dxdispatch]
    with dml.record() as recording:
        for mode in MODES:
            dml.padding1(X, start_padding=1, end_padding=1, padding_mode=mode)  # type: ignore[call-overload]
        dml.unfold(X, window_sizes=2)
        dml.unfold(X, window_sizes=2)
    assert recording.export(tmp_path).unknown_to_dxdispatch == (
        f"feature level {unknown}, which padding_mode WRAP needs",
        f"feature level {unknown}, which UNFOLD needs",
    )
    for operator in RUNNABLE.values():
        with dml.record() as recording:
            for example in operator.examples:
                arrays = inputs_of(operator, example)
                optional = [field.python for field in operator.fields if field.kind == "output" and field.optional]
                asked = {name: True for name in optional if name in example.outputs}
                getattr(dml, operator.python)(**arrays, **operator.example_arguments(example), **asked)
        found = recording.export(tmp_path).unknown_to_dxdispatch
        levels = [dml.minimum_feature_level(call.desc).level for call in recording.calls]
        assert bool(found) == (unknown in levels)


# Folders


@pytest.fixture
def recording() -> dml.Recording:
    with dml.record() as found:
        pool()
        dml.unfold(X, window_sizes=2)
    return found


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(identifier: str, recording: dml.Recording, folder: Any) -> str:
    with pytest.raises(dml.ModelError) as caught:
        recording.export(folder)
    assert caught.value.id == identifier
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_nothing_to_export(tmp_path: Path) -> None:
    with dml.record() as empty:
        pass
    refused("DML-MODEL-no-calls", empty, tmp_path / "model")
    assert listing(tmp_path) == []


def test_folders_that_cannot_be_written(tmp_path: Path, recording: dml.Recording) -> None:
    (tmp_path / "file").write_text("here")
    (tmp_path / "taken" / "model.json").mkdir(parents=True)
    (tmp_path / "loop").symlink_to("loop")
    before = listing(tmp_path)
    refused("DML-MODEL-write", recording, tmp_path / "file")
    refused("DML-MODEL-write", recording, str(tmp_path / "file" / "below"))
    refused("DML-MODEL-write", recording, tmp_path / "taken")
    refused("DML-MODEL-write", recording, tmp_path / "loop")
    refused("DML-MODEL-write", recording, tmp_path / "nul\0")
    refused("DML-MODEL-write", recording, tmp_path / ("n" * 400))
    assert "\x1b" not in refused("DML-MODEL-write", recording, tmp_path / "file" / "\x1b[31mred")
    assert listing(tmp_path) == before


def test_a_failure_leaves_the_old_model(
    tmp_path: Path, recording: dml.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.export(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with dml.record() as other:
        pool(X + 1)
        dml.unfold(X + 1, window_sizes=2)
        pool(X + 2)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    writes = files._Pieces
    opened: list[int] = []

    def third_fails(*arguments: Any) -> Any:
        opened.append(0)
        return full() if len(opened) == 3 else writes(*arguments)

    monkeypatch.setattr(files, "_Pieces", third_fails)
    assert "No space left on device" in refused("DML-MODEL-write", other, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_export_over_another(tmp_path: Path, recording: dml.Recording) -> None:
    first = recording.export(tmp_path)
    mode = stat.S_IMODE(first.model.stat().st_mode)
    assert recording.export(tmp_path) == first
    assert stat.S_IMODE(first.model.stat().st_mode) == mode
    assert listing(tmp_path) == ["1_average_pooling_input.npy", "2_unfold_input.npy", "model.json"]


def test_an_export_in_the_block_has_the_calls_so_far(tmp_path: Path) -> None:
    with dml.record() as recording:
        pool()
        recording.export(tmp_path)
        pool()
    assert listing(tmp_path) == ["1_average_pooling_input.npy", "model.json"]
