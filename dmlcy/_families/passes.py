"""Passes over the elements of tensors: sums, extremes and the like of an expression, which may read earlier ones.

The tensors may be in parts, so that only the numbers of one part are needed at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._arithmetic import Arithmetic, scaled
from dmlcy._families.blocks import At, sizes_of
from dmlcy._types import Array, Number

VALUE: Final = "value"
MEAN: Final = "mean"
PRODUCT: Final = "product"

Expression = Callable[[Mapping[str, Number]], Number]
"""Numbers of one part, over names."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The result of a pass over an expression: ``kind`` is a method of the arithmetic, a mean, or nothing (a value)."""

    name: str
    kind: str
    expression: Expression


class Passes:
    """Passes over tensors of these sizes, reduced along some axes, in parts."""

    def __init__(
        self,
        m: Arithmetic,
        passes: Sequence[Pass],
        elements: Callable[[At], Mapping[str, Number]],
        sizes: Sequence[int],
        axes: Iterable[int],
        parts: Sequence[At],
    ) -> None:
        self.m = m
        self.passes = passes
        self.elements = elements
        self.axes = tuple(axes)
        self.sizes = sizes
        self.parts = parts
        self.results: dict[str, Number] = {}
        self.part: tuple[At, int, dict[str, Number]] | None = None
        for number, one in enumerate(passes):
            if one.kind != VALUE:
                self.results[one.name] = self.reduced(one, number)

    def names(self, at: At, count: int | None = None) -> dict[str, Number]:
        """The values of the names in a part: the elements, and the first passes, or all of them."""
        count = len(self.passes) if count is None else count
        done = 0
        names: dict[str, Number]
        if self.part is not None and self.part[0] == at and self.part[1] <= count:
            _, done, names = self.part
        else:
            names = dict(self.elements(at))
        for one in self.passes[done:count]:
            names[one.name] = one.expression(names) if one.kind == VALUE else self.kept(self.results[one.name], at)
        self.part = at, count, names
        return names

    def kept(self, result: Number, at: At) -> Number:
        """The part of a result that goes with a part of the tensors."""
        return result[tuple(slice(0, 1) if d in self.axes else one for d, one in enumerate(at))]

    def reduced(self, one: Pass, number: int) -> Number:
        """The result of a pass."""
        m, found = self.m, Gathered(self.m, one.kind)
        for at in self.parts:
            values = np.broadcast_to(np.asarray(one.expression(self.names(at, number))), sizes_of(at))
            found.add(tuple(0 if d in self.axes else part.start for d, part in enumerate(at)), values, self.axes)
        result = found.result()
        return m.divide(result, math.prod(self.sizes[d] for d in self.axes)) if one.kind == MEAN else result


class Gathered:
    """The results of parts, each at the place where its part begins; those at one place become one result."""

    def __init__(self, m: Arithmetic, kind: str) -> None:
        self.m = m
        self.kind = kind
        self.places: dict[tuple[int, ...], Number] = {}

    def add(self, place: tuple[int, ...], values: Array, axes: tuple[int, ...]) -> None:
        """The numbers of another part."""
        before = self.places.get(place)
        if self.kind == PRODUCT and values.dtype == np.float64:
            found = scaled.parts(values)
            for axis in axes:
                found = scaled.product(found, axis)
            if before is not None:
                fraction, more = scaled.parts(found[0] * before[0])
                found = fraction, found[1] + before[1] + more
            self.places[place] = found
            return
        m = self.m
        reduce, combine = {
            "sum": (m.sum, m.add), MEAN: (m.sum, m.add),
            PRODUCT: (m.product, lambda one, other: m.product(np.stack([one, other]), 0)[0]),
            "least": (m.least, m.minimum), "greatest": (m.greatest, m.maximum),
        }[self.kind]  # fmt: skip
        part = reduce(values, axes)
        self.places[place] = part if before is None else combine(before, part)

    def result(self) -> Number:
        """The results of all places."""
        found = {place: scaled.number(one) if type(one) is tuple else one for place, one in self.places.items()}
        if len(found) == 1:
            return next(iter(found.values()))
        rank = len(next(iter(found)))
        last = [max(place[d] + one.shape[d] for place, one in found.items()) for d in range(rank)]
        whole = np.empty(last, np.result_type(*(one.dtype for one in found.values())))
        for place, one in found.items():
            whole[tuple(slice(first, first + size) for first, size in zip(place, one.shape, strict=True))] = one
        return whole
