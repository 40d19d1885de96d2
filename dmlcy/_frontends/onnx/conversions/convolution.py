"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.activations import fused
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, packed
from dmlcy._frontends.onnx.windows import Windows, channels_first, output_desc
from dmlcy._graph.values import Value


def conv(use: Use) -> OnnxValue:
    windows, sizes = _forward(use, 1)
    tensors = _wide(use, 0), _wide(use, 1), _channels(use, 2)
    return _convolve(use, windows, sizes, *tensors, fused_activation=fused(use))


def nhwc_conv(use: Use) -> OnnxValue:
    """Sizes of NCHW with the strides of NHWC, in the input, the filter and the output."""
    use.require_rank(RANK, RANK)
    windows = Windows(use, use[0].sizes[1:-1], _filter(use, 1, slice(1, -1)))
    sizes = (use[0].sizes[0], *windows.positions(), use[1].sizes[0])
    turned = output_desc(use.dtype(), channels_first(sizes), channels_first(packed(sizes)))
    tensors = _channels_last(use, 0), _channels_last(use, 1), _channels(use, 2)
    made = _convolve(use, windows, sizes, *tensors, outputs=turned)
    if turned is not None and made.value is not None:
        made.value = use.g.reinterpret(made.value, TensorDesc(use.dtype(), sizes))
    return made


def conv_transpose(use: Use) -> OnnxValue:
    return _transposed(use, None, 2)


def conv_transpose_with_pads(use: Use) -> OnnxValue:
    return _transposed(use, use.integers("pads", 2), 3)


def _transposed(use: Use, pads: Sequence[int] | None, bias: int) -> OnnxValue:
    """A larger output, which ONNX asks for by ``output_padding`` or ``output_shape``, is only in its desc."""
    windows = Windows(use, use[0].sizes[2:], _filter(use, 1), pads)
    reached = windows.reached(windows.numbers("output_padding", [0] * windows.count, windows.count))
    wanted = _wanted(use, windows)
    if wanted is not None:
        totals = [whole - size for whole, size in zip(reached, wanted, strict=True)]
        windows.divide(totals, more_in_front=windows.same != "SAME_UPPER")
    else:
        wanted = [whole - start - end for whole, start, end in zip(reached, windows.start, windows.end, strict=True)]
    sizes = tuple(max(size, 0) for size in (use[0].sizes[0], use[1].sizes[1] * use.integer("group"), *wanted))
    tensors = _wide(use, 0), _wide(use, 1), _channels(use, bias)
    return _convolve(use, windows, sizes, *tensors, direction="BACKWARD", fused_activation=fused(use))


def _wanted(use: Use, windows: Windows) -> Sequence[int] | None:
    """The spatial sizes of the output where the node says them, so that the paddings follow."""
    given = use.integers("output_shape")
    if given:
        if len(given) not in (windows.count, windows.count + 2):
            known = f"a list of length {windows.count}"
            use.refuse("DML-ONNX-attribute-value", name="output_shape", value=[*given], known=known)
        return given[-windows.count :]
    if windows.same:
        return [size * step for size, step in zip(windows.spatial, windows.strides, strict=True)]
    return None


def conv_integer(use: Use) -> OnnxValue:
    windows, sizes = _forward(use, 1)
    return _convolve(use, windows, sizes, _wide(use, 0), _channels(use, 2), _wide(use, 1), _channels(use, 3))


def qlinear_conv(use: Use) -> OnnxValue:
    windows, sizes = _forward(use, 3)
    before, after = ([_channels(use, place) for place in places] for places in ((1, 2), (4, 5, 8, 6, 7)))
    return _convolve(use, windows, sizes, _wide(use, 0), *before, _wide(use, 3), *after)


def _convolve(
    use: Use, windows: Windows, sizes: tuple[int, ...], *tensors: Value | None, **fields: object
) -> OnnxValue:
    """The node of DirectML; ``sizes``: those of the output in ONNX."""
    fields.setdefault("outputs", output_desc(use.dtype(), _between(sizes)))
    value = use.make(*tensors, group_count=use.integer("group"), **windows.fields(), **fields)
    return use.out(value, sizes)


def _forward(use: Use, weights: int) -> tuple[Windows, tuple[int, ...]]:
    """The windows, and the sizes of the output in ONNX."""
    windows = Windows(use, use[0].sizes[2:], _filter(use, weights))
    return windows, (use[0].sizes[0], use[weights].sizes[0], *windows.positions())


def _filter(use: Use, place: int, spatial: slice = slice(2, None)) -> tuple[int, ...]:
    """The spatial sizes of a filter."""
    rank = use.require_rank(3).rank
    return use.require_rank(rank, rank, place).sizes[spatial]


def _between(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes with axes of size 1 before the spatial ones."""
    return (*sizes[:2], *(1,) * (RANK - len(sizes)), *sizes[2:])


def _wide(use: Use, place: int) -> Value:
    return use.view(place, _between(use[place].sizes))


def _channels_last(use: Use, place: int) -> Value:
    sizes = use[place].sizes
    return use.view(place, channels_first(sizes), channels_first(packed(sizes)))


def _channels(use: Use, place: int) -> Value | None:
    """An input that has an element for each channel, or one for all; None where it is left out."""
    if not use.has(place):
        return None
    ones = max(RANK, use[0].rank) - 2
    return use.view(place, (1, prod(use[place].sizes), *(1,) * ones))
