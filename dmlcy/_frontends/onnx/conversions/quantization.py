"""Quantization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, right_aligned
from dmlcy._graph.values import Value

BLOCKS: Final = 21
"""The version from which on the scale may be that of a block of elements."""
FILLED: Final = ("UINT4", "UINT8", "UINT16", "UINT32")
"""Quantized integers for which ONNX Runtime fills a zero point that the node leaves out: DirectML's would not be 0."""


def quantize(use: Use) -> OnnxValue:
    """The output says the data type of the quantized integers."""
    return _quantize(use, use.element(), output_dtype=use.dtype())


def dequantize(use: Use) -> OnnxValue:
    """The input says the data type of the quantized integers."""
    return _quantize(use, use[0].element)


def _quantize(use: Use, element: str, **fields: object) -> OnnxValue:
    factors, sizes = [*_factors(use, element)], use[0].sizes
    if len(use.row.becomes) == 1 or use.version.since < BLOCKS:
        full = right_aligned(sizes, RANK)
        return use.out(use.make(use.right(0), *(use.g.broadcast(one, full) for one in factors), **fields), sizes)
    kind = "SCALE_ZERO_POINT" if len(factors) == 2 else "SCALE"
    return use.out(use.way(1)(use.right(0), factors, quantization_type=kind, **fields), sizes)


def _factors(use: Use, element: str) -> Iterator[Value]:
    """The scale, and the zero point where there is one."""
    yield _factor(use, 1)
    if use.has(2):
        yield _factor(use, 2)
    elif element in FILLED:
        ones = right_aligned((1,) * use[0].rank, RANK)
        halves = element == "UINT4"  # which FILL_VALUE_CONSTANT does not have
        own = "UINT8" if halves else ELEMENTS[element].directml
        zero = use.g.fill_value_constant(output_sizes=ones, value=0, output_dtype=own)
        yield use.g.reinterpret(zero, TensorDesc("UINT4", ones)) if halves else zero


def _factor(use: Use, place: int) -> Value:
    """A scale or a zero point: one element for all, one for each place of an axis, or one for each block along it."""
    one, sizes, block = use[place], use[0].sizes, use.attribute("block_size")
    wanted = [1] * len(sizes)
    if block or prod(one.sizes) != 1:
        axis = use.axis()
        if block:
            wanted[:] = sizes
        wanted[axis : axis + 1] = [_blocks(use, size, block) for size in sizes[axis : axis + 1]]
        given = tuple(wanted if block else wanted[axis : axis + 1])
        if one.sizes != given:
            use.refuse("DML-ONNX-broadcast", sizes=[*one.sizes], wanted=[*given])
    return use.view(one, right_aligned(tuple(wanted), RANK))


def _blocks(use: Use, size: int, block: int | None) -> int:
    """How many blocks an axis has; blocks of one element where the node says no length."""
    length = block or 1
    if length < 0 or size % length:
        use.refuse("DML-ONNX-unsupported", what=f"blocks of {length} elements along an axis of {size}")
    return size // length


def dynamic(use: Use) -> tuple[OnnxValue, ...]:
    """The scale and the zero point follow from the elements."""
    values = use.make(use.right(0), output_dtype=use.dtype())
    return tuple(
        use.out(one, sizes, place)
        for place, (one, sizes) in enumerate(zip(values, (use[0].sizes, (), ()), strict=True))
    )


def sigmoid(use: Use) -> OnnxValue:
    """The sigmoid is that of numbers, which are quantized again."""
    sizes = use[0].sizes
    numbers = _numbers(use, 0)
    return use.out(_quantized(use, use.g.activation_sigmoid(numbers), sizes, 3), sizes)


def concat(use: Use) -> OnnxValue:
    """Each tensor comes with a scale and a zero point, behind those of the output."""
    first, axis = use[2], use.axis(rank=use[2].rank)
    places = range(2, len(use.inputs), 3)
    for place in places:
        if use[place].rank != first.rank:
            use.refuse("DML-ONNX-rank", name=use[place].name, rank=use[place].rank, wanted=first.rank)
    length = sum(size for place in places for size in use[place].sizes[axis : axis + 1])
    sizes = tuple(length if there == axis else size for there, size in enumerate(first.sizes))
    parts = [_numbers(use, place) for place in places]
    joined = use.g.join(parts, axis=min(axis + max(RANK - first.rank, 0), max(RANK, first.rank) - 1))
    return use.out(_quantized(use, joined, sizes, 0), sizes)


def add(use: Use) -> OnnxValue:
    """Both tensors are broadcast; each scale and each zero point is one element."""
    sizes = use.broadcast_sizes(0, 3)
    ones = (1,) * max(RANK, len(sizes))
    places = (1, 2, 4, 5, 6, 7)
    a_scale, a_zero, b_scale, b_zero, scale, zero = (_single(use, place, ones) for place in places)
    a, b = use.spread(0, sizes), use.spread(3, sizes)
    return use.out(use.make(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero, output_dtype=use.dtype()), sizes)


def _single(use: Use, place: int, sizes: Sequence[int]) -> Value | None:
    """An input of one element under other sizes; None where an optional one is left out."""
    if not use.has(place) and use.version.inputs[place].mark:
        return None
    one = use[place]
    if prod(one.sizes) != 1:
        use.refuse("DML-ONNX-reshape", sizes=[*one.sizes], wanted=[1])
    return use.view(one, sizes)


def _numbers(use: Use, place: int) -> Value:
    """The numbers that quantized integers stand for; the scale and the zero point are the next inputs."""
    sizes = use[place].sizes
    zero = use.spread(place + 2, sizes) if use.has(place + 2) else None
    return use.g.element_wise_dequantize_linear(use.right(place), use.spread(place + 1, sizes), zero)


def _quantized(use: Use, value: Value, sizes: tuple[int, ...], place: int) -> Value:
    """Numbers as quantized integers; ``place``: the input that is the scale, before the zero point."""
    zero = use.spread(place + 1, sizes) if use.has(place + 1) else None
    scale = use.spread(place, sizes)
    return use.g.element_wise_quantize_linear(value, scale, zero, output_dtype=use.dtype())
