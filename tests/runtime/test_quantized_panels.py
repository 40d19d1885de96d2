"""Matrices of quantized integers that become floats while they are packed."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
from each import each_of

import dmlcy as dml

Array = np.ndarray[Any, Any]
NUMBERS = {"UINT8": (5, 0, 255), "INT8": (8, -128, 127), "UINT4": (12, 0, 15), "INT4": (13, -8, 7)}
"""By name, the number of the data type and its range."""
random = np.random.default_rng(11)


def spread(blocks: Array, sizes: tuple[int, ...]) -> Array:
    """An element for each block, for each element of the block."""
    for axis, (many, few) in enumerate(zip(sizes, blocks.shape, strict=True)):
        blocks = np.repeat(blocks, many // few, axis)
    return blocks


def held(name: str, values: Array) -> Array:
    """Elements as loops have them: those of 4 bits with anything in the other half of the byte."""
    if not name.endswith("4"):
        return values.astype(name.lower())
    return ((values & 15) | random.integers(0, 16, values.shape) << 4).astype(np.uint8)


@each_of("name, turned", itertools.product(NUMBERS, (False, True)))
def test_products_are_those_of_the_floats(probe: ModuleType, name: str, turned: bool) -> None:
    dtype, least, most = NUMBERS[name]
    for (depth, columns), kind in itertools.product(((6, 4), (64, 200), (300, 66)), ("f4", "f2")):
        sizes = (columns, depth) if turned else (depth, columns)
        values = random.integers(least, most + 1, sizes)
        for few in ((1, 1), (1, sizes[1]), (sizes[0] // 2, 1), (sizes[0], sizes[1] // 2)):
            scale = random.uniform(-2, 2, few).astype(kind)
            zeros = random.integers(least, most + 1, (few[0], 1)) if few[1] == 1 else None
            offset = np.zeros((1, 1), np.int64) if zeros is None else zeros
            floats = (values - spread(offset, sizes)).astype(np.float32) * spread(scale, sizes).astype(np.float32)
            matrix = floats.T if turned else floats
            zero = None if zeros is None else held(name, zeros)
            for rows in (1, 7, 20):
                a = random.integers(-9, 9, (rows, depth)).astype(np.float32)
                stored = held(name, values)
                stored = np.asfortranarray(stored) if rows == 7 else stored
                found = probe.product_with_quantized(a, stored, dtype, turned, scale, zero)
                magnitudes = np.abs(a, dtype="f8") @ np.abs(matrix)
                assert np.all(np.abs(found - a.astype("f8") @ matrix) <= magnitudes * depth * 2.0**-24)
                if rows == 7:  # one chain for each sum
                    compiled = dml.gemm(np.concatenate([a] * 10), np.ascontiguousarray(matrix))[:7]
                    np.testing.assert_array_equal(found.view(np.uint32), compiled.view(np.uint32))


def test_other_types_are_not_packed(probe: ModuleType) -> None:
    a, scale = np.ones((1, 2), np.float32), np.ones((1, 1), np.float32)
    assert probe.product_with_quantized(a, np.ones((2, 3), np.int32), 6, False, scale, None) is None
