"""Mistakes in graphs: each violation with its node, and levels."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs import chain, network, tensor

import dmlcy as dml
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Constant, Edge, End, Node, Port

RELU = dml.desc.ActivationRelu(input=tensor(3))


def ids(graph: GraphDesc, level: Any = "6_4") -> list[str]:
    return [one.id.removeprefix("DML-GRAPH-") for one in dml.check(graph, level, warnings=True)]


def row(*nodes: Node | Constant) -> GraphDesc:
    """Nodes of one input and one output in a row."""
    edges = [Edge(Port(None, 0), Port(0, 0))] if isinstance(nodes[0], Node) else []
    edges += [Edge(Port(number - 1, 0), Port(number, 0)) for number in range(1, len(nodes))]
    edges.append(Edge(Port(len(nodes) - 1, 0), Port(None, 0)))
    inputs = (End("x"),) if isinstance(nodes[0], Node) else ()
    return GraphDesc(nodes, inputs, (End("y"),), tuple(edges))


def test_a_violation_of_a_desc_has_its_node() -> None:
    wrong = dml.desc.ActivationRelu(input=tensor(3), output=tensor(4))
    (one,) = [found for found in dml.check(row(Node(RELU), Node(wrong, "bad"))) if "RELU" in found.id]
    assert isinstance(one, dml.graph.GraphViolation)
    assert (one.node, one.node_name, one.operator, one.field) == (1, "bad", "ACTIVATION_RELU", "output")
    assert str(one).startswith('node 1 "bad" (ACTIVATION_RELU): output has sizes')
    assert one.to_json()["node"] == 1
    with pytest.raises(dml.InvalidDescError, match="bad"):
        dml.compile(row(Node(RELU), Node(wrong, "bad")))


def test_a_name_that_nothing_has() -> None:  # DML-GRAPH-name-unbound
    graph = GraphDesc((Node(RELU),), (), (End("y"),), (Edge(None, Port(0, 0), "x"), Edge(Port(0, 0), Port(None, 0))))
    (one,) = dml.check(graph)
    assert (one.id, one.values["name"]) == ("DML-GRAPH-name-unbound", '"x"')


def test_edges_that_are_names() -> None:
    """As in serialized graphs: a name is bound by one input or one node, and read by any number of them."""
    one = dml.desc.ElementWiseAdd(a=tensor(3), b=tensor(3))
    nodes: list[tuple[Node | Constant, tuple[str, ...], tuple[str, ...]]] = [
        (Constant(np.ones(3, np.float32).view(np.uint8), "c"), (), ("c",)),
        (Node(one, "sum"), ("x", "c"), ("y",)),
    ]
    graph = GraphDesc.from_names(nodes, ["x"], ["y"])
    assert ids(graph) == []
    assert dml.compile(graph)(np.arange(3, dtype=np.float32)).tolist() == [1, 2, 3]
    assert ids(GraphDesc.from_names(nodes, ["x", "c"], ["y"])) == ["name-twice", "unread"]
    assert ids(GraphDesc.from_names(nodes, ["z"], ["y"])) == ["name-unbound", "unused"]
    assert {*dml.graph.from_json(dml.graph.to_json(graph)).names} == {*graph.names}


def test_two_values_of_one_name() -> None:
    g = dml.Graph()
    x = g.input(tensor(3), name="x")
    assert ids(g.build(g.activation_relu(g.activation_relu(x, name="x")))) == ["name-twice"]


@pytest.mark.parametrize("wrong", [("input", "inputs", 0), ("output", "outputs", 0), ("node", "nodes", 1)])
def test_half_of_a_surrogate_pair_is_no_name(wrong: tuple[str, str, int]) -> None:
    place, part, entry = wrong
    names = {one: "a\ud800" if one == place else one for one in ("input", "node", "output")}
    g = dml.Graph()
    x = g.activation_relu(g.input(tensor(3), name=names["input"]))
    (one,) = dml.check(g.build(**{names["output"]: g.activation_relu(x, name=names["node"])}))
    assert isinstance(one, dml.graph.GraphViolation)
    assert (one.id, one.part, one.entry, one.values["name"]) == ("DML-GRAPH-name-text", part, entry, r'"a\ud800"')


def test_half_of_a_surrogate_pair_is_no_name_of_a_value_or_an_origin() -> None:
    g = dml.Graph()
    x = g.input(tensor(4), name="x")
    with g.origin("\ud800", "\udfff", "Split"):
        y, z = g.split(x, axis=0, outputs=(tensor(2), tensor(2)))
    g.name(y, "\udc00")
    assert ids(g.build(y, z)) == ["name-text"] * 3


def test_a_graph_input_is_no_output() -> None:  # DML-GRAPH-passed-through
    edges = (Edge(Port(None, 0), Port(0, 0)), Edge(Port(None, 0), Port(None, 0)))
    assert ids(GraphDesc((Node(RELU),), (End("x"),), (End("y"),), edges)) == ["passed-through", "unread"]


def test_an_edge_may_change_all_but_the_bytes() -> None:
    def read_as(desc: dml.TensorDesc) -> list[str]:
        g = dml.Graph()
        return ids(g.build(g.element_wise_identity(g.reinterpret(g.input(tensor(2, 3)), desc))))

    assert read_as(tensor(1, 3, 2, strides=(6, 1, 3))) == []
    assert read_as(tensor(2, 2)) == ["edge-size"]
    assert read_as(tensor(2, 3, dtype="INT32")) == ["edge-reinterprets"]
    assert read_as(tensor(3, dtype="INT64")) == ["edge-reinterprets"]
    assert read_as(tensor(2, 3, dtype="FLOAT16")) == ["edge-size"]


def test_bytes_of_another_data_type_that_fit_are_a_warning() -> None:
    g = dml.Graph()
    constant = g.constant(np.zeros(8, np.uint8))
    assert g.reinterpret(constant, tensor(16, dtype="UINT4")).desc.total_tensor_size_in_bytes == 8
    graph = g.build(g.element_wise_identity(g.reinterpret(constant, tensor(2))))
    assert dml.check(graph) == []
    (warning,) = dml.check(graph, warnings=True)
    assert (warning.id, warning.severity, warning.hint) == ("DML-GRAPH-edge-reinterprets", "warning", "")
    (error,) = dml.check(g.build(g.element_wise_identity(g.reinterpret(constant, tensor(3)))))
    assert (error.id, error.severity) == ("DML-GRAPH-constant-size", "error")
    assert error.hint == "Their data types differ, FLOAT32 and UINT8: CAST converts elements."


def test_indices_of_uint64_are_read_as_int64() -> None:
    """As ONNX Runtime's provider declares them: TOP_K gives unsigned indices, and their consumer reads signed ones."""
    g = dml.Graph()
    x = g.input(tensor(1, 1, 1, 5), name="x")
    _, indices = g.top_k1(x, axis=3, k=3, axis_direction="DECREASING", output_index_dtype="UINT64")
    signed = g.reinterpret(indices, tensor(1, 1, 1, 3, dtype="INT64"))
    graph = g.build(y=g.gather_elements(x, signed, axis=3), i=signed)
    assert {"edge-reinterprets"} <= {*ids(graph)} and dml.check(graph) == []
    values, places = dml.compile(graph)(np.array([[[[3, 9, 1, 7, 5]]]], np.float32))
    assert values.tolist() == [[[[9, 7, 5]]]]
    assert places.dtype == np.int64 and places.tolist() == [[[[1, 3, 4]]]]
    for again in (dml.graph.from_json(dml.graph.to_json(graph)), dml.graph.from_bytes(dml.graph.to_bytes(graph))):
        assert dml.check(again) == []


