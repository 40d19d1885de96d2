"""Folding of nodes that make elements by a rule, or from sizes."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.folding.reading import bounded, numbers
from dmlcy._frontends.onnx.model import ELEMENTS, Tensor
from dmlcy._frontends.onnx.shapes import not_negative
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array

KINDS: Final = {"FLOAT": "float32", "INT": "int64", "STRING": "object"}
"""The data types of constants that are no tensors."""


def shape(use: Use) -> Array:
    """Reads the sizes of the input only, and so does ``size``."""
    return np.array(use[0].sizes[use.attribute("start") or 0 : use.attribute("end")], np.int64)


def size(use: Use) -> Array:
    return np.array(prod(use[0].sizes), np.int64)


def constant(use: Use) -> Array:
    rows = use.version.attributes
    given = [one for name, one in use.node.attributes.items() if name in rows and rows[name].kind == one.kind]
    if len(given) != 1 or given[0].value is None:
        use.refuse("DML-ONNX-unsupported", what="a Constant with a sparse value, or without exactly one value")
    value = given[0].value
    if isinstance(value, Tensor):
        bounded(use, value.sizes)
        return value.array()
    return np.array(value, KINDS[given[0].kind.removesuffix("S")])


def constant_of_shape(use: Use) -> Array:
    sizes = bounded(use, not_negative(use, "input", use.whole(0)))
    return np.full(sizes, shapes.filling(use))


def sequence(use: Use) -> Array:
    """Range."""
    start, delta, count = shapes.sequence(use)
    dtype = numbers(use, 0).dtype
    found: Array = dtype.type(start) + np.arange(*bounded(use, [count])).astype(dtype) * dtype.type(delta)
    return found


def eye_like(use: Use) -> Array:
    sizes = bounded(use, shapes.matrix(use))
    k = max(-sizes[0], min(sizes[1], use.integer("k")))
    return np.eye(sizes[0], sizes[1], k, dtype=ELEMENTS[use.element()].numpy)
