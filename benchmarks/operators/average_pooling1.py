"""AVERAGE_POOLING1: the average of windows with gaps, padding not counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.operators.average_pooling import BOTH, IMAGE
from benchmarks.operators.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

SAME = {"window_size": 3, "dilations": 2, "start_padding": 2, "end_padding": 2}  # a result of the size of the input
VARIANTS = (
    Variant("3x3-s1-d2-p2", SAME, IMAGE, BOTH),
    Variant("3x3-s2-d2-p2", {**SAME, "strides": 2}, IMAGE, BOTH, ("contiguous",)),
)


def geometry(cell: Cell) -> tuple[int, int, int, int]:
    """Window, dilation, padding and stride, of both axes alike."""
    given = cell.attributes
    return given["window_size"], given["dilations"], given["start_padding"], given.get("strides", 1)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Sums of slices along one axis after the other, in single precision."""
    (x,) = inputs
    window, dilation, padding, stride = geometry(cell)

    def sums(x: Array, axis: int) -> Array:
        n = x.shape[axis]
        count = (n + 2 * padding - dilation * (window - 1) - 1) // stride + 1
        result = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), np.float32)
        for tap in range(window):
            offset = tap * dilation - padding
            first, last = max(0, -(offset // stride)), min(count - 1, (n - 1 - offset) // stride)
            of = slice(first * stride + offset, last * stride + offset + 1, stride)
            lead = (slice(None),) * axis
            result[(*lead, slice(first, last + 1))] += x[(*lead, of)]
        return result

    rows, columns = (sums(np.ones(n, np.float32), 0) for n in x.shape[2:])
    factor = (1 / np.multiply.outer(rows, columns)).astype(np.float32)

    def allocating() -> Array:
        result = sums(sums(x, 2), 3)
        result *= factor
        return result.astype(x.dtype, copy=False)

    def given() -> Array:
        return np.multiply(sums(sums(x, 2), 3), factor, out=out, casting="same_kind")

    return Forms(call(allocating), call(given))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Its average pooling has no dilation; a convolution of each channel with ones does the work."""
    if cell.dtype == "FLOAT16":
        return Absent("PyTorch's convolution rounds sums of FLOAT16 on the way")
    torch: Any = library("torch")
    x = torch.from_numpy(inputs[0])
    window, dilation, padding, stride = geometry(cell)
    channels = x.shape[1]
    ones = torch.ones((channels, 1, window, window))
    convolve = torch.nn.functional.conv2d
    factor = 1 / convolve(torch.ones_like(x[:1]), ones, None, stride, padding, dilation, channels)
    return Forms(call(lambda: convolve(x, ones, None, stride, padding, dilation, channels).mul_(factor)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if cell.dtype == "FLOAT16":
        return Absent("ONNX Runtime's AveragePool takes no FLOAT16 on a CPU")
    window, dilation, padding, stride = geometry(cell)
    return onnx_forms(
        "AveragePool", {"x": inputs[0]}, out, {},
        kernel_shape=[window] * 2, dilations=[dilation] * 2, strides=[stride] * 2, pads=[padding] * 4,
    )  # fmt: skip


OPERATOR = Operator("average_pooling1", VARIANTS, by_numpy, by_torch, by_onnxruntime, ulp=4)
