"""``.npy`` files that may be damaged: nothing is unpickled, and nothing is read beyond the end."""

from __future__ import annotations

import math
import os
import tokenize
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import IO, BinaryIO, Final

import numpy as np

from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import DTYPES
from dmlcy._types import Array, DType

_LARGEST_HEADER: Final = 65536
_ARCHIVE: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a .npz file, with arrays and without."""


class NpyError(ValueError):
    """The file is damaged, truncated, or of another format."""

    hint = ""


class ArchiveError(NpyError):
    """The file is an archive of arrays."""

    hint = "Save the array with numpy.save. The option --inputs of dmlcy compare takes an archive."


@dataclass(frozen=True, slots=True)
class Header:
    """The header before the elements, and the place of the first element."""

    shape: tuple[int, ...]
    fortran: bool
    kind: DType
    start: int

    @property
    def dtype(self) -> Dtype | None:
        """The tensor data type of the elements; None for objects, booleans, structures."""
        return next((dtype for dtype in DTYPES.values() if dtype.numpy == self.kind.name), None)

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


def read_header(stream: BinaryIO) -> Header:
    """The header at the start of a file; NpyError also for one of version 3, which no tensor needs."""
    head = BytesIO(stream.read(_LARGEST_HEADER))
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        with warnings.catch_warnings(action="ignore"):
            shape, fortran, kind = readers[np.lib.format.read_magic(head)](head)
    except (
        ValueError,
        LookupError,
        TypeError,
        SyntaxError,
        EOFError,
        OSError,
        MemoryError,
        RecursionError,
        tokenize.TokenError,
    ):
        if head.getvalue().startswith(_ARCHIVE):
            raise ArchiveError("it is an .npz archive, and one array is needed") from None
        raise NpyError("the header is not a NumPy header") from None
    if any(type(size) is not int or size < 0 for size in shape):
        raise NpyError("the header is not a NumPy header")
    return Header(shape, fortran, kind, head.tell())


def read_elements(stream: BinaryIO, header: Header) -> Array:
    """The elements of a file whose header has been read, in its shape and order."""
    size = header.count * header.kind.itemsize
    data = b""
    if size <= os.fstat(stream.fileno()).st_size - header.start:
        stream.seek(header.start)
        data = stream.read(size)
    if len(data) < size:
        raise NpyError("the file ends before the last element")
    try:
        if size == 0:
            return np.empty(header.shape, header.kind)
        return np.frombuffer(data, header.kind).reshape(header.shape, order="F" if header.fortran else "C")
    except ValueError as error:  # more dimensions than NumPy has
        raise NpyError(str(error)) from None


def writer(values: Array) -> Callable[[IO[bytes]], None]:
    """Writes an array to a stream."""

    def write(stream: IO[bytes]) -> None:
        header = np.lib.format.header_data_from_array_1_0(values)
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(values.reshape(-1, order="F" if header["fortran_order"] else "C").view(np.uint8).data)

    return write
