"""Operators that move elements, or only name other sizes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, packed, right_aligned

MODES: Final = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "wrap": "WRAP"}
ORDERS: Final = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}
LONGEST: Final = 2**31 - 1


def _view(sizes: Callable[[Use], tuple[int, ...]]) -> Callable[[Use], OnnxValue]:
    """The same elements under other sizes: no node."""
    return lambda use: use.alias(sizes(use))


flatten = _view(shapes.flattened)
identity = _view(shapes.same)
reshape = _view(shapes.reshaped)
squeeze = _view(shapes.squeezed)
unsqueeze = _view(shapes.unsqueezed)


def transpose(use: Use) -> OnnxValue:
    """The input is read with permuted strides, in the rank of the model."""
    order, own = shapes.permutation(use), use[0].sizes
    sizes, strides = (tuple(several[axis] for axis in order) for several in (own, packed(own)))
    return use.filled(sizes, lambda: use.make(use.view(0, sizes or (1,), strides or (1,))))


def expand(use: Use) -> OnnxValue:
    """The input is read with strides of 0."""
    sizes = shapes.expanded(use)
    return use.filled(sizes, lambda: use.make(use.spread(0, sizes)))


def concat(use: Use) -> OnnxValue:
    """Inputs without elements are left out."""
    axis, sizes = shapes.joined(use)
    places = [place for place, one in enumerate(use.inputs) if one is not None and 0 not in one.sizes]
    return use.filled(
        sizes, lambda: use.make([use.right(place) for place in places], axis=use.promoted([axis])[0])
    )  # fmt: skip


def split(use: Use) -> tuple[OnnxValue, ...]:
    """Outputs without elements are left out."""
    axis, lengths = shapes.parts(use)
    sizes = [shapes.replaced(use[0].sizes, axis, length) for length in lengths]
    full = [right_aligned(one, RANK) for one in sizes if 0 not in one]
    made = iter(use.make(use.right(0), axis=use.promoted([axis])[0], output_sizes=full) if full else ())
    return tuple(use.filled(one, lambda: next(made), place) for place, one in enumerate(sizes))


def cut(use: Use) -> OnnxValue:
    """Slice, in the rank of the model, with signed strides."""
    places = shapes.windows(use)
    sizes = tuple(map(len, places))
    if not sizes:
        return use.alias(())
    return use.filled(
        sizes,
        lambda: use.make(
            use.right(0, 1),
            input_window_offsets=[min(one[0], one[-1]) for one in places],
            input_window_sizes=[abs(one[-1] - one[0]) + 1 for one in places],
            input_window_strides=[max(-LONGEST, min(one.step, LONGEST)) for one in places],
            output_sizes=sizes,
        ),
    )


def pad(use: Use) -> OnnxValue:
    """Paddings are not negative."""
    mode, added = use.text("mode"), shapes.paddings(use)
    if mode not in MODES:
        use.refuse("DML-ONNX-attribute-value", name="mode", value=mode, known=[*MODES])
    columns = ([0] * (RANK - len(added)) + [pair[side] for pair in added] for side in (0, 1))
    start, end = (shapes.not_negative(use, "pads", one) for one in columns)
    sizes, value = shapes.padded(use[0].sizes, added), shapes.padding_value(use)
    return use.filled(
        sizes,
        lambda: use.make(
            use.right(0), start_padding=start, end_padding=end, padding_mode=MODES[mode], padding_value=value or 0
        ),
    )


def tile(use: Use) -> OnnxValue:
    """Axes that have the size 1 in the output are left out."""
    repeats, own = shapes.repeats(use), use[0].sizes
    sizes = tuple(size * count for size, count in zip(own, repeats, strict=True))
    kept = [axis for axis, size in enumerate(sizes) if size != 1]
    left, counts = (right_aligned(tuple(several[axis] for axis in kept), RANK) for several in (own, repeats))
    return use.filled(sizes, lambda: use.make(use.view(0, left), repeats=counts))


def depth_to_space(use: Use) -> OnnxValue:
    """Blocks of channels become blocks of rows and columns."""
    (batches, channels, height, width), block = _blocks(use)
    if channels % block**2:
        use.refuse("DML-ONNX-parts", name=use[0].name, axis=1, size=channels, parts=f"parts of {block**2}")
    sizes = batches, channels // block**2, height * block, width * block
    return use.filled(sizes, lambda: use.make(use.right(0), block_size=block, order=ORDERS[_mode(use)]))


def space_to_depth(use: Use) -> OnnxValue:
    """Blocks of rows and columns become blocks of channels, of which the block comes first."""
    (batches, channels, height, width), block = _blocks(use)
    for axis, size in ((2, height), (3, width)):
        if size % block:
            use.refuse("DML-ONNX-parts", name=use[0].name, axis=axis, size=size, parts=f"parts of {block}")
    if _mode(use) != "DCR":
        use.refuse("DML-ONNX-unsupported", what=f"the mode {_mode(use)}")
    sizes = batches, channels * block**2, height // block, width // block
    return use.filled(sizes, lambda: use.make(use.right(0), block_size=block))


def _blocks(use: Use) -> tuple[tuple[int, ...], int]:
    """The sizes of the input, which has four axes, and the length of a block."""
    block, one = use.integer("blocksize"), use[0]
    if one.rank != RANK:
        use.refuse("DML-ONNX-rank", name=one.name, rank=one.rank, wanted=RANK)
    if block < 1:
        use.refuse("DML-ONNX-attribute-value", name="blocksize", value=block, known="1 or more")
    return one.sizes, block


def _mode(use: Use) -> str:
    """In which order a block has its rows, columns and channels."""
    mode = use.attribute("mode") or "DCR"
    if mode not in ORDERS:
        use.refuse("DML-ONNX-attribute-value", name="mode", value=mode, known=[*ORDERS])
    return str(mode)


def col2im(use: Use) -> OnnxValue:
    """Windows are added where they overlap."""
    image, window, one = use.whole(1), use.whole(2), use[0]
    rank, cells = len(image), prod(window)
    if one.rank != 3:
        use.refuse("DML-ONNX-rank", name=one.name, rank=one.rank, wanted=3)
    shapes.not_negative(use, "block_shape", shapes.counted(use, "block_shape", window, rank))
    strides, dilations, pads = (
        shapes.not_negative(use, name, shapes.counted(use, name, use.integers(name) or default, len(default)))
        for name, default in (("strides", (1,) * rank), ("dilations", (1,) * rank), ("pads", (0,) * 2 * rank))
    )
    batches, channels = one.sizes[:2]
    if cells == 0 or channels % cells:
        use.refuse("DML-ONNX-parts", name=one.name, axis=1, size=channels, parts=f"parts of {cells}")
    sizes = (batches, channels // cells, *shapes.not_negative(use, "image_shape", image))
    fields: dict[str, object] = {"window_sizes": window, "strides": strides, "dilations": dilations}
    fields |= {"output_sizes": image, "start_padding": pads[:rank], "end_padding": pads[rank:]}
    return use.filled(sizes, lambda: use.make(use.right(0, 3), **fields))


def crop(use: Use) -> OnnxValue:
    """The border is cut off at the left, top, right and bottom; ``scale`` says the height and width that are left."""
    sizes = use.require_rank(4, 4).sizes
    border = shapes.not_negative(use, "border", shapes.counted(use, "border", use.integers("border") or (), 4))
    left, top, right, bottom = border
    height, width = sizes[2] - top - bottom, sizes[3] - left - right
    if (given := use.integers("scale")) is not None:
        height, width = shapes.not_negative(use, "scale", shapes.counted(use, "scale", given, 2))
    kept = (*sizes[:2], height, width)
    if min(kept) < 0 or top + height > sizes[2] or left + width > sizes[3]:
        use.refuse("DML-ONNX-attribute-value", name="border", value=[*border], known=f"inside of {[*sizes[2:]]}")
    return use.filled(kept, lambda: use.make(use.right(0), offsets=(0, 0, top, left), sizes=kept))
