"""Random graphs of ONNX nodes: each value is that of ONNX's reference evaluator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from depth import seeds_of

pytest.importorskip("onnx", reason="needs onnx, whose reference evaluator computes the graphs too")

from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from protos import model_of

from dmlcy._frontends.onnx.loading import CompiledModel

GRAPHS = 12
NODES = 14
UNARY = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "Softplus", "Floor", "HardSigmoid", "Elu", "Identity", "Cos")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class Drawn:
    """A model that is being drawn: its nodes and constants, and the sizes of each value."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.values: dict[str, tuple[int, ...]] = {"x": (2, 3, 4), "z": (2, 3, 4)}
        for number in range(NODES):
            name = str(self.random.choice([*self.values]))
            self._node(f"v{number}", name, self.values[name])

    def _add(self, operator: str, inputs: list[str], output: str, sizes: tuple[int, ...], **more: Any) -> None:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=f"n{len(self.nodes)}", **more))
        self.values[output] = sizes

    def _constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def _node(self, output: str, x: str, sizes: tuple[int, ...]) -> None:
        rank, kind = len(sizes), self.random.integers(11)
        axis = int(self.random.integers(rank))
        if kind < 2:
            self._add(str(self.random.choice(UNARY)), [x], output, sizes)
        elif kind < 5:
            other = str(self.random.choice([name for name, own in self.values.items() if own == sizes]))
            if self.random.random() < 0.4:
                vector = self.random.standard_normal(sizes[-1:]).astype(np.float32)
                other = self._constant(vector)
            self._add(str(self.random.choice(BINARY)), [x, other], output, sizes)
        elif kind == 5:
            order = [int(one) for one in self.random.permutation(rank)]
            self._add("Transpose", [x], output, tuple(sizes[one] for one in order), perm=order)
        elif kind == 6:
            self._add("Softmax", [x], output, sizes, axis=axis)
        elif kind == 7:
            operator = str(self.random.choice(["ReduceMean", "ReduceMax", "ReduceL2"]))
            kept = (*sizes[:axis], 1, *sizes[axis + 1 :])
            self._add(operator, [x, self._constant(np.array([axis]))], output, kept)
        elif kind == 8:
            made = (*sizes[:axis], 2 * sizes[axis], *sizes[axis + 1 :])
            self._add("Concat", [x, x], output, made, axis=axis)
        elif kind == 9:
            matrix = self.random.standard_normal((sizes[-1], 3)).astype(np.float32)
            self._add("MatMul", [x, self._constant(matrix)], output, (*sizes[:-1], 3))
        else:
            wanted = (int(np.prod(sizes[:-1])), sizes[-1]) if rank > 2 else (1, *sizes)
            self._add("Reshape", [x, self._constant(np.array(wanted))], output, wanted)

    def model(self) -> Any:
        """The model, all of whose values are outputs."""
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.values[name]) for name in "xz"]
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
            for name, sizes in self.values.items()
            if name not in ("x", "z")
        ]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@seeds_of(20)
def test_each_value_is_that_of_the_reference_of_onnx(seeds: range) -> None:
    for seed in seeds:
        for number in range(GRAPHS):
            proto = Drawn(GRAPHS * seed + number).model()
            random = np.random.default_rng(number)
            given = {name: random.standard_normal((2, 3, 4)).astype(np.float32) for name in "xz"}
            with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                expected = ReferenceEvaluator(proto).run(None, given)
            found = CompiledModel(model_of(proto), {}).run(given)
            for (name, one), wanted in zip(found.items(), expected, strict=True):
                size = np.abs(wanted).max(initial=1)
                assert one.shape == wanted.shape and np.abs(one - wanted).max() <= 1e-5 * size, (seed, number, name)
