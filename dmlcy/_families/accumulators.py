"""The data type in which an operator adds, as ``acc`` of ``[kernel]`` says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.rows import Dtype, Operator
from dmlcy._facts.tables import DTYPES


def limits(operator: Operator, dtype: Dtype, count: int) -> tuple[Fraction, Fraction]:
    """The smallest and the largest sum of ``count`` steps that keeps its digits.

    Each addition rounds by less than 2**-23 of the sum. The smallest is 0 where the accumulator is the data type of the
    elements: what is added are elements then, and no digit of theirs is lost. Powers of elements may be smaller.
    """
    own, acc = numpy_dtype(dtype), numpy_dtype(DTYPES[operator.definition.words[f"acc.{dtype.name}"]])
    most = Fraction(float(np.finfo(acc).max)) / (1 + Fraction(count, 2**23))
    least = Fraction(float(np.finfo(acc).smallest_normal)) * count if acc.itemsize > own.itemsize else Fraction(0)
    return least, most
