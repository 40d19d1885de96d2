"""views: each element of an output is an element of an input, at a place that sizes and attributes say."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Adjacent, Family, Result
from dmlcy._families.given import Given
from dmlcy._families.pieces import bounds


class Views(Family):
    """The family."""

    of_a_part = 1

    def computes(self, desc: OperatorDesc) -> bool:
        """No: elements move."""
        return False

    def adjacent(self, desc: OperatorDesc) -> Adjacent | None:
        """Parts along an axis with no larger axis before it."""
        roles = desc.operator.definition.roles
        role = next((role for role in ("join", "split") if role in roles), None)
        if role is None:
            return None
        sides = [getattr(desc, field.python) for field in desc.operator.fields if field.kind in ("input", "output")]
        parts, whole = sides if role == "join" else reversed(sides)
        if math.prod(whole.sizes[: getattr(desc, roles[role])]) != 1:
            return None
        starts = tuple(accumulate((part.element_count for part in parts[:-1]), initial=0))
        return Adjacent(role == "join", starts)

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


def _tiled(tensor: Array, repeats: tuple[int, ...]) -> Array:
    """The tensor so many times along each axis: ``np.tile``, which takes a copy for each axis, in one copy."""
    each = [size for n in tensor.shape for size in (1, n)]
    every = [size for pair in zip(repeats, tensor.shape, strict=True) for size in pair]
    sizes = [n * times for n, times in zip(tensor.shape, repeats, strict=True)]
    return np.broadcast_to(tensor.reshape(each), every).reshape(sizes)


def _part(given: Given, output: str, axis: int) -> Any:
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
