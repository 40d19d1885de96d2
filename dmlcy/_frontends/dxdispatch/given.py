"""Values for the inputs of an operator or a graph: those in a ``.npy`` file, or made ones."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dmlcy._desc.memory import dtype_of, extent, must_be_packed, view
from dmlcy._errors import ModelError
from dmlcy._facts.dtypes import bounds, has_four_bits, is_float, numpy_dtype, of_numbers
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.npy import NpyError, read_elements, read_header
from dmlcy._frontends.dxdispatch.problems import make, printable, whole
from dmlcy._runtime import four_bits
from dmlcy._runtime.four_bits import Packed
from dmlcy._types import Array

_MOST: Final = 8  # sums of a few hundred such values are exact in float16


def made(tensor: TensorDesc, random: np.random.Generator) -> Any:
    """Small integers: an array, or packed."""
    dtype = dtype_of(tensor)
    if has_four_bits(dtype):
        low, high = bounds(dtype)
        numbers = random.integers(low, min(high, _MOST), tensor.element_count, np.int8, endpoint=True)
        return Packed(four_bits.in_bytes(of_numbers(numbers, dtype)), dtype.name, tensor.sizes)
    low = 0 if not is_float(dtype) and numpy_dtype(dtype).kind == "u" else -_MOST
    count = extent(tensor) // numpy_dtype(dtype).itemsize
    elements = random.integers(low, _MOST, count, np.int8, endpoint=True).astype(numpy_dtype(dtype))
    return view(elements.view(np.uint8), tensor, 0).astype(np.dtype(dtype.numpy), order="C")


def of_file(file: str, tensor: TensorDesc) -> Any:
    """The array in a ``.npy`` file for a tensor; of 4 bits, the file has the bytes."""
    values, dtype = read(file), dtype_of(tensor)
    if not has_four_bits(dtype):
        return _shaped(values, tensor.sizes)
    must_be_packed(tensor, "The tensor of a file")
    if values.dtype != np.uint8:
        raise error_of("DML-MODEL-npy-type", file, found=str(values.dtype), wanted="UINT8")
    if values.size != extent(tensor):
        wanted = f"{extent(tensor)} bytes, of {tensor.element_count} elements of {dtype.name}"
        raise error_of("DML-MODEL-npy-sizes", file, found=f"{values.size} bytes", wanted=wanted)
    return Packed(values.reshape(-1), dtype.name, tensor.sizes)


def read(file: str) -> Array:
    """The array in a ``.npy`` file."""
    try:
        with open_regular(file) as stream:
            header = read_header(stream)
            if header.dtype is None:
                raise error_of(
                    "DML-MODEL-npy-type", file, found=printable(str(header.kind)), wanted="a tensor data type"
                )
            return read_elements(stream, header).astype(np.dtype(header.dtype.numpy), order="C")
    except NpyError as error:
        raise error_of("DML-MODEL-npy", file, error.hint, why=str(error)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        if isinstance(error, ModelError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise error_of("DML-MODEL-source", file, why=why) from None


def _shaped(values: Array, sizes: tuple[int, ...]) -> Array:
    """The values in these sizes where they are that many elements in a row."""
    return values.reshape(sizes) if values.ndim == 1 and values.size == math.prod(sizes) else values


def error_of(identifier: str, file: str, hint: str = "", **values: object) -> ModelError:
    """The error of this id about a file."""
    return ModelError([make(identifier, whole(file), {"path": file, **values}, hint=hint).violation])
