"""One step of each kind of unit: the next state, of the input and of the state before. The equations are ONNX's."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.given import Given
from dmlcy._families.recurrent.numbers import Numbers, Weights
from dmlcy._field_types.float import single
from dmlcy._types import Array, Number

State = tuple[Number, ...]
"""The hidden state, and the cell state if there is one: a row for each sequence."""


class Unit(ABC):
    """The units of one direction. ``inputs`` of a step are the products with the weights of the input, gate by gate."""

    gates: ClassVar[int]
    functions: ClassVar[int]
    products: ClassVar[tuple[int, ...]] = (0,)
    """The first gate of each product with the weights of the state."""

    def __init__(self, given: Given, numbers: Numbers, direction: int) -> None:
        self.numbers = numbers
        arrays = [given.arrays[given.told.roles[role]][0, direction] for role in ("weight", "recurrence")]
        self.hidden = arrays[1].shape[1]
        self.weight = Weights(arrays[0], given.arithmetic)
        rows = [gate * self.hidden for gate in (*self.products, self.gates)]
        self.recurrences = [Weights(arrays[1][slice(*pair)], given.arithmetic) for pair in itertools.pairwise(rows)]
        first = direction * self.functions
        activations = given.field("activations")
        self.activations: Sequence[OperatorDesc] = activations[first : first + self.functions]
        bias = self.tensor(given, "bias")
        both = None if bias is None else numbers.of(bias[0, 0, direction])
        half = self.gates * self.hidden
        self.biases = [None if both is None else numbers.part(both, slice(at, at + half)) for at in (0, half)]

    @staticmethod
    def tensor(given: Given, role: str) -> Array | None:
        """The array of a tensor; None if it is left out."""
        found: Array | None = given.arrays.get(given.told.roles[role])
        return found

    def gate(self, values: Number, number: int) -> Number:
        """The part of a row of all gates that belongs to one of them."""
        if values is None:
            return None
        return self.numbers.part(values, (..., slice(number * self.hidden, (number + 1) * self.hidden)))

    def activated(self, number: int, values: Number) -> Number:
        """The activation of that number."""
        return self.numbers.activated(self.activations[number], values)

    @classmethod
    def used(cls, given: Given) -> tuple[int, ...]:
        """How often a step applies each activation to a unit."""
        return (1,) * cls.functions

    @classmethod
    @abstractmethod
    def beside(cls, given: Given) -> int:
        """Operations of a unit in a step beside the products and the activations."""

    @abstractmethod
    def step(self, inputs: Number, state: State) -> State:
        """The state after a step."""


class Simple(Unit):
    """H = f(X W + H R + Wb + Rb)."""

    gates, functions = 1, 1

    @classmethod
    def beside(cls, given: Given) -> int:
        """The sum of the two products, and the two biases."""
        return 1 + 2 * _is_there(given, "bias")

    def step(self, inputs: Number, state: State) -> State:
        """One gate."""
        n = self.numbers
        return (self.activated(0, n.add(inputs, n.times(state[0], self.recurrences[0]), *self.biases)),)


class Gated(Unit):
    """H = (1 - z) h + z H, with the gates z, r, h."""

    gates, functions, products = 3, 2, (0, 2)

    def __init__(self, given: Given, numbers: Numbers, direction: int) -> None:
        super().__init__(given, numbers, direction)
        self.after = given.field("reset_after")

    @classmethod
    def used(cls, given: Given) -> tuple[int, ...]:
        """The uses of each activation: the first one is for z and r."""
        return 2, 1

    @classmethod
    def beside(cls, given: Given) -> int:
        """The sums and the biases of three gates, the reset, and the mean of the old and the new state."""
        return 3 * (1 + 2 * _is_there(given, "bias")) + 1 + 4

    def step(self, inputs: Number, state: State) -> State:
        """The reset gate applies to the state, or to the product of the state."""
        n, before = self.numbers, state[0]
        both = n.times(before, self.recurrences[0])
        update, reset = (
            self.activated(0, n.add(self.gate(inputs, k), self.gate(both, k), *(self.gate(b, k) for b in self.biases)))
            for k in (0, 1)
        )
        of_input, of_state = (self.gate(bias, 2) for bias in self.biases)
        if self.after:
            recurrent = n.multiply(reset, n.add(n.times(before, self.recurrences[1]), of_state))
        else:
            recurrent = n.add(n.times(n.multiply(reset, before), self.recurrences[1]), of_state)
        hidden = self.activated(1, n.add(self.gate(inputs, 2), recurrent, of_input))
        return (n.add(n.multiply(n.rest(update), hidden), n.multiply(update, before)),)


class Memory(Unit):
    """C = f C + i c, and H = o h(C), with the gates i, o, f, c."""

    gates, functions = 4, 3

    def __init__(self, given: Given, numbers: Numbers, direction: int) -> None:
        super().__init__(given, numbers, direction)
        self.coupled = given.field("coupled")
        self.limit = single(given.field("limit")) if given.field("limited") else None
        peephole = self.tensor(given, "peephole")
        self.peephole = None if peephole is None else numbers.of(peephole[0, 0, direction])

    @classmethod
    def used(cls, given: Given) -> tuple[int, ...]:
        """The uses of each activation: the first one is for the gates i, o and f; a coupled f has none."""
        return 2 if given.field("coupled") else 3, 1, 1

    @classmethod
    def beside(cls, given: Given) -> int:
        """The sums and the biases of four gates, peepholes and limits of them, and the equations of C and H."""
        coupled = bool(given.field("coupled"))
        gates = 4 * (1 + 2 * _is_there(given, "bias")) + 3 * (4 - coupled) * bool(given.field("limited"))
        return gates + 2 * (3 - coupled) * _is_there(given, "peephole") + coupled + 4

    def clipped(self, values: Number) -> Number:
        """Numbers cut to the limit; NaN stays."""
        limit, m = self.limit, self.numbers.m
        if limit is None:
            return values

        def cut(one: Number) -> Number:
            return m.where(m.isnan(one), one, m.maximum(m.minimum(one, limit), -limit))

        return self.numbers.changed(cut, values)

    def step(self, inputs: Number, state: State) -> State:
        """The output gate sees the new cell state."""
        n = self.numbers
        before, cell = state
        total = n.add(inputs, n.times(before, self.recurrences[0]), *self.biases)

        def gate(number: int, seen: Number) -> Number:
            peephole = None if self.peephole is None else n.multiply(self.gate(self.peephole, number), seen)
            return self.activated(0, self.clipped(n.add(self.gate(total, number), peephole)))

        enters = gate(0, cell)
        forgets = n.rest(enters) if self.coupled else gate(2, cell)
        new = self.activated(1, self.clipped(self.gate(total, 3)))
        after = n.add(n.multiply(forgets, cell), n.multiply(enters, new))
        return n.multiply(gate(1, after), self.activated(2, after)), after


def _is_there(given: Given, role: str) -> bool:
    return Unit.tensor(given, role) is not None
