"""normalize: each element of an output is an expression of elements, and of sums and extremes of them.

``[kernel.pass]`` names what is computed before the ``result``, in this order: reductions along the axes ``over``, sums
over the neighbors ``near``, and values. Each pass is an expression of the inputs and of the passes before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...diagnostics import Diagnostics
from ...expr.nodes import Name
from ...expr.types import Kind, Symbol
from ...model import Facts, Operator
from ...source import Table
from ..base import Definition, Evaluated, KernelTable, Looped, Picture, Use, grid, lines, local
from .loops import Loops
from .near import Near

REDUCTIONS = ("greatest", "least", "mean", "sum")
FROM = "from"
NEIGHBORS = ("around", FROM)
VALUE = "value"
KINDS = (*REDUCTIONS, *NEIGHBORS, VALUE)


@dataclass(frozen=True, slots=True)
class NormalizeKernel:
    """The view of the templates.

    ``struct`` has what the loops read of the operator; ``over`` is the let with the sizes of sums, or ``near`` is that
    with the neighbors along each axis; ``fused`` is the field with the activation of the first output.
    """

    name: str
    struct: str
    over: str
    near: str
    fused: str | None
    loops: Loops | Near | None
    definition: Definition


class Normalize(Looped, Evaluated):
    """The family."""

    name = "normalize"
    told: ClassVar = {
        "equal": (Kind.BOOL, "whether all elements along the reduced axes are equal"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> NormalizeKernel:
        """Reads the passes and the results."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return NormalizeKernel("", "", "", "", None, None, kernel.definition)
        for role in ("over", "near"):
            if table.has(role):
                kernel.role(role, "", Kind.VECTOR)
        kernel.fused()
        kernel.absent(Kind.FLOAT, Kind.INT)
        names = {field.python: local(Kind.FLOAT) for field in operator.inputs}
        if len(operator.inputs) == 1:
            names = {"x": local(Kind.FLOAT)}
        names |= {"position": local(Kind.INT, 0), "count": local(Kind.INT, 1)}
        self.passes(kernel, table, names)
        for key in ("result", "size"):
            self.results(kernel, table, key, names)
        kernel.finish()
        roles = kernel.definition.roles
        return NormalizeKernel(
            name=operator.python,
            struct=f"{operator.desc}Attributes",
            over=roles.get("over", ""),
            near=roles.get("near", ""),
            fused=roles.get("fused"),
            loops=Near(kernel) if "near" in roles else Loops(kernel),
            definition=kernel.definition,
        )

    def needs(self, kernel: NormalizeKernel) -> Sequence[str]:
        """The sizes of sums, or the neighbors."""
        return (kernel.over or kernel.near,)

    def picture(self, kernel: NormalizeKernel, use: Use) -> Picture:
        """Each element of the output is made of all elements that are normalized with it, or of its neighbors."""
        places = [*grid(use.sizes(use.input))]
        if kernel.near:
            reach = reach_of(kernel, use.values(kernel.near, len(use.sizes(use.input))))
            around = {
                place: tuple(
                    other
                    for other in places
                    if all(-a <= j - i <= b for i, j, (a, b) in zip(place, other, reach, strict=True))
                )
                for place in places
            }
            caption = "An element of the output is divided by a sum over the neighbors of the same colour."
            return Picture((caption,), around, {place: place for place in places})
        summed = use.values(kernel.over, len(use.sizes(use.input)))
        keys = {
            place: key
            for key, line in lines(places, [d for d, size in enumerate(summed) if size == 1]).items()
            for place in line
        }
        together = {key: tuple(place for place in places if keys[place] == key) for key in keys.values()}
        return Picture(
            ("The elements of one colour are normalized together.",),
            {place: together[key] for place, key in keys.items()},
            keys,
        )

    def module(self, kernels: Sequence[NormalizeKernel]) -> Mapping[str, Any]:
        """All loops; those of operators that compute the same are one."""
        ours = [kernel for kernel in kernels if not kernel.near]
        firsts: dict[str, NormalizeKernel] = {}
        for kernel in ours:
            firsts.setdefault(texts(kernel), kernel)
        return {
            "kernels": [*firsts.values()],
            "same": [(kernel, firsts[texts(kernel)]) for kernel in ours if firsts[texts(kernel)] is not kernel],
            "neighbors": [kernel for kernel in kernels if kernel.near],
        }

    def passes(self, kernel: KernelTable, table: Table, names: dict[str, Symbol]) -> None:
        """The values that are computed before the results; adds the names of the passes."""
        inner = table.table("pass", required=True)
        found = []
        for name in inner.keys() if inner is not None else ():
            one = inner.table(name, required=True) if inner is not None else None
            if one is None:
                continue
            kind = next((key for key in one.keys() if key in KINDS), VALUE)
            expression = kernel.formula(one, kind, names, Kind.FLOAT, Kind.INT)
            one.finish()
            if expression is not None:
                self.reads(kernel, name, f"pass.{name}.{kind}", names)
            names[name] = local(Kind.FLOAT)
            found.append(f"{name}:{kind}")
        kernel.word("passes", " ".join(found))
        if inner is not None:
            inner.finish()

    def results(self, kernel: KernelTable, table: Table, key: str, names: Mapping[str, Symbol]) -> None:
        """The expression of each output at a key; of several outputs a table, which need not have all their sizes."""
        if not table.has(key):
            return
        if len(kernel.operator.outputs) == 1:
            if kernel.formula(table, key, names, Kind.FLOAT, Kind.INT) is not None:
                self.reads(kernel, key, key, names)
            return
        inner = table.table(key, required=True)
        if inner is not None:
            for output in kernel.operator.outputs:
                one = f"{key}.{output.python}"
                if (inner.has(output.python) or key == "result") and kernel.formula(
                    inner, output.python, names, Kind.FLOAT, Kind.INT
                ) is not None:
                    self.reads(kernel, one, one, names)
            inner.finish()

    def reads(self, kernel: KernelTable, name: str, path: str, names: Mapping[str, Symbol]) -> None:
        """Notes the names that an expression reads: only the passes that a result needs are computed."""
        node = kernel.definition.formulas[path].node
        found = {one.id for one in node.walk() if isinstance(one, Name) and one.id in names}
        kernel.word(f"reads.{name}", " ".join(sorted(found)))


