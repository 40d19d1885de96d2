"""AVERAGE_POOLING, MAX_POOLING and LP_POOLING, of all versions: one number for each position of a sliding window."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Sizes, Variant
from benchmarks.families.base import Inputs, Operator
from benchmarks.peers import as_array, library, onnx_forms

PAGE = 3
SINGLE, BOTH = ("FLOAT32",), ("FLOAT32", "FLOAT16")
TYPES = (*BOTH, "INT8")
LAYOUTS = ("contiguous", "channels_last", "strided")
IMAGE = {"tiny": (1, 1, 5, 5), "small": (1, 16, 112, 112), "medium": (8, 64, 112, 112)}
LARGE = {**IMAGE, "large": (100, 64, 112, 112)}
VOLUME = {"tiny": (1, 1, 5, 5, 5), "small": (1, 8, 16, 40, 40), "medium": (2, 32, 32, 56, 56)}
INDICES = "output_indices"


def pooling(window: int, stride: int, padding: int = 0, **others: Any) -> Attributes:
    """The attributes, as short as people write them."""
    given = {"window_size": window, "strides": stride, "start_padding": padding, "end_padding": padding}
    standard = {"window_size": 0, "strides": 1, "start_padding": 0, "end_padding": 0}
    return {name: n for name, n in given.items() if n != standard[name]} | others


def indexed(window: int, stride: int, padding: int = 0, **others: Any) -> Attributes:
    """Indices are of the size that the other libraries give."""
    return pooling(window, stride, padding, **{INDICES: "UINT64"}, **others)


def everything(sizes: Sizes) -> Attributes:
    """One window of the size of the image."""
    return {"window_size": sizes[2:]}


VARIANTS = {
    "average_pooling": (
        Variant("2x2-s2", pooling(2, 2), LARGE, BOTH, LAYOUTS),
        Variant("3x3-s1-p1", pooling(3, 1, 1), IMAGE, BOTH),
        Variant("3x3-s2-p1", pooling(3, 2, 1), IMAGE, BOTH),
        Variant("7x7-s1-p3", pooling(7, 1, 3), IMAGE, BOTH),
        Variant("global", everything, IMAGE, BOTH),
        Variant("2x2x2-s2", pooling(2, 2), VOLUME, BOTH),
    ),
    "average_pooling1": (
        Variant("3x3-s1-d2-p2", pooling(3, 1, 2, dilations=2), IMAGE, BOTH),
        Variant("3x3-s2-d2-p2", pooling(3, 2, 2, dilations=2), IMAGE, BOTH, ("contiguous",)),
    ),
    "max_pooling": (
        Variant("2x2-s2", pooling(2, 2), LARGE, TYPES, LAYOUTS),
        Variant("3x3-s1-p1", pooling(3, 1, 1), IMAGE, TYPES),
        Variant("3x3-s2-p1", pooling(3, 2, 1), IMAGE, TYPES),
        Variant("global", everything, IMAGE, BOTH),
        Variant("2x2x2-s2", pooling(2, 2), VOLUME, BOTH),
    ),
    "max_pooling1": (
        Variant("2x2-s2", pooling(2, 2), IMAGE, SINGLE),
        Variant("2x2-s2-indices", indexed(2, 2), IMAGE, TYPES, LAYOUTS),
        Variant("3x3-s1-p1-indices", indexed(3, 1, 1), IMAGE, BOTH),
        Variant("3x3-s2-p1-indices", indexed(3, 2, 1), IMAGE, BOTH),
        Variant("2x2x2-s2-indices", indexed(2, 2), VOLUME, SINGLE),
    ),
    "max_pooling2": (
        Variant("2x2-s2-d2", pooling(2, 2, dilations=2), IMAGE, SINGLE),
        Variant("3x3-s1-p1-d2-indices", indexed(3, 1, 1, dilations=2), IMAGE, BOTH),
    ),
    "lp_pooling": (
        Variant("2x2-s2", pooling(2, 2, p=2), IMAGE, BOTH),
        Variant("3x3-s1", pooling(3, 1, p=2), IMAGE, BOTH),
        Variant("2x2-s2-P1", pooling(2, 2, p=1), IMAGE, SINGLE),
    ),
    "lp_pooling1": (
        Variant("2x2-s2-d2", pooling(2, 2, p=2, dilations=2), IMAGE, BOTH),
        Variant("3x3-s1-d2", pooling(3, 1, p=2, dilations=2), IMAGE, SINGLE),
    ),
}


class Geometry(NamedTuple):
    """The same along every axis."""

    window: int
    stride: int
    padding: int
    dilation: int


def geometry(cell: Cell) -> Geometry:
    given = {"strides": 1, "start_padding": 0, "dilations": 1} | dict(cell.attributes)
    return Geometry(given["window_size"], given["strides"], given["start_padding"], given["dilations"])


def along(x: Array, axis: int, of: Geometry, combine: np.ufunc, dtype: Any) -> Array:
    """Sums or maxima of slices over windows along one axis, padding left out."""
    n = x.shape[axis]
    count = (n + 2 * of.padding - of.dilation * (of.window - 1) - 1) // of.stride + 1
    # The tap that lies inside the axis at every position comes first: it needs nothing before it.
    offsets = sorted((tap * of.dilation - of.padding for tap in range(of.window)), key=abs)
    lead = (slice(None),) * axis
    result: Array | None = None
    for offset in offsets:
        first = max(0, -(offset // of.stride))
        last = min(count - 1, (n - 1 - offset) // of.stride)
        if last < first:
            continue
        taps = x[(*lead, slice(first * of.stride + offset, last * of.stride + offset + 1, of.stride))]
        if result is None:
            result = taps.astype(dtype)
            if result.shape[axis] != count:
                raise ValueError("no tap lies inside the axis at every position")
        else:
            part = result[(*lead, slice(first, last + 1))]
            combine(part, taps, out=part)
    assert result is not None
    return result


def onnx_window(cell: Cell) -> dict[str, list[int]]:
    """The window as attributes of ONNX; AveragePool has dilations in its newer versions only."""
    of, spatial = geometry(cell), len(cell.sizes) - 2
    given = {"kernel_shape": [of.window] * spatial, "strides": [of.stride] * spatial}
    if "dilations" in cell.attributes:
        given["dilations"] = [of.dilation] * spatial
    return given | {"pads": [of.padding] * (2 * spatial)}


# Averages


def average_by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Sums of slices along one axis after the other, in single precision; one mean for a global window."""
    (x,) = inputs
    axes = tuple(range(2, x.ndim))
    if cell.variant == "global":
        return Forms(
            call(lambda: np.mean(x, axes, np.float32, keepdims=True).astype(x.dtype, copy=False)),
            call(lambda: np.mean(x, axes, np.float32, out, keepdims=True)),
        )
    of = geometry(cell)
    factors: list[Any] = [1 / along(np.ones(n, np.float32), 0, of, np.add, np.float64) for n in x.shape[2:]]
    factor = factors[0]
    for other in factors[1:]:
        factor = np.multiply.outer(factor, other)
    factor = factor.astype(np.float32) if of.padding else np.float32(factor.flat[0])

    def sums() -> Array:
        result: Array = x
        for axis in axes:
            result = along(result, axis, of, np.add, np.float32)
        return result

    def allocating() -> Array:
        result = sums()
        result *= factor
        return result.astype(x.dtype, copy=False)

    def given() -> Array:
        return np.multiply(sums(), factor, out=out, casting="same_kind")

    return Forms(call(allocating), call(given))


