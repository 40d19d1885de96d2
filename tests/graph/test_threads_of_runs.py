"""Runs of graphs on several threads: they stay awake between nodes, which are cut for them; the bits are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dmlcy as dml


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before = dml.get_num_threads()
    yield
    dml.set_num_threads(before)


def layers(places: int) -> tuple[Any, np.ndarray[Any, Any]]:
    """Convolutions of each way that cuts its work for threads, a pool and a product, and an image."""
    random = np.random.default_rng(places)
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", [1, 24, places, places]))
    for channels, filters, window, groups in (
        (24, 96, 1, 1), (96, 96, 3, 96), (96, 64, 1, 1), (64, 160, 3, 1), (160, 12, 3, 1), (12, 200, 1, 1),
    ):  # fmt: skip
        weight = random.standard_normal((filters, channels // groups, window, window), np.float32)
        pads = (window // 2,) * 2
        bias = g.constant(random.standard_normal((1, filters, 1, 1), np.float32))
        x = g.convolution(
            x, g.constant(weight / 8), bias=bias, start_padding=pads, end_padding=pads, group_count=groups
        )
        x = g.activation_relu(x)
    pooled = g.max_pooling(x, window_size=2, strides=2)
    matrix_b = g.constant(random.standard_normal((1, 1, 200, 1000), np.float32))
    matrix = g.reinterpret(x, dml.TensorDesc("FLOAT32", [1, 1, 200, places * places]))
    rows = g.gemm(matrix, matrix_b, trans_a="TRANSPOSE")
    return dml.compile(g.build(x, pooled, rows)), random.standard_normal((1, 24, places, places), np.float32)


@pytest.mark.parametrize("places", [7, 14, 27])
def test_bits_are_the_same_on_any_number_of_threads(places: int) -> None:
    op, x = layers(places)
    dml.set_num_threads(1)
    expected = [one.tobytes() for one in op(x)]
    for number in (2, 3, 7):
        dml.set_num_threads(number)
        for _ in range(3):  # the first run finds threads asleep
            assert [one.tobytes() for one in op(x)] == expected
