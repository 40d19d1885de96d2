"""The functions of ``dmlcy.onnx`` refuse arguments that are no data types, no sizes and no releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy.onnx
from dmlcy import ModelError

MODEL = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"


@pytest.mark.parametrize("types", ["FLOAT23", ["float32"], [1], ["FLOAT32", None]])
def test_data_types_that_are_none(types: Any) -> None:
    with pytest.raises(ValueError, match="is no data type of DirectML: FLOAT32"):
        dmlcy.onnx.report(MODEL, device_types=types)


def test_a_data_type_by_itself() -> None:
    several = (dmlcy.onnx.report(MODEL, device_types=types) for types in ("FLOAT32", ["FLOAT32"]))
    one, other = ([node.where for node in report.nodes] for report in several)
    assert one == other


@pytest.mark.parametrize("sizes", [-1, (1, -3, 8, 8), "1x1x8x8", b"1", 1.5, (1, 2.5), None, (None,), ("1",)])
def test_sizes_that_are_none(sizes: Any) -> None:
    for function in (dmlcy.onnx.report, dmlcy.onnx.check):
        with pytest.raises(ValueError, match="sizes are integers, 0 or more"):
            function(MODEL, shapes={"batch": sizes})


@pytest.mark.parametrize("sizes", [2, (2,), [np.int64(2)], np.array([2])])
def test_sizes_of_any_integers(sizes: Any) -> None:
    assert dmlcy.onnx.report(MODEL, shapes={"batch": sizes}).dimensions == ()


def test_names_and_releases_that_the_model_does_not_have() -> None:
    with pytest.raises(ModelError, match="DML-ONNX-shape-name"):
        dmlcy.onnx.check(MODEL, shapes={"bach": 2})
    with pytest.raises(ValueError, match=r"knows the releases 1\.30"):
        dmlcy.onnx.report(MODEL, onnxruntime="1.2")
    with pytest.raises(ValueError, match="7_0"):
        dmlcy.onnx.report(MODEL, feature_level="7_0")
