"""Where the sum of a window leaves the normal numbers of the data type in which the operator adds.

``[kernel]`` says what each element adds (``step``), and in which data type (``acc``). The accuracy promises nothing
where the sum is beyond that data type or below its normal numbers: the sum is then infinite, 0, or has lost digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._arithmetic import WIDE
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field
from dmlcy._families.accumulators import limits
from dmlcy._families.given import kernel_of
from dmlcy._families.windows import Slide, numbers_inside, roles_of, slide

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def unpromised(desc: OperatorDesc, output: Field, inputs: Mapping[str, Array]) -> Mask | None:
    """Where the accuracy promises nothing of results that come from the sum of a window; None: nowhere.

    ``inputs`` are by Python name. A window with an infinity or NaN gives one, which is promised. A step must not shrink
    with the absolute value of its element.
    """
    with np.errstate(invalid="ignore"):  # of signalling NaN
        x = np.abs(inputs[roles_of(desc.operator).input].astype(np.float64))
    tensor = getattr(desc, output.python)
    least, most = (float(limit) for limit in limits(desc.operator, dtype_of(tensor), x.size))
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
    with np.errstate(all="ignore"):
        return np.asarray(kernel_of(desc, WIDE).value("step", acc=0.0, x=values), np.float64)


def window_sums(desc: OperatorDesc, values: Array, sizes: tuple[int, ...]) -> Array:
    """The sum over each position of the window, in an output of these sizes, axis after axis; padding is 0."""
    window = slide(kernel_of(desc), values.shape)
    spatial = len(window.sizes)
    with np.errstate(over="ignore"):
        for axis, positions in enumerate(sizes[-spatial:]):
            moved = np.moveaxis(values, axis - spatial, -1)
            values = np.moveaxis(_sums(moved, positions, window, axis), -1, axis - spatial)
    return values


def _sums(values: Array, positions: int, window: Slide, axis: int) -> Array:
    """The sums along the last axis, in a loop over the positions or over the window, whichever is shorter."""
    size, taps = values.shape[-1], window.sizes[axis]
    stride, dilation, start = window.strides[axis], window.dilations[axis], window.start[axis]
    result = np.zeros((*values.shape[:-1], positions))
    if positions <= taps:
        for position in range(positions):
            first = position * stride - start
            result[..., position] = values[..., _places(first, dilation, taps, size)[0]].sum(axis=-1)
    else:
        for tap in range(taps):
            places, numbers = _places(tap * dilation - start, stride, positions, size)
            result[..., numbers] += values[..., places]
    return result


def _places(first: int, step: int, count: int, size: int) -> tuple[slice, slice]:
    """Those of ``count`` places, one each ``step`` from ``first`` on, that are in the axis, and their numbers."""
    found = numbers_inside(first, step, count, size)
    if not found:
        return slice(0), slice(0)
    return slice(first + found[0] * step, first + found[-1] * step + 1, step), slice(found.start, found.stop)
