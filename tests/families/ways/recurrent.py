"""The ways of recurrent: one sequence and several groups, blocks of steps, parts of units, every option."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array

import dmlcy as dml
from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float16", "float32")
"""A bound of FLOAT16 is small: faults are noticed."""
GATES = {"simple": 1, "gated": 3, "memory": 4}
FUNCTIONS = {"simple": 1, "gated": 2, "memory": 3}
DESCS = [
    dml.desc.ActivationSigmoid(), dml.desc.ActivationTanh(), dml.desc.ActivationHardSigmoid(alpha=0.25, beta=0.5),
    dml.desc.ActivationSoftsign(), dml.desc.ActivationElu(alpha=0.5), dml.desc.ActivationTanh(),
]  # fmt: skip
OUTPUTS = ("output_sequence", "output_single", "output_cell_single")
SIZES = [
    (3, 1, 5, 7), (2, 3, 70, 30), (5, 2, 4, 65), (1, 13, 9, 100), (4, 25, 3, 5), (2, 50, 6, 17), (9, 1, 40, 150),
    (2, 7, 33, 64), (6, 4, 1, 1), (3, 49, 2, 3), (2, 12, 20, 40), (7, 2, 30, 12), (1, 1, 300, 9), (4, 5, 16, 130),
    (33, 1, 3, 4),
]  # fmt: skip
"""Steps, sequences, elements of a step, units."""
LARGE = [(2, 24, 100, 500), (3, 1, 40, 1100), (900, 30, 12, 30)]


def numbers(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    return (np.random.default_rng(seed).standard_normal(sizes) * 0.4).astype(dtype)


def with_specials(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Some numbers that are large, infinite or NaN: one in fifty."""
    random = np.random.default_rng(seed)
    chosen = random.choice(np.array([np.nan, np.inf, -np.inf, 0, -0.0, 5e4, -5e4, 6e-8]), sizes)
    return np.where(random.random(sizes) < 0.02, chosen, numbers(seed, sizes, "float64")).astype(dtype)


def ways(operator: Operator) -> list[Way]:
    kind = operator.definition.words["unit"]
    return [way(operator, kind, number, *sizes) for number, sizes in enumerate([*SIZES, *LARGE])]


def way(operator: Operator, kind: str, number: int, steps: int, batch: int, inputs: int, hidden: int) -> Way:
    """Each option with some of the sizes; the last inputs are left out, or some before them."""
    direction = ("FORWARD", "BIDIRECTIONAL", "BACKWARD")[number % 3]
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    rows = GATES[kind] * hidden
    names = [field.python for field in operator.fields]
    given: dict[str, Any] = {"direction": direction}
    given["activation_descs"] = [DESCS[(number + place) % 6] for place in range(FUNCTIONS[kind] * directions)]
    every = [name for name in OUTPUTS if name in names]
    given |= {name: (number + place) % 4 != 1 or None for place, name in enumerate(every)}
    given["output_single"] = True
    if kind == "gated":
        given["linear_before_reset"] = number % 2 == 0
    if kind == "memory":
        given |= {"couple_input_forget": number % 3 == 0, "use_clip_threshold": number % 4 == 1, "clip_threshold": 0.3}

    def others(dtype: str) -> Any:
        def made(place: int, *sizes: int) -> Any:
            return None if (number + place) % 4 == 3 else numbers(number + place, sizes, dtype)

        weight = numbers(number + 1, (1, directions, rows, inputs), dtype)
        recurrence = numbers(number + 2, (1, directions, rows, hidden), dtype)
        if number % 4 == 2:
            weight, recurrence = np.asfortranarray(weight), np.asfortranarray(recurrence)
        states = [made(2 + place, 1, directions, batch, hidden) for place in range(2 if kind == "memory" else 1)]
        lengths = np.random.default_rng(number).integers(0, steps + 1, (1, 1, 1, batch)).astype(np.uint32)
        found = [weight, recurrence, made(1, 1, 1, directions, 2 * rows), *states, lengths if number % 2 else None]
        return (*found, made(4, 1, 1, directions, 3 * hidden)) if kind == "memory" else tuple(found)

    return Way((1, steps, batch, inputs), given, number >= len(SIZES), others)


def kinds(operator: Operator) -> list[Kind]:
    return [numbers, with_specials, numbers]
