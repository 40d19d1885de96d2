"""The types that many modules name: NumPy's, whose parameters only some code can say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

DType: TypeAlias = np.dtype[Any]
"""A data type of NumPy."""
Array: TypeAlias = np.ndarray[Any, DType]
"""An array of any sizes and any data type."""
Number: TypeAlias = Any
"""A number of an arithmetic, a condition on numbers, or an array of either.

Each arithmetic has its own: NumPy's scalars, fractions, ranges of numbers. Attributes of operators are Python's.
"""
Operation: TypeAlias = Callable[..., Number]
"""A function of some numbers."""
