"""Nodes to C: the result of an element, without branches, over names that a loop declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce

from .nodes import Arith, Call, Choice, Compare, Logic, Name, Negate, Node, Not, NotCompiled, Number, Text
from .parse import COMPOSED

FUNCTIONS = {
    "abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round_even": "rint",
}  # fmt: skip
"""Functions of C that each compiler computes alike."""

LANES = (
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "erf", "pow",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "asinh", "acosh", "atanh",
    *COMPOSED,
)  # fmt: skip
"""Functions of ``functions.h`` by their own names, over FLOAT32."""
CHOSEN = ("sin", "cos", "tan", "pow")
"""Those of them that have another form for ordinary arguments."""

EXTREMES = {"min": "least", "max": "most"}
TESTS = {"isnan": "DMLCY_IS_NAN", "isfinite": "DMLCY_IS_FINITE"}
BITS = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}
OF_BITS = ("shift_left", "shift_right", "bit_count")
DIGITS = 2048
"""Whole numbers up to here are numbers of each floating-point type."""
EXACT = ("abs", "floor", "ceil", "trunc", "round_even", *EXTREMES)
"""Functions whose result is one of the numbers of the type that they are given."""


@dataclass(frozen=True, slots=True)
class C:
    """Renders the expression of an element in a type of C.

    ``names``: what each name is; ``kind``: the type; ``members``: the values of the members of enums, by the names of
    the attributes.
    """

    names: Mapping[str, str]
    kind: str
    members: Mapping[str, Mapping[str, int]]

    def expression(self, node: Node) -> str:
        """``node`` as C; raises NotCompiled where no loop computes it yet."""
        match node:
            case Number(value=value):
                return f"({self.kind}){float(value)!r}"
            case Name(id=name) if name in self.names:
                return self.names[name]
            case Negate(operand=operand):
                return f"(-{self.expression(operand)})"
            case Not(operand=operand):
                return f"(!{self.expression(operand)})"
            case Arith(op="*", left=Arith(op="*", left=first, right=second), right=third) if self.kind == "float":
                return f"dmlcy_product({', '.join(map(self.expression, (first, second, third)))})"
            case Arith(op="+" | "-" | "*" | "/" as op, left=left, right=right):
                return f"({self.expression(left)} {op} {self.expression(right)})"
            case Compare(op=op, left=Name(id=name), right=Text(value=value)) if name in self.members:
                return f"({self.names[name]} {op} {self.members[name][value]})"
            case Compare(op=op, left=left, right=right):
                return f"({self.expression(left)} {op} {self.expression(right)})"
            case Logic(op=op, items=items):  # all of them are computed: none has an effect
                return f"({(' & ' if op == 'and' else ' | ').join(map(self.expression, items))})"
            case Choice(test=test, then=then, other=other):
                return f"({self.expression(test)} ? {self.expression(then)} : {self.expression(other)})"
            case Call(function=function, args=args):
                return self.call(node, function, [*map(self.expression, args)])
        raise NotCompiled("no loop computes this yet", node.at, node.length)

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        if function in FUNCTIONS:
            return f"{FUNCTIONS[function]}{'f' if self.kind == 'float' else ''}({', '.join(args)})"
        if function.removesuffix("_ordinary") in LANES and self.kind == "float":
            return f"dmlcy_{function}(DMLCY_FUSED, {', '.join(args)})"
        if function in TESTS:
            return f"{TESTS[function]}({', '.join(args)})"
        if function in EXTREMES:
            return reduce(lambda left, right: f"dmlcy_{EXTREMES[function]}_{self.kind}({left}, {right})", args)
        raise NotCompiled(f"no loop computes {function}() yet", node.at, node.length)

    def special(self, node: Node) -> str | None:
        """Whether an argument of a function is not an ordinary one; None: no function has another form for these."""
        calls = [part for part in node.walk() if isinstance(part, Call) and part.function in CHOSEN]
        tests = [f"dmlcy_{part.function}_special({', '.join(map(self.expression, part.args))})" for part in calls]
        return " | ".join(dict.fromkeys(tests)) or None


@dataclass(frozen=True, slots=True)
class Ordinary(C):
    """The same where all arguments of functions are ordinary ones."""

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        return C.call(self, node, f"{function}_ordinary" if function in CHOSEN else function, args)


@dataclass(frozen=True, slots=True)
class Whole(C):
    """The same of integers, modulo a power of two. ``wide``: an unsigned type in which C's arithmetic wraps around."""

    wide: str

    def expression(self, node: Node) -> str:
        """``node`` as C; raises NotCompiled where no loop computes it yet."""
        match node:
            case Number(value=int() as value):
                return f"({self.kind}){value}"
            case Negate(operand=operand):
                return f"({self.kind})(0 - ({self.wide}){self.expression(operand)})"
            case Arith(op="+" | "-" | "*" as op, left=left, right=right):
                parts = [f"({self.wide}){self.expression(part)}" for part in (left, right)]
                return f"({self.kind})({f' {op} '.join(parts)})"
            case Number() | Arith():
                raise NotCompiled("no loop computes this of integers yet", node.at, node.length)
            case Compare() if any(isinstance(part, Arith | Negate) for part in node.walk()):
                raise NotCompiled("no loop compares results of integers yet", node.at, node.length)
        return C.expression(self, node)

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        simple = all(isinstance(part, Name | Number) for part in node.children())
        if function == "abs" and simple:
            return f"({args[0]} < 0 ? ({self.kind})(0 - ({self.wide}){args[0]}) : {args[0]})"
        if function in EXTREMES and simple and len(args) == 2:
            return f"({args[0]} {'<' if function == 'min' else '>'} {args[1]} ? {args[0]} : {args[1]})"
        if function in BITS:
            return f"({self.kind})({args[0]} {BITS[function]} {args[1]})"
        if function == "bit_not":
            return f"({self.kind})~{args[0]}"
        if function in OF_BITS:
            return f"dmlcy_{function}_{self.kind}({', '.join(args)})"
        raise NotCompiled(f"no loop computes {function}() of integers yet", node.at, node.length)


