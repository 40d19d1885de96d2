"""The operations of a layer: on numbers, or on numbers together with the sizes of the terms that they are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import EllipsisType
from typing import Final, TypeAlias

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.activations import LARGEST, activated, steep
from dmlcy._types import Array, DType, Number

Index: TypeAlias = int | slice | tuple[EllipsisType | slice, ...]
"""Which of the numbers of an array."""
Pair: TypeAlias = tuple[Number, Number]
"""Numbers, and the sizes of the terms that they are made of."""
LIMIT: Final = 1 << 20
"""Numbers of a part of a tensor: 8 MB."""
LEAST: Final = float(np.finfo(np.float32).smallest_normal)
"""Gates and states may be computed in FLOAT32: what is smaller loses digits."""


class Weights:
    """A matrix of weights, as numbers if it is small, else part by part each time that it is used."""

    def __init__(self, array: Array, m: Arithmetic) -> None:
        self.array, self.m = array, m
        self.whole: Number = self._part(slice(None)) if array.size <= 4 * LIMIT else None

    def _part(self, rows: slice) -> Number:
        return np.swapaxes(self.m.of(self.array[rows]), 0, 1)

    def times(self, values: Number, absolute: bool = False) -> Number:
        """The products of numbers along the last axis with each row."""
        return np.concatenate([self._product(values, part, absolute) for part in self._parts()], -1)

    def _parts(self) -> Iterable[Number]:
        if self.whole is not None:
            return [self.whole]
        step = max(1, LIMIT // self.array.shape[1])
        return (self._part(slice(first, first + step)) for first in range(0, len(self.array), step))

    def _product(self, values: Number, part: Number, absolute: bool) -> Number:
        rows = values.reshape(-1, values.shape[-1])
        product = self.m.matmul(rows, self.m.absolute(part) if absolute else part)
        return product.reshape(*values.shape[:-1], -1)


class Numbers:
    """Numbers alone."""

    def __init__(self, m: Arithmetic, dtype: DType) -> None:
        self.m, self.dtype = m, dtype

    def of(self, array: Array) -> Number:
        """Elements of a tensor."""
        return self.m.of(array)

    def add(self, *terms: Number) -> Number:
        """The sum of the terms that there are."""
        first, *others = [term for term in terms if term is not None]
        for other in others:
            first = self.m.add(first, other)
        return first

    def multiply(self, a: Number, b: Number) -> Number:
        """The product of numbers at the same place."""
        return self.m.multiply(a, b)

    def times(self, a: Number, weights: Weights) -> Number:
        """The products with a matrix."""
        return weights.times(a)

    def rest(self, a: Number) -> Number:
        """The rest to 1: ``1 - a``."""
        return self.m.subtract(1.0, a)

    def changed(self, function: Callable[[Number], Number], a: Number) -> Number:
        """A function of each number."""
        return function(a)

    def activated(self, desc: OperatorDesc, a: Number) -> Number:
        """An activation of each number."""
        return self.changed(lambda one: activated(desc, one, self.m), a)

    def part(self, a: Number, at: Index) -> Number:
        """Some of the numbers."""
        return a[at]

    def chosen(self, test: Number, then: Number, other: Number) -> Number:
        """The one or the other at each place."""
        return self.m.where(test, then, other)

    def shortened(self, a: Number) -> Number:
        """Numbers that a step leaves for the next one."""
        return self.m.shortened(a)

    def shown(self, a: Number) -> Number:
        """The numbers that go into a result."""
        return a


class Sized(Numbers):
    """Pairs of numbers and of the sizes of their terms; an error of a term grows with a result as its size does.

    A size is NaN where one was beyond the range of FLOAT32 before: any number may come of such terms. ``units``: the
    largest error of a result, in units in the last place of its size.
    """

    def __init__(self, m: Arithmetic, dtype: DType, units: float) -> None:
        super().__init__(m, dtype)
        self.units = units

    def of(self, array: Array) -> Pair:
        found = self.m.of(array)
        return found, self.m.absolute(found)

    def add(self, *terms: Pair | None) -> Pair:
        there = [term for term in terms if term is not None]
        return super().add(*(values for values, _ in there)), super().add(*(sizes for _, sizes in there))

    def multiply(self, a: Pair, b: Pair) -> Pair:
        m = self.m
        sizes = m.add(m.multiply(m.absolute(a[0]), b[1]), m.multiply(a[1], m.absolute(b[0])))
        return m.multiply(a[0], b[0]), self.digits(sizes)

    def times(self, a: Pair, weights: Weights) -> Pair:
        return weights.times(a[0]), self.digits(weights.times(a[1], absolute=True))

    def rest(self, a: Pair) -> Pair:
        return super().rest(a[0]), self.m.add(a[1], 1.0)

    def changed(self, function: Callable[[Number], Number], a: Pair) -> Pair:
        """A number beyond the range may be infinite: where this makes a difference, any number may come of it."""
        m, (values, sizes) = self.m, a
        found = function(values)
        infinite = m.where(m.negative(values), -math.inf, math.inf)
        differ = m.both(self.beyond(sizes), m.negation(m.equal(function(infinite), found)))
        steepness = self.digits(steep(function, values, sizes, m, self.dtype, self.units))
        return found, self.known(sizes, m.where(m.either(differ, self.beyond(steepness)), math.nan, steepness))

    def part(self, a: Pair, at: Index) -> Pair:
        return a[0][at], a[1][at]

    def chosen(self, test: Number, then: Pair, other: Pair) -> Pair:
        return self.m.where(test, then[0], other[0]), self.m.where(test, then[1], other[1])

    def shortened(self, a: Pair) -> Pair:
        values, sizes = map(self.m.shortened, a)
        return values, self.m.where(self.beyond(a[1]), math.nan, self.digits(sizes))

    def beyond(self, sizes: Number) -> Number:
        """Whether sizes are finite, and a number of such a size may be infinite in FLOAT32."""
        m = self.m
        return m.both(m.isfinite(sizes), m.less(LARGEST / 2, sizes))

    def digits(self, sizes: Number) -> Number:
        """The size whose unit the error is made of: that of a normal number, unless all terms are 0."""
        m = self.m
        return m.where(m.both(m.less(0.0, sizes), m.less(sizes, LEAST)), LEAST, sizes)

    def known(self, sizes: Number, result: Number) -> Number:
        """NaN where a size is, else the result."""
        return self.m.where(self.m.isnan(sizes), math.nan, result)

    def shown(self, a: Pair) -> Number:
        return a[1]
