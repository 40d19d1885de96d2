"""ROI_POOLING: the maximum of each bin of each region."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls import Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Variant, dtype_of, placed, whole_numbers
from benchmarks.families.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

PAGE = 6
BOTH = ("FLOAT32", "FLOAT16")
SCALE = 1 / 16


def bins(count: int) -> Attributes:
    return {"spatial_scale": SCALE, "pooled_size": (count, count)}


# A region per row of the output; the number of regions is the head of the variant's name.
VARIANTS = (
    Variant("1-region-2x2", bins(2), {"tiny": (1, 1, 5, 5)}, BOTH),
    Variant(
        "256-regions-7x7",
        bins(7),
        {"small": (1, 16, 50, 50), "medium": (2, 448, 50, 50), "target": (2, 256, 50, 50)},
        BOTH,
        ("contiguous", "channels_last", "strided"),
    ),
    Variant(
        "2000-regions-7x7",
        bins(7),
        {"small": (1, 4, 50, 50), "medium": (2, 64, 50, 50), "large": (2, 1024, 50, 50)},
        BOTH,
    ),
)


def regions(cell: Cell) -> Array:
    """Regions of all sizes inside the image, whole cells of the feature map long: every library agrees on those."""
    rng = np.random.default_rng(1)
    count = int(cell.variant.split("-")[0])
    n, _, height, width = cell.sizes
    rows = np.sort(rng.integers(0, height, (count, 2)))
    columns = np.sort(rng.integers(0, width, (count, 2)))
    corners = np.stack([columns[:, 0], rows[:, 0], columns[:, 1], rows[:, 1]], 1) / SCALE
    return np.concatenate([rng.integers(0, n, (count, 1)), corners], 1).astype(dtype_of(cell))[None, None]


def inputs(cell: Cell) -> Inputs:
    return [placed(whole_numbers(cell.sizes, dtype_of(cell)), cell.layout), regions(cell)]


def bounds(rois: Array) -> list[tuple[int, int, int, int, int]]:
    """Batch, rows and columns of each region, ends exclusive."""
    rows = rois.reshape(-1, 5)
    cells = np.round(rows[:, 1:].astype(np.float64) * SCALE).astype(int)
    batches = rows[:, 0].astype(int)
    return [(b, y1, y2 + 1, x1, x2 + 1) for b, (x1, y1, x2, y2) in zip(batches, cells, strict=True)]


def edges(length: int, count: int) -> list[tuple[int, int]]:
    """Where each bin of an axis starts and ends."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Maxima over rows of bins, then over columns."""
    x, rois = inputs
    height, width = cell.attributes["pooled_size"]

    def into(target: Array) -> Array:
        for region, (b, y1, y2, x1, x2) in enumerate(bounds(rois)):
            inside = x[b, :, y1:y2, x1:x2]
            rows = [inside[:, a:e].max(1) for a, e in edges(y2 - y1, height)]
            stacked = np.stack(rows, 1)
            for column, (a, e) in enumerate(edges(x2 - x1, width)):
                stacked[:, :, a:e].max(2, out=target[region, :, :, column])
        return target

    return Forms(call(lambda: into(np.empty(out.shape, x.dtype))), call(lambda: into(out)))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Adaptive maxima region by region: torchvision, which has the operator, is no part of PyTorch."""
    torch: Any = library("torch")
    x, rois, y = torch.from_numpy(inputs[0]), inputs[1], torch.from_numpy(out)
    pool, size = torch.nn.functional.adaptive_max_pool2d, cell.attributes["pooled_size"]

    def each() -> list[Any]:
        return [pool(x[b, :, y1:y2, x1:x2], size) for b, y1, y2, x1, x2 in bounds(rois)]

    return Forms(call(lambda: torch.stack(each())), call(lambda: torch.stack(each(), out=y)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    x, rois = inputs
    given = {"pooled_shape": cell.attributes["pooled_size"], "spatial_scale": SCALE}
    return onnx_forms("MaxRoiPool", {"x": x, "rois": rois.reshape(-1, 5)}, out, {}, **given)


OPERATORS = (Operator("roi_pooling", VARIANTS, by_numpy, by_torch, by_onnxruntime, inputs),)
