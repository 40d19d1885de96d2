"""The values that pass for an output: from the device's bound, from an older manifest, or from options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import Bound, Tolerance
from dmlcy._reference.device import SUSPECT, Allowed, device
from dmlcy._reference.expected import as_arrays
from dmlcy._reference.unjudged import unjudged
from dmlcy._types import Array

Mask = npt.NDArray[np.bool_]

BEYOND: Final = "beyond the range"
"""Stands for an id where a sum or a step may leave the range of FLOAT32: the bound is not finite."""
SIDES: Final = 2
"""Bounds that pass by the rules of version 2: the expected value and that of the device may each be off by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Passes:
    """The values that pass for each element.

    Attributes
    ----------
    allowed
        The largest difference that passes; infinite: any number passes, NaN: NaN too. None: each element must be equal.
    typical
        The difference up to which an element is not suspect; None: none is.
    flushed
        Values that pass as well, and the largest differences from them: a device may take 0 for subnormal operands.
    not_judged
        By id of the interpretation, the elements whose value no document promises.
    standing
        The elements that are compared; None: all of them.
    """

    allowed: Tolerance | None
    typical: Tolerance | None = None
    flushed: tuple[Array, Tolerance] | None = None
    not_judged: tuple[tuple[str, Mask], ...] = ()
    standing: Mask | None = None

    @classmethod
    def of_device(cls, found: Allowed, not_judged: tuple[tuple[str, Mask], ...] = ()) -> Passes:
        """The values that a correct device may give."""
        flushed = None if found.flushed is None else (found.flushed.values, found.flushed.worst)
        if not found.worst.any():
            return cls(None, None, flushed, not_judged)
        return cls(found.worst, SUSPECT * found.typical, flushed, not_judged)

    @classmethod
    def of_bound(cls, values: Array, bound: Bound, tolerance: Tolerance | None) -> Passes:
        """By the rules of version 2: twice what dmlcy promises of itself, for each element as in the file, if any."""
        if tolerance is None:
            tolerance = bound.ulp * ulp.unit(np.nan_to_num(values), values.dtype)
        with np.errstate(over="ignore"):  # an infinite difference is allowed where the bound is half the range
            return cls(SIDES * tolerance)


@dataclass(frozen=True, slots=True)
class Device:
    """The user's options of the device.

    ``ulp``, ``rtol`` and ``atol`` replace the bound of rounded outputs: their sum passes. ``half``: the device may add
    FLOAT16 in FLOAT16.
    """

    ulp: float | None = None
    rtol: float | None = None
    atol: float | None = None
    half: bool = False

    def replaced(self, passes: Passes, values: Array) -> Passes:
        """The values that pass with these options."""
        if not self.tolerances or passes.allowed is None:
            return passes
        flushed = passes.flushed
        if flushed is not None:
            flushed = flushed[0], self.tolerance(flushed[0], flushed[1])
        return replace(passes, allowed=self.tolerance(values, passes.allowed), typical=None, flushed=flushed)

    @property
    def tolerances(self) -> dict[str, float]:
        """The options that replace the bound, as they are given."""
        given = {"ulp": self.ulp, "rtol": self.rtol, "atol": self.atol}
        return {name: value for name, value in given.items() if value is not None}

    def tolerance(self, values: Array, allowed: Tolerance) -> Tolerance:
        """The differences that pass for these values by the given tolerance, where a number is allowed."""
        size = np.abs(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0))
        unit = ulp.unit(np.nan_to_num(values), values.dtype)
        with np.errstate(over="ignore"):
            found = (self.atol or 0.0) + (self.rtol or 0.0) * size + (self.ulp or 0.0) * unit
        return np.where(np.isfinite(allowed), np.minimum(found, np.finfo(np.float64).max), allowed)


CORRECT: Final = Device()
"""A device of which nothing is said."""


def grouped(tensors: Iterable[tuple[Field, int | None, Array]]) -> dict[str, Any]:
    """Tensors, each with its field and its place in an array, by the Python name of the field: of an array a tuple."""
    found: dict[str, Any] = {}
    for field, entry, values in tensors:
        found[field.python] = values if entry is None else (*found.get(field.python, ()), values)
    return found


def judged(
    desc: OperatorDesc, inputs: Mapping[str, object], output: str, options: Device = CORRECT
) -> tuple[Array, Passes]:
    """The values of the reference for an output, by its Python name, and what passes for a correct device."""
    inputs = as_arrays(inputs)
    found = device(desc, inputs, output, half=options.half)
    passes = Passes.of_device(found, tuple(unjudged(desc, inputs, output)))
    return found.values, options.replaced(passes, found.values)
