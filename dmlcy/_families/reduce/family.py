"""reduce: the elements that differ along some axes only become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from dmlcy._arithmetic.counted import element
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import blocks
from dmlcy._families.base import Family, Result, tensors_of
from dmlcy._families.blocks import At
from dmlcy._families.elements import keys
from dmlcy._families.given import Given
from dmlcy._families.operations import along, sizes_only
from dmlcy._families.passes import Pass, Passes
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array, Number

TOP: Final = "top"
ACC: Final = "acc"


class Reduce(Family):
    """The family."""

    of_a_part = 12

    def evaluate(self, given: Given, output: str) -> Result:
        """The reduction of all elements at once."""
        whole = [blocks.whole(given.input.shape)]
        if f"{_prefix(given)}index" in given.told.words:
            return Result(_index(given, whole).astype(given.dtype(output)), moved=True)
        return self.reduced(given, whole)

    def result(self, given: Given, output: str) -> Array:
        """The same, in parts."""
        index = f"{_prefix(given)}index" in given.told.words
        axes = _axes(given)
        result: Array = np.empty(given.values[output].sizes, given.dtype(output)) if index else given.room(output)
        for at in blocks.around(given.input.shape, axes, blocks.BLOCK):
            part = given.with_arrays({name: array[at] for name, array in given.arrays.items()})
            inner = [*blocks.parts(part.input.shape, blocks.BLOCK)]
            target = result[tuple(slice(0, 1) if d in axes else one for d, one in enumerate(at))]
            if index:
                target[...] = _index(part, inner)
            else:
                target[...] = self.stored(part, self.reduced(part, inner).values, output, target.shape)
        return result

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], int]]:
        """``count``: elements that become one."""
        return {"count": lambda: math.prod(given.input.shape[d] for d in _axes(given))}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The results that a marked element goes into."""
        return np.asarray(marks.any(_axes(given), keepdims=True))

    def operations(self, desc: OperatorDesc) -> int:
        """For each element those of ``step`` and one of the reduction; for each result those of ``finish``."""
        given = sizes_only(desc)
        prefix, sizes = _prefix(given), tensors_of(desc)[0].sizes
        x, acc, top = element("x", sizes), element(ACC, given.output_sizes), element(TOP, given.output_sizes)
        step = along(given, f"{prefix}step", x=x, top=top)
        finish = along(given, f"{prefix}finish", acc=acc, top=top, count=math.prod(sizes))
        return step + (1 + (f"{prefix}top" in given.told.words)) * math.prod(sizes) + finish

    def reduced(self, given: Given, parts: Sequence[At]) -> Result:
        """The reduction of a tensor in parts."""
        m, prefix, axes = given.arithmetic, _prefix(given), _axes(given)
        formulas, words = given.told.formulas, given.told.words
        sizes = given.input.shape

        def elements(at: At) -> Mapping[str, Number]:
            return {"x": m.of(np.ascontiguousarray(given.input[at]))}

        def step(names: Mapping[str, Number]) -> Number:
            if f"{prefix}step" not in formulas:
                return names["x"]
            top = {} if TOP not in names else {TOP: finite(names[TOP])}
            return given.value(f"{prefix}step", x=names["x"], **top)

        def finite(top: Number) -> Number:
            return m.where(m.isfinite(top), top, 0.0)

        passes = [Pass(TOP, "greatest", lambda names: names["x"])] if f"{prefix}top" in words else []
        passes.append(Pass(ACC, words[f"{prefix}reduction"], step))
        run = partial(Passes, m, elements=elements, sizes=sizes, axes=axes, parts=parts)
        found = run(passes).results
        names = {"count": math.prod(sizes[d] for d in axes), ACC: found[ACC]}
        if TOP in found:
            names[TOP] = finite(found[TOP])
        values = given.value(f"{prefix}finish", **names) if f"{prefix}finish" in formulas else found[ACC]

        def magnitudes() -> Number:
            if f"{prefix}size" not in formulas:
                return m.absolute(values)
            total = run([*passes[:-1], Pass("total", "sum", lambda elements: m.absolute(step(elements)))])
            return given.value(f"{prefix}size", **names, total=total.results["total"])

        return Result(values, magnitudes=magnitudes)


def _prefix(given: Given) -> str:
    """Of the keys of [kernel] that say how this use reduces."""
    return f"members.{given.field('mode').name}." if "mode" in given.told.roles else ""


def _axes(given: Given) -> tuple[int, ...]:
    """The axes along which elements become one; others have as many results as elements."""
    sizes = given.values[next(iter(given.arrays))].sizes
    kept = given.numbers(given.told.roles["over"], len(sizes))
    return tuple(d for d, size in enumerate(sizes) if kept[d] != size)


def _index(given: Given, parts: Sequence[At]) -> Array:
    """The places of the extremes among the elements along the axes, which are counted in row-major order."""
    descending = given.told.words[f"{_prefix(given)}index"] == "greatest"
    last = given.is_member("direction", "DECREASING")
    axes, sizes = _axes(given), given.input.shape
    results = tuple(1 if d in axes else size for d, size in enumerate(sizes))
    best: dict[tuple[int, ...], Array] = {}
    places: Array = np.zeros(results, np.int64)
    for at in parts:
        found, place = _first(keys(np.ascontiguousarray(given.input[at]), descending), axes, last)
        number = _numbered(place, at, sizes, axes)
        target = tuple(slice(0, 1) if d in axes else one for d, one in enumerate(at))
        before = best.get(_begin(target))
        if before is not None:
            old = places[target]
            closer = number > old if last else number < old
            better = (found < before) | ((found == before) & closer)
            found, number = np.where(better, found, before), np.where(better, number, old)
        best[_begin(target)], places[target] = found, number
    return places


def _begin(at: At) -> tuple[int, ...]:
    return tuple(one.start for one in at)


def _first(ordered: Array, axes: tuple[int, ...], last: bool) -> tuple[Array, Array]:
    """The least key along some axes, and its place: the first one, or the last."""
    kept = [d for d in range(ordered.ndim) if d not in axes]
    lines = ordered.transpose(*kept, *axes).reshape(*(ordered.shape[d] for d in kept), -1)
    place = lines.shape[-1] - 1 - lines[..., ::-1].argmin(-1) if last else lines.argmin(-1)
    found = np.take_along_axis(lines, place[..., None], -1)[..., 0]
    shape = tuple(1 if d in axes else size for d, size in enumerate(ordered.shape))
    return found.reshape(shape), place.reshape(shape)


def _numbered(place: Array, at: At, sizes: Sequence[int], axes: tuple[int, ...]) -> Array:
    """Places among the elements of a part along the axes as places among all elements along them."""
    number: Array = np.zeros_like(place)
    inside = indices_of(place, [at[d].stop - at[d].start for d in axes])
    for index, d in zip(inside, axes, strict=True):
        number = number * sizes[d] + index + at[d].start
    return number


FAMILY: Final = Reduce()
