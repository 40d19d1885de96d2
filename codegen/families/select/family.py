"""select: some elements of the input, and where they are: ``choose`` says which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Use, grid

FIRST, NONZERO = "first", "nonzero"
ASCENDING = "INCREASING"
"""The member of a direction that puts the least elements first."""


@dataclass(frozen=True, slots=True)
class SelectKernel:
    """The run template's view: what is chosen, the tensors in the order of the loops, and what else these take."""

    choose: str
    tensors: tuple[str, ...]
    given: tuple[str, ...]
    definition: Definition


class Select(Moved):
    """The family."""

    name = "select"
    told: ClassVar = {
        "row": (Kind.INT, "the index of the row of coordinates"),
        "found": (Kind.INT, "the number of elements that are not 0"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> SelectKernel:
        """Reads what is chosen, and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        choose, tensors, given = NONZERO, [operator.inputs[0].python], []
        if table is not None:
            choose = kernel.word("choose", table.choice("choose", (FIRST, NONZERO)))
            if choose == FIRST:
                axis = kernel.role("axis", "axis", Kind.INT)
                tensors.append(kernel.role("values", "output_value", Kind.TENSOR))
                tensors.append(kernel.role("places", "output_index", Kind.TENSOR))
                given = [f"a.{axis}", "False"]
                if table.has("direction"):
                    direction = kernel.role("direction", "", Kind.ENUM)
                    given[1] = f"a.{direction} == {kernel.members(direction).get(ASCENDING)}"
            else:
                tensors.append(kernel.role("count", "output_count", Kind.TENSOR))
                tensors.append(kernel.role("places", "output_coordinates", Kind.TENSOR))
            kernel.finish()
        return SelectKernel(choose, tuple(tensors), tuple(given), kernel.definition)

    def needs(self, kernel: SelectKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: SelectKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: SelectKernel, use: Use) -> Picture:
        """Each element of the first output is the one whose place the other output has; or places are listed."""
        roles = kernel.definition.roles
        if kernel.choose != FIRST:
            return listed(kernel, use)
        axis = use.value(roles["axis"])
        sources = {
            place: ((*place[:axis], int(use.element(roles["places"], place)), *place[axis + 1 :]),)
            for place in grid(use.sizes(use.output))
        }
        caption = "A colour marks an element that is taken, and its place in the output."
        return Picture((caption,), sources, sources)


def listed(kernel: SelectKernel, use: Use) -> Picture:
    """Each element that is not 0 has a row with its place."""
    roles = kernel.definition.roles
    coordinates, count = roles["places"], roles["count"]
    found = (place for place in grid(use.sizes(use.input)) if use.element(use.input, place) != 0)
    of_row = dict(enumerate(found))
    keys = {place: place[-2] for place in grid(use.sizes(coordinates)) if place[-2] in of_row}
    captions = (
        "A colour marks an element that is not 0, and the row that has its place.",
        "The rows without a colour are not defined.",
    )
    places = {place: (of_row[row],) for place, row in keys.items()}
    return Picture(captions, places, keys, output=coordinates, beside={count: {}})


FAMILY = Select()
