"""Constants as inputs that DirectML owns, in memory and in ONNX Runtime's form of serialized graphs, and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import network, tensor

import dmlcy as dml
from dmlcy._frontends.graphs.to_records import to_records
from dmlcy._frontends.serialized.records import ConstantNode
from dmlcy._frontends.serialized.writer import write
from dmlcy.graph import GraphDesc


def scaled() -> GraphDesc:
    """A small constant, two large ones with names that are no names of files, one of which two nodes read."""
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2), name="x")
    small = g.constant(np.array(2, np.float32), name="two")
    wide = g.constant(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2), name="layer/weight:0")
    other = g.constant(np.ones((1, 1, 2, 2), np.float32), name="layer\\weight:0")
    y = g.element_wise_multiply(g.element_wise_add(x, wide), g.broadcast(small, (1, 1, 2, 2)))
    return g.build(y=g.join([g.gemm(y, wide), other, y], axis=1))


def run(graph: GraphDesc, x: Any, owned: dict[str, Any] | None = None) -> Any:
    op = dml.compile(graph)
    op.initialize(**(owned or {}))
    return op(x)


X = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)


def test_larger_constants_become_inputs_that_are_bound_once() -> None:
    graph = scaled()
    owned, arrays = graph.constants_as_inputs()
    assert dml.check(owned, warnings=True) == []
    assert [end.name for end in owned.inputs] == ["x", "layer/weight:0", "layer\\weight:0"] and [*arrays] == [
        "layer/weight:0", "layer\\weight:0"
    ]  # fmt: skip
    assert [node.name for node in owned.nodes if isinstance(node, dml.graph.Constant)] == ["two"]
    assert dml.compile(owned).owned == tuple(arrays) and dml.compile(owned).called == ("x",)
    assert (run(owned, X, arrays) == run(graph, X)).all()
    back = owned.inputs_as_constants(arrays)
    assert dml.check(back, warnings=True) == [] and [end.name for end in back.inputs] == ["x"]
    assert (run(back, X) == run(graph, X)).all()
    assert dml.check(graph) == [] and len(graph.inputs) == 1  # the graph itself does not change


def test_without_constants_the_level_is_that_of_the_operators() -> None:
    graph, x = network()
    assert dml.minimum_feature_level(graph).level == "6_2"
    owned, arrays = graph.constants_as_inputs(0)
    assert dml.minimum_feature_level(owned).level < "6_2"
    assert run(owned, x, arrays).tobytes() == dml.compile(graph)(x).tobytes()


def test_least_is_the_number_of_bytes_of_the_least_constant_that_becomes_an_input() -> None:
    g = dml.Graph()
    a, b = g.constant(np.ones(2, np.float32), name="a"), g.constant(np.ones(1, np.float32), name="b")
    graph = g.build(g.activation_relu(a), g.activation_relu(b))
    assert [end.name for end in graph.constants_as_inputs()[0].inputs] == ["a"]  # 8 bytes, and 4
    assert [end.name for end in graph.constants_as_inputs(4)[0].inputs] == ["a", "b"]
    assert graph.constants_as_inputs(9)[0].inputs == ()


def test_a_serialized_graph_has_names_of_files_in_place_of_larger_constants(tmp_path: Path) -> None:
    graph = scaled()
    path = dml.graph.save(graph, tmp_path / "model", form="serialized")
    assert path.name == "Partition_0.bin"
    assert sorted(one.name for one in path.parent.iterdir()) == [
        "Partition_0.bin", "layer_weight_0-2.bin", "layer_weight_0.bin"
    ]  # fmt: skip
    assert np.fromfile(path.parent / "layer_weight_0.bin", np.float32).tolist() == [0, 1, 2, 3]
    again = dml.graph.load(path)
    assert dml.check(again) == [] and len(again.inputs) == 1
    assert (run(again, X) == run(graph, X)).all()
    data = path.read_bytes()
    owned = dml.graph.from_bytes(data, owned=True)
    assert dml.check(owned) == [] and dml.compile(owned).owned == ("layer/weight:0", "layer\\weight:0")
    arrays = graph.constants_as_inputs()[1]
    assert (run(owned, X, arrays) == run(graph, X)).all()
    assert dml.graph.to_bytes(owned) == data  # and back
    assert (run(dml.graph.from_bytes(data, folder=path.parent), X) == run(graph, X)).all()


def test_a_constant_of_the_name_of_the_graph_does_not_write_over_it(tmp_path: Path) -> None:
    g = dml.Graph()
    k = g.constant(np.ones(4, np.float32), name="Partition_0")
    path = dml.graph.save(g.build(y=g.activation_relu(k)), tmp_path, form="serialized")
    assert {one.name for one in tmp_path.iterdir()} == {"Partition_0.bin", "Partition_0-2.bin"}
    assert dml.compile(dml.graph.load(path))().tolist() == [1, 1, 1, 1]


def test_an_output_that_is_a_constant_stays_one() -> None:
    constant = dml.graph.Constant.of(np.ones(4, np.float32), "k")
    edge = dml.graph.Edge(dml.graph.Port(0, 0), dml.graph.Port(None, 0))
    graph = GraphDesc((constant,), (), (dml.graph.End("y"),), (edge,))
    assert graph.constants_as_inputs()[0].inputs == ()


@pytest.mark.parametrize(
    ("arrays", "error", "said"),
    [
        ({"z": X}, ValueError, "was given 'z'"),
        ({"x": X[0]}, dml.InvalidDescError, "DML-GRAPH-array-sizes"),
        ({"x": X.astype(int)}, dml.InvalidDataTypeError, "DML-GRAPH-array-dtype"),
        ({"x": 3}, dml.InvalidDataTypeError, "DML-GRAPH-array-type"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        scaled().inputs_as_constants(arrays)


def test_a_graph_with_violations_is_refused(tmp_path: Path) -> None:
    g = dml.Graph(collect=True)
    text: Any = "one"
    graph = g.build(g.activation_elu(g.input(tensor(3)), alpha=text))
    for use in (graph.constants_as_inputs, lambda: graph.inputs_as_constants({})):
        with pytest.raises(dml.DmlError, match="DML-ACTIVATION_ELU-alpha-type"):
            use()
    with pytest.raises(ValueError, match="the form"):
        dml.graph.save(scaled(), tmp_path, form="xml")  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [False, True])
def test_a_constant_without_a_desc_keeps_its_bytes(gap: bool, tmp_path: Path) -> None:
    """The tensors that read it have strides: other axes first, or gaps that another tensor reads."""
    g = dml.Graph()
    k = g.constant(np.arange(6, dtype=np.float32), name="k")
    some = tensor(3, strides=(2,), total_tensor_size_in_bytes=24) if gap else tensor(3, 2, strides=(1, 3))
    graph = g.build(some=g.activation_relu(g.reinterpret(k, some)), every=g.activation_relu(k))
    expected = [[0, 2, 4]] if gap else [[[0, 3], [1, 4], [2, 5]]]
    again = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    for one in (again, dml.graph.load(dml.graph.save(again, tmp_path, form="serialized"))):
        owned, arrays = one.constants_as_inputs()
        op = dml.compile(owned)
        op.initialize(**arrays)
        for found in (op(), dml.compile(one)(), dml.compile(owned.inputs_as_constants(arrays))()):
            assert [part.tolist() for part in found] == [*expected, [0, 1, 2, 3, 4, 5]]


def test_bytes_that_are_no_elements_of_the_first_reader_become_an_input_of_bytes() -> None:
    g = dml.Graph()
    k = g.constant(np.arange(10, dtype=np.uint8), name="k")
    first = g.activation_relu(g.reinterpret(k, tensor(2, total_tensor_size_in_bytes=12)))
    graph = g.build(first, g.element_wise_identity(k))
    again = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    owned, arrays = again.constants_as_inputs()
    assert arrays["k"].tolist() == [*range(10)]
    op = dml.compile(owned)
    op.initialize(**arrays)
    assert op()[1].tolist() == [*range(10)]


def recurrent() -> GraphDesc:
    """RNN, whose tensors may not have the flag, beside an operator that reads one of its weights."""
    g = dml.Graph()
    x = g.input(tensor(1, 2, 1, 3), name="x")
    weight, recurrence = (
        g.constant(np.full((1, 1, 2, size), 0.5, np.float32), name=name) for name, size in (("w", 3), ("r", 2))
    )
    scale = g.constant(np.full((1, 1, 2, 3), 3, np.float32), name="scale")
    outputs = g.rnn(
        x, weight, recurrence, output_sequence=True, direction="FORWARD",
        activation_descs=[dml.desc.ActivationRelu()],
    )  # fmt: skip
    return g.build(outputs, g.element_wise_multiply(weight, scale))


def test_tensors_that_may_not_have_the_flag_read_constants_or_other_inputs(tmp_path: Path) -> None:
    graph, x = recurrent(), np.ones((1, 2, 1, 3), np.float32)
    expected = [one.tolist() for one in dml.compile(graph)(x)]
    owned, arrays = graph.constants_as_inputs()
    assert dml.check(owned) == [] and [*arrays] == ["scale"]
    op = dml.compile(owned)
    op.initialize(**arrays)
    read = dml.graph.load(dml.graph.save(graph, tmp_path, form="serialized"))
    for found in (op(x), dml.compile(read)(x)):
        assert [one.tolist() for one in found] == expected
    record = to_records(graph)
    nodes = (replace(one, data=one.name) if isinstance(one, ConstantNode) else one for one in record.nodes)
    files = dml.compile(dml.graph.from_bytes(write(replace(record, nodes=tuple(nodes))), owned=True))
    assert (files.called, files.owned) == (("x", "w", "r"), ("scale",))
