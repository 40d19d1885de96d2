"""MAX_POOLING2: the maximum of each position of a sliding window whose elements lie apart, and where it stands."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.operators.average_pooling import IMAGE, pooling
from benchmarks.operators.base import Inputs, Operator
from benchmarks.operators.max_pooling1 import INDICES, by_onnxruntime, by_torch, compared, geometry, indexed

VARIANTS = (
    Variant("2x2-s2-d2", {**pooling(2, 2), "dilations": 2}, IMAGE, ("FLOAT32",)),
    Variant("3x3-s1-p1-d2-indices", indexed(3, 1, 1, dilations=2), IMAGE, ("FLOAT32", "FLOAT16")),
)


def by_numpy(cell: Cell, inputs: Inputs, out: Any) -> Peer:
    """Maxima of slices along one axis after the other."""
    if INDICES in cell.attributes:
        return Absent("it has no maximum of windows that says where it stands")
    (x,) = inputs
    window, stride, _, dilation = geometry(cell)

    def maxima() -> Array:
        result: Array = x
        for axis in range(2, x.ndim):
            last = result.shape[axis] - dilation * (window - 1)
            taps = [slice(tap * dilation, tap * dilation + last, stride) for tap in range(window)]
            result = functools.reduce(np.maximum, [result[(slice(None),) * axis + (tap,)] for tap in taps])
        return result

    return Forms(call(maxima))


OPERATOR = Operator("max_pooling2", VARIANTS, by_numpy, by_torch, by_onnxruntime, compared=compared)
