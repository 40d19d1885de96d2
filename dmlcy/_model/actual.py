"""Read the file that a device wrote for an output.

It is a ``.npy`` of the sizes of the output, a flat one as DxDispatch writes it, or raw bytes. A flat or raw file that
is as large as the whole buffer is read as the buffer, at the offset and with the strides of the output.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from dmlcy._errors import show
from dmlcy._model import npy
from dmlcy._model.files import open_regular
from dmlcy._model.manifest import Output
from dmlcy._model.numbers import Bytes, numpy_dtype
from dmlcy._model.problems import Place, Problem, make
from dmlcy._model.tensors import extent, rounded, view

Array = npt.NDArray[Any]

RAW: Final = (".bin", ".dat")


class Actual:
    """A file of a device; ``problem`` is what is wrong with it."""

    def __init__(self, output: Output, file: Path) -> None:
        self.output = output
        self.file = file
        self.problem: Problem | None = None

    def read(self) -> Array | None:
        """The values in the device's file; None, with a problem, where they are not those of the output."""
        try:
            with open_regular(self.file) as stream:
                return self.npy(stream) if self.file.suffix.lower() == ".npy" else self.raw(stream)
        except npy.NpyError as error:
            self.report("DML-MODEL-npy", why=str(error))
        except OSError as error:
            self.report("DML-MODEL-source", why=error.strerror or str(error))
        return None

    def report(self, identifier: str, **values: str) -> None:
        self.problem = make(identifier, Place(str(self.file), "$", 1, 1), {"path": self.file.name, **values})

    def raw(self, stream: BinaryIO) -> Array | None:
        given = os.fstat(stream.fileno()).st_size
        packed = (self.size, rounded(self.size))
        found = None
        if given in (*packed, self.output.buffer.size, rounded(self.output.buffer.size)):
            data = np.frombuffer(stream.read(given), np.uint8)
            found = self.in_buffer(data)
            if found is None and data.size in packed:
                found = self.packed(data)
        if found is None:
            self.report("DML-MODEL-npy-sizes", found=f"{given} bytes", wanted=f"{self.size} bytes")
        return found

    def npy(self, stream: BinaryIO) -> Array | None:
        output, sizes = self.output, self.output.tensor.sizes
        header = npy.read_header(stream)
        dtype = header.dtype
        if dtype is None or dtype not in (output.dtype, output.buffer.dtype):
            self.report("DML-MODEL-npy-type", found=show(header.kind), wanted=output.dtype.name)
            return None
        same = dtype is output.dtype
        found = None
        if header.count * header.kind.itemsize <= max(rounded(output.buffer.size), self.size):
            values = npy.read_elements(stream, header).astype(numpy_dtype(dtype), copy=False)
            if values.ndim == 1:
                data = values.view(np.uint8)
                found = self.in_buffer(data)
                if found is None and same and data.size == self.size:
                    found = self.packed(data)
            elif same and _without_ones(values.shape) == _without_ones(sizes):
                found = values.reshape(sizes)
        if found is None:
            given = f"the sizes {header.shape}" + ("" if same else f" of {dtype.name}")
            wanted = f"the sizes {sizes}, or as many elements in a row" + ("" if same else f", of {output.dtype.name}")
            self.report("DML-MODEL-npy-sizes", found=given, wanted=wanted)
        return found

    @property
    def size(self) -> int:
        """Bytes of the elements."""
        return self.output.tensor.element_count * numpy_dtype(self.output.dtype).itemsize

    def in_buffer(self, data: Bytes) -> Array | None:
        """The output in all bytes of its buffer."""
        tensor, buffer = self.output.tensor, self.output.buffer
        if data.size not in (buffer.size, rounded(buffer.size)) or buffer.offset + extent(tensor) > data.size:
            return None
        return view(data, tensor, buffer.offset)

    def packed(self, data: Bytes) -> Array:
        """The output in bytes of its own."""
        return data[: self.size].view(numpy_dtype(self.output.dtype)).reshape(self.output.tensor.sizes)


def _without_ones(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(size for size in sizes if size != 1)
