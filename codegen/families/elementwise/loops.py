"""The loops of operators of elementwise: which data types each takes, and how it computes a result.

A loop takes contiguous rows: dmlcy/_runtime/elements.pyx makes them of tensors. Results that no loop computes yet are
noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...expr.nodes import Node, NotCompiled
from ...field_types import type_of
from ..base import KernelTable
from .operands import Made, Operands
from .ways import Way, Ways

MOST_INPUTS, MOST_TENSORS = 5, 8  # of elements.pxd
Box = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ElementLoop:
    """A loop. ``tests``: the conditions on a call in Cython, one of which holds where the loop computes it."""

    name: str
    way: Way
    tests: tuple[str, ...]


class Loops:
    """The parts of an operator that the templates read.

    ``converts``: the loops of conversions.h compute the result. ``inputs``: the tensors that loops take, in Cython;
    ``tensors``: the tensors that are made for this; ``members``: the values that a loop reads of the
    operator, as (C type, name, value in Cython); ``once``: the values computed of these before a loop runs, as (name,
    expression in C).
    """

    def __init__(self, kernel: KernelTable, bits: bool) -> None:
        self.kernel, self.operator = kernel, kernel.operator
        self.made: tuple[ElementLoop, ...] = ()
        self.converts = False
        self.inputs: tuple[str, ...] = ()
        self.tensors: tuple[Made, ...] = ()
        self.members: tuple[tuple[str, str, str], ...] = ()
        lack = self.lack()
        if lack is not None:
            kernel.lack(lack)
        elif not kernel.diagnostics.errors:
            try:
                self.make(bits)
            except NotCompiled as error:
                kernel.lack(f"in result, {error.message}")

    @property
    def once(self) -> tuple[tuple[str, str], ...]:
        """The values that are computed once."""
        return tuple(dict.fromkeys(one for loop in self.made for one in loop.way.once))

    def lack(self) -> str | None:
        """The reason why loops cannot take the tensors; None: no reason is known."""
        words = self.kernel.definition.words
        unnamed = (one for one in self.operator.inputs if type_of(one).several and f"tensors.{one.python}" not in words)
        return "no loop takes an array of tensors without names yet" if next(unnamed, None) else None

    def make(self, bits: bool) -> None:
        """The loops, each for all combinations of data types with the same types of C."""
        operands = Operands(self.operator, self.kernel.definition, self.kernel.facts)
        lack = operands.lack()
        count = len(operands.elements)
        if lack is None and (count > MOST_INPUTS or count + len(self.operator.outputs) > MOST_TENSORS):
            lack = f"no loop takes more than {MOST_INPUTS} inputs yet, or more than {MOST_TENSORS} tensors"
        if lack is not None:
            self.kernel.lack(lack)
            return
        self.inputs = tuple(one.tensor for one in operands.elements.values())
        self.tensors = tuple(one.made for one in operands.elements.values() if one.made is not None)
        self.converts = operands.only_converts
        if self.converts:
            return
        result, integers = self.nodes("result"), self.nodes("integers")
        found: dict[Way, set[tuple[str, ...]]] = {}
        for dtypes, scaled, way in Ways(operands, self.kernel.facts, result, integers or result, bits).all():
            found.setdefault(way, set()).add((*dtypes.values(), "scaled" if scaled else ""))
        self.made = tuple(
            ElementLoop(f"{self.operator.python}_{number}", way, tuple(self.tests(operands, points)))
            for number, (way, points) in enumerate(found.items())
        )
        read = {member for loop in self.made for _, _, member in loop.way.scalars}
        once = " ".join(text for _, text in self.once)
        members = [member for scalar in operands.scalars for member in scalar.members]
        self.members = tuple(one for one in members if one[1] in read or one[1] in once)

    def nodes(self, key: str) -> dict[str, Node]:
        """The expressions at a key, by outputs; of one output, which has no table, at the key itself."""
        formulas = self.kernel.definition.formulas
        found = {field.python: formulas.get(f"{key}.{field.python}") for field in self.operator.outputs}
        if key in formulas:
            found = {self.operator.outputs[0].python: formulas[key]}
        return {name: formula.loops for name, formula in found.items() if formula is not None}

    def tests(self, operands: Operands, points: set[tuple[str, ...]]) -> list[str]:
        """Conditions on a call, one of which holds for the data types of some points, and with a scale or without."""
        axes: dict[str, Sequence[str]] = {
            f"a.{operands.holder(types)}.dtype": dtypes for types, dtypes in operands.variables.items()
        }
        scaled = self.kernel.definition.roles.get("scaled")
        given = None if scaled is None else f"a.{scaled}_given"
        return [condition(box, axes, given) for box in boxes(points)]


def boxes(points: set[tuple[str, ...]]) -> list[Box]:
    """The points as products of sets of coordinates."""
    if points == {()}:
        return [()]
    rests: dict[str, set[tuple[str, ...]]] = {}
    for first, *rest in sorted(points):
        rests.setdefault(first, set()).add(tuple(rest))
    alike: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for first, others in rests.items():
        alike.setdefault(frozenset(others), []).append(first)
    return [(tuple(firsts), *box) for others, firsts in alike.items() for box in boxes({*others})]


def condition(box: Box, axes: Mapping[str, Sequence[str]], given: str | None) -> str:
    """The condition that data types are in a box, in Cython; its last side says whether there is a scale."""
    parts = []
    for (name, every), side in zip(axes.items(), box, strict=False):
        if len(side) < len(every):
            either = " or ".join(f"{name} == {dtype}" for dtype in every if dtype in side)
            parts.append(f"({either})" if len(side) > 1 else either)
    if given is not None and len(box[-1]) == 1:
        parts.append(given if box[-1][0] else f"not {given}")
    return " and ".join(parts)