def test_a_cycle_is_shown() -> None:
    edges = (Edge(Port(1, 0), Port(0, 0)), Edge(Port(0, 0), Port(1, 0)), Edge(Port(1, 0), Port(None, 0)))
    (one,) = dml.check(GraphDesc((Node(RELU, "a"), Node(RELU, "b")), (), (End("y"),), edges))
    assert one.values["cycle"] == 'node 0 "a" (ACTIVATION_RELU) -> node 1 "b" (ACTIVATION_RELU) -> ' + (
        'node 0 "a" (ACTIVATION_RELU)'
    )


def test_a_long_cycle_takes_no_recursion_and_a_short_message() -> None:
    count = 5000
    edges = [Edge(Port((number - 1) % count, 0), Port(number, 0)) for number in range(count)]
    edges.append(Edge(Port(0, 0), Port(None, 0)))
    graph = GraphDesc((Node(RELU),) * count, (), (End("y"),), tuple(edges))
    (one,) = dml.check(graph)
    assert one.id == "DML-GRAPH-cycle" and len(one.message) < 1000 and "5000 nodes in all" in one.message


def test_the_level_of_a_graph_is_that_of_the_node_that_needs_most() -> None:
    g = dml.Graph()
    y = g.activation_relu(g.input(tensor(1, 1, 2, 2)))
    assert dml.minimum_feature_level(g.build(y)).level == "1_0"
    padded = g.padding1(y, start_padding=1, end_padding=1, padding_mode="WRAP", name="pad")
    needed = dml.minimum_feature_level(g.build(padded))
    assert str(needed) == '6_4 (DirectML 1.15.0), for padding_mode WRAP of node 1 "pad" (PADDING1)'
    (reason,) = needed.forced_by
    assert isinstance(reason, dml.graph.NodeReason) and reason.node == 1
    assert ids(g.build(padded), "6_3") == ["DML-PADDING1-padding_mode-level"]


