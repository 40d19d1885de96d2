"""The types that many modules name: NumPy's, whose parameters only some code can say."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

DType: TypeAlias = np.dtype[Any]
"""A data type of NumPy."""
Array: TypeAlias = np.ndarray[Any, DType]
"""An array of any sizes and any data type."""
