"""Random graphs of all operators: compiled, they give what their nodes give one by one with memory of their own."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from by_nodes import evaluated, tensor_of_input
from graphs import tensor
from random_graphs import Drawer, arrays_for

import dmlcy as dml
from dmlcy._graph import strided
from dmlcy._graph.wiring import wiring_of


def results(graph: dml.graph.GraphDesc, given: dict[int, Any], without: Any = ()) -> Any:
    """The results of the compiled graph, the same however it runs, or the ids of the refusal."""
    names = wiring_of(graph).value_names
    arrays = {names[dml.graph.Port(None, index)]: array for index, array in given.items()}
    operator = dml.compile(graph, without=without)
    operator.initialize(**{name: arrays[name] for name in operator.owned})
    called = [arrays.get(name) for name in operator.called]
    found = ran(lambda: operator(*called))
    assert alike(found, ran(lambda: operator.run(called, {}))), "each input by its bytes"
    assert alike(found, ran(lambda: operator.run(called, {}, seen=lambda port, array: None))), "step by step"
    with dml.record():
        assert alike(found, ran(lambda: operator(*called))), "each node a call of its own"
    return found


def plainly(graph: dml.graph.GraphDesc, given: dict[int, Any]) -> Any:
    """The results of the graph without any optimization."""
    names = wiring_of(graph).value_names
    arrays = {names[dml.graph.Port(None, index)]: array for index, array in given.items()}
    operator = dml.compile(graph, without=get_args(dml.graph.Optimization))
    operator.initialize(**{name: arrays[name] for name in operator.owned})
    return operator(*[arrays.get(name) for name in operator.called])


def ran(call: Callable[[], Any]) -> Any:
    """The outputs of a call, or the ids of what it refuses."""
    try:
        found = call()
    except dml.DmlError as error:
        return {one.id for one in error.violations}
    return found if isinstance(found, tuple) else (found,)


def alike(one: Any, other: Any) -> bool:
    """Whether two calls have given the same bits, or refused the same."""
    if isinstance(one, set) or isinstance(other, set):
        return bool(one == other)
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def compared(graph: dml.graph.GraphDesc, given: dict[int, Any], without: Any = ()) -> bool:
    """Whether it ran, after its results were compared with those of its nodes."""
    before = {index: array.tobytes() for index, array in given.items()}
    try:
        expected: Any = evaluated(graph, given)
    except dml.DmlError as error:
        expected = {one.id for one in error.violations}
    found = results(graph, given, without)
    assert alike(found, ran(lambda: plainly(graph, given))), "without any optimization"
    assert {index: array.tobytes() for index, array in given.items()} == before
    if isinstance(expected, set) or isinstance(found, set):
        assert found == expected
        return False
    for one, other in zip(expected, found, strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return True


@pytest.mark.parametrize("seed", range(12))
def test_a_random_graph_gives_what_its_nodes_give(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided, "LONG", 0)
    without = ("folded",) if seed % 2 else ()  # most nodes read constants only, or what comes of these
    with np.errstate(all="ignore"):
        run = 0
        for number in range(4):
            graph = Drawer(random.Random(100 * seed + number).randrange).graph(12)
            assert dml.check(graph) == []
            run += compared(graph, arrays_for(graph, tensor_of_input, np.random.default_rng(seed)), without)
        assert run


@pytest.mark.parametrize("how", ["input", "node"])
def test_a_tensor_reaches_into_the_padding_of_another_one(how: str) -> None:
    """Three bytes and four are both 4 bytes in memory: the fourth one is 0."""
    g = dml.Graph()
    x = g.input(tensor(3, dtype="UINT8"))
    value = g.element_wise_bit_not(x) if how == "node" else x
    graph = g.build(g.element_wise_bit_not(g.reinterpret(value, tensor(4, dtype="UINT8"))), g.element_wise_bit_not(x))
    assert dml.check(graph) == []
    (first, _) = results(graph, {0: np.array([1, 2, 3], np.uint8)})
    assert first.tolist() == ([1, 2, 3, 255] if how == "node" else [254, 253, 252, 255])
    assert compared(graph, {0: np.array([1, 2, 3], np.uint8)})


@pytest.mark.parametrize("kind", ["gaps", "padding"])
def test_what_is_between_the_elements_of_an_output_is_zero(kind: str) -> None:
    """The output is not written over the input, whose bytes a reader of another layout would see."""
    g = dml.Graph()
    dtype, whole = ("FLOAT32", tensor(6)) if kind == "gaps" else ("INT8", tensor(4, dtype="INT8"))
    part = tensor(2, 2, strides=(4, 1)) if kind == "gaps" else tensor(3, dtype="INT8")
    first = g.activation_relu(g.input(whole))
    second = g.add(dml.desc.ActivationRelu(input=part, output=part), g.reinterpret(first, part))
    graph = g.build(g.activation_relu(g.reinterpret(second, whole)))
    assert dml.check(graph) == []
    x = np.arange(1, 1 + whole.element_count).astype(dtype.lower())
    (found,) = results(graph, {0: x})
    assert found.tolist() == ([1, 2, 0, 0, 5, 6] if kind == "gaps" else [1, 2, 3, 0])
    assert compared(graph, {0: x})
