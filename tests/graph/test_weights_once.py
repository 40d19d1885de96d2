"""Weights that a compiled graph is given once are in memory once: as they were given, or as loops take them."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
from dmlcy._graph.graph_desc import GraphDesc

Array = np.ndarray[Any, Any]
DTYPES = ("float32", "float16")
WEIGHTS = 1
"""The number of the input that is given once."""


def graph_of(x: Array, w: Array, function: str, **attributes: Any) -> GraphDesc:
    """A node that reads the weights, and one that takes its result."""
    g = dml.Graph()
    flagged = dml.TensorDesc.from_array(w)
    given = g.input(dml.TensorDesc.from_array(x), name="x")
    weights = g.input(dml.TensorDesc(flagged.dtype, flagged.sizes, flags="OWNED_BY_DML"), name="w")
    return g.build(g.activation_relu(getattr(g, function)(given, weights, **attributes)))


def drawn(dtype: str, *shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(3)
    return [rng.standard_normal(one).astype(dtype) for one in shapes]


def uses(dtype: str) -> Iterator[tuple[bool, str, Array, Array, dict[str, Any]]]:
    """Whether the weights are left out; the function, its tensors and attributes."""
    plain: dict[str, Any] = {}
    turned: dict[str, Any] = {"trans_b": "TRANSPOSE"}
    each: tuple[tuple[bool, str, tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
        (True, "gemm", (1, 1, 40, 210), (1, 1, 210, 190), plain),
        (True, "gemm", (1, 1, 1, 300), (1, 1, 90, 300), turned),
        (True, "gemm", (2, 3, 30, 300), (2, 3, 300, 165), {"alpha": 0.5}),
        (True, "gemm", (1, 1, 400, 600), (1, 1, 600, 129), plain),
        (False, "gemm", (1, 1, 3, 99), (1, 1, 99, 3), plain),
        (True, "convolution", (1, 70, 3, 3), (70, 70, 1, 1), plain),
        (True, "convolution", (1, 530, 7, 7), (150, 530, 1, 1), plain),
        (True, "convolution", (2, 70, 1, 1), (66, 70, 1, 1), plain),
        (True, "convolution", (3, 70, 7, 8), (65, 70, 3, 3), {"start_padding": 1, "end_padding": 1}),
        (True, "convolution", (2, 140, 5, 9), (140, 70, 1, 3), {"group_count": 2}),
        (True, "convolution", (1, 70, 9, 7), (70, 64, 3, 3), {"direction": "BACKWARD"}),
        (False, "convolution", (1, 9, 20, 40), (20, 9, 3, 3), {"mode": "CONVOLUTION"}),
        (False, "convolution", (2, 40, 6, 5), (40, 30, 4, 4), {"direction": "BACKWARD", "strides": 2}),
    )  # fmt: skip
    for out, function, one, two, given in each:
        first, second = drawn(dtype, one, two)
        yield out, function, first, second, given


@each_of("dtype", DTYPES)
def test_what_is_left_out_is_not_read_and_can_be_restored(dtype: str) -> None:
    for out, function, x, w, given in uses(dtype):
        w.flat[-1], x.flat[5] = np.inf, -np.inf  # sums that are no numbers are made of the elements again
        op = dml.compile(graph_of(x, w, function, **given))
        op.initialize(w)
        assert (op._owned[WEIGHTS] is None) is out, (function, x.shape, w.shape)
        expected = dml.activation_relu(getattr(dml, function)(x, w, **given))
        assert np.isfinite(expected).any() and not np.isfinite(expected).all()
        assert_same(op(x), expected)
        assert op._all_owned()[WEIGHTS].tobytes() == w.tobytes()


@each_of("dtype, without", [(dtype, without) for dtype in DTYPES for without in ((), ("chains", "epilogues"))])
def test_every_other_use_of_the_weights_finds_them(dtype: str, without: Any) -> None:
    x, w = drawn(dtype, (1, 1, 40, 210), (1, 1, 210, 190))
    op = dml.compile(graph_of(x, w, "gemm"), without=without)
    op.initialize(w)
    expected = dml.activation_relu(dml.gemm(x, w))
    assert_same(pickle.loads(pickle.dumps(op))(x), expected)
    with dml.record() as recorded:
        assert_same(op(x), expected)
    assert len(recorded.calls) == 2
    seen: dict[Any, Array] = {}
    assert_same(op.run((x,), {}, seen=lambda port, array: seen.update({port: array.copy()})), expected)
    assert seen[None, WEIGHTS].tobytes() == w.tobytes()
    op.initialize(-w)
    assert_same(op(x), dml.activation_relu(dml.gemm(x, -w)))
    op.run((x,), {}, seen=lambda port, array: seen.update({port: array.copy()}))
    assert seen[None, WEIGHTS].tobytes() == (-w).tobytes()


def test_weights_stay_that_something_else_reads() -> None:
    x, w = drawn("float32", (1, 1, 40, 210), (1, 1, 210, 210))
    for second in ("gemm", "element_wise_add", "slice1"):
        g = dml.Graph()
        given = g.input(dml.TensorDesc.from_array(x), name="x")
        weights = g.input(dml.TensorDesc("FLOAT32", w.shape, flags="OWNED_BY_DML"), name="w")
        first = g.gemm(given, weights)
        if second == "gemm":
            other, expected = g.gemm(first, weights, trans_b="TRANSPOSE"), dml.gemm(
                dml.gemm(x, w), w, trans_b="TRANSPOSE"
            )  # fmt: skip
        elif second == "element_wise_add":
            other, expected = g.element_wise_add(weights, weights), w + w
        else:
            part: dict[str, Any] = {
                "input_window_offsets": 0,
                "input_window_sizes": (1, 1, 210, 130),
                "input_window_strides": 1,
            }
            other, expected = g.gemm(first, g.slice1(weights, **part)), dml.gemm(dml.gemm(x, w), w[..., :130])
        op = dml.compile(g.build(first, other))
        op.initialize(w)
        assert (op._owned[WEIGHTS] is None) is (second == "gemm")
        assert_same(op(x)[0], dml.gemm(x, w))
        assert_same(op(x)[1], expected)


def test_halves_before_an_activation_of_whole_lines() -> None:
    """The reference computes the activation: the sums of all elements are made in FLOAT32 first."""
    x, w = drawn("float16", (1, 1, 40, 210), (1, 1, 210, 190))
    fused = dml.desc.ActivationSoftmax()
    op = dml.compile(graph_of(x, w, "gemm", fused_activation=fused))
    op.initialize(w)
    assert_same(op(x), dml.activation_relu(dml.gemm(x, w, fused_activation=fused)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_array_is_free_once_it_is_packed(dtype: str) -> None:
    x, w = drawn(dtype, (1, 1, 40, 210), (1, 1, 210, 190))
    op = dml.compile(graph_of(x, w, "gemm"))
    kept, expected = w.copy(), dml.activation_relu(dml.gemm(x, w))
    gone = weakref.ref(kept)
    op.own({"w": kept}, copy=False)
    del kept
    gc.collect()
    assert gone() is None
    assert_same(op(x), expected)


def assert_same(actual: Array, expected: Array) -> None:
    """The same bits, where they are numbers."""
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)
