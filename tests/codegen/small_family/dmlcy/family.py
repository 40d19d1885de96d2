"""line: each element of a line becomes one element."""

from __future__ import annotations

from typing import Final

import numpy as np

from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given


class Line(Family):
    """The family."""

    def evaluate(self, given: Given, role: str | None) -> Result:
        """The value of each element."""
        return Result(np.array([given.value("value", x=x) for x in given.input.tolist()], given.input.dtype))


FAMILY: Final = Line()
