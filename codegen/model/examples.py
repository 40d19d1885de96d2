"""Worked examples of an operator, and its equivalents in other libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Span


@dataclass(frozen=True, slots=True)
class TensorData:
    """A tensor of an example."""

    dtype: str
    sizes: tuple[int, ...]
    data: Any


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: documented (``source``) or derived (``calculation``).

    The tensors are there by the Python name of the field; those of an array of tensors as ``inputs[0]``, ``inputs[1]``.
    """

    title: str
    source: str | None
    calculation: str | None
    inputs: Mapping[str, TensorData]
    attributes: Mapping[str, Any]
    outputs: Mapping[str, TensorData]
    figure: tuple[tuple[int, ...], ...] | None  # the output elements that the figure follows; None: not in it
    span: Span | None
    contradicts: str = ""  # of a documented one that its own page contradicts: what it prints, and what is right
    sized: bool = False  # the caller says the sizes of the outputs, though a formula gives some

    def tensors_of(self, name: str) -> list[TensorData]:
        """The input of this name, or the inputs of an array of tensors; empty where it is left out."""
        found = (tensor for path, tensor in self.inputs.items() if path.partition("[")[0] == name)
        return list(found)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An expression of Python, and the values that it gives or the exception that it raises."""

    code: str
    gives: Any
    raises: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of another library: after ``setup``, the outcome here and there."""

    says: str
    setup: str
    ours: Outcome
    theirs: Outcome


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The same in another library; ``shown`` is a call here and there, after ``setup``, with equal results."""

    library: str
    call: str
    source: str
    note: str
    setup: str
    shown: tuple[Outcome, ...]
    differs: tuple[Difference, ...]
