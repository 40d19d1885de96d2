"""generate: elements that are made of their places.

``result`` is an expression of the number ``i`` of an element, or with ``filled``, a condition on the diagonal ``d``,
the value that the matrices of the last two axes have there. With ``line``, an axis, each index gives a line. With
``state``, a tensor, the elements are random.
"""

from __future__ import annotations

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...field_types import type_of
from ...model import Facts, Operator
from ..base import Evaluated, KernelTable, Told, local

NUMBERS = (Kind.FLOAT, Kind.INT)


class Generate(Evaluated):
    """The family."""

    name = "generate"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads the expressions and the roles."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return Told(kernel.definition)
        if table.has("line"):
            kernel.role("line", "axis", Kind.INT)
            kernel.role("indices", "indices", Kind.TENSOR)
            kernel.role("values", "values", Kind.TENSOR)
        elif table.has("state"):
            kernel.role("state", "", Kind.TENSOR)
            kernel.role("next", "", Kind.TENSOR)
        else:
            self.expressions(kernel, operator)
        kernel.finish()
        return Told(kernel.definition)

    def expressions(self, kernel: KernelTable, operator: Operator) -> None:
        """What an element is, and where."""
        table = kernel.table
        assert table is not None
        scalars = {field.python: local(Kind.FLOAT) for field in operator.attributes if type_of(field).of_elements}
        names = {"i": local(Kind.INT), **scalars}
        kernel.formula(table, "result", names, *NUMBERS)
        if table.has("magnitudes"):
            kernel.formula(table, "magnitudes", names, *NUMBERS)
        if table.has("filled"):
            kernel.formula(table, "filled", {"d": local(Kind.INT)}, Kind.BOOL)
            if operator.inputs:
                kernel.role("under", operator.inputs[0].python, Kind.TENSOR)


FAMILY = Generate()
