"""Models that packages ship, beside ONNX Runtime: those of onnx, and of the packages of ``PACKAGES``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, which ships models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are compared")

import onnxruntime as ort
from shipped_models import SIZES, drawn, shipped

import dmlcy.onnx

NEAR_ZERO = ("ch_PP-OCRv4_det_infer.onnx",)
"""Models that end in numbers next to 0, of which ONNX Runtime's Sigmoid is off by 1e-7."""


@pytest.mark.parametrize("path", [*shipped()], ids=lambda path: path.name)
def test_a_model_computes_what_onnx_runtime_computes(path: Path) -> None:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    inputs = {one.name: drawn(one, SIZES.get(path.name, {}), random) for one in session.get_inputs()}
    expected = session.run(None, inputs)
    found = dmlcy.onnx.load(path).run(inputs)
    for one, wanted in zip(found.values(), expected, strict=True):
        largest = np.abs(wanted).max(initial=0)
        absolute = 1e-6 if path.name in NEAR_ZERO else 3e-5 * largest
        np.testing.assert_allclose(one, wanted, rtol=0, atol=absolute)
