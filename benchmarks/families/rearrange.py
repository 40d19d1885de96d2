"""DEPTH_TO_SPACE and SPACE_TO_DEPTH, of both versions: channels become blocks of the image, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.families.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

PAGE = 4
ALL = ("FLOAT32", "FLOAT16", "UINT8", "INT64")
DEPTH = {
    2: {"tiny": (1, 4, 5, 5), "small": (1, 16, 88, 88), "medium": (4, 64, 128, 128)},
    3: {"tiny": (1, 9, 5, 5), "small": (1, 36, 60, 60), "medium": (4, 72, 120, 120)},
    4: {"tiny": (1, 16, 5, 5), "small": (1, 32, 64, 64), "medium": (4, 64, 128, 128)},
}
SPACE = {
    2: {"tiny": (1, 1, 6, 6), "small": (1, 4, 176, 176), "medium": (4, 16, 256, 256)},
    3: {"tiny": (1, 1, 6, 6), "small": (1, 4, 180, 180), "medium": (4, 8, 360, 360)},
    4: {"tiny": (1, 1, 8, 8), "small": (1, 2, 256, 256), "medium": (4, 4, 512, 512)},
}
Sizes = Mapping[int, Mapping[str, tuple[int, ...]]]
ORDERS = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}  # ONNX's names for them


def first(of: Sizes) -> tuple[Variant, ...]:
    """Of the older versions, which have one order."""
    return (
        Variant("block2", {"block_size": 2}, of[2], ("FLOAT32", "UINT8"), ("contiguous",)),
        Variant("block3", {"block_size": 3}, of[3], layouts=("contiguous",)),
    )


def variants(of: Sizes, large: tuple[int, ...] | None = None) -> tuple[Variant, ...]:
    found = []
    for block in of:
        for order, member in ORDERS.items():
            sizes = {**of[block], "large": large} if large and (block, order) == (2, "CRD") else of[block]
            some = (ALL, ("contiguous", "channels_last", "strided")) if block == 2 else (("FLOAT32", "UINT8"),)
            found.append(Variant(f"block{block}-{order}", {"block_size": block, "order": member}, sizes, *some))
    return tuple(found)


def to_space(cell: Cell) -> bool:
    return cell.operator.startswith("depth_to_space")


def order_of(cell: Cell) -> str:
    """The order of a cell; that of the older version, which has no such attribute."""
    order: str = cell.attributes.get("order", ORDERS["DCR"])
    return order


def split(cell: Cell) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the input with its blocks split, and which of these axes the output has in which place."""
    block: int = cell.attributes["block_size"]
    n, channels, height, width = cell.sizes
    depth_first = order_of(cell) == ORDERS["DCR"]
    if not to_space(cell):
        sizes = (n, channels, height // block, block, width // block, block)
        return sizes, (0, 3, 5, 1, 2, 4) if depth_first else (0, 1, 3, 5, 2, 4)
    depth = channels // block**2
    if depth_first:
        return (n, block, block, depth, height, width), (0, 3, 4, 1, 5, 2)
    return (n, depth, block, block, height, width), (0, 1, 4, 2, 5, 3)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    (x,) = inputs
    sizes, axes = split(cell)
    parts = tuple(sizes[axis] for axis in axes)
    apart = out.reshape(parts)  # a view: axes are split, none are merged

    def given() -> Array:
        np.copyto(apart, x.reshape(sizes).transpose(axes))
        return out

    return Forms(call(lambda: x.reshape(sizes).transpose(axes).reshape(out.shape)), call(given))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """pixel_shuffle and pixel_unshuffle have one of the orders; a copy of a permuted view does both."""
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    sizes, axes = split(cell)
    apart = y.view([sizes[axis] for axis in axes])

    def given() -> Any:
        apart.copy_(x.view(sizes).permute(axes))
        return y

    if order_of(cell) == ORDERS["CRD"]:
        functional, block = torch.nn.functional, cell.attributes["block_size"]
        shuffle = functional.pixel_shuffle if to_space(cell) else functional.pixel_unshuffle
        return Forms(call(lambda: shuffle(x, block)), call(given))
    return Forms(call(lambda: x.view(sizes).permute(axes).reshape(out.shape)), call(given))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    block, mode = cell.attributes["block_size"], next(name for name in ORDERS if ORDERS[name] == order_of(cell))
    if to_space(cell):
        if cell.dtype == "INT64":
            return Absent("ONNX Runtime's DepthToSpace takes no INT64 on a CPU")
        return onnx_forms("DepthToSpace", {"x": inputs[0]}, out, {}, blocksize=block, mode=mode)
    if mode == "CRD":
        return Absent("ONNX's SpaceToDepth has no order COLUMN_ROW_DEPTH")
    if cell.dtype not in ("FLOAT32", "UINT8"):
        return Absent(f"ONNX Runtime's SpaceToDepth takes no {cell.dtype} on a CPU")
    return onnx_forms("SpaceToDepth", {"x": inputs[0]}, out, {}, blocksize=block)


OPERATORS = tuple(
    Operator(name, some, by_numpy, by_torch, by_onnxruntime)
    for name, some in (
        ("depth_to_space", first(DEPTH)),
        ("depth_to_space1", variants(DEPTH, (48, 64, 128, 128))),
        ("space_to_depth", first(SPACE)),
        ("space_to_depth1", variants(SPACE)),
    )
)
