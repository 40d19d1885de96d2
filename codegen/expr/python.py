"""Nodes to Python over exact ints: the methods of a generated Rules class, which explains a refusal."""

from __future__ import annotations

import math
import sys

from .nodes import (
    Arith,
    Call,
    Choice,
    Compare,
    Each,
    Index,
    Logic,
    Member,
    Name,
    Negate,
    Node,
    Not,
    Number,
    Sizes,
    Splat,
    Text,
    Within,
)
from .types import Kind, Scope, within

MAX_LOG = math.log(sys.float_info.max)


def python(node: Node, scope: Scope) -> str:
    """``node`` as a Python expression over ``self``."""
    match node:
        case Number(value=value):
            return repr(value)
        case Text(value=value):
            return repr(value)
        case Name(id=name):
            return _named(name, scope)
        case Negate(operand=operand):
            return f"(-{python(operand, scope)})"
        case Not(operand=operand):
            return f"(not {python(operand, scope)})"
        case Arith(op=op, left=left, right=right):
            return f"({python(left, scope)} {op} {python(right, scope)})"
        case Compare(op=op, left=left, right=right):
            suffix = ".name" if isinstance(right, Text) else ""
            return f"({python(left, scope)}{suffix} {op} {python(right, scope)})"
        case Logic(op=op, items=items):
            return f"({f' {op} '.join(python(item, scope) for item in items)})"
        case Within(item=item, choices=choices):
            inside = python(item, scope) + (".name" if isinstance(choices[0], Text) else "")
            return f"({inside} in ({', '.join(python(choice, scope) for choice in choices)},))"
        case Choice(test=test, then=then, other=other):
            return f"({python(then, scope)} if {python(test, scope)} else {python(other, scope)})"
        case Index(base=base, indices=indices):
            return _entry(base, indices, scope)
        case Member(base=base, name=name):
            return f"{python(base, scope)}.{name.lower()}"
        case Call(function=function, args=args):
            return _call(function, args, scope)
        case Each(function=function, body=body, variable=variable, count=count):
            inner = within(scope, variable, count)
            values = f"{python(body, inner)} for {variable} in range({python(count, scope)})"
            if function in ("min", "max"):
                return f"{function}(({values}), default=0)"
            return f"{'math.prod' if function == 'prod' else function}({values})"
        case Sizes(items=items):
            parts = [f"*{python(x.operand, scope)}" if isinstance(x, Splat) else python(x, scope) for x in items]
            return f"[{', '.join(parts)}]"
    raise TypeError(node)


def _named(name: str, scope: Scope) -> str:
    symbol = scope[name]
    if symbol.role in ("index", "element"):
        return name
    if symbol.role != "let":
        return f"self.{name}"
    if symbol.count is None:
        return f"self.{name}()"
    return f"[self.{name}(_i) for _i in range({python(symbol.count, scope)})]"


def _entry(base: Node, indices: tuple[Node, ...], scope: Scope) -> str:
    where = ", ".join(python(index, scope) for index in indices)
    if isinstance(base, Name):
        symbol = scope[base.id]
        if symbol.kind is Kind.TENSOR:
            return f"float(self.{base.id}_data[{where}])"
        if symbol.role == "let":
            return f"self.{base.id}({where})"
    return f"{python(base, scope)}[{where}]"


def _call(function: str, args: tuple[Node, ...], scope: Scope) -> str:
    first = python(args[0], scope)
    match function:
        case "rank":
            return f"len({first}.sizes)"
        case "sizes" | "dtype":
            return f"{first}.{function}"
        case "present":
            return f"({first} is not None)"
        case "count":
            return f"len({first})"
        case "prod":
            return f"math.prod({first})"
        case "min" | "max" if len(args) == 1:
            return f"{function}({first}, default=0)"
        case "round":  # half away from zero, saturated
            limited = f"max({-(2**31)}, min({2**31 - 1}, {first}))"
            return f"(math.trunc(2 * {limited}) - math.trunc({limited}))"
        case "ceil_div":
            return f"(-(-{first} // {python(args[1], scope)}))"
        case "pow":  # of what is not negative, and to a positive power: beyond the range it is an infinity, as in C
            second = python(args[1], scope)
            beyond = f"abs({first}) > 1 and {second} * math.log(abs({first})) > {MAX_LOG}"
            return f"(math.inf if {beyond} else math.pow({first}, {second}))"
        case "isfinite" | "isnan" | "floor" | "sqrt" | "exp" | "log" | "tanh" | "erf":
            return f"math.{function}({', '.join(python(arg, scope) for arg in args)})"
    return f"{function}({', '.join(python(arg, scope) for arg in args)})"
