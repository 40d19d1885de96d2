"""MAX_POOLING: the maximum of each position of a sliding window."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls import Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.operators.average_pooling import IMAGE, everything, pooling
from benchmarks.operators.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

TYPES = ("FLOAT32", "FLOAT16", "INT8")

VARIANTS = (
    Variant(
        "2x2-s2",
        pooling(2, 2),
        {**IMAGE, "large": (100, 64, 112, 112)},
        TYPES,
        ("contiguous", "channels_last", "strided"),
    ),
    Variant("3x3-s1-p1", pooling(3, 1, 1), IMAGE, TYPES),
    Variant("3x3-s2-p1", pooling(3, 2, 1), IMAGE, TYPES),
    Variant("global", everything, IMAGE, ("FLOAT32", "FLOAT16")),
    Variant(
        "2x2x2-s2",
        pooling(2, 2),
        {"tiny": (1, 1, 5, 5, 5), "small": (1, 8, 16, 40, 40), "medium": (2, 32, 32, 56, 56)},
        ("FLOAT32", "FLOAT16"),
    ),
)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Maxima of slices along one axis after the other; one max for a global window."""
    (x,) = inputs
    axes = tuple(range(2, x.ndim))
    if cell.variant == "global":
        return Forms(
            call(lambda: np.max(x, axes, keepdims=True)),
            call(lambda: np.max(x, axes, out, keepdims=True)),
        )
    window, stride = cell.attributes["window_size"], cell.attributes.get("strides", 1)
    padding = cell.attributes.get("start_padding", 0)

    def maxima() -> Array:
        result: Array = x
        for axis in axes:
            result = window_maxima(result, axis, window, stride, padding)
        return result

    def given() -> Array:
        np.copyto(out, maxima())
        return out

    return Forms(call(maxima), call(given))


def window_maxima(x: Array, axis: int, window: int, stride: int, padding: int) -> Array:
    """Maxima over windows along one axis, padding left out."""
    n = x.shape[axis]
    count = (n + 2 * padding - window) // stride + 1
    # The tap that lies inside the axis at every position comes first.
    taps = sorted(range(window), key=lambda tap: abs(tap - padding))
    result: Array | None = None
    for tap in taps:
        first = max(0, -(-(padding - tap) // stride))
        last = min(count - 1, (n - 1 + padding - tap) // stride)
        if last < first:
            continue
        of = (slice(None),) * axis + (slice(first * stride + tap - padding, last * stride + tap - padding + 1, stride),)
        to = (slice(None),) * axis + (slice(first, last + 1),)
        if result is None:
            result = x[of].copy()
            if result.shape[axis] != count:
                raise ValueError("no tap lies inside the axis at every position")
        else:
            np.maximum(result[to], x[of], out=result[to])
    assert result is not None
    return result


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Its pooling, which finds where the maxima are too; its amax for a global window."""
    spatial = len(cell.sizes) - 2
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    if cell.variant == "global":
        axes = tuple(range(2, 2 + spatial))
        amax = torch.amax
        return Forms(call(lambda: amax(x, axes, True)), call(lambda: amax(x, axes, True, out=y)))
    window = list(np.broadcast_to(cell.attributes["window_size"], spatial).tolist())
    strides = [cell.attributes.get("strides", 1)] * spatial
    padding = [cell.attributes.get("start_padding", 0)] * spatial
    pool = getattr(torch.nn.functional, f"max_pool{spatial}d")
    return Forms(call(lambda: pool(x, window, strides, padding)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    (x,) = inputs
    if cell.variant == "global":
        return onnx_forms("GlobalMaxPool", {"x": x}, out, {})
    spatial = x.ndim - 2
    window, stride = cell.attributes["window_size"], cell.attributes.get("strides", 1)
    pads = [cell.attributes.get("start_padding", 0)] * (2 * spatial)
    return onnx_forms(
        "MaxPool", {"x": x}, out, {}, kernel_shape=[window] * spatial, strides=[stride] * spatial, pads=pads
    )


OPERATOR = Operator("max_pooling", VARIANTS, by_numpy, by_torch, by_onnxruntime)
