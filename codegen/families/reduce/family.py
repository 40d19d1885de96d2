"""reduce: the elements that differ along some axes only become one.

``reduction`` says how, over ``step`` of each element ``x``; ``finish`` is the result, over the reduction ``acc``.
``index`` asks for the place of an extreme instead. ``mode`` names an enum: ``[kernel.members]`` then has such a table
for each member.
"""

from __future__ import annotations

from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.nodes import Name
from ...expr.types import Kind
from ...model import Facts, Operator
from ...source import Table
from ..base import Evaluated, KernelTable, Told, local

REDUCTIONS = ("sum", "product", "least", "greatest")
EXTREMES = ("least", "greatest")
X = {"x": local(Kind.FLOAT)}
TOP = {"top": local(Kind.FLOAT)}
FINISH = {"acc": local(Kind.FLOAT), "count": local(Kind.INT, 1), **TOP}
SIZE = {**FINISH, "total": local(Kind.FLOAT)}


class Reduce(Evaluated):
    """The family."""

    name = "reduce"
    told: ClassVar = {"count": Kind.INT}

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Told:
        """Reads what becomes of the elements."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return Told(kernel.definition)
        kernel.role("over", "reduced", Kind.VECTOR)
        if table.has("direction"):
            kernel.role("direction", "", Kind.ENUM)
        if not table.has("mode"):
            self.function(kernel, table, "")
        else:
            members = kernel.members(kernel.role("mode", "", Kind.ENUM))
            inner = table.table("members", required=True)
            for name in members if inner is not None else ():
                one = inner.table(name, required=True) if inner is not None else None
                if one is not None:
                    self.function(kernel, one, f"members.{name}.")
                    one.finish()
            if inner is not None:
                inner.finish()
        kernel.finish()
        return Told(kernel.definition)

    def function(self, kernel: KernelTable, table: Table, prefix: str) -> None:
        """One way to reduce; ``prefix``: of the keys that say it."""
        if table.has("index"):
            kernel.word(f"{prefix}index", table.choice("index", EXTREMES))
            return
        kernel.word(f"{prefix}reduction", table.choice("reduction", REDUCTIONS))
        for key, names in (("step", X | TOP), ("finish", FINISH), ("size", SIZE)):
            if table.has(key):
                found = kernel.formula(table, key, names, Kind.FLOAT, Kind.INT)
                if found is not None and any(isinstance(node, Name) and node.id == "top" for node in found[0].walk()):
                    kernel.word(f"{prefix}top", "greatest")


FAMILY = Reduce()
