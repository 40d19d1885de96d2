"""Data types as NumPy has them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dmlcy._facts.names import refuse_model
from dmlcy._facts.rows import Dtype

Bytes: TypeAlias = npt.NDArray[np.uint8]


def numpy_dtype(dtype: Dtype) -> np.dtype[Any]:
    """The NumPy type of a data type, little-endian as model files are; ModelError for one that has none."""
    if dtype.numpy is None:
        refuse_model("DML-MODEL-packed", dtype=dtype.name)
    return np.dtype(dtype.numpy).newbyteorder("<")


def bounds(dtype: Dtype) -> tuple[int, int]:
    """The range of an integer data type."""
    info = np.iinfo(numpy_dtype(dtype))
    return int(info.min), int(info.max)


def is_float(dtype: Dtype) -> bool:
    return numpy_dtype(dtype).kind == "f"
