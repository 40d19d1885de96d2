"""Arithmetic of one element at a time, and conversions of data types."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Final

import numpy as np

from dmlcy._frontends.onnx.activations import fused
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._graph.values import Value

INFINITIES: Final = {(True, True): "EITHER", (False, True): "POSITIVE", (True, False): "NEGATIVE"}
"""Which infinities are found, by detect_negative and detect_positive."""


def unary(use: Use) -> OnnxValue:
    """An operator of one tensor, with numbers that have the same names in ONNX and DirectML."""
    attributes = use.version.attributes.items()
    fields: dict[str, object] = {name: use.number(name) for name, row in attributes if row.kind == "FLOAT"}
    return use.out(use.make(use.right(0), **fields), use[0].sizes)


def binary(use: Use, *, way: int = 0, **fields: object) -> OnnxValue:
    """An operator of two tensors that are broadcast. Before opset 7, an attribute says where the second one begins."""
    axis = use.attribute("axis") if "broadcast" in use.version.attributes else None
    if axis is None or prod(use[1].sizes) == 1:
        sizes = use.broadcast_sizes(0, 1)
        second = use.spread(1, sizes)
    else:
        sizes = use[0].sizes
        second = use.along(1, use.axis(), sizes)
    return use.out(use.way(way)(use.spread(0, sizes), second, **fields), sizes)


def variadic(use: Use) -> OnnxValue:
    """An operator of two tensors, applied to any number of them in turn."""
    sizes = use.broadcast_sizes()
    return use.out(_chain(use, use.row.becomes[0][-1], sizes), sizes)


def fused_add(use: Use) -> OnnxValue:
    """The activation is fused with the last addition."""
    sizes = use.broadcast_sizes()
    last = max(len(use.inputs) - 1, 1)
    total = reduce(use.g.element_wise_add, [use.spread(place, sizes) for place in range(last)])
    return use.out(use.make(total, use.spread(last, sizes), fused_activation=fused(use)), sizes)


def mean(use: Use) -> OnnxValue:
    """The mean of two tensors is an operator, that of more a scaled sum."""
    sizes, count = use.broadcast_sizes(), len(use.inputs)
    if count <= 2:
        return use.out(_chain(use, use.row.becomes[0][-1], sizes), sizes)
    total = _chain(use, use.row.becomes[1][-1], sizes)
    return use.out(use.way(2)(total, scale_bias=(1 / count, 0)), sizes)


def _chain(use: Use, operator: str, sizes: tuple[int, ...]) -> Value:
    first = use.spread(0, sizes)
    others = [use.spread(place, sizes) for place in range(1, len(use.inputs))]
    return reduce(use.method(operator), others, first) if others else use.g.element_wise_identity(first)


def absolute(use: Use) -> OnnxValue:
    """Unsigned integers are copied."""
    return use.out(use.way(int(use[0].element.startswith("U")))(use.right(0)), use[0].sizes)


def power(use: Use) -> OnnxValue:
    """An exponent that is a constant of one element is a field."""
    if not use[1].is_constant or prod(use[1].sizes) != 1:
        return binary(use, way=1)
    sizes = use.broadcast_sizes(0, 1)
    return use.out(use.make(use.spread(0, sizes), exponent=float(use.single(1))), sizes)


def clip(use: Use) -> OnnxValue:
    """A bound that is left out is that of the data type."""
    least, most = _limits(use)
    bounds = _bound(use, "min", 1, least), _bound(use, "max", 2, most)
    way = int("min" not in use.version.attributes)
    return use.out(use.way(way)(use.right(0), min=bounds[0], max=bounds[1]), use[0].sizes)


def _limits(use: Use) -> tuple[object, object]:
    """The least and the largest number of the data type of the input."""
    dtype = np.dtype(ELEMENTS[use[0].element].numpy)
    if dtype.kind == "f":
        return np.finfo(dtype).min, np.finfo(dtype).max
    if dtype.kind not in "iu":
        use.refuse("DML-ONNX-type", element=use[0].element, name=use[0].name)
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def _bound(use: Use, name: str, place: int, least: object) -> object:
    if name in use.version.attributes:
        found = use.attribute(name)
        return least if found is None else found
    return use.single(place) if use.has(place) else least


def is_infinity(use: Use) -> OnnxValue:
    """The attributes say which signs count."""
    mode = INFINITIES.get((use.integer("detect_negative") != 0, use.integer("detect_positive") != 0))
    if mode is None:
        use.refuse("DML-ONNX-unsupported", what="IsInf that detects infinities of neither sign")
    return use.out(use.make(use.right(0), infinity_mode=mode), use[0].sizes)


def modulus(use: Use) -> OnnxValue:
    """The sign of the result is that of the divisor, with fmod that of the dividend."""
    return binary(use, way=int(use.integer("fmod") != 0))


def where(use: Use) -> OnnxValue:
    """The condition and both tensors are broadcast."""
    sizes = use.broadcast_sizes(0, 1, 2)
    return use.out(use.make(*(use.spread(place, sizes) for place in range(3))), sizes)


def cast(use: Use) -> OnnxValue:
    """A number that becomes a BOOL is truncated to UINT8, then every number above 0 is 1."""
    value = use.make(use.right(0), output_dtype=use.dtype())
    if use.element() == "BOOL" and use[0].element != "BOOL":
        value = use.g.element_wise_clip1(value, min=0, max=1)
    return use.out(value, use[0].sizes)


def affine(use: Use) -> OnnxValue:
    """A factor and a summand of all elements."""
    pair = use.number("alpha"), use.number("beta")
    return use.out(use.make(use.right(0), scale_bias=pair), use[0].sizes)


def is_nan(use: Use) -> OnnxValue:
    """The result is BOOL, which is UINT8 in DirectML."""
    return use.out(use.make(use.right(0), output_dtype=use.dtype()), use[0].sizes)


def image_scaler(use: Use) -> OnnxValue:
    """A factor of all elements, and a summand for each channel."""
    bias = use.attribute("bias") or ()
    return use.out(use.make(use.right(0), scale=use.number("scale"), bias=list(bias)), use[0].sizes)


def add_three(use: Use) -> OnnxValue:
    """Two tensors are broadcast to the first one and added to it."""
    sizes = use[0].sizes
    return use.out(use.make(use.make(use.right(0), use.spread(1, sizes)), use.spread(2, sizes)), sizes)
