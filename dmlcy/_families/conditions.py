"""The values that the conditions of interpretations read; docs/expression-language.md explains the names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dmlcy._arithmetic import limits
from dmlcy._desc.memory import dtype_of
from dmlcy._facts.rows import Formula, Rules
from dmlcy._families import blocks
from dmlcy._families.given import Given, beside
from dmlcy._types import Array, DType, Number

Carry = Callable[[Given, str, str, Array], Array]
"""From marks of the elements of an input, of that name, to those of an output, whose name comes first."""

Test = Callable[[Rules], Number]
"""A condition on the elements of an input, which it reads under the name of that."""


def holds(condition: Formula, given: Given, output: str, names: Mapping[str, Number]) -> Number:
    """The value of a condition, over the names that it reads of places of an output."""
    dtype = given.dtype(output)
    found = {
        "integers": dtype.kind != "f",
        "least": np.finfo(dtype).min if dtype.kind == "f" else limits(dtype)[0],
        "bits": dtype_of(given.values[output]).bits,
        "in_range": lambda x: in_range(x, dtype),
    }
    return condition.function(given.arithmetic, beside(given.rules, {**found, **names}))


def in_range(x: Number, dtype: DType) -> Number:
    """Whether numbers, without their fractions, are in the range of a data type; NaN is not."""
    if dtype.kind == "f":
        return np.abs(x) <= float(np.finfo(dtype).max)
    low, high = limits(dtype)
    if np.asarray(x).dtype.kind != "f":
        return (x >= low) & (x <= high)
    whole = np.trunc(x)
    return (whole >= float(low)) & (whole < float(high + 1))


def of_elements(given: Given, output: str, spread: Carry, beside: Carry) -> dict[str, Callable[..., Number]]:
    """``any``, ``all`` and ``idle`` of a condition on the elements of an input: where each holds in an output.

    ``spread`` and ``beside`` are the methods of the family for the first two and for the third one.
    """

    def marks(rules: Rules, name: str, test: Test) -> Array | None:
        array = given.arrays.get(name)
        return None if array is None else _marks(given, rules, name, array, test)

    def any_(rules: Rules, name: str, test: Test) -> Number:
        found = marks(rules, name, test)
        return found is not None and (found.any() and spread(given, output, name, found))

    def all_(rules: Rules, name: str, test: Test) -> Number:
        found = marks(rules, name, test)
        return found is None or found.all() or ~np.asarray(spread(given, output, name, ~found))

    def idle(rules: Rules, name: str, test: Test) -> Number:
        found = marks(rules, name, test)
        return found is not None and (found.any() and beside(given, output, name, found))

    return {"any": any_, "all": all_, "idle": idle}


def _marks(given: Given, rules: Rules, name: str, array: Array, test: Test) -> Array:
    """For which elements of an input a condition holds."""
    marks: Array = np.empty(array.shape, np.bool_)
    for at in blocks.parts(array.shape, blocks.BLOCK):
        marks[at] = test(beside(rules, {name: given.arithmetic.of(array[at])}))
    return marks
