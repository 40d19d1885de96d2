"""Folding of nodes that make elements by a rule, or from sizes."""

from __future__ import annotations

from math import ceil, isfinite, prod
from typing import Any, Final

import numpy as np

from dmlcy._frontends.onnx.folding.reading import Array, bounded, made_element, scalar
from dmlcy._frontends.onnx.model import Tensor
from dmlcy._frontends.onnx.shapes import counted, needed, not_negative
from dmlcy._frontends.onnx.use import Use

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
        use.refuse("DML-ONNX-unsupported", what="a constant without one value")
    value = given[0].value
    if isinstance(value, Tensor):
        bounded(use, value.sizes)
        return value.array()
    return np.array(value, KINDS[given[0].kind.removesuffix("S")])


def constant_of_shape(use: Use) -> Array:
    sizes = bounded(use, not_negative(use, "input", needed(use, "input", 0)))
    value = use.attribute("value")
    if value is None:
        return np.zeros(sizes, np.float32)
    counted(use, "value", value.array().reshape(-1), 1)
    return np.full(sizes, value.array().reshape(-1)[0])


def sequence(use: Use) -> Array:
    """Range."""
    start, limit, delta = (scalar(use, place) for place in range(3))
    places = np.arange(*bounded(use, [steps(use, start, limit, delta)]))
    return start + places.astype(start.dtype) * delta


def steps(use: Use, start: Any, limit: Any, delta: Any) -> int:
    """How many elements there are from start on before the limit."""
    if delta == 0:
        use.refuse("DML-ONNX-attribute-value", name="delta", value=0, known=["not 0"])
    if start.dtype.kind in "iu":
        return max(0, -((int(start) - int(limit)) // int(delta)))
    count = (float(limit) - float(start)) / float(delta)
    if not isfinite(count):
        use.refuse("DML-ONNX-attribute-value", name="delta", value=float(delta), known=["a finite number of elements"])
    return max(0, ceil(count))


def eye_like(use: Use) -> Array:
    sizes = bounded(use, use[0].sizes)
    if len(sizes) != 2:
        use.refuse("DML-ONNX-rank", name=use[0].name, rank=len(sizes), wanted=2)
    k = max(-sizes[0], min(sizes[1], use.integer("k")))
    return np.eye(*sizes, k, dtype=made_element(use).numpy)
