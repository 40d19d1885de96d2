"""Text to nodes. Python's own parser reads the syntax; whatever the language does not have is refused by name."""

from __future__ import annotations

import ast
import math
import re
import warnings
from itertools import pairwise

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
    Number,
    Sizes,
    Splat,
    Text,
    Within,
)

MAX_LENGTH = 1000
MAX_DEPTH = 60

ARITH = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/"}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
# Functions and how many arguments each takes; None: any number from one.
FUNCTIONS: dict[str, int | None] = {
    "rank": 1, "sizes": 1, "dtype": 1, "present": 1, "count": 1, "len": 1, "min": None, "max": None, "prod": 1,
    "sum": 1, "abs": 1,
    "ceil_div": 2, "isfinite": 1, "isnan": 1, "floor": 1, "round": 1, "sqrt": 1, "exp": 1, "log": 1, "tanh": 1,
    "erf": 1, "pow": 2,
}  # fmt: skip
REFERENCE: dict[str, int | None] = {
    "ceil": 1, "trunc": 1, "round_even": 1, "f32": 1, "f64": 1, "saturate": 1, "negative": 1,
    "expm1": 1, "log1p": 1, "erfc": 1, "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "asinh": 1, "acosh": 1, "atanh": 1,
    "int_pow": 2, "div_trunc": 2, "mod_trunc": 2, "mod_floor": 2,
    "bit_and": 2, "bit_or": 2, "bit_xor": 2, "bit_not": 1, "shift_left": 2, "shift_right": 2, "bit_count": 1,
    "any": 1, "all": 1, "idle": 1, "in_range": 1,
}  # fmt: skip
"""Functions of ``[kernel]`` and of ``not_judged``, and of no rule."""
COMPOSED: dict[str, int | None] = {
    "sigmoid": 1, "sigmoid_times": 3, "tanh_times": 3, "softplus_times": 3, "softplus_over": 2, "scaled_expm1": 2,
    "gelu": 1,
}  # fmt: skip
"""Functions of ``[kernel]`` that are formulas of others."""
EACH = ("sum", "prod", "min", "max", "all", "any")
REFUSED: dict[type[ast.AST], str] = {
    ast.Attribute: "attribute access",
    ast.Lambda: "lambda",
    ast.NamedExpr: "assignment",
    ast.Dict: "dictionary",
    ast.DictComp: "dictionary",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.ListComp: "list comprehension",
    ast.GeneratorExp: "`… for …` outside a function",
    ast.Starred: "* outside a list",
    ast.JoinedStr: "f-string",
    ast.FormattedValue: "f-string",
    ast.Slice: "slice",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Pow: "operator **",
    ast.BitAnd: "operator &",
    ast.BitOr: "operator |",
    ast.BitXor: "operator ^",
    ast.LShift: "operator <<",
    ast.RShift: "operator >>",
    ast.MatMult: "operator @",
    ast.Invert: "operator ~",
    ast.UAdd: "sign +",
    ast.Is: "operator is",
    ast.IsNot: "operator is",
    ast.NotIn: "operator not in",
}
INT64_MAX = 2**63 - 1
WORD = re.compile(r"[A-Z0-9_]+")


