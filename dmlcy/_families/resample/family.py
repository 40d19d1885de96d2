"""resample: elements between those of a tensor, along each axis by itself; and the gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import RESULTS, At, parts, sizes_of
from dmlcy._families.given import Given
from dmlcy._families.operations import sizes_only
from dmlcy._families.resample.lines import Axis
from dmlcy._families.spread import Spread, idle
from dmlcy._field_types.float import single
from dmlcy._types import Array, Number

HALF: Final = 0.5


class Resample(Family):
    """The family."""

    of_a_part = 24

    def evaluate(self, given: Given, output: str) -> Result:
        """Each axis after the other: the nearest element of each place, a mean of some, or what goes back to them."""
        spreads = _spreads(given, output)
        if _moves(given):
            return Result(_nearest(given.input, spreads), moved=True)
        m = given.arithmetic
        numbers = m.of(given.input)
        return Result(
            _finished(given, _sums(given, numbers, spreads)),
            magnitudes=lambda: _sums(given, m.absolute(numbers), spreads),
        )

    def operations(self, desc: OperatorDesc) -> int:
        """Along each axis in turn two for each element that a place takes: its weight, and the sum."""
        given = sizes_only(desc)
        output = given.outputs[0][0]
        if _moves(given):
            return 0
        sizes, total = [*given.input.shape], 0
        counts, axes = given.values[output].sizes, _axes(given, output)
        changed = [d for d, axis in enumerate(axes) if not axis.is_same()]
        for d in sorted(changed, key=lambda one: counts[one] / sizes[one]):
            if not _is_gradient(given):
                sizes[d] = counts[d]
            weighed = given.field("mode").name == "LINEAR"
            total += int((2 * axes[d].taken(_is_smooth(given, axes[d])) if weighed else 1) * math.prod(sizes))
            sizes[d] = counts[d]
        return total

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``odd_tie``, ``near`` and ``edge`` of a place along an axis; of a gradient, of a place beside it."""
        return {
            "odd_tie": lambda: _along_any(given, output, Axis.odd_ties),
            "near": lambda: _along_any(given, output, Axis.near),
            "edge": lambda: _along_any(
                given, output, lambda axis: axis.edge() if _is_smooth(given, axis) else np.zeros(axis.count, np.bool_)
            ),
        }

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The places that take a marked element."""
        for axis, spread in _spreads(given, output).items():
            marks = spread.touched(marks, axis)
        return marks

    def idle(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The places that have a marked element beside them, if they are means."""
        m, linear = given.arithmetic, given.field("mode").name == "LINEAR"
        axes = {d: axis for d, axis in enumerate(_axes(given, output)) if linear and not axis.is_same()}
        nearby = {d: axis.nearby(m) for d, axis in axes.items() if not _is_smooth(given, axis)}
        if _is_gradient(given):
            nearby = {d: one.turned(m, axes[d].size) for d, one in nearby.items()}
        whole = [d for d in axes if d not in nearby]
        for axis, spread in _spreads(given, output).items():
            marks = spread.touched(marks, axis) if axis in whole else marks
        return idle(marks, nearby)

    def result(self, given: Given, output: str) -> Array:
        """The same, block by block."""
        sizes = tuple(given.values[output].sizes)
        result: Array = np.empty(sizes, given.dtype(output)) if _moves(given) else given.room(output)
        whole = _spreads(given, output) if _is_gradient(given) else None
        for at in parts(sizes, _most(given, output, whole)):
            spreads = _spreads(given, output, at) if whole is None else whole
            needed, inner = list(at), dict(spreads)
            for axis, spread in spreads.items():
                needed[axis], inner[axis] = spread.within(at[axis] if whole else slice(0, spread.count))
            source = given.input[tuple(needed)]
            if _moves(given):
                result[at] = _nearest(source, inner)
                continue
            found = _finished(given, _sums(given, given.arithmetic.of(source), inner))
            result[at] = self.stored(given, found, output, sizes_of(at))
        return result


def _is_gradient(given: Given) -> bool:
    return given.told.words.get("gives") == "gradient"


def _moves(given: Given) -> bool:
    """Whether elements only move."""
    return given.field("mode").name != "LINEAR" and not _is_gradient(given)


