"""Matrices of quantized integers that the loops of their reader make numbers of, as they need them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from dmlcy._desc.memory import dtype_of, strides_of
from dmlcy._facts.dtypes import size_in_bytes
from dmlcy._families import family_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Node, Structure
from dmlcy._graph.wiring import Wiring
from dmlcy._runtime.quantized_panels import QuantizedMatrix

INTEGERS: Final = ("UINT4", "INT4", "UINT8", "INT8")
COLUMNS: Final = 128
"""Columns that the loops make at once, at most, of many rows."""
NUMBERS: Final = 65536
"""The same of numbers, of few rows."""
Factors: TypeAlias = tuple[int, int, int, int, int]
"""The number of a data type, the rows and columns that share a factor, and the elements from a factor to the next."""


@dataclass(frozen=True)
class Joint:
    """How the loops of a reader get a matrix.

    Attributes
    ----------
    tensor
        The place of the matrix among the tensors of the reader.
    inputs
        The places of the integers, the scale, and perhaps the zero point among those of the maker.
    integers
        The number of a data type, and the elements from a row to the next.
    factors
        The scale, and the zero point: an integer, if all have the same.
    workspace
        Bytes that a thread takes at most for the numbers.
    """

    tensor: int
    inputs: tuple[int, ...]
    integers: tuple[int, int]
    factors: tuple[Factors, Factors | int]
    workspace: int

    def matrix(self) -> QuantizedMatrix:
        """The object that makes the numbers."""
        return QuantizedMatrix(*self.integers, *self.factors)


def joint_of(graph: Structure, wiring: Wiring, maker: int, reader: int, path: str) -> Joint | None:
    """How the loops of a reader get what a maker makes of integers; None where they need it as a whole."""
    first, second = graph.nodes[maker], graph.nodes[reader]
    assert isinstance(first, Node) and isinstance(second, Node)
    scaled = family_of(first.desc.operator).scaled(first.desc)
    if scaled is None or family_of(second.desc.operator).makes(second.desc) != path:
        return None
    ((_, value),) = wiring.outputs[maker]
    given = [(name, desc) for name, desc in wiring.inputs[maker] if desc is not None]
    paths = [one for one in (scaled.integers, scaled.scale, scaled.zero) if isinstance(one, str)]
    inputs = tuple([name for name, _ in given].index(path) for path in paths)
    integers, *factors = (given[place][1] for place in inputs)
    assert value is not None
    steps = strides_of(integers)
    whole = [*zip(integers.sizes, steps, strict=True)]
    if (
        dtype_of(integers).name not in INTEGERS
        or {dtype_of(one).name for one in (value, factors[0])} != {"FLOAT32"}
        or len(value.sizes) < 2
        or not all(_is_one(one) for one in (integers, *factors))
        or (whole[-1][1] != 1 and whole[-1][0] != 1)
    ):
        return None
    readers = [name for name, desc in wiring.inputs[reader] if desc is not None]
    depth = max(value.sizes[-2:])
    room = size_in_bytes(dtype_of(value), min(math.prod(value.sizes[-2:]), max(COLUMNS * depth, NUMBERS)))
    scale, *zeros = (_factors(value.sizes, one) for one in factors)
    zero = scaled.zero if isinstance(scaled.zero, int) else zeros[0]
    return Joint(readers.index(path), inputs, (dtype_of(integers).value, steps[-2]), (scale, zero), room)


def _is_one(tensor: TensorDesc) -> bool:
    """Whether a tensor is one matrix, which all others in front of the last two axes repeat."""
    return all(size == 1 or step == 0 for size, step in zip(tensor.sizes[:-2], strides_of(tensor)[:-2], strict=True))


def _factors(sizes: Sequence[int], tensor: TensorDesc) -> Factors:
    """Factors, whose sizes divide those of the matrix."""
    rows, columns = (whole // own for whole, own in zip(sizes[-2:], tensor.sizes[-2:], strict=True))
    row, column = strides_of(tensor)[-2:]
    return dtype_of(tensor).value, rows, columns, row, column