def parse(text: str) -> Node:
    """The expression in ``text``; raises ExprError."""
    if len(text) > MAX_LENGTH:
        raise ExprError(f"the expression is longer than {MAX_LENGTH} characters", 0, len(text))
    text = text.replace("\r", "\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        at = min(max((error.offset or 1) - 1, 0), max(len(text) - 1, 0))
        raise ExprError(f"not an expression: {error.msg}", at, 1) from None
    except (ValueError, MemoryError, RecursionError):
        raise ExprError("not an expression: it holds characters or nesting that no expression has") from None
    return _Reader(text).read(tree.body, 0)


class _Reader:
    def __init__(self, text: str) -> None:
        # ast counts UTF-8 bytes.
        self.raw = text.encode()
        self.lines = [0]
        for number, byte in enumerate(self.raw):
            if byte == 0x0A:
                self.lines.append(number + 1)

    def place(self, tree: ast.expr) -> tuple[int, int]:
        start = self.lines[tree.lineno - 1] + tree.col_offset
        end = self.lines[(tree.end_lineno or tree.lineno) - 1] + (tree.end_col_offset or tree.col_offset + 1)
        at = len(self.raw[:start].decode(errors="replace"))
        return at, max(len(self.raw[start:end].decode(errors="replace")), 1)

    def read(self, tree: ast.expr, depth: int) -> Node:
        at, length = self.place(tree)
        if depth > MAX_DEPTH:
            raise ExprError(f"the expression is nested deeper than {MAX_DEPTH} levels", at, length)

        def sub(child: ast.expr) -> Node:
            return self.read(child, depth + 1)

        match tree:
            case ast.Constant(value=value):
                return self.constant(value, at, length)
            case ast.Name(id=name):
                return Name(name, at=at, length=length)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Negate(sub(operand), at=at, length=length)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(sub(operand), at=at, length=length)
            case ast.UnaryOp(op=unary):
                raise self.refused(unary, at, length)
            case ast.BinOp(op=operator, left=left, right=right) if type(operator) in ARITH:
                return Arith(ARITH[type(operator)], sub(left), sub(right), at=at, length=length)
            case ast.BinOp(op=operator):
                raise self.refused(operator, at, length)
            case ast.BoolOp(op=logic, values=values):
                word = "and" if isinstance(logic, ast.And) else "or"
                return Logic(word, tuple(sub(value) for value in values), at=at, length=length)
            case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple(elts=choices)]) if choices:
                return Within(sub(left), tuple(sub(choice) for choice in choices), at=at, length=length)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                words = [self.comparison(op, at, length) for op in ops]
                sides = pairwise([left, *rights])
                pairs = [
                    Compare(word, sub(one), sub(other), at=at, length=length)
                    for word, (one, other) in zip(words, sides, strict=True)
                ]
                return pairs[0] if len(pairs) == 1 else Logic("and", tuple(pairs), at=at, length=length)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Choice(sub(test), sub(body), sub(orelse), at=at, length=length)
            case ast.Subscript(value=base, slice=ast.Tuple(elts=elts)):
                return Index(sub(base), tuple(sub(item) for item in elts), at=at, length=length)
            case ast.Subscript(value=base, slice=index):
                return Index(sub(base), (sub(index),), at=at, length=length)
            case ast.Attribute(value=base, attr="Width" | "Height" as name):
                return Member(sub(base), name, at=at, length=length)
            case ast.List(elts=elts):
                return Sizes(tuple(self.size(item, depth + 1) for item in elts), at=at, length=length)
            case ast.Call():
                return self.call(tree, depth, at, length)
        raise self.refused(tree, at, length)

    def size(self, tree: ast.expr, depth: int) -> Node:
        if not isinstance(tree, ast.Starred):
            return self.read(tree, depth)
        at, length = self.place(tree)
        return Splat(self.read(tree.value, depth), at=at, length=length)

    def constant(self, value: object, at: int, length: int) -> Node:
        match value:
            case bool():
                raise ExprError("True and False are not used: write the condition itself", at, length)
            case int() | float():
                if value > INT64_MAX if isinstance(value, int) else not math.isfinite(value):
                    raise ExprError("the number does not fit 64 bits", at, length)
                return Number(value, at=at, length=length)
            case str():
                if not WORD.fullmatch(value):
                    raise ExprError("a string is the name of an enum member or of a data type", at, length)
                return Text(value, at=at, length=length)
        raise ExprError(f"the expression language has no {type(value).__name__} constant", at, length)

    def comparison(self, op: ast.cmpop, at: int, length: int) -> str:
        if isinstance(op, ast.In):
            raise ExprError("`in` takes choices in parentheses: x in (a, b)", at, length)
        if type(op) not in COMPARE:
            raise self.refused(op, at, length)
        return COMPARE[type(op)]

    def call(self, tree: ast.Call, depth: int, at: int, length: int) -> Node:
        if not isinstance(tree.func, ast.Name) or tree.keywords:
            raise ExprError("a call is a function's name and its arguments", at, length)
        function = tree.func.id
        if len(tree.args) == 1 and isinstance(tree.args[0], ast.GeneratorExp):
            generator = tree.args[0]
            if function not in EACH:
                raise ExprError(f"{function} takes no `… for … in …`", at, length, f"these do: {', '.join(EACH)}")
            loop = generator.generators[0]
            if len(generator.generators) != 1 or loop.ifs or loop.is_async:
                raise ExprError("one `for`, without `if`", at, length)
            if any(isinstance(part, ast.GeneratorExp) for part in ast.walk(tree) if part is not generator):
                raise ExprError("a `for` inside another: make the inner one a let", at, length)
            if not isinstance(loop.target, ast.Name):
                raise ExprError("the index of a `for` is one name", at, length)
            body, count = self.read(generator.elt, depth + 1), self.read(loop.iter, depth + 1)
            return Each(function, body, loop.target.id, count, at=at, length=length)
        known = FUNCTIONS | REFERENCE | COMPOSED
        if function not in known:
            raise ExprError(f"unknown function {function}", at, length, f"functions: {', '.join(sorted(FUNCTIONS))}")
        arguments = known[function]
        if len(tree.args) != arguments and (arguments is not None or not tree.args):
            raise ExprError(f"{function} takes {arguments or 'one or more'} argument(s)", at, length)
        return Call(function, tuple(self.read(arg, depth + 1) for arg in tree.args), at=at, length=length)

    def refused(self, tree: ast.AST, at: int, length: int) -> ExprError:
        what = REFUSED.get(type(tree), type(tree).__name__)
        return ExprError(f"the expression language has no {what}", at, length)
