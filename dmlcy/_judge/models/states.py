"""The values that a node should give where the device has kept only some of the values: errors are passed on through
the others.

A value that the device has is taken as it is. Any other one is computed, with the error that a correct device may have
made in it. To find out how much of this error reaches the values behind it, these are computed again. The value is
moved up, down, and at random, by as much as passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._judge.passes import Device, Passes, judged
from dmlcy._reference.ulp import unit
from dmlcy._types import Array

DRAWS: Final = 4
"""How often values are moved at random, each element up or down."""
SCENARIOS: Final = 2 + DRAWS
MARGIN: Final = 2
"""The factor of the differences that the scenarios show: they do not have the worst of all signs."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A value: its elements, and those of the scenarios, where the device does not have the value."""

    elements: Array
    scenarios: tuple[Array, ...] = ()


def moved(elements: Array, passes: Passes, others: tuple[Array, ...], seed: int) -> tuple[Array, ...]:
    """The elements of each scenario: off by as much as passes, from the elements that follow from the scenarios of the
    inputs.

    No scenario where each element must be equal, and no input has any.
    """
    allowed = np.zeros(elements.shape) if passes.allowed is None else np.broadcast_to(passes.allowed, elements.shape)
    for _, mask in passes.not_judged:
        allowed = np.where(mask, np.inf, allowed)
    if passes.flushed is not None:
        with np.errstate(all="ignore"):
            distance = np.abs(passes.flushed[0].astype(np.float64) - elements)
        allowed = np.maximum(allowed, np.nan_to_num(distance, nan=np.inf) + passes.flushed[1])
    if not allowed.any():
        return others
    random = np.random.default_rng(seed)
    draws = [random.choice((-1.0, 1.0), elements.shape) for _ in range(DRAWS)]
    signs: list[Array | float] = [1.0, -1.0, *draws]
    starts = others or (elements,) * SCENARIOS
    return tuple(_by(start, allowed, sign) for start, sign in zip(starts, signs, strict=True))


def _by(elements: Array, allowed: Array, sign: Array | float) -> Array:
    with np.errstate(all="ignore"):
        found: Array = elements.astype(np.float64) + sign * allowed
        if elements.dtype.kind == "f":
            return found.astype(elements.dtype)
        ends = np.iinfo(elements.dtype)
        clipped: Array = np.clip(np.nan_to_num(np.rint(found)), ends.min, ends.max)
        return clipped.astype(elements.dtype)


def expected(
    desc: OperatorDesc, inputs: Mapping[str, State | tuple[State, ...]], output: str, options: Device
) -> tuple[Array, Passes, tuple[Array, ...]]:
    """The elements of an output, what passes for these inputs, and the elements for the scenarios of the inputs.

    ``inputs``: a State for each field, or a tuple of them.
    """
    values, passes = judged(desc, _of(inputs, None), output, options)
    if not any(one.scenarios for one in _states(inputs)):
        return values, passes, ()
    return values, passes, tuple(judged(desc, _of(inputs, one), output, options)[0] for one in range(SCENARIOS))


def widened(values: Array, passes: Passes, others: tuple[Array, ...]) -> Passes:
    """The differences that pass where the inputs may be off, too: nothing is suspect then."""
    if not others:
        return passes
    with np.errstate(all="ignore"):
        distances = [np.abs(other.astype(np.float64) - values) for other in others]
        same = [(other == values) | (np.isnan(other) & np.isnan(values)) for other in others]
    apart = np.array([np.where(equal, 0, one) for one, equal in zip(distances, same, strict=True)])
    # A square root of what is moved below 0 says nothing. Where no scenario gives a number, any value passes.
    known = ~np.isnan(apart)
    reach = np.where(known.any(axis=0), MARGIN * np.max(apart, axis=0, initial=0, where=known), np.inf)
    if not reach.any():
        return passes
    if values.dtype.kind == "f":  # one rounding of the result
        reach = reach + np.where(reach > 0, unit(np.nan_to_num(values), values.dtype), 0)
    own = np.zeros(values.shape) if passes.allowed is None else passes.allowed
    return Passes(own + reach, None, passes.flushed, passes.not_judged, passes.standing)


def _states(inputs: Mapping[str, State | tuple[State, ...]]) -> list[State]:
    return [one for given in inputs.values() for one in (given if isinstance(given, tuple) else (given,))]


def _of(inputs: Mapping[str, State | tuple[State, ...]], scenario: int | None) -> dict[str, Any]:
    """The elements of the inputs, or those of a scenario."""

    def elements(one: State) -> Array:
        return one.elements if scenario is None or not one.scenarios else one.scenarios[scenario]

    return {
        name: tuple(map(elements, given)) if isinstance(given, tuple) else elements(given)
        for name, given in inputs.items()
    }
