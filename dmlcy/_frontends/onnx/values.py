"""Values of an ONNX graph on their way to DirectML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from dmlcy._facts.dtypes import Bytes
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._graph.values import Value
from dmlcy._runtime import four_bits
from dmlcy._types import Array

LARGEST: Final = 2**24
"""How many elements a constant may have that is computed."""


class OnnxValue:
    """A value whose data type and sizes are known.

    ``value``: that of the DirectML graph, whose desc may have other sizes; None for a constant that no node has read.
    ``read``: gives the elements of a constant; None for a value that is computed at run time.
    """

    __slots__ = ("element", "name", "read", "sizes", "value")

    def __init__(
        self,
        element: str,
        sizes: tuple[int, ...],
        *,
        value: Value | None = None,
        read: Callable[[], Array] | None = None,
        name: str = "",
    ) -> None:
        self.element = element  # such as FLOAT: the name in ONNX
        self.sizes = sizes
        self.value = value
        self.read = read
        self.name = name

    def __repr__(self) -> str:
        kind = "constant" if self.is_constant else "value"
        return f"OnnxValue({kind} {self.name} {self.element}{[*self.sizes]})"

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def is_constant(self) -> bool:
        return self.read is not None

    @property
    def dtype(self) -> str | None:
        """The data type of a tensor desc; None where DirectML does not have the data type."""
        return ELEMENTS[self.element].directml


def packed(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of sizes whose elements lie one behind the other."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def spanned(sizes: Sequence[int]) -> int:
    """The number of elements, as if no size were 0: NumPy limits this number."""
    return prod(size or 1 for size in sizes)


def right_aligned(sizes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The sizes with ones in front, up to a rank."""
    return (1,) * (rank - len(sizes)) + sizes


def left_aligned(sizes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The sizes with ones at the end, up to a rank."""
    return sizes + (1,) * (rank - len(sizes))


def to_directml(array: Array, element: str, sizes: Sequence[int]) -> Array:
    """The elements of a value as a tensor of DirectML has them, in these sizes."""
    dtype = ELEMENTS[element].directml
    plain = np.ascontiguousarray(array)
    if dtype is not None and ELEMENTS[element].bits < 8:
        plain = four_bits.marked(plain, dtype)
    elif plain.dtype == bool:
        plain = plain.view(np.uint8)
    return plain.reshape(sizes)


def from_directml(result: object, element: str, sizes: Sequence[int]) -> Array:
    """A graph's result for a value, under the data type and the sizes that the value has in ONNX."""
    array = result.values() if isinstance(result, four_bits.Packed) else four_bits.values_of(np.asarray(result))
    return array.view(np.dtype(ELEMENTS[element].numpy)).reshape(sizes)


def bytes_of(array: Array, element: str) -> Bytes:
    """The elements as they are in a buffer, a copy that is read-only."""
    given = to_directml(array, element, array.shape)
    return np.frombuffer(four_bits.in_bytes(given).tobytes(), np.uint8)