def reach_of(kernel: NormalizeKernel, near: Sequence[int]) -> list[tuple[int, int]]:
    """How far before and behind an element of the output the elements are that it is made of, along each axis.

    A sum over neighbors whose terms are such sums reaches farther than one.
    """
    words = kernel.definition.words
    far: dict[str, list[tuple[int, int]]] = {}

    def joined(name: str) -> list[tuple[int, int]]:
        found = [far[one] for one in words[f"reads.{name}"].split() if one in far]
        return [
            (max(a for a, _ in pairs), max(b for _, b in pairs))
            for pairs in zip([(0, 0)] * len(near), *found, strict=True)
        ]

    for name, _, kind in (word.partition(":") for word in words["passes"].split()):
        own = [((extent - 1) // 2, extent // 2) if kind in NEIGHBORS else (0, 0) for extent in near]
        own = [pair[::-1] for pair in own] if kind == FROM else own
        far[name] = [(a + c, b + d) for (a, b), (c, d) in zip(joined(name), own, strict=True)]
    return joined("result")


def texts(kernel: NormalizeKernel) -> str:
    """The parts of the loops of an operator, without its name."""
    loops = kernel.loops
    if not isinstance(loops, Loops):
        return kernel.name
    found = (loops.members, loops.sweeps, loops.results, loops.ends, loops.saved, loops.single_bits, loops.states)
    return repr(found).replace(kernel.struct, "")


FAMILY = Normalize()
