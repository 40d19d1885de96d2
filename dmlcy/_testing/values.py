"""Values of a data type at which errors like to show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dmlcy._types import Array


def specials(dtype: npt.DTypeLike) -> Array:
    """The ends of the range, zeros of both signs, subnormal numbers, infinities, NaN of several bits."""
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    infinity = int(np.array(np.inf, dtype).view(bits))
    sign = 1 << (8 * dtype.itemsize - 1)
    patterns = [0, 1, infinity - 1, infinity, infinity + 1, infinity | infinity >> 1 | 5]
    return np.array(patterns + [pattern | sign for pattern in patterns], bits).view(dtype)
