"""Values in another arrangement, without strides that the caller computes; outputs that are inputs or constants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import tensor

import dmlcy as dml
from dmlcy._graph.wiring import wiring_of
from dmlcy.graph import Graph, Port, Value

X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)

Way = tuple[Callable[[Graph, Value], Value], Callable[[Any], Any], int]

WAYS: dict[str, Way] = {
    "transpose": (lambda g, x: g.transpose(x, (0, 3, 1, 2)), lambda x: x.transpose(0, 3, 1, 2), 0),
    "back": (lambda g, x: g.transpose(g.transpose(x, (1, 3, 0, 2)), (2, 0, 3, 1)), lambda x: x, 0),
    "reshape": (lambda g, x: g.reshape(x, (6, 4)), lambda x: x.reshape(6, 4), 0),
    "ones": (
        lambda g, x: g.reshape(g.transpose(x, (0, 1, 3, 2)), (2, 1, 4, 3, 1)),
        lambda x: x.transpose(0, 1, 3, 2).reshape(2, 1, 4, 3, 1), 0,
    ),
    "copied": (
        lambda g, x: g.reshape(g.transpose(x, (0, 2, 3, 1)), (12, 2)),
        lambda x: x.transpose(0, 2, 3, 1).reshape(12, 2), 1,
    ),
    "broadcast": (
        lambda g, x: g.broadcast(g.reshape(x, (2, 3, 1, 4)), (2, 2, 3, 5, 4)),
        lambda x: np.broadcast_to(x.reshape(2, 3, 1, 4), (2, 2, 3, 5, 4)), 0,
    ),
    "broadcast and transpose": (
        lambda g, x: g.transpose(g.broadcast(x, (3, 2, 3, 4)), (3, 2, 1, 0)),
        lambda x: np.broadcast_to(x, (3, 2, 3, 4)).transpose(3, 2, 1, 0), 0,
    ),
    "broadcast and reshape": (
        lambda g, x: g.reshape(g.broadcast(x, (3, 2, 3, 4)), (18, 4)),
        lambda x: np.broadcast_to(x, (3, 2, 3, 4)).reshape(18, 4), 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_a_view_has_the_elements_that_numpy_gives(name: str) -> None:
    view, expected, copies = WAYS[name]
    g = Graph()
    x = g.input(tensor(*X.shape), name="x")
    value = view(g, x)
    assert value.desc.sizes == expected(X).shape
    assert len(g._nodes) == copies
    graph = g.build(read=g.activation_relu(value), itself=value)
    assert dml.check(graph) == []
    for one in dml.compile(graph)(X):
        assert one.shape == expected(X).shape and (one == expected(X)).all()
    again = dml.graph.from_json(dml.graph.to_json(graph))
    assert all((one == expected(X)).all() for one in dml.compile(again)(X))


def test_a_value_of_a_node_is_viewed_too() -> None:
    g = Graph()
    y = g.transpose(g.activation_relu(g.input(tensor(*X.shape), name="x")), (3, 2, 1, 0))
    graph = g.build(y, g.element_wise_add(y, y))
    first, second = dml.compile(graph)(X)
    assert (first == X.T).all() and (second == 2 * X.T).all()
    assert len(graph.nodes) == 3 and len(g._nodes) == 2  # the output is copied, in this graph only
    assert len(g.build(y).nodes) == 3


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (lambda g, x: g.transpose(x, (0, 1, 2)), "each of the axes 0 to 3 once"),
        (lambda g, x: g.transpose(x, (0, 1, 2, 2)), "each of the axes"),
        (lambda g, x: g.transpose(x, (0, 1, 2, -1)), "each of the axes"),
        (lambda g, x: g.broadcast(x, (2, 3, 4)), "cannot repeat"),
        (lambda g, x: g.broadcast(x, (1, 2, 4, 4)), "cannot repeat"),
        (lambda g, x: g.broadcast(x, (1, 1, 3, 4)), "cannot repeat"),
        (lambda g, x: g.reshape(x, (5, 5)), "cannot give 24 elements"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(view: Callable[[Graph, Value], Value], said: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match=said):
        view(g, g.input(tensor(*X.shape)))


@pytest.mark.parametrize("name", ["transpose", "broadcast", "reshape"])
def test_what_is_no_value_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) takes a value"):
        getattr(Graph(), name)(X, (0,))


def test_views_of_a_value_of_which_nothing_is_known() -> None:
    g = Graph(collect=True)
    unknown = g.average_pooling(g.input(tensor(4, 4)), window_size=2)
    assert g.transpose(unknown, (3, 2, 1, 0)).desc.sizes == ()
    assert g.broadcast(unknown, (2, 2)).desc == g.reshape(unknown, (2, 2)).desc == tensor(2, 2)
    g.activation_relu(g.reshape(unknown, (2, 2)))
    assert [one.id for one in dml.check(g.build(g.transpose(unknown, (3, 2, 1, 0))))] == [
        "DML-AVERAGE_POOLING-input-rank"
    ]


def test_an_output_can_be_an_input_or_a_constant() -> None:
    g = Graph()
    x, k = g.input(tensor(2, 2), name="x"), g.constant(np.arange(3, dtype=np.int64), name="k")
    graph = g.build(turned=g.transpose(x, (1, 0)), same=x, constant=k, again=x)
    assert dml.check(graph, warnings=True) == []
    values = np.array([[1, 2], [3, 4]], np.float32)
    turned, same, constant, again = dml.compile(graph)(values)
    assert (turned == values.T).all() and (same == values).all() and (again == values).all()
    assert same is not values and constant.dtype == np.int64 and constant.tolist() == [0, 1, 2]
    read = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    assert dml.check(read) == [] and len(read.outputs) == 4


def test_a_view_of_an_owned_input_keeps_the_flag() -> None:
    g = Graph()
    x = g.input(tensor(2, 3, flags="OWNED_BY_DML"), name="x")
    views = (g.transpose(x, (1, 0)), g.reshape(x, (6,)), g.broadcast(x, (2, 2, 3)))
    graph = g.build(*map(g.activation_relu, views))
    assert dml.check(graph, warnings=True) == [] and dml.compile(graph).owned == ("x",)


def test_an_input_that_dml_owns_can_be_an_output() -> None:
    g = Graph()
    x = g.input(tensor(3, flags="OWNED_BY_DML"), name="x")
    op = dml.compile(g.build(x))
    op.initialize(np.ones(3, np.float32))
    assert op().tolist() == [1, 1, 1]


@pytest.mark.parametrize("wrong", [4, None, "24", (24.0,), (True, 24)])
@pytest.mark.parametrize("name", ["transpose", "broadcast", "reshape"])
def test_what_is_no_sequence_of_ints_is_refused(name: str, wrong: Any) -> None:
    g = Graph()
    with pytest.raises(TypeError, match=rf"{name}\(\) takes a sequence of ints"):
        getattr(g, name)(g.input(tensor(24)), wrong)


def test_sizes_below_one_are_refused() -> None:
    g = Graph()
    x = g.input(tensor(1, 24))
    for view, sizes in ((g.broadcast, (0, 24)), (g.broadcast, (-1, 1, 24)), (g.reshape, (-4, -6))):
        with pytest.raises(ValueError, match="cannot"):
            view(x, sizes)


def test_a_single_element_without_sizes_has_the_size_1() -> None:
    g = Graph()
    value = g.reshape(g.constant(np.full((1, 1), 3, np.float32)), ())
    assert value.desc.sizes == (1,) and dml.compile(g.build(g.activation_relu(value)))().tolist() == [3]


@pytest.mark.parametrize("name", WAYS)
def test_a_serialized_graph_reads_its_inputs_and_constants_in_the_order_of_memory(name: str, tmp_path: Path) -> None:
    """Its inputs have no descs: those of the tensors that read them have strides."""
    view, expected, _ = WAYS[name]
    g = Graph()
    values = (g.input(tensor(*X.shape), name="x"), g.constant(2 * X, name="k"))
    graph = g.build(**{f"y{place}": g.activation_relu(view(g, value)) for place, value in enumerate(values)})
    again = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    sizes = dml.graph.load(dml.graph.save(again, tmp_path, form="serialized"))
    for one in (again, sizes):
        shape = wiring_of(one).desc_of(Port(None, 0)).sizes  # type: ignore[union-attr]
        assert [size for size in shape if size > 1] == [2, 3, 4] or name == "reshape"
        for factor, found in zip((1, 2), dml.compile(one)(X.reshape(shape)), strict=True):
            assert (found == factor * expected(X)).all()


def test_a_square_input_is_not_turned() -> None:
    g = Graph()
    graph = g.build(y=g.activation_relu(g.transpose(g.input(tensor(2, 2), name="x"), (1, 0))))
    values = np.array([[1, 2], [3, 4]], np.float32)
    again = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    assert (dml.compile(again)(values) == dml.compile(graph)(values)).all()


def test_strides_of_an_input_that_its_readers_do_not_say_are_refused() -> None:
    g = Graph()
    x = g.input(tensor(2, 2, strides=(1, 2)), name="x")
    with pytest.raises(dml.ModelError, match=r'strides of graph input 0 "x" is \(1, 2\).*DML-GRAPH-file-value'):
        dml.graph.to_bytes(g.build(y=g.activation_relu(x)))