def has_functions(node: Node) -> bool:
    """Whether the result is made of functions of ``functions.h``."""
    return any(isinstance(part, Call) and part.function in LANES for part in node.walk())


def moves(node: Node, names: Collection[str]) -> bool:
    """Whether the result is one of the elements with these names, which nothing looks at."""
    if isinstance(node, Choice):
        read = {part.id for part in node.test.walk() if isinstance(part, Name)}
        return not read & {*names} and moves(node.then, names) and moves(node.other, names)
    return isinstance(node, Name) and node.id in names


def has_no_sign(node: Node) -> bool:
    """Whether the bits of a result of integers are the same whether they have a sign or not."""
    same = (Name, Number, Arith, Negate, Not, Logic)
    return all(
        isinstance(part, same) or (isinstance(part, Compare) and part.op in ("==", "!=")) for part in node.walk()
    )


def rounds_once(node: Node, exact: Collection[str]) -> bool:
    """Whether one operation at most rounds, so that the result is the same in the type of the elements and in a wider.

    ``exact``: the names of numbers that arithmetic of that type may take.
    """
    return _rounded(node, exact) is not None


def _rounded(node: Node, exact: Collection[str]) -> bool | None:
    """Whether the value of a node was rounded; None: it may be another one in a wider type."""
    below = [_rounded(part, exact) for part in node.children()]
    if None in below:
        return None
    match node:
        case Number(value=value):
            return False if abs(value) <= DIGITS and float(value).is_integer() else None
        case Name() | Text():
            return False
        case Negate() | Not():
            return below[0]
        case Choice():
            return None if below[0] else any(below[1:])
        case Compare() | Logic():
            return None if any(below) else False
        case Call(function="abs"):
            return any(below)
        case Call(function=function) if function in EXACT or function in TESTS:
            return None if any(below) else False
        case Arith() | Call():
            names = {part.id for part in node.walk() if isinstance(part, Name)}
            return None if any(below) or not names <= {*exact} else True
    return None
