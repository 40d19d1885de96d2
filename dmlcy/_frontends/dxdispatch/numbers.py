"""JSON numbers as values of a tensor data type: exact for integers, to the nearest for floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from dmlcy._facts.dtypes import bounds, is_float, numpy_dtype, of_numbers
from dmlcy._facts.rows import Dtype
from dmlcy._frontends.dxdispatch.json import Items, Node
from dmlcy._frontends.dxdispatch.reader import MOST, Reader
from dmlcy._runtime import four_bits
from dmlcy._types import Array

Scalar: TypeAlias = np.integer | np.floating
"""A NumPy scalar."""
_NAMED: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def array(reader: Reader, nodes: Items, dtype: Dtype) -> Array | None:
    """The values as an array; None, and a problem for each, where values do not fit."""
    return _converted(reader, nodes.plain(), nodes, dtype)


def scalar(reader: Reader, node: Node | None, dtype: Dtype) -> Scalar | None:
    """One value as a NumPy scalar, of 4 bits as one of a byte; None, and a problem, where it does not fit."""
    values = None if node is None else _converted(reader, [node.plain()], [node], dtype)
    found: Scalar | None = None if values is None else four_bits.values_of(values)[0]
    return found


def _converted(reader: Reader, given: Sequence[object], nodes: Sequence[Node], dtype: Dtype) -> Array | None:
    """The values of the nodes."""
    if is_float(dtype):
        found = [_float(value) for value in given]
        bad = [i for i, value in enumerate(found) if value is None]
        if not bad:
            with np.errstate(over="ignore"):
                values = np.array(found, np.float64).astype(numpy_dtype(dtype))
            bad = [int(i) for i in np.flatnonzero(np.isinf(values)) if math.isfinite(found[i] or 0.0)]
            if not bad:
                return values
    else:
        low, high = bounds(dtype)
        bad = [i for i, value in enumerate(given) if type(value) is not int or not low <= value <= high]
        if not bad:
            return of_numbers(given, dtype)
    for i in bad[: MOST + 1]:
        _report(reader, nodes[i], dtype)
    return None


def _float(value: object) -> float | None:
    if type(value) is float:
        return value
    if type(value) is str:
        return _NAMED.get(value.lower())
    try:
        return float(value) if type(value) is int else None
    except OverflowError:
        return None


def _report(reader: Reader, node: Node, dtype: Dtype) -> None:
    if node.kind == "number":
        reader.report("DML-MODEL-value", node, value=node.value, dtype=dtype.name)
    elif node.kind == "string" and is_float(dtype):
        reader.report(
            "DML-MODEL-value",
            node,
            value=node.value,
            dtype=dtype.name,
            hint="The strings that stand for numbers are nan, inf and -inf.",
        )
    else:
        reader.expect(node, "number")
