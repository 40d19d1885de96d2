"""Operators that sample at other places: the coordinates of ONNX as a scale and offsets of each axis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import floor, isfinite
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue


class Axis(NamedTuple):
    """An axis of the node: its size, that of the output, the factor between them, and the region of it that is read."""

    size: int
    output: int
    scale: float
    start: float = 0.0
    end: float = 1.0


Places: TypeAlias = tuple[float, float, float]
"""A scale, the offset in the input and the offset in the output."""

FURTHEST: Final = float(np.finfo(np.float32).max)
"""A scale with which all places are those of the first element."""
NEUTRAL: Final = (1.0, 0.5, -0.5)
"""The places of an axis of size 1 that ONNX does not have."""
MODES: Final = {"nearest": "NEAREST_NEIGHBOR", "linear": "LINEAR", "bilinear": "LINEAR"}
ROUNDINGS: Final = {
    "round_prefer_floor": ("INCREASING", 0.5),
    "round_prefer_ceil": ("DECREASING", -0.5),
    "floor": ("DECREASING", 0.0),
    "ceil": ("INCREASING", 0.0),
}
"""For each way to choose the nearest element: a direction, and what is added to the offsets in the input."""


def _symmetric(axis: Axis) -> Places:
    return axis.scale, 0.5 - axis.size / 2 * (1 - axis.output / (axis.scale * axis.size)), -0.5


def _pytorch(axis: Axis) -> Places:
    return (axis.scale, 0.5, -0.5) if axis.size > 1 else (FURTHEST, 0.0, 0.0)


def _corners(axis: Axis) -> Places:
    return ((axis.output - 1) / (axis.size - 1) if min(axis.size, axis.output) > 1 else FURTHEST), 0.0, 0.0


def _cropped(axis: Axis) -> Places:
    if axis.size == 1:
        return 1.0, 0.0, 0.0
    length = axis.size - 1
    return (axis.output - 1) / max((axis.end - axis.start) * length, 1.0), -axis.start * length, 0.0


POLICIES: Final[dict[str, Callable[[Sequence[float]], float]]] = {"stretch": max, "not_larger": min, "not_smaller": max}
"""For each policy, which of the scales all axes have."""
COORDINATES: Final[dict[str, Callable[[Axis], Places]]] = {
    "half_pixel": lambda axis: (axis.scale, 0.5, -0.5),
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": _pytorch,
    "align_corners": _corners,
    "asymmetric": lambda axis: (axis.scale, 0.0, 0.0),
    "tf_half_pixel_for_nn": lambda axis: (axis.scale, 0.0, -0.5),
    "tf_crop_and_resize": _cropped,
}


def resize(use: Use) -> OnnxValue:
    """Operators of ONNX without modes of coordinates sample as Resize does by default, as in ONNX Runtime."""
    mode = _member(use, "mode", "nearest", {**MODES, "cubic": ""})
    coordinates = _member(use, "coordinate_transformation_mode", "half_pixel", COORDINATES)
    direction, moved = ROUNDINGS[_member(use, "nearest_mode", "round_prefer_floor", ROUNDINGS)]
    if mode == "cubic":
        use.refuse("DML-ONNX-unsupported", what="cubic interpolation")
    if use.attribute("exclude_outside"):
        use.refuse("DML-ONNX-unsupported", what="a filter without the elements beyond the ends")
    if use.attribute("extrapolation_value"):
        use.refuse("DML-ONNX-unsupported", what="a value beyond the ends of the input")
    axes = _axes(use)
    sizes = tuple(axis.output for axis in axes)
    if 0 in sizes:
        use.refuse("DML-ONNX-empty", name=use.node.outputs[0])
    kept = [axis for axis in axes if axis.size > 1 or axis.output > 1]
    more = max(RANK - len(kept), 0)
    scales, before, after = zip(*[NEUTRAL] * more, *(COORDINATES[coordinates](axis) for axis in kept), strict=True)
    if MODES[mode] == "NEAREST_NEIGHBOR":
        before = tuple(offset + moved for offset in before)
    value = use.make(
        use.view(0, (*(1,) * more, *(axis.size for axis in kept))),
        output_sizes=(*(1,) * more, *(axis.output for axis in kept)),
        interpolation_mode=MODES[mode],
        rounding_direction=direction if MODES[mode] == "NEAREST_NEIGHBOR" else "DECREASING",
        scales=scales,
        input_pixel_offsets=before,
        output_pixel_offsets=after,
        antialiased=bool(use.attribute("antialias")),
    )
    return use.out(value, sizes)


def _member(use: Use, name: str, default: str, known: Collection[str]) -> str:
    """An attribute that names one of several ways."""
    found = use.attribute(name) or default
    if found not in known:
        use.refuse("DML-ONNX-attribute-value", name=name, value=found, known=[*known])
    return str(found)


def _axes(use: Use) -> list[Axis]:
    """All axes; axes that the node does not name keep their sizes."""
    x = use[0]
    if 0 in x.sizes:
        use.refuse("DML-ONNX-empty", name=x.name)
    given = use.integers("axes")
    chosen = range(x.rank) if given is None else use.axes(given)
    wanted = [x.sizes[axis] for axis in chosen]
    regions = _regions(use, len(chosen))
    sizes = _numbers(use, "sizes", len(chosen))
    if sizes is not None:
        made = _stretched(use, wanted, [int(size) for size in sizes])
    else:
        scales = _scales(use, len(chosen))
        kept = zip(wanted, scales, regions, strict=True)
        made = [(floor(size * (end - start) * scale), scale) for size, scale, (start, end) in kept]
    axes = [Axis(size, size, 1.0) for size in x.sizes]
    for axis, (count, scale), region in zip(chosen, made, regions, strict=True):
        axes[axis] = Axis(x.sizes[axis], max(count, 0), scale, *region)
    return axes


def _scales(use: Use, count: int) -> Sequence[float]:
    found: Sequence[float] | None
    if "height_scale" in use.version.attributes:
        use.require_rank(4, 4)
        found = [1.0] * (count - 2) + [use.number(name) for name in ("height_scale", "width_scale")]
    else:
        found = _numbers(use, "scales", count)
    if found is None:
        use.refuse("DML-ONNX-node-input", input="scales")
    if not all(isfinite(one) and one > 0 for one in found):
        use.refuse("DML-ONNX-attribute-value", name="scales", value=[*found], known="positive numbers")
    return found


def _regions(use: Use, count: int) -> list[tuple[float, float]]:
    """The part of each axis that is read, which is the whole except in one mode."""
    found = None
    if use.attribute("coordinate_transformation_mode") == "tf_crop_and_resize":
        found = _numbers(use, "roi", 2 * count)
        if found is None:
            use.refuse("DML-ONNX-node-input", input="roi")
    if found is None:
        return [(0.0, 1.0)] * count
    if not all(map(isfinite, found)):
        use.refuse("DML-ONNX-attribute-value", name="roi", value=[*found], known="finite numbers")
    return [*zip(found[:count], found[count:], strict=True)]


def _stretched(use: Use, sizes: Sequence[int], wanted: Sequence[int]) -> list[tuple[int, float]]:
    """Sizes and scales of the output; a policy makes the scales equal."""
    policy = _member(use, "keep_aspect_ratio_policy", "stretch", POLICIES)
    scales = [count / size for count, size in zip(wanted, sizes, strict=True)]
    if policy == "stretch" or not scales:
        return [*zip(wanted, scales, strict=True)]
    scale = POLICIES[policy](scales)
    return [(floor(size * scale + 0.5), scale) for size in sizes]


def _numbers(use: Use, name: str, count: int) -> Sequence[float] | None:
    """So many numbers that are an attribute or an input; None where there are none."""
    found: Sequence[float] | None = use.attribute(name)
    for place, row in enumerate(use.version.inputs):
        if row.name == name and use.has(place):
            found = use.numbers(place).tolist()
    if not found:
        return None
    if len(found) != count:
        use.refuse("DML-ONNX-attribute-value", name=name, value=[*found], known=f"a list of length {count}")
    return found
