"""Compiled graphs: results, outputs, memory, and what calls are refused."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from inspect import signature
from typing import Any

import numpy as np
import pytest
from graphs import chain, network, tensor

import dmlcy as dml
from dmlcy._graph.actions import actions

X = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2) - 1


def by_hand(x: Any, graph: dml.graph.GraphDesc) -> Any:
    """The network of graphs.py, called operator by operator."""
    constants = {node.name: node for node in graph.nodes if isinstance(node, dml.graph.Constant)}

    def weights(name: str, *sizes: int) -> Any:
        data = constants[name].data
        assert data is not None
        return data.view(np.float32).reshape(sizes)

    y = dml.convolution(
        x, weights("kernel", 16, 3, 3, 3), start_padding=1, end_padding=1, fused_activation=dml.desc.ActivationRelu()
    )
    y = dml.max_pooling(y, window_size=2, strides=2)
    y = dml.activation_elu(dml.element_wise_add(y, y))
    return dml.activation_softmax(dml.gemm(y.reshape(1, 1, 1, -1), weights("matrix", 1, 1, 16 * 32 * 32, 10)))


def test_a_graph_gives_what_its_operators_give_one_by_one() -> None:
    graph, x = network()
    op = dml.compile(graph)
    expected = by_hand(x, graph)
    assert op(x).tobytes() == expected.tobytes()
    assert op(x=x).tobytes() == expected.tobytes()  # a second time, by name
    assert dml.compile(graph, path="reference")(x).shape == expected.shape
    assert pickle.loads(pickle.dumps(op))(x).tobytes() == expected.tobytes()


def test_the_planned_peak_is_near_the_measured_one() -> None:
    """The first run asks for its memory; the next ones have it already, except for the results."""
    g = dml.Graph()
    x = g.input(tensor(1, 8, 128, 128))
    y = z = g.activation_elu(x)
    for _ in range(3):
        y = g.element_wise_add(
            g.max_pooling(y, window_size=2, strides=2), g.average_pooling(z, window_size=2, strides=2)
        )
        z = g.activation_tanh(y)
    graph = g.build(g.element_wise_multiply(y, z), y)
    array = np.ones((1, 8, 128, 128), np.float32)
    dml.compile(graph)(array)
    op = dml.compile(graph)
    measured = []
    for _ in range(2):
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        op(array)
        measured.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
    plan = op.plan()
    assert plan.arena > 500_000 and plan.peak == plan.arena + plan.results
    assert 0.98 * plan.peak <= measured[0] <= 1.02 * plan.peak, (plan.peak, measured)
    assert measured[1] <= plan.results + 8192, (plan.results, measured)


def test_values_are_freed_after_their_last_use() -> None:
    """A hundred nodes take no more than a few values at a time."""
    plan = chain(100).plan()
    assert len(plan.steps) == 100
    assert max(step.live for step in plan.steps) <= 3 * 16
    g = dml.Graph()
    x = y = g.input(tensor(1, 64, 64, 64))
    for _ in range(12):
        y = g.activation_elu(y)
    graph = g.build(y, g.element_wise_add(x, y))
    op = dml.compile(graph)
    array = np.ones((1, 64, 64, 64), np.float32)
    op(array)
    tracemalloc.start()
    op(array)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured < 6 * array.nbytes, measured / array.nbytes


def test_a_plan_says_where_memory_is() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2), name="x")
    first = g.activation_relu(x, name="first")
    second = g.activation_relu(first, name="second")
    graph = g.build(y=g.element_wise_add(second, x, name="sum"))
    plan = graph.plan()
    assert [(step.name, step.outputs, step.over, step.frees) for step in plan.steps] == [
        ("first", 16, None, ()), ("second", 0, "first", ()), ("sum", 0, "second", ())
    ]  # fmt: skip
    assert (plan.arena, plan.results) == (0, 16)  # all values are in the memory of the result
    assert str(plan).splitlines()[-1] == f"peak {plan.peak} bytes"
    assert dml.compile(graph)(X).tolist() == (np.maximum(X, 0) + X).tolist()


def test_nothing_that_is_read_again_is_written_over() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2))
    one = g.constant(np.ones((1, 1, 2, 2), np.float32))
    first = g.activation_identity(x)
    second = g.activation_relu(first)  # first is read again
    third = g.activation_relu(one)
    twice = g.element_wise_add(second, second)
    graph = g.build(g.element_wise_add(first, twice), third, first)
    overs = [action.over for action in actions(graph)]
    assert [over for over in overs if over is not None and (over.node is None or over.node in (0, 1))] == []
    before = X.copy()
    op = dml.compile(graph)
    for _ in range(2):
        sum_, ones, same = op(X)
        assert sum_.tolist() == (X + 2 * np.maximum(X, 0)).tolist()
        assert ones.tolist() == np.ones((1, 1, 2, 2)).tolist() and same.tolist() == X.tolist()
        ones[...] = same[...] = 7  # outputs are the caller's
    assert X.tolist() == before.tolist()


def test_an_edge_reads_the_same_bytes() -> None:
    g = dml.Graph()
    x = g.input(tensor(2, 3))
    turned = g.reinterpret(g.element_wise_identity(x), tensor(3, 2, strides=(1, 3)))
    wide = g.element_wise_add(
        turned, g.reinterpret(g.constant(np.ones((1,), np.float32)), tensor(3, 2, strides=(0, 0)))
    )
    graph = g.build(wide, g.reinterpret(wide, tensor(6)))
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    first, second = dml.compile(graph)(array)
    assert first.tolist() == (array.T + 1).tolist() and second.tolist() == (array.T + 1).ravel().tolist()


def test_outputs_are_written_where_the_caller_says() -> None:
    graph = chain(3)
    op = dml.compile(graph)
    out = np.zeros((1, 1, 2, 4), np.float32)[..., ::2]
    assert op(X, out=out) is out and out.tolist() == op(X).tolist()
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2))
    two = dml.compile(g.build(g.activation_relu(x), g.activation_elu(x)))
    outs = np.empty_like(X), np.empty_like(X)
    assert two(X, out=outs) is outs and outs[0].tolist() == np.maximum(X, 0).tolist()
    with pytest.raises(TypeError, match="tuple of 2"):
        two(X, out=list(outs))
    with pytest.raises(TypeError, match=r"takes 1 array \(.+\), and was given 2"):
        two(X, X)


def test_a_graph_input_with_strides_is_laid_out_as_its_desc_says() -> None:  # DML-GRAPH-array-place
    g = dml.Graph()
    x = g.input(tensor(2, 3, strides=(0, 1), total_tensor_size_in_bytes=12), name="x")
    op = dml.compile(g.build(g.element_wise_identity(x)))
    rows = np.array([[1, 2, 3], [1, 2, 3]], np.float32)
    assert op(rows).tolist() == rows.tolist()
    assert op.plan().copies == 12
    with pytest.raises(dml.InvalidDataError) as caught:
        op(rows + np.array([[0], [1]], np.float32))
    assert caught.value.id == "DML-GRAPH-array-place"


@pytest.mark.parametrize(
    ("given", "slug"),
    [
        ("text", "DML-GRAPH-array-type"),
        (X.astype(np.float64), "DML-GRAPH-array-dtype"),
        (X[0], "DML-GRAPH-array-sizes"),
    ],
)
def test_an_array_that_is_not_the_tensor_is_refused(given: Any, slug: str) -> None:
    op = dml.compile(chain(2))
    with pytest.raises(dml.DmlError, match="graph input 0") as caught:
        op(given)
    assert caught.value.id == slug
    with pytest.raises(dml.DmlError, match="graph output 0") as caught:
        op(X, out=given)
    assert caught.value.id == slug


def test_an_array_in_another_byte_order_is_refused_with_what_to_do() -> None:
    op, swapped = dml.compile(chain(2)), X.astype(X.dtype.newbyteorder())
    with pytest.raises(dml.InvalidDataTypeError, match=r'order of other machines\. Pass array\.astype\("float32"\)'):
        op(swapped)
    with pytest.raises(dml.InvalidDataTypeError, match=r"order of other machines\. Pass an array of numpy\.float32"):
        op(X, out=swapped)
    with pytest.raises(TypeError, match="order of other machines: pass") as caught:
        dml.Graph().constant(swapped)
    words = str(caught.value).rpartition("pass ")[2][:-1]
    assert op(eval(words, {"array": swapped})).tolist() == op(X).tolist()
    with pytest.raises(TypeError) as caught:
        dml.Graph().constant(np.zeros(2, complex))
    assert "order" not in str(caught.value)


def test_the_signature_of_a_class_is_that_of_its_constructor() -> None:
    assert [*signature(dml.graph.CompiledGraph).parameters][:2] == ["graph", "level"]
    assert [*signature(dml.CompiledOperator).parameters] == ["args", "kwargs"]


def test_an_out_that_cannot_be_written_is_refused() -> None:  # DML-GRAPH-out
    op = dml.compile(chain(2))
    out = np.zeros_like(X)
    out.flags.writeable = False
    array = X.copy()
    for wrong in (out, array, np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), X.shape, (0,) * 4)):
        with pytest.raises(dml.InvalidDescError) as caught:
            op(array, out=wrong)
        assert caught.value.id == "DML-GRAPH-out"
    assert array.tolist() == X.tolist()


@pytest.mark.parametrize(("args", "named"), [((), {}), ((X, X), {}), ((X,), {"x": X}), ((X,), {"z": X})])
def test_arguments_are_those_of_a_function(args: Any, named: Any) -> None:
    with pytest.raises(TypeError, match=r"graph\(\)"):
        dml.compile(chain(2))(*args, **named)


def test_owned_inputs_are_given_once() -> None:  # DML-GRAPH-initialize
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2), name="x")
    w = g.input(tensor(1, 1, 2, 2, flags="OWNED_BY_DML"), name="w")
    op = dml.compile(g.build(g.element_wise_add(x, w)))
    assert op.called == ("x",) and op.owned == ("w",)
    with pytest.raises(dml.InvalidDataError) as caught:
        op(X)
    assert caught.value.id == "DML-GRAPH-initialize"
    weights = np.ones_like(X)
    op.initialize(weights)
    weights[:] = 9  # it was copied
    assert op(X).tolist() == (X + 1).tolist() == op(X).tolist()
    op.initialize(w=weights)
    assert op(X).tolist() == (X + 9).tolist()
    with pytest.raises(TypeError):
        op(X, weights)
    with pytest.raises(dml.DmlError):
        op.initialize(X[0])


def test_values_that_a_node_refuses_name_the_node() -> None:
    g = dml.Graph()
    x, roi = g.input(tensor(1, 1, 4, 4)), g.input(tensor(1, 1, 1, 5))
    graph = g.build(g.roi_pooling(g.activation_relu(x), roi, spatial_scale=1, pooled_size=(2, 2), name="regions"))
    out = np.full((1, 1, 2, 2), 5, np.float32)
    with pytest.raises(dml.InvalidDataError, match='node 1 "regions"'):
        dml.compile(graph)(np.ones((1, 1, 4, 4), np.float32), np.full((1, 1, 1, 5), 9, np.float32), out=out)
    assert (out == 5).all()


def test_an_operator_that_does_not_run_is_named(described: str) -> None:
    from test_graph_build import used

    from dmlcy._facts.tables import OPERATORS

    g, _, result = used(OPERATORS[described])
    with pytest.raises(dml.OperatorNotRunnableError, match="node 0"):
        dml.compile(g.build(result))


def test_nodes_that_are_alike_share_an_operator() -> None:
    op = dml.compile(chain(50))
    assert len({id(one) for one in op._operators}) == 2


def test_an_out_that_is_an_input_is_refused_however_it_is_laid_out() -> None:
    op = dml.compile(chain(2))
    wide = np.zeros((1, 1, 2, 4), np.float32)
    for array in (wide[..., ::2], np.asfortranarray(X)):
        with pytest.raises(dml.InvalidDescError, match="shares memory with graph input 0") as caught:
            op(array, out=array)
        assert caught.value.id == "DML-GRAPH-out"
    assert op(wide[..., ::2], out=wide[..., 1::2]).tolist() == op(wide[..., ::2]).tolist()


@pytest.mark.parametrize("name", ["self", "class", "out", "a b"])
def test_an_input_may_have_any_name(name: str) -> None:
    g = dml.Graph()
    op = dml.compile(g.build(g.activation_relu(g.input(tensor(1, 1, 2, 2), name=name))))
    assert op(X).tolist() == np.maximum(X, 0).tolist()
    assert ("self" in signature(op).parameters) == (name == "self")
    if name != "out":
        assert op(**{name: X}).tolist() == np.maximum(X, 0).tolist()


def test_a_copy_of_a_compiled_graph_is_initialised() -> None:
    g = dml.Graph()
    w = g.input(tensor(1, 1, 2, 2, flags="OWNED_BY_DML"), name="w")
    op = dml.compile(g.build(g.element_wise_add(g.input(tensor(1, 1, 2, 2)), w)))
    with pytest.raises(dml.InvalidDataError, match="DML-GRAPH-initialize"):
        copy.deepcopy(op)(X)
    op.initialize(X)
    assert pickle.loads(pickle.dumps(op))(X).tolist() == copy.deepcopy(op)(X).tolist() == (2 * X).tolist()


@pytest.mark.parametrize("name", [None, 3, b"x", ["x"]])
def test_a_name_is_text(name: Any) -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2))
    for use in (
        lambda: g.input(tensor(1), name=name),
        lambda: g.constant(X, name=name),
        lambda: g.activation_relu(x, name=name),
        lambda: g.add(dml.desc.ActivationRelu(input=tensor(1, 1, 2, 2)), x, name=name),
    ):
        with pytest.raises(TypeError, match=r"\(\) takes a str as name, not"):
            use()
    assert dml.check(g.build(g.activation_relu(x))) == []


@pytest.mark.parametrize("read", [True, False])
def test_a_flag_that_no_reader_has_has_no_effect(read: bool) -> None:
    """The input is an argument of a call; a warning says that the flag is lost, or that nothing uses the input."""
    g = dml.Graph()
    owned, x = g.input(tensor(2, 3, flags="OWNED_BY_DML"), name="owned"), g.input(tensor(6), name="x")
    y = g.element_wise_add(g.reinterpret(owned, tensor(6)), x) if read else g.activation_relu(x)
    graph = g.build(y=y)
    assert dml.check(graph) == []
    found = dml.check(graph, warnings=True)
    assert [one.id for one in found] == ["DML-GRAPH-owned-lost" if read else "DML-GRAPH-unused"]
    given = np.arange(6, dtype=np.float32)
    result = dml.compile(graph)(owned=given.reshape(2, 3), x=given)
    assert result.tolist() == ((2 if read else 1) * given).tolist()
