"""A graph of ONNX that is built for one desc and its arrays, and run by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc

OPSET = 21
IR = 10
Array = Any
"""An array of NumPy."""


class NotExpressible(Exception):
    """Why a desc is no graph of ONNX that ONNX Runtime runs on the CPU."""


class Graph:
    """Nodes that are added one by one; a value is known by its name."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = dict(arrays)
        self.nodes: list[Any] = []

    def new(self) -> str:
        return f"v{len(self.nodes)}_{len(self.arrays)}"

    def constant(self, array: Array) -> str:
        """An array as one more input."""
        name = self.new()
        self.arrays[name] = np.asarray(array)
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """A node; the name of its output, or the names of several."""
        from onnx import helper

        names = [f"{self.new()}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def cast(self, name: str, dtype: Any) -> str:
        """The value in another data type."""
        from onnx import helper

        return str(self.add("Cast", name, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def run(self, outputs: Sequence[str]) -> list[Array]:
        """The values of these names. NotExpressible where ONNX Runtime has no such kernel."""
        import onnxruntime
        from onnx import ValueInfoProto, helper

        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self.arrays.items()
        ]
        results = []
        for name in outputs:
            value = ValueInfoProto()
            value.name = name
            results.append(value)
        graph = helper.make_graph(self.nodes, "case", inputs, results)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 4
        settings.intra_op_num_threads = 1
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
            )
            return list(session.run(list(outputs), self.arrays))
        except Exception as error:  # of many classes, which only say that they are of ONNX Runtime
            if type(error).__module__.startswith("onnxruntime"):
                raise NotExpressible(f"ONNX Runtime: {str(error).splitlines()[0][:160]}") from None
            raise


Conversion = Callable[[Graph, Any], Any]
CONVERSIONS: dict[str, Conversion] = {}


def converts(*operators: str) -> Callable[[Conversion], Conversion]:
    """Enter a conversion of these operators: it gives the name of the output, or the names of several."""

    def enter(conversion: Conversion) -> Conversion:
        for operator in operators:
            assert operator not in CONVERSIONS, operator
            CONVERSIONS[operator] = conversion
        return conversion

    return enter


def refuse(condition: object, why: str) -> None:
    """Leave out a desc that is so."""
    if condition:
        raise NotExpressible(why)


def evaluate(desc: OperatorDesc, arrays: Mapping[str, Array]) -> list[Array]:
    """The outputs of a desc by ONNX Runtime, in their order; ``arrays`` by path."""
    operator = desc.operator
    refuse(operator.name not in CONVERSIONS, "no graph of ONNX is written for this operator")
    values = {field.python: getattr(desc, field.python) for field in operator.fields}
    refuse(values.get("scale_bias") is not None, "ONNX has no scale and bias of an input")
    refuse(values.get("fused_activation") is not None, "ONNX has no fused activation")
    graph = Graph(arrays)
    found = CONVERSIONS[operator.name](graph, desc)
    return graph.run([found] if isinstance(found, str) else list(found))
