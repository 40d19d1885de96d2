"""Where the sum of a window leaves the normal numbers of the data type in which the operator adds.

``[kernel]`` says what each element adds (``step``), and in which data type (``acc``). The accuracy promises nothing
where the sum is beyond that data type or below its normal numbers: the sum is then infinite, 0, or has lost digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.rows import Dtype, Field
from dmlcy._facts.tables import DTYPES

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def limits(desc: OperatorDesc, dtype: Dtype, count: int) -> tuple[Fraction, Fraction]:
    """The smallest and the largest sum of ``count`` steps that keeps its digits.

    Each addition rounds by less than 2**-23 of the sum. The smallest is 0 where the accumulator is the data type of the
    elements: what is added are elements then, and no digit of theirs is lost. Powers of elements may be smaller.
    """
    own, acc = numpy_dtype(dtype), numpy_dtype(DTYPES[desc.operator.definition.words[f"acc.{dtype.name}"]])
    most = Fraction(float(np.finfo(acc).max)) / (1 + Fraction(count, 2**23))
    least = Fraction(float(np.finfo(acc).smallest_normal)) * count if acc.itemsize > own.itemsize else Fraction(0)
    return least, most


def unpromised(desc: OperatorDesc, output: Field, inputs: Mapping[str, Array]) -> Mask | None:
    """Where the accuracy promises nothing of results that come from the sum of a window; None: nowhere.

    ``inputs`` are by Python name. A window with an infinity or NaN gives one, which is promised. A step must not shrink
    with the absolute value of its element.
    """
    operator = desc.operator
    if operator.window is None or operator.definition.words.get("reduction") != "sum":
        return None
    with np.errstate(invalid="ignore"):  # of signalling NaN
        x = np.abs(inputs[operator.window.input].astype(np.float64))
    tensor = getattr(desc, output.python)
    least, most = (float(limit) for limit in limits(desc, dtype_of(tensor), x.size))
    present = np.isfinite(x) & (x > 0)
    if not present.any():
        return None
    smallest, largest = _step(desc, np.array([x[present].min(), x[present].max()]))
    if smallest >= least and largest * x.size <= most:
        return None
    sizes, inverse = np.unique(x[present], return_inverse=True)
    steps = np.zeros(x.shape)
    steps[present] = _step(desc, sizes)[inverse]
    total = window_sums(desc, steps, tensor.sizes)
    finite = window_sums(desc, (~np.isfinite(x)).astype(np.float64), tensor.sizes) == 0
    some = window_sums(desc, present.astype(np.float64), tensor.sizes) > 0
    found: Mask = finite & some & ~((total >= least) & (total <= most))
    return found if found.any() else None


def _step(desc: OperatorDesc, values: Array) -> Array:
    """What each of these elements adds to the accumulator."""
    step, rules = desc.operator.definition.formulas["step"].function, Formulas(desc).rules
    added = []
    for value in values.tolist():
        vars(rules).update(acc=0.0, x=value)
        added.append(float(step(rules)))
    return np.array(added)


def window_sums(desc: OperatorDesc, values: Array, sizes: tuple[int, ...]) -> Array:
    """The sum over each position of the window, in an output of these sizes, axis after axis; padding is 0."""
    roles = desc.operator.window
    assert roles is not None and roles.blocks is None
    formulas = Formulas(desc)
    spatial = formulas.number(roles.spatial)
    positions = sizes[-spatial:]
    given = [formulas.numbers(name, spatial) for name in (roles.window, roles.strides, roles.start)]
    dilations = formulas.numbers(roles.dilations, spatial) if roles.dilations else (1,) * spatial
    with np.errstate(over="ignore"):
        for axis, count in enumerate(positions):
            window, stride, start = (numbers[axis] for numbers in given)
            moved = np.moveaxis(values, axis - spatial, -1)
            values = np.moveaxis(_sums(moved, count, stride, window, dilations[axis], start), -1, axis - spatial)
    return values


def _sums(values: Array, positions: int, stride: int, window: int, dilation: int, start: int) -> Array:
    """The sums along the last axis, in a loop over the positions or over the window, whichever is shorter."""
    size = values.shape[-1]
    result = np.zeros((*values.shape[:-1], positions))
    if positions <= window:
        for position in range(positions):
            taps = _inside(position * stride - start, dilation, window, size)
            result[..., position] = values[..., taps].sum(axis=-1)
    else:
        for tap in range(window):
            first = tap * dilation - start
            source = _inside(first, stride, positions, size)
            begin = (source.start - first) // stride
            part = values[..., source]
            result[..., begin : begin + part.shape[-1]] += part
    return result


def _inside(first: int, step: int, count: int, size: int) -> slice:
    """Those of ``count`` places, one each ``step`` from ``first`` on, that are in an axis of this size."""
    begin = max(0, -(first // step))
    end = max(begin, min(count, (size - 1 - first) // step + 1))
    return slice(min(first + begin * step, size), max(0, first + (end - 1) * step + 1) if end > begin else 0, step)
