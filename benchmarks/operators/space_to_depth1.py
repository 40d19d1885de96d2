"""SPACE_TO_DEPTH1: blocks of the image become channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Cell, Variant
from benchmarks.operators.base import Inputs, Operator
from benchmarks.operators.depth_to_space1 import ALL, ORDERS, order_of
from benchmarks.peers import library, onnx_forms

SIZES = {
    2: {"tiny": (1, 1, 6, 6), "small": (1, 4, 176, 176), "medium": (4, 16, 256, 256)},
    3: {"tiny": (1, 1, 6, 6), "small": (1, 4, 180, 180), "medium": (4, 8, 360, 360)},
    4: {"tiny": (1, 1, 8, 8), "small": (1, 2, 256, 256), "medium": (4, 4, 512, 512)},
}


def variant(block: int, order: str) -> Variant:
    attributes = {"block_size": block, "order": ORDERS[order]}
    if block == 2:
        return Variant(f"block2-{order}", attributes, SIZES[2], ALL, ("contiguous", "channels_last", "strided"))
    return Variant(f"block{block}-{order}", attributes, SIZES[block], ("FLOAT32", "UINT8"))


VARIANTS = tuple(variant(block, order) for block in SIZES for order in ORDERS)


def split(cell: Cell) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the input with its spatial axes split, and which of these axes the output has in which place."""
    block: int = cell.attributes["block_size"]
    n, channels, height, width = cell.sizes
    sizes = (n, channels, height // block, block, width // block, block)
    return sizes, (0, 3, 5, 1, 2, 4) if order_of(cell) == ORDERS["DCR"] else (0, 1, 3, 5, 2, 4)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    (x,) = inputs
    sizes, axes = split(cell)
    apart = out.reshape([sizes[axis] for axis in axes])

    def given() -> Array:
        np.copyto(apart, x.reshape(sizes).transpose(axes))
        return out

    return Forms(call(lambda: x.reshape(sizes).transpose(axes).reshape(out.shape)), call(given))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """pixel_unshuffle has one of the orders; a copy of a permuted view does both."""
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    sizes, axes = split(cell)
    apart = y.view([sizes[axis] for axis in axes])

    def given() -> Any:
        apart.copy_(x.view(sizes).permute(axes))
        return y

    if order_of(cell) == ORDERS["CRD"]:
        unshuffle, block = torch.nn.functional.pixel_unshuffle, cell.attributes["block_size"]
        return Forms(call(lambda: unshuffle(x, block)), call(given))
    return Forms(call(lambda: x.view(sizes).permute(axes).reshape(out.shape)), call(given))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    if order_of(cell) == ORDERS["CRD"]:
        return Absent("ONNX's SpaceToDepth has no order COLUMN_ROW_DEPTH")
    if cell.dtype not in ("FLOAT32", "UINT8"):
        return Absent(f"ONNX Runtime's SpaceToDepth takes no {cell.dtype} on a CPU")
    return onnx_forms("SpaceToDepth", {"x": inputs[0]}, out, {}, blocksize=cell.attributes["block_size"])


OPERATOR = Operator("space_to_depth1", VARIANTS, by_numpy, by_torch, by_onnxruntime)
