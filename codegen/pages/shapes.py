"""The formulas of sizes on an operator's page: first the outputs, then the quantities in the order of their use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..expr.latex import latex, word
from ..expr.nodes import Call, Index, Name, Node, Number, rebuilt
from ..expr.text import formula
from ..expr.types import Scope
from ..model import Let, Operator
from .markdown import block, cell, code, table, wrapped


@dataclass(frozen=True, slots=True)
class Equation:
    """A quantity, the let that says the same of it, and its value."""

    name: str
    index: str | None
    alias: str | None
    value: Node

    def line(self, scope: Scope) -> str:
        """The equation, aligned at its first sign."""
        below = "" if self.index is None else f"_{{{self.index}}}"
        also = "" if self.alias is None else f"{word(self.alias)}{below} = "
        return f"{word(self.name)}{below} &= {also}{latex(unclamped(self.value), scope)}"


class Shapes:
    """The sizes of an operator's tensors as formulas.

    ``used`` are the lets that these formulas need, in the order of their first use, and ``others`` the lets that only
    rules and the accuracy need.
    """

    def __init__(self, spec: Operator) -> None:
        self.scope = spec.scope
        self.lets = {let.name: let for let in spec.lets}
        self.sizes = [self._sizes(name, node) for name, node in _ordered(spec)]
        said = {equation.alias for equation in self.sizes}
        needed = self._needed(equation.value for equation in self.sizes)
        self.used = [let for let in needed if let.name not in said]
        self.others = [let for let in spec.lets if let.name not in said and let not in needed]

    def _sizes(self, name: str, node: Node) -> Equation:
        let = self.lets.get(node.id) if isinstance(node, Name) else None
        return Equation(name, None, None, node) if let is None else Equation(name, let.index, let.name, let.value.node)

    def _needed(self, nodes: Iterable[Node]) -> list[Let]:
        """The lets that nodes read, and then the lets that these read."""
        found: dict[str, Let] = {}
        waiting = [*nodes]
        while waiting:
            names = (part.id for node in waiting for part in node.walk() if isinstance(part, Name))
            fresh = {name: self.lets[name] for name in names if name in self.lets and name not in found}
            found |= fresh
            waiting = [let.value.node for let in fresh.values()]
            waiting += [let.count.node for let in fresh.values() if let.count is not None]
        return [*found.values()]

    @property
    def formulas(self) -> str:
        """The sizes of the tensors that have a formula."""
        return _typeset(equation.line(self.scope) for equation in self.sizes)

    def typeset(self, lets: Iterable[Let]) -> str:
        """Some named quantities."""
        return _typeset(Equation(let.name, let.index, None, let.value.node).line(self.scope) for let in lets)

    @property
    def meanings(self) -> str:
        """The meaning of the named quantities, in the order of the formulas."""
        said = [self.lets[equation.alias] for equation in self.sizes if equation.alias is not None]
        rows = [
            (code(let.name if let.index is None else f"{let.name}[{let.index}]"), cell(let.doc))
            for let in dict.fromkeys([*said, *self.used, *self.others])
        ]
        return table(("Quantity", "Meaning"), rows)

    @property
    def runs(self) -> str:
        """Which values the indices take."""
        found: dict[tuple[str, str], list[str]] = {}
        for let in self.lets.values():
            if let.index and let.count is not None:
                found.setdefault((let.index, formula(let.count.node)), []).append(code(f"{let.name}[{let.index}]"))
        several = len({index for index, _ in found}) < len(found)
        return wrapped(
            " ".join(
                f"{f'In {joined(names)}, ' if several else ''}{code(index)} runs from 0 to {code(last(count))}."
                for (index, count), names in sorted(found.items())
            )
        )


def unclamped(node: Node) -> Node:
    """``node`` without the limits of indices, which keep a checker inside of arrays; a reader needs none of them."""

    def change(part: Node) -> Node:
        match part:
            case Index(base=base, indices=indices):
                return Index(base, tuple(map(_free, indices)))
        return part

    return rebuilt(node, change)


def _free(index: Node) -> Node:
    match index:
        case Call("min", (Call("max", (free, Number(value=0))), Number())):
            return free
    return index


def joined(names: list[str]) -> str:
    """Some names as words."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def last(count: str) -> str:
    """The index before a count."""
    return str(int(count) - 1) if count.isdigit() else f"{count} - 1" if " if " not in count else f"({count}) - 1"


def _ordered(spec: Operator) -> list[tuple[str, Node]]:
    """The tensors whose sizes have a formula, the outputs first."""
    tensors = sorted(spec.tensors, key=lambda field: field.kind != "output")
    return [(field.python, field.sizes.node) for field in tensors if field.sizes is not None]


def _typeset(lines: Iterable[str]) -> str:
    """Equations one below the other."""
    rows = [*lines]
    if len(rows) < 2:
        return block(rows[0].replace(" &= ", " = ", 1), "math") if rows else ""
    return block("\n".join([r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}"]), "math")
