"""Serialized graphs as graphs: every operator's examples through bytes, files that are run, damaged values."""

from __future__ import annotations

from typing import Any

import pytest
from example_descs import desc_of_example

import dmlcy as dml
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._graph.model import inputs_of, outputs_of

FLOAT32 = "DML_TENSOR_DATA_TYPE_FLOAT32"


def of_desc(desc: Any) -> dml.graph.GraphDesc:
    """A graph of one node, whose inputs and outputs are those of the graph."""
    g = dml.Graph()
    node = dml.graph.Node(desc)
    inputs = [None if one is None else g.input(one, name=path) for path, one in inputs_of(node)]
    values = g.add(desc, *inputs, name="node")
    there = [path for path, one in outputs_of(node) if one is not None]
    return g.build(**dict(zip(there, values if isinstance(values, tuple) else (values,), strict=True)))


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda operator: operator.name)
def test_every_example_goes_through_bytes(operator: Operator) -> None:
    for example in operator.examples:
        desc = desc_of_example(operator, example)
        graph = of_desc(desc)
        data = dml.graph.to_bytes(graph)
        found = dml.graph.from_bytes(data)
        assert found.nodes == graph.nodes and dml.check(found) == []
        assert [one.name for one in (*found.inputs, *found.outputs)] == [
            one.name for one in (*graph.inputs, *graph.outputs)
        ]
        assert {(one.source, one.target) for one in found.edges} == {(one.source, one.target) for one in graph.edges}
        assert dml.graph.to_bytes(found) == data
