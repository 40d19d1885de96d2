"""DEPTH_TO_SPACE1: channels become blocks of the image."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.operators.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

ALL = ("FLOAT32", "FLOAT16", "UINT8", "INT64")
SIZES = {
    2: {"tiny": (1, 4, 5, 5), "small": (1, 16, 88, 88), "medium": (4, 64, 128, 128)},
    3: {"tiny": (1, 9, 5, 5), "small": (1, 36, 60, 60), "medium": (4, 72, 120, 120)},
    4: {"tiny": (1, 16, 5, 5), "small": (1, 32, 64, 64), "medium": (4, 64, 128, 128)},
}
ORDERS = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}  # ONNX's names for them


def variant(block: int, order: str) -> Variant:
    attributes = {"block_size": block, "order": ORDERS[order]}
    if block == 2:
        sizes = {**SIZES[2], "large": (48, 64, 128, 128)} if order == "CRD" else SIZES[2]
        return Variant(f"block2-{order}", attributes, sizes, ALL, ("contiguous", "channels_last", "strided"))
    return Variant(f"block{block}-{order}", attributes, SIZES[block], ("FLOAT32", "UINT8"))


VARIANTS = tuple(variant(block, order) for block in SIZES for order in ORDERS)


def order_of(cell: Cell) -> str:
    """The order of a cell; that of the older version, which has no such attribute."""
    order: str = cell.attributes.get("order", ORDERS["DCR"])
    return order


def split(cell: Cell) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the input with its channels split, and which of these axes the output has in which place."""
    block: int = cell.attributes["block_size"]
    n, channels, height, width = cell.sizes
    depth = channels // block**2
    if order_of(cell) == ORDERS["DCR"]:
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
    """pixel_shuffle has one of the orders; a copy of a permuted view does both."""
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    sizes, axes = split(cell)
    apart = y.view([sizes[axis] for axis in axes])

    def given() -> Any:
        apart.copy_(x.view(sizes).permute(axes))
        return y

    if order_of(cell) == ORDERS["CRD"]:
        shuffle, block = torch.nn.functional.pixel_shuffle, cell.attributes["block_size"]
        return Forms(call(lambda: shuffle(x, block)), call(given))
    return Forms(call(lambda: x.view(sizes).permute(axes).reshape(out.shape)), call(given))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if cell.dtype == "INT64":
        return Absent("ONNX Runtime's DepthToSpace takes no INT64 on a CPU")
    mode = next(name for name, order in ORDERS.items() if order == order_of(cell))
    return onnx_forms("DepthToSpace", {"x": inputs[0]}, out, {}, blocksize=cell.attributes["block_size"], mode=mode)


OPERATOR = Operator("depth_to_space1", VARIANTS, by_numpy, by_torch, by_onnxruntime)
