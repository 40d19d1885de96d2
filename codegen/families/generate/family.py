"""generate: elements that are made of their places.

``result`` is an expression of the number ``i`` of an element. With ``filled``, a condition on the diagonal ``d``, it is
the value of the matrices of the last two axes there. With ``line``, an axis, each index gives a line. With
``state``, a tensor, the elements are random.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...diagnostics import Diagnostics
from ...expr.cython import Cython
from ...expr.types import Kind
from ...field_types import type_of
from ...model import Facts, Operator
from ...source import Table
from ..base import Definition, KernelTable, Moved, Use, local

NUMBERS = (Kind.FLOAT, Kind.INT)


@dataclass(frozen=True, slots=True)
class GenerateKernel:
    """The run template's view.

    ``move``: which elements the runtime makes. ``result`` and ``filled`` are Cython; ``scalars`` are the attributes
    that have the data type of the output.
    """

    move: str
    result: str
    filled: str
    scalars: tuple[str, ...]
    roles: Mapping[str, str]
    definition: Definition


class Generate(Moved):
    """The family."""

    name = "generate"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> GenerateKernel:
        """Reads the expressions and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        move, result, filled = "", "0", "False"
        scalars = tuple(field.python for field in operator.attributes if type_of(field).of_elements)
        if table is not None:
            if table.has("line"):
                move = "lines"
                kernel.role("line", "axis", Kind.INT)
                kernel.role("indices", "indices", Kind.TENSOR)
                kernel.role("values", "values", Kind.TENSOR)
            elif table.has("state"):
                kernel.role("state", "", Kind.TENSOR)
                kernel.role("next", "", Kind.TENSOR)
                move = "random"
            else:
                move, result, filled = self.expressions(kernel, table, scalars)
            kernel.finish()
        return GenerateKernel(move, result, filled, scalars, kernel.definition.roles, kernel.definition)

    def expressions(self, kernel: KernelTable, table: Table, scalars: Sequence[str]) -> tuple[str, str, str]:
        """The value of an element, and the elements that have it, both as Cython."""
        names = {"i": local(Kind.INT), **{name: local(Kind.FLOAT) for name in scalars}}
        result = kernel.expression(table, "result", names, Kind.FLOAT, Cython({}))[1]
        move, filled = "sequence" if re.search(r"\bi\b", result) else "fill", "False"
        if table.has("magnitudes"):
            kernel.formula(table, "magnitudes", names, *NUMBERS)
        if table.has("filled"):
            move = "diagonals"
            filled = kernel.expression(table, "filled", {"d": local(Kind.INT)}, Kind.BOOL, Cython({}))[1]
            if kernel.operator.inputs:
                kernel.role("under", kernel.operator.inputs[0].python, Kind.TENSOR)
        return move, result, filled

    def needs(self, kernel: GenerateKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: GenerateKernel) -> None:
        """Only the independent axes can be cut."""

    def picture(self, kernel: GenerateKernel, use: Use) -> None:
        """No figure."""


FAMILY = Generate()
