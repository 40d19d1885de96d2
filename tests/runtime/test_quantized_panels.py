"""Products with matrices of quantized integers, which become floats while the products are computed."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from each import each_of
from four_bits import packed

import dmlcy as dml

Array = np.ndarray[Any, Any]
NUMBERS = {"UINT8": (0, 255), "INT8": (-128, 127), "UINT4": (0, 15), "INT4": (-8, 7)}
"""The ranges of the data types."""
random = np.random.default_rng(11)


def spread(blocks: Array, sizes: tuple[int, ...]) -> Array:
    """An element for each block, for each element of the block."""
    for axis, (many, few) in enumerate(zip(sizes, blocks.shape, strict=True)):
        blocks = np.repeat(blocks, many // few, axis)
    return blocks


def integers(name: str, sizes: tuple[int, ...]) -> tuple[Array, Any]:
    """Some integers, and what a graph takes for them."""
    least, most = NUMBERS[name]
    values = random.integers(least, most + 1, sizes)
    return values, packed(values, name) if name.endswith("4") else values.astype(name.lower())


def middle(name: str, *sizes: int) -> Array:
    """The zero points where none are given: of unsigned integers, the middle of their range."""
    return np.full(sizes, (sum(NUMBERS[name]) + 1) // 2)


def product(a: Array, weights: Any, scale: Array, zero: Any, turned: bool) -> Array:
    """The product of a graph, in whose loops the weights become floats."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", a.shape), name="x")
    given = [g.constant(scale), *([] if zero is None else [g.constant(zero)])]
    kind: Any = "SCALE" if zero is None else "SCALE_ZERO_POINT"
    numbers = g.dequantize(g.constant(weights), given, quantization_type=kind)
    y = g.gemm(x, numbers, trans_b="TRANSPOSE" if turned else "NONE")
    op = dml.compile(g.build(y), without=["folded"])
    assert op.optimizations.counts["pieces"] == 1
    return np.asarray(op(a))


@each_of("name, turned", itertools.product(NUMBERS, (False, True)))
def test_products_are_those_of_the_floats(name: str, turned: bool) -> None:
    for (depth, columns), rows in itertools.product(((6, 4), (64, 200), (33, 101)), (1, 20)):
        sizes = (columns, depth) if turned else (depth, columns)
        values, weights = integers(name, sizes)
        whole = {(1, 1), (1, sizes[1]), (sizes[0] // 2, 1), (sizes[0], sizes[1] // 2), (sizes[0] // 3, sizes[1])}
        for few in sorted(one for one in whole if sizes[0] % one[0] == sizes[1] % one[1] == 0):
            scale = random.uniform(-2, 2, few).astype(np.float32)
            offset, zero = integers(name, few) if few[1] <= columns // 2 else (middle(name, 1, 1), None)
            floats = (values - spread(offset, sizes)).astype(np.float32) * spread(scale, sizes)
            matrix = np.ascontiguousarray(floats.T if turned else floats)
            a = random.integers(-9, 9, (rows, depth)).astype(np.float32)
            found = product(a, weights, scale, zero, turned)
            magnitudes = np.abs(a, dtype="f8") @ np.abs(matrix)
            assert np.all(np.abs(found - a.astype("f8") @ matrix) <= magnitudes * depth * 2.0**-24)
            np.testing.assert_array_equal(found.view(np.uint32), np.asarray(dml.gemm(a, matrix)).view(np.uint32))


def test_bits_do_not_depend_on_threads_or_alignment() -> None:
    values, weights = integers("UINT4", (700, 160))
    scale = random.uniform(-2, 2, (700, 5)).astype(np.float32)
    offset, zero = integers("UINT4", (700, 5))
    a = random.standard_normal((3, 160)).astype(np.float32)
    before = dml.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            dml.set_num_threads(threads)
            found.append(product(a, weights, scale, zero, True).tobytes())
    finally:
        dml.set_num_threads(before)
    assert len(set(found)) == 1
    floats = (values - spread(offset, values.shape)).astype(np.float32) * spread(scale, values.shape)
    assert found[0] == np.asarray(dml.gemm(a, floats, trans_b="TRANSPOSE")).tobytes()


@each_of("zeros", [True, False])
def test_one_row_of_many_columns(zeros: bool) -> None:
    """Rows of the matrix become floats in registers; what is left of them, and sums that overflow, do not."""
    for name, columns, block in itertools.product(("UINT4", "INT4", "UINT8"), (64, 100, 333), (16, 48, 96)):
        values, weights = integers(name, (columns, 96))
        scale = random.uniform(-2, 2, (columns, 96 // block)).astype(np.float32)
        scale[5] = 3e38
        offset, zero = integers(name, scale.shape) if zeros else (middle(name, *scale.shape), None)
        floats = (values - spread(offset, values.shape)).astype(np.float32)
        with np.errstate(over="ignore"):
            floats *= spread(scale, values.shape)
        a = random.standard_normal((1, 96)).astype(np.float32)
        found = product(a, weights, scale, zero, True)
        expected = np.asarray(dml.gemm(a, floats, trans_b="TRANSPOSE"))
        np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))
        assert np.isfinite(found).sum() >= columns - 1
