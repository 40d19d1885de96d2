"""Messages about wrong names in a call of an operator: our own for an unknown name, else Python's and what to write."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS

KNOWN = tuple(OPERATORS.values())  # before tests add to them
X = np.ones((1, 1, 4, 4), np.float32)


def definition(signature: inspect.Signature, name: str) -> Any:
    """A function of Python with this name and signature."""
    names: dict[str, Any] = {}
    exec(f"def {name}{signature}: pass", names)
    return names[name]


def said(function: Any, /, *inputs: Any, **keywords: Any) -> str:
    """The message of the TypeError of a call."""
    with pytest.raises(TypeError) as caught:
        function(*inputs, **keywords)
    return str(caught.value)


def test_there_are_177() -> None:
    assert len(KNOWN) == 177


@each_of("operator", KNOWN)
def test_an_unknown_name(operator: Operator) -> None:
    """The one that is meant is named, whatever else is wrong, and however the function is called."""
    function, begun = getattr(dml, operator.python), rf"{operator.python}\(\) got an unexpected keyword argument "
    names = list(inspect.signature(function).parameters)
    for name in names:
        wrong = f"{name}x" if len(name) < 4 else f"{name[:2]}{name[3:]}"
        message = said(function, **{wrong: 1})
        assert re.fullmatch(rf"{begun}'{wrong}'(: did you mean (\w+)\?)?", message), message
        meant = re.search(r"mean (\w+)\?$", message)
        if len(name) > 6:
            assert meant is not None and meant[1] in names
        assert said(function.__call__, X, **{wrong: 1}) == said(function, X, X, X, **{wrong: 1}) == message
    assert re.fullmatch(rf"{begun}'qq'", said(function, qq=1))


@each_of("operator", KNOWN)
def test_other_wrong_arguments_are_told_as_python_tells_them(operator: Operator) -> None:
    function = getattr(dml, operator.python)
    parameters = inspect.signature(function).parameters
    python = definition(inspect.signature(function), operator.python)
    inputs = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    required = {name: 1 for name, one in parameters.items() if one.default is one.empty}
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((X,) * (len(inputs) + 1), {})]
    calls.append(((X,) * (len(inputs) + 2), {"out": None}))
    calls += [((), {name: 1 for name in required if name != absent}) for absent in required]
    calls += [((X,) * len(inputs), {**required, inputs[0]: X})] if inputs else []
    for positional, keywords in calls:
        told = said(python, *positional, **keywords)
        if len(positional) > len(inputs) and operator.name in SEQUENCES:
            told = f"{operator.python}() takes {SEQUENCES[operator.name]} as one sequence, and got {len(positional)} "
            assert said(function, *positional, **keywords).startswith(f"{told}positional arguments: write ")
        else:
            assert said(function, *positional, **keywords).startswith(told)


SEQUENCES = {"DEQUANTIZE": "quantizations", "JOIN": "inputs", "QUANTIZE": "quantizations"}


def test_a_sequence_of_tensors_is_told_of() -> None:
    assert said(dml.join, X, X, axis=1) == (
        "join() takes inputs as one sequence, and got 2 positional arguments: write join([a, b], ...)"
    )
    assert said(dml.dequantize, X, X, X).endswith("write dequantize(input, [a, b], ...)")


def test_attributes_that_are_given_by_position_or_missing_are_told_of() -> None:
    assert said(dml.split, X, 2, axis=1).endswith(
        "were given: attributes have names, write split(input, axis=..., output_sizes=...)"
    )
    assert said(dml.average_pooling, X, 2).endswith("write average_pooling(input, window_size=...)")
    assert said(dml.activation_elu, X, 1).endswith("write activation_elu(input, alpha=...)")
    assert said(dml.element_wise_abs, X, 1, 2).endswith("write element_wise_abs(input, scale_bias=...)")
    told = said(dml.gather, X, X, axis=1)
    assert told.endswith(
        "'index_dimensions'. index_dimensions: Number of axes of the indices that are used. The last axes are used."
    )
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 4, 4)))
    assert said(g.gather, x, x, axis=1).endswith(told.partition(". ")[2])
    assert said(g.average_pooling, x, 2).endswith("write average_pooling(input, window_size=...)")


def test_an_unknown_name_leads_to_all_that_it_is_part_of() -> None:
    told = said(dml.convolution, X, X, padding=1)
    assert told.endswith("'padding': did you mean start_padding, end_padding or output_padding?")
    assert said(dml.activation_softmax, X, axes=1).endswith("'axes': activation_softmax1() has it")


@pytest.mark.parametrize(
    ("function", "name", "end"),
    [
        (dml.convolution, "groups", "did you mean group_count?"),
        (dml.argmax, "axis", "did you mean axes?"),
        (dml.gather, "dim", "did you mean axis?"),
        (dml.activation_softmax, "dim", "activation_softmax1() has axes"),
        (dml.max_pooling2, "kernel_size", "did you mean window_size?"),
        (dml.unfold, "kernel_size", "did you mean window_sizes?"),
        (dml.average_pooling1, "ceil_mode", "did you mean output_sizes?"),
        (dml.gemm, "axis", ""),
    ],
)
def test_keywords_of_numpy_and_pytorch(function: Any, name: str, end: str) -> None:
    assert said(function, **{name: 1}).endswith(f" keyword argument {name!r}{end and f': {end}'}")


def test_the_method_of_a_graph_says_it_as_the_function_does() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 4, 4)))
    calls: list[tuple[str, int, dict[str, Any]]] = [
        ("gemm", 2, {"transB": 1}), ("join", 2, {"axis": 1}), ("activation_softmax", 1, {"axes": [1]})
    ]  # fmt: skip
    for name, count, keywords in calls:
        told = said(getattr(dml, name), *[X] * count, **keywords)
        assert said(getattr(g, name), *[x] * count, **keywords) == told
    assert said(g.convolution, x, x, padding=1).endswith("mean start_padding, end_padding or output_padding?")


def test_names_that_are_not_interned() -> None:
    given: dict[str, Any] = {"".join(["window", "_size"]): 2}
    expected = dml.average_pooling(X, window_size=2)
    np.testing.assert_array_equal(dml.average_pooling(X, **given), expected)
    np.testing.assert_array_equal(dml.average_pooling(strides=1, window_size=2, input=X), expected)
    assert "'window_sise': did you mean window_size?" in said(dml.average_pooling, X, window_sise=2)


def test_a_function_is_bound_as_others_are() -> None:
    class Pool:
        average = dml.average_pooling

    assert Pool.average is dml.average_pooling
    with pytest.raises(dml.DmlError):  # the object is the input
        pool: Any = Pool()
        pool.average(window_size=2)
    assert repr(dml.average_pooling).startswith("<function average_pooling at 0x")
