"""Values for the inputs of an operator or a graph: those in a ``.npy`` file, or made ones."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import dtype_of, extent, view
from dmlcy._errors import ModelError
from dmlcy._facts.dtypes import is_float, numpy_dtype
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.npy import NpyError, read_elements, read_header
from dmlcy._frontends.dxdispatch.problems import make, printable, whole

_MOST: Final = 8  # sums of a few hundred such values are exact in float16


def made(tensor: TensorDesc, random: np.random.Generator) -> npt.NDArray[Any]:
    """Small integers."""
    dtype = dtype_of(tensor)
    low = 0 if not is_float(dtype) and numpy_dtype(dtype).kind == "u" else -_MOST
    count = extent(tensor) // numpy_dtype(dtype).itemsize
    elements = random.integers(low, _MOST, count, np.int8, endpoint=True).astype(numpy_dtype(dtype))
    return view(elements.view(np.uint8), tensor, 0).astype(np.dtype(dtype.numpy), order="C")


def read(file: str) -> npt.NDArray[Any]:
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
        raise error_of("DML-MODEL-npy", file, why=str(error)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        if isinstance(error, ModelError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise error_of("DML-MODEL-source", file, why=why) from None


def shaped(values: npt.NDArray[Any], sizes: tuple[int, ...]) -> npt.NDArray[Any]:
    """The values in these sizes where they are that many elements in a row."""
    return values.reshape(sizes) if values.ndim == 1 and values.size == math.prod(sizes) else values


def error_of(identifier: str, file: str, **values: object) -> ModelError:
    """The error of this id about a file."""
    return ModelError([make(identifier, whole(file), {"path": file, **values}).violation])
