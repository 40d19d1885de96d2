"""window_gather: each position of a window becomes a column; the operator only moves data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import (
    Definition,
    KernelTable,
    Moved,
    Picture,
    Place,
    Use,
    grid,
    inside,
    spread,
)
from ..windows import Slide, Window, window_of


@dataclass(frozen=True, slots=True)
class GatherKernel:
    """The run template's view: the fields and lets that play the roles."""

    window: Window
    blocks: str
    definition: Definition


class WindowGather(Moved):
    """The family."""

    name = "window_gather"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> GatherKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        result = GatherKernel(
            window_of(kernel),
            kernel.role("blocks", "blocks", Kind.VECTOR),
            kernel.definition,
        )
        kernel.finish()
        return result

    def needs(self, kernel: GatherKernel) -> Sequence[str]:
        """The lets among the roles."""
        return (kernel.window.spatial, kernel.blocks)

    def pieces(self, kernel: GatherKernel) -> str:
        """Positions are row-major along one axis of the output."""
        return (
            "The first spatial axis can be cut too: neighbouring pieces overlap by the elements that a window spans. "
            "Chunks along the other spatial axes are merged."
        )

    def picture(self, kernel: GatherKernel, use: Use) -> Picture:
        """Each element of a column is what one element of the window covers; a column is shown as one."""
        slide = Slide(use, kernel.window)
        blocks = use.values(kernel.blocks, len(slide.window))
        volume = math.prod(slide.window)
        sources: dict[Place, tuple[Place, ...]] = {}
        for place in grid(use.sizes(use.output)):
            *_, item, row, column = place
            channel, tap = divmod(row, volume)
            under = slide.place(spread(column, blocks), spread(tap, slide.window))
            sources[place] = ((item, channel, *under),)
        caption = ("The elements of the window at each position, read row by row, become a column of the output.",)
        sizes = use.sizes(use.input)
        outside = frozenset(place for place, (at,) in sources.items() if not inside(at, sizes))
        keys = {place: (place[-3], place[-1]) for place in sources}
        return Picture(caption, sources, keys, padding=0, outside=outside)


FAMILY = WindowGather()
