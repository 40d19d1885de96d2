"""A network that is being written: nodes of ONNX, inputs, and weights that are drawn when they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from benchmarks.cells import Array
from benchmarks.peers import OPSET, library


@dataclass(frozen=True, slots=True)
class Node:
    """A node of ONNX."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: tuple[tuple[str, Any], ...]


@dataclass(slots=True)
class Net:
    """Nodes in their order.

    Attributes
    ----------
    inputs
        Sizes by name; of whole numbers below a number, the sizes and this number.
    weights
        Sizes and standard deviation by name.
    lists
        Whole numbers that nodes take as a tensor, such as sizes, by name.
    """

    nodes: list[Node] = field(default_factory=list)
    inputs: dict[str, tuple[tuple[int, ...], int]] = field(default_factory=dict)
    weights: dict[str, tuple[tuple[int, ...], float]] = field(default_factory=dict)
    lists: dict[str, tuple[float, ...]] = field(default_factory=dict)
    outputs: str = ""

    def input(self, name: str, *sizes: int, below: int = 0) -> str:
        self.inputs[name] = (sizes, below)
        return name

    def weight(self, *sizes: int, inputs: int = 0) -> str:
        """A weight, so large that what is summed over so many inputs stays near 1; by default those of a filter."""
        name = f"w{len(self.weights)}"
        self.weights[name] = (sizes, (inputs or prod(sizes[1:]) or 1) ** -0.5)
        return name

    def numbers(self, *values: float) -> str:
        name = f"n{len(self.lists)}"
        self.lists[name] = values
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The name of the output of a new node."""
        output = f"v{len(self.nodes)}"
        self.nodes.append(Node(operator, inputs, output, tuple(attributes.items())))
        return output

    def conv(self, x: str, channels: int, filters: int, window: int, stride: int = 1, *, groups: int = 1) -> str:
        """A convolution with bias that keeps the sizes, or divides them by the stride."""
        weight = self.weight(filters, channels // groups, window, window)
        pads = [window // 2] * 4
        given = {"kernel_shape": [window] * 2, "strides": [stride] * 2, "pads": pads, "group": groups}
        return self.node("Conv", x, weight, self.weight(filters, inputs=100), **given)

    def relu(self, x: str) -> str:
        return self.node("Relu", x)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        """A product with a matrix, and a bias."""
        product = self.node("MatMul", x, self.weight(inputs, outputs, inputs=inputs))
        return self.node("Add", product, self.weight(outputs, inputs=100))

    def constants(self) -> dict[str, Array]:
        """The weights and lists, drawn."""
        random = np.random.default_rng(0)
        found = {
            name: (deviation * random.standard_normal(sizes, np.float32)).astype(np.float32)
            for name, (sizes, deviation) in self.weights.items()
        }
        for name, values in self.lists.items():
            whole = all(isinstance(value, int) for value in values)
            found[name] = np.array(values if len(values) > 1 else values[0], np.int64 if whole else np.float32)
        return found

    def given(self) -> dict[str, Array]:
        """The inputs, drawn."""
        random = np.random.default_rng(1)
        return {
            name: random.integers(0, below, sizes) if below else random.standard_normal(sizes, np.float32)
            for name, (sizes, below) in self.inputs.items()
        }

    def model(self) -> Any:
        """The network as a model of the onnx package."""
        onnx = library("onnx")
        helper = onnx.helper
        kinds = {
            name: onnx.TensorProto.INT64 if below else onnx.TensorProto.FLOAT
            for name, (_, below) in self.inputs.items()
        }
        infos = [helper.make_tensor_value_info(name, kinds[name], sizes) for name, (sizes, _) in self.inputs.items()]
        nodes = [
            helper.make_node(one.operator, one.inputs, [one.output], name=one.output, **dict(one.attributes))
            for one in self.nodes
        ]
        output = onnx.ValueInfoProto(name=self.outputs)
        initializers = [onnx.numpy_helper.from_array(x, name) for name, x in self.constants().items()]
        graph = helper.make_graph(nodes, "net", infos, [output], initializers)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
            ir_version=10,
        )
        return onnx.shape_inference.infer_shapes(model)
