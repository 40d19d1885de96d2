"""The nodes that take the place of functions compute what onnxruntime computes for the functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnx", reason="needs onnx, which makes the models")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs the models")

import onnxruntime as ort
from onnx import helper, numpy_helper, parser
from small_models import CALL

from dmlcy._frontends.onnx.inlining import expand, inlined
from dmlcy._frontends.onnx.model import ONNX, Attribute, Function, Graph, Info, Model, Node, Tensor
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.walk import Walk

DRAWN = np.random.default_rng(41)
X = DRAWN.normal(size=(2, 4, 3, 5))
PAIR, FOUR = DRAWN.normal(size=(2, 2)), DRAWN.normal(size=(2, 4))
CASES: list[tuple[str, int, tuple[Any, ...], dict[str, Any]]] = [
    ("HardSwish", 14, (X,), {}),
    ("HardSwish", 22, (X,), {}),
    ("Mish", 18, (X,), {}),
    ("Swish", 24, (X,), {}),
    ("Swish", 24, (X,), {"alpha": 1.5}),
    ("GroupNormalization", 18, (X, *PAIR), {"num_groups": 2}),
    ("GroupNormalization", 21, (X, *FOUR), {"num_groups": 2, "epsilon": 0.1}),
    ("GroupNormalization", 21, (X, *FOUR), {"num_groups": 4, "stash_type": 10}),
    ("CenterCropPad", 18, (X, np.array([2, 8])), {"axes": [2, -1]}),
    ("CenterCropPad", 18, (X, np.array([3, 3, 4, 1])), {}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@each_of("case", CASES)
def test_the_nodes_compute_what_the_function_computes(
    case: tuple[str, int, tuple[Any, ...], dict[str, Any]], dtype: Any
) -> None:
    name, opset, arrays, attributes = case
    inputs = {f"x{at}": one.astype(dtype) if one.dtype.kind == "f" else one for at, one in enumerate(arrays)}
    infos = [helper.make_tensor_value_info(name, _number(one), one.shape) for name, one in inputs.items()]
    output = helper.make_tensor_value_info("y", _number(inputs["x0"]), None)
    graph = helper.make_graph([helper.make_node(name, [*inputs], ["y"], **attributes)], "g", infos, [output])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    (wanted,) = _run(proto, inputs)
    model = decode("model.onnx", proto.SerializeToString(), None)
    row = operator(ONNX, name)
    version = None if row is None else row.version(opset)
    assert row is not None and version is not None
    elements = [one.element for one in model.graph.inputs]
    (found,) = _run(_with(proto, inlined(row.inlined, model.graph.nodes[0], version, elements)), inputs)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=4 * float(np.finfo(dtype).eps))


def _number(array: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def _with(proto: Any, nodes: Sequence[Node]) -> Any:
    """The model with other nodes."""
    del proto.graph.node[:], proto.functions[:]
    for node in nodes:
        attributes = {
            one.name: numpy_helper.from_array(one.value.array()) if isinstance(one.value, Tensor) else one.value
            for one in node.attributes.values()
        }
        proto.graph.node.append(helper.make_node(node.operator, node.inputs, node.outputs, **attributes))
    return proto


def _run(proto: Any, inputs: dict[str, Any]) -> list[Any]:
    return list(ort.InferenceSession(proto.SerializeToString()).run(None, inputs))


# Functions of models -------------------------------------------------------------------------------------------------


TEXT = """
<ir_version: 10, opset_import: ["": 18, "own": 1]>
main (float[2, 3] y, float[3] b) => (float[2, 3] out, float[2, 3] copy) {
  out, copy = own.scaled <alpha: float = 0.25> (y, b)
}
<domain: "own", opset_import: ["": 18]>
sum (x, y) => (t) { t = Add (x, y) }
<domain: "own", opset_import: ["": 18, "own": 1]>
scaled <alpha, beta: float = 0.5> (x, z) => (y, x) {
  t = own.sum (x, z)
  y = HardSigmoid <alpha: float = @alpha, beta: float = @beta> (t)
}
"""
"""Names inside of functions are those of other values outside, and an output is an input."""


def test_functions_of_a_model_are_expanded() -> None:
    """onnxruntime runs the nodes only: it takes no output of a function that is an input."""
    proto = parser.parse_model(TEXT)
    inputs = {"y": DRAWN.normal(size=(2, 3)).astype(np.float32), "b": DRAWN.normal(size=3).astype(np.float32)}
    wanted = [np.clip(0.25 * (inputs["y"] + inputs["b"]) + 0.5, 0, 1), inputs["y"]]
    model = decode("model.onnx", proto.SerializeToString(), None)
    outer = expand(model.functions["own", "scaled", ""], model.graph.nodes[0])
    flat = [*expand(model.functions["own", "sum", ""], outer[0]), *outer[1:]]
    for one, other in zip(_run(_with(proto, flat), inputs), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    walk = Walk(model)
    assert [(one.node.operator, one.fate) for one in walk.all()] == [
        ("scaled", "inside"), ("sum", "inside"), ("Add", "converted"), ("HardSigmoid", "converted"),
        ("Identity", "view"),
    ]  # fmt: skip


def test_graphs_inside_of_functions_read_the_values_of_the_call() -> None:
    """A branch reads the input of its function, and has a value of its own with the name of the outer value."""
    own = Node(0, "", "Neg", ONNX, ("a",), ("x",), {})
    branch = Graph("then", (own,), {}, (), (Info("x", "FLOAT", None),), {"x": Info("x", "FLOAT", None)})
    attribute = Attribute("then_branch", "GRAPH", branch)
    choice = Node(0, "", "If", ONNX, ("c",), ("r",), {"then_branch": attribute})
    function = Function("f", "own", "", ("c", "a"), ("r",), (), {}, (choice,), {ONNX: 18})
    (found,) = expand(function, Node(0, "", "f", "own", ("cond", "x"), ("y",), {}))
    graph = found.attributes["then_branch"].value
    assert (found.inputs, found.outputs) == (("cond",), ("y",))
    assert graph.nodes[0].inputs == ("x",)
    assert graph.nodes[0].outputs == (graph.outputs[0].name,) != ("x",)
    assert [*graph.infos] == [graph.outputs[0].name]


def test_functions_that_stand_for_too_many_nodes_are_refused() -> None:
    """Each of 40 functions calls the next one twice: that are 2**40 nodes."""
    functions = {}
    for number in range(40):
        called, domain = (f"f{number + 1}", "own") if number < 39 else ("Neg", ONNX)
        nodes = tuple(
            Node(at, "", called, domain, (name,), (result,), {})
            for at, (name, result) in enumerate((("a", "b"), ("b", "c")))
        )
        functions["own", f"f{number}", ""] = Function(
            f"f{number}", "own", "", ("a",), ("c",), (), {}, nodes, {ONNX: 18, "own": 1}
        )
    graph = Graph("g", (Node(0, "", "f0", "own", ("x",), ("y",), {}),), {}, (), (), {})
    walk = Walk(Model("f", 10, {ONNX: 18, "own": 1}, "", graph, functions), limit=1000)
    assert {problem.identifier for one in walk.all() for problem in one.problems} == {"DML-ONNX-function-large"}
    assert walk.inlined <= 2 * 1000


def test_a_call_does_not_copy_the_values_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scopes: list[Any] = []
    inside = Walk._inside

    def look(walk: Walk, visit: Any, nodes: Any, infos: Any, scope: Any, *rest: Any) -> None:
        scopes.append(scope)
        inside(walk, visit, nodes, infos, scope, *rest)

    monkeypatch.setattr(Walk, "_inside", look)
    walk = Walk(decode("m.onnx", CALL, None))
    assert [one.fate for one in walk.visits] == ["inside"]
    assert scopes[0].maps[1] is walk.scope.maps[0]
