"""views: each element of an output is an element of an input, at a place that sizes and attributes say."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any, Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Part, Result
from dmlcy._families.given import Given, kernel_of
from dmlcy._families.pieces import bounds
from dmlcy._types import Array, Number


class Views(Family):
    """The family."""

    of_a_part = 1

    def computes(self, desc: OperatorDesc) -> bool:
        """No: elements move."""
        return False

    def joined(self, desc: OperatorDesc) -> tuple[int, ...] | None:
        """Along an axis with no larger axis before it."""
        roles = desc.operator.definition.roles
        if "join" not in roles:
            return None
        inputs, whole = _sides(desc)
        if math.prod(whole.sizes[: getattr(desc, roles["join"])]) != 1:
            return None
        return tuple(accumulate((part.element_count for part in inputs[:-1]), initial=0))

    def parts(self, desc: OperatorDesc) -> tuple[Part, ...] | None:
        """Places in steps, or those along an axis, or the whole input, repeated where its size is 1."""
        definition = desc.operator.definition
        roles = definition.roles
        given, made = _sides(desc)
        if "split" in roles:
            axis = getattr(desc, roles["split"])
            starts = accumulate((one.sizes[axis] for one in made[:-1]), initial=0)
            whole = Part.whole(given.rank)
            return tuple(Part(tuple(start * (k == axis) for k in range(given.rank)), whole.steps) for start in starts)
        if "repeats" in roles:
            repeats = getattr(desc, roles["repeats"])
            if any(size != 1 != times for size, times in zip(given.sizes, repeats, strict=True)):
                return None
            return (Part((0,) * given.rank, tuple(int(size != 1) for size in given.sizes)),)
        if definition.words.get("places") == "input":
            kernel = kernel_of(desc)
            first, steps = (kernel.numbers(roles[name], given.rank) for name in ("start", "step"))
            return (Part(tuple(first), tuple(steps)),)
        return None

    def evaluate(self, given: Given, output: str) -> Result:
        """The elements of the output, bit for bit."""
        roles = given.told.roles
        if "join" in roles:
            return Result(np.concatenate(given.input, given.field("join")), moved=True)
        if "split" in roles:
            return Result(_part(given, output, given.field("split")), moved=True)
        if "repeats" in roles:
            return Result(_tiled(given.input, given.field("repeats")), moved=True)
        sizes = tuple(given.values[output].sizes)
        if given.told.words["places"] == "input":
            return Result(given.input[_places(given, sizes)], moved=True)
        result: Array = np.zeros(sizes, given.input.dtype)
        result[_places(given, given.input.shape)] = given.input
        return Result(result, moved=True)


def _sides(desc: OperatorDesc) -> tuple[Any, Any]:
    """The input or the inputs, and the output or the outputs."""
    inputs, outputs = (
        next(getattr(desc, field.python) for field in desc.operator.fields if field.kind == kind)
        for kind in ("input", "output")
    )
    return inputs, outputs


def _tiled(tensor: Array, repeats: tuple[int, ...]) -> Array:
    """The tensor so many times along each axis: ``np.tile``, which takes a copy for each axis, in one copy."""
    each = [size for n in tensor.shape for size in (1, n)]
    every = [size for pair in zip(repeats, tensor.shape, strict=True) for size in pair]
    sizes = [n * times for n, times in zip(tensor.shape, repeats, strict=True)]
    return np.broadcast_to(tensor.reshape(each), every).reshape(sizes)


def _part(given: Given, output: str, axis: int) -> Number:
    """The part of the input that is one of the outputs."""
    if not given.kept:
        ends = bounds([tensor.sizes[axis] for _, tensor in given.outputs])
        names = (name for name, _ in given.outputs)
        given.kept |= zip(names, map(slice, ends, ends[1:]), strict=True)
    return given.input[(slice(None),) * axis + (given.kept[output],)]


def _places(given: Given, sizes: tuple[int, ...]) -> tuple[slice, ...]:
    """So many places along each axis, from the first one on in steps of either sign."""
    places = []
    rank, roles = len(sizes), given.told.roles
    starts, steps = given.numbers(roles["start"], rank), given.numbers(roles["step"], rank)
    for first, step, size in zip(starts, steps, sizes, strict=True):
        end = first + (size - 1) * step + (1 if step > 0 else -1)
        places.append(slice(first, end if end >= 0 else None, step))
    return tuple(places)


FAMILY: Final = Views()
