"""What passes for the elements of one output: from the device's bound, from an older manifest, or from options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field
from dmlcy._reference import ulp
from dmlcy._reference.accuracy import SIDES, Bound, Tolerance, of_results
from dmlcy._reference.device import SUSPECT, Allowed, device
from dmlcy._reference.unjudged import unjudged

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

BEYOND: Final = "beyond the range"
"""Stands for an id where a sum or a step may leave the range of FLOAT32: the bound is not finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Passes:
    """What passes for each element.

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
    """

    allowed: Tolerance | None
    typical: Tolerance | None = None
    flushed: tuple[Array, Tolerance] | None = None
    not_judged: tuple[tuple[str, Mask], ...] = ()

    @classmethod
    def of_device(cls, found: Allowed, not_judged: tuple[tuple[str, Mask], ...] = ()) -> Passes:
        """What a correct device may give."""
        flushed = None if found.flushed is None else (found.flushed.values, found.flushed.worst)
        if not found.worst.any():
            return cls(None, None, flushed, not_judged)
        return cls(found.worst, SUSPECT * found.typical, flushed, not_judged)

    @classmethod
    def of_bound(cls, values: Array, bound: Bound | None, tolerance: Tolerance | None, sides: int = SIDES) -> Passes:
        """By the rules of manifests up to version 2: so many bounds of what dmlcy promises of itself."""
        if bound is None:
            return cls(None)
        with np.errstate(over="ignore"):  # an infinite difference is allowed where the bound is half the range
            return cls(sides * (of_results(bound, values) if tolerance is None else tolerance))

    def without(self, standing: Mask | None) -> Passes:
        """The same for the elements that stand; the others count as equal."""
        if standing is None:
            return self
        masks = tuple((name, mask & standing) for name, mask in self.not_judged)
        return replace(self, not_judged=masks)


@dataclass(frozen=True, slots=True)
class Device:
    """What the user says of the device.

    ``ulp``, ``rtol`` and ``atol`` replace the bound of rounded outputs: their sum passes. ``half``: the device may add
    FLOAT16 in FLOAT16.
    """

    ulp: float | None = None
    rtol: float | None = None
    atol: float | None = None
    half: bool = False

    def replaced(self, passes: Passes, values: Array) -> Passes:
        """What passes with these options."""
        if (self.ulp, self.rtol, self.atol) == (None, None, None) or passes.allowed is None:
            return passes
        size = np.abs(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0))
        allowed = (self.atol or 0.0) + (self.rtol or 0.0) * size
        if self.ulp is not None:
            allowed = allowed + self.ulp * ulp.unit(np.nan_to_num(values), values.dtype)
        unknown = ~np.isfinite(passes.allowed)
        return replace(passes, allowed=np.where(unknown, passes.allowed, allowed), typical=None)


CORRECT: Final = Device()
"""A device of which nothing is said."""


def grouped(tensors: Iterable[tuple[Field, int | None, Array]]) -> dict[str, Any]:
    """Tensors, each with its field and its place in an array, by the Python name of the field: of an array a tuple."""
    found: dict[str, Any] = {}
    for field, entry, values in tensors:
        found[field.python] = values if entry is None else (*found.get(field.python, ()), values)
    return found


def judged(
    desc: OperatorDesc, inputs: Mapping[str, Any], output: str, options: Device = CORRECT
) -> tuple[Array, Passes]:
    """The values of the reference for an output, by its Python name, and what passes for a correct device."""
    found = device(desc, inputs, output, half=options.half)
    passes = Passes.of_device(found, tuple(unjudged(desc, inputs, output)))
    return found.values, options.replaced(passes, found.values)
