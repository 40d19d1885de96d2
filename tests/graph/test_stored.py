"""Functions that products apply to their results as they store them give the bits of nodes that run one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chained import CONVOLUTIONS, check, numbers, same

import dmlcy as dml

RELU = dml.desc.ActivationRelu()
FOLLOWERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "relu": lambda g, y, beside: g.activation_relu(y),
    "relu6": lambda g, y, beside: g.element_wise_clip(y, min=0, max=6),
    "clip above -0": lambda g, y, beside: g.element_wise_clip1(y, min=-0.0, max=0.5),
    "clip below -0": lambda g, y, beside: g.element_wise_clip(y, min=-1, max=-0.0),
    "clip of no range": lambda g, y, beside: g.element_wise_clip1(y, min=float("inf"), max=float("inf")),
    "leaky relu": lambda g, y, beside: g.activation_leaky_relu(y, alpha=3e38),
    "residual": lambda g, y, beside: g.activation_relu(g.element_wise_add(beside, y)),
    "fused residual": lambda g, y, beside: g.element_wise_add1(y, beside, fused_activation=RELU),
    "two others": lambda g, y, beside: g.element_wise_multiply(g.element_wise_subtract(beside, y), beside),
    "function": lambda g, y, beside: g.activation_tanh(g.activation_relu(y)),
}


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_after_convolutions(kind: str, threads: None) -> None:
    sizes, filters, given = CONVOLUTIONS[kind]
    for name, follow in FOLLOWERS.items():
        g = dml.Graph()
        x = g.input(dml.TensorDesc("FLOAT32", sizes))
        bias = filters[1] if given.get("direction") == "BACKWARD" else filters[0]
        added = g.constant(numbers((1, bias, *(1 for _ in sizes[2:])), np.float32, 2, 0.05))
        y = g.convolution(x, g.constant(numbers(filters, np.float32, 1, 0) / 8), added, **given)
        beside = g.input(dml.TensorDesc("FLOAT32", y.desc.sizes))
        graph = g.build(follow(g, y, beside))
        arrays = [numbers(sizes, np.float32, 3, 0.002), numbers(y.desc.sizes, np.float32, 4)]
        assert len(check(graph, arrays).epilogues) == 1, name


@pytest.mark.parametrize(
    ("rows", "depth", "columns", "batch"),
    [(5, 3, 7, 3), (1, 40, 130, 1), (30, 300, 50, 2), (7, 80, 5, 1), (390, 30, 33, 1), (3, 500, 33, 1)],
)
def test_after_products(rows: int, depth: int, columns: int, batch: int, threads: None) -> None:
    right, wide = (1, batch, depth, columns), (1, batch, rows, columns)
    for name, follow in FOLLOWERS.items():
        for packed in (False, True):
            g = dml.Graph()
            a = g.input(dml.TensorDesc("FLOAT32", (1, batch, rows, depth)))
            array = numbers(right, np.float32, 5, 0)
            b = g.constant(array) if packed else g.input(dml.TensorDesc("FLOAT32", right))
            y = g.gemm(a, b)
            beside = g.input(dml.TensorDesc("FLOAT32", wide))
            arrays = [numbers((1, batch, rows, depth), np.float32, 6, 0.002), *([] if packed else [array])]
            found = check(g.build(follow(g, y, beside)), [*arrays, numbers(wide, np.float32, 7)])
            assert len(found.epilogues) == 1, name


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_fused_activations(kind: str, threads: None) -> None:
    """Of FLOAT32, they are what the node behind the convolution computes, in any memory."""
    sizes, filters, given = CONVOLUTIONS[kind]
    x, w = numbers(sizes, np.float32, 3, 0.002), numbers(filters, np.float32, 1, 0) / 8
    sums = dml.convolution(x, w, **given)
    for fused, behind in (
        (RELU, dml.activation_relu),
        (dml.desc.ActivationLeakyRelu(alpha=0.3), lambda y: dml.activation_leaky_relu(y, alpha=0.3)),
        (dml.desc.ElementWiseClip(min=-0.5, max=0.25), lambda y: dml.element_wise_clip(y, min=-0.5, max=0.25)),
        (dml.desc.ActivationTanh(), dml.activation_tanh),
    ):
        expected = behind(sums)
        assert same(dml.convolution(x, w, fused_activation=fused, **given), expected), fused
        spread = np.ones((*sums.shape[:-1], 2 * sums.shape[-1]), np.float32)[..., ::2]
        assert same(dml.convolution(x, w, fused_activation=fused, out=spread, **given), expected), fused


def test_a_value_that_others_read_stays() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 4, 6, 6)))
    y = g.convolution(x, g.constant(numbers((4, 4, 1, 1), np.float32, 1, 0)))
    graph = g.build(g.activation_relu(y), g.max_pooling(y, window_size=2))
    assert check(graph, [numbers((1, 4, 6, 6), np.float32, 2)]).epilogues == ()


def test_a_product_adds_its_own_input() -> None:
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 8, 9, 9)))
    y = g.convolution(x, g.constant(numbers((8, 8, 3, 3), np.float32, 1, 0)), start_padding=1, end_padding=1)
    y = g.activation_relu(g.element_wise_add(y, x))
    assert len(check(g.build(y), [numbers((1, 8, 9, 9), np.float32, 2)]).epilogues) == 1
