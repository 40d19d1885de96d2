"""Data types as NumPy has them, and as the package holds those of 4 bits, which NumPy does not have."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import DTYPES
from dmlcy._runtime import four_bits
from dmlcy._types import Array, DType

Bytes: TypeAlias = npt.NDArray[np.uint8]


def numpy_dtype(dtype: Dtype) -> DType:
    """The NumPy type of a data type inside the package, little-endian as model files are."""
    return four_bits.MARKERS[dtype.name] if has_four_bits(dtype) else np.dtype(dtype.numpy).newbyteorder("<")


def plain_dtype(dtype: Dtype) -> DType:
    """The NumPy type that holds the elements as numbers."""
    return four_bits.PLAIN[dtype.name] if has_four_bits(dtype) else numpy_dtype(dtype)


def of_numbers(values: object, dtype: Dtype) -> Array:
    """Integers that a data type holds, in this data type."""
    plain = np.array(values, plain_dtype(dtype))
    return four_bits.marked(plain, dtype.name) if has_four_bits(dtype) else plain


def has_four_bits(dtype: Dtype) -> bool:
    """Whether two elements are in a byte."""
    return dtype.name in four_bits.MARKERS


def in_files(dtype: Dtype) -> Dtype:
    """The data type of a ``.npy`` file with the elements of a tensor: of 4 bits, that of the bytes."""
    return DTYPES["UINT8"] if has_four_bits(dtype) else dtype


def size_in_bytes(dtype: Dtype, count: int) -> int:
    """The bytes of so many elements that follow each other."""
    return -(-count * dtype.bits // 8)


def count_in_bytes(dtype: Dtype, size: int) -> int:
    """How many whole elements so many bytes have."""
    return 8 * size // dtype.bits


def bounds(dtype: Dtype) -> tuple[int, int]:
    """The range of an integer data type."""
    if has_four_bits(dtype):
        return four_bits.BOUNDS[dtype.name]
    info = np.iinfo(numpy_dtype(dtype))
    return int(info.min), int(info.max)


def is_float(dtype: Dtype) -> bool:
    return numpy_dtype(dtype).kind == "f"
