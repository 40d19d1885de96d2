"""Folding of nodes that quantize, as those of the weights of quantized models."""

from __future__ import annotations

import numpy as np

from dmlcy._frontends.onnx.elements import are_numbers
from dmlcy._frontends.onnx.folding.reading import numbers
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.shapes import replaced
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array


def dequantize(use: Use) -> Array:
    array, scale = numbers(use, 0, "iu", bits=2), _parameter(use, 1, numbers(use, 1, "f"))
    zero = _parameter(use, 2, numbers(use, 2, "iu", bits=2)) if use.has(2) else np.zeros((), array.dtype)
    return (array.astype(np.int64) - zero).astype(scale.dtype) * scale


def quantize(use: Use) -> Array:
    element = ELEMENTS[use.element()]
    if not are_numbers(element, "iu"):
        use.refuse("DML-ONNX-type", element=element.name, name=use.node.outputs[0])
    array, scale = numbers(use, 0, "iuf"), _parameter(use, 1, numbers(use, 1, "f"))
    zero = _parameter(use, 2, numbers(use, 2, "iu", bits=2)) if use.has(2) else np.zeros((), np.int64)
    least = -(2 ** (element.bits - 1)) if element.name.startswith("INT") else 0
    rounded = np.rint(array.astype(scale.dtype) / scale).astype(np.float64) + zero
    return np.clip(np.nan_to_num(rounded), least, least + 2**element.bits - 1)


def _parameter(use: Use, place: int, array: Array) -> Array:
    """A scale or a zero point for all elements, for each place of an axis, or for each block along it."""
    sizes = use[0].sizes
    if array.size == 1:
        return array.reshape(())
    axis, block = use.axis(), use.attribute("block_size") or 0
    if block <= 0:
        wanted = replaced((1,) * len(sizes), axis, sizes[axis])
        array = array.reshape(replaced(wanted, axis, -1)) if array.ndim == 1 else array
    else:
        wanted = replaced(sizes, axis, -(-sizes[axis] // block))
    if wanted != array.shape:
        use.refuse("DML-ONNX-broadcast", sizes=[*use[place].sizes], wanted=[*wanted])
    return array.take(np.arange(sizes[axis]) // block, axis) if block > 0 else array