def _axes(given: Given, output: str) -> list[Axis]:
    """The axes of the operator, or of that whose gradient it is."""
    sizes, counts = tuple(given.input.shape), tuple(given.values[output].sizes)
    if _is_gradient(given):
        sizes, counts = counts, sizes
    roles, values, rank = given.told.roles, given.values, len(sizes)
    if "factors" in roles:
        factors = given.numbers(roles["factors"], rank)
        return [Axis(*one, None, 0.0, None, False) for one in zip(sizes, counts, factors, strict=True)]
    scales = tuple(map(single, values[roles["scales"]]))
    before = tuple(map(single, values[roles["before"]])) if "before" in roles else (HALF,) * rank
    after = tuple(map(single, values[roles["after"]])) if "after" in roles else (-HALF,) * rank
    direction = given.field("rounding").name if "rounding" in roles else None
    columns, higher = (sizes, counts, scales, before, after), given.told.words.get("tie") == "higher"
    return [Axis(*one, direction, higher) for one in zip(*columns, strict=True)]


def _along_any(given: Given, output: str, of: Callable[[Axis], Array]) -> Array:
    """Whether something is true of the place of an element along an axis; of a gradient, of a place beside it."""
    axes = _axes(given, output)
    result: Array = np.zeros((1,) * len(axes), np.bool_)
    for d, axis in enumerate(axes):
        exact = axis.is_same() or axis.before is None
        found = np.zeros(1, np.bool_) if exact else of(axis)
        if _is_gradient(given) and not exact:
            found = axis.nearby(given.arithmetic).turned(given.arithmetic, axis.size).every.touched(found, 0)
        result = result | found.reshape([-1 if k == d else 1 for k in range(len(axes))])
    return result


def _is_smooth(given: Given, axis: Axis) -> bool:
    """Whether a place takes all elements near it."""
    smooth = "smooth" in given.told.roles and bool(given.field("smooth"))
    return smooth and given.field("mode").name == "LINEAR" and axis.factor < HALF


def _spreads(given: Given, output: str, at: At | None = None) -> dict[int, Spread]:
    """The spread along each axis that has other places in the output; axes that become shorter come first.

    ``at``: to a part of the output, which no gradient has.
    """
    m, found = given.arithmetic, {}
    sizes, counts = given.input.shape, given.values[output].sizes
    for number, whole in enumerate(_axes(given, output)):
        if whole.is_same():
            continue
        axis = whole if at is None else whole.part(at[number])
        if given.field("mode").name != "LINEAR":
            spread = axis.nearest(m)
        else:
            spread = axis.smooth(m) if _is_smooth(given, axis) else axis.linear(m)
        found[number] = spread.turned(m, axis.size) if _is_gradient(given) else spread
    return dict(sorted(found.items(), key=lambda one: counts[one[0]] / sizes[one[0]]))


def _most(given: Given, output: str, whole: Mapping[int, Spread] | None) -> int:
    """The number of elements of the output that are computed at once, so that they take few elements."""
    if whole is not None:
        taken = [spread.most for spread in whole.values()]
    else:
        taken = [axis.taken(_is_smooth(given, axis)) for axis in _axes(given, output) if not axis.is_same()]
    most = RESULTS / 2
    for one in taken:
        most /= one
    return max(1, int(most))


def _nearest(array: Array, spreads: Mapping[int, Spread]) -> Array:
    """The nearest element of each place; the last axis first among equal ones, so that others move whole lines."""
    for axis in sorted(spreads, reverse=True):
        array = np.take(array, spreads[axis].source, axis)
    return array


def _sums(given: Given, numbers: Number, spreads: Mapping[int, Spread]) -> Number:
    for axis, spread in spreads.items():
        numbers = spread.applied(given.arithmetic, numbers, axis)
    return numbers


def _finished(given: Given, numbers: Number) -> Number:
    """Sums of a gradient begin at 0; means of integers are rounded to FLOAT32 before their fractions are dropped."""
    m = given.arithmetic
    if _is_gradient(given):
        return m.add(numbers, 0)
    return numbers if given.input.dtype.kind == "f" else m.single(numbers)


FAMILY: Final = Resample()
