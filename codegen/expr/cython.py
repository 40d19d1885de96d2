"""Nodes to Cython over int64_t and double.

Arithmetic whose interval leaves int64 goes through ``checked_add`` and its like, which set ``overflow``. A ``… for …``
of a constant count is spread out; any other is a vector let, which the function computes in a loop of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..diagnostics import did_you_mean
from .nodes import (
    Arith,
    Call,
    Choice,
    Compare,
    Each,
    ExprError,
    Index,
    Logic,
    Member,
    Name,
    Negate,
    Node,
    Not,
    NotCompiled,
    Number,
    Text,
    Within,
    substitute,
)
from .parse import REFERENCE
from .types import Kind, Scope, interval_of, kind_of, refined

CHECKED = {"+": "checked_add", "-": "checked_sub", "*": "checked_mul"}
MAX_SPREAD = 64
INT32_MAX = 2**31 - 1
BINDING = {"if": 1, "or": 2, "and": 3, "not": 4, "compare": 5, "+": 6, "-": 6, "*": 7, "//": 7, "%": 7, "/": 7, "-x": 8}


@dataclass(slots=True)
class Cython:
    """Renders the expressions of one function. ``place`` says where a name lives: ``a.`` or nothing."""

    scope: Scope
    place: str = "a."
    constants: Mapping[str, str] = field(default_factory=dict)  # of enum members and dtypes, by short name
    data: Callable[[Index], str] | None = None  # how an element of a tensor is read
    search: Callable[[Each, Scope], str] | None = None  # names what a loop before the expression finds
    overflows: bool = False  # whether anything needed checking

    def expression(self, node: Node) -> str:
        """``node`` as Cython text."""
        return self._render(node, self.scope)[0]

    def vector(self, node: Node) -> tuple[str, str]:
        """A vector and its number of entries."""
        return self._vector(node, self.scope)

    def _render(self, node: Node, scope: Scope) -> tuple[str, int]:
        """The text, and how tightly its outermost operator binds."""
        match node:
            case Number(value=value):
                if isinstance(value, int) and value > INT32_MAX:  # to Cython, else, a Python object
                    return f"<int64_t>{value}", 8
                return repr(value), 9
            case Text(value=value):
                if value not in self.constants:
                    hint = did_you_mean(value, self.constants)
                    raise ExprError(f"unknown name {value!r}", node.at, node.length, hint)
                return self.constants[value], 9
            case Name(id=name):
                return (name if scope[name].role in ("index", "local", "element") else f"{self.place}{name}"), 9
            case Negate(operand=operand):
                if kind_of(operand, scope) is Kind.INT and not interval_of(node, scope).fits_int64() and self.place:
                    self.overflows = True
                    return f"checked_sub(0, {self._render(operand, scope)[0]}, &overflow)", 9
                return f"-{self._operand(operand, scope, 8)}", 8
            case Not(operand=operand):
                return f"not {self._operand(operand, scope, 4)}", 4
            case Arith():
                return self._arith(node, scope)
            case Compare(op=op, left=left, right=right):
                return f"{self._operand(left, scope, 6)} {op} {self._operand(right, scope, 6)}", 5
            case Logic(op=op, items=items):
                return f" {op} ".join(self._operand(item, scope, BINDING[op] + 1) for item in items), BINDING[op]
            case Within(item=item, choices=choices):
                text = self._operand(item, scope, 6)
                return " or ".join(f"{text} == {self._operand(choice, scope, 6)}" for choice in choices), 2
            case Choice(test=test, then=then, other=other):
                yes = self._operand(then, refined(scope, test, True), 2)
                no = self._operand(other, refined(scope, test, False), 1)
                return f"{yes} if {self._operand(test, scope, 2)} else {no}", 1
            case Index(base=base, indices=indices):
                if kind_of(base, scope) is Kind.TENSOR:
                    if self.data is None:
                        raise NotCompiled("no loops read an element of a tensor here yet", node.at, node.length)
                    return self.data(node), 9
                return f"{self._vector(base, scope)[0]}[{self._render(indices[0], scope)[0]}]", 9
            case Member(base=Name(id=name), name=member):
                return f"{self.place}{name}_{member.lower()}", 9
            case Call():
                return self._call(node, scope), 9
            case Each():
                return self._each(node, scope), 9
        raise ExprError("this has no place in generated code", node.at, node.length)

    def _operand(self, node: Node, scope: Scope, binding: int) -> str:
        text, own = self._render(node, scope)
        return text if own >= binding else f"({text})"

    def _arith(self, node: Arith, scope: Scope) -> tuple[str, int]:
        own = BINDING[node.op]
        if kind_of(node, scope) is Kind.INT:
            a, b = self._render(node.left, scope)[0], self._render(node.right, scope)[0]
            if node.op in CHECKED and not interval_of(node, scope).fits_int64() and self.place:
                self.overflows = True
                return f"{CHECKED[node.op]}({a}, {b}, &overflow)", 9
            low = interval_of(node.left, scope).lo
            if node.op in ("//", "%") and (low is None or low < 0):
                return f"{'floor_div' if node.op == '//' else 'floor_mod'}({a}, {b})", 9
        left, right = self._operand(node.left, scope, own), self._operand(node.right, scope, own + 1)
        return f"{left} {node.op} {right}", own

    def _vector(self, node: Node, scope: Scope) -> tuple[str, str]:
        match node:
            case Name(id=name):
                count = scope[name].count
                text = f"{self.place}{name}"
                return text, f"{text}_count" if count is None else self._render(count, scope)[0]
            case Call(function="sizes", args=(tensor,)):
                text = self._tensor(tensor, scope)
                return f"{text}.sizes", f"{text}.rank"
        raise ExprError("expected the name of a vector", node.at, node.length)

    def _tensor(self, node: Node, scope: Scope) -> str:
        match node:
            case Name(id=name):
                return f"{self.place}{name}"
            case Index(base=Name(id=name), indices=(Name() | Number(value=0) as index,)) if self.place:
                if isinstance(index, Number) or scope[index.id].role == "index":
                    return f"tensor_at(&{self.place}{name}.several, {self._render(index, scope)[0]})"
        # A rule that reads a tensor which the array does not have would have to be skipped.
        problem = "compiled code reads the first tensor of an array, and that of an index: no others yet"
        raise NotCompiled(problem, node.at, node.length)

    def _named(self, node: Node) -> str:
        assert isinstance(node, Name)
        return f"{self.place}{node.id}"

    def _call(self, node: Call, scope: Scope) -> str:
        function, args = node.function, node.args
        if function in REFERENCE:
            raise NotCompiled(f"no compiled code computes {function} yet", node.at, node.length)
        match function:
            case "rank" | "dtype":
                return f"{self._tensor(args[0], scope)}.{function}"
            case "count":
                return f"{self._named(args[0])}.several.count"
            case "present":  # the data type of a tensor that is not there is 0
                return f"({self._named(args[0])}.dtype != 0)"
            case "len":
                return self._vector(args[0], scope)[1]
            case "prod" | "sum" | "min" | "max" if len(args) == 1:
                vector, count = self._vector(args[0], scope)
                if not self.place:
                    raise NotCompiled("no loops read a vector yet", node.at, node.length)
                if function in ("prod", "sum"):
                    self.overflows = True
                    return f"{'product' if function == 'prod' else 'total'}({vector}, {count}, &overflow)"
                return f"{'smallest' if function == 'min' else 'largest'}({vector}, {count})"
            case "round":
                return f"round_away({self._render(args[0], scope)[0]})"
            case "pow" if kind_of(args[1], scope) is Kind.INT:  # the same bits with any C library
                return f"power({', '.join(self._render(arg, scope)[0] for arg in args)})"
            case "abs" if kind_of(args[0], scope) is Kind.FLOAT:
                return f"fabs({self._render(args[0], scope)[0]})"
            case "abs":  # Cython's abs of a signed integer is unsigned
                return f"max({self._render(args[0], scope)[0]}, {self._render(Negate(args[0]), scope)[0]})"
        return f"{function}({', '.join(self._render(arg, scope)[0] for arg in args)})"

    def _each(self, node: Each, scope: Scope) -> str:
        if node.function in ("all", "any") and isinstance(node.count, Number) and 1 <= node.count.value <= MAX_SPREAD:
            word = "and" if node.function == "all" else "or"
            parts = [
                self._operand(substitute(node.body, node.variable, Number(value)), scope, 4)
                for value in range(int(node.count.value))
            ]
            return f"({f' {word} '.join(parts)})"
        if node.function in ("all", "any", "sum") and self.search is not None:
            self.overflows = self.overflows or node.function == "sum"
            return self.search(node, scope)
        if self.search is not None:
            raise NotCompiled(f"no compiled code computes {node.function} of a `for` yet", node.at, node.length)
        problem = f"compiled code spreads out all and any only, of a constant count up to {MAX_SPREAD}: make it a let"
        raise NotCompiled(problem, node.at, node.length)
