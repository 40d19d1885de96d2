"""Random graphs of what an optimiser joins: the results stay, and no node is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from depth import seeds_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

import onnxruntime
from onnx import helper, numpy_helper
from protos import model_of

from dmlcy._frontends.onnx.fusing import optimized
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.report import report_of
from dmlcy._frontends.onnx.structure import check

COUNT = 6
STEPS = 10
ROOT2, WIDTH = np.float32(np.sqrt(2)), 4
PLANES, ROWS = (1, WIDTH, 5, 5), (2, 3, WIDTH)


class Chain:
    """A model of random pieces behind each other; some read a value of before, and some values are outputs."""

    def __init__(self, seed: int, opset: int) -> None:
        self.random = np.random.default_rng(seed)
        self.opset = opset
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.planes = bool(self.random.integers(2))
        self.values = ["x"]
        pieces = (self.conv, self.scaled) if self.planes else (self.dense, self.gelu, self.norm, self.product)
        for _ in range(STEPS):
            piece = (*pieces, self.activation, self.nothing, self.sum)[self.random.integers(len(pieces) + 3)]
            self.values.append(piece(self.value()))
        self.outputs = {self.values[-1], *self.random.choice(self.values[1:], 2)}

    def value(self) -> str:
        """Most often the last value."""
        return self.values[-1] if self.random.random() < 0.8 else str(self.random.choice(self.values))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=f"n{len(self.nodes)}", **attributes))
        return output

    def given(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, getattr(array, "dtype", np.float32)), name))
        return name

    def drawn(self, *sizes: int) -> str:
        return self.given(self.random.standard_normal(sizes).astype(np.float32) / 2)

    def conv(self, x: str) -> str:
        bias = [self.drawn(WIDTH)] if self.random.integers(2) else []
        if self.random.integers(2):
            pads = np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)
            return self.add("Conv", self.add("Pad", x, self.given(pads)), self.drawn(WIDTH, WIDTH, 3, 3), *bias)
        return self.add("Conv", x, self.drawn(WIDTH, WIDTH, 3, 3), *bias, pads=[1, 1, 1, 1])

    def scaled(self, x: str) -> str:
        kind = self.random.integers(3)
        if kind == 2:
            vectors = [self.drawn(WIDTH) for _ in range(3)] + [self.given(np.ones(WIDTH, np.float32))]
            return self.add("BatchNormalization", x, *vectors, epsilon=0.25)
        return self.add(
            ("Mul", "Add")[kind], x, self.drawn(*((WIDTH, 1, 1), (1, WIDTH, 1, 1), ())[self.random.integers(3)])
        )

    def dense(self, x: str) -> str:
        made = self.add("MatMul", x, self.drawn(WIDTH, WIDTH))
        return self.add("Add", *self.mixed(made, self.drawn(WIDTH))) if self.random.random() < 0.8 else made

    def product(self, x: str) -> str:
        turned = self.add("Transpose", x, perm=[0, 2, 1])
        made = self.add("MatMul", x, turned)
        half = self.given(np.float32(0.5))
        scaled = self.add(("Mul", "Div")[self.random.integers(2)], made, half) if self.random.integers(2) else made
        return self.add("MatMul", self.add("Softmax", scaled), x)

    def gelu(self, x: str) -> str:
        erf = self.add("Erf", self.add("Div", x, self.given(ROOT2)))
        one = self.add("Add", *self.mixed(erf, self.given(np.float32(1))))
        if self.random.integers(2):
            return self.add("Mul", self.add("Mul", x, one), self.given(np.float32(0.5)))
        return self.add("Mul", self.add("Mul", x, self.given(np.float32(0.5))), one)

    def norm(self, x: str) -> str:
        if self.random.integers(2) and self.opset > 16:
            return self.add("LayerNormalization", x, self.drawn(WIDTH), self.drawn(WIDTH))
        away = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        square = self.add("ReduceMean", self.add("Pow", away, self.given(np.float32(2))), axes=[-1])
        root = self.add("Sqrt", self.add("Add", square, self.given(np.float32(0.01))))
        return self.add("Add", self.add("Mul", self.add("Div", away, root), self.drawn(WIDTH)), self.drawn(WIDTH))

    def activation(self, x: str) -> str:
        kind = str(self.random.choice(["Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "Swish"]))
        if kind == "Swish":
            return self.add("Mul", *self.mixed(x, self.add("Sigmoid", x)))
        if kind == "Clip":
            return self.add("Clip", self.add("Relu", x), self.given(np.float32(-1)), self.given(np.float32(2)))
        return self.add(kind, x)

    def nothing(self, x: str) -> str:
        return self.add(str(self.random.choice(["Identity", "Dropout"])), x)

    def sum(self, x: str) -> str:
        return self.add(str(self.random.choice(["Add", "Sum"])), x, self.value())

    def mixed(self, *names: str) -> list[str]:
        return [str(one) for one in self.random.permutation(names)]

    def model(self) -> Any:
        """The model."""
        sizes = PLANES if self.planes else ROWS
        info = helper.make_tensor_value_info
        outputs = [info(name, 1, sizes) for name in sorted(self.outputs)]
        graph = helper.make_graph(self.nodes, "g", [info("x", 1, sizes)], outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


@seeds_of(30)
def test_results_stay(seeds: range) -> None:
    for seed in seeds:
        for number in range(COUNT):
            proto = Chain(COUNT * seed + number, (13, 17)[number % 2]).model()
            _must_stay(proto, f"seed {seed}, number {number}")


def _must_stay(proto: Any, name: str) -> None:
    inputs = {"x": np.random.default_rng(0).standard_normal(
        [one.dim_value for one in proto.graph.input[0].type.tensor_type.shape.dim]
    ).astype(np.float32)}  # fmt: skip
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)
    model = model_of(proto)
    for level in ("basic", "extended"):
        found, gone = optimized(model, level)
        assert not check(found, ())
        kept = {node.name for node in found.graph.nodes}
        assert kept | {one.node.name for one in gone} == {node.name for node in model.graph.nodes}, name
        assert all(one.into is None or one.into in found.graph.nodes for one in gone), name
        assert len(report_of(model, optimize=level).nodes) >= len(model.graph.nodes), name
        for one, wanted in zip(CompiledModel(found, {}).run(inputs).values(), expected, strict=True):
            assert np.abs(one - wanted).max() <= 1e-4 * max(1, np.abs(wanted).max()), (name, level)
