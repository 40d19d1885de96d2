"""PADDING: elements around a tensor, with a FLOAT in mode CONSTANT."""

from __future__ import annotations

from benchmarks.cells import Variant
from benchmarks.operators.base import Operator
from benchmarks.operators.padding1 import IMAGES, by_numpy, by_onnxruntime, by_torch, spatial

VARIANTS = (
    Variant("CONSTANT-by-3", spatial("CONSTANT", 3, 4, 2), IMAGES, ("FLOAT32", "UINT8"), ("contiguous",)),
    Variant("REFLECTION-by-3", spatial("REFLECTION", 3, 4, 2), IMAGES, layouts=("contiguous",)),
)

OPERATOR = Operator("padding", VARIANTS, by_numpy, by_torch, by_onnxruntime)
