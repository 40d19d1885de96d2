"""Nodes to LaTeX: the formula as it is typeset in the docs, in the commands that MathJax and docutils share."""

from __future__ import annotations

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
from .types import Scope

# How tightly an operator holds its operands.
CHOICE, OR, AND, COMPARE, NOT, MODULO, SUM, EACH, PRODUCT, SIGN, ATOM = range(11)
LOGIC = {"or": (OR, r"\lor"), "and": (AND, r"\land")}
COMPARISONS = {"==": "=", "!=": r"\ne", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}
BIG = {"sum": r"\sum", "prod": r"\prod", "min": r"\min", "max": r"\max"}
QUANTIFIERS = {"all": r"\forall", "any": r"\exists"}
FENCES = {"floor": (r"\lfloor", r"\rfloor"), "abs": (r"\lvert", r"\rvert")}
TALL = (r"\frac", r"\begin", r"\sum", r"\prod")
KNOWN = {"exp": r"\exp", "log": r"\ln", "tanh": r"\tanh", "min": r"\min", "max": r"\max"}


def latex(node: Node, scope: Scope | None = None) -> str:
    """``node`` as LaTeX; ``scope`` tells how many entries a vector has."""
    return _Printer(scope or {}, node).render(node)[0]


def word(text: str) -> str:
    """A name: one letter in italics, more of them upright."""
    return text if len(text) == 1 and text.isalpha() else rf"\mathrm{{{_escaped(text)}}}"


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")


def _fenced(left: str, inside: str, right: str) -> str:
    if any(command in inside for command in TALL):
        return rf"\left{left} {inside} \right{right}"
    return f"{left}{' ' if left[-1].isalpha() else ''}{inside}{' ' if right[-1].isalpha() else ''}{right}"


def _set(members: str) -> str:
    return _fenced(r"\{", members, r"\}")


