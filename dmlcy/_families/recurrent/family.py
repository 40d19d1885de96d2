"""recurrent: layers that compute a state step by step, in one direction or in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.activations import operations
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import RESULTS, ranges
from dmlcy._families.given import Given
from dmlcy._families.operations import sizes_only
from dmlcy._families.recurrent.numbers import Numbers, Sized
from dmlcy._families.recurrent.units import Gated, Memory, Simple, State, Unit
from dmlcy._types import Array, DType, Number

UNITS: Final[dict[str, type[Unit]]] = {"simple": Simple, "gated": Gated, "memory": Memory}
LAST: Final = ("last", "last_cell")
"""The outputs of the state after the last step."""
BATCH: Final = {"input": 2, "hidden": 2, "cell": 2, "lengths": 3}
"""The axis of the sequences of each tensor that has one."""
BACKWARDS: Final = {"FORWARD": (False,), "BACKWARD": (True,), "BIDIRECTIONAL": (False, True)}
"""Whether each direction goes from the last step to the first."""


class Recurrent(Family):
    """The family."""

    part, of_a_part = RESULTS, 20
    keeps_state = True

    def operations(self, desc: OperatorDesc) -> int:
        """For each step of each sequence, all of full length: two for each product, and those of the units."""
        given = sizes_only(desc)
        _, steps, batch, size = given.arrays[given.told.roles["input"]].shape
        hidden = given.arrays[given.told.roles["recurrence"]].shape[-1]
        unit = UNITS[given.told.words["unit"]]
        total = 0
        for direction in range(len(BACKWARDS[given.field("direction").name])):
            first = direction * unit.functions
            applied = given.field("activations")[first : first + unit.functions]
            each = unit.beside(given) + sum(
                times * operations(one, (1,)) for times, one in zip(unit.used(given), applied, strict=True)
            )
            total += hidden * (2 * unit.gates * (size + hidden) + each)
        return int(steps * batch * total)

    def evaluate(self, given: Given, output: str) -> Result:
        """All steps; beside them, on demand, the sizes of the terms."""
        m, dtype = given.arithmetic, _dtype(given)

        def found(numbers: Numbers) -> Number:
            return _outputs(given, numbers, numbers.shown)[output]

        units = given.of(given.operator.accuracy[dtype_of(given.values[output]).name].ulp)
        return Result(found(Numbers(m, dtype)), magnitudes=lambda: found(Sized(m, dtype, units)))

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``behind``: whether the step is behind the end of its sequence; of a last state, whether there is no step."""

        def behind() -> Array:
            steps = given.values[output].sizes[0] if output == given.told.roles.get("sequence") else 1
            found: Array = np.arange(steps)[:, None, None, None] >= _lengths(given).reshape(1, 1, -1, 1)
            return found

        return {"behind": behind}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """All steps of a sequence from a marked one on, in each direction."""
        steps, lengths = np.arange(marks.shape[1])[:, None], _lengths(given)[:, 0]
        marked = marks[0].any(-1) & (steps < lengths)
        backwards = BACKWARDS[given.field("direction").name]
        orders = [slice(None, None, -1 if backward else 1) for backward in backwards]
        columns = [np.logical_or.accumulate(marked[order])[order] for order in orders]
        found: Array = np.stack(columns, 1)[..., None]
        return found if output == given.told.roles.get("sequence") else np.asarray(found.any(0, keepdims=True))

    def result(self, given: Given, output: str) -> Array:
        """All outputs are of the same steps: the first one that is asked for computes the others.

        Some sequences after others, since each step has numbers of all sequences.
        """
        if output not in given.kept:
            m, dtype = given.arithmetic, _dtype(given)
            _, _, batch, size = given.arrays[given.told.roles["input"]].shape
            rows = given.arrays[given.told.roles["weight"]].shape[2]
            for part in ranges(slice(0, batch), max(1, RESULTS // max(rows, size))):
                some = given.with_arrays({name: _sequences(given, name, part) for name in given.arrays})
                found = _outputs(some, Numbers(m, dtype), lambda one: m.stored(one, dtype, one.shape), part, given.kept)
                given.kept |= found
        result: Array = given.kept.pop(output)
        return result


def _dtype(given: Given) -> DType:
    return given.dtype(given.told.roles["input"])


def _sequences(given: Given, name: str, part: slice) -> Array:
    """Some sequences of a tensor that has an axis of all; else the tensor."""
    array: Array = given.arrays[name]
    axis = next((axis for role, axis in BATCH.items() if given.told.roles.get(role) == name), None)
    return array if axis is None else array[(slice(None),) * axis + (part,)]


def _outputs(
    given: Given,
    numbers: Numbers,
    stored: Callable[[Number], Array],
    part: slice = slice(None),
    before: Mapping[str, Array] = MappingProxyType({}),
) -> dict[str, Array]:
    """Each output that there is, by its name.

    ``part``: which sequences the tensors are of. ``before``: the outputs, as far as other sequences made them.
    """
    roles, lengths = given.told.roles, _lengths(given)
    wanted: dict[str, str] = {
        role: roles[role] for role in ("sequence", *LAST) if role in roles and given.values[roles[role]] is not None
    }
    backwards = BACKWARDS[given.field("direction").name]
    found = dict(before)

    def put(role: str, at: int, direction: int, state: Number, test: Array) -> None:
        rows = stored(numbers.chosen(test, state, _zeros(numbers, state)))
        if wanted[role] not in found:
            found[wanted[role]] = np.empty(given.values[wanted[role]].sizes, rows.dtype)
        found[wanted[role]][at, direction, part] = rows

    for direction, backward in enumerate(backwards):
        state: State = ()
        for at, state in _steps(given, numbers, direction, backward, lengths):
            if "sequence" in wanted:
                put("sequence", at, direction, state[0], lengths > at)
        for role, end in zip(LAST, state, strict=False):
            if role in wanted:
                put(role, 0, direction, end, lengths > 0)
    return found


def _lengths(given: Given) -> Array:
    """The number of steps of each sequence, as a column."""
    array = given.arrays.get(given.told.roles["lengths"])
    _, steps, batch, _ = given.arrays[given.told.roles["input"]].shape
    found: Array = np.full((batch, 1), steps) if array is None else array.astype(np.int64).reshape(batch, 1)
    return found


def _zeros(numbers: Numbers, like: Number) -> Number:
    shape = (like[0] if isinstance(like, tuple) else like).shape
    return numbers.of(np.zeros(shape, np.float32))


def _steps(given: Given, numbers: Numbers, number: int, backward: bool, lengths: Array) -> Iterator[tuple[int, State]]:
    """The state after each step of a direction. Behind the end of a sequence it stays as it is."""
    unit = UNITS[given.told.words["unit"]](given, numbers, number)
    source = given.arrays[given.told.roles["input"]][0]
    steps, batch, _ = source.shape
    state: State = tuple(
        numbers.of(np.zeros((batch, unit.hidden), np.float32) if array is None else array[0, number])
        for array in (unit.tensor(given, role) for role in ("hidden", "cell") if role in given.told.roles)
    )
    some = max(1, RESULTS // (batch * max(unit.gates * unit.hidden, source.shape[2])))
    order = range(steps)[::-1] if backward else range(steps)
    for first in range(0, steps, some):
        piece = [*order[first : first + some]]
        inputs = numbers.times(numbers.of(source[piece]), unit.weight)
        for place, at in enumerate(piece):
            after = unit.step(numbers.part(inputs, place), state)
            state = tuple(
                numbers.shortened(numbers.chosen(lengths > at, *pair)) for pair in zip(after, state, strict=True)
            )
            yield at, state


FAMILY: Final = Recurrent()
