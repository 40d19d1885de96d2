"""Graphs, compiled operators, buffers and expressions of the newer API: what they give, and what they refuse."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy
from dmlcy import directml as d

ONES = np.ones((1, 1, 2, 2), np.float32)
SIZES = [1, 1, 2, 2]
ANY: Any = d
"""The module for calls that its types refuse, as they are wrong, or of an older version."""


def refused(id_: str, call: Callable[[], object], match: str = "DML-GRAPH-") -> None:
    with pytest.raises(ValueError, match=match) as caught:
        call()
    assert isinstance(caught.value, dmlcy.DmlError) and caught.value.id == id_


def weighted() -> tuple[d.Graph, d.Expression, d.Expression, d.CompiledOperator]:
    """x + weight, which is not initialized."""
    graph = d.Graph(d.Device())
    x, weight = graph.input(SIZES, name="x"), graph.input(SIZES, owned=True, name="weight")
    return graph, x, weight, graph.compile([x + weight])


def test_five_steps() -> None:
    graph = d.Graph(d.Device(use_gpu=False))
    x = graph.input([1, 1, 2, 2], "float32", name="x")
    weight = graph.constant(np.arange(4, dtype=np.float32).reshape(2, 2), sizes=[1, 1, 2, 2])
    operator = graph.compile([d.activation_relu(d.gemm(x, weight) - 3.0), x])
    assert operator.initialized
    for key in (x, "x"):
        first, second = operator({key: [[1, 2], [3, 4.0]]})
        assert first.tolist() == [[[[1, 4], [5, 12]]]] and second.tolist() == [[[[1, 2], [3, 4]]]]
        assert type(first) is np.ndarray and first.dtype == np.float32
    assert (operator.persistent_size, operator.descriptor_count) == (16, 3) and operator.temporary_size >= 0


def test_what_an_expression_says() -> None:
    graph = d.Graph(d.Device(), tensor_policy=d.TensorPolicy.interleaved_channel)
    x = graph.input([1, 3, 8, 8], np.float16)
    assert (x.shape, x.strides, x.size) == ((1, 3, 8, 8), (192, 1, 24, 3), 192) and x.dtype == np.float16
    assert x.desc.data_type is d.TensorDataType.FLOAT16 and "float16" in repr(x) and "[1, 3, 8, 8]" in repr(x)
    y = d.activation_relu(x)
    number: Any = 3
    assert y.strides is None and x == x and x != y and x != number and (x == ONES) is False and len({x, y, x}) == 2
    (found,) = graph.compile([y])({x: np.arange(192)[::-1].astype(np.float16)})
    np.testing.assert_array_equal(found, np.arange(192)[::-1].reshape(1, 8, 8, 3).transpose(0, 3, 1, 2))
    a: Any = x
    no_operators: tuple[Callable[[], object], ...] = (
        lambda: a < y, lambda: a**2, lambda: a & y, lambda: ~a, lambda: abs(a),
    )  # fmt: skip
    for wrong in no_operators:
        with pytest.raises(TypeError):
            wrong()
    before = x
    x += y
    assert before is not x


@each_of("form", range(2))
def test_operators_follow_the_graph_of_their_operand(form: int) -> None:
    """Both kinds of graph alternate in one process: 2 / x and a % b differ."""
    device = d.Device()
    values = {"x": np.array([[[[-3.0, 4]]]], np.float32), "y": np.array([[[[2.0, -3]]]], np.float32)}
    for turn in range(4):
        if turn % 2 == form:
            graph = d.Graph(device)
            x, y = (graph.input([1, 1, 1, 2], name=name) for name in values)
            divided, rest, total = graph.compile([2 / x, x % y, 2 - x])(values)
            np.testing.assert_array_equal(divided, np.float32(2) * (np.float32(1) / values["x"]))
            np.testing.assert_array_equal(rest, np.mod(values["x"], values["y"]))
        else:
            builder = d.GraphBuilder(device)
            desc = d.TensorDesc(d.TensorDataType.FLOAT32, [1, 1, 1, 2])
            x, y = (d.input_tensor(builder, place, desc) for place in range(2))
            asked = [2 / x, x % y, 2 - x]
            model = builder.build(d.ExecutionFlags.NONE, asked)
            bindings = [d.Binding(x, values["x"]), d.Binding(y, values["y"])]
            divided, rest, total = device.compute(model, bindings, asked)
            np.testing.assert_array_equal(divided, np.float32(1) / (2 * values["x"]))
            np.testing.assert_array_equal(rest, np.fmod(values["x"], values["y"]))
        assert total.tolist() == [[[[5, -2]]]]


def test_inputs_are_described_in_two_ways() -> None:
    graph = d.Graph(d.Device())
    desc = d.TensorDesc("int32", [4], strides=[1])
    assert graph.input(desc=desc).desc.strides == [1] and graph.input([2]).dtype == np.float32
    untyped: Any = graph
    no_inputs: tuple[Callable[[], object], ...] = (
        lambda: untyped.input(), lambda: untyped.input([1], desc=desc), lambda: untyped.input(desc=desc, owned=True),
        lambda: untyped.input([1], name=3), lambda: untyped.input([1], "FLOAT99"), lambda: untyped.input(3),
        lambda: untyped.input(desc=[1]), lambda: ANY.Graph(None), lambda: ANY.Graph(d.Device(), tensor_policy=1),
    )  # fmt: skip
    for wrong in no_inputs:
        with pytest.raises(TypeError):
            wrong()
    for sizes in ([0], [-1], [2, 1.5], ["a"], [1] * 9):
        with pytest.raises(dmlcy.DmlError, match=r"^input\(\): The tensor desc of input 2 .*DML-GRAPH-desc"):
            untyped.input(sizes)
    with pytest.raises(dmlcy.DmlError, match="DML-GRAPH-desc"):
        graph.input([1], d.TensorDataType.UNKNOWN)
    graph.input([1], name="x")
    refused("DML-GRAPH-input-name", lambda: graph.constant([1.0], name="x"), "'x'")
    with pytest.raises(ValueError, match="strides or a tensor_policy"):
        d.TensorDesc("float32", [1], strides=[1], tensor_policy=d.TensorPolicy.default)


def test_constants() -> None:
    graph = d.Graph(d.Device())
    assert graph.constant(3.0).shape == (1,) and graph.constant([1.0, 2.0], "float16").dtype == np.float16
    refused("DML-GRAPH-bound-kind", lambda: graph.constant([1.5], "int32"), "float64.*astype|int32.*astype")
    refused("DML-GRAPH-bound-count", lambda: graph.constant([1.0, 2.0], sizes=[3]), "3 elements")
    refused(
        "DML-GRAPH-bound-type", lambda: graph.constant(d.Buffer(graph.device, [1.0], "float32"), "float16"), "float16"
    )
    with pytest.raises(TypeError):
        graph.constant("text")


def test_constants_wait_for_the_other_owned_inputs_and_are_let_go() -> None:
    class Array(np.ndarray[Any, Any]):
        pass

    graph = d.Graph(d.Device())
    array = np.full((1, 1, 2, 2), 2, np.float32).view(Array)
    x, other = graph.input(SIZES), graph.input(SIZES, owned=True, name="other")
    constant = graph.constant(array, name="constant")
    operator = graph.compile([x * constant + other])
    assert not operator.initialized
    refused("DML-GRAPH-initialize", lambda: operator({x: ONES}), 'input 1 "other"')
    array[...] = 3  # read when the operator is initialized
    kept = weakref.ref(array)
    operator.initialize({"other": ONES})
    del array
    gc.collect()
    assert kept() is None and operator.initialized and operator({x: ONES})[0].tolist() == (4 * ONES).tolist()
    refused("DML-GRAPH-bound-missing", lambda: operator.initialize({"other": ONES}), r'initialize.*input 2 "constant"')
    operator.initialize({"other": ONES, constant: 5 * ONES})
    assert operator({x: ONES})[0].tolist() == (6 * ONES).tolist()


def test_a_constant_may_be_given_other_elements() -> None:
    graph = d.Graph(d.Device())
    constant, owned = graph.constant(ONES, name="c"), graph.input(SIZES, owned=True)
    operator = graph.compile([constant + owned])
    both: dict[str | d.Expression, Any] = {"c": 4 * ONES, owned: ONES}
    operator.initialize(both)
    assert operator()[0].tolist() == (5 * ONES).tolist()


def test_what_a_call_refuses() -> None:
    graph, x, weight, operator = weighted()
    untyped: Any = operator
    refused("DML-GRAPH-initialize", lambda: operator({x: ONES}), 'input 1 "weight"')
    refused("DML-GRAPH-bound-method", lambda: operator.initialize({x: ONES, weight: ONES}), r"input 0.*dispatch\(\)")
    operator.initialize({weight: ONES})
    total = d.Graph(graph.device).input(SIZES)
    strided = d.Graph(graph.device)
    lain = strided.input([1, 1, 2, 2], strides=[8, 8, 4, 1])
    wide = strided.compile([d.identity(lain)])
    for id_, call, match in (
        ("DML-GRAPH-bound-missing", lambda: operator({}), r'dispatch.*input 0 "x" \(float32, \[1, 1, 2, 2\]\)'),
        ("DML-GRAPH-bound-missing", lambda: operator(), "input 0"),
        ("DML-GRAPH-bound-expression", lambda: operator({total: ONES}), "Expression"),
        ("DML-GRAPH-bound-name", lambda: operator({"z": ONES}), "'z'. The inputs are: input 0 \"x\""),
        ("DML-GRAPH-bound-method", lambda: operator({x: ONES, weight: ONES}), r'input 1 "weight".*initialize\(\)'),
        ("DML-GRAPH-bound-twice", lambda: untyped({x: ONES, "x": ONES}), "input 0"),
        ("DML-GRAPH-bound-kind", lambda: operator({x: ONES.astype(np.int32)}), "float32.*int32.*astype"),
        ("DML-GRAPH-bound-count", lambda: operator({x: np.ones(5)}), "4 elements.*5"),
        ("DML-GRAPH-bound-bytes", lambda: wide({lain: np.ones(3)}), "24 bytes.*12"),
        ("DML-GRAPH-bound-type", lambda: operator({x: d.Buffer(graph.device, ONES, "float16")}), "float32.*float16"),
        ("DML-GRAPH-bound-device", lambda: operator({x: d.Buffer(d.Device(), ONES)}), "input 0"),
        ("DML-GRAPH-compiled", lambda: graph.compile([x]), "new Graph"),
    ):
        refused(id_, call, match)
    for wrong in ({0: ONES}, [ONES], {x: "text"}):
        with pytest.raises(TypeError):
            untyped(wrong)
    assert operator({x: np.arange(4)[::-1].astype(np.uint8)})[0].ravel().tolist() == [4, 3, 2, 1]


def test_what_is_checked_at_the_call_of_a_function() -> None:
    graph = d.Graph(d.Device())
    x, half, flat = graph.input(SIZES), graph.input(SIZES, "float16"), graph.input([1, 1, 1, 4])
    condition, counts = graph.input([1, 1, 1, 4], "uint8"), graph.input(SIZES, "int32")
    for function in (d.add, d.max, d.pow, d.less_than, d.atan_yx, d.modulus_floor):
        sizes = rf"^{function.__name__}\(\).*1, 1, 2, 2.*1, 1, 1, 4.*broadcast"
        refused("DML-GRAPH-operand-sizes", partial(function, x, flat), sizes)
        refused("DML-GRAPH-operand-types", partial(function, x, half), rf"^{function.__name__}\(\).*float32.*float16")
    refused("DML-GRAPH-operand-sizes", lambda: d.where(condition, x, x), r"^where\(\): condition")
    refused("DML-GRAPH-operand-sizes", lambda: x + flat)
    refused("DML-GRAPH-operand-types", lambda: half * x)
    refused("DML-GRAPH-view-size", lambda: d.reinterpret(x, [5]), "20 bytes.*16")
    refused("DML-GRAPH-view-size", lambda: d.reinterpret(x, [2, 2], [4, 1]), "24 bytes.*16")
    untyped: Any = graph
    for said, call in (
        (r"^add\(\): a has data type INT32.*cast\(a, dtype=\"float32\"\)", lambda: ANY.add(counts, counts)),
        (r"^max_pooling\(\): window_sizes\[0\].*DML-MAX_POOLING2", lambda: ANY.max_pooling(x, window_sizes=[3, 3])),
        (r"^cast\(\) takes an Expression for input, not 3", lambda: ANY.cast(3, dtype="int32")),
        (r"^round\(\) takes a member of RoundingMode for rounding_mode, not", lambda: ANY.round(x, rounding_mode="X")),
        (r"^identity\(\): .*scale_bias", lambda: ANY.identity(x, scale_bias=3)),
        (r"^tile\(\) takes a sequence", lambda: ANY.tile(x, repeats=2)),
        (r"^join\(\) takes a list of expressions for inputs, not", lambda: ANY.join([], axis=0)),
        (r"^gru\(\) takes a list of FusedActivation", lambda: ANY.gru(x, x, x, activation_descs=3)),
        (r"^upsample_2d\(\) takes a width", lambda: ANY.upsample_2d(
            x, scale_size=2, interpolation_mode=d.InterpolationMode.LINEAR)),
        (r"^fill_value_constant\(\) takes a Graph", lambda: ANY.fill_value_constant(x, sizes=[1], value=1)),
        ("^split\\(\\): output_axis_sizes", lambda: ANY.split(x, axis=3, output_axis_sizes=["a"])),
        ("of another graph", lambda: graph.compile([d.Graph(d.Device()).input(SIZES)])),
        ("of another graph", lambda: ANY.add(x, d.Graph(d.Device()).input(SIZES))),
        ("of another graph", lambda: x + d.Graph(d.Device()).input(SIZES)),
        (r"^compile\(\) takes a list", lambda: untyped.compile(x)),
        (r"^compile\(\) takes", lambda: untyped.compile([3])),
        (r"^compile\(\) takes at least", lambda: graph.compile([])),
        (r"^compile\(\): flags", lambda: untyped.compile([x], flags=0)),
        (r"^FusedActivation takes an activation", lambda: ANY.FusedActivation(d.OperatorType.GEMM)),
        (r"^add\(\) got multiple", lambda: ANY.add(x, x, None, fused_activation=None)),
        (r"^add\(\) takes at most 3", lambda: ANY.add(x, x, None, None)),
        (r"^reinterpret\(\) missing", lambda: ANY.reinterpret(x)),
        (r"unexpected", lambda: ANY.reinterpret(x, [1], size=1)),
        (r"^fill_value_constant\(\): value is 300", lambda: ANY.fill_value_constant(
            graph, sizes=[1], value=300, dtype="uint8")),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=said):
            call()


def test_buffers() -> None:
    device = d.Device()
    array = np.arange(4, dtype=np.int64).reshape(2, 2)
    buffer = d.Buffer(device, array.T, np.int32)
    array[...] = 0
    assert (buffer.shape, buffer.strides, buffer.size, buffer.nbytes) == ((2, 2), None, 4, 16)
    assert buffer.dtype == np.int32
    assert buffer.device is device and buffer.desc.sizes == [2, 2] and d.Buffer(device, 3.0).shape == (1,)
    assert buffer.numpy().tolist() == [[0, 2], [1, 3]] and not hasattr(buffer, "__array__")
    refused("DML-GRAPH-bound-kind", lambda: d.Buffer(device, [1.5], "int8"))
    for wrong in ((None, [1]), (device, buffer), (device, "x")):
        with pytest.raises(TypeError):
            ANY.Buffer(*wrong)
    graph = d.Graph(device)
    x = graph.input(SIZES, "int32")
    (squared,) = graph.compile([d.multiply(x, x)])({x: buffer}, readback=False)
    assert isinstance(squared, d.Buffer) and squared.shape == (1, 1, 2, 2)
    following = d.Graph(device)
    y, weight = following.input([4], "int32"), following.constant(buffer, sizes=[4])
    (found,) = following.compile([d.subtract(y, weight)])({y: squared})
    assert found.tolist() == [0, 2, 0, 6]


def test_threads_call_one_operator() -> None:
    _, x, weight, operator = weighted()
    operator.initialize({weight: ONES})
    wrong: list[object] = []

    def call(number: int) -> None:
        for _ in range(30):
            (found,) = operator({x: number * ONES})
            if (found != number + 1).any():
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def test_inputs_that_nothing_reads() -> None:
    graph = d.Graph(d.Device())
    x, unread, owned = graph.input(SIZES), graph.input([3]), graph.input([5], owned=True)
    operator = graph.compile([d.identity(x)])
    operator.initialize({owned: np.zeros(5)})
    assert operator({x: ONES, unread: np.zeros(3)})[0].tolist() == ONES.tolist()


def test_views_and_the_forms_of_both_apis() -> None:
    graph = d.Graph(d.Device())
    x = graph.input([1, 1, 2, 2])
    assert d.broadcast(x, x.shape) is x and d.broadcast(x, [3, 1, 2, 2]).strides == (0, 4, 2, 1)
    views = [
        d.reinterpret(x, [4, 1]), d.reinterpret(x, d.TensorDataType.FLOAT32, [4, 1]),
        d.reinterpret(input=x, new_type=d.TensorDataType.FLOAT32, new_size=[4, 1], new_strides=None),
        d.reinterpret(x, (2, 2), (1, 2)), d.reinterpret(x, [4], dtype=np.int32), d.broadcast(x, [2, 1, 2, 2]),
        ANY.join(input=[x, x], axis=0), d.join(inputs=[x, x], axis=0), d.join([x, x], 0),
    ]  # fmt: skip
    values = np.arange(4, dtype=np.float32)
    found = graph.compile(views)({x: values})
    for one in found[:3]:
        assert one.shape == (4, 1) and one.ravel().tolist() == [0, 1, 2, 3]
    assert found[3].tolist() == [[0, 2], [1, 3]] and found[4].tolist() == values.view(np.int32).tolist()
    assert all(one.tolist() == [[[[0, 1], [2, 3]]]] * 2 for one in found[5:])
    with pytest.raises(ValueError, match="broadcast"):
        d.broadcast(x, [1, 1, 2, 3])