class _Printer:
    def __init__(self, scope: Scope, root: Node) -> None:
        self.scope = scope
        used = {part.id for part in root.walk() if isinstance(part, Name)}
        self.index = next(letter for letter in "ijkpqstuvxyz" if letter not in used)

    def text(self, node: Node) -> str:
        return self.render(node)[0]

    def operand(self, node: Node, binding: int, after: bool = False) -> str:
        """An operand, in parentheses where it needs them; ``after`` an operator a sign does."""
        text, own = self.render(node)
        return text if own >= binding and not (after and text.startswith("-")) else _fenced("(", text, ")")

    def listed(self, nodes: tuple[Node, ...]) -> str:
        return r",\; ".join(map(self.text, nodes))

    def render(self, node: Node) -> tuple[str, int]:
        match node:
            case Number(value=value):
                digits, _, exponent = repr(value).partition("e")
                return (rf"{digits} \cdot 10^{{{int(exponent)}}}", PRODUCT) if exponent else (digits, ATOM)
            case Text(value=value):
                return rf"\mathtt{{{_escaped(value)}}}", ATOM
            case Name(id=name):
                return word(name), ATOM
            case Member(base=Name(id=name), name=member):
                return word(f"{name}.{member}"), ATOM
            case Member(base=base, name=member):
                return f"{self.operand(base, ATOM)}.{word(member)}", ATOM
            case Index(base=base, indices=indices):
                return f"{self.operand(base, ATOM)}_{{{', '.join(map(self.text, indices))}}}", ATOM
            case Negate(operand=operand):
                return f"-{self.operand(operand, SIGN, after=True)}", SIGN
            case Not(operand=operand):
                return rf"\lnot {self.operand(operand, NOT)}", NOT
            case Arith():
                return self.arith(node)
            case Compare(op=op, left=left, right=right):
                return f"{self.operand(left, MODULO)} {COMPARISONS[op]} {self.operand(right, MODULO)}", COMPARE
            case Logic(op=op, items=items):
                binding, sign = LOGIC[op]
                return f" {sign} ".join(self.operand(item, binding + 1) for item in items), binding
            case Within(item=item, choices=choices):
                return rf"{self.operand(item, MODULO)} \in {_set(self.listed(choices))}", COMPARE
            case Choice():
                return self.choice(node), CHOICE
            case Call(function=function, args=args):
                return self.call(function, args)
            case Each(function=function, body=body, variable=variable, count=count):
                return self.each(function, body, variable, count)
            case Splat(operand=operand):
                return self.entries(operand), ATOM
            case Sizes(items=items):
                return _fenced("[", self.listed(items), "]"), ATOM
        raise TypeError(node)

    def arith(self, node: Arith) -> tuple[str, int]:
        match node.op:
            case "/":
                return rf"\frac{{{self.text(node.left)}}}{{{self.text(node.right)}}}", ATOM
            case "//":
                return self.divided(node.left, node.right, r"\lfloor", r"\rfloor")
            case "%":
                left, right = self.operand(node.left, SIGN), self.operand(node.right, SIGN, after=True)
                return rf"{left} \bmod {right}", MODULO
            case "*":
                left, right = self.operand(node.left, PRODUCT), self.operand(node.right, SIGN, after=True)
                return rf"{left} \cdot {right}", PRODUCT
        return f"{self.operand(node.left, SUM)} {node.op} {self.operand(node.right, EACH, after=True)}", SUM

    def divided(self, left: Node, right: Node, begin: str, end: str) -> tuple[str, int]:
        return _fenced(begin, rf"\frac{{{self.text(left)}}}{{{self.text(right)}}}", end), ATOM

    def choice(self, node: Choice) -> str:
        rows, other = [], Node()
        last: Node = node
        while isinstance(last, Choice):
            rows.append(rf"{self.operand(last.then, OR)} & \text{{if }} {self.operand(last.test, OR)}")
            last = other = last.other
        rows.append(rf"{self.text(other)} & \text{{otherwise}}")
        lines = r" \\ ".join(rows)
        return rf"\begin{{cases}} {lines} \end{{cases}}"

    def call(self, function: str, args: tuple[Node, ...]) -> tuple[str, int]:
        match function:
            case "sum" | "prod" | "min" | "max" if len(args) == 1:
                return f"{BIG[function]}_{{{self.index}}} {self.operand(args[0], ATOM)}_{{{self.index}}}", EACH
            case "ceil_div":
                return self.divided(args[0], args[1], r"\lceil", r"\rceil")
            case "floor" | "abs":
                begin, end = FENCES[function]
                return _fenced(begin, self.text(args[0]), end), ATOM
            case "sqrt":
                return rf"\sqrt{{{self.text(args[0])}}}", ATOM
            case "pow":
                return f"{{{self.operand(args[0], ATOM)}}}^{{{self.text(args[1])}}}", SIGN
        name = KNOWN.get(function, rf"\operatorname{{{_escaped(function)}}}")
        return f"{name}{_fenced('(', self.listed(args), ')')}", ATOM

    def each(self, function: str, body: Node, variable: str, count: Node) -> tuple[str, int]:
        index = word(variable)
        if function in QUANTIFIERS:
            domain = _set(rf"0, \ldots, {self.last(count)}")
            return rf"{QUANTIFIERS[function]} {index} \in {domain}: {self.operand(body, COMPARE)}", CHOICE
        big = f"{BIG[function]}_{{{index} = 0}}^{{{self.last(count)}}}"
        if function in ("min", "max"):
            big = rf"{BIG[function]}_{{0 \le {index} < {self.text(count)}}}"
        return f"{big} {self.operand(body, PRODUCT, after=True)}", EACH

    def last(self, count: Node) -> str:
        """The index before a count."""
        if isinstance(count, Number):
            return str(int(count.value) - 1)
        return self.text(Arith("-", count, Number(1)))

    def entries(self, vector: Node) -> str:
        """The entries of a vector, written out as far as its length is known."""
        name = self.operand(vector, ATOM)
        symbol = self.scope.get(vector.id) if isinstance(vector, Name) else None
        if symbol is None or symbol.count is None:
            return rf"{name}_{{0}},\; \ldots"
        return rf"{name}_{{0}},\; \ldots,\; {name}_{{{self.last(symbol.count)}}}"
