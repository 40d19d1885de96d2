"""LP_POOLING: the Euclidean norm of each position of a sliding window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Variant
from benchmarks.operators.average_pooling import IMAGE, pooling
from benchmarks.operators.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

BOTH = ("FLOAT32", "FLOAT16")


def norm(window: int, stride: int, p: int = 2, **others: Any) -> Attributes:
    return {**pooling(window, stride), "p": p, **others}


VARIANTS = (
    Variant("2x2-s2", norm(2, 2), IMAGE, BOTH, ("contiguous", "channels_last")),
    Variant("3x3-s1", norm(3, 1), IMAGE, BOTH),
    Variant("2x2-s2-P1", norm(2, 2, 1), IMAGE, ("FLOAT32",)),
)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """The powers once, then the sum over a view of the windows, in single precision, and its root."""
    (x,) = inputs
    axes = tuple(range(2, x.ndim))
    given = cell.attributes
    dilation = given.get("dilations", 1)
    extent = dilation * (given["window_size"] - 1) + 1
    steps = (slice(None), slice(None), *(slice(None, None, given.get("strides", 1)),) * len(axes))
    taps = (*steps, *(slice(None, None, dilation),) * len(axes))
    within = tuple(range(-len(axes), 0))

    def norms() -> Array:
        wide = x.astype(np.float32, copy=False)
        powers = np.abs(wide) if given["p"] == 1 else wide * wide
        sums: Array = sliding_window_view(powers, (extent,) * len(axes), axes)[taps].sum(within)
        return (sums if given["p"] == 1 else np.sqrt(sums)).astype(x.dtype, copy=False)

    return Forms(call(norms))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if "dilations" in cell.attributes:
        return Absent("torch.nn.functional.lp_pool2d has no dilations")
    torch: Any = library("torch")
    x, given = torch.from_numpy(inputs[0]), cell.attributes
    pool, p, window, stride = torch.nn.functional.lp_pool2d, given["p"], given["window_size"], given.get("strides", 1)
    if p == 1:
        return Absent("torch.nn.functional.lp_pool2d adds elements with their signs for P = 1")
    return Forms(call(lambda: pool(x, p, window, stride)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    (x,) = inputs
    if cell.dtype == "FLOAT16":
        return Absent("ONNX Runtime has no LpPool of FLOAT16 on a CPU")
    spatial, given = x.ndim - 2, cell.attributes
    window, stride, dilation = given["window_size"], given.get("strides", 1), given.get("dilations", 1)
    return onnx_forms(
        "LpPool", {"x": x}, out, {}, p=given["p"], kernel_shape=[window] * spatial, strides=[stride] * spatial,
        dilations=[dilation] * spatial,
    )  # fmt: skip


OPERATOR = Operator("lp_pooling", VARIANTS, by_numpy, by_torch, by_onnxruntime, ulp=8)
