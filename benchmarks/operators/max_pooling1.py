"""MAX_POOLING1: the maximum of each position of a sliding window, and where it stands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.operators import max_pooling
from benchmarks.operators.average_pooling import IMAGE, pooling
from benchmarks.operators.base import Inputs, Operator
from benchmarks.peers import as_array, library, onnx_forms

INDICES = "output_indices"
TYPES = ("FLOAT32", "FLOAT16")


def indexed(window: int, stride: int, padding: int = 0, **others: Any) -> Any:
    """The attributes of a pooling with indices, of the size that the others give."""
    return {**pooling(window, stride, padding), INDICES: "UINT64", **others}


VARIANTS = (
    Variant("2x2-s2", pooling(2, 2), IMAGE, ("FLOAT32",)),
    Variant("2x2-s2-indices", indexed(2, 2), IMAGE, (*TYPES, "INT8"), ("contiguous", "channels_last", "strided")),
    Variant("3x3-s1-p1-indices", indexed(3, 1, 1), IMAGE, TYPES),
    Variant("3x3-s2-p1-indices", indexed(3, 2, 1), IMAGE, TYPES, ("contiguous", "channels_last")),
    Variant(
        "2x2x2-s2-indices",
        indexed(2, 2),
        {"tiny": (1, 1, 5, 5, 5), "small": (1, 8, 16, 40, 40), "medium": (2, 32, 32, 56, 56)},
        ("FLOAT32",),
    ),
)


def compared(cell: Cell, result: Any) -> Array:
    """The values, and where they stand among those of their channel: PyTorch counts no further."""
    if INDICES not in cell.attributes:
        return as_array(result)
    values, indices = (as_array(one) for one in result)
    return np.stack([values.astype(np.float64), indices.astype(np.int64) % math.prod(cell.sizes[2:])])


def by_numpy(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    if INDICES in cell.attributes:
        return Absent("it has no maximum of windows that says where it stands")
    return max_pooling.by_numpy(cell, inputs, out)


def by_torch(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    spatial = len(cell.sizes) - 2
    torch: Any = library("torch")
    x, pool = torch.from_numpy(inputs[0]), getattr(torch.nn.functional, f"max_pool{spatial}d")
    window, stride, padding, dilation = geometry(cell)
    asked = INDICES in cell.attributes
    return Forms(call(lambda: pool(x, window, stride, padding, dilation, return_indices=asked)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    window, stride, padding, dilation = geometry(cell)
    if isinstance(out, tuple):
        out = (out[0], np.zeros(out[1].shape, np.int64))
    pads = [padding] * (2 * (len(cell.sizes) - 2))
    shape = {"kernel_shape": window, "strides": stride, "dilations": dilation}
    given = {name: [value] * (len(cell.sizes) - 2) for name, value in shape.items()}
    return onnx_forms("MaxPool", {"x": inputs[0]}, out, {}, pads=pads, **given)


def geometry(cell: Cell) -> tuple[int, int, int, int]:
    """Window, stride, padding and dilation along every axis."""
    given = {"strides": 1, "start_padding": 0, "dilations": 1} | dict(cell.attributes)
    return given["window_size"], given["strides"], given["start_padding"], given["dilations"]


OPERATOR = Operator("max_pooling1", VARIANTS, by_numpy, by_torch, by_onnxruntime, compared=compared)