def average_by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    spatial = len(cell.sizes) - 2
    if spatial == 3 and cell.dtype == "FLOAT16":
        return Absent("torch.nn.functional.avg_pool3d does not take FLOAT16 on a CPU")
    if "dilations" in cell.attributes:
        return dilated_average_by_torch(cell, inputs)
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    if cell.variant == "global":  # avg_pool2d with such a window takes several times as long
        mean, adaptive = torch.mean, torch.nn.functional.adaptive_avg_pool2d
        return Forms(call(lambda: adaptive(x, 1)), call(lambda: mean(x, (2, 3), keepdim=True, out=y)))
    window, strides, padding = ([n] * spatial for n in geometry(cell)[:3])
    pool = getattr(torch.nn.functional, f"avg_pool{spatial}d")
    into = getattr(torch.ops.aten, f"avg_pool{spatial}d").out
    allocating = call(lambda: pool(x, window, strides, padding, False, False))
    if spatial == 3 and not out.flags.c_contiguous:
        return Forms(allocating)  # avg_pool3d writes a wrong result to such a tensor
    return Forms(allocating, call(lambda: into(x, window, strides, padding, False, False, None, out=y)))


def dilated_average_by_torch(cell: Cell, inputs: Inputs) -> Peer:
    """Its average pooling has no dilation; a convolution of each channel with ones does the work."""
    if cell.dtype == "FLOAT16":
        return Absent("PyTorch's convolution rounds partial sums of FLOAT16")
    torch: Any = library("torch")
    x = torch.from_numpy(inputs[0])
    window, stride, padding, dilation = geometry(cell)
    channels = x.shape[1]
    ones = torch.ones((channels, 1, window, window))
    convolve = torch.nn.functional.conv2d
    factor = 1 / convolve(torch.ones_like(x[:1]), ones, None, stride, padding, dilation, channels)
    return Forms(call(lambda: convolve(x, ones, None, stride, padding, dilation, channels).mul_(factor)))


