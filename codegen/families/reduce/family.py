"""reduce: the elements that differ along some axes only become one.

``reduction`` says how, over ``step`` of each element ``x``; ``finish`` is the result, over the reduction ``acc``.
``index`` asks for the place of an extreme instead. ``mode`` names an enum: ``[kernel.members]`` then has such a table
for each member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...diagnostics import Diagnostics
from ...expr.nodes import Name, NotCompiled
from ...expr.types import Kind
from ...model import Facts, Operator
from ...source import Table
from ..base import Definition, Evaluated, KernelTable, Looped, Picture, Place, Use, grid, lines, local, shown
from .loops import Case, Fold, Folds

REDUCTIONS = ("sum", "product", "least", "greatest")
EXTREMES = ("least", "greatest")
SIGNS = {
    "sum": ("", " + ", ""),
    "product": ("", " * ", ""),
    "least": ("min(", ", ", ")"),
    "greatest": ("max(", ", ", ")"),
}
"""How a picture writes a reduction: what is before, between and after the elements."""
X = {"x": local(Kind.FLOAT)}
TOP = {"top": local(Kind.FLOAT)}
FINISH = {"acc": local(Kind.FLOAT), "count": local(Kind.INT, 1), **TOP}
SIZE = {**FINISH, "total": local(Kind.FLOAT)}


@dataclass(frozen=True, slots=True)
class ReduceKernel:
    """The view of the templates: ``cases`` are tried in order, the last one holds for all that is left."""

    folds: Folds
    cases: tuple[Case, ...]
    definition: Definition


class Reduce(Looped, Evaluated):
    """The family."""

    name = "reduce"
    told: ClassVar = {
        "count": (Kind.INT, "the number of elements that are reduced to one"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ReduceKernel:
        """Reads what becomes of the elements."""
        kernel = KernelTable(operator, facts, diagnostics)
        folds, cases = Folds(operator), list[Case]()
        table = kernel.table
        if table is None:
            return ReduceKernel(folds, (), kernel.definition)
        kernel.role("over", "reduced", Kind.VECTOR)
        if table.has("direction"):
            folds.directions(kernel.role("direction", "", Kind.ENUM), kernel)
        if not table.has("mode"):
            cases += self.function(kernel, table, "", folds, ())
        else:
            mode = kernel.role("mode", "", Kind.ENUM)
            members = kernel.members(mode)
            inner = table.table("members", required=True)
            for name, constant in members.items() if inner is not None else ():
                one = inner.table(name, required=True) if inner is not None else None
                if one is not None:
                    test = f"a.{mode} == {constant}"
                    cases += self.function(kernel, one, f"members.{name}.", folds, (test,))
                    one.finish()
            if inner is not None:
                inner.finish()
        kernel.finish()
        return ReduceKernel(folds, tuple(cases), kernel.definition)

    def function(
        self, kernel: KernelTable, table: Table, prefix: str, folds: Folds, tests: tuple[str, ...]
    ) -> list[Case]:
        """One way to reduce, where ``tests`` hold; ``prefix``: of the keys that say it."""
        if table.has("index"):
            return [Case(tests, folds.place(kernel.word(f"{prefix}index", table.choice("index", EXTREMES))))]
        reduction = kernel.word(f"{prefix}reduction", table.choice("reduction", REDUCTIONS))
        nodes = {}
        for key, names in (("step", X | TOP), ("finish", FINISH), ("size", SIZE)):
            if table.has(key):
                found = kernel.formula(table, key, names, Kind.FLOAT, Kind.INT)
                if found is not None and any(isinstance(node, Name) and node.id == "top" for node in found[0].walk()):
                    kernel.word(f"{prefix}top", "greatest")
                formula = kernel.definition.formulas.get(f"{prefix}{key}")
                if formula is not None:
                    nodes[key] = formula.loops
        try:
            return folds.cases(Fold(reduction, nodes.get("step"), nodes.get("finish")), tests)
        except NotCompiled as error:
            kernel.lack(f"in {prefix}{reduction}, {error.message}")
            return []

    def needs(self, kernel: ReduceKernel) -> Sequence[str]:
        """No let: the sizes of the output say which axes are folded."""
        return ()

    def picture(self, kernel: ReduceKernel, use: Use) -> Picture:
        """Each element of the output is made of all elements that differ along the reduced axes only."""
        roles, formulas = kernel.definition.roles, kernel.definition.formulas
        sizes = use.values(roles["over"], len(use.sizes(use.input)))
        found = lines(grid(use.sizes(use.input)), [d for d, size in enumerate(sizes) if size == 1])
        sources = {place: tuple(line) for place, line in found.items()}
        prefix = f"members.{use.value(roles['mode']).name}." if "mode" in roles else ""
        said = SIGNS.get(kernel.definition.words.get(f"{prefix}reduction", ""))
        worked: dict[Place, str] = {}
        if said is not None and not {f"{prefix}step", f"{prefix}finish"} & {*formulas}:
            before, between, after = said
            for place, line in found.items():
                terms = between.join(shown(use.element(use.input, at)) for at in line)
                worked[place] = f"{before}{terms}{after} = {shown(use.element(use.output, place))}"
        caption = ("Each element of the output is computed from the elements of the same colour.",)
        return Picture(caption, sources, {place: place for place in sources}, worked=worked)

    def module(self, kernels: Sequence[ReduceKernel]) -> Mapping[str, Any]:
        """All loops."""
        return {"kernels": kernels}


FAMILY = Reduce()
