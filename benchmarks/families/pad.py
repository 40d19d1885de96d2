"""PADDING and PADDING1: elements before and after each spatial axis, in five modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.calls import Absent, Forms, Peer, call
from benchmarks.cells import Array, Attributes, Cell, Sizes, Variant
from benchmarks.families.base import Inputs, Operator
from benchmarks.peers import library, onnx_forms

PAGE = 5

ALL = ("FLOAT32", "FLOAT16", "UINT8", "INT64")
NUMPY: dict[str, Any] = {
    "CONSTANT": "constant",
    "EDGE": "edge",
    "REFLECTION": "reflect",
    "SYMMETRIC": "symmetric",
    "WRAP": "wrap",
}
TORCH = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "WRAP": "circular"}

IMAGES = {"tiny": (1, 1, 5, 5), "small": (1, 32, 64, 64), "medium": (4, 64, 128, 128)}
BEYOND = {"tiny": (1, 1, 5, 5), "small": (4, 60, 8, 8), "medium": (16, 480, 8, 8)}
PLANE = {"small": (360, 360), "medium": (2000, 2000)}
PICTURE = {"small": (3, 208, 208), "medium": (3, 1152, 1152)}
VOLUME = {"small": (1, 4, 32, 32, 32), "medium": (2, 8, 64, 64, 64)}


def spatial(mode: str, by: int, rank: int, axes: int) -> Attributes:
    """Padding by so many elements on both sides of the last axes."""
    widths = (0,) * (rank - axes) + (by,) * axes
    return {"start_padding": widths, "end_padding": widths, "padding_mode": mode}


def variants() -> list[Variant]:
    found = []
    for mode in NUMPY:
        sizes: Mapping[str, Sizes] = {**IMAGES, "large": (48, 64, 128, 128)} if mode == "CONSTANT" else IMAGES
        dtypes = ALL if mode in ("CONSTANT", "REFLECTION") else ALL[:1]
        layouts = ("contiguous", "channels_last", "strided") if mode == "CONSTANT" else ("contiguous", "channels_last")
        found.append(Variant(f"{mode}-by-3", spatial(mode, 3, 4, 2), sizes, dtypes, layouts))
    contiguous = ("contiguous",)
    for mode in NUMPY:
        sizes = {"small": IMAGES["small"], "medium": IMAGES["medium"]}
        found.append(Variant(f"{mode}-by-1", spatial(mode, 1, 4, 2), sizes, layouts=contiguous))
    found += [Variant(f"{mode}-beyond", spatial(mode, 12, 4, 2), BEYOND, layouts=contiguous) for mode in NUMPY]
    for mode in ("CONSTANT", "REFLECTION"):
        found += [
            Variant(f"{mode}-2D-by-3", spatial(mode, 3, 2, 2), PLANE, layouts=contiguous),
            Variant(f"{mode}-3D-by-3", spatial(mode, 3, 3, 2), PICTURE, layouts=contiguous),
            Variant(f"{mode}-5D-by-1", spatial(mode, 1, 5, 3), VOLUME, layouts=contiguous),
        ]
    return found


def by_numpy(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    """np.pad; and the same slices written to a tensor given, which np.pad cannot."""
    (x,) = inputs
    mode, widths = cell.attributes["padding_mode"], cell.attributes["start_padding"]
    inside = tuple(slice(by, by + n) for by, n in zip(widths, x.shape, strict=True))
    sides = [side for axis, by in enumerate(widths) if by for side in borders(mode, axis, by, x.shape[axis])]

    def given() -> Array:
        if mode == "CONSTANT":
            for to, _ in sides:
                out[to] = 0
        out[inside] = x
        if mode != "CONSTANT":
            for to, of in sides:
                out[to] = out[of]
        return out

    pairs: Any = [(by, by) for by in widths]
    return Forms(call(lambda: np.pad(x, pairs, NUMPY[mode])), call(given))


def borders(mode: str, axis: int, by: int, n: int) -> list[tuple[Any, Any]]:
    """The two borders of an axis: where they are in the output, and which of its elements they repeat."""
    index = np.pad(np.arange(n), by, NUMPY[mode]) + by
    before = (slice(None),) * axis
    return [
        ((*before, slice(0, by)), (*before, index[:by])),
        ((*before, slice(by + n, None)), (*before, index[by + n :])),
    ]


def by_torch(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    mode, widths = cell.attributes["padding_mode"], cell.attributes["start_padding"]
    axes = sum(by > 0 for by in widths)
    if mode not in TORCH:
        return Absent("torch.nn.functional.pad has no symmetric mode")
    if mode == "REFLECTION" and any(by >= n for by, n in zip(widths, cell.sizes, strict=True)):
        return Absent("torch.nn.functional.pad cannot reflect a whole axis")
    if mode == "WRAP" and any(by > n for by, n in zip(widths, cell.sizes, strict=True)):
        return Absent("torch.nn.functional.pad wraps only once")
    torch: Any = library("torch")
    x, target = torch.from_numpy(inputs[0]), torch.from_numpy(out)
    y = target
    if x.ndim == axes:
        x, y = x[None], y[None]  # torch wants channels
    pad, name = torch.nn.functional.pad, TORCH[mode]
    flat = [by for by in reversed(widths) if by for _ in range(2)]

    def allocating() -> Any:
        return pad(x, flat, name).view_as(target) if x.ndim != out.ndim else pad(x, flat, name)

    operators = {"EDGE": f"replication_pad{axes}d", "REFLECTION": f"reflection_pad{axes}d"}
    if mode not in operators:
        return Forms(call(allocating))  # a tensor for the result is not taken, or filled by copying a new one
    into = getattr(torch.ops.aten, operators[mode]).out

    def given() -> Any:
        into(x, flat, out=y)
        return target

    return Forms(call(allocating), call(given))


def by_onnxruntime(cell: Cell, inputs: Inputs, out: Array) -> Peer:
    mode, widths = cell.attributes["padding_mode"], cell.attributes["start_padding"]
    if mode == "SYMMETRIC":
        return Absent("ONNX's Pad has no symmetric mode")
    if mode == "REFLECTION" and any(by >= n for by, n in zip(widths, cell.sizes, strict=True)):
        return Absent("ONNX Runtime's Pad cannot reflect a whole axis")
    pads = {"pads": np.array([*widths, *widths], np.int64)}
    return onnx_forms("Pad", {"x": inputs[0]}, out, pads, mode=NUMPY[mode])


FIRST = (  # of the older version, which has a FLOAT in mode CONSTANT
    Variant("CONSTANT-by-3", spatial("CONSTANT", 3, 4, 2), IMAGES, ("FLOAT32", "UINT8"), ("contiguous",)),
    Variant("REFLECTION-by-3", spatial("REFLECTION", 3, 4, 2), IMAGES, layouts=("contiguous",)),
)
OPERATORS = (
    Operator("padding", FIRST, by_numpy, by_torch, by_onnxruntime),
    Operator("padding1", variants(), by_numpy, by_torch, by_onnxruntime),
)
