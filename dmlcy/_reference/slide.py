"""How a window slides over an input, for one desc."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dmlcy._reference.given import Given


@dataclass(frozen=True, slots=True)
class Slide:
    """Along each spatial axis. ``blocks``: positions, where the spec has a let for them."""

    limits: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start: tuple[int, ...]
    blocks: tuple[int, ...] | None

    def inside(self, position: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The elements of the window that are not padding, row-major: their number in it, their place in the input."""
        axes = []
        for i, step, before, size, dilation, limit in zip(
            position, self.strides, self.start, self.sizes, self.dilations, self.limits, strict=True
        ):
            first = i * step - before
            taps = range(max(0, -(first // dilation)), min(size, (limit - 1 - first) // dilation + 1))
            axes.append([(tap, first + tap * dilation) for tap in taps])
        for axis_taps in itertools.product(*axes):
            number = 0
            for size, (tap, _) in zip(self.sizes, axis_taps, strict=True):
                number = number * size + tap
            yield number, tuple(place for _, place in axis_taps)


def slide(given: Given, image: tuple[int, ...]) -> Slide:
    """The window of an operator that has one; ``image``: the sizes of what it slides over, its last axes."""
    roles = given.told.roles
    count = given.formulas.number(roles["spatial"])
    return Slide(
        image[-count:],
        given.numbers(roles["window"], count),
        given.numbers(roles["strides"], count),
        given.numbers(roles["dilations"], count) if "dilations" in roles else (1,) * count,
        given.numbers(roles["start"], count),
        given.numbers(roles["blocks"], count) if "blocks" in roles else None,
    )
