"""Elements from the bytes and the numbers of a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dmlcy._frontends.onnx.model import Element
from dmlcy._frontends.onnx.wire import Damage, Data, Span
from dmlcy._types import Array

_PIECE: Final = 2**20  # bytes of packed numbers that are read at once
_LONGEST: Final = 10


def as_elements(data: bytes | Array, element: Element, sizes: tuple[int, ...]) -> Array:
    """The elements whose bytes these are, as raw_data has them, of an array that is read-only."""
    raw = np.frombuffer(data, np.uint8)
    if element.bits < 8:
        array = _unpacked(raw, element, sizes)
    elif element.numpy == "bool":
        array = raw.view(bool) if not raw.size or raw.max() <= 1 else raw != 0
    else:
        assert element.numpy is not None
        array = raw.view(np.dtype(element.numpy).newbyteorder("<"))
    array = array.reshape(sizes)
    array.flags.writeable = False
    return array


def _unpacked(raw: Array, element: Element, sizes: tuple[int, ...]) -> Array:
    """An element of its own for each that shares its byte with others; the first has the lowest bits."""
    count = int(np.prod(sizes, dtype=object))
    if element.bits == 6:
        bits = np.unpackbits(raw, bitorder="little", count=6 * count).reshape(count, 6)
        return np.packbits(bits, axis=1, bitorder="little")[:, 0]
    places = np.arange(0, 8, element.bits, dtype=np.uint8)
    mask = np.uint8(2**element.bits - 1)
    found = (raw[:, np.newaxis] >> places & mask).reshape(-1)[:count]
    if element.numpy == "int8":
        sign = np.int8(2 ** (element.bits - 1))
        return (found.view(np.int8) ^ sign) - sign
    return found


def packed_numbers(data: Data, values: Sequence[int | Span]) -> NDArray[np.uint64]:
    """The numbers of a repeated field: each value is a number, or the span of packed ones."""
    pieces: list[NDArray[np.uint64]] = []
    single: list[int] = []  # numbers behind the last span
    for value in values:
        if isinstance(value, int):
            single.append(value)
        else:
            pieces += [np.array(single, np.uint64), *_of_span(data, value)]
            single = []
    return np.concatenate([*pieces, np.array(single, np.uint64)])


def _of_span(data: Data, span: Span) -> Iterator[NDArray[np.uint64]]:
    at, end = span
    while at < end:
        raw = np.frombuffer(data, np.uint8, min(_PIECE, end - at), at)
        ends = np.flatnonzero(raw < 128)
        starts = np.empty_like(ends)
        starts[:1], starts[1:] = 0, ends[:-1] + 1
        lengths = ends - starts + 1
        if not len(ends) or lengths.max() > _LONGEST:
            raise Damage("number" if len(raw) > _LONGEST or len(ends) else "end")
        numbers = np.zeros(len(ends), np.uint64)
        for place in range(int(lengths.max())):
            longer = lengths > place
            numbers[longer] |= (raw[starts[longer] + place] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * place)
        yield numbers
        at += int(ends[-1]) + 1
