"""scan: each element becomes the sum, or the product, of all elements up to it along an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from dmlcy._arithmetic import scaled
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import blocks
from dmlcy._families.base import Family, Result, tensors_of
from dmlcy._families.given import Given
from dmlcy._types import Array, Number

SUM: Final = "sum"


class Scan(Family):
    """The family."""

    of_a_part = 13

    def evaluate(self, given: Given, output: str) -> Result:
        """The sums or the products of all elements at once."""
        m, axis = given.arithmetic, int(given.field("axis"))
        values = m.of(_turned(given, given.input, axis))

        def scanned(numbers: Array) -> Array:
            found = m.sums(numbers, axis) if _adds(given) else m.products(numbers, axis)
            return _turned(given, _shifted(given, found, None, axis), axis)

        return Result(scanned(values), magnitudes=lambda: scanned(m.absolute(values)))

    def operations(self, desc: OperatorDesc) -> int:
        """The operations: one for each element."""
        return tensors_of(desc)[0].element_count

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``overflowed``: whether a result before the element is infinite, but no element up to it."""

        def overflowed() -> Array:
            axis = int(given.field("axis"))
            seen = [
                np.logical_or.accumulate(_turned(given, ~np.isfinite(one), axis), axis)
                for one in (self.result(given, output), given.input)
            ]
            found: Array = _turned(given, seen[0] & ~seen[1], axis)
            return found

        return {"overflowed": overflowed}

    def result(self, given: Given, output: str) -> Array:
        """The same, in parts: each goes on where the one before it along the axis ends."""
        m, axis = given.arithmetic, int(given.field("axis"))
        source = _turned(given, given.input, axis)
        result: Array = given.room(output)
        target = _turned(given, result, axis)
        steps = blocks.steps_of(source.shape, blocks.BLOCK)
        step, steps[axis] = steps[axis], source.shape[axis]
        for lines in blocks.cut(blocks.whole(source.shape), steps):
            before: Number = None
            if _adds(given):  # a sum begins at 0, and so is never -0
                ends = source[lines]
                before = m.of(np.zeros((*ends.shape[:axis], 1, *ends.shape[axis + 1 :]), source.dtype))
            for first in range(0, source.shape[axis], step):
                at = (*lines[:axis], slice(first, first + step), *lines[axis + 1 :])
                values = m.of(np.ascontiguousarray(source[at]))
                if _adds(given) or values.dtype.kind != "f":
                    joined = _joined(before, values, axis)
                    whole = m.sums(joined, axis) if _adds(given) else m.products(joined, axis)
                    found = _from(whole, axis, joined.shape[axis] - values.shape[axis])
                    ahead, before = before, _from(found, axis, -1)
                else:
                    found, ahead, before = _products(values, before, axis)
                found = _shifted(given, found, ahead, axis)
                target[at] = self.stored(given, found, output, found.shape)
        return result


def _products(values: Array, before: scaled.Parts | None, axis: int) -> tuple[Array, Array | None, scaled.Parts]:
    """Products of floats that go on where others end, these as numbers, and where they end themselves."""
    own = scaled.parts(values)
    joined = own if before is None else (_joined(before[0], own[0], axis), _joined(before[1], own[1], axis))
    fraction, exponent = (_from(one, axis, -values.shape[axis]) for one in scaled.products(joined, axis))
    last = _from(fraction, axis, -1), _from(exponent, axis, -1)
    return scaled.number((fraction, exponent)), None if before is None else scaled.number(before), last


def _adds(given: Given) -> bool:
    return given.told.words["reduction"] == SUM


def _turned(given: Given, array: Array, axis: int) -> Array:
    """The elements in the order in which they are taken."""
    return np.flip(array, axis) if given.is_member("direction", "DECREASING") else array


def _shifted(given: Given, found: Array, before: Array | None, axis: int) -> Array:
    """Results that leave each element itself out, if the use asks for them; ``before``: the one in front of them."""
    if not given.field("exclusive"):
        return found
    first = before
    if before is None:
        last = _from(found, axis, -1)
        kind = np.float64 if found.dtype.kind in "fV" else np.int64
        first = given.arithmetic.of(np.full(last.shape, 0 if _adds(given) else 1, kind))
    return _joined(first, np.delete(found, -1, axis), axis)


def _joined(before: Array | None, values: Array, axis: int) -> Array:
    return values if before is None else np.concatenate([before, values], axis)


def _from(array: Array, axis: int, first: int) -> Array:
    """The elements along an axis from that one on."""
    return array[(slice(None),) * axis + (slice(first, None),)]


FAMILY: Final = Scan()
