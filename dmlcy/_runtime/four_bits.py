"""Tensors of INT4 and UINT4, of which two elements are in a byte: the low half of a byte comes first.

NumPy has no such data types. Inside the package, such a tensor is an array of one of ``MARKERS``, which has an element
in the low half of each byte, as arrays of ml_dtypes have. This module alone converts: from what callers give, to what
they get, and between elements and the bytes of a buffer.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from dmlcy._types import Array, DType

Bytes: TypeAlias = npt.NDArray[np.uint8]

MARKERS: Final = {name: np.dtype([(name, np.uint8)]) for name in ("UINT4", "INT4")}
"""The data type inside the package."""
PLAIN: Final[dict[str, DType]] = {"UINT4": np.dtype(np.uint8), "INT4": np.dtype(np.int8)}
"""The data type of NumPy that holds the elements as numbers."""
BOUNDS: Final = {"UINT4": (0, 15), "INT4": (-8, 7)}
_NAMES: Final = {marker: name for name, marker in MARKERS.items()}
_OF_ML_DTYPES: Final = {"uint4": "UINT4", "int4": "INT4"}
_HALF: Final = 4
_LOW: Final = 15


class Packed:
    """A tensor of INT4 or UINT4 in the bytes of an array, which ``dmlcy.packed`` makes.

    Attributes
    ----------
    data
        The bytes: two elements in each, the low half first. The last half of an odd number of elements is 0.
    dtype
        "INT4" or "UINT4".
    sizes
        Elements along each dimension.
    """

    __slots__ = ("data", "dtype", "sizes")
    data: Bytes
    dtype: str
    sizes: tuple[int, ...]

    def __init__(self, data: Bytes, dtype: str, sizes: tuple[int, ...]) -> None:
        self.data = data
        self.dtype = dtype
        self.sizes = sizes

    def values(self) -> npt.NDArray[np.int8] | npt.NDArray[np.uint8]:
        """The elements as numbers: a new array of int8 for INT4, of uint8 for UINT4."""
        return values_of(self.elements())

    def elements(self) -> Unpacked:
        """The elements, an array inside the package that knows these bytes."""
        found = unpacked(self.data, self.dtype, self.sizes).view(Unpacked)
        found.packed = self
        found.flags.writeable = self.data.flags.writeable
        return found

    def __repr__(self) -> str:
        return f"packed({self.data!r}, {self.dtype!r}, {self.sizes!r})"


Packed.__module__ = "dmlcy"  # as users import it


class Unpacked(Array):
    """The elements of packed bytes. New values reach the bytes by ``write``."""

    packed: Packed


def name_of(dtype: DType) -> str | None:
    """INT4 or UINT4 of a marker and of the data types of ml_dtypes; None of any other data type."""
    if dtype.kind != "V":
        return None
    if dtype.fields is not None:
        return _NAMES.get(dtype)
    return _OF_ML_DTYPES.get(dtype.name) if dtype.type.__module__ == "ml_dtypes" else None


def elements(value: object, array: Array | None) -> Array | None:
    """The elements of 4 bits that a caller gave as ``value``; else the array behind it, None where there is none."""
    if type(value) is Packed:
        return value.elements()
    name = None if array is None else name_of(array.dtype)
    return array if array is None or name is None or array.dtype.fields is not None else array.view(MARKERS[name])


def values_of(array: Array) -> Array:
    """Elements of 4 bits as numbers of one byte; an array of another data type itself."""
    name = name_of(array.dtype)
    if name is None:
        return array
    halves = np.asarray(array).view(np.uint8)
    return (halves << _HALF).view(np.int8) >> _HALF if name == "INT4" else halves & _LOW


def marked(values: Array, name: str) -> Array:
    """Integers as elements of 4 bits, modulo 16."""
    return (values.astype(np.uint8) & _LOW).view(MARKERS[name])


def in_bytes(array: Array) -> Bytes:
    """The bytes of the elements in row-major order: of 4 bits two in a byte; those of the array itself if it can be."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if name_of(array.dtype) is None:
        return flat
    halves = np.zeros(2 * size_in_bytes(flat.size), np.uint8)
    np.bitwise_and(flat, _LOW, out=halves[: flat.size])
    np.left_shift(halves[1::2], _HALF, out=halves[1::2])
    return np.bitwise_or(halves[::2], halves[1::2])


def unpacked(data: Bytes, name: str, sizes: tuple[int, ...]) -> Array:
    """The elements in the first bytes of some."""
    count = math.prod(sizes)
    halves = np.empty(2 * size_in_bytes(count), np.uint8)
    np.bitwise_and(data[: halves.size // 2], _LOW, out=halves[::2])
    np.right_shift(data[: halves.size // 2], _HALF, out=halves[1::2])
    return halves[:count].reshape(sizes).view(MARKERS[name])


def size_in_bytes(count: int) -> int:
    """The bytes of so many elements."""
    return -(-count // 2)


def memory(array: Array) -> Array:
    """An array whose places in memory are those of the elements."""
    packed = getattr(array, "packed", None)
    if isinstance(packed, Packed):
        return packed.data
    return array if name_of(array.dtype) is None else array.view(np.uint8)


def write(target: Array, result: Array) -> None:
    """Writes a result to the array that was taken from a caller; packed elements into their bytes."""
    np.copyto(target, result)
    packed = getattr(target, "packed", None)
    if isinstance(packed, Packed):
        packed.data[: size_in_bytes(target.size)] = in_bytes(target)


def given_back(array: Array) -> Any:
    """An array as callers get it: of 4 bits, one of ml_dtypes where that is installed, else ``Packed``."""
    name = name_of(array.dtype)
    if name is None:
        return array
    dtype = public_dtype(name)
    return Packed(in_bytes(array), name, array.shape) if dtype is None else np.asarray(array).view(dtype)


def public_dtype(name: str) -> DType | None:
    """The data type of ml_dtypes; None where it is not installed."""
    try:
        ml_dtypes = import_module("ml_dtypes")
    except ImportError:
        return None
    found: DType = np.dtype(getattr(ml_dtypes, name.lower()))
    return found
