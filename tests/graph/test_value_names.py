"""Names of values: of each output of a node, and made unique where that is asked for."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from graphs import tensor

import dmlcy as dml
from dmlcy._graph.names import Names
from dmlcy._graph.wiring import wiring_of


def test_each_output_of_a_node_has_a_name() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 4), name="x")
    values, indices = g.top_k1(x, axis=3, k=2, name="top")
    pieces = g.split(x, axis=3, output_sizes=[(1, 1, 2, 1), (1, 1, 2, 3)])
    for value, name in zip((values, indices, *pieces), ("best", "places", "left", "right"), strict=True):
        assert g.name(value, name) is value
    graph = g.build(a=values, b=indices, c=pieces[0], d=pieces[1])
    assert dml.check(graph) == []
    assert [*wiring_of(graph).value_names.values()] == ["x", "best", "places", "left", "right"]
    again = dml.graph.from_json(dml.graph.to_json(graph))
    assert [*wiring_of(again).value_names.values()] == ["x", "best", "places", "left", "right"]
    serialized = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    assert [end.name for end in serialized.outputs] == ["a", "b", "c", "d"]


def test_a_named_input_is_an_argument_of_that_name() -> None:
    g = dml.Graph()
    x = g.name(g.input(tensor(2), name="old"), "new")
    k = g.name(g.constant(np.ones(2, np.float32), name="old"), "weights")
    graph = g.build(g.element_wise_add(x, k))
    assert dml.compile(graph).called == ("new",) and [end.name for end in graph.inputs] == ["new"]
    assert "weights" in wiring_of(graph).value_names.values()


def test_a_name_that_two_values_have_is_refused() -> None:
    g = dml.Graph()
    one, two = g.split(g.input(tensor(1, 2)), axis=1, output_sizes=[(1, 1), (1, 1)])
    g.name(one, "same")
    g.name(two, "same")
    assert [one.id for one in dml.check(g.build(one, two))] == ["DML-GRAPH-name-twice"]
    with pytest.raises(TypeError, match="takes a str"):
        g.name(one, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a value"):
        g.name("same", "same")  # type: ignore[arg-type]


def test_unique_names_get_a_number() -> None:
    g = dml.Graph(unique_names=True)
    x = g.input(tensor(1, 2), name="same")
    y = g.activation_relu(
        g.element_wise_add(x, g.constant(np.ones((1, 2), np.float32), name="same"), name="same"), name="same"
    )
    one, two = g.split(y, axis=1, output_sizes=[(1, 1), (1, 1)], name="same")
    g.name(one, "same")
    g.name(y, "same-4")  # has this name already
    assert g.name(two, "") is two
    graph = g.build(one, two)
    assert dml.check(graph) == []
    assert [end.name for end in graph.inputs] == ["same"]
    assert [node.name for node in graph.nodes] == ["same-2", "same-3", "same-4", "same-5"]
    assert wiring_of(graph).value_names[graph.edges[-2].source] == "same-6"  # type: ignore[index]


def test_a_number_that_is_a_name_already_is_passed_over() -> None:
    names = Names(["a-2"])
    assert [names.distinct(name) for name in ("a", "a", "a", "a-2")] == ["a", "a-3", "a-4", "a-2-2"]


def test_many_equal_names_take_linear_time() -> None:
    def steps(count: int) -> int:
        found, names = 0, Names()

        def note(frame: FrameType, event: str, _: object) -> Any:
            nonlocal found
            found += event == "line"
            return note

        sys.settrace(note)
        try:
            for _ in range(count):
                names.distinct("relu")
        finally:
            sys.settrace(None)
        return found

    assert steps(400) < 4.1 * steps(100)
