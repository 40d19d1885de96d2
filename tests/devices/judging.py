"""The verdict on the result of a device, and how large its error is beside the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._reference import ulp
from dmlcy._reference.device import SUSPECT, Allowed

Verdict = Literal["passed", "suspect", "FAILED"]


@dataclass(frozen=True, slots=True)
class Judged:
    """Of one output: the verdict, and the largest error in bounds and in typical deviations, with its place."""

    verdict: Verdict
    part: float
    deviations: float
    place: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.part:.3g} of the bound, {self.deviations:.3g} typical deviations, {self.place}"


def ratios(allowed: Allowed, result: Array) -> tuple[Array, Array]:
    """The error of each element as a part of the bound, and in typical deviations."""
    error = ulp.difference(allowed.values, result.reshape(allowed.values.shape))
    parts = [_ratio(error, one) for one in (allowed.worst, allowed.typical)]
    if allowed.flushed is not None:
        parts = [np.minimum(*pair) for pair in zip(parts, ratios(allowed.flushed, result), strict=True)]
    return parts[0], parts[1]


def _ratio(error: Array, most: Any) -> Array:
    with np.errstate(all="ignore"):
        return np.where(error == 0, 0.0, np.where(np.isinf(most), 0.0, error / most))


def judged(allowed: Allowed, result: Array) -> Judged:
    """The verdict on one output."""
    parts, deviations = ratios(allowed, result)
    verdict: Verdict = "FAILED" if (parts > 1).any() else "suspect" if (deviations > SUSPECT).any() else "passed"
    place = np.unravel_index(int(np.argmax(parts if verdict == "FAILED" else deviations)), parts.shape)
    return Judged(verdict, float(parts.max()), float(deviations.max()), tuple(map(int, place)))
