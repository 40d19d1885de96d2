"""A graph that collects what is wrong with its nodes, as a front end builds it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from each import each_of
from foreign_model import FILE, WRONG, built
from graphs import tensor

import dmlcy as dml
from dmlcy._errors import Violation
from dmlcy._facts.tables import OPERATORS
from dmlcy._graph.violations import GraphViolation

TEXT: Any = "one"
"""No number, and no sizes."""


def at(violation: Violation) -> GraphViolation:
    """The violation, which is of a graph."""
    assert isinstance(violation, GraphViolation)
    return violation


def test_three_wrong_nodes_of_a_thousand_are_three_violations_with_their_origins() -> None:
    graph = built(1000)
    found = dml.check(graph)
    assert [one.id for one in found] == [id_ for _, _, id_ in WRONG.values()]
    assert [at(one).node for one in found] == [*WRONG]
    assert [at(one).origin for one in found] == [
        dml.graph.Origin(FILE, f"/layer/{number}", method.title()) for number, (method, _, _) in WRONG.items()
    ]
    assert [one.to_json()["origin"]["name"] for one in found] == [f"/layer/{number}" for number in WRONG]
    assert all(f'"/layer/{number}" in "model.onnx"' in str(one) for number, one in zip(WRONG, found, strict=True))
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.compile(graph)
    assert len(caught.value.violations) == len(WRONG)
    assert dml.check(built(1000, {})) == []


def calls(function: Callable[[], Any]) -> int:
    """How many calls of Python functions a function makes."""
    count = 0

    def note(frame: object, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_many_wrong_nodes_take_linear_time() -> None:
    def work(count: int) -> None:
        g = dml.Graph(collect=True, unique_names=True)
        value = g.input(tensor(1, 1, 4, 4))
        for _ in range(count):
            with g.origin(FILE, "pool"):
                value = g.activation_elu(value, alpha=TEXT, outputs=tensor(1, 1, 4, 4), name="elu")
        found = dml.check(g.build(y=value))
        assert len(found) == count == len(g.violations)

    work(1)  # what is loaded and kept once
    few, many = calls(lambda: work(100)), calls(lambda: work(400))
    assert many < 4.1 * few


def test_what_only_follows_from_a_wrong_node_is_not_said() -> None:
    g = dml.Graph(collect=True)
    unknown = g.average_pooling(g.input(tensor(4, 4)), window_size=2)
    assert unknown.desc.sizes == ()  # nothing says the sizes
    after = g.max_pooling(g.activation_relu(unknown), window_size=2)
    assert after.desc.sizes == ()
    known = g.activation_relu(after, outputs=tensor(1, 1, 2, 2))
    g.element_wise_add(known, g.input(tensor(1, 1, 2, 3)))
    g.activation_elu(unknown, alpha=TEXT)
    graph = g.build(after, known)
    expected = [
        "DML-AVERAGE_POOLING-input-rank",
        "DML-ELEMENT_WISE_ADD-b-sizes",
        "DML-ACTIVATION_ELU-alpha-type",
    ]
    assert [one.id for one in g.violations] == expected
    assert [one.id for one in dml.check(graph)] == expected


def test_sizes_that_follow_from_the_fields_are_inferred() -> None:
    g = dml.Graph(collect=True)
    a, b = g.input(tensor(1, 1, 2, 3)), g.input(tensor(1, 1, 4, 5))
    assert g.gemm(a, b).desc == tensor(1, 1, 2, 5)
    assert g.average_pooling(g.input(tensor(1, 1, 4, 4, dtype="FLOAT64")), window_size=2).desc.sizes == (1, 1, 3, 3)
    values, indices = g.top_k1(a, axis=3, k=7)
    assert values.desc.sizes == indices.desc.sizes == (1, 1, 2, 7)
    assert [one.id for one in g.violations] == [
        "DML-GEMM-b-rows", "DML-AVERAGE_POOLING-input-dtype", "DML-TOP_K1-k-fits"
    ]  # fmt: skip


def test_a_wrong_keyword_that_no_desc_has_is_said_by_the_check_too() -> None:
    g = dml.Graph(collect=True)
    y = g.cast(g.input(tensor(3)), output_dtype="FLOAT31")
    assert [one.id for one in dml.check(g.build(y))] == ["DML-CAST-output-dtype"]


def test_a_level_that_is_too_low_is_said_below_that_level() -> None:
    g = dml.Graph(collect=True)
    with dml.feature_level("1_0"):
        y = g.activation_gelu(g.input(tensor(3)))
    graph = g.build(y)
    assert [one.id for one in dml.check(graph, "1_0")] == ["DML-ACTIVATION_GELU-operator-level"]
    assert dml.check(graph) == []


@pytest.mark.parametrize("collect", [False, True])
def test_outputs_that_are_given_are_checked(collect: bool) -> None:
    g = dml.Graph(collect=collect)
    x = g.input(tensor(1, 1, 4, 4))
    strided = tensor(1, 1, 4, 4, strides=(32, 32, 8, 1))
    assert g.activation_relu(x, outputs=strided).desc == strided
    first, second = g.max_pooling1(
        x, window_size=2, output_indices=True, outputs=(None, tensor(1, 1, 3, 3, dtype="UINT64"))
    )
    assert first.desc == tensor(1, 1, 3, 3) and second.desc.dtype.name == "UINT64"
    pieces = g.split(x, axis=3, outputs=[tensor(1, 1, 4, 1), tensor(1, 1, 4, 3)])
    assert [one.desc.sizes[3] for one in pieces] == [1, 3]
    assert dml.check(g.build(first, second, *pieces)) == []
    if collect:
        assert g.activation_relu(x, outputs=tensor(1, 1, 4, 5)).desc.sizes == (1, 1, 4, 5)
        assert [one.id for one in g.violations] == ["DML-ACTIVATION_RELU-output-sizes"]
    else:
        with pytest.raises(dml.InvalidDescError, match="DML-ACTIVATION_RELU-output-sizes"):
            g.activation_relu(x, outputs=tensor(1, 1, 4, 5))


@pytest.mark.parametrize(
    ("outputs", "said"),
    [((3,), "takes tensor descs as outputs"), ((tensor(3), tensor(3)), "has 1 outputs"), (3, "takes tensor descs")],
)
def test_what_is_no_desc_of_an_output_is_refused(outputs: Any, said: str) -> None:
    g = dml.Graph(collect=True)
    with pytest.raises(TypeError, match=said):
        g.activation_relu(g.input(tensor(3)), outputs=outputs)


def test_a_wrong_use_of_python_still_raises() -> None:
    g = dml.Graph(collect=True)
    with pytest.raises(TypeError, match="missing a required argument"):
        gemm: Any = g.gemm
        gemm(g.input(tensor(1, 1, 2, 2)))


@each_of("name", OPERATORS)
def test_every_operator_gives_values_for_inputs_that_are_wrong(name: str) -> None:
    """The inputs of each operator have a rank that no operator takes."""
    operator = OPERATORS[name]
    example = operator.examples[0]
    g = dml.Graph(collect=True)
    values: list[Any] = []
    for field in operator.fields:
        if field.kind == "input":
            there = field.python in example.inputs or f"{field.python}[0]" in example.inputs
            value = g.input(tensor(*(2,) * 9, dtype="FLOAT64"))
            values.append(None if not there else value if field.python in example.inputs else (value, value))
    if all(value is None for value in values):
        return
    asked = {}
    for path, (dtype, _, _) in example.outputs.items():
        field = operator.field(path)
        if field.optional:
            asked[field.python] = dtype
    result = getattr(g, operator.python)(*values, **operator.example_arguments(example), **asked)
    outputs = result if isinstance(result, tuple) else (result,)
    found = [one.id for one in dml.check(g.build(*outputs)) if at(one).node is not None]
    assert found == [one.id for one in g.violations] != []
    assert [one for one in outputs if not isinstance(g.activation_relu(one), dml.graph.Value)] == []


@pytest.mark.parametrize("sizes", [("batch", 3), (None, 3), (2.5, 3), (True, 3), None, 3, "abc"])
def test_sizes_of_an_input_that_are_no_ints_are_violations(sizes: Any) -> None:
    g = dml.Graph(collect=True)
    x = g.input(dml.TensorDesc("FLOAT32", sizes), name="x")
    y = g.element_wise_add(g.activation_relu(x), g.broadcast(x, (4, 3)))
    graph = g.build(y, g.activation_relu(g.transpose(x, (1, 0))), g.activation_relu(g.reshape(x, (3, 4))))
    assert {"DML-GRAPH-desc"} < {one.id for one in dml.check(graph)}
    strict = dml.Graph()
    with pytest.raises(dml.DmlError, match=r"DML-ACTIVATION_RELU-input-(type|required)"):
        strict.activation_relu(strict.input(dml.TensorDesc("FLOAT32", sizes)))


def test_a_violation_that_no_desc_has_is_not_lost_in_json(tmp_path: Path) -> None:
    """The words of the argument are in no desc: a graph that is read from the file would be valid."""
    g = dml.Graph(collect=True)
    x = g.input(tensor(1, 1, 4, 4), name="x")
    with g.origin(FILE, "/pool", "MaxPool"):
        y = g.max_pooling(x, window_size=2, output_sizes=TEXT)
    graph = g.build(g.max_pooling(y, window_size=9))
    for write in (dml.graph.to_json, lambda one: dml.graph.save(one, tmp_path / "saved")):
        with pytest.raises(dml.InvalidDataTypeError) as caught:
            write(graph)
        assert [(one.id, at(one).node) for one in caught.value.violations] == [("DML-MAX_POOLING-output-type", 0)]
        assert '"/pool"' in str(caught.value)
    assert not (tmp_path / "saved").exists()
    wrong = dml.Graph(collect=True)
    kept = wrong.build(wrong.max_pooling(wrong.input(tensor(1, 1, 4, 4)), window_size=9))
    assert [one.id for one in dml.check(dml.graph.from_json(dml.graph.to_json(kept)))] == [
        "DML-MAX_POOLING-window_size-fits"
    ] * 2


def test_a_violation_of_a_level_is_none_at_a_later_level() -> None:
    with dml.feature_level("1_0"):
        g = dml.Graph(collect=True)
        graph = g.build(g.activation_gelu(g.input(tensor(1, 1, 2, 2), name="x")))
        assert [one.id for one in g.violations] == ["DML-ACTIVATION_GELU-operator-level"]
    assert dml.check(graph) == [] and dml.minimum_feature_level(graph).level == graph.levels().level == "5_1"
    assert dml.check(dml.graph.from_json(dml.graph.to_json(graph))) == []
