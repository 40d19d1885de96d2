"""window_scatter: columns are added where the window that they come from lies."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result, tensors_of
from dmlcy._families.given import Given
from dmlcy._families.windows import slide


class WindowScatter(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The sum of the elements that lie on each element of the image."""
        sizes = given.output_sizes
        window = slide(given, sizes)
        assert window.blocks is not None
        m = given.arithmetic
        source = m.of(given.input).reshape(*sizes[:2], math.prod(window.sizes), *window.blocks)
        sums = m.partial(m.of(np.zeros(sizes, given.input.dtype)))
        for row, positions, places in window.taps(window.blocks):
            total = m.add(sums[..., *places], source[:, :, row, *positions])
            sums = sums.astype(total.dtype, copy=False)  # integers of Python, once they do not fit 64 bits
            sums[..., *places] = total
        return Result(sums, sums)

    def operations(self, desc: OperatorDesc) -> int:
        """An addition of each element of the columns."""
        return tensors_of(desc)[0].element_count


FAMILY: Final = WindowScatter()
