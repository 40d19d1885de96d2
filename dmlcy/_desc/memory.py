"""Tensors as their descs lay them out in the bytes of a buffer."""

from __future__ import annotations

import math

import numpy as np

from dmlcy._facts.dtypes import Bytes, has_four_bits, numpy_dtype, of_numbers, size_in_bytes
from dmlcy._facts.names import refuse_model
from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import DTYPES
from dmlcy._field_types.tensor_desc import TensorDesc, minimum_size, packed_strides
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array
from dmlcy._words.values import show


def dtype_of(desc: TensorDesc) -> Dtype:
    """The data type of a valid desc."""
    dtype: Dtype = DTYPES[getattr(desc.dtype, "name", str(desc.dtype))]
    return dtype


def strides_of(desc: TensorDesc) -> tuple[int, ...]:
    """Strides in elements; packed where the desc has none."""
    return packed_strides(desc.sizes) if desc.strides is None else tuple(desc.strides)


def is_packed(desc: TensorDesc) -> bool:
    """Whether the elements follow each other, with nothing between them; no stride of an axis of size 1 counts."""
    if desc.strides is None:
        return True
    steps = zip(desc.sizes, desc.strides, packed_strides(desc.sizes), strict=True)
    return all(size == 1 or stride == packed for size, stride, packed in steps)


def resized(desc: TensorDesc, sizes: tuple[int, ...], strides: tuple[int, ...] | None) -> TensorDesc:
    """The same bytes under other sizes and strides."""
    return TensorDesc(
        desc.dtype, sizes, strides, desc.flags, desc.total_tensor_size_in_bytes, desc.guaranteed_base_offset_alignment
    )


def stored(desc: TensorDesc) -> TensorDesc:
    """The same bytes in the order of memory: axes by their strides, one element along an axis of stride 0.

    The desc itself where it is not valid, or where its elements do not follow each other in any order.
    """
    strides = desc.strides
    if strides is None or minimum_size(desc) is None:
        return desc
    kept = [axis for axis, size in enumerate(desc.sizes) if size > 1 and strides[axis]]
    ordered = sorted(kept, key=lambda axis: -strides[axis])
    sizes = [1] * len(desc.sizes)
    for place, axis in zip(kept, ordered, strict=True):
        sizes[place] = desc.sizes[axis]
    found = resized(desc, tuple(sizes), None)
    steps = [strides_of(found)[place] for place in kept]
    return found if steps == [strides[axis] for axis in ordered] else desc


def extent(desc: TensorDesc) -> int:
    """Bytes from the start of the first element to the end of the last one."""
    if desc.strides is None:
        return size_in_bytes(dtype_of(desc), math.prod(desc.sizes))
    last = sum((size - 1) * stride for size, stride in zip(desc.sizes, desc.strides, strict=True))
    return size_in_bytes(dtype_of(desc), last + 1)


def is_plain(desc: TensorDesc, size: int) -> bool:
    """Whether the elements are the buffer of so many bytes: packed, with nothing behind them."""
    return is_packed(desc) and size == extent(desc)


def needed(desc: TensorDesc) -> int:
    """Bytes that a buffer must have from the start of the tensor: a total size counts where it is more than padding."""
    reach = extent(desc)
    total = desc.total_tensor_size_in_bytes
    return total if total > reach + 3 else reach


def view(data: Bytes, desc: TensorDesc, offset: int) -> Array:
    """The tensor that starts at an offset in bytes; the buffer must be large enough.

    Elements of 4 bits are a copy, and reach the buffer by ``four_bits.write``.
    """
    if has_four_bits(dtype_of(desc)):
        must_be_packed(desc, "A tensor")
        return four_bits.Packed(data[offset : offset + extent(desc)], dtype_of(desc).name, desc.sizes).elements()
    dtype = numpy_dtype(dtype_of(desc))
    steps = tuple(stride * dtype.itemsize for stride in strides_of(desc))
    return np.ndarray(desc.sizes, dtype, data.data, offset, steps)


def in_memory(tensor: TensorDesc, values: Array) -> Array:
    """The values as they lie in a buffer, in one dimension when its desc has strides; of 4 bits the bytes."""
    if has_four_bits(dtype_of(tensor)):
        must_be_packed(tensor, "A tensor")
        return four_bits.in_bytes(np.asarray(to_array(values)))
    dtype = numpy_dtype(dtype_of(tensor))
    if tensor.strides is None:
        return values.astype(dtype, order="C", copy=False)
    data = np.zeros(extent(tensor), np.uint8)
    view(data, tensor, 0)[...] = values
    return data.view(dtype)


def in_file(dtype: Dtype, values: Array) -> Array:
    """The elements of a tensor as a ``.npy`` file has them: in their sizes, or of 4 bits the bytes."""
    if not has_four_bits(dtype):
        return values
    return four_bits.in_bytes(of_numbers(four_bits.values_of(values), dtype))


def sizes_in_file(dtype: Dtype, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of the array in such a file."""
    return (size_in_bytes(dtype, math.prod(sizes)),) if has_four_bits(dtype) else sizes


def of_file(dtype: Dtype, sizes: tuple[int, ...], values: Array) -> Array:
    """The elements of a tensor from the array in such a file."""
    return four_bits.unpacked(values, dtype.name, sizes) if has_four_bits(dtype) else values


def must_be_packed(desc: TensorDesc, name: str) -> None:
    """Refuses the desc of a tensor of 4 bits whose elements do not follow each other."""
    if has_four_bits(dtype_of(desc)) and not is_packed(desc):
        refuse_model("DML-MODEL-packed-strides", field=name, dtype=dtype_of(desc).name, strides=show(desc.strides))


def rounded(size: int) -> int:
    """The size of a buffer in bytes, which is a multiple of 4."""
    return -(-size // 4) * 4