def test_a_constant_needs_its_level() -> None:  # DML-GRAPH-constant-level
    g = dml.Graph()
    graph = g.build(g.activation_relu(g.constant(np.ones(3, np.float32), name="one")))
    assert ids(graph) == [] and ids(graph, "6_1") == ["constant-level"]
    assert str(dml.minimum_feature_level(graph)) == '6_2 (DirectML 1.13.0), for constant 0 "one"'


def test_a_constant_without_bytes() -> None:  # DML-GRAPH-constant-missing
    assert ids(row(Constant(None, "weights", tensor(3)), Node(RELU))) == ["constant-missing"]


@pytest.mark.parametrize(("size", "valid"), [(5, False), (6, True), (7, True), (8, True), (9, False)])
def test_a_constant_may_have_padding_to_four_bytes(size: int, valid: bool) -> None:
    desc = dml.desc.ActivationRelu(input=tensor(3, dtype="FLOAT16"))
    graph = row(Constant(np.zeros(size, np.uint8)), Node(desc))
    assert ids(graph) == ([] if valid else ["constant-size"])


@pytest.mark.parametrize(
    ("desc", "why"),
    [
        (tensor(3, strides=(5,), total_tensor_size_in_bytes=12), "take 44 bytes, and its total size is 12"),
        (tensor(*(1,) * 40, 3), "it has 41 dimensions, more than 8"),
        (tensor(3, strides=(1, 1), total_tensor_size_in_bytes=12), "are not valid"),
        (tensor(0, total_tensor_size_in_bytes=12), "are not valid"),
        (tensor(total_tensor_size_in_bytes=12), "are not valid"),
    ],
)
@pytest.mark.parametrize("where", ["input", "output", "constant"])
def test_a_desc_that_is_no_tensor(where: str, desc: dml.TensorDesc, why: str) -> None:  # DML-GRAPH-desc
    """The desc has the data type and the total size of the tensor that it is joined to."""
    graph = row(Constant(np.zeros(12, np.uint8), "", desc) if where == "constant" else Node(RELU), Node(RELU))
    ends: dict[str, Any] = {f"{where}s": (End("e", desc),)} if where != "constant" else {}
    (one,) = dml.check(replace(graph, **ends))
    assert one.id == "DML-GRAPH-desc" and where in one.message and why in one.message


def test_a_constant_that_is_shorter_than_its_desc() -> None:
    (one,) = dml.check(row(Constant(np.zeros(12, np.uint8), "", tensor(100)), Node(RELU)))
    assert one.id == "DML-GRAPH-constant-size" and "has 12 bytes, but its own tensor desc needs 400" in one.message


def test_more_nodes_than_the_limit() -> None:  # DML-GRAPH-limit
    graph = row(*[Node(RELU)] * 100_001)
    start = time.process_time()
    assert ids(graph) == ["limit"]
    assert time.process_time() - start < 1
    assert ids(GraphDesc(graph.nodes[:3], (), (), (), limit=2)) == ["limit"]


def test_edges_of_any_numbers_are_refused() -> None:
    """No edge, whatever it says, leads to an exception."""
    random, known = np.random.default_rng(1), dml.specs.ids()
    for _ in range(300):
        ports = [
            Port(None if random.random() < 0.2 else int(random.integers(-2, 5)), int(random.integers(-2, 3)))
            for _ in range(12)
        ]
        edges = tuple(
            Edge(None if random.random() < 0.1 else a, b, "n") for a, b in zip(ports[::2], ports[1::2], strict=True)
        )
        names = tuple((port, "n") for port in ports[:2])
        graph = GraphDesc(
            (Node(RELU), Constant(np.zeros(12, np.uint8)), Node(RELU)), (End("x"),), (End("y"),), edges, names
        )
        assert all(one.id in known for one in dml.check(graph, warnings=True))


def test_descs_of_any_values_are_refused() -> None:
    broken = dml.desc.ActivationRelu(input=dml.TensorDesc("BOGUS", "x", strides=(1, 2)), output=3)  # type: ignore[arg-type]
    found = dml.check(row(Node(RELU), Node(broken), Node(RELU)), warnings=True)
    known = dml.specs.ids()
    assert found and all(one.id in known for one in found)
    with pytest.raises(dml.DmlError):
        dml.minimum_feature_level(row(Node(broken)))


def test_a_network_is_valid() -> None:
    graph, _ = network()
    assert ids(graph) == []
    assert ids(chain(100)) == []


def test_edges_without_a_fault_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[Port] = []
    monkeypatch.setattr(GraphDesc, "target_label", lambda _, port: named.append(port))
    assert ids(chain(20)) == [] and not named
