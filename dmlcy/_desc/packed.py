"""From an array of bytes to a tensor of INT4 or UINT4."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dmlcy._facts.dtypes import has_four_bits, size_in_bytes
from dmlcy._facts.names import refuse_model
from dmlcy._facts.tables import DTYPES, LEVELS
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.values import Refused, as_dtype, as_int, as_ints
from dmlcy._runtime import four_bits
from dmlcy._runtime.four_bits import Packed
from dmlcy._runtime.tensor import to_shared_array
from dmlcy._words.values import show

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _Array, _DataType, _Ints


def packed(array: _Array, dtype: _DataType, sizes: _Ints) -> Packed:
    """A tensor of INT4 or UINT4 in the bytes of an array: an argument of operators, and of ``out``.

    Parameters
    ----------
    array
        UINT8, of any sizes; it is not copied. Each byte has two elements, the low half first, in row-major order and
        without gaps between rows. Of an odd number of elements, the last half is not read, and written as 0.
    dtype
        ``"INT4"`` or ``"UINT4"``.
    sizes
        Elements along each dimension.

    Raises
    ------
    InvalidDataTypeError
        The array is not one of UINT8, or the data type has not 4 bits.
    InvalidDescError
        The bytes do not follow each other, or are not as many as the elements take.

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = dml.packed(np.array([0x21, 0x0F], np.uint8), "INT4", (3,))
    >>> x.values()
    array([ 1,  2, -1], dtype=int8)
    >>> dml.dequantize(x, [np.array([0.5], np.float32)], quantization_type="SCALE")
    array([ 0.5,  1. , -0.5], dtype=float32)
    """
    member = as_dtype(dtype)
    if member is None or not has_four_bits(DTYPES[member.name]):
        refuse_model("DML-MODEL-packed-type", expected="INT4 or UINT4", actual=show(dtype))
    found = to_shared_array(array)
    if found is None or found.dtype != np.uint8:
        actual = show(array) if found is None else four_bits.name_of(found.dtype) or show(found.dtype)
        refuse_model("DML-MODEL-packed-type", expected="an array of UINT8", actual=actual)
    if not found.flags.c_contiguous:
        refuse_model("DML-MODEL-packed-layout", strides=show(found.strides))
    known = _sizes(sizes)
    count = math.prod(known)
    needed = size_in_bytes(DTYPES[member.name], count)
    if found.size != needed:
        words = {"count": show(count), "expected": show(needed), "actual": show(found.size)}
        refuse_model("DML-MODEL-packed-length", dtype=member.name, **words)
    return Packed(np.asarray(found).reshape(-1), member.name, known)


def _sizes(sizes: object) -> tuple[int, ...]:
    """The sizes as ints; refused where a tensor cannot have them."""
    try:
        given = as_ints(sizes)
        known = tuple(map(as_int, given if isinstance(given, tuple) else (given,)))
    except Refused:
        known = ()
    if not 1 <= len(known) <= LEVELS[-1].max_rank or not all(1 <= size <= UINT_MAX for size in known):
        refuse_model("DML-MODEL-packed-sizes", actual=show(sizes))
    return known
