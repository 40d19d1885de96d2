"""Folding of nodes that move elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.folding.reading import bounded
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array

MODES: Final[tuple[Literal["constant", "edge", "reflect", "wrap"], ...]] = ("constant", "edge", "reflect", "wrap")
"""How NumPy pads, and ONNX."""


def _view(sizes: Callable[[Use], tuple[int, ...]]) -> Callable[[Use], Array]:
    """The same elements in other sizes."""

    def fold(use: Use) -> Array:
        made = bounded(use, sizes(use))
        if np.prod(made, dtype=object) != np.prod(use[0].sizes, dtype=object):
            use.refuse("DML-ONNX-reshape", sizes=[*use[0].sizes], wanted=[*made])
        return use.constant(0).reshape(made)

    return fold


flatten = _view(shapes.flattened)
identity = _view(shapes.same)
reshape = _view(shapes.reshaped)
squeeze = _view(shapes.squeezed)
unsqueeze = _view(shapes.unsqueezed)


def transpose(use: Use) -> Array:
    bounded(use, use[0].sizes)
    return use.constant(0).transpose(shapes.permutation(use))


def expand(use: Use) -> Array:
    return np.broadcast_to(use.constant(0), bounded(use, shapes.expanded(use))).copy()


def concat(use: Use) -> Array:
    axis, sizes = shapes.joined(use)
    bounded(use, sizes)
    return np.concatenate([use.constant(place) for place in range(len(use.inputs))], axis)


def cut(use: Use) -> Array:
    """Slice."""
    places = shapes.windows(use)
    bounded(use, [len(one) for one in places])
    return use.constant(0)[tuple(map(_slice, places))].copy()


def _slice(places: range) -> slice:
    if not places:
        return slice(0, 0)
    end = places[-1] + places.step
    return slice(places.start, None if end < 0 else end, places.step)


def split(use: Use) -> tuple[Array, ...]:
    axis, lengths = shapes.parts(use)
    bounded(use, use[0].sizes)
    return tuple(np.split(use.constant(0), np.cumsum(lengths[:-1], dtype=int), axis))


def tile(use: Use) -> Array:
    repeats = shapes.repeats(use)
    bounded(use, [size * count for size, count in zip(use[0].sizes, repeats, strict=True)])
    return np.tile(use.constant(0), repeats)


def pad(use: Use) -> Array:
    """Negative paddings remove elements."""
    given, added, sizes = use.text("mode"), shapes.paddings(use), use[0].sizes
    mode = next((one for one in MODES if one == given), None)
    if mode is None:
        use.refuse("DML-ONNX-attribute-value", name="mode", value=given, known=[*MODES])
    bounded(use, shapes.padded(sizes, added))
    kept = tuple(
        slice(max(-before, 0), size + min(after, 0)) for size, (before, after) in zip(sizes, added, strict=True)
    )
    array, value = use.constant(0)[kept], shapes.padding_value(use)
    widths = [(max(before, 0), max(after, 0)) for before, after in added]
    if not any(map(any, widths)):
        return array
    if mode != "constant":
        if 0 in array.shape:
            use.refuse("DML-ONNX-empty", name=use[0].name)
        return np.pad(array, widths, mode)
    element = "" if value is None and array.dtype == object else value or 0
    return np.pad(array, widths, constant_values=np.asarray(element).astype(array.dtype).item())


def trilu(use: Use) -> Array:
    sizes = bounded(use, shapes.matrices(use))
    k = use.single(1, "iu") if use.has(1) else 0
    k = max(-sizes[-2] - 1, min(sizes[-1] + 1, k))
    return (np.triu if use.integer("upper") else np.tril)(use.constant(0), k)
