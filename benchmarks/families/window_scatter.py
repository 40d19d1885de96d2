"""FOLD: columns are added where the windows lie that they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Sizes, Variant
from benchmarks.families.base import Inputs, Operator
from benchmarks.families.window_gather import window
from benchmarks.peers import library, onnx_forms

PAGE = 2
ALL = ("FLOAT32", "FLOAT16", "INT64")


def variant(name: str, given: Attributes, images: Mapping[str, Sizes], *more: Any) -> Variant:
    """Cells named by their images: the sizes of a cell are those of its columns."""
    of = {columns(image, given): image for image in images.values()}
    sizes = {size: columns(image, given) for size, image in images.items()}
    return Variant(name, lambda found: {"output_sizes": of[found][2:], **given}, sizes, *more)


def columns(image: Sizes, given: Attributes) -> Sizes:
    """The sizes of the input that gives the image."""
    volume = math.prod(given["window_sizes"])
    return image[0], image[1] * volume, math.prod(blocks(image[2:], given))


def blocks(image: Sizes, given: Attributes) -> list[int]:
    """Positions of the window."""
    stride, dilation = given.get("strides", 1), given.get("dilations", 1)
    padding = given.get("start_padding", 0)
    return [
        (n + 2 * padding - dilation * (w - 1) - 1) // stride + 1
        for n, w in zip(image, given["window_sizes"], strict=True)
    ]


IMAGE = {"tiny": (1, 1, 5, 5), "small": (1, 8, 56, 56), "medium": (8, 32, 56, 56)}
VARIANTS = (
    variant(
        "3x3-s1-p1",
        window((3, 3), padding=1),
        {**IMAGE, "target": (4, 32, 56, 56), "large": (32, 96, 56, 56)},
        ALL,
        ("contiguous", "strided"),
    ),
    variant(
        "3x3-s2-p1",
        window((3, 3), stride=2, padding=1),
        {**IMAGE, "small": (1, 24, 56, 56), "medium": (8, 32, 112, 112)},
        ("FLOAT32",),
    ),
    variant(
        "2x2-s2",
        window((2, 2), stride=2),
        {"tiny": (1, 1, 5, 5), "small": (1, 32, 64, 64), "medium": (8, 64, 88, 88)},
        ("FLOAT32",),
    ),
    variant(
        "16x16-patches",
        window((16, 16), stride=16),
        {"small": (1, 3, 208, 208), "medium": (26, 3, 224, 224)},
        ("FLOAT32", "FLOAT16"),
    ),
    variant("3x3-s1-p2-d2", window((3, 3), padding=2, dilation=2), IMAGE, ("FLOAT32",)),
    variant("5x5-s1-p2", window((5, 5), padding=2), {"small": (1, 4, 56, 56), "medium": (8, 12, 56, 56)}, ("FLOAT32",)),
    variant(
        "3x3x3-s1-p1",
        window((3, 3, 3), padding=1),
        {"tiny": (1, 1, 5, 5, 5), "small": (1, 1, 20, 22, 22), "medium": (2, 4, 32, 34, 32)},
        ("FLOAT32",),
    ),
)


def taps(x: Any, target: Any, image: Sizes, given: Attributes) -> list[tuple[Any, Any]]:
    """Of each window element: where in the padded image it lies, and its elements."""
    steps = blocks(image[2:], given)
    window_sizes = given["window_sizes"]
    stride, dilation = given.get("strides", 1), given.get("dilations", 1)
    apart = x.reshape(*image[:2], *window_sizes, *steps)
    found = []
    for tap in np.ndindex(*window_sizes):
        axes = [
            slice(t * dilation, t * dilation + (n - 1) * stride + 1, stride) for t, n in zip(tap, steps, strict=True)
        ]
        found.append((target[(slice(None), slice(None), *axes)], apart[(slice(None), slice(None), *tap)]))
    return found


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """One addition of a view of a padded image per window element."""
    (x,) = inputs
    given, image = cell.attributes, out.shape
    padding = given.get("start_padding", 0)
    padded = np.zeros((*image[:2], *(n + 2 * padding for n in image[2:])), x.dtype)
    inside: Any = (..., *(slice(padding, padding + n) for n in image[2:]))
    pairs = taps(x, padded, image, given)

    def add() -> Array:
        padded[...] = 0
        for target, elements in pairs:
            np.add(target, elements, out=target)
        found: Array = padded[inside]
        return found

    def into() -> Array:
        np.copyto(out, add())
        return out

    return Forms(call(lambda: np.ascontiguousarray(add())), call(into))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """torch's fold, for two spatial axes of floating point."""
    if out.ndim != 4 or not cell.dtype.startswith("FLOAT"):
        return Absent("torch.nn.functional.fold takes only floats with two spatial axes")
    torch: Any = library("torch")
    x, given = torch.from_numpy(inputs[0]), cell.attributes
    fold, sizes, window_sizes = torch.nn.functional.fold, given["output_sizes"], given["window_sizes"]
    dilation, padding, stride = given.get("dilations", 1), given.get("start_padding", 0), given.get("strides", 1)
    return Forms(call(lambda: fold(x, sizes, window_sizes, dilation, padding, stride)))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """Col2Im."""
    if cell.dtype != "FLOAT32":
        return Absent(f"ONNX Runtime has no Col2Im of {cell.dtype}")
    given, spatial = cell.attributes, out.ndim - 2
    constants = {
        "image_shape": np.array(given["output_sizes"], np.int64),
        "block_shape": np.array(given["window_sizes"], np.int64),
    }
    return onnx_forms(
        "Col2Im", {"x": inputs[0]}, out, constants,
        dilations=[given.get("dilations", 1)] * spatial, strides=[given.get("strides", 1)] * spatial,
        pads=[given.get("start_padding", 0)] * (2 * spatial),
    )  # fmt: skip


OPERATORS = (Operator("fold", VARIANTS, by_numpy, by_torch, by_onnxruntime),)
