"""window_scatter: columns are added where the window that they come from lies, the adjoint of window_gather.

``acc`` says, for each data type, in which one the elements are added: FLOAT16 in FLOAT32, all others in their own,
whole numbers modulo a power of two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import (
    C_TYPES,
    Definition,
    KernelTable,
    Looped,
    Picture,
    Place,
    Use,
    grid,
    inside,
    joined,
    shown,
)
from ..windows import Slide, Window, window_of

ACCUMULATORS = {"FLOAT64": "FLOAT64", "FLOAT32": "FLOAT32", "FLOAT16": "FLOAT32"}
ACCUMULATORS |= {f"{sign}INT{bits}": f"{sign}INT{bits}" for sign in ("", "U") for bits in (64, 32, 16, 8)}


@dataclass(frozen=True, slots=True)
class ScatterLoop:
    """The kernel of the data types whose elements are added alike."""

    name: str
    stored: str  # how blocks of elements are loaded and stored: `half`, or the C type
    ctype: str
    item: int
    acc: str
    widen: str  # makes of an element an accumulator; "": nothing does
    narrow: str
    way: str  # what becomes of an element that is the only addend: `whole`, `floats` or `halves`
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScatterKernel:
    """The run template's view: the fields and lets that play the roles."""

    window: Window
    blocks: str
    loops: tuple[ScatterLoop, ...]
    definition: Definition


class WindowScatter(Looped):
    """The family."""

    name = "window_scatter"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ScatterKernel:
        """Reads the roles, and in which data types elements are added."""
        kernel = KernelTable(operator, facts, diagnostics)
        result = ScatterKernel(
            window_of(kernel),
            kernel.role("blocks", "blocks", Kind.VECTOR),
            tuple(self.loops(kernel, facts)),
            kernel.definition,
        )
        kernel.finish()
        return result

    def loops(self, kernel: KernelTable, facts: Facts) -> list[ScatterLoop]:
        """One loop per way to add elements."""
        found: dict[str, ScatterLoop] = {}
        if kernel.table is None:
            return []
        for name, acc in kernel.accumulators(kernel.table, tuple(ACCUMULATORS), ACCUMULATORS):
            if acc != ACCUMULATORS[name]:
                kernel.error("acc", f"elements of {name} are added in {ACCUMULATORS[name]}, not in {acc}")
                continue
            dtype = facts.dtype(name)
            ctype = C_TYPES.get(name, f"uint{dtype.bits}_t")
            half = name == "FLOAT16"
            stored = "half" if half else ctype
            others = found[stored].dtypes if stored in found else ()
            found[stored] = ScatterLoop(
                f"scatter_{stored}",
                stored,
                ctype,
                dtype.bits // 8,
                C_TYPES.get(acc, ctype),
                "dmlcy_float_of_half" if half else "",
                "dmlcy_float_to_half" if half else "",
                "halves" if half else "floats" if name in C_TYPES else "whole",
                (*others, name),
            )
        return list(found.values())

    def needs(self, kernel: ScatterKernel) -> Sequence[str]:
        """The lets among the roles."""
        return (kernel.window.spatial, kernel.blocks)

    def pieces(self, kernel: Any) -> None:
        """Only the independent axes can be cut."""

    def module(self, kernels: Sequence[ScatterKernel]) -> Mapping[str, Any]:
        """One kernel per way to add elements; operators share them."""
        loops = {loop.stored: loop for kernel in kernels for loop in kernel.loops}
        return {"kernels": list(loops.values())}

    def picture(self, kernel: ScatterKernel, use: Use) -> Picture:
        """Each element of the output is the sum of those of the windows that lie on it."""
        slide = Slide(use, kernel.window)
        blocks = use.values(kernel.blocks, len(slide.window))
        volume, sizes = math.prod(slide.window), use.sizes(use.output)
        ones = (0,) * (len(use.sizes(use.input)) - 3)
        found: dict[Place, list[Place]] = {place: [] for place in grid(sizes)}
        for item, channel in grid(sizes[:2]):
            for tap in grid(slide.window):
                for position in grid(blocks):
                    place = (item, channel, *slide.place(position, tap))
                    if inside(place, sizes):
                        row = channel * volume + joined(tap, slide.window)
                        found[place].append((*ones, item, row, joined(position, blocks)))
        worked = {}
        for place, sources in found.items():
            terms = " + ".join(shown(use.element(use.input, at)) for at in sources)
            worked[place] = f"{terms or '0'} = {shown(use.element(use.output, place))}"
        caption = (
            "Each element of the output is the sum of the elements of the same colour, one of each window over it.",
        )
        return Picture(
            caption, {place: tuple(at) for place, at in found.items()}, {place: place for place in found}, worked=worked
        )


FAMILY = WindowScatter()
