"""Nodes of ``[kernel]`` to Python over an arithmetic ``m``; dmlcy/_arithmetic/base.py says what it has."""

from __future__ import annotations

from functools import reduce

from .nodes import Arith, Call, Choice, Compare, Logic, Name, Negate, Node, Not, Number, Text, Within
from .python import python
from .types import SPREAD, Scope, elements_in, inside

ARITH = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "mod_floor"}
COMPARE = {"<": ("less", False), "<=": ("less_equal", False), ">": ("less", True), ">=": ("less_equal", True)}
EXTREMES = {"min": "minimum", "max": "maximum"}
METHODS = {
    "abs": "absolute", "f32": "single", "f64": "double",
    "isnan": "isnan", "isfinite": "isfinite", "negative": "negative",
    "div_trunc": "div_trunc", "mod_floor": "mod_floor", "mod_trunc": "mod_trunc",
}  # fmt: skip
"""Functions that are methods; most others are names that the method ``function`` takes."""


def numbers(node: Node, scope: Scope) -> str:
    """``node`` as a Python expression over ``m`` and ``self``."""

    def said(child: Node) -> str:
        return numbers(child, scope)

    match node:
        case Negate(operand=Number(value=value)):
            return repr(-value)
        case Negate(operand=operand):
            return f"m.negate({said(operand)})"
        case Not(operand=operand):
            return f"m.negation({said(operand)})"
        case Arith(op=op, left=left, right=right):
            return f"m.{ARITH[op]}({said(left)}, {said(right)})"
        case Compare(op=op, left=left, right=right) if not (_is_name(left) or _is_name(right)):
            return _compared(op, said(left), said(right))
        case Within(item=item, choices=choices) if not any(map(_is_name, (item, *choices))):
            return _joined("either", [_compared("==", said(item), said(choice)) for choice in choices])
        case Logic(op=op, items=items):
            return _joined("both" if op == "and" else "either", [said(item) for item in items])
        case Choice(test=test, then=then, other=other) if _is_same_for_all(test, scope):
            return f"({said(then)} if {python(test, scope)} else {said(other)})"
        case Choice(test=test, then=then, other=other):
            return f"m.where({said(test)}, {said(then)}, {said(other)})"
        case Call(function="min" | "max" as function, args=args):
            return _joined(EXTREMES[function], [said(arg) for arg in args])
        case Call(function=function, args=(test,)) if function in SPREAD:
            assert isinstance(node, Call)
            inner = numbers(test, inside(node, scope))
            return f"self.{function}(self, {elements_in(test, scope)[0]!r}, lambda self: {inner})"
        case Call(function="in_range", args=(value,)):
            return f"self.in_range({said(value)})"
        case Call(function="saturate", args=(value,)):
            return f"m.saturate({said(value)}, self.stored_as)"
        case Call(function="ceil_div", args=(left, right)):
            return f"m.negate(m.floor_divide(m.negate({said(left)}), {said(right)}))"
        case Call(function=function, args=args) if function in METHODS:
            return f"m.{METHODS[function]}({', '.join(map(said, args))})"
        case Call(function="present" | "rank" | "sizes" | "dtype" | "count" | "len" | "prod" | "sum"):
            return python(node, scope)
        case Call(function="bit_not", args=(value,)):
            return f"m.subtract(-1, {said(value)})"
        case Call(function=function, args=args):
            return f"m.function({function!r}, {', '.join(map(said, args))})"
    return python(node, scope)


def _is_name(node: Node) -> bool:
    """Whether this is a data type or a member of an enum, not a number."""
    return isinstance(node, Text) or (isinstance(node, Call) and node.function == "dtype")


def _is_same_for_all(test: Node, scope: Scope) -> bool:
    """Whether a condition is about attributes and data types only, so that it is the same for all elements."""
    if isinstance(test, Name):
        return scope[test.id].role == "field"
    return _is_name(test) or all(_is_same_for_all(part, scope) for part in test.children())


def _compared(op: str, left: str, right: str) -> str:
    if op in COMPARE:
        method, turned = COMPARE[op]
        return f"m.{method}({right}, {left})" if turned else f"m.{method}({left}, {right})"
    return f"m.equal({left}, {right})" if op == "==" else f"m.negation(m.equal({left}, {right}))"


def _joined(method: str, items: list[str]) -> str:
    return reduce(lambda left, right: f"m.{method}({left}, {right})", items)
