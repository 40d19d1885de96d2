"""The same expressions in FLOAT32, where the numbers of a line are neither huge nor tiny: faster, and less
exact by some units. ``norm_rows.h`` says when they are taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...expr.nodes import Arith, Call, Choice, Name, Node, NotCompiled, Number, rebuilt
from .lines import Line, names_in

NEUTRAL = {"+": 0.0, "-": 0.0, "*": 1.0, "/": 1.0}


@dataclass(frozen=True, slots=True)
class Quick:
    """Renders an expression; ``line`` is what renders it in double.

    ``made`` gets the numbers of a line in FLOAT32, as (name, expression), and ``checks`` what must hold of the line.
    """

    line: Line = field(repr=False)
    made: dict[str, str] = field(default_factory=dict)
    checks: dict[str, None] = field(default_factory=dict)

    def is_line(self, node: Node) -> bool:
        """Whether a node is the same for all elements of a line."""
        return not names_in(node) & {*self.line.elements}

    def double(self, node: Node) -> str:
        """The name of a number of a line in double."""
        return self.line.names[node.id] if isinstance(node, Name) else self.line.computed_for_line(node)

    def number(self, node: Node) -> str:
        """The name of a number of a line, which is neither huge nor tiny."""
        name = self.double(node)
        self.made[f"{name}_quick"] = f"(float){name}"
        self.checks[f"dmlcy_is_ordinary({name})"] = None
        return f"{name}_quick"

    def expression(self, node: Node) -> str:
        """``node`` as C."""
        if self.is_line(node):
            return self.number(node)
        match node:
            case Name(id=name) if name in self.line.single:
                return self.line.single[name]
            case Arith(op="-", left=Arith(op="-", left=x, right=first), right=second) if (
                self.is_line(first) and self.is_line(second) and not self.is_line(x)
            ):
                return self.less(x, self.double(first), self.double(second), self.number(first))
            case Arith(op="*" | "/"):
                return self.product(node)
            case Arith(op="+" | "-" as op, left=left, right=right):
                return f"({self.expression(left)} {op} {self.expression(right)})"
            case Choice(test=test, then=then, other=other) if self.is_line(test):
                chosen = self.line.computed_for_line(test)
                return f"({chosen} ? {self.expression(then)} : {self.expression(other)})"
            case Call(function="abs", args=(inner,)):
                return f"dmlcy_abs({self.expression(inner)})"
        text = self.line.expression(node)
        if text.startswith("(double)(f") or text in ("(double)saved",):
            return text.removeprefix("(double)")
        raise NotCompiled("no loop computes this in FLOAT32", node.at, node.length)

    def less(self, x: Node, first: str, second: str, number: str) -> str:
        """A node less two numbers of a line: what rounding takes from the first one is part of the second one."""
        name = f"{first}_{second}_quick"
        self.made[name] = f"(float)({second} + ({first} - (double)(float){first}))"
        self.checks[f"dmlcy_is_not_huge({second})"] = None
        return f"(({self.expression(x)} - {number}) - {name})"

    def product(self, node: Node) -> str:
        """A product: all factors that are numbers of a line are one."""
        elements, numbers = [], Number(1.0)
        found: Node = numbers
        for op, factor in factors(node):
            if self.is_line(factor):
                found = factor if found == numbers and op == "*" else Arith(op, found, factor)
            elif op == "/":
                raise NotCompiled("no loop divides by elements in FLOAT32", node.at, node.length)
            else:
                elements.append(self.expression(factor))
        if found != numbers:
            elements.insert(1, self.number(found))
        text = elements[0]
        for one in elements[1:]:
            text = f"({text} * {one})"
        return text


def factors(node: Node, op: str = "*") -> Iterator[tuple[str, Node]]:
    """The factors and divisors of a product."""
    match node:
        case Arith(op="*" | "/" as inner, left=left, right=right) if op == "*":
            yield from factors(left)
            yield from factors(right, inner)
        case _:
            yield op, node


def plain(node: Node, elements: set[str]) -> Node:
    """The same, where a choice by a number of a line is one of numbers of the line: `x - (mean if test else 0)` for
    `x - mean if test else x`."""

    def change(one: Node) -> Node:
        if isinstance(one, Choice) and not names_in(one.test) & elements:
            return chosen(one.test, one.then, one.other, elements) or one
        return one

    return rebuilt(node, change)


def chosen(test: Node, then: Node, other: Node, elements: set[str]) -> Node | None:
    """The choice between a node and a part of it, as that part with numbers of a line; None: it is no such choice."""
    if then == other:
        return other
    if isinstance(then, Arith) and then.op in NEUTRAL and not names_in(then.right) & elements:
        inner = chosen(test, then.left, other, elements)
        if inner is not None:
            return Arith(then.op, inner, Choice(test, then.right, Number(NEUTRAL[then.op])))
    return None
