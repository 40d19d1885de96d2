"""Tensors as their descs lay them out in the bytes of a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._facts.dtypes import Bytes, numpy_dtype
from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import DTYPES
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides


def dtype_of(desc: TensorDesc) -> Dtype:
    """The data type of a valid desc."""
    dtype: Dtype = DTYPES[getattr(desc.dtype, "name", str(desc.dtype))]
    return dtype


def strides_of(desc: TensorDesc) -> tuple[int, ...]:
    """Strides in elements; packed where the desc has none."""
    return packed_strides(desc.sizes) if desc.strides is None else tuple(desc.strides)


def is_packed(desc: TensorDesc) -> bool:
    """Whether the elements follow each other, with nothing between them."""
    return strides_of(desc) == packed_strides(desc.sizes)


def extent(desc: TensorDesc) -> int:
    """Bytes from the start of the first element to the end of the last one."""
    last = sum((size - 1) * stride for size, stride in zip(desc.sizes, strides_of(desc), strict=True))
    return -(-(last + 1) * dtype_of(desc).bits // 8)  # of 4-bit types, two in a byte


def needed(desc: TensorDesc) -> int:
    """Bytes that a buffer must have from the start of the tensor: a total size counts where it is more than padding."""
    reach = extent(desc)
    total = desc.total_tensor_size_in_bytes
    return total if total > reach + 3 else reach


def view(data: Bytes, desc: TensorDesc, offset: int) -> npt.NDArray[Any]:
    """The tensor that starts at an offset in bytes; the buffer must be large enough."""
    dtype = numpy_dtype(dtype_of(desc))
    steps = tuple(stride * dtype.itemsize for stride in strides_of(desc))
    return np.ndarray(desc.sizes, dtype, data.data, offset, steps)


def in_memory(tensor: TensorDesc, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The values as they lie in a buffer, in one dimension when its desc has strides."""
    dtype = numpy_dtype(dtype_of(tensor))
    if tensor.strides is None:
        return values.astype(dtype, order="C", copy=False)
    data = np.zeros(extent(tensor), np.uint8)
    view(data, tensor, 0)[...] = values
    return data.view(dtype)


def rounded(size: int) -> int:
    """The size of a buffer in bytes, which is a multiple of 4."""
    return -(-size // 4) * 4
