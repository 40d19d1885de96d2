"""A node made of arrays, as a test case: what ONNX Runtime gives on the CPU is expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from node_tests import Case, Outcome, judge
from onnx import ValueInfoProto, helper
from saturation import unsaturated

Array = Any
MICROSOFT = "com.microsoft"
DML = "com.microsoft.dml"
RNG = np.random.default_rng(7)


class Single(NamedTuple):
    """An operator, its inputs (None where one is left out), and its attributes.

    ``constants``: the places of the inputs that are constants of the model; None: the inputs that ONNX Runtime reads on
    the CPU. ``expected``: the outputs, where ONNX Runtime's CPU provider does not have the operator.
    """

    operator: str
    inputs: Sequence[Array | None]
    attributes: dict[str, Any]
    domain: str = ""
    outputs: int = 1
    opset: int = 17
    expected: Sequence[Array] | None = None
    constants: Sequence[int] | None = None

    def __str__(self) -> str:
        sizes = [None if one is None else one.shape for one in self.inputs]
        return f"{self.operator} {sizes} {self.attributes}"


def floats(*sizes: int) -> Array:
    return RNG.standard_normal(sizes).astype(np.float32)


def bytes_(*sizes: int) -> Array:
    return RNG.integers(0, 256, sizes).astype(np.uint8)


def signed(*sizes: int) -> Array:
    found: Array = unsaturated(RNG.integers(-128, 128, sizes).astype(np.int8))
    return found


def scale(number: float) -> Array:
    return np.array(number, np.float32)


def zero(number: int) -> Array:
    return np.array(number, np.uint8)


def ints(*numbers: int) -> Array:
    return np.array(numbers, np.int32)


def longs(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def outcome_of(single: Single) -> Outcome:
    """The outcome of the node as a DirectML graph."""
    model = proto_of(single)
    given = [one for one in single.inputs if one is not None]
    expected = on_the_cpu(single) if single.expected is None else single.expected
    outputs = [one.name for one in model.graph.output]
    del model.graph.output[:]
    model.graph.output.extend(_info(name, one) for name, one in zip(outputs, expected, strict=True))
    return judge(Case(str(single), single.operator, model, tuple(given), tuple(expected)), single.constants)


def on_the_cpu(single: Single) -> Sequence[Array]:
    """The results of ONNX Runtime's CPU provider."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = proto_of(single).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    given = {name: one for name, one in zip(_names(single), single.inputs, strict=True) if one is not None}
    found: Sequence[Array] = session.run(None, given)
    return found


def proto_of(single: Single) -> Any:
    """A model of the node, whose outputs have no types."""
    names = _names(single)
    outputs = [f"output{place}" for place in range(single.outputs)]
    node = helper.make_node(single.operator, names, outputs, domain=single.domain, **single.attributes)
    infos = [_info(name, one) for name, one in zip(names, single.inputs, strict=True) if one is not None]
    graph = helper.make_graph([node], "graph", infos, [ValueInfoProto(name=name) for name in outputs])
    opsets = [helper.make_opsetid("", single.opset)]
    opsets += [helper.make_opsetid(single.domain, 1)] if single.domain else []
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _names(single: Single) -> list[str]:
    """The names of the inputs; the empty text for one that is left out."""
    return [f"input{place}" if one is not None else "" for place, one in enumerate(single.inputs)]


def _info(name: str, array: Array) -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def must_pass(single: Single, *operators: str) -> None:
    """The graph gives what is expected, and consists of these operators of DirectML, in any order."""
    found = outcome_of(single)
    assert found.verdict == "passed", (str(single), found.verdict, found.why)
    assert not operators or sorted(found.operators) == sorted(operators), (str(single), found.operators)


def must_be_refused(single: Single, identifier: str) -> None:
    """The conversion refuses the node by this id."""
    found = outcome_of(single._replace(expected=single.expected or [floats(1)] * single.outputs))
    assert (found.verdict, found.why) == ("refused", identifier), str(single)
