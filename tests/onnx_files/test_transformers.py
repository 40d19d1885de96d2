"""Transformers of PyTorch, quantized ones too, and a Llama of 4 bits: what ONNX Runtime computes."""

from __future__ import annotations

import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, with which PyTorch writes models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are compared")
pytest.importorskip("torch", reason="needs PyTorch, which makes the models")

import onnx
import onnxruntime as ort
from each import each_of
from forms import FORMS, LEVELS, form, optimised
from llama import Llama
from models_table import apart
from transformer_models import SMALL

import dmlcy as dml
from dmlcy._errors import DmlError
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import decode

BOUNDS = {"half": 3e-3}
"""ONNX Runtime keeps FLOAT32 between two nodes of FLOAT16, of which one reads what the other computes."""
GELU = 1e-4
"""FastGelu is the exact GELU in DirectML, and an approximation with a tanh in ONNX Runtime's CPU provider."""
STEP = 1e-2
"""The same where a tensor is quantized afterwards: an element may be a step apart."""
UNKNOWN = ("QGemm", "QLinearMul", "QLinearSoftmax", "FusedGemm")
"""Operators that only ONNX Runtime's CPU provider has, which its optimisers write."""


@cache
def model(name: str) -> tuple[bytes, Any]:
    return SMALL[name]()


def session(data: bytes) -> Any:
    """ONNX Runtime, which computes the nodes as they are written."""
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def must_agree(data: bytes, inputs: Any, bound: float) -> None:
    expected = session(data).run(None, inputs)
    found = CompiledModel(decode("model.onnx", data, None), {}).run(inputs)
    for one, wanted in zip(found.values(), expected, strict=True):
        assert one.shape == wanted.shape and one.dtype == wanted.dtype
        assert apart(one, wanted) <= bound


@pytest.mark.parametrize("name", SMALL)
def test_a_transformer_computes_what_onnx_runtime_computes(name: str) -> None:
    data, inputs = model(name)
    must_agree(data, inputs, 3e-6)
    if name in ("vit", "gpt"):
        must_agree(optimised(data, "extended"), inputs, GELU if name == "gpt" else 3e-6)


@pytest.mark.parametrize("kind", ["half", "qdq", "dynamic"])
def test_forms(kind: str) -> None:
    data, inputs = model("vit")
    made = form(data, kind, inputs)
    must_agree(made, inputs, BOUNDS.get(kind, 3e-6))
    if kind != "half":
        must_agree(optimised(made, "basic"), inputs, 3e-6)


@pytest.mark.deep
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("name", [one for one in SMALL if one != "llama"])
def test_every_form(name: str, kind: str, level: str) -> None:
    data, inputs = model(name)
    made = optimised(form(data, kind, inputs), level)
    gelu = STEP if kind == "dynamic" else GELU
    try:
        must_agree(made, inputs, BOUNDS.get(kind, gelu if (name, level) == ("gpt", "extended") else 3e-6))
    except DmlError as error:
        assert level == "extended" and any(f"({one})" in str(error) for one in UNKNOWN)


def test_a_cache_grows() -> None:
    """The keys and values of a call are those of the next one; the results are those of one call for all tokens."""
    data, inputs = model("gpt")
    compiled = CompiledModel(decode("model.onnx", data, None), {})
    names = [one for one in inputs if one != "ids"]
    tokens = np.random.default_rng(1).integers(0, 50, (2, 6))
    empty = {one: np.zeros((2, 2, 0, 8), np.float32) for one in names}
    whole = [*compiled.run({"ids": tokens, **empty}).values()]
    past: dict[str, Any] = empty
    for place in range(6):
        logits, *present = compiled.run({"ids": tokens[:, place : place + 1], **past}).values()
        past = dict(zip(names, present, strict=True))
        assert apart(logits[:, 0], whole[0][:, place]) < 3e-6
    assert [one.shape for one in past.values()] == [(2, 2, 6, 8)] * 4
    for one, wanted in zip(past.values(), whole[1:], strict=True):
        assert apart(one, wanted) < 3e-6


@pytest.mark.parametrize("zeros", [True, False])
def test_weights_of_4_bits_are_the_numbers_that_they_stand_for(zeros: bool) -> None:
    sizes = 64, 96, 4, 2, 1, 50, 32
    for length in (1, 6):
        both = []
        for bits in (4, 32):
            made = Llama(*sizes, bits=bits, zeros=zeros)
            data, inputs = made.model().SerializeToString(), made.inputs(length, 0)
            found = CompiledModel(decode("llama.onnx", data, None), {}).run(inputs)["logits"]
            both.append(found)
            assert apart(found, session(data).run(["logits"], inputs)[0]) < 3e-6
        assert apart(*both) < 3e-6


@each_of("element", ["INT4", "UINT4"])
def test_constants_of_4_bits_become_numbers_in_the_product(element: str) -> None:
    """All numbers at once would take eight times the memory. The zero point that is left out is 0."""
    random = np.random.default_rng(0)
    data_type = onnx.TensorProto.DataType.Value(element)
    halves = random.integers(0, 256, 256 * 320 // 2, np.uint8)
    scales = onnx.numpy_helper.from_array(random.uniform(0.5, 1.5, (8, 320)).astype(np.float32), "scales")
    weights = onnx.helper.make_tensor("weights", data_type, (256, 320), halves.tobytes(), raw=True)
    x, y = (onnx.helper.make_tensor_value_info(name, 1, ["n", size]) for name, size in (("x", 256), ("y", 320)))
    nodes = [
        onnx.helper.make_node("DequantizeLinear", ["weights", "scales"], ["numbers"], axis=0, block_size=32),
        onnx.helper.make_node("MatMul", ["x", "numbers"], ["y"]),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], [weights, scales])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    data, inputs = made.SerializeToString(), {"x": random.standard_normal((3, 256)).astype(np.float32)}
    must_agree(data, inputs, 3e-6)
    graph = CompiledModel(decode("model.onnx", data, None), {}).graph(inputs)
    assert graph is not None and dml.compile(graph).optimizations.counts["pieces"] == 1


def test_packed_weights_serve_all_sizes() -> None:
    """A model that is compiled for many lengths of a cache packs the same weights each time, and keeps them once."""
    weights = np.random.default_rng(0).standard_normal((512, 768)).astype(np.float32)
    values = {name: onnx.helper.make_tensor_value_info(name, 1, ["n", size]) for name, size in (("x", 512), ("y", 768))}
    nodes = [onnx.helper.make_node("MatMul", ["x", "weights"], ["y"])]
    constants = [onnx.numpy_helper.from_array(weights, "weights")]
    graph = onnx.helper.make_graph(nodes, "g", [values["x"]], [values["y"]], constants)
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    model = CompiledModel(decode("model.onnx", made.SerializeToString(), None), {})
    tracemalloc.start()
    try:
        kept = []
        for rows in (64, 96, 80):
            x = np.ones((rows, 512), np.float32)
            np.testing.assert_allclose(model(x), x @ weights, rtol=0, atol=1e-3)
            kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert kept[0] > weights.nbytes > 4 * (kept[2] - kept[0])
