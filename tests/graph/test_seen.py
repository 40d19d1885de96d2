"""The hook for values of a compiled graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import tensor

import dmlcy as dml
from dmlcy.graph import Port


def graph() -> dml.graph.GraphDesc:
    g = dml.Graph()
    x, k = g.input(tensor(1, 4), name="x"), g.constant(np.ones((1, 4), np.float32), name="k")
    left, right = g.split(g.element_wise_add(x, k, name="sum"), axis=1, output_sizes=[(1, 1), (1, 3)])
    return g.build(y=g.activation_relu(g.name(left, "left"), name="relu"), z=g.name(right, "right"))


X = np.array([[-3, 1, 2, 3]], np.float32)


def test_each_value_is_seen_once_under_its_name() -> None:
    whole = graph()
    seen: dict[str, Any] = {}

    def note(port: Port, array: Any) -> None:
        name = whole.value_names[port]
        assert name not in seen
        seen[name] = np.array(array)

    y, z = dml.compile(whole).run((X,), {}, seen=note)
    assert [*seen] == ["x", "k", "sum", "left", "right", "relu"]
    assert seen["sum"].tolist() == (X + 1).tolist() and seen["left"].tolist() == [[-2]]
    assert y.tolist() == seen["relu"].tolist() == [[0]] and z.tolist() == seen["right"].tolist() == [[2, 3, 4]]


def test_inputs_can_be_named_and_outputs_given() -> None:
    outs = (np.zeros((1, 1), np.float32), np.zeros((1, 3), np.float32))
    ports: list[Port] = []
    assert dml.compile(graph()).run((), {"x": X}, outs, lambda port, _: ports.append(port)) is outs
    assert outs[1].tolist() == [[2, 3, 4]] and len(ports) == 6


def test_an_exception_of_the_hook_ends_the_run() -> None:
    def stop(port: Port, array: Any) -> None:
        raise LookupError(port)

    with pytest.raises(LookupError):
        dml.compile(graph()).run((X,), {}, seen=stop)


def test_names_of_values_are_distinct() -> None:
    g = dml.Graph()
    x = g.input(tensor(3), name="same")
    names = g.build(g.activation_relu(g.activation_relu(x, name="same"), name="same")).value_names
    assert sorted(names.values()) == ["same", "same-2", "same-3"]
