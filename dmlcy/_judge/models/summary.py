"""A value of a device beside the one of a run here: in numbers, not in verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmlcy._runtime.places import indices_of
from dmlcy._types import Array


@dataclass(frozen=True, slots=True)
class Summary:
    """A value of the device against that of a run here.

    Attributes
    ----------
    largest, mean
        The largest and the mean difference of the elements that are finite on both sides.
    cosine
        The cosine of the angle between the two, as vectors; NaN where one of them is 0 everywhere.
    first
        The index of the first element that differs; None where all are equal.
    nans, infinities
        Elements of the device.
    strange
        Whether the device has a NaN or an infinity where the run here has a finite number.
    """

    largest: float
    mean: float
    cosine: float
    first: tuple[int, ...] | None
    nans: int
    infinities: int
    strange: bool


def summary(own: Array, actual: Array) -> Summary:
    """The two values, which have the same sizes, in numbers."""
    wide, other = own.astype(np.float64).reshape(-1), actual.astype(np.float64).reshape(-1)
    finite = np.isfinite(wide) & np.isfinite(other)
    with np.errstate(all="ignore"):
        apart = np.abs(wide[finite] - other[finite])
        sizes = float(np.linalg.norm(wide[finite])) * float(np.linalg.norm(other[finite]))
        cosine = float(wide[finite] @ other[finite]) / sizes if sizes else float("nan")
    different = np.flatnonzero((wide != other) & ~(np.isnan(wide) & np.isnan(other)))
    first = tuple(int(one) for one in indices_of(int(different[0]), own.shape)) if different.size else None
    return Summary(
        float(apart.max(initial=0)),
        float(apart.mean()) if apart.size else 0.0,
        min(cosine, 1.0) if cosine == cosine else cosine,
        first,
        int(np.isnan(other).sum()),
        int(np.isinf(other).sum()),
        bool((np.isfinite(wide) & ~np.isfinite(other)).any()),
    )
