"""Random expressions for the tests of codegen.expr, the values of their names, and what they must evaluate to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

from codegen.expr import nodes as n
from codegen.expr.types import INT64_MAX, INT64_MIN, Interval, Kind, Scope, Symbol

ENTRIES, RANK = 3, 4
UINT = Interval(0, n.UINT_MAX)
SCOPE: Scope = {
    "a": Symbol(Kind.INT, "field", UINT),
    "b": Symbol(Kind.INT, "field", Interval(1, n.UINT_MAX)),
    "c": Symbol(Kind.INT, "field", Interval(0, 10)),
    "f": Symbol(Kind.BOOL, "field"),
    "mode": Symbol(Kind.ENUM, "field", members=("EDGE", "WRAP")),
    "size": Symbol(Kind.SIZE_2D, "field", UINT),
    "t": Symbol(Kind.TENSOR, "field"),
    "ts": Symbol(Kind.TENSORS, "field"),
    "v": Symbol(Kind.VECTOR, "field", UINT, count=n.Name("axes")),
    "axes": Symbol(Kind.INT, "let", Interval(0, 8)),
    "low": Symbol(Kind.INT, "let", Interval(INT64_MIN, INT64_MAX)),
    "w": Symbol(Kind.VECTOR, "let", Interval(-5, n.UINT_MAX), count=n.Name("axes")),
}
MEMBERS = {"EDGE": 1, "WRAP": 4}


@dataclass
class Values:
    """One value per name of SCOPE."""

    names: dict[str, Any]
    v: list[int] = field(default_factory=list)

    def rules(self) -> SimpleNamespace:
        """The object over which the Python target evaluates."""
        given = dict(self.names)
        given["mode"] = SimpleNamespace(name=given["mode"])
        given["size"] = SimpleNamespace(width=given["size"][0], height=given["size"][1])
        given["t"] = SimpleNamespace(sizes=given["t"])
        lets = {name: given.pop(name) for name in ("axes", "low", "w")}
        return SimpleNamespace(
            **given, axes=lambda: lets["axes"], low=lambda: lets["low"], w=lambda index: lets["w"][index]
        )


def values(random: Random) -> Values:
    """Values of all names, often at the limits."""

    def uint(low: int = 0) -> int:
        return random.choice([low, low + 1, 2, 3, 7, 2**16, 2**31, n.UINT_MAX - 1, n.UINT_MAX, random.randint(low, 99)])

    return Values(
        {
            "a": uint(),
            "b": uint(1),
            "c": random.randint(0, 10),
            "f": random.random() < 0.5,
            "mode": random.choice(list(MEMBERS)),
            "size": (uint(), uint()),
            "t": [uint(1) for _ in range(RANK)],
            "v": [uint() for _ in range(ENTRIES)],
            "axes": ENTRIES,
            "low": random.choice([INT64_MIN, INT64_MIN + 1, -3, 0, 5, INT64_MAX]),
            "w": [random.choice([-5, uint()]) for _ in range(ENTRIES)],
        }
    )


def integer(random: Random, depth: int) -> n.Node:
    """An integer expression."""
    if depth <= 0 or random.random() < 0.1:
        return random.choice(
            [
                n.Number(random.choice([0, 1, 2, 3, 9, 2**31, n.UINT_MAX, 2**40, INT64_MAX])),
                *(n.Name(name) for name in ("a", "b", "c", "low", "axes")),
                n.Call("rank", (n.Name("t"),)),
                n.Member(n.Name("size"), random.choice(["Width", "Height"])),
                n.Index(n.Name(random.choice("vw")), (n.Number(random.randrange(ENTRIES)),)),
                n.Index(n.Call("sizes", (n.Name("t"),)), (n.Number(random.randrange(RANK)),)),
                n.Call(random.choice(["len", "sum", "prod", "min", "max"]), (vector(random),)),
            ]
        )

    def sub() -> n.Node:
        return integer(random, depth - 1)

    match random.randrange(8):
        case 0:
            return n.Negate(sub())
        case 1 | 2 | 3:
            return n.Arith(random.choice("+-*"), sub(), sub())
        case 4:
            return n.Arith(random.choice(["//", "%"]), sub(), n.Call("max", (sub(), n.Number(random.randint(1, 5)))))
        case 5:
            return n.Choice(condition(random, depth - 1), sub(), sub())
        case 6:
            return n.Call(random.choice(["min", "max"]), tuple(sub() for _ in range(random.randint(2, 3))))
    return random.choice([n.Call("abs", (sub(),)), n.Call("ceil_div", (sub(), n.Name("b")))])


def vector(random: Random) -> n.Node:
    """A vector."""
    return random.choice([n.Name("v"), n.Name("w"), n.Call("sizes", (n.Name("t"),))])


def condition(random: Random, depth: int) -> n.Node:
    """A condition."""
    if depth <= 0:
        return random.choice(
            [n.Name("f"), n.Compare(random.choice(["==", "!="]), n.Name("mode"), n.Text(random.choice(list(MEMBERS))))]
        )

    def sub() -> n.Node:
        return integer(random, depth - 1)

    match random.randrange(6):
        case 0:
            return n.Not(condition(random, depth - 1))
        case 1:
            return n.Logic(
                random.choice(["and", "or"]), tuple(condition(random, depth - 1) for _ in range(random.randint(2, 3)))
            )
        case 2:
            return n.Within(sub(), tuple(sub() for _ in range(random.randint(1, 3))))
        case 3:
            body = n.Compare("<=", n.Arith("+", n.Index(n.Name("v"), (n.Name("k"),)), n.Name("k")), integer(random, 0))
            return n.Each(random.choice(["all", "any"]), body, "k", n.Number(random.randint(1, ENTRIES)))
    return n.Compare(random.choice(["==", "!=", "<", "<=", ">", ">="]), sub(), sub())


class LeavesInt64(Exception):
    """An intermediate result is no int64."""


def exact(node: n.Node, names: dict[str, Any], checked: bool = False) -> Any:
    """The value of an expression by the definition of the language; ``checked`` raises LeavesInt64."""

    def value(part: n.Node) -> Any:
        return exact(part, names, checked)

    def number(result: int) -> int:
        if checked and not INT64_MIN <= result <= INT64_MAX:
            raise LeavesInt64
        return result

    match node:
        case n.Number(value=constant) | n.Text(value=constant):
            return constant
        case n.Name(id=name):
            return names[name]
        case n.Negate(operand=operand):
            return number(-value(operand))
        case n.Not(operand=operand):
            return not value(operand)
        case n.Arith(op=op, left=left, right=right):
            a, b = value(left), value(right)
            return number(
                a + b
                if op == "+"
                else a - b
                if op == "-"
                else a * b
                if op == "*"
                else math.floor(a // b)
                if op == "//"
                else a - b * (a // b)
            )
        case n.Compare(op=op, left=left, right=right):
            a, b = value(left), value(right)
            return {
                "==": a == b,
                "!=": a != b,
                "<": a < b if op == "<" else None,
                "<=": op == "<=" and a <= b,
                ">": op == ">" and a > b,
                ">=": op == ">=" and a >= b,
            }[op]
        case n.Logic(op=op, items=items):
            return all(value(item) for item in items) if op == "and" else any(value(item) for item in items)
        case n.Within(item=item, choices=choices):
            return any(value(item) == value(choice) for choice in choices)
        case n.Choice(test=test, then=then, other=other):
            return value(then) if value(test) else value(other)
        case n.Index(base=base, indices=(index,)):
            return value(base)[value(index)]
        case n.Member(base=base, name=name):
            return value(base)[("Width", "Height").index(name)]
        case n.Each(function=function, body=body, variable=variable, count=count):
            results = (exact(body, {**names, variable: index}, checked) for index in range(value(count)))
            return all(results) if function == "all" else any(results)
        case n.Call(function="rank", args=(tensor,)):
            return len(value(tensor))
        case n.Call(function="sizes", args=(tensor,)):
            return value(tensor)
        case n.Call(function="len", args=(entries,)):
            return len(value(entries))
        case n.Call(function="sum" | "prod" as function, args=(entries,)):
            result = 0 if function == "sum" else 1
            for entry in value(entries):
                result = number(result + entry if function == "sum" else result * entry)
            return result
        case n.Call(function="min" | "max" as function, args=given):
            several = value(given[0]) if len(given) == 1 else [value(one) for one in given]
            return sorted(several)[0 if function == "min" else -1]
        case n.Call(function="abs", args=(operand,)):
            return number(abs(value(operand)))
        case n.Call(function="ceil_div", args=(left, right)):
            a, b = value(left), value(right)
            return a // b + (a % b > 0)
    raise TypeError(node)
