"""Weights of few bits that one product reads: they become numbers piece by piece, with the bits of two nodes."""

from __future__ import annotations

import pickle
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from each import each_of
from four_bits import packed

import dmlcy as dml
from dmlcy._graph import pieces
from dmlcy._runtime import four_bits

BOUNDS = {"UINT4": (0, 16), "INT4": (-8, 8), "UINT8": (0, 256), "INT8": (-128, 128)}


def product(
    dtype: str, rows: int, depth: int, columns: int, turned: bool, block: int, *, zero: bool = True,
    added: bool = False, number: str = "FLOAT32", more: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """A graph of weights, their scales and perhaps zero points, and a product; and its input."""
    random = np.random.default_rng(rows + columns)
    sizes, blocks = (columns, depth), (columns, depth // block)

    def integers(sizes: tuple[int, int]) -> Any:
        values = random.integers(*BOUNDS[dtype], sizes if turned else sizes[::-1])
        return packed(values, dtype) if dtype.endswith("4") else values.astype(dtype.lower())

    g = dml.Graph()
    x = g.input(dml.TensorDesc(number, (rows, depth)), name="x")
    weights = g.constant(integers(sizes), name="weights")
    scales = random.random(blocks if turned else blocks[::-1]).astype(number.lower())
    given = [g.constant(scales), *([g.constant(integers(blocks))] if zero else [])]
    how: Any = "SCALE_ZERO_POINT" if zero else "SCALE"
    numbers = g.dequantize(weights, given, quantization_type=how, name="numbers")
    bias = g.constant(random.random((1, columns)).astype(number.lower()))
    arguments = [x, numbers, g.broadcast(bias, (rows, columns))] if added else [x, numbers]
    y = g.gemm(*arguments, trans_b="TRANSPOSE" if turned else "NONE", name="product")
    ends = [g.activation_relu(y)] if more is None else [y, more(g, numbers)]
    return g.build(*ends), random.standard_normal((rows, depth)).astype(number.lower())


def raw(array: Any) -> bytes:
    """The bytes of a value; without ml_dtypes, one of 4 bits is no array."""
    return (array.data if isinstance(array, four_bits.Packed) else array).tobytes()


def traced(call: Any) -> int:
    """The bytes that Python's allocator gives at most during a call."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@each_of(
    "dtype, rows, depth, columns, turned, block, more",
    [
        ("UINT4", 1, 64, 200, True, 32, {}),
        ("INT4", 3, 96, 130, True, 96, {"zero": False, "added": True}),
        ("UINT4", 40, 64, 194, False, 16, {"added": True}),
        ("INT4", 2, 64, 150, False, 64, {"number": "FLOAT16"}),
        ("UINT4", 2, 64, 201, False, 64, {}),
        ("UINT4", 1, 64, 200, True, 32, {"zero": False}),
        ("UINT8", 40, 64, 66, False, 32, {"zero": False}),
        ("UINT8", 3, 64, 150, True, 32, {"zero": False, "number": "FLOAT16"}),
        ("INT8", 1, 1024, 8, True, 64, {}),
        ("UINT8", 5, 100, 77, True, 25, {"added": True}),
        ("INT8", 7, 33, 301, False, 33, {"zero": False}),
        ("INT8", 65, 40, 65, True, 40, {"number": "FLOAT16"}),
    ],
)
def test_pieces_give_the_bits_of_the_whole(
    dtype: str, rows: int, depth: int, columns: int, turned: bool, block: int, more: Any
) -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(pieces, "PIECE", 4096)
    try:
        graph, x = product(dtype, rows, depth, columns, turned, block, **more)
        op = dml.compile(graph, without=["folded"])
        other = dml.compile(graph, without=["folded", "pieces"])
        assert op.optimizations.counts["pieces"] == 1 and other.optimizations.counts["pieces"] == 0
        expected = other(x).tobytes()
        assert op(x).tobytes() == expected and pickle.loads(pickle.dumps(op))(x).tobytes() == expected
        out = np.zeros((columns, rows), x.dtype).T
        assert op(x, out=out).tobytes() == expected
        told: list[dict[Any, bytes]] = [{}, {}]
        for one, found in zip((op, other), told, strict=True):
            one.run((x,), {}, seen=lambda port, array, found=found: found.update({port: raw(array)}))
        assert told[0] == told[1] and len(told[0]) == len(graph.nodes) + 1
        with dml.record() as recorded:
            assert op(x).tobytes() == expected
        assert [call.desc.operator.name for call in recorded.calls] == ["DEQUANTIZE", "GEMM", "ACTIVATION_RELU"]
        assert next(step.written for step in op.plan().steps) == "pieces"
    finally:
        patch.undo()


def test_what_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that something else reads, halves of bytes, sums that are added in another order, and small values."""
    monkeypatch.setattr(pieces, "PIECE", 4096)
    sizes = (2, 64, 201)
    cases = [
        product("INT8", *sizes, True, 64, more=lambda g, numbers: g.activation_relu(numbers)),
        product("INT8", *sizes, True, 64, more=lambda g, numbers: numbers),
        product("UINT4", *sizes, False, 64, number="FLOAT16"),
        product("INT8", 1, 1024, 8, True, 64, number="FLOAT16"),
        product("INT8", 1, 8, 8, True, 8, number="FLOAT16"),
    ]
    for graph, x in cases:
        op = dml.compile(graph, without=["folded"])
        assert op.optimizations.counts["pieces"] == 0, graph
        results, others = op(x), dml.compile(graph, path="reference")(x)
        for one, other in zip(results, others, strict=True) if isinstance(results, tuple) else [(results, others)]:
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=1e-3)


@each_of("folded, views", [(0, 1), (1, 0)])
def test_what_is_a_view_or_folded_is_not_made_in_pieces(folded: int, views: int) -> None:
    random, g = np.random.default_rng(0), dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 8, 1024)), name="x")
    if folded:
        values = g.activation_relu(g.constant(random.random((1, 1, 1024, 1024), np.float32)))
    else:
        integers = g.constant(random.integers(0, 255, (1, 1, 1024, 1024), np.uint8))
        scales = g.constant(random.random((1, 1, 1024, 32), np.float32))
        values = g.element_wise_identity(g.dequantize(integers, [scales], quantization_type="SCALE"))
    graph, given = g.build(g.gemm(x, values)), random.random((1, 1, 8, 1024), np.float32)
    op = dml.compile(graph)
    counts = op.optimizations.counts
    assert (counts["folded"], counts["views"], counts["pieces"]) == (folded, views, 0)
    assert not any(step.workspace for step in op.plan().steps)
    assert np.array_equal(op(given), dml.compile(graph, without=[*counts])(given))


def test_weights_of_4_bits_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 131072)
    graph, x = product("UINT4", 2, 1024, 1024, True, 32)
    op, other = dml.compile(graph), dml.compile(graph, without=["pieces"])
    numbers = 4 * 1024 * 1024
    assert other.plan().arena >= numbers > 7 * op.plan().peak
    expected = other(x).tobytes()
    assert traced(lambda: op(x)) < numbers / 6
    assert op(x).tobytes() == expected
