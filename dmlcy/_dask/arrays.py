"""Conditions for dask arrays: known sizes, no masked elements, one chunk along an axis that is not cut. Data types."""

from __future__ import annotations

import math
from typing import NoReturn, Protocol

import numpy as np

from dmlcy._facts.dtypes import has_four_bits, numpy_dtype
from dmlcy._facts.rows import Dtype
from dmlcy._runtime.four_bits import public_dtype
from dmlcy._types import DType


class DaskArray(Protocol):
    """The part of dask's arrays that this package needs; dask is an extra, whose types may not be there."""

    _meta: object

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of the chunks along each axis."""

    @property
    def dtype(self) -> DType:
        """The data type."""

    @property
    def blocks(self) -> DaskArray:
        """The array, whose index is in chunks."""

    def __getitem__(self, index: object) -> DaskArray:
        """A part of the array."""

    def rechunk(self, chunks: object) -> DaskArray:
        """The array in other chunks."""

    def reshape(self, *sizes: int) -> DaskArray:
        """The elements in other sizes."""

    def view(self, dtype: object) -> DaskArray:
        """The bytes of the elements as another data type."""


def with_known_sizes(function: str, name: str, array: DaskArray) -> DaskArray:
    """The array itself; refuses one with masked elements, or with chunks of unknown size."""
    if isinstance(array._meta, np.ma.MaskedArray):
        raise TypeError(f"{function}(): {name} is masked. Pass da.ma.filled({name}, …).")
    for axis, chunks in enumerate(array.chunks):
        if any(math.isnan(size) for size in chunks):
            raise ValueError(
                f"{function}(): {name} has chunks of unknown size along axis {axis}. "
                f"Call {name}.compute_chunk_sizes() first."
            )
    return array


def refuse_chunks(function: str, name: str, axis: int, chunks: int) -> NoReturn:
    """Raises ValueError: the axis has several chunks, and no piece of it gives a piece of the output."""
    raise ValueError(
        f"{function}(): {name} has {chunks} chunks along axis {axis}, and must have one chunk there. "
        f"Pass {name}.rechunk({{{axis}: -1}})."
    )


def public_dtype_of(function: str, dtype: Dtype) -> DType:
    """The data type of the chunks of an output; those of 4 bits are of ml_dtypes."""
    found = public_dtype(dtype.name) if has_four_bits(dtype) else numpy_dtype(dtype).newbyteorder("=")
    if found is None:
        raise TypeError(f"{function}(): dask arrays of {dtype.name} need ml_dtypes. Run pip install ml_dtypes.")
    return found
