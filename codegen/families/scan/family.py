"""scan: each element becomes the reduction of all elements up to it along an axis; ``reduction`` says which one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, Evaluated, KernelTable, Moved, Picture, Place, Use, grid, lines, shown

REDUCTIONS = ("sum", "product")


@dataclass(frozen=True, slots=True)
class ScanKernel:
    """The run template's view: the roles, and what the runtime is told."""

    axis: str
    exclusive: str
    decreasing: str
    product: bool
    definition: Definition


class Scan(Moved, Evaluated):
    """The family."""

    name = "scan"
    told: ClassVar = {
        "overflowed": (
            Kind.BOOL,
            "whether the running result is infinite before or at the element, although no element so far is infinite",
        ),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ScanKernel:
        """Reads the reduction and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        reduction = "sum" if kernel.table is None else kernel.table.choice("reduction", REDUCTIONS)
        kernel.word("reduction", reduction)
        axis = kernel.role("axis", "axis", Kind.INT)
        direction = kernel.role("direction", "axis_direction", Kind.ENUM)
        exclusive = kernel.role("exclusive", "exclusive", Kind.BOOL)
        kernel.finish()
        decreasing = f"a.{direction} == {kernel.members(direction).get('DECREASING', '0')}"
        return ScanKernel(axis, exclusive, decreasing, reduction == "product", kernel.definition)

    def picture(self, kernel: ScanKernel, use: Use) -> Picture:
        """Each element of the output is made of those up to it."""
        axis, exclusive = use.value(kernel.axis), use.value(kernel.exclusive)
        sign = -1 if use.value(kernel.definition.roles["direction"]).name == "DECREASING" else 1
        between = " * " if kernel.product else " + "
        sources: dict[Place, tuple[Place, ...]] = {}
        worked: dict[Place, str] = {}
        for line in lines(grid(use.sizes(use.output)), (axis,)).values():
            order = line[::sign]
            for number, place in enumerate(order):
                sources[place] = tuple(order[: number if exclusive else number + 1])
                terms = [shown(use.element(use.input, at)) for at in sources[place]]
                result = shown(use.element(use.output, place))
                worked[place] = f"{between.join(terms)} = {result}" if terms else f"nothing gives {result}"
        caption = ["Each element of the output is computed from the elements up to its place."]
        what = "product" if kernel.product else "sum"
        caption += [f"An exclusive {what} leaves out the element at its place."] if exclusive else []
        return Picture(tuple(caption), sources, {place: place for place in sources}, worked=worked)

    def needs(self, kernel: ScanKernel) -> tuple[str, ...]:
        """No let."""
        return ()


FAMILY = Scan()
