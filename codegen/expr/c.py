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
    "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "pow",
    *COMPOSED,
)  # fmt: skip
"""Functions of ``functions.h`` by their own names, over FLOAT32."""
CHOSEN = ("sin", "cos", "pow")
"""Those of them that have another form for ordinary arguments."""

EXTREMES = {"min": "least", "max": "most"}
TESTS = {"isnan": "DMLCY_IS_NAN", "isfinite": "DMLCY_IS_FINITE"}
BITS = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}
OF_BITS = ("shift_left", "shift_right", "bit_count")


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
            case Arith(op="+" | "-" as op, left=Arith(op="*", left=one, right=two), right=more) if self.fuses:
                return self.fused("", one, two, "" if op == "+" else "-", more)
            case Arith(op="+" | "-" as op, left=more, right=Arith(op="*", left=one, right=two)) if self.fuses:
                return self.fused("" if op == "+" else "-", one, two, "", more)
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

    @property
    def fuses(self) -> bool:
        """Whether a product and what is added to it are rounded once."""
        return self.kind == "float"

    def fused(self, sign: str, one: Node, two: Node, sign_of_more: str, more: Node) -> str:
        """The product of two nodes, and one more, each with a sign."""
        product = f"{sign}{self.expression(one)}, {self.expression(two)}"
        return f"dmlcy_fused(DMLCY_FUSED, {product}, {sign_of_more}{self.expression(more)})"

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
