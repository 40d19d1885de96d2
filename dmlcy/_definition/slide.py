"""How a window slides over an input, for one desc."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dmlcy._definition.given import Given


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


def slide(given: Given) -> Slide:
    """The window of an operator that has one."""
    window = given.window
    assert window is not None
    count = given.formulas.number(window.spatial)
    return Slide(
        given.input.shape[-count:],
        given.numbers(window.window, count),
        given.numbers(window.strides, count),
        given.numbers(window.dilations, count) if window.dilations else (1,) * count,
        given.numbers(window.start, count),
        given.numbers(window.blocks, count) if window.blocks else None,
    )
