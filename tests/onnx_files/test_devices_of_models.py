"""ONNX Runtime's CPU provider as a device: it is right, where its optimiser hides values too; faults are found."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, with which PyTorch writes models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, which is the device")
pytest.importorskip("torch", reason="needs PyTorch, which makes the models")

import onnxruntime as ort
import torch
from depth import deep
from small_models import compare
from test_models import MODELS, exported

from dmlcy._frontends.onnx.exposing import exposed
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import read

FEW = ("attention", "resnet")


def written(name: str, path: Path) -> Any:
    """Write a model, and give its input."""
    torch.manual_seed(1)
    make, draw = MODELS[name]
    x = draw()
    path.write_bytes(exported(make().eval(), x, 21))
    return x.numpy()


def device(path: Path, x: Any) -> dict[str, Any]:
    """The values of all nodes, by ONNX Runtime without its optimiser."""
    for parts, content in exposed(CompiledModel(read(str(path)), {}), {"x": x}).items():
        with path.parent.joinpath("exposed_" + parts[-1]).open("wb") as stream:
            content(stream)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path.parent / "exposed_model.onnx", options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, {"x": x}), strict=True))


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(name, marks=deep) for name in MODELS if name not in FEW)])
def test_onnx_runtime_is_right_and_a_fault_is_found(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    x = written(name, path)
    values = device(path, x)
    model = CompiledModel(read(str(path)), {})
    assert compare(model, {"x": x}, values, tmp_path).passed
    random = np.random.default_rng(0)
    outputs = [one.name for one in model.outputs]
    few = {one: array for one, array in values.items() if one in outputs or random.random() < 0.3}
    assert compare(model, {"x": x}, few, tmp_path).status == 0
    floats = [one for one, array in values.items() if array.dtype == np.float32 and np.isfinite(array).all()]
    for one in random.choice(floats, 3, replace=False):
        wrong = values[one].copy()
        wrong.reshape(-1)[wrong.size // 2] += 1e-3 + 1e-2 * np.abs(wrong).max()
        found = compare(model, {"x": x}, {**values, one: wrong}, tmp_path).first_wrong
        assert found is not None and found.value == one


def test_what_the_optimiser_hides_is_compared_by_its_own_file(tmp_path: Path) -> None:
    """The file of ``optimized_model_filepath`` is a model as any other; the first one is compared by what is left."""
    path, optimized = tmp_path / "model.onnx", tmp_path / "optimized.onnx"
    x = written("attention", path)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(optimized)
    with warnings.catch_warnings(action="ignore"):
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    values = device(optimized, x)
    first, second = (CompiledModel(read(str(one)), {}) for one in (path, optimized))
    assert len(second._model.graph.nodes) < len(first._model.graph.nodes)
    assert compare(second, {"x": x}, values, tmp_path).passed
    assert compare(first, {"x": x}, values, tmp_path).status == 0
