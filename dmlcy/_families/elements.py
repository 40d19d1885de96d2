"""What references of families share: indices of tensors, and maxima of elements as they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any


def grid(sizes: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a tensor, in row-major order."""
    return itertools.product(*map(range, sizes))


def largest(values: list[Any]) -> Any:
    """The maximum: numbers before NaN, +0 before -0."""

    def key(at: int) -> tuple[object, ...]:
        value = values[at]
        return (False,) if math.isnan(value) else (True, value, math.copysign(1, value))

    return values[max(range(len(values)), key=key)]
