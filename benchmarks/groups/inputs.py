"""The inputs of a cell: arrays of drawn numbers; or of zeros that no memory is touched for, to see sizes only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from benchmarks.cells import Array
from benchmarks.groups.model import Cell

PERIOD = (1 << 20) - 3  # drawn numbers repeat after so many, so that large tensors cost little to make
Sizes = Sequence[int]


class Drawn:
    """Makers of arrays, by the names that expressions use. Each maker takes the data type of the cell unless told."""

    def __init__(self, dtype: str, *, real: bool) -> None:
        self.dtype, self.real = np.dtype(dtype), real
        self.random = np.random.default_rng(0)

    def _made(self, sizes: Sizes, dtype: str | None, draw: Callable[[int], Array]) -> Array:
        kind = np.dtype(dtype) if dtype else self.dtype
        if not self.real:
            return np.zeros(tuple(sizes), kind)
        return np.resize(draw(min(prod(sizes), PERIOD)).astype(kind), tuple(sizes))

    def normal(self, *sizes: int, scale: float = 1.0, dtype: str | None = None) -> Array:
        """Normally distributed."""
        return self._made(sizes, dtype, lambda count: scale * self.random.standard_normal(count))

    def uniform(self, low: float, high: float, *sizes: int, dtype: str | None = None) -> Array:
        """Between two numbers."""
        return self._made(sizes, dtype, lambda count: self.random.uniform(low, high, count))

    def whole(self, low: int, high: int, *sizes: int, dtype: str | None = None) -> Array:
        """Whole numbers from the first one up to, and without, the second one."""
        return self._made(sizes, dtype, lambda count: self.random.integers(low, high, count))

    def bits(self, *sizes: int, dtype: str | None = None) -> Array:
        """Whole numbers of the whole range of the data type."""
        kind = np.dtype(dtype) if dtype else self.dtype
        limits = np.iinfo(kind)
        return self._made(
            sizes,
            kind.name,
            lambda count: self.random.integers(limits.min, limits.max, count, kind.type, endpoint=True),
        )

    def full(self, value: float, *sizes: int, dtype: str | None = None) -> Array:
        """One number everywhere."""
        return self._made(sizes, dtype, lambda count: np.full(count, value))

    def permuted(self, count: int, *sizes: int, dtype: str | None = None) -> Array:
        """The numbers below a count in no order, as often as they fit; each once where the sizes have as many."""
        return self._made(sizes, dtype, lambda _: self.random.permutation(count))


def inputs_of(cell: Cell, *, real: bool = True) -> dict[str, Array]:
    """The inputs by name. An expression may use those before it."""
    drawn = Drawn(cell.dtype, real=real)
    names: dict[str, Any] = {name: getattr(drawn, name) for name in dir(drawn) if not name.startswith("_")}
    names |= {"np": np, "sizes": cell.sizes, "dtype": cell.dtype}
    return evaluated(cell.inputs, names)


def evaluated(expressions: Mapping[str, str], names: dict[str, Any]) -> dict[str, Array]:
    """The values of expressions, each over the names and the values before it."""
    found: dict[str, Array] = {}
    for name, text in expressions.items():
        found[name] = eval(text, {**names, **found})
    return found
