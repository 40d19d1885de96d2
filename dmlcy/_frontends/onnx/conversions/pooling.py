"""Poolings, and poolings of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, packed, right_aligned
from dmlcy._frontends.onnx.windows import Windows, channels_first, output_desc
from dmlcy._graph.values import Value

REDUCTIONS: Final = {"avg": "AVERAGE", "max": "MAX"}
HALVES: Final = {"half_pixel": 0.5, "output_half_pixel": 0.0}
"""Offsets in the input of the modes of coordinates."""
MOST: Final = 2**32 - 1


def average_pool(use: Use) -> OnnxValue:
    return _pool(use, include_padding=bool(use.attribute("count_include_pad")))


def lp_pool(use: Use) -> OnnxValue:
    return _pool(use, p=_power(use))


def _power(use: Use) -> int:
    """The exponent, which is no whole number in some nodes of version 1."""
    given = use.number("p")
    if not given.is_integer():
        use.refuse("DML-ONNX-unsupported", what=f"a norm of order {given}")
    return int(given)


def _pool(use: Use, **fields: object) -> OnnxValue:
    """The first operator of the tables where no window is dilated, else the second."""
    windows, sizes = _windows(use)
    fields |= windows.fields(dilations=windows.dilated)
    desc = output_desc(use.dtype(), right_aligned(sizes, RANK))
    way = int(windows.dilated)
    return use.out(use.way(way)(use.right(0), window_size=windows.window(), outputs=desc, **fields), sizes)


def max_pool(use: Use) -> OnnxValue | tuple[OnnxValue, ...]:
    """The first operator of the tables has no indices."""
    if not use.wants(1):
        return _pool(use)
    if use.attribute("storage_order"):
        use.refuse("DML-ONNX-unsupported", what="indices in column-major order")
    windows, sizes = _windows(use)
    descs = [output_desc(dtype, right_aligned(sizes, RANK)) for dtype in (use.dtype(), "UINT64")]
    fields = windows.fields() | {"output_indices": "UINT64", "outputs": descs}
    values = use.way(1)(use.right(0), window_size=windows.window(), **fields)
    return tuple(use.out(value, sizes, place) for place, value in enumerate(values))


def _windows(use: Use) -> tuple[Windows, tuple[int, ...]]:
    """The windows, and the sizes of the output in ONNX."""
    sizes = use.require_rank(2).sizes
    windows = Windows(use, sizes[2:])
    return windows, (*sizes[:2], *windows.positions(round_up=bool(use.attribute("ceil_mode"))))


def global_pool(use: Use) -> OnnxValue:
    x = use.require_rank(2)
    fields = {"p": _power(use)} if "p" in use.version.attributes else {}
    return use.out(use.make(use.right(0), window_size=_whole(x.sizes[2:]), **fields), _ends(x.sizes))


def _whole(spatial: Sequence[int]) -> tuple[int, ...]:
    """A window of a whole input."""
    return right_aligned(tuple(spatial), RANK - 2)


def _ends(sizes: Sequence[int]) -> tuple[int, ...]:
    return (*sizes[:2], *(1,) * (len(sizes) - 2))


def qlinear_average_pool(use: Use) -> OnnxValue:
    sizes = _first(use, use.require_rank(3).sizes)
    windows = Windows(use, sizes[2:])
    sizes = (*sizes[:2], *windows.positions(round_up=bool(use.attribute("ceil_mode"))))
    fields = {"include_padding": bool(use.attribute("count_include_pad")), **windows.fields()}
    return _quantized(use, sizes, window_size=windows.window(), **fields)


def qlinear_global_average_pool(use: Use) -> OnnxValue:
    sizes = _first(use, use.require_rank(3).sizes)
    return _quantized(use, _ends(sizes), window_size=_whole(sizes[2:]))


def _first(use: Use, numbers: Sequence[int]) -> tuple[int, ...]:
    """Sizes or strides in the order that DirectML has."""
    return channels_first(numbers) if use.attribute("channels_last") else tuple(numbers)


def _quantized(use: Use, sizes: tuple[int, ...], **fields: object) -> OnnxValue:
    """A pooling of quantized integers; ``sizes``: those of the output, with the channels first."""
    last = bool(use.attribute("channels_last"))
    own = (sizes[0], *sizes[2:], sizes[1]) if last else sizes
    desc = output_desc(use.dtype(), right_aligned(sizes, RANK), _strides(own) if last else None)
    others = [use.right(place) if use.has(place) else None for place in range(1, 5)]
    value = use.make(_turned(use), *others, outputs=desc, **fields)
    plain = output_desc(use.dtype(), right_aligned(own, RANK))
    return use.out(value if plain is None else use.g.reinterpret(value, plain), own)


def _turned(use: Use) -> Value:
    """The input with the channels first."""
    sizes = use[0].sizes
    if not use.attribute("channels_last"):
        return use.right(0)
    return use.view(0, right_aligned(channels_first(sizes), RANK), _strides(sizes))


def _strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of the axes of DirectML, of sizes with the channels last."""
    found = channels_first(packed(sizes))
    return (found[0],) * (RANK - len(found)) + found


def max_unpool(use: Use) -> OnnxValue:
    """The indices count the elements of the output, also of one that has other sizes than the windows say."""
    x = use.require_rank(2)
    windows = Windows(use, x.sizes[2:])
    wanted = use.integers("output_shape", 2)
    if wanted is None:
        reached = zip(windows.reached([0] * windows.count), windows.start, windows.end, strict=True)
        wanted = (*x.sizes[:2], *(max(size - start - end, 0) for size, start, end in reached))
    elif len(wanted) != x.rank:
        use.refuse("DML-ONNX-attribute-value", name="output_shape", value=[*wanted], known=f"a list of length {x.rank}")
    value = use.make(use.right(0), use.right(1, dtype="UINT64"), output_sizes=right_aligned(wanted, RANK))
    return use.out(value, wanted)


def max_roi_pool(use: Use) -> OnnxValue:
    pooled = use.integers("pooled_shape") or ()
    if len(pooled) != 2:
        use.refuse("DML-ONNX-attribute-value", name="pooled_shape", value=[*pooled], known="a list of length 2")
    x, regions = use.require_rank(2), use[1]
    value = use.make(use.right(0), use.right(1), spatial_scale=use.number("spatial_scale"), pooled_size=pooled)
    return use.out(value, (*regions.sizes[:1], x.sizes[1], *pooled))


def roi_align(use: Use) -> OnnxValue:
    """Before version 16 the places of the input are not moved by half an element."""
    mode, halves = use.text("mode"), use.attribute("coordinate_transformation_mode") or "output_half_pixel"
    for name, value, known in (("mode", mode, REDUCTIONS), ("coordinate_transformation_mode", halves, HALVES)):
        if value not in known:
            use.refuse("DML-ONNX-attribute-value", name=name, value=value, known=[*known])
    x, regions = use.require_rank(2), use[1]
    pooled = use.integer("output_height"), use.integer("output_width")
    samples, scale = use.integer("sampling_ratio"), use.number("spatial_scale")
    value = use.make(
        use.right(0),
        use.right(1),
        use.right(2, dtype=f"U{use[2].element}"),
        output_sizes=pooled,
        reduction_function=REDUCTIONS[mode],
        interpolation_mode="LINEAR",
        minimum_samples_per_output=samples or 1,
        maximum_samples_per_output=samples or MOST,
        spatial_scale_x=scale,
        spatial_scale_y=scale,
        input_pixel_offset=HALVES[halves],
    )
    return use.out(value, (*regions.sizes[:1], x.sizes[1], *pooled))
