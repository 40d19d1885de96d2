"""window_reduce: each position of a window becomes one element."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from dmlcy._arithmetic.counted import element
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Operator
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given
from dmlcy._families.operations import along, sizes_only
from dmlcy._families.pieces import Cut, Cutting
from dmlcy._families.window_reduce.maxima import indices, maxima
from dmlcy._families.window_reduce.sums import sums
from dmlcy._families.windows import WindowRoles, cut_positions, roles_of, slide
from dmlcy._types import Array, Number


class WindowReduce(Family):
    """The family."""

    of_a_part = 16

    def evaluate(self, given: Given, output: str) -> Result:
        """``finish`` of the sum of each window, its maximum, or the index of the maximum."""
        if given.told.words["reduction"] == "sum":
            return sums(given)
        return indices(given) if output == given.told.roles.get("indices") else maxima(given)

    def window(self, operator: Operator) -> WindowRoles:
        """The output has one element for each position."""
        return roles_of(operator)

    def operations(self, desc: OperatorDesc) -> int:
        """For each window and each of its elements, padding too, ``step`` or a comparison; for each one ``finish``."""
        given = sizes_only(desc)
        sizes = given.output_sizes
        volume = math.prod(slide(given, given.input.shape).sizes)
        if given.told.words["reduction"] != "sum":
            return volume * math.prod(sizes)
        acc = element("acc", sizes)
        finish = along(given, "finish", acc=acc, count=volume, volume=volume)
        return volume * along(given, "step", acc=acc, x=element("x", sizes)) + finish

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Number]]:
        """``count``: elements of the window that are no padding; ``volume``: all of them; ``beyond``: it reaches past
        the padding."""
        window = slide(given, given.input.shape)
        positions = given.output_sizes[-len(window.sizes) :]
        return {
            "count": lambda: window.counts(positions),
            "volume": lambda: math.prod(window.sizes),
            "beyond": lambda: window.beyond(positions),
        }

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The windows that have a marked element."""
        window = slide(given, given.input.shape)
        return window.touched(marks, given.output_sizes[-len(window.sizes) :])

    def cuts(self, use: Cutting) -> Iterator[Cut]:
        """The spatial axes."""
        yield from cut_positions(use)


FAMILY: Final = WindowReduce()
