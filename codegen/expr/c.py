"""Nodes to C: the result of an element, without branches, over names that a loop declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
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
REMAINDERS = ("mod_trunc", "mod_floor")
CHOSEN = ("exp", "expm1", "gelu", "log", "sigmoid", "sin", "cos", "tan", "pow", *REMAINDERS)
"""Functions that have another form for ordinary arguments."""

EXTREMES = {"min": "least", "max": "most"}
TESTS = {"isnan": "DMLCY_IS_NAN", "isfinite": "DMLCY_IS_FINITE"}
BITS = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}
OF_BITS = ("shift_left", "shift_right", "bit_count")
ONCE = ("exp", "expm1", "log", "log1p", "pow")
"""Functions of C's library, for what is computed once for all elements."""
OF_VALUES = ("div_trunc", "int_pow", "abs", *REMAINDERS, *EXTREMES)
"""Functions of integers that depend on more than the lowest bits of what they are given."""


@dataclass(frozen=True, slots=True)
class C:
    """Renders the expression of an element in a type of C.

    ``names``: what each name is; ``kind``: the type; ``members``: the values of the members of enums, by the names of
    the attributes; ``scalars``: the names that are the same for all elements. ``made`` gets what a loop computes of
    these before it starts, by name: the type and the expression. ``once`` gets what is computed once for all rows, in
    ``double``.
    """

    names: Mapping[str, str]
    kind: str
    members: Mapping[str, Mapping[str, int]]
    scalars: Collection[str] = ()
    made: dict[str, tuple[str, str]] = field(default_factory=dict)
    once: dict[str, str] = field(default_factory=dict)

    def expression(self, node: Node) -> str:
        """``node`` as C; raises NotCompiled where no loop computes it yet."""
        if self.is_once(node):
            return self.computed_once(node)
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
            case Choice(test=Call(function="isnan", args=(Name() as x,)), then=then, other=other) if (
                then == x and self.is_within(other, x)
            ):
                return self.within(other)
            case Choice(test=test, then=then, other=other):
                return f"({self.expression(test)} ? {self.expression(then)} : {self.expression(other)})"
            case Call(function=function, args=(left, Name(id=name))) if self.is_bound(function, name):
                return self.bounded(function, self.expression(left), self.names[name])
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

    def is_once(self, node: Node) -> bool:
        """Whether a node is the same for all elements and has functions that no loop computes in ``double``."""
        parts = [*node.walk()]
        if self.kind != "double" or any(part.id not in self.scalars for part in parts if isinstance(part, Name)):
            return False
        return any(isinstance(part, Call) and part.function in ONCE for part in parts)

    def computed_once(self, node: Node) -> str:
        """The name of a number that is computed once for all rows."""
        text = Once(self.names, "double", self.members).expression(node)
        return self.once.setdefault(text, f"once{len(self.once)}")

    def is_bound(self, function: str, name: str) -> bool:
        """Whether a function gives the lesser, or the greater, of a number and one that is the same for all."""
        return function in EXTREMES and name in self.scalars

    def bounded(self, function: str, x: str, bound: str) -> str:
        """The lesser, or the greater, of a number and one that is the same for all elements."""
        return f"({x} {'<=' if function == 'min' else '>='} {self.end(function, bound)} ? {x} : {bound})"

    def end(self, function: str, bound: str) -> str:
        """The last number that a bound leaves as it is."""
        name = f"{function}_{bound}"
        self.made[name] = (self.kind, f"dmlcy_{EXTREMES[function]}_up_to_{self.kind}({bound})")
        return name

    def is_within(self, node: Node, x: Name) -> bool:
        """Whether a node is ``x`` between bounds that are the same for all elements."""
        match node:
            case Call(function=function, args=(left, Name(id=name))) if self.is_bound(function, name):
                return left == x or self.is_within(left, x)
        return False

    def within(self, node: Node) -> str:
        """The same as C, which leaves a NaN as it is: no comparison holds for one."""
        match node:
            case Call(function=function, args=(left, Name(id=name))):
                x, bound = self.within(left), self.names[name]
                return f"({x} {'>' if function == 'min' else '<'} {self.end(function, bound)} ? {bound} : {x})"
        return self.expression(node)

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        if function == "f64" or (function == "f32" and self.kind == "float"):
            return args[0]
        if function == "f32":
            return f"({self.kind})(float){args[0]}"
        if function == "pow" and self.kind == "double":
            return f"pow({', '.join(args)})"
        if function.removesuffix("_ordinary") in REMAINDERS and self.kind == "float":
            return f"dmlcy_{function}({', '.join(args)})"
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


class Once(C):
    """The same with the functions of C's library, for what is computed once for all elements."""

    def is_once(self, node: Node) -> bool:
        """Whether the node has one value for all elements: no node has."""
        return False

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        return f"{function}({', '.join(args)})" if function in ONCE else C.call(self, node, function, args)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(C):
    """The same of integers, modulo a power of two.

    ``wide``: an unsigned type in which C's arithmetic wraps around; ``exact``: no sum does, as the type is wider than
    those of the elements; ``floats``: the attributes that are floats, which are double.
    """

    wide: str
    exact: bool = False
    floats: Collection[str] = ()

    def expression(self, node: Node) -> str:
        """``node`` as C; raises NotCompiled where no loop computes it yet."""
        match node:
            case Name(id=name) if name in self.floats:
                raise NotCompiled("no loop computes floats of integers yet", node.at, node.length)
            case Call(function="saturate", args=(Name(id=name),)) if name in self.floats:
                self.made[f"{name}_{self.kind}"] = (self.kind, f"dmlcy_saturate_{self.kind}({self.names[name]})")
                return f"{name}_{self.kind}"
            case Call(function=function, args=args) if function in OF_VALUES and not self.exact:
                if any(isinstance(part, Arith | Negate) for one in args for part in one.walk()):
                    raise NotCompiled("no loop keeps all bits of a result of integers yet", node.at, node.length)
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

    def is_bound(self, function: str, name: str) -> bool:
        """Integers have one 0 and no NaN."""
        return False

    def call(self, node: Node, function: str, args: list[str]) -> str:
        """A function of these arguments."""
        if function == "abs":
            return f"({args[0]} < 0 ? ({self.kind})(0 - ({self.wide}){args[0]}) : {args[0]})"
        if function in EXTREMES and len(args) == 2:
            return f"({args[0]} {'<' if function == 'min' else '>'} {args[1]} ? {args[0]} : {args[1]})"
        if function in TESTS:
            return str(int(function == "isfinite"))
        if function in OF_VALUES:
            return f"dmlcy_{function}_{self.kind}({', '.join(args)})"
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
