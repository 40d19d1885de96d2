"""window_sum: means of integers under windows, and gradients of windows. [kernel] names what is summed, and roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Place, Use, grid, inside
from ..windows import Slide, Window, window_of

ROLES: Final = {
    "shares": {"counted": ("include_padding", Kind.BOOL)},
    "greatest": {"gradient": ("input_gradient", Kind.TENSOR)},
    "means": {
        "counted": ("include_padding", Kind.BOOL),
        "scale": ("input_scale", Kind.TENSOR),
        "zero": ("input_zero_point", Kind.TENSOR),
        "output_scale": ("output_scale", Kind.TENSOR),
        "output_zero": ("output_zero_point", Kind.TENSOR),
    },
}
"""The results of windows, and the roles for them."""
GRADIENTS: Final = ("shares", "greatest")


@dataclass(frozen=True, slots=True)
class SumKernel:
    """The run template's view: what is summed, and the tensors that the window slides over and has positions in."""

    of: str
    window: Window
    image: str
    positions: str
    roles: Mapping[str, str]
    definition: Definition


class WindowSum(Moved):
    """The family."""

    name = "window_sum"
    told: ClassVar = {
        "count": (Kind.INT, "the number of elements of the window that are not padding"),
        "beyond": (Kind.BOOL, "whether the window reaches past the end padding"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> SumKernel:
        """Reads what is summed, and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        of = ""
        if kernel.table is not None:
            of = kernel.table.choice("of", tuple(ROLES))
            if of in ROLES:
                kernel.word("of", of)
                for role, (name, kind) in ROLES[of].items():
                    kernel.role(role, name, kind)
        window = window_of(kernel)
        kernel.finish()
        roles = kernel.definition.roles
        first, result = operator.inputs[0].python, operator.outputs[0].python
        image, positions = (result, roles.get("gradient", first)) if of in GRADIENTS else (first, result)
        return SumKernel(of, window, image, positions, roles, kernel.definition)

    def needs(self, kernel: SumKernel) -> Sequence[str]:
        """The let among the roles."""
        return (kernel.window.spatial,)

    def pieces(self, kernel: SumKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: SumKernel, use: Use) -> Picture:
        """Each element is made of those under its window, or of the windows that give it their gradient."""
        slide, sizes = Slide(use, kernel.window), use.sizes(kernel.image)
        lead = len(sizes) - len(slide.window)
        taken = {
            place: [place[:lead] + slide.place(place[lead:], tap) for tap in grid(slide.window)]
            for place in grid(use.sizes(kernel.positions))
        }
        if kernel.of not in GRADIENTS:
            caption = "Each element of the output is the mean of the elements in the window of the same colour."
            return Picture((caption,), {place: tuple(read) for place, read in taken.items()}, {p: p for p in taken})
        given: dict[Place, list[Place]] = {place: [] for place in grid(sizes)}
        for place, read in taken.items():
            within = [at for at in read if inside(at, sizes)]
            if kernel.of == "greatest" and within:
                within = [max(within, key=lambda at: use.element(use.input, at))]
            for at in within:
                given[at].append(place)
        caption = "An element of the output is the sum of the shares that it gets from the windows of the same colour."
        if kernel.of == "greatest":
            caption = "The gradient of a window goes to its greatest element. The colour marks both."
        sources = {place: tuple(read) for place, read in given.items()}
        return Picture((caption,), sources, {p: p for p, read in sources.items() if read}, tensor=kernel.positions)


FAMILY = WindowSum()
