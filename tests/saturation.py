"""Whether ONNX Runtime's products of 8-bit integers are wrong on this processor."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest


@cache
def saturates() -> bool:
    """Whether two products of UINT8 and INT8 are added in 16 bits, as ONNX Runtime does on processors without VNNI."""
    parser = pytest.importorskip("onnx.parser", reason="needs onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose products these are")
    text = (
        '<ir_version: 8, opset_import: ["" : 13]>'
        "g (uint8[1, 2] x, int8[2, 1] w) => (int32[1, 1] y) {y = MatMulInteger(x, w)}"
    )
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    model = parser.parse_model(text).SerializeToString()
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.full((1, 2), 255, np.uint8), "w": np.full((2, 1), 127, np.int8)})
    return int(found[0, 0]) != 2 * 255 * 127


def unsaturated(weights: Any) -> Any:
    """The weights, in 7 bits where 8 bits saturate."""
    return weights >> 1 if weights.dtype.kind == "i" and saturates() else weights
