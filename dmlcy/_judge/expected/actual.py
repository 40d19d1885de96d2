"""Read the file that a device wrote for an output.

A file whose name a ``writeFile`` command of the model gives is the resource, in the order of its bytes, whatever
``dimensions`` the command has. The output is read at its offset and with its strides. The sizes say what any other file
is. A file with the sizes of the output is the tensor. A flat file, or one of raw bytes, is the whole buffer if it has
its length, and the elements in row-major order if it has their length.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from dmlcy._desc.memory import extent, is_packed, of_file, rounded, sizes_in_file, view
from dmlcy._facts.dtypes import Bytes, count_in_bytes, has_four_bits, in_files, numpy_dtype, size_in_bytes
from dmlcy._frontends.dxdispatch import npy
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.observer import WrittenFile
from dmlcy._frontends.dxdispatch.problems import Problem, make, whole
from dmlcy._judge.expected.manifest import Output
from dmlcy._types import Array
from dmlcy._words.values import show

RAW: Final = (".bin", ".dat")


class Actual:
    """A file of a device; ``problem`` is what is wrong with it.

    ``written`` says what the model writes to this file, None where no ``writeFile`` names it.
    """

    def __init__(self, output: Output, file: Path, written: WrittenFile | None) -> None:
        self.output = output
        self.file = file
        self.written = written
        self.problem: Problem | None = None

    def read(self) -> Array | None:
        """The values in the device's file; None, with a problem, where they are not those of the output."""
        try:
            with open_regular(self.file) as stream:
                return self.npy(stream) if self.is_npy else self.raw(stream)
        except npy.NpyError as error:
            self.report("DML-MODEL-npy", why=str(error))
        except OSError as error:
            self.report("DML-MODEL-source", why=error.strerror or str(error))
        return None

    def report(self, identifier: str, **values: str) -> None:
        self.problem = make(identifier, whole(str(self.file)), {"path": self.file.name, **values})

    @property
    def is_npy(self) -> bool:
        return self.file.name.lower().endswith(".npy")

    @property
    def size(self) -> int:
        """Bytes of the elements."""
        return size_in_bytes(self.output.dtype, self.output.tensor.element_count)

    @property
    def dumps(self) -> tuple[int, ...]:
        """The lengths in bytes of a file of the buffer.

        Buffers are rounded up to 4 bytes. DxDispatch writes the padding too, except to a ``.npy`` file whose dimensions
        the model gives; ``dmlcy run`` does not.
        """
        held = self.output.buffer.size if self.written is None else self.written.size
        padded = not self.is_npy or (self.written is not None and not self.written.dimensions)
        return (held, rounded(held)) if padded else (held,)

    def raw(self, stream: BinaryIO) -> Array | None:
        given = os.fstat(stream.fileno()).st_size
        packed = () if self.written is not None else (self.size, rounded(self.size))
        found = None
        if given in (*packed, *self.dumps):
            data = np.frombuffer(stream.read(given), np.uint8)
            found = self.in_buffer(data)
            if found is None and data.size in packed:
                found = self.packed(data)
        if found is None:
            wanted = self.size if self.written is None else self.written.size
            self.report("DML-MODEL-npy-sizes", found=f"{given} bytes", wanted=f"{wanted} bytes")
        return found

    def npy(self, stream: BinaryIO) -> Array | None:
        output = self.output
        header = npy.read_header(stream)
        dtype = header.dtype
        stored = in_files(output.dtype)
        if dtype is None or dtype not in (stored, output.buffer.dtype):
            self.report("DML-MODEL-npy-type", found=show(header.kind), wanted=stored.name)
            return None
        same = dtype is stored
        found = None
        if header.count * header.kind.itemsize in (*self.dumps, self.size):
            values = npy.read_elements(stream, header).astype(numpy_dtype(dtype), copy=False)
            data = values.reshape(-1).view(np.uint8)
            if self.is_dump(values.shape):
                found = self.in_buffer(data)
            if found is None and same and self.written is None and data.size == self.size:
                found = self.packed(data) if values.ndim == 1 or self.has_sizes(values.shape) else None
        if found is None:
            given = f"the sizes {header.shape}" + ("" if same else f" of {dtype.name}")
            self.report("DML-MODEL-npy-sizes", found=given, wanted=self.wanted(same))
        return found

    def is_dump(self, shape: tuple[int, ...]) -> bool:
        """Whether a ``.npy`` file of these sizes has the elements in the order of the buffer."""
        dimensions = () if self.written is None else self.written.dimensions
        if len(shape) == 1 or (dimensions and _without_ones(shape) == _without_ones(dimensions)):
            return True
        # Where the output is packed, both orders are the same.
        return self.written is not None and self.has_sizes(shape) and is_packed(self.output.tensor)

    def has_sizes(self, shape: tuple[int, ...]) -> bool:
        """Whether these are the sizes of the output, except for ones."""
        return _without_ones(shape) == _without_ones(self.output.tensor.sizes)

    def wanted(self, same: bool) -> str:
        """The sizes that are taken, for a message. ``same``: the data type of the file is that of the output."""
        kind = "" if same else f", of {self.output.dtype.name}"
        written, dtype = self.written, self.output.buffer.dtype
        if written is None or dtype is None:
            sizes = sizes_in_file(self.output.dtype, self.output.tensor.sizes)
            return f"the sizes {sizes}, or as many elements in a row{kind}"
        sizes = written.dimensions or (count_in_bytes(dtype, written.size),)
        return f"the sizes {sizes}, which the model writes{kind}"

    def in_buffer(self, data: Bytes) -> Array | None:
        """The output in the first bytes of its buffer."""
        tensor, offset = self.output.tensor, self.output.buffer.offset
        if data.size not in self.dumps or offset + extent(tensor) > data.size:
            return None
        return view(data, tensor, offset)

    def packed(self, data: Bytes) -> Array:
        """The output in bytes of its own."""
        dtype, sizes = self.output.dtype, self.output.tensor.sizes
        if has_four_bits(dtype):
            return of_file(dtype, sizes, data[: self.size])
        return data[: self.size].view(numpy_dtype(dtype)).reshape(sizes)


def _without_ones(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(size for size in sizes if size != 1)
