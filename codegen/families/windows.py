"""How a window slides, for the families that have windows: the roles in ``[kernel]``, and the places of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..expr.types import Kind
from .base import KernelTable, Place, Use


@dataclass(frozen=True, slots=True)
class Window:
    """The fields and lets that say how a window slides."""

    spatial: str
    size: str
    strides: str
    dilations: str | None  # None: 1
    start: str


def window_of(kernel: KernelTable) -> Window:
    """Reads the roles of a window."""
    return Window(
        spatial=kernel.role("spatial", "spatial", Kind.INT),
        size=kernel.role("window", "window_size", Kind.VECTOR),
        strides=kernel.role("strides", "strides", Kind.VECTOR),
        dilations=kernel.role("dilations", "dilations", Kind.VECTOR) if "dilations" in kernel.operator.scope else None,
        start=kernel.padding(),
    )


class Slide:
    """Where a window is at each of its positions."""

    def __init__(self, use: Use, window: Window) -> None:
        count = use.value(window.spatial)
        self.window = use.values(window.size, count)
        self.strides = use.values(window.strides, count)
        self.dilations = (1,) * count if window.dilations is None else use.values(window.dilations, count)
        self.start = use.values(window.start, count)

    def place(self, position: Sequence[int], tap: Sequence[int]) -> Place:
        """The place of an element of the window on the spatial axes of the input."""
        steps = zip(position, self.strides, tap, self.dilations, self.start, strict=True)
        return tuple(at * stride + element * dilation - before for at, stride, element, dilation, before in steps)
