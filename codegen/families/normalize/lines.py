"""The expressions of normalize in C: what is the same for a line is computed once for it, the rest for each element."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ...expr.c import C, Once
from ...expr.nodes import Arith, Call, Choice, Compare, Logic, Name, Node, Not, NotCompiled, Number, Text
from ...model import Field
from ..base import KernelTable

SMALL = 1 << 24
RANGE = ("least_integer", "most_integer")
"""Members of the attributes that have the range of the integers among the tensors."""


class Made:
    """The parts that the templates read of an operator whose expressions loops can compute."""

    def __init__(self, kernel: KernelTable) -> None:
        self.kernel, self.operator = kernel, kernel.operator
        lack = self.lack()
        if lack is not None:
            kernel.lack(lack)
        elif not kernel.diagnostics.errors:
            try:
                self.make()
            except NotCompiled as error:
                kernel.lack(error.message)

    def lack(self) -> str | None:
        """The reason why loops cannot compute the operator; None: no reason is known."""
        raise NotImplementedError

    def make(self) -> None:
        """The texts of the loops."""
        raise NotImplementedError

    @property
    def fields(self) -> tuple[Field, ...]:
        """The tensors: the inputs, then the outputs."""
        return (*self.operator.inputs, *self.operator.outputs)

    @property
    def tensors(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(field.python for field in self.fields)


def names_in(node: Node) -> set[str]:
    """All names that an expression reads."""
    return {part.id for part in node.walk() if isinstance(part, Name)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(C):
    """Renders an expression in double.

    ``elements``: the names of which each element of a line has its own number; those in ``single`` are floats, and
    ``tops`` are numbers of a line that are floats, too. ``saved``: a function that a sweep computes for the results.
    ``hoisted`` gets what is computed once for a line: the names by the expressions. ``exact``: a quotient is rounded as
    it is written.
    """

    elements: Collection[str]
    single: Mapping[str, str]
    tops: Collection[str]
    saved: Node | None = None
    hoisted: dict[str, tuple[str, str]] = field(default_factory=dict)
    exact: bool = False

    def expression(self, node: Node) -> str:
        """``node`` as C."""
        if not names_in(node) & {*self.elements} and not isinstance(node, Name | Number):
            return self.computed_for_line(node)
        match node:
            case Arith(op="/", left=left, right=right) if left == self.saved and not names_in(right) & {*self.elements}:
                return f"(double)(saved * (float){self.computed_for_line(Arith('/', Number(1.0), right))})"
            case Arith(op="/", left=left, right=right) if not self.exact and not names_in(right) & {*self.elements}:
                inverse = Arith("/", Number(1.0), right)
                return f"({self.expression(left)} * {self.computed_for_line(inverse)})"
            case Call(function="exp") if node == self.saved:
                return "(double)saved"
            case Choice(test=Compare(op="==", left=Name(id=x), right=Name(id=top)), then=then, other=other) if (
                self.is_top(x, top) and self.choice(x, top, then) and self.choice(x, top, other)
            ):
                test = f"{self.single[x]} == {self.names[top]}_float"
                return f"(double)({test} ? {self.choice(x, top, then)} : {self.choice(x, top, other)})"
            case Call(function="exp"):
                return f"(double){self.difference(node)}"
            case Call(function="saturate", args=(Arith(op="+", left=rounded, right=more),)) if self.whole(
                rounded
            ) and not names_in(more) & {*self.elements}:
                parts = (f"{self.whole(rounded)} + (float){self.computed_for_line(more)}", *RANGE)
                return f"(double)dmlcy_cut_float({', (float)'.join(parts)})"
            case Call(function="f32", args=(inner,)):
                return f"(double)(float){self.rounded().expression(inner)}"
        return special(self, node) or C.expression(self, node)

    def is_top(self, x: str, top: str) -> bool:
        """Whether these are the names of an element that is a float, and of such a number of its line."""
        return x in self.single and top in self.tops

    def choice(self, x: str, top: str, node: Node) -> str | None:
        """The value of a float where it is that number of its line, or where it is not: a float, too."""
        match node:
            case Number(value=value) if float(value).is_integer() and abs(value) < SMALL:
                return f"{float(value)!r}f"
            case Arith(op="-", left=Name(id=one), right=Name(id=other)) if (one, other) == (x, top):
                return f"({self.single[x]} - {self.names[top]}_float)"
            case Call(function="exp"):
                return "saved" if node == self.saved else self.difference(node)
        return None

    def difference(self, node: Node) -> str:
        """An exponential, as a float: of a float less the greatest one of its line."""
        match node:
            case Call(args=(Arith(op="-", left=Name(id=x), right=Name(id=top)),)) if self.is_top(x, top):
                return f"DMLCY_NORM_EXP({self.single[x]}, {self.names[top]}_float)"
        raise NotCompiled("no loop computes exp() of this yet", node.at, node.length)

    def whole(self, node: Node) -> str | None:
        """Such a quotient, rounded to a whole number."""
        match node:
            case Call(function="round_even", args=(Call(function="f32", args=(x,)),)) if self.quotient(x):
                return f"rintf({self.quotient(x)})"
        return None

    def quotient(self, node: Node) -> str | None:
        """A quotient of a float and a number of a line that is a float: that of floats is what doubles would give."""
        match node:
            case Arith(op="/", left=Name(id=x), right=right) if x in self.single and is_float(right):
                return f"({self.single[x]} / (float){self.computed_for_line(right)})"
        return None

    def rounded(self) -> Line:
        """The same inside what is rounded to FLOAT32."""
        return Line(
            self.names, self.kind, self.members, elements=self.elements, single=self.single, tops=self.tops,
            hoisted=self.hoisted, exact=True,
        )  # fmt: skip

    def computed_for_line(self, node: Node) -> str:
        """The name of a number that is computed once for a line."""
        text = OfLine(self.names, "double", self.members).expression(node)
        kind = "int" if isinstance(node, Compare | Logic | Not) else "double"
        return self.hoisted.setdefault(text, (kind, f"once{len(self.hoisted)}"))[1]


def is_float(node: Node) -> bool:
    """Whether a number is rounded to FLOAT32 or so small that it need not be."""
    match node:
        case Call(function="f32"):
            return True
        case Number(value=value):
            return float(value).is_integer() and abs(value) < SMALL
        case Choice(then=then, other=other):
            return is_float(then) and is_float(other)
    return False


class OfLine(Once):
    """The same of what is computed once for a line."""

    def expression(self, node: Node) -> str:
        """``node`` as C."""
        match node:
            case Choice(test=test, then=then, other=other):
                return f"({self.expression(test)} ? {self.expression(then)} : {self.expression(other)})"
            case Call(function="log1p", args=(inner,)):
                return f"(double)dmlcy_log1p(DMLCY_FUSED, (float){self.expression(inner)})"
        return special(self, node) or Once.expression(self, node)


def special(renderer: C, node: Node) -> str | None:
    """Nodes that only normalize has: integers in a range, and questions for a data type."""
    match node:
        case Call(function="saturate", args=(inner,)):
            return f"dmlcy_cut_to({renderer.expression(inner)}, {', '.join(RANGE)})"
        case Compare(op=op, left=Call(function="dtype", args=(Name(id=name),)), right=Text(value=value)):
            return f"(dtype_of_{name} {op} DMLCY_{value})"
    return None
