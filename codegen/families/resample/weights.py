"""The picture of elements between those of a tensor: how much each of these counts."""

from __future__ import annotations

import math
import struct
from itertools import product
from typing import Any, Final

from ..base import Picture, Place, Use, shown

Weights = dict[int, float]
"""How much each element along an axis counts for one place."""
MADE: Final = "Each element of the output is computed from the elements of the same colour."


def single(number: float) -> float:
    """A number rounded to FLOAT32."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def pictured(kernel: Any, use: Use) -> Picture:
    """The elements that each one is made of, with their weights: the product of those along each axis."""
    sizes, counts = use.sizes(use.input), use.sizes(use.output)
    if kernel.gradient:
        sizes, counts = counts, sizes
    axes = [along(kernel, use, axis, size, count) for axis, (size, count) in enumerate(zip(sizes, counts, strict=True))]
    found: dict[Place, list[tuple[Place, float]]] = {}
    for place in product(*map(range, counts)):
        for read in product(*(axes[axis][at].items() for axis, at in enumerate(place))):
            other, weight = tuple(at for at, _ in read), math.prod(one for _, one in read)
            to, source = (other, place) if kernel.gradient else (place, other)
            found.setdefault(to, []).append((source, weight))
    every = [*product(*map(range, use.sizes(use.output)))]
    sources = {place: tuple(source for source, _ in found.get(place, ())) for place in every}
    alone = all(len(read) == 1 for read in sources.values())  # copies of one element are shown together
    return Picture(
        ("A colour marks an element and its copies." if alone else MADE,),
        sources,
        {place: sources[place] if alone else place for place in every if place in found},
        worked={place: worked(use, place, found[place]) for place in every if len(found.get(place, ())) > 1},
    )


def worked(use: Use, place: Place, terms: list[tuple[Place, float]]) -> str:
    """The mean or the sum that an element is."""
    said = []
    for source, weight in terms:
        element = shown(use.element(use.input, source))
        said.append(element if weight == 1 else f"{shown(round(weight, 6))} * {element}")
    return f"{' + '.join(said)} = {shown(use.element(use.output, place))}"


def along(kernel: Any, use: Use, axis: int, size: int, count: int) -> list[Weights]:
    """The weights of the elements along an axis for each of the places."""
    roles = kernel.definition.roles
    linear = use.value(roles["mode"]).name == "LINEAR"
    if "factors" in roles:
        factor = float(use.values(roles["factors"], axis + 1)[axis])
        places = [(number + 0.5) / factor - 0.5 for number in range(count)]
    else:
        factor = single(use.value(roles["scales"])[axis])
        before, after = (
            single(use.value(roles[role])[axis]) if role in roles else default
            for role, default in (("before", 0.5), ("after", -0.5))
        )
        places = [single(single(single(number - after) / factor) - before) for number in range(count)]
    if linear and "smooth" in roles and use.value(roles["smooth"]) and factor < 0.5:
        return [smooth(place, factor, size) for place in places]
    rounding = use.value(roles["rounding"]).name if "rounding" in roles else kernel.tie
    return [between(place, size) if linear else {nearest(place, size, rounding): 1.0} for place in places]


def between(place: float, size: int) -> Weights:
    """The two elements beside a place; beyond an end, the one there."""
    place = min(max(place, 0), size - 1)
    low = math.floor(place)
    rest = place - low
    return {low: 1 - rest} | ({low + 1: rest} if rest else {})


def nearest(place: float, size: int, rounding: str) -> int:
    """The element that is taken for a place."""
    place = min(max(place, 0), size - 1)
    low = math.floor(place)
    up = {"INCREASING": 0, "DECREASING": 1}.get(rounding, 0.5)
    rest = place - low
    return min(low + (rest > up or (rounding == "higher" and rest == up)), size - 1)


def smooth(place: float, factor: float, size: int) -> Weights:
    """All elements that are nearer than 1 / factor; the ends are repeated."""
    found: Weights = {}
    for at in range(math.floor(place - 1 / factor), math.ceil(place + 1 / factor) + 1):
        weight = 1 - factor * abs(place - at)
        if weight > 0:
            end = min(max(at, 0), size - 1)
            found[end] = found.get(end, 0) + weight
    total = sum(found.values())
    return {at: weight / total for at, weight in found.items()}
