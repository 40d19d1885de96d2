"""The picture of an operator that has indices: which elements these take, or where elements go."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..base import Picture, Place, Use, grid, spread


@dataclass(frozen=True, slots=True)
class Step:
    """An element that moves, by its places in its tensor and in the output.

    ``said``: the places of the indices that say so. ``key``: that of the elements that are shown together.
    """

    source: Place
    target: Place
    said: tuple[Place, ...]
    key: Hashable


class Indexed:
    """The tensors and roles of a use. ``moved``: the tensor whose elements move."""

    def __init__(self, kernel: Any, use: Use) -> None:
        roles = kernel.definition.roles
        self.use, self.roles, self.indices = use, roles, roles["indices"]
        self.moved = roles.get("updates", roles["input"])
        self.gives = "updates" in roles
        self.inner, self.own = use.sizes(roles["input"]), use.sizes(self.indices)
        self.source, self.outer = use.sizes(self.moved), use.sizes(use.output)

    def role(self, name: str) -> int:
        """The value of an attribute or a let."""
        return int(self.use.value(self.roles[name]))

    def index(self, place: Place, size: int) -> int:
        """The index at a place; a negative one counts from the end."""
        found = int(self.use.element(self.indices, place))
        return found + size if found < 0 else found


def pictured(by: str, kernel: Any, use: Use) -> Picture:
    """The picture of a use, in which indices are what ``by`` says."""
    indexed = Indexed(kernel, use)
    steps = {step.target: step for step in WAYS[by](indexed)}  # of several for one place the last one stays
    sources = {place: (steps[place].source,) if place in steps else () for place in grid(indexed.outer)}
    said: dict[Hashable, dict[Place, None]] = {}
    for step in steps.values():
        said.setdefault(step.key, {}).update(dict.fromkeys(step.said))
    return Picture(
        CAPTIONS[indexed.gives or by == "places"] if by != "lengths" else REVERSED,
        sources,
        {place: step.key for place, step in steps.items()},
        tensor=indexed.moved,
        beside={indexed.indices: {key: tuple(places) for key, places in said.items()}},
    )


CAPTIONS: Final = {
    False: ("A colour marks an index, the elements that it takes, and their places in the output.",),
    True: ("A colour marks elements, the index that says where they go, and their places in the output.",),
}
REVERSED: Final = ("A colour marks an element that moves, and its new place.",)


def slices(indexed: Indexed) -> Iterator[Step]:
    """A slice of an axis for each index."""
    axis, inner, own = indexed.role("axis"), indexed.inner, indexed.own
    count = indexed.role("count")
    lead, counted = (0,) * (len(own) - count), own[len(own) - count :]
    lines = (*inner[:axis], *counted, *inner[axis + 1 :])
    for number, place in enumerate(grid(lines)):
        said = (*lead, *place[axis : axis + count])
        at = indexed.index(said, inner[axis])
        yield Step((*place[:axis], at, *place[axis + count :]), spread(number, indexed.outer), (said,), at)


def elements(indexed: Indexed) -> Iterator[Step]:
    """An element for each index, whose other coordinates are its own."""
    axis = indexed.role("axis")
    for place in grid(indexed.own):
        other = (*place[:axis], indexed.index(place, indexed.inner[axis]), *place[axis + 1 :])
        source, target = (place, other) if indexed.gives else (other, place)
        yield Step(source, target, (place,), source)


def tuples(indexed: Indexed) -> Iterator[Step]:
    """An element or a block for each tuple of coordinates."""
    own = indexed.own[len(indexed.own) - indexed.role("indices_count") :]
    counted = indexed.inner[len(indexed.inner) - indexed.role("input_count") :]
    batches, rows, reach = indexed.role("batches"), own[:-1], own[-1]
    lead = (0,) * (len(indexed.own) - len(own))
    before = (0,) * (len(indexed.inner) - len(counted))
    block = counted[batches + reach :]
    for number, (row, rest) in enumerate((row, at) for row in grid(rows) for at in grid(block)):
        said = tuple((*lead, *row, place) for place in range(reach))
        at = (indexed.index(place, size) for place, size in zip(said, counted[batches:], strict=False))
        other = (*before, *row[:batches], *at, *rest)
        if indexed.gives:
            yield Step(spread(number, indexed.source), other, said, row)
        else:
            yield Step(other, spread(number, indexed.outer), said, other[: len(other) - len(block)])


def places(indexed: Indexed) -> Iterator[Step]:
    """The number of the place in the output of each element."""
    for place in grid(indexed.own):
        number = indexed.index(place, math.prod(indexed.outer))
        yield Step(place, spread(number, indexed.outer), (place,), place)


def lengths(indexed: Indexed) -> Iterator[Step]:
    """So many elements of a line are reversed."""
    axis = indexed.role("axis")
    for place in grid(indexed.outer):
        end = min(indexed.index((*place[:axis], 0, *place[axis + 1 :]), 0), indexed.inner[axis])
        at = place[axis]
        source = (*place[:axis], end - 1 - at if at < end else at, *place[axis + 1 :])
        yield Step(source, place, (), source)


WAYS: Final[dict[str, Callable[[Indexed], Iterator[Step]]]] = {
    "slices": slices, "elements": elements, "tuples": tuples, "places": places, "lengths": lengths,
}  # fmt: skip