def average_by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if cell.variant == "global":
        return onnx_forms("GlobalAveragePool", {"x": inputs[0]}, out, {})
    if "dilations" in cell.attributes and cell.dtype == "FLOAT16":
        return Absent("ONNX Runtime's AveragePool takes no FLOAT16 on a CPU")
    return onnx_forms("AveragePool", {"x": inputs[0]}, out, {}, **onnx_window(cell))


# Maxima


def compared(cell: Cell, result: Any) -> Array:
    """The values, and their places among the elements of their channel: PyTorch counts no further."""
    if INDICES not in cell.attributes:
        return as_array(result)
    values, indices = (as_array(one) for one in result)
    return np.stack([values.astype(np.float64), indices.astype(np.int64) % math.prod(cell.sizes[2:])])


def maximum_by_numpy(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    """Maxima of slices along one axis after the other; one max for a global window."""
    if INDICES in cell.attributes:
        return Absent("NumPy has no function for the maxima of windows and their indices")
    (x,) = inputs
    axes = tuple(range(2, x.ndim))
    if cell.variant == "global":
        return Forms(call(lambda: np.max(x, axes, keepdims=True)), call(lambda: np.max(x, axes, out, keepdims=True)))
    of = geometry(cell)

    def maxima() -> Array:
        result: Array = x
        for axis in axes:
            result = along(result, axis, of, np.maximum, x.dtype)
        return result

    def given() -> Array:
        result: Array = out
        np.copyto(result, maxima())
        return result

    return Forms(call(maxima), call(given))


def maximum_by_torch(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    """Its pooling, which finds where the maxima are too; its amax for a global window."""
    spatial = len(cell.sizes) - 2
    torch: Any = library("torch")
    x = torch.from_numpy(inputs[0])
    if cell.variant == "global":
        y, axes, amax = torch.from_numpy(out), tuple(range(2, 2 + spatial)), torch.amax
        return Forms(call(lambda: amax(x, axes, True)), call(lambda: amax(x, axes, True, out=y)))
    pool, asked = getattr(torch.nn.functional, f"max_pool{spatial}d"), INDICES in cell.attributes
    window, stride, padding, dilation = geometry(cell)
    return Forms(call(lambda: pool(x, window, stride, padding, dilation, return_indices=asked)))


def maximum_by_onnxruntime(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    if cell.variant == "global":
        return onnx_forms("GlobalMaxPool", {"x": inputs[0]}, out, {})
    if isinstance(out, tuple):
        out = (out[0], np.zeros(out[1].shape, np.int64))
    return onnx_forms("MaxPool", {"x": inputs[0]}, out, {}, **onnx_window(cell))


# Norms


def norm_by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """The powers once, then the sum over a view of the windows, in single precision, and its root."""
    (x,) = inputs
    axes, p = tuple(range(2, x.ndim)), cell.attributes["p"]
    window, stride, _, dilation = geometry(cell)
    extent = dilation * (window - 1) + 1
    steps = (slice(None), slice(None), *(slice(None, None, stride),) * len(axes))
    taps = (*steps, *(slice(None, None, dilation),) * len(axes))
    within = tuple(range(-len(axes), 0))

    def norms() -> Array:
        wide = x.astype(np.float32, copy=False)
        powers = np.abs(wide) if p == 1 else wide * wide
        sums: Array = sliding_window_view(powers, (extent,) * len(axes), axes)[taps].sum(within)
        return (sums if p == 1 else np.sqrt(sums)).astype(x.dtype, copy=False)

    return Forms(call(norms))


def norm_by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if "dilations" in cell.attributes:
        return Absent("torch.nn.functional.lp_pool2d has no dilations")
    torch: Any = library("torch")
    x, p, of = torch.from_numpy(inputs[0]), cell.attributes["p"], geometry(cell)
    pool, window, stride = torch.nn.functional.lp_pool2d, of.window, of.stride
    if p == 1:
        return Absent("torch.nn.functional.lp_pool2d takes no absolute values for P = 1")
    return Forms(call(lambda: pool(x, p, window, stride)))


def norm_by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if cell.dtype == "FLOAT16":
        return Absent("ONNX Runtime has no LpPool of FLOAT16 on a CPU")
    return onnx_forms("LpPool", {"x": inputs[0]}, out, {}, p=cell.attributes["p"], **onnx_window(cell))


AVERAGE = (average_by_numpy, average_by_torch, average_by_onnxruntime)
MAXIMUM = (maximum_by_numpy, maximum_by_torch, maximum_by_onnxruntime)
NORM = (norm_by_numpy, norm_by_torch, norm_by_onnxruntime)
OPERATORS = (
    *(Operator(name, VARIANTS[name], *AVERAGE, ulp=4) for name in ("average_pooling", "average_pooling1")),
    *(Operator(name, VARIANTS[name], *MAXIMUM, compared=compared) for name in VARIANTS if name.startswith("max")),
    *(Operator(name, VARIANTS[name], *NORM, ulp=8) for name in ("lp_pooling", "lp_pooling1")),
)
