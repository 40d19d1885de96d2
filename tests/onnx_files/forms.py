"""Forms of one model: as it is written, in FLOAT16, quantized in three ways, and as ONNX Runtime optimises each."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quant_pre_process,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.transformers.float16 import convert_float_to_float16

FORMS = ("float", "half", "qdq", "qoperator", "dynamic")
LEVELS = ("written", "basic", "extended")
QUANTIZED = ("Add", "Concat", "Conv", "MatMul")
"""Operators whose forms for quantized integers DirectML has: of others, only ONNX Runtime's CPU provider has one."""


class _Reader(CalibrationDataReader):
    def __init__(self, inputs: Sequence[Mapping[str, Any]]) -> None:
        self.left = iter(inputs)

    def get_next(self) -> Any:
        return next(self.left, None)


def form(data: bytes, name: str, inputs: Mapping[str, Any]) -> bytes:
    """The bytes of a form of a model; ``inputs``: what it is quantized for."""
    if name == "float":
        return data
    model = onnx.load_from_string(data)
    if name == "half":
        found: bytes = convert_float_to_float16(model, keep_io_types=True).SerializeToString()
        return found
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
        before.write_bytes(data)
        if name == "dynamic":
            quantize_dynamic(before, after, weight_type=QuantType.QUInt8)  # DirectML asks for those of the other matrix
        else:
            quant_pre_process(before, before, skip_symbolic_shape=True, skip_optimization=name == "qoperator")
            kind, chosen = (QuantFormat.QDQ, None) if name == "qdq" else (QuantFormat.QOperator, QUANTIZED)
            quantize_static(before, after, _Reader([inputs]), quant_format=kind, op_types_to_quantize=chosen)
        return after.read_bytes()


def optimised(data: bytes, level: str) -> bytes:
    """The model after the optimisers of ONNX Runtime for the CPU, of a level and those below."""
    if level == "written":
        return data
    options = ort.SessionOptions()
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if level == "basic" else levels.ORT_ENABLE_EXTENDED
    options.log_severity_level = 4
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = str(Path(folder, "model.onnx"))
        ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return Path(options.optimized_model_filepath).read_bytes()


def exported(net: Any, inputs: Mapping[str, Any], free: Mapping[str, Mapping[int, str]], opset: int = 17) -> bytes:
    """The model of a network of PyTorch; ``free``: the names of free dimensions of inputs and outputs."""
    import torch

    stream = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(
            net.eval(), tuple(map(torch.as_tensor, inputs.values())), stream, opset_version=opset, dynamo=False,
            input_names=[*inputs], dynamic_axes=free, verbose=False,
        )  # fmt: skip
    return stream.getvalue()
