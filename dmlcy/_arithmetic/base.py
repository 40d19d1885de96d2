"""The operations of the expressions of ``[kernel]``. ``codegen`` writes each expression as calls of these methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from dmlcy._runtime import four_bits
from dmlcy._types import Array, DType, Number


def limits(dtype: DType) -> tuple[int, int]:
    """The least and the greatest integer of a data type."""
    name = four_bits.name_of(dtype)
    if name is not None:
        return four_bits.BOUNDS[name]
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


class Arithmetic(ABC):
    """Numbers and their operations; each operation takes single numbers and arrays, and none of them fails.

    Integers are exact. Floats have infinities, NaN and zeros of both signs, as IEEE 754 says. Of two numbers, NaN is
    the lesser to ``maximum`` and the greater to ``minimum``; -0 is less than +0 there, and equal to it in comparisons.
    """

    @abstractmethod
    def of(self, array: Array) -> Array:
        """The elements of a tensor as numbers."""

    @abstractmethod
    def stored(self, values: Number, dtype: DType, sizes: Sequence[int]) -> Array:
        """The numbers in the data type of a tensor: floats are rounded once, integers are taken modulo 2**bits."""

    def storage(self, dtype: DType) -> DType:
        """The data type of what ``stored`` gives for a data type of a tensor."""
        return dtype

    def partial(self, a: Number) -> Number:
        """The same numbers, as parts of sums to which terms are added in any order."""
        return a

    def kept(self, a: Number) -> Number:
        """Sums that are complete: a device may round them to its data type before it goes on."""
        return a

    def placed(self, rest: Array, place: Array) -> Number:
        """How far places, which are computed in FLOAT32, are behind the whole numbers before them."""
        return self.of(rest)

    def weighed(self, weights: Callable[[Arithmetic], Number], place: Array, slope: float) -> Number:
        """Weights of places, from 0 to 1, which change by ``slope`` between places.

        The steps of their formula cancel: the weights have none.
        """
        return weights(self)

    @abstractmethod
    def add(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def subtract(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def multiply(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def divide(self, a: Number, b: Number) -> Number:
        """The quotient of floats."""

    @abstractmethod
    def floor_divide(self, a: Number, b: Number) -> Number:
        """The quotient of integers, rounded down; 0 where the divisor is 0."""

    @abstractmethod
    def div_trunc(self, a: Number, b: Number) -> Number:
        """The quotient of integers, without its fraction; 0 where the divisor is 0."""

    @abstractmethod
    def mod_floor(self, a: Number, b: Number) -> Number:
        """The remainder with the sign of the divisor; of integers 0 where the divisor is 0."""

    @abstractmethod
    def mod_trunc(self, a: Number, b: Number) -> Number:
        """The remainder with the sign of the dividend; of integers 0 where the divisor is 0."""

    @abstractmethod
    def negate(self, a: Number) -> Number: ...
    @abstractmethod
    def absolute(self, a: Number) -> Number: ...
    @abstractmethod
    def minimum(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def maximum(self, a: Number, b: Number) -> Number: ...

    @abstractmethod
    def less(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def less_equal(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def equal(self, a: Number, b: Number) -> Number: ...
    @abstractmethod
    def isnan(self, a: Number) -> Number: ...
    @abstractmethod
    def isfinite(self, a: Number) -> Number: ...

    @abstractmethod
    def negative(self, a: Number) -> Number:
        """Whether the sign bit of a float is set: of -0 and of -infinity too. NaN is not negative."""

    @abstractmethod
    def single(self, a: Number) -> Number:
        """The nearest number of FLOAT32."""

    def single_sum(self, a: Number, b: Number) -> Number:
        """The number of FLOAT32 that is nearest to the sum of two numbers."""
        return self.single(self.add(a, b))

    @abstractmethod
    def double(self, a: Number) -> Number:
        """The nearest number of FLOAT64."""

    @abstractmethod
    def shortened(self, a: Number) -> Number:
        """The number; of an exact one the first 70 digits, which each step of a recurrence would double.

        The number is infinite beyond the range of float64, and has no digits far below this range.
        """

    @abstractmethod
    def saturate(self, a: Number, dtype: DType) -> Number:
        """The integer of a data type that is nearest to a number without its fraction; 0 for NaN."""

    @abstractmethod
    def function(self, name: str, *values: Number) -> Number:
        """A function of one or two floats, or of integers: a name of the expression language."""

    # Along axes of an array, which stay with size 1.

    @abstractmethod
    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        """The sum of the numbers along some axes, which is never -0; 0 where there are none."""

    @abstractmethod
    def product(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        """The product of the numbers along some axes; 1 where there are none. Of integers perhaps modulo 2**64."""

    @abstractmethod
    def least(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        """The least of the numbers along some axes, as ``minimum`` has it."""

    @abstractmethod
    def greatest(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        """The greatest of the numbers along some axes, as ``maximum`` has it."""

    @abstractmethod
    def sums(self, a: Array, axis: int) -> Number:
        """Each number plus all before it along an axis."""

    @abstractmethod
    def products(self, a: Array, axis: int) -> Number:
        """Each number times all before it along an axis. Of integers perhaps modulo 2**64."""

    @abstractmethod
    def matmul(self, a: Array, b: Array) -> Number:
        """The products of matrices, which are the last two axes; axes before them are repeated. No sum is -0."""

    # Conditions are Python's or NumPy's, whatever the numbers are.

    def where(self, test: Number, then: Number, other: Number) -> Number:
        """``then`` where the condition holds, and ``other`` elsewhere."""
        return np.where(test, then, other) if isinstance(test, np.ndarray) else then if test else other

    def also(self, found: Number, other: Callable[[], Number]) -> Number:
        """The number; ``other`` computes it as some devices do."""
        return found

    def both(self, a: Number, b: Number) -> Number:
        """Whether both conditions hold."""
        return np.logical_and(a, b)

    def either(self, a: Number, b: Number) -> Number:
        """Whether one of the conditions holds."""
        return np.logical_or(a, b)

    def negation(self, a: Number) -> Number:
        """Whether the condition does not hold."""
        return np.logical_not(a)
