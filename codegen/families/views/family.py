"""views: each element of an output is an element of an input, at a place that sizes and attributes say.

One of these keys says how. ``join`` and ``split`` are the axis along which tensors lie one after the other. ``repeats``
says how often the input is repeated along each axis, ``start`` and ``step`` the places along each axis.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import Definition, KernelTable, Moved, Picture, Place, Region, Use, grid

WAYS: Final = {
    "join": {"join": Kind.INT},
    "split": {"split": Kind.INT},
    "repeats": {"repeats": Kind.VECTOR},
    "start": {"start": Kind.VECTOR, "step": Kind.VECTOR},
}
"""By the key that tells the ways apart, the roles of each."""
SIDES: Final = {"input": "slice", "output": "place"}
"""By the tensor that places are in, the move."""


@dataclass(frozen=True, slots=True)
class ViewsKernel:
    """The run template's view: the move, its tensors, and the fields and lets that play the roles."""

    move: str
    input: str
    output: str
    roles: tuple[str, ...]
    lets: tuple[str, ...]
    definition: Definition


class Views(Moved):
    """The family."""

    name = "views"
    takes_arrays = True

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ViewsKernel:
        """Reads the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        way = None if table is None else next((key for key in WAYS if table.has(key)), None)
        roles: list[str] = []
        move = ""
        if table is not None and way is None:
            kernel.error("join", f"the family {self.name} needs one of these keys: {', '.join(WAYS)}")
        elif table is not None and way is not None:
            roles = [kernel.role(role, role, kind) for role, kind in WAYS[way].items()]
            move = {"repeats": "tile"}.get(way, way)
            if "step" in WAYS[way]:
                move = SIDES.get(kernel.word("places", table.choice("places", (*SIDES,))), "")
            kernel.finish()
        lets = {let.name for let in operator.lets}
        return ViewsKernel(
            move,
            operator.inputs[0].python,
            operator.outputs[0].python,
            tuple(roles),
            tuple(role for role in roles if role in lets),
            kernel.definition,
        )

    def needs(self, kernel: ViewsKernel) -> Sequence[str]:
        """The lets among the roles."""
        return kernel.lets

    def pieces(self, kernel: ViewsKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: ViewsKernel, use: Use) -> Picture:
        """Each element of the output is one of an input, or none where none goes."""
        if kernel.move == "join":
            return joined(kernel, use)
        if kernel.move == "split":
            return cut(kernel, use)
        inner, places = use.sizes(use.input), [*grid(use.sizes(use.output))]
        if kernel.move == "tile":
            sources = {place: (tuple(at % size for at, size in zip(place, inner, strict=True)),) for place in places}
            frame = Region("", {use.output: ((0,) * len(inner), tuple(size - 1 for size in inner))})
            caption = ("A colour marks one element of the input and its copies.", "The frame is around the first copy.")
            return Picture(caption, sources, sources, regions=(frame,))
        start, step = (use.values(role, len(inner)) for role in kernel.roles)

        def along(place: Place) -> Place:
            return tuple(first + at * by for first, at, by in zip(start, place, step, strict=True))

        if kernel.move == "slice":
            taken = {place: (along(place),) for place in places}
            return Picture(("A colour marks an element of the input that is taken.",), taken, taken)
        goes = {along(place): (place,) for place in grid(inner)}
        return Picture(
            ("A colour marks an element of the input and its place. The other elements are 0.",),
            {place: goes.get(place, ()) for place in places},
            goes,
        )


def joined(kernel: ViewsKernel, use: Use) -> Picture:
    """Each input has a colour, and so have its elements in the output."""
    axis, before = use.value(kernel.roles[0]), 0
    keys: dict[Place, Hashable] = {}
    sources: dict[Place, tuple[Place, ...]] = {}
    beside: dict[str, dict[Hashable, tuple[Place, ...]]] = {}
    first, *rest = (f"{use.input}[{number}]" for number in range(len(use.value(use.input))))
    for number, name in enumerate((first, *rest)):
        sizes = use.sizes(name)
        for place in grid(sizes):
            to = (*place[:axis], place[axis] + before, *place[axis + 1 :])
            keys[to], sources[to] = number, () if number else (place,)
        if number:
            beside[name] = {number: tuple(grid(sizes))}
        before += sizes[axis]
    return Picture(
        ("A colour marks an input and its elements in the output.",), sources, keys, tensor=first, beside=beside
    )


def cut(kernel: ViewsKernel, use: Use) -> Picture:
    """Each output has a colour, and so have its elements in the input."""
    axis, before = use.value(kernel.roles[0]), 0
    names = [f"{use.output}[{number}]" for number in range(len(use.value(use.output)))]
    beside: dict[str, dict[Hashable, tuple[Place, ...]]] = {use.input: {}}
    for number, name in enumerate(names):
        beside[name] = {number: (*grid(use.sizes(name)),)}
        moved = ((*place[:axis], place[axis] + before, *place[axis + 1 :]) for place in beside[name][number])
        beside[use.input][number] = (*moved,)
        before += use.sizes(name)[axis]
    of_first = beside.pop(names[0])[0]
    return Picture(
        ("A colour marks an output and its elements in the input.",),
        {place: (source,) for place, source in zip(of_first, beside[use.input][0], strict=True)},
        dict.fromkeys(of_first, 0),
        tensor=use.input,
        output=names[0],
        beside=beside,
    )


FAMILY = Views()
