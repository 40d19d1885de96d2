"""Properties of recurrent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from checks import assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, several

SEQUENCES = {"input": 2, "hidden_init": 2, "cell_mem_init": 2, "sequence_lengths": 3}
"""The axis of the sequences."""
DIRECTIONS = {"weight": 1, "recurrence": 1, "bias": 2, "hidden_init": 1, "cell_mem_init": 1, "peephole": 2}
STATES = {"hidden_init": "output_single", "cell_mem_init": "output_cell_single"}
"""The states before the first step, and those after the last one."""


def outputs(desc: Any) -> list[str]:
    return [field.python for field in desc.operator.fields if field.kind == "output" and getattr(desc, field.python)]


def changed(arrays: Arrays, axes: dict[str, int], change: Callable[[Array, int], Array]) -> Arrays:
    return {name: change(x, axes[name]) if name in axes else x for name, x in arrays.items()}


def assert_all_same(found: Any, expected: list[Array]) -> None:
    for one, other in zip(several(found), expected, strict=True):
        assert_same_values(np.ascontiguousarray(one), np.ascontiguousarray(other))


def sequences_in_another_order(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Each sequence is computed by itself."""
    turned = changed(arrays, SEQUENCES, np.flip)
    assert_all_same(run(desc, turned), [np.flip(one, 2) for one in several(result)])
    found: bool = arrays["input"].shape[2] > 1
    return found


def _taken(number: int, x: Array, axis: int) -> Array:
    return np.take(x, [number], axis)


def each_direction_by_itself(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Of both directions, and of the same weights in both."""
    count, found = len(desc.activation_descs) // 2, several(result)
    if desc.direction.name != "BIDIRECTIONAL":
        twice = changed(arrays, DIRECTIONS, lambda x, axis: np.concatenate([x, x], axis))
        both = several(run(desc, twice, direction="BIDIRECTIONAL", activation_descs=desc.activation_descs * 2))
        own = 1 if desc.direction.name == "BACKWARD" else 0
        assert_all_same(tuple(one[:, own : own + 1] for one in both), [*found])
        return True
    for number, direction in enumerate(("FORWARD", "BACKWARD")):
        one_way = changed(arrays, DIRECTIONS, partial(_taken, number))
        descs = desc.activation_descs[number * count :][:count]
        alone = run(desc, one_way, direction=direction, activation_descs=descs)
        assert_all_same(alone, [one[:, number : number + 1] for one in found])
    return True


def steps_the_other_way_round(desc: Any, arrays: Arrays, result: Any) -> bool:
    """If all sequences have all steps."""
    steps = arrays["input"].shape[1]
    if desc.direction.name == "BIDIRECTIONAL" or np.any(arrays.get("sequence_lengths", np.uint32(steps)) != steps):
        return False
    other = "FORWARD" if desc.direction.name == "BACKWARD" else "BACKWARD"
    found = run(desc, arrays | {"input": np.flip(arrays["input"], 1)}, direction=other)
    assert_all_same(found, [np.flip(one, 0) for one in several(result)])
    made: bool = steps > 1
    return made


def steps_behind_the_end(desc: Any, arrays: Arrays, result: Any) -> bool:
    """More of them change nothing, whatever the input has there; in the sequence, they are 0."""
    x = arrays["input"]
    steps, batch = x.shape[1:3]
    lengths = arrays.get("sequence_lengths", np.full((1, 1, 1, batch), steps, np.uint32))
    longer = np.concatenate([x, np.full((1, 2, *x.shape[2:]), np.nan, x.dtype)], 1)
    found = several(run(desc, arrays | {"input": longer, "sequence_lengths": lengths}))
    for name, one, other in zip(outputs(desc), found, several(result), strict=True):
        assert_same_values(one[:steps] if name == "output_sequence" else one, other)
        assert name != "output_sequence" or (one[steps:] == 0).all()
    return True


def first_steps_then_the_others(desc: Any, arrays: Arrays, result: Any) -> bool:
    """Forward, with the states of FLOAT32 between them."""
    x = arrays["input"]
    if desc.direction.name != "FORWARD" or x.dtype != np.float32 or "sequence_lengths" in arrays or x.shape[1] < 2:
        return False
    states = [name for name in STATES if hasattr(desc, name)]
    every = {STATES[name]: True for name in states}
    first = run(desc, arrays | {"input": x[:, :1]}, output_sequence=None, **every)
    rest = arrays | {"input": x[:, 1:], **dict(zip(states, several(first), strict=True))}
    found = several(run(desc, rest))
    for name, one, other in zip(outputs(desc), found, several(result), strict=True):
        assert_same_values(one, other[1:] if name == "output_sequence" else other)
    return True


def properties(operator: Operator) -> list[Property]:
    return [
        sequences_in_another_order,
        each_direction_by_itself,
        steps_the_other_way_round,
        steps_behind_the_end,
        first_steps_then_the_others,
    ]
