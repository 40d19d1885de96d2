"""Graphs from Python: methods for all operators, descs inferred as calls do, and what is refused."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each_of
from graphs import tensor

import dmlcy as dml
from dmlcy._compile import function
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import NAMES, OPERATORS
from dmlcy._field_types.tensor_desc import described
from dmlcy._graph.model import outputs_of

STUB = Path(dml.__file__).parent / "_graph" / "operators.pyi"


def used(operator: Operator, number: int = 0) -> tuple[dml.Graph, Any, Any]:
    """A graph with the first example of an operator, the desc of the example, and the values of the outputs."""
    example = operator.examples[number]
    g = dml.Graph()
    tensors = described(example.inputs)
    values: list[Any] = []
    for field in operator.fields:
        if field.kind == "input":
            desc = tensors.get(field.python)
            values.append(
                tuple(g.input(one) for one in desc)
                if isinstance(desc, tuple)
                else None
                if desc is None
                else g.input(desc)
            )
    asked: dict[str, Any] = {}
    for path, (dtype, _, _) in example.outputs.items():
        field = operator.field(path)
        if field.optional:
            asked[field.python] = dtype
        elif not operator.has_type(field):
            asked[f"{field.python}_dtype"] = dtype
    for field in operator.fields:
        if field.kind == "output" and field.optional and field.python not in asked:
            asked[field.python] = False
    given = {**operator.example_arguments(example), **asked}
    result = getattr(g, operator.python)(*values, **given, name="node")
    return g, g._nodes[-1].desc, result


@each_of("name", OPERATORS)
def test_a_method_makes_the_desc_of_the_example(name: str) -> None:
    operator = OPERATORS[name]
    example = operator.examples[0]
    g, desc, result = used(operator)
    assert dml.check(desc) == []
    expected = described({**example.inputs, **example.outputs})
    found = {field: getattr(desc, field) for field in expected}
    for field, one in found.items():
        several = one if isinstance(one, tuple) else (one,)
        given = expected[field]
        wanted = given if isinstance(given, tuple) else (given,)
        for tensor_, other in zip(several, wanted, strict=True):
            assert tensor_.dtype is other.dtype, field
            assert tensor_.element_count == other.element_count, field  # ones may be left out in an example
    outputs = result if isinstance(result, tuple) else (result,)
    graph = g.build(*outputs)
    assert dml.check(graph) == []
    assert dml.graph.from_json(dml.graph.to_json(graph)).nodes == graph.nodes


def test_every_method_is_in_the_stub_with_the_parameters_that_it_has() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    (cls,) = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    stubs: dict[str, list[list[str]]] = {}
    for one in cls.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            names = [arg.arg for arg in (*one.args.args[1:], *one.args.kwonlyargs)]
            stubs.setdefault(one.name, []).append(names)
    g = dml.Graph()
    assert sorted(stubs) == sorted(NAMES.values())
    for python, declared in stubs.items():
        there = list(inspect.signature(getattr(g, python)).parameters)
        assert all(sorted(names) == sorted(there) for names in declared), python
        own = [name for name in inspect.signature(function_of(python)).parameters if name != "out"]
        assert sorted(there) == sorted([*own, "outputs", "name"]), python


def function_of(python: str) -> Any:
    return function(next(name for name, one in NAMES.items() if one == python))


def test_what_a_call_refuses_a_method_refuses_with_the_same_ids() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 4, 4))
    with pytest.raises(dml.InvalidDescError) as caught:
        g.average_pooling(x, window_size=5)
    with pytest.raises(dml.InvalidDescError) as called:
        dml.average_pooling(np.ones((1, 1, 4, 4), np.float32), window_size=5)
    assert [one.id for one in caught.value.violations] == [one.id for one in called.value.violations]
    with dml.feature_level("1_0"), pytest.raises(dml.FeatureLevelError):
        g.activation_gelu(x)
    assert g._nodes == []  # nothing was added


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (lambda g, x: np.sum(x), TypeError, "not functions of NumPy"),
        (lambda g, x: g.gemm(x), TypeError, "missing a required argument: 'b'"),
        (lambda g, x: g.gemm(x, x, bogus=1), TypeError, "bogus"),
        (lambda g, x: g.gemm(x, np.ones(3)), TypeError, "Make it a graph input, or a constant"),
        (lambda g, x: g.join(x, axis=0), TypeError, "takes a sequence of values for inputs"),
        (lambda g, x: g.activation_relu(dml.Graph().input(tensor(3))), ValueError, "another graph"),
        (lambda g, x: g.bogus(x), AttributeError, "bogus"),
        (lambda g, x: g.input(np.ones(3)), TypeError, "TensorDesc.from_array"),
        (lambda g, x: g.constant([1, 2]), TypeError, "takes an array"),
        (lambda g, x: g.constant(np.ones(2, complex)), TypeError, "takes an array"),
        (lambda g, x: g.reinterpret(x, (3,)), TypeError, "takes a TensorDesc"),
        (lambda g, x: g.add(x, x), TypeError, "class of dmlcy.desc"),
        (lambda g, x: g.add(dml.desc.ActivationRelu(input=tensor(3)), x, x), TypeError, "2 inputs"),
        (lambda g, x: g.build(), TypeError, "at least one output"),
        (lambda g, x: g.build(3), TypeError, "takes a value of the graph"),
    ],
)
def test_a_wrong_use_is_refused(use: Any, error: type[Exception], said: str) -> None:
    g = dml.Graph()
    with pytest.raises(error, match=said):
        use(g, g.input(tensor(1, 1, 2, 3)))


def test_outputs_are_values_with_the_descs_of_the_node() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 4, 4))
    values, indices = g.max_pooling1(x, window_size=2, strides=2, output_indices="UINT64")
    assert (values.desc, indices.desc) == (tensor(1, 1, 2, 2), tensor(1, 1, 2, 2, dtype="UINT64"))
    half = g.cast(values, output_dtype="FLOAT16")
    pieces = g.split(half, axis=3, output_sizes=[(1, 1, 2, 1)] * 2)
    assert [one.desc.sizes for one in pieces] == [(1, 1, 2, 1)] * 2
    graph = g.build(indices=indices, joined=g.join(pieces[::-1], axis=3))
    assert [len([one for _, one in outputs_of(node) if one]) for node in graph.nodes] == [2, 1, 2, 1]
    assert [end.name for end in graph.outputs] == ["indices", "joined"]
    assert dml.check(graph, warnings=True) == []


def test_a_desc_without_output_indices_has_no_value_for_them() -> None:
    g = dml.Graph()
    assert isinstance(g.max_pooling1(g.input(tensor(1, 1, 4, 4)), window_size=2), dml.graph.Value)


def test_a_graph_does_not_change() -> None:
    g = dml.Graph()
    graph = g.build(g.activation_relu(g.input(tensor(3))))
    with pytest.raises(AttributeError):
        graph.nodes = ()  # type: ignore[misc]
    g.activation_relu(g.input(tensor(3)))
    assert len(graph.nodes) == 1
    array = np.ones(3, np.float32)
    constant = g.constant(array)
    array[:] = 2
    assert constant._port.node is not None
    made = g._nodes[constant._port.node]
    assert isinstance(made, dml.graph.Constant) and made.data is not None
    data = made.data
    assert data.view(np.float32).tolist() == [1, 1, 1] and not data.flags.writeable


def test_no_parameter_of_an_operator_is_called_like_one_of_a_method() -> None:
    for operator in OPERATORS.values():
        parameters = {field.python for field in (*operator.fields, *operator.chosen) if field.kind != "output"}
        assert parameters.isdisjoint({"name", "outputs"}), operator.name
