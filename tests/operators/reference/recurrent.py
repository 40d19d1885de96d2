"""RNN, GRU and LSTM by ONNX's equations, one step after the other, each number with the size of its terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .elementwise import Near, activated
from .windows import Array

LARGEST, SMALLEST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).smallest_normal)


class Sized(NamedTuple):
    """Numbers in float64, which are infinite beyond FLOAT32, and the sizes of their terms."""

    value: Array
    size: Array

    def __add__(self, other: Any) -> Sized:
        return self if other is None else Sized(self.value + other.value, self.size + other.size)

    def __mul__(self, other: Any) -> Sized:
        size = np.abs(self.value) * other.size + self.size * np.abs(other.value)
        return Sized(self.value * other.value, normal(size))

    def times(self, weights: Array) -> Sized:
        size = np.nan_to_num(self.size @ np.abs(weights.T), nan=np.inf)
        return Sized(self.value @ weights.T, normal(size))

    def rest(self) -> Sized:
        return Sized(1 - self.value, 1 + self.size)

    def kept(self) -> Sized:
        value = np.where(np.abs(self.value) > LARGEST, np.copysign(np.inf, self.value), self.value)
        return Sized(value, normal(np.where(self.size > LARGEST / 2, np.inf, self.size)))


def normal(size: Array) -> Array:
    """Sizes of FLOAT32, whose digits end below the normal numbers."""
    return np.where((size > 0) & (size < SMALLEST), SMALLEST, size)


class Layer:
    """One direction. ``units``: by how many units a result may be off."""

    def __init__(self, arrays: Sequence[Any], direction: int, functions: Sequence[Any], dtype: Any, units: int) -> None:
        weight, recurrence, bias = arrays[:3]
        self.weight, self.recurrence = (one[0, direction].astype(np.float64) for one in (weight, recurrence))
        self.hidden = recurrence.shape[3]
        both = np.zeros((2, len(self.weight))) if bias is None else bias[0, 0, direction].astype(np.float64)
        self.biases = both.reshape(2, -1)
        self.functions, self.dtype, self.units = functions, dtype, units

    def rows(self, gate: int) -> slice:
        return slice(gate * self.hidden, (gate + 1) * self.hidden)

    def bias(self, which: int, gate: int) -> Sized:
        own = self.biases[which, self.rows(gate)][None]
        return Sized(own, np.abs(own))

    def of_input(self, x: Sized, gate: int) -> Sized:
        return x.times(self.weight[self.rows(gate)]) + self.bias(0, gate)

    def of_state(self, state: Sized, gate: int) -> Sized:
        return state.times(self.recurrence[self.rows(gate)]) + self.bias(1, gate)

    def active(self, number: int, x: Sized) -> Sized:
        """An activation: a sum changes it by as much as the activation does over so many units."""
        x = x.kept()
        near = activated(lambda _: (x.value, x.size * self.units), 1)(
            np.empty(0, self.dtype), fused_activation=self.functions[number]
        )
        size = np.maximum(np.abs(near.exact), np.nan_to_num(near.terms, nan=np.inf) / self.units)
        return Sized(near.exact, size).kept()


def clipped(x: Sized, limit: float | None) -> Sized:
    if limit is None:
        return x
    return Sized(np.where(np.isnan(x.value), np.nan, np.fmax(np.fmin(x.value, limit), -limit)), x.size)


def simple(layer: Layer, x: Sized, state: list[Sized], said: Any) -> list[Sized]:
    return [layer.active(0, layer.of_input(x, 0) + layer.of_state(state[0], 0))]


def gated(layer: Layer, x: Sized, state: list[Sized], said: Any) -> list[Sized]:
    before = state[0]
    update, reset = (layer.active(0, layer.of_input(x, gate) + layer.of_state(before, gate)) for gate in (0, 1))
    after = reset * layer.of_state(before, 2) if said["after"] else layer.of_state((reset * before).kept(), 2)
    found = layer.active(1, layer.of_input(x, 2) + after)
    return [(update.rest() * found + update * before).kept()]


def memory(layer: Layer, x: Sized, state: list[Sized], said: Any) -> list[Sized]:
    before, cell = state

    def gate(number: int, function: int, seen: Sized | None) -> Sized:
        total = layer.of_input(x, number) + layer.of_state(before, number)
        if said["peephole"] is not None and seen is not None:
            own = said["peephole"][None, layer.rows(number)]
            total = total + Sized(own, np.abs(own)) * seen
        return layer.active(function, clipped(total, said["limit"]))

    enters, new = gate(0, 0, cell), gate(3, 1, None)
    forgets = enters.rest() if said["coupled"] else gate(2, 0, cell)
    after = (forgets * cell + enters * new).kept()
    return [(gate(1, 0, after) * layer.active(2, after)).kept(), after]


def run(
    step: Any, functions: int, x: Array, arrays: Sequence[Any], states: Sequence[Any], lengths: Any, peephole: Any,
    activations: Sequence[Any], direction: str, outputs: Sequence[Any], said: dict[str, Any],
) -> Any:  # fmt: skip
    """The wanted outputs: the states after all steps, and the last ones. Without names, all are wanted."""
    _, steps, batch, inputs = x.shape
    hidden = arrays[1].shape[3]
    backwards = {"FORWARD": [False], "BACKWARD": [True], "BIDIRECTIONAL": [False, True]}[direction]
    roundings = steps * (inputs + hidden + 16) * (2 if step is gated else 1)
    ulp = roundings if x.dtype == np.float32 else 1 + roundings // 4096
    ends = np.full((batch, 1), steps) if lengths is None else lengths.astype(np.int64).reshape(batch, 1)
    found = [np.zeros((2, steps, len(backwards), batch, hidden))]
    found += [np.zeros((2, 1, len(backwards), batch, hidden)) for _ in states]
    for number, backward in enumerate(backwards):
        layer = Layer(arrays, number, activations[number * functions :][:functions], x.dtype, ulp)
        said["peephole"] = None if peephole is None else peephole_of(peephole[0, 0, number], hidden)
        state = []
        for one in states:
            value = np.zeros((batch, hidden)) if one is None else one[0, number].astype(np.float64)
            state.append(Sized(value, np.abs(value)))
        for at in reversed(range(steps)) if backward else range(steps):
            row = x[0, at].astype(np.float64)
            new = step(layer, Sized(row, np.abs(row)), state, said)
            pairs = zip(new, state, strict=True)
            state = [Sized(*(np.where(ends > at, *part) for part in zip(*pair, strict=True))) for pair in pairs]
            for part in (0, 1):
                found[0][part, at, number] = np.where(ends > at, state[0][part], 0)
        for place, one in enumerate(state):
            for part in (0, 1):
                found[1 + place][part, 0, number] = np.where(ends > 0, one[part], 0)
    # The sign of a result that is zero is that of an activation or a product.
    results = [Near(value, ulp, np.maximum(np.nan_to_num(size, nan=np.inf), 2.0**-149)) for value, size in found]
    wanted = [one for one, asked in zip(results, outputs, strict=True) if asked]
    wanted = wanted or results
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def peephole_of(weights: Array, hidden: int) -> Array:
    """The weights in the gates i, o and f; there are none in the gate c."""
    return np.concatenate([weights.astype(np.float64), np.zeros(hidden)])


def rnn(
    x: Array, w: Array, r: Array, bias: Any = None, hidden: Any = None, lengths: Any = None, *,
    activation_descs: Any, direction: str = "FORWARD", output_sequence: Any = None, output_single: Any = None,
) -> Any:  # fmt: skip
    with np.errstate(all="ignore"):
        return run(
            simple, 1, x, (w, r, bias), [hidden], lengths, None, activation_descs, direction,
            (output_sequence, output_single), {},
        )  # fmt: skip


def gru(
    x: Array, w: Array, r: Array, bias: Any = None, hidden: Any = None, lengths: Any = None, *,
    activation_descs: Any, direction: str = "FORWARD", linear_before_reset: bool = False,
    output_sequence: Any = None, output_single: Any = None,
) -> Any:  # fmt: skip
    with np.errstate(all="ignore"):
        return run(
            gated, 2, x, (w, r, bias), [hidden], lengths, None, activation_descs, direction,
            (output_sequence, output_single), {"after": linear_before_reset},
        )  # fmt: skip


def lstm(
    x: Array, w: Array, r: Array, bias: Any = None, hidden: Any = None, cell: Any = None, lengths: Any = None,
    peephole: Any = None, *, activation_descs: Any, direction: str = "FORWARD", clip_threshold: float = 0,
    use_clip_threshold: bool = False, couple_input_forget: bool = False, output_sequence: Any = None,
    output_single: Any = None, output_cell_single: Any = None,
) -> Any:  # fmt: skip
    limit = float(np.float32(clip_threshold)) if use_clip_threshold else None
    with np.errstate(all="ignore"):
        return run(
            memory, 3, x, (w, r, bias), [hidden, cell], lengths, peephole, activation_descs, direction,
            (output_sequence, output_single, output_cell_single), {"limit": limit, "coupled": couple_input_forget},
        )  # fmt: skip
