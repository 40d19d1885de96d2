"""LP_POOLING1: the Euclidean norm of each position of a sliding window whose elements lie apart."""

from __future__ import annotations

from benchmarks.cells import Variant
from benchmarks.operators.average_pooling import IMAGE
from benchmarks.operators.base import Operator
from benchmarks.operators.lp_pooling import BOTH, by_numpy, by_onnxruntime, by_torch, norm

VARIANTS = (
    Variant("2x2-s2-d2", norm(2, 2, dilations=2), IMAGE, BOTH),
    Variant("3x3-s1-d2", norm(3, 1, dilations=2), IMAGE, ("FLOAT32",)),
)

OPERATOR = Operator("lp_pooling1", VARIANTS, by_numpy, by_torch, by_onnxruntime, ulp=8)
