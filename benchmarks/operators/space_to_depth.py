"""SPACE_TO_DEPTH: blocks of the image become channels, in the one order that the older version has."""

from __future__ import annotations

from benchmarks.cells import Variant
from benchmarks.operators.base import Operator
from benchmarks.operators.space_to_depth1 import SIZES, by_numpy, by_onnxruntime, by_torch

VARIANTS = (
    Variant("block2", {"block_size": 2}, SIZES[2], ("FLOAT32", "UINT8"), ("contiguous",)),
    Variant("block3", {"block_size": 3}, SIZES[3], layouts=("contiguous",)),
)

OPERATOR = Operator("space_to_depth", VARIANTS, by_numpy, by_torch, by_onnxruntime)
