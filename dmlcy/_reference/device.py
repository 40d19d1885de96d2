"""The values that a correct device may give: for each element the largest difference from the reference that passes.

The pages of DirectML promise no accuracy. The computations of the hardware are known: in FLOAT32, with the rules of
Direct3D, sums in any order, functions that are approximated (``dmlcy._arithmetic.devices``). The reference evaluated
over such numbers gives the bound of each element; no operator has one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import WIDE, Arithmetic
from dmlcy._arithmetic.devices import Devices
from dmlcy._arithmetic.ranges import RECORD
from dmlcy._arithmetic.truncating import Truncating
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import is_float, numpy_dtype
from dmlcy._families import family_of
from dmlcy._families.base import tensors_of
from dmlcy._families.given import Given
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import Tolerance, bound
from dmlcy._reference.expected import as_array, outputs_of
from dmlcy._runtime import four_bits
from dmlcy._types import Array, DType

CARRIED: Final = 16
"""How many times the largest error passes with which a device ends whose operations all err to one side."""
ERRING: Final = (1, 4, CARRIED)
"""How large the errors of these devices are, in the largest ones: with some weights a small error and a large one
lead to states that have nothing in common."""
SUSPECT: Final = 16
"""Typical deviations beyond which a difference is suspect, though the worst order of additions gives it."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values that pass for one output.

    Attributes
    ----------
    values
        The elements of the reference, in the data type of the output; those of 4 bits as int8 or uint8.
    worst
        The largest difference that passes, where an infinity counts as the number after the largest one. The
        difference is the bound of a device and the error of the reference itself. NaN: any value passes.
    typical
        The deviation that rounding typically causes: ``SUSPECT`` of it are suspect.
    flushed
        The values that pass as well: the same where numbers below the normal ones of FLOAT32 are 0 in the inputs. The
        value is None without such numbers, or if the operator does not compute with them.
    """

    values: Array
    worst: Tolerance
    typical: Tolerance
    flushed: Allowed | None = None


def device(
    desc: OperatorDesc, arrays: Mapping[str, object], output: str | None = None, *, half: bool = False
) -> Allowed:
    """The values that correct devices may give for a valid desc and the arrays of its inputs, by their Python names.

    ``output``: the Python name of one of several, such as ``"outputs[1]"``; None: the first. ``half``: the device may
    add FLOAT16 in FLOAT16.
    """
    name = outputs_of(desc)[0] if output is None else output
    arrays = {name: as_array(array) for name, array in arrays.items()}
    found = _allowed(desc, arrays, name, half)
    if not family_of(desc.operator).flushes(desc):
        return found
    flushed = {name: _flushed(array) for name, array in arrays.items()}
    if all(flushed[name] is arrays[name] for name in arrays):
        return found
    return Allowed(found.values, found.worst, found.typical, _allowed(desc, flushed, name, half))


def _allowed(desc: OperatorDesc, arrays: Mapping[str, Any], output: str, half: bool) -> Allowed:
    family = family_of(desc.operator)
    arithmetic: Arithmetic = WIDE
    if family.computes(desc):
        floats = [numpy_dtype(dtype_of(one)).itemsize for one in tensors_of(desc) if is_float(dtype_of(one))]
        arithmetic = Devices(min(floats, default=np.dtype(np.float32).itemsize), half)
    given = Given.of_desc(desc, arrays, arithmetic)
    own = given.dtype(output)
    with np.errstate(all="ignore"):
        found = family.result(given, output)
    if isinstance(arithmetic, Devices) and family.keeps_state:
        return _with_state(
            desc, arrays, output, _of_records(desc, found, own, dtype_of(given.values[output])), arithmetic
        )
    if found.dtype != RECORD:
        zeros: Tolerance = np.zeros(found.shape)
        return Allowed(four_bits.values_of(found), zeros, zeros)
    return _of_records(desc, found, own, dtype_of(given.values[output]))


def _with_state(
    desc: OperatorDesc, arrays: Mapping[str, object], output: str, found: Allowed, arithmetic: Devices
) -> Allowed:
    """The values that pass, if each step goes on from the errors of the steps before.

    Where weights are alike, errors are, and grow with each step more than errors of all signs do.
    """
    most = 0.0
    for times in ERRING:
        one_side = Given.of_desc(desc, arrays, Truncating(arithmetic.limits, times))
        with np.errstate(all="ignore"):
            carried = ulp.difference(family_of(desc.operator).result(one_side, output), found.values)
        most = max(most, CARRIED / times * carried.max(initial=0, where=np.isfinite(carried)))
    return replace(found, worst=np.where(found.worst > 0, found.worst + most, found.worst))


def _of_records(desc: OperatorDesc, found: Array, own: DType, dtype: Any) -> Allowed:
    """The values that pass, from the numbers of a device."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = four_bits.values_of(WIDE.stored(found["value"], own, found.shape))
    ends = np.array([found["low"], found["high"]])
    if own.kind == "f":
        info = np.finfo(own)
        after = float(info.max) + 2.0 ** (info.maxexp - 1 - info.nmant)
        wide = np.clip(values.astype(np.float64), -after, after)
        unknown = np.isneginf(ends[0]) & np.isposinf(ends[1])
        clipped = np.clip(ends, -after, after)
        with np.errstate(invalid="ignore"):
            worst = np.maximum(wide - clipped[0], clipped[1] - wide)
        exact = (ends[0] == ends[1]) | np.isnan(found["value"])
        stated = bound(desc, dtype)
        lost = desc.operator.absolute + (0.0 if stated is None else ulp.unit(np.nan_to_num(values), own))
        worst = np.where(unknown, np.nan, np.where(exact, 0.0, worst + lost))
    else:
        wide = values.astype(np.float64)
        worst = np.maximum(wide - ends[0], ends[1] - wide)
    typical = np.fmax(np.sqrt(found["variance"]), desc.operator.absolute)
    flushed = (ends[0] <= 0) & (ends[1] >= 0) & (np.abs(wide) <= np.finfo(np.float32).smallest_normal)  # may become 0
    return Allowed(values, worst, np.where(flushed, np.fmax(typical, np.abs(wide)), typical))


def _flushed(array: Any) -> object:
    """The array with 0 in place of numbers below the normal ones of FLOAT32; the same one where it has none."""
    if isinstance(array, tuple | list):
        several = tuple(map(_flushed, array))
        return array if all(a is b for a, b in zip(several, array, strict=True)) else several
    if array.dtype != np.float32:
        return array
    small = (np.abs(array) < np.finfo(np.float32).smallest_normal) & (array != 0)
    return np.where(small, np.copysign(np.float32(0), array), array) if small.any() else array
