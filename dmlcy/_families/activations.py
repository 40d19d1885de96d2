"""Activations: operators that other operators apply to what they compute, as descs without tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Arithmetic
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.names import must_run
from dmlcy._facts.rows import Rules
from dmlcy._families import family_of
from dmlcy._families.given import Kernel
from dmlcy._types import DType, Number

LARGEST: Final = float(np.finfo(np.float32).max)
"""Loops give an activation FLOAT32."""


def activated(desc: OperatorDesc | None, values: Number, arithmetic: Arithmetic) -> Number:
    """An activation of numbers; without one the numbers themselves."""
    if desc is None:
        return values
    kernel = Kernel(desc.operator, Rules({}), arithmetic)
    return _family(desc).applied(desc, kernel, values, arithmetic)


def along(desc: OperatorDesc | None, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which an activation makes each result of several numbers."""
    found: tuple[int, ...] = () if desc is None else _family(desc).applied_along(desc, sizes)
    return found


def operations(desc: OperatorDesc | None, sizes: tuple[int, ...]) -> int:
    """How many operations an activation of numbers of these sizes takes."""
    found: int = 0 if desc is None else _family(desc).applied_operations(desc, sizes)
    return found


def magnitudes(desc: OperatorDesc | None, values: Number, sizes: Number, m: Arithmetic, dtype: DType) -> Number:
    """The numbers in whose units the accuracy of an activation of sums is, from the sizes of the terms of each sum.

    The size is that of the result, or the size of the terms times the steepness of the activation, if that is more. The
    steepness is the change of the result for a change of the sum by one unit in the last place of its terms. An
    activation over several numbers is a softmax: such changes of the numbers change a result by twice as much, in
    proportion to its size. NaN, where a number beyond the range of FLOAT32 makes a difference.
    """
    if desc is None:
        return sizes
    axes = along(desc, np.shape(values))
    if not axes:
        return promised(desc, values, steep(lambda one: activated(desc, one, m), values, sizes, m, dtype), m)
    most = m.greatest(sizes, axes)
    return m.multiply(m.absolute(activated(desc, values, m)), m.add(m.multiply(most, 2.0), 1.0))


def promised(desc: OperatorDesc | None, values: Number, sizes: Number, m: Arithmetic) -> Number:
    """The numbers in whose units the accuracy of an activation of numbers is; NaN, where nothing is promised.

    Loops give an activation FLOAT32: a number beyond the range is infinite there, which may change the result.
    """
    if desc is None or along(desc, np.shape(values)):
        return sizes
    infinite = m.where(m.negative(values), -math.inf, math.inf)
    same = m.equal(activated(desc, infinite, m), activated(desc, values, m))
    return m.where(m.both(m.less(LARGEST, m.absolute(values)), m.negation(same)), math.nan, sizes)


def steep(
    function: Callable[[Number], Number], values: Number, sizes: Number, m: Arithmetic, dtype: DType, units: float = 1.0
) -> Number:
    """The same of a function of each number. ``units``: by how many of them a sum changes."""
    middle = function(values)
    digits = int(np.finfo(dtype).nmant)
    step = m.multiply(sizes, units * 2.0**-digits)
    beside = [function(moved(values, step)) for moved in (m.add, m.subtract)]
    changes = [m.absolute(m.subtract(one, middle)) for one in beside]
    # Twice: where a function jumps, the jump is these units at most.
    return m.maximum(m.absolute(middle), m.multiply(m.maximum(*changes), 2.0 ** (digits + 1) / units))


def _family(desc: OperatorDesc) -> Any:
    must_run(desc.operator)
    return family_of(desc.operator)
