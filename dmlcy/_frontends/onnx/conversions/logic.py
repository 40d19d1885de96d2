"""Comparisons, logic, bits."""

from __future__ import annotations

from typing import Final

from dmlcy._frontends.onnx.conversions.elementwise import binary as binary
from dmlcy._frontends.onnx.conversions.elementwise import unary as unary
from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import OnnxValue

DIRECTIONS: Final = ("LEFT", "RIGHT")


def compare(use: Use) -> OnnxValue:
    """The result is BOOL, which is UINT8 in DirectML."""
    return binary(use, output_dtype=use.dtype())


def bit_shift(use: Use) -> OnnxValue:
    """There is an operator for each direction."""
    direction = use.attribute("direction")
    if direction not in DIRECTIONS:
        use.refuse("DML-ONNX-attribute-value", name="direction", value=direction, known=[*DIRECTIONS])
    return binary(use, way=DIRECTIONS.index(direction))
