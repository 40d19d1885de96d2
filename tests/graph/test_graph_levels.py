"""The level of each node of a graph, constants apart."""

from __future__ import annotations

import numpy as np
from foreign_model import WRONG, built
from graphs import network, tensor

import dmlcy as dml


def test_each_node_has_its_level_and_constants_are_counted_apart() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 4, 4), name="x")
    k = g.constant(np.ones((1, 1, 4, 4), np.float32), name="k")
    with g.origin("model.onnx", "/act", "Gelu"):
        y = g.activation_gelu(g.element_wise_add(x, k), name="gelu")
    graph = g.build(y)
    table = graph.levels()
    assert [(one.node, one.name, one.operator, one.level) for one in table.nodes] == [
        (1, "", "ELEMENT_WISE_ADD", "1_0"), (2, "gelu", "ACTIVATION_GELU", "5_1")
    ]  # fmt: skip
    assert (table.level, table.constants, table.level_of_constants) == ("5_1", 1, "6_2")
    assert [reason.subject for reason in table.nodes[1].forced_by] == ["ACTIVATION_GELU"]
    assert str(table).splitlines() == [
        "node      operator          level  for              from",
        '1         ELEMENT_WISE_ADD  1_0                     Gelu "/act" in "model.onnx"',
        '2 "gelu"  ACTIVATION_GELU   5_1    ACTIVATION_GELU  Gelu "/act" in "model.onnx"',
        "operators 5_1",
        "1 constant 6_2",
    ]
    assert dml.minimum_feature_level(graph).level == "6_2"
    shown = table._repr_html_()
    assert "operators 5_1, 1 constant 6_2" in shown and "Gelu &quot;/act&quot; in &quot;model.onnx&quot;" in shown


def test_a_node_with_violations_has_no_level_and_the_others_have_theirs() -> None:
    table = built(1000).levels()
    assert [one.node for one in table.nodes if one.level is None] == [*WRONG]
    assert table.level is None and "operators none" in str(table)
    assert built(10, {}).levels().level == "1_0"


def test_a_graph_without_constants_has_no_level_of_them() -> None:
    graph, _ = network()
    table = graph.constants_as_inputs(0)[0].levels()
    assert table.level_of_constants is None and "constant" not in str(table)
    assert table.level == graph.levels().level == dml.minimum_feature_level(graph.constants_as_inputs(0)[0]).level
