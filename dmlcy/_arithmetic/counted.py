"""Numbers with sizes and without values, which know how they were made, to count the operations of an expression."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._arithmetic.base import Arithmetic
from dmlcy._types import Array, DType, Number, Operation


@dataclass(frozen=True, slots=True)
class Counted:
    """A number for each place of these sizes, made by ``cost`` operations from ``parts``.

    ``varies``: it depends on an element of a tensor; what depends on attributes only is computed once, at no cost.
    """

    name: str
    parts: tuple[object, ...]  # numbers; of an element its name
    sizes: tuple[int, ...]
    cost: int
    varies: bool


def operations(results: Iterable[object]) -> int:
    """The operations of which results are made; an operation that several results need counts once."""
    ahead = [one for one in results if isinstance(one, Counted)]
    seen = set(ahead)
    total = 0
    while ahead:
        one = ahead.pop()
        total += one.cost
        for part in one.parts:
            if isinstance(part, Counted) and part not in seen:
                seen.add(part)
                ahead.append(part)
    return total


def element(name: object, sizes: Sequence[int]) -> Counted:
    """The elements of a tensor, which is known by a name."""
    return Counted("element", (name,), tuple(sizes), 0, True)


def made(name: str, parts: tuple[object, ...], each: int = 1) -> Counted:
    """The result of an operation at each place, by ``each`` steps; NumPy's rules say what goes with what."""
    some = [part for part in parts if isinstance(part, Counted)]
    sizes = np.broadcast_shapes(*(one.sizes for one in some))
    varies = any(one.varies for one in some)
    return Counted(name, parts, sizes, each * math.prod(sizes) if varies else 0, varies)


def reduced(name: str, part: object, sizes: Sequence[int], axes: Iterable[int]) -> Counted:
    """Numbers of these sizes, reduced along some axes by an operation for each of them."""
    left = {*axes}
    kept = tuple(1 if d in left else size for d, size in enumerate(sizes))
    return Counted(name, (part,), kept, math.prod(sizes), True)


def is_known(*values: object) -> bool:
    """Whether none of these is such a number."""
    return not any(isinstance(one, Counted) for one in values)


class _Conditions(Arithmetic):
    """Conditions that are no operation, or may be known without one."""

    def of(self, array: Array) -> Number:
        """The elements of an array, which is known by its memory."""
        return element(array.__array_interface__["data"][0], array.shape)

    def stored(self, values: Number, dtype: DType, sizes: Sequence[int]) -> Number:
        """The numbers."""
        return values

    def less(self, a: Number, b: Number) -> Number:
        """Of known numbers the answer, as of the other comparisons."""
        return a < b if is_known(a, b) else made("less", (a, b))

    def less_equal(self, a: Number, b: Number) -> Number:
        """See ``less``."""
        return a <= b if is_known(a, b) else made("less_equal", (a, b))

    def equal(self, a: Number, b: Number) -> Number:
        """See ``less``."""
        return a == b if is_known(a, b) else made("equal", (a, b))

    def negation(self, a: Number) -> Number:
        """A negation costs nothing."""
        return not a if is_known(a) else made("negation", (a,), 0)

    def where(self, test: Number, then: Number, other: Number) -> Number:
        """The choice costs nothing; one that is known needs one side only."""
        if is_known(test):
            return then if test else other
        return made("where", (test, then, other), 0)

    def function(self, name: str, *values: Number) -> Counted:
        """One operation, whatever it is."""
        return made(name, values)

    def matmul(self, a: Number, b: Number) -> Counted:
        """A product and a sum for each element of a row and a column."""
        *lead, rows, depth = a.sizes
        sizes = (*np.broadcast_shapes(tuple(lead), b.sizes[:-2]), rows, b.sizes[-1])
        return Counted("matmul", (a, b), sizes, 2 * depth * math.prod(sizes), True)


def _operation(name: str) -> Callable[..., Counted]:
    return lambda self, *parts: made(name, parts)


def _same() -> Operation:
    return lambda self, a, *rest: a


def _reduction(name: str) -> Callable[..., Counted]:
    return lambda self, a, axes: reduced(name, a, a.sizes, [d % len(a.sizes) for d in np.atleast_1d(axes)])


_ARITHMETIC: Final = ("add", "subtract", "multiply", "divide", "floor_divide", "div_trunc", "mod_floor", "mod_trunc")
_OTHERS: Final = ("negate", "absolute", "minimum", "maximum", "isnan", "isfinite", "negative", "both", "either")
_CONVERSIONS: Final = ("single", "double", "shortened", "saturate")
_REDUCTIONS: Final = ("sum", "product", "least", "greatest")

COUNTING: Final[Arithmetic] = type(
    "Counting",
    (_Conditions,),
    {name: _operation(name) for name in (*_ARITHMETIC, *_OTHERS, "sums", "products")}
    | {name: _same() for name in _CONVERSIONS}
    | {name: _reduction(name) for name in _REDUCTIONS},
)()
"""Each operation, function and comparison, and each "and" and "or", counts one for each place that it has a result for.

Operations on attributes only, conversions, "not", and the choice between two numbers do not count.
"""
