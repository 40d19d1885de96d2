"""AVERAGE_POOLING: the average of each position of a sliding window, padding not counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Sizes, Variant
from benchmarks.operators.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

BOTH = ("FLOAT32", "FLOAT16")
IMAGE = {"tiny": (1, 1, 5, 5), "small": (1, 16, 112, 112), "medium": (8, 64, 112, 112)}


def pooling(window: int, stride: int, padding: int = 0) -> Attributes:
    """The attributes, as short as people write them."""
    given = {"window_size": window, "strides": stride, "start_padding": padding, "end_padding": padding}
    standard = {"window_size": 0, "strides": 1, "start_padding": 0, "end_padding": 0}
    return {name: n for name, n in given.items() if n != standard[name]}


def everything(sizes: Sizes) -> Attributes:
    """One window of the size of the image."""
    return {"window_size": sizes[2:]}


VARIANTS = (
    Variant(
        "2x2-s2",
        pooling(2, 2),
        {**IMAGE, "large": (100, 64, 112, 112)},
        BOTH,
        ("contiguous", "channels_last", "strided"),
    ),
    Variant("3x3-s1-p1", pooling(3, 1, 1), IMAGE, BOTH),
    Variant("3x3-s2-p1", pooling(3, 2, 1), IMAGE, BOTH),
    Variant("7x7-s1-p3", pooling(7, 1, 3), IMAGE, BOTH),
    Variant("global", everything, IMAGE, BOTH),
    Variant(
        "2x2x2-s2",
        pooling(2, 2),
        {"tiny": (1, 1, 5, 5, 5), "small": (1, 8, 16, 40, 40), "medium": (2, 32, 32, 56, 56)},
        BOTH,
    ),
)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Sums of slices along one axis after the other, in single precision; one mean for a global window."""
    (x,) = inputs
    if cell.variant == "global":
        axes = tuple(range(2, x.ndim))
        return Forms(
            call(lambda: np.mean(x, axes, np.float32, keepdims=True).astype(x.dtype, copy=False)),
            call(lambda: np.mean(x, axes, np.float32, out, keepdims=True)),
        )
    window, stride = cell.attributes["window_size"], cell.attributes.get("strides", 1)
    padding = cell.attributes.get("start_padding", 0)
    factors: list[Any] = [1 / counts(n, window, stride, padding) for n in x.shape[2:]]
    factor = factors[0]
    for other in factors[1:]:
        factor = np.multiply.outer(factor, other)
    factor = factor.astype(np.float32) if padding else np.float32(factor.flat[0])

    def sums() -> Array:
        result: Array = x
        for axis in range(2, x.ndim):
            result = window_sums(result, axis, window, stride, padding)
        return result

    def allocating() -> Array:
        result = sums()
        result *= factor
        return result.astype(x.dtype, copy=False)

    def given() -> Array:
        return np.multiply(sums(), factor, out=out, casting="same_kind")

    return Forms(call(allocating), call(given))


def counts(n: int, window: int, stride: int, padding: int) -> Array:
    """How many elements of the axis each position of the window covers."""
    starts = np.arange((n + 2 * padding - window) // stride + 1) * stride - padding
    return np.minimum(starts + window, n) - np.maximum(starts, 0)


def window_sums(x: Array, axis: int, window: int, stride: int, padding: int) -> Array:
    """Sums over windows along one axis, padding left out."""
    n = x.shape[axis]
    count = (n + 2 * padding - window) // stride + 1
    # The tap that lies inside the axis at every position comes first: it needs no zeros before it.
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
            result = x[of].astype(np.float32)
            if result.shape[axis] != count:
                raise ValueError("no tap lies inside the axis at every position")
        else:
            result[to] += x[of]
    assert result is not None
    return result


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    spatial = len(cell.sizes) - 2
    if spatial == 3 and cell.dtype == "FLOAT16":
        return Absent("torch.nn.functional.avg_pool3d does not take FLOAT16 on a CPU")
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    if cell.variant == "global":  # avg_pool2d with such a window takes several times as long
        mean, adaptive = torch.mean, torch.nn.functional.adaptive_avg_pool2d
        return Forms(call(lambda: adaptive(x, 1)), call(lambda: mean(x, (2, 3), keepdim=True, out=y)))
    window = list(np.broadcast_to(cell.attributes["window_size"], spatial).tolist())
    strides = [cell.attributes.get("strides", 1)] * spatial
    padding = [cell.attributes.get("start_padding", 0)] * spatial
    pool = getattr(torch.nn.functional, f"avg_pool{spatial}d")
    into = getattr(torch.ops.aten, f"avg_pool{spatial}d").out
    allocating = call(lambda: pool(x, window, strides, padding, False, False))
    if spatial == 3 and not out.flags.c_contiguous:
        return Forms(allocating)  # avg_pool3d writes a wrong result to such a tensor
    return Forms(allocating, call(lambda: into(x, window, strides, padding, False, False, None, out=y)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    (x,) = inputs
    if cell.variant == "global":
        return onnx_forms("GlobalAveragePool", {"x": x}, out, {})
    spatial = x.ndim - 2
    window, stride = cell.attributes["window_size"], cell.attributes.get("strides", 1)
    pads = [cell.attributes.get("start_padding", 0)] * (2 * spatial)
    return onnx_forms(
        "AveragePool", {"x": x}, out, {}, kernel_shape=[window] * spatial, strides=[stride] * spatial, pads=pads
    )


OPERATOR = Operator("average_pooling", VARIANTS, by_numpy, by_torch, by_onnxruntime, ulp=4)
