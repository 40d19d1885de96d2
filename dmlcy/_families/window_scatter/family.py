"""window_scatter: columns are added where the window that they come from lies."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dmlcy._families.base import Family, Result
from dmlcy._families.exact import Array, exact, grid
from dmlcy._families.given import Given
from dmlcy._families.windows import slide


def _plus(first: Any, second: Any) -> Any:
    """A sum; an infinity or NaN, which is a float, is not added to a fraction that no float can hold."""
    if isinstance(first, float) == isinstance(second, float):
        return first + second
    return first if isinstance(first, float) else second


PLUS: Final = np.frompyfunc(_plus, 2, 1)


class WindowScatter(Family):
    """The family."""

    def evaluate(self, given: Given, role: str | None) -> Result:
        """The sum of the elements that lie on each element of the image."""
        sizes = given.output_sizes
        window = slide(given, sizes)
        assert window.blocks is not None
        taps = math.prod(window.sizes)
        source = exact(given.input).reshape(*sizes[:2], taps, math.prod(window.blocks))
        sums: Array = np.zeros(sizes, object)
        for column, position in enumerate(grid(window.blocks)):
            for row, place in window.inside(position):
                under: Any = (slice(None), slice(None), *place)
                with np.errstate(invalid="ignore"):  # of infinities of both signs
                    sums[under] = PLUS(sums[under], source[:, :, row, column])
        return Result(sums, sums)


FAMILY: Final = WindowScatter()
