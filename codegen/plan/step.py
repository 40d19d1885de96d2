"""The steps of a compiled call, as the templates lay them out."""

from __future__ import annotations

from dataclasses import dataclass

from .taken import AttributePlan, TensorPlan

INDENT = "    "


@dataclass(frozen=True, slots=True)
class Search:
    """A loop in front of an expression that reads ``name``.

    The loop finds whether a condition holds for any value of an index, or for all; or the sum of numbers.
    """

    name: str
    function: str  # any, all or sum
    index: str
    count: str
    body: str

    @property
    def declaration(self) -> str:
        """The variable that the loop makes."""
        return f"{'int64_t' if self.function == 'sum' else 'bint'} {self.name}"

    @property
    def start(self) -> str:
        """Its value before the loop."""
        return {"all": "True", "any": "False", "sum": "0"}[self.function]

    @property
    def step(self) -> str:
        """Its value after one more turn."""
        if self.function == "sum":
            return f"checked_add({self.name}, {self.body}, &overflow)"
        return f"{self.name} {'and' if self.function == 'all' else 'or'} ({self.body})"


class Guarded:
    """The common part of steps: a step is done where the tensors ``present`` are there."""

    __slots__ = ()
    present: tuple[str, ...]

    @property
    def margin(self) -> str:
        """In front of the whole step."""
        return INDENT * (2 if self.present else 1)


@dataclass(frozen=True, slots=True)
class LetStep(Guarded):
    """Computes a let, where the tensors that it reads are present."""

    name: str
    index: str | None
    count: str | None
    value: str
    searches: tuple[Search, ...] = ()
    present: tuple[str, ...] = ()

    @property
    def indent(self) -> str:
        """In front of the assignment."""
        return self.margin + INDENT * (self.index is not None)


@dataclass(frozen=True, slots=True)
class CheckStep(Guarded):
    """Refuses where one of the conditions of a rule does not hold, for all values of the indices.

    The rule is skipped where one of the tensors ``present`` is left out. ``counts``: the index of the outer loop, if
    there is one, is that of the rule.
    """

    rule: str
    loops: tuple[tuple[str, str], ...]  # (index, count), the outer one first
    conditions: tuple[str, ...]
    elements: tuple[tuple[str, str], ...] = ()  # of tensors, which the conditions read more than once: (name, value)
    searches: tuple[Search, ...] = ()
    present: tuple[str, ...] = ()
    counts: bool = True

    @property
    def index(self) -> str:
        """The index at which the rule does not hold."""
        return self.loops[0][0] if self.loops and self.counts else "0"

    @property
    def indent(self) -> str:
        """In front of the conditions."""
        return self.margin + INDENT * len(self.loops)


@dataclass(frozen=True, slots=True)
class SizesStep:
    """Gives an output its sizes, or compares those of an input."""

    tensor: TensorPlan
    tied_to: str | None  # the tensor that has the data type too which a call has said, where both are there
    items: tuple[tuple[str, str | None], ...]  # (size, None) or (vector, count)
    asked: bool = False  # a call may say them; those of each tensor of an array it must
    present: tuple[str, ...] = ()  # an input is compared only where these are there


@dataclass(frozen=True, slots=True)
class TypeStep:
    """Gives an output the data type that follows."""

    output: str
    dtype: str


@dataclass(frozen=True, slots=True)
class TakeStep:
    """Takes an attribute."""

    attribute: AttributePlan


Step = LetStep | CheckStep | SizesStep | TakeStep | TypeStep
