"""UNFOLD: sliding windows become columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Variant
from benchmarks.families.base import Inputs, Operator
from benchmarks.peers import library

PAGE = 1
ALL = ("FLOAT32", "FLOAT16", "UINT8", "INT64")


def window(sizes: tuple[int, ...], stride: int = 1, padding: int = 0, dilation: int = 1) -> Attributes:
    """The attributes, as short as people write them."""
    given = {"strides": stride, "start_padding": padding, "end_padding": padding, "dilations": dilation}
    standard = {"strides": 1, "start_padding": 0, "end_padding": 0, "dilations": 1}
    return {"window_sizes": sizes} | {name: n for name, n in given.items() if n != standard[name]}


IMAGE = {"tiny": (1, 1, 5, 5), "small": (1, 8, 56, 56), "medium": (8, 32, 56, 56)}
VARIANTS = (
    Variant(
        "3x3-s1-p1",
        window((3, 3), padding=1),
        {**IMAGE, "target": (4, 32, 56, 56), "large": (32, 96, 56, 56)},
        ALL,
        ("contiguous", "channels_last", "strided"),
    ),
    Variant(
        "2x2-s2",
        window((2, 2), stride=2),
        {"tiny": (1, 1, 5, 5), "small": (1, 32, 64, 64), "medium": (8, 64, 88, 88)},
        ("FLOAT32", "UINT8"),
    ),
    Variant(
        "4x4-patches",
        window((4, 4), stride=4),
        {"tiny": (1, 1, 5, 5), "small": (1, 3, 208, 208), "medium": (16, 3, 288, 288)},
        ("FLOAT32", "UINT8"),
    ),
    Variant(
        "16x16-patches",
        window((16, 16), stride=16),
        {"small": (1, 3, 208, 208), "medium": (26, 3, 224, 224)},
        ("FLOAT32", "FLOAT16", "UINT8"),
    ),
    Variant("3x3-s1-p2-d2", window((3, 3), padding=2, dilation=2), IMAGE),
    Variant(
        "5-s1-p2",
        window((5,), padding=2),
        {"tiny": (1, 1, 5), "small": (1, 16, 2600), "medium": (8, 80, 2048)},
    ),
    Variant(
        "3x3x3-s1-p1",
        window((3, 3, 3), padding=1),
        {"tiny": (1, 1, 5, 5, 5), "small": (1, 1, 20, 22, 22), "medium": (2, 4, 32, 34, 32)},
    ),
)


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """One copy of a strided view, as sliding_window_view gives it, of a tensor padded by hand (np.pad is slower)."""
    (x,) = inputs
    taps: tuple[int, ...] = cell.attributes["window_sizes"]
    stride, dilation = cell.attributes.get("strides", 1), cell.attributes.get("dilations", 1)
    padding = cell.attributes.get("start_padding", 0)
    inside: Any = (..., *(slice(padding, padding + n) for n in x.shape[2:]))
    padded_sizes = (*x.shape[:2], *(n + 2 * padding for n in x.shape[2:]))
    steps = [(n - dilation * (w - 1) - 1) // stride + 1 for n, w in zip(padded_sizes[2:], taps, strict=True)]
    apart = out.reshape(*x.shape[:2], *taps, *steps)

    def view(source: Array) -> Array:
        spatial = source.strides[2:]
        strides = (*source.strides[:2], *(dilation * s for s in spatial), *(stride * s for s in spatial))
        return as_strided(source, apart.shape, strides)

    def padded() -> Array:
        if not padding:
            return x
        tensor = np.zeros(padded_sizes, x.dtype)
        tensor[inside] = x
        return tensor

    def allocating() -> Array:
        return view(padded()).reshape(out.shape)

    def given() -> Array:
        np.copyto(apart, view(padded()))
        return out

    return Forms(call(allocating), call(given))


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """torch's unfold where it has one (two spatial axes, floating point); a copy of a strided view, which is faster."""
    torch: Any = library("torch")
    x, y = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    given, spatial = cell.attributes, x.ndim - 2
    taps, dilation = given["window_sizes"], given.get("dilations", 1)
    padding, stride = given.get("start_padding", 0), given.get("strides", 1)
    blocks = [(n + 2 * padding - dilation * (w - 1) - 1) // stride + 1 for n, w in zip(x.shape[2:], taps, strict=True)]
    apart = y.view(*x.shape[:2], *taps, *blocks)
    unfold, pad, widths = torch.nn.functional.unfold, torch.nn.functional.pad, [padding] * (2 * spatial)

    def view() -> Any:
        source = pad(x, widths) if padding else x
        apiece = source.stride()[2:]
        strides = [*source.stride()[:2], *(dilation * s for s in apiece), *(stride * s for s in apiece)]
        return torch.as_strided(source, apart.shape, strides)

    def copy() -> Any:
        apart.copy_(view())
        return y

    if spatial == 2 and cell.dtype.startswith("FLOAT"):
        return Forms(call(lambda: unfold(x, taps, dilation, padding, stride)), call(copy))
    return Forms(call(lambda: view().reshape(out.shape)), call(copy))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    return Absent("ONNX has no such operator")


OPERATORS = (Operator("unfold", VARIANTS, by_numpy, by_torch, by_onnxruntime),)
