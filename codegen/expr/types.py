"""The kind of each node and the interval of its values.

Integers are exact. An interval is what the ranges of the fields prove; where it leaves int64, the Cython target emits
checked arithmetic.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..diagnostics import did_you_mean
from .nodes import (
    UINT_MAX,
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

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
MAX_RANK = 8
MAX_REPEATS = 64  # of a `for` in a formula


class Kind(enum.Enum):
    """The type of an expression."""

    INT = "an integer"
    FLOAT = "a float"
    BOOL = "a condition"
    DTYPE = "a data type"
    ENUM = "an enum member"
    VECTOR = "a vector of integers"
    FLOATS = "a vector of floats"
    TENSOR = "a tensor"
    TENSORS = "an array of tensors"
    ELEMENTS = "the elements of a tensor"
    OPERATOR = "an operator"
    OPERATORS = "an array of operators"
    SIZE_2D = "a SIZE_2D"
    SCALAR = "a scalar union"
    TEXT = "a name"


@dataclass(frozen=True, slots=True)
class Interval:
    """lo … hi, both inclusive; None: unbounded."""

    lo: int | None = None
    hi: int | None = None

    def fits_int64(self) -> bool:
        """Whether every value is an int64."""
        return self.lo is not None and self.hi is not None and self.lo >= INT64_MIN and self.hi <= INT64_MAX

    def has_zero(self) -> bool:
        """Whether 0 is inside."""
        return (self.lo is None or self.lo <= 0) and (self.hi is None or self.hi >= 0)

    def joined(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(_low(self.lo, other.lo), _high(self.hi, other.hi))


@dataclass(frozen=True, slots=True)
class Symbol:
    """The meaning of a name: ``role`` is field, let, index, element (of a tensor) or local."""

    kind: Kind
    role: str
    interval: Interval = Interval()
    members: tuple[str, ...] = ()  # of an enum
    count: Node | None = None  # entries of a vector
    ranks: Interval = Interval(1, MAX_RANK)  # of a tensor, or of each of several


Scope = Mapping[str, Symbol]

OF_INTEGERS = (
    "div_trunc", "int_pow", "bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right", "bit_count",
)  # fmt: skip
"""Functions that take integers only, and give one."""

SPREAD = ("any", "all", "idle")
"""Functions of a condition on the elements of a tensor, which hold for elements of an output."""

SIZE = Interval(1, UINT_MAX)


def _low(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def _high(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def kind_of(node: Node, scope: Scope) -> Kind:
    """The kind of ``node``; raises ExprError where the expression means nothing."""
    match node:
        case Number(value=value):
            return Kind.FLOAT if isinstance(value, float) else Kind.INT
        case Text():
            return Kind.TEXT
        case Name(id=name):
            return _symbol(node, name, scope).kind
        case Negate(operand=operand):
            return _number(operand, scope)
        case Not(operand=operand):
            _expect(operand, scope, Kind.BOOL)
            return Kind.BOOL
        case Arith():
            return _of_arith(node, scope)
        case Compare(left=left, right=right):
            _comparable(node, left, right, scope)
            return Kind.BOOL
        case Logic(items=items):
            for item in items:
                _expect(item, scope, Kind.BOOL)
            return Kind.BOOL
        case Within(item=item, choices=choices):
            for choice in choices:
                _comparable(node, item, choice, scope)
            return Kind.BOOL
        case Choice():
            return _of_choice(node, scope)
        case Index():
            return _of_index(node, scope)
        case Member(base=base):
            _expect(base, scope, Kind.SIZE_2D)
            return Kind.INT
        case Call():
            return _call(node, scope)
        case Each():
            return _of_each(node, scope)
        case Sizes(items=items):
            for item in items:
                if isinstance(item, Splat):
                    _vector(item.operand, scope)
                else:
                    _expect(item, scope, Kind.INT)
            return Kind.VECTOR
    raise ExprError("this does not stand alone", node.at, node.length)


def _of_arith(node: Arith, scope: Scope) -> Kind:
    kinds = {_number(node.left, scope), _number(node.right, scope)}
    kind = Kind.FLOAT if Kind.FLOAT in kinds else Kind.INT
    if node.op == "/" and kind is Kind.INT:
        raise ExprError("/ divides floats only", node.at, node.length, "use // (floor) or ceil_div(a, b)")
    if node.op in ("//", "%"):
        if kind is Kind.FLOAT:
            raise ExprError(f"{node.op} takes integers only", node.at, node.length)
        _positive(node.right, scope)
    return kind


def _of_choice(node: Choice, scope: Scope) -> Kind:
    _expect(node.test, scope, Kind.BOOL)
    sides = ((node.then, True), (node.other, False))
    kinds = {kind_of(side, refined(scope, node.test, truth)) for side, truth in sides}
    if kinds == {Kind.INT, Kind.FLOAT}:
        return Kind.FLOAT
    if len(kinds) > 1:
        raise ExprError("both sides of `if … else` must be of one kind", node.at, node.length)
    kind = kinds.pop()
    if kind not in (Kind.INT, Kind.FLOAT, Kind.BOOL):
        raise ExprError("`if … else` chooses between numbers or conditions", node.at, node.length)
    return kind


def _of_index(node: Index, scope: Scope) -> Kind:
    base, indices = node.base, node.indices
    for index in indices:
        _expect(index, scope, Kind.INT)
    kind = kind_of(base, scope)
    for index in indices:
        low = interval_of(index, scope).lo
        if low is None or low < 0:
            raise ExprError("the index may be negative", index.at, index.length)
    if kind is Kind.TENSOR and isinstance(base, Name):
        return Kind.FLOAT
    if kind is Kind.TENSORS and len(indices) == 1:
        return Kind.TENSOR
    if kind not in (Kind.VECTOR, Kind.FLOATS) or len(indices) != 1:
        raise ExprError(f"{kind.value} takes no such index", node.at, node.length)
    if kind is Kind.VECTOR:
        _vector(base, scope)
    high = interval_of(indices[0], scope).hi
    if high is None or high >= MAX_RANK:
        message = f"the index may be beyond {MAX_RANK - 1}, the last of any vector"
        raise ExprError(message, indices[0].at, indices[0].length)
    return Kind.FLOAT if kind is Kind.FLOATS else Kind.INT


def _of_each(node: Each, scope: Scope) -> Kind:
    function, count = node.function, node.count
    _expect(count, scope, Kind.INT)
    times = interval_of(count, scope).hi
    counted = isinstance(count, Call) and count.function == "count"  # tensors of an array, however many
    # An `all` can be a rule of its own.
    if function != "all" and not counted and (times is None or times > MAX_REPEATS):
        raise ExprError(f"a `for` runs at most {MAX_REPEATS} times: this may be more", count.at, count.length)
    inner = within(scope, node.variable, count)
    if function in ("all", "any"):
        _expect(node.body, inner, Kind.BOOL)
        return Kind.BOOL
    return _number(node.body, inner)


def within(scope: Scope, variable: str, count: Node) -> Scope:
    """``scope`` with the index ``variable`` of ``count`` values."""
    if len(variable) != 1 or not "b" <= variable <= "z":  # generated code has longer names, and a, of its own
        raise ExprError(f"the index {variable!r} is not one letter from b to z", count.at, count.length)
    if variable in scope:
        free = next(letter for letter in "dijkmnuwxyz" if letter not in scope)
        what = {"field": "a field", "let": "a let"}.get(scope[variable].role, "an index")
        raise ExprError(
            f"{variable} is the name of {what}", count.at, count.length, f"take another letter, such as {free}"
        )
    high = interval_of(count, scope).hi
    return {**scope, variable: Symbol(Kind.INT, "index", Interval(0, None if high is None else max(high - 1, 0)))}


def _symbol(node: Node, name: str, scope: Scope) -> Symbol:
    if name not in scope:
        raise ExprError(f"unknown name {name}", node.at, node.length, did_you_mean(name, scope))
    return scope[name]


def _expect(node: Node, scope: Scope, kind: Kind) -> None:
    found = kind_of(node, scope)
    if found is not kind:
        raise ExprError(f"expected {kind.value}, found {found.value}", node.at, node.length)


def _vector(node: Node, scope: Scope) -> None:
    _expect(node, scope, Kind.VECTOR)
    if not isinstance(node, Name | Call):
        raise ExprError("expected the name of a vector, or sizes(tensor)", node.at, node.length)


def _positive(node: Node, scope: Scope) -> None:
    low = interval_of(node, scope).lo
    if low is None or low < 1:
        problem = "may be 0" if low == 0 else "may be 0 or negative"
        raise ExprError(f"the divisor {problem}", node.at, node.length, "give the field a range from 1")


def _number(node: Node, scope: Scope) -> Kind:
    kind = kind_of(node, scope)
    if kind not in (Kind.INT, Kind.FLOAT):
        raise ExprError(f"expected a number, found {kind.value}", node.at, node.length)
    return kind


def _comparable(node: Node, left: Node, right: Node, scope: Scope) -> None:
    kinds = (kind_of(left, scope), kind_of(right, scope))
    numbers = (Kind.INT, Kind.FLOAT)
    if kinds[0] in numbers and kinds[1] in numbers:
        return
    if isinstance(node, Compare) and node.op not in ("==", "!="):
        raise ExprError(f"{node.op} compares numbers", node.at, node.length)
    if kinds[1] is Kind.TEXT and kinds[0] is Kind.ENUM:
        members = scope[left.id].members if isinstance(left, Name) else ()
        if isinstance(right, Text) and right.value not in members:
            raise ExprError(f"{right.value!r} is no member", right.at, right.length, f"members: {', '.join(members)}")
        return
    equal = kinds[0] in (Kind.BOOL, Kind.DTYPE, Kind.ENUM) and kinds[0] is kinds[1]
    if equal or kinds == (Kind.DTYPE, Kind.TEXT):
        return
    raise ExprError(f"{kinds[0].value} is not compared with {kinds[1].value}", node.at, node.length)


def _call(node: Call, scope: Scope) -> Kind:
    function, args = node.function, node.args
    match function:
        case "present" if kind_of(args[0], scope) is Kind.OPERATOR:
            return Kind.BOOL
        case "rank" | "sizes" | "dtype" | "present":
            _expect(args[0], scope, Kind.TENSOR)
            return {"rank": Kind.INT, "sizes": Kind.VECTOR, "dtype": Kind.DTYPE, "present": Kind.BOOL}[function]
        case "count":
            _expect(args[0], scope, Kind.TENSORS)
            return Kind.INT
        case "len" if kind_of(args[0], scope) in (Kind.FLOATS, Kind.OPERATORS):
            return Kind.INT
        case "len" | "prod" | "sum":
            _vector(args[0], scope)
            return Kind.INT
        case "min" | "max" if len(args) == 1:
            _vector(args[0], scope)
            return Kind.INT
        case "min" | "max" | "mod_trunc" | "mod_floor":
            kinds = {_number(arg, scope) for arg in args}
            return Kind.FLOAT if Kind.FLOAT in kinds else Kind.INT
        case "abs":
            return _number(args[0], scope)
        case "ceil_div":
            for arg in args:
                _expect(arg, scope, Kind.INT)
            _positive(args[1], scope)
            return Kind.INT
        case _ if function in SPREAD:
            _expect(args[0], inside(node, scope), Kind.BOOL)
            return Kind.BOOL
        case "isfinite" | "isnan" | "negative" | "in_range":
            _number(args[0], scope)
            return Kind.BOOL
        case "saturate":
            _number(args[0], scope)
            return Kind.INT
        case _ if function in OF_INTEGERS:
            for arg in args:
                _expect(arg, scope, Kind.INT)
            return Kind.INT
        case "round":
            _expect(args[0], scope, Kind.FLOAT)
            return Kind.INT
    for arg in args:
        _number(arg, scope)
    return Kind.FLOAT


def elements_in(node: Node, scope: Scope) -> tuple[str, ...]:
    """The names of elements of tensors in an expression, sorted."""
    names = {part.id for part in node.walk() if isinstance(part, Name)}
    return tuple(sorted(name for name in names if name in scope and scope[name].kind is Kind.ELEMENTS))


def inside(node: Call, scope: Scope) -> Scope:
    """The scope inside a condition on the elements of one tensor: its name is one of them there."""
    for part in node.walk():
        if isinstance(part, Name):
            _symbol(part, part.id, scope)
    found = elements_in(node, scope)
    if len(found) != 1:
        problem = f"{node.function} takes a condition on the elements of one tensor"
        names = [name for name, symbol in scope.items() if symbol.kind is Kind.ELEMENTS]
        raise ExprError(problem, node.at, node.length, f"of {', '.join(names)}" if names else None)
    return {**scope, found[0]: replace(scope[found[0]], kind=Kind.FLOAT)}


def refined(scope: Scope, test: Node, truth: bool) -> Scope:
    """``scope`` where ``test`` is known to be ``truth``: a bound that equals the tested number moves by one."""
    if not (isinstance(test, Compare) and isinstance(test.left, Name) and isinstance(test.right, Number)):
        return scope
    symbol, value = scope.get(test.left.id), test.right.value
    excluded = (test.op == "==" and not truth) or (test.op == "!=" and truth)
    if symbol is None or not excluded or isinstance(value, float):
        return scope
    lo, hi = symbol.interval.lo, symbol.interval.hi
    interval = Interval(value + 1 if lo == value else lo, value - 1 if hi == value else hi)
    return {**scope, test.left.id: replace(symbol, interval=interval)}


def interval_of(node: Node, scope: Scope) -> Interval:
    """The values that an integer expression can have; unbounded for everything else."""
    match node:
        case Number(value=value) if isinstance(value, int):
            return Interval(value, value)
        case Name(id=name):
            return _symbol(node, name, scope).interval
        case Negate(operand=operand):
            return _product(interval_of(operand, scope), Interval(-1, -1))
        case Arith(op=op, left=left, right=right):
            return _arith(op, left, right, scope)
        case Choice(test=test, then=then, other=other):
            return interval_of(then, refined(scope, test, True)).joined(interval_of(other, refined(scope, test, False)))
        case Index(base=base):
            return interval_of(base, scope)
        case Member(base=base):
            return interval_of(base, scope)
        case Call():
            return _called(node, scope)
        case Each(function="sum" | "prod" | "min" | "max" as function, body=body, variable=variable, count=count):
            times = interval_of(count, scope).hi
            return _repeated(function, interval_of(body, within(scope, variable, count)), times)
        case Sizes(items=items):
            total = Interval(UINT_MAX, 0)
            for item in items:
                total = total.joined(interval_of(item.operand if isinstance(item, Splat) else item, scope))
            return total
    return Interval()


def _called(node: Call, scope: Scope) -> Interval:
    match node.function, node.args:
        case "rank", (Name(id=name) | Index(base=Name(id=name)),):
            return _symbol(node, name, scope).ranks
        case "sizes", _:
            return SIZE
        case "count", _:
            return Interval(0, UINT_MAX)
        case "len", (vector,):
            return Interval(0, MAX_RANK if kind_of(vector, scope) is Kind.VECTOR else UINT_MAX)
        case (("min" | "max"), (vector,)):
            return interval_of(vector, scope).joined(Interval(0, 0))  # 0 is that of no entries
        case ("min" | "max") as function, args:
            intervals = [interval_of(arg, scope) for arg in args]
            lows = [interval.lo for interval in intervals if interval.lo is not None]
            highs = [interval.hi for interval in intervals if interval.hi is not None]
            if function == "min":
                return Interval(min(lows) if len(lows) == len(args) else None, min(highs, default=None))
            return Interval(max(lows, default=None), max(highs) if len(highs) == len(args) else None)
        case "abs", (operand,):
            inner = interval_of(operand, scope)
            if inner.lo is None or inner.hi is None:
                return Interval(0, None)
            ends = (abs(inner.lo), abs(inner.hi))
            return Interval(0 if inner.has_zero() else min(ends), max(ends))
        case "ceil_div", (dividend, divisor):
            quotient = _arith("//", dividend, divisor, scope)
            return Interval(quotient.lo, None if quotient.hi is None else quotient.hi + 1)
        case ("prod" | "sum") as function, (vector,):
            return _repeated(function, interval_of(vector, scope), MAX_RANK)
        case "round", _:
            return Interval(-(2**31), 2**31 - 1)  # it saturates
    return Interval()


def _repeated(function: str, body: Interval, times: int | None) -> Interval:
    if function in ("min", "max"):
        return body.joined(Interval(0, 0))  # 0 is that of no entries
    if times is None or body.lo is None or body.hi is None:
        return Interval(0 if body.lo is not None and body.lo >= 0 else None, None)
    if function == "sum":
        return Interval(min(0, body.lo * times), max(0, body.hi * times))
    if body.lo < 0:
        return Interval()
    if times > MAX_REPEATS and body.hi > 1:
        return Interval(0, None)
    return Interval(min(1, body.lo), max(1, body.hi**times))


def _product(a: Interval, b: Interval) -> Interval:
    if None in (a.lo, a.hi, b.lo, b.hi):
        return Interval(0 if a.lo is not None and b.lo is not None and a.lo >= 0 and b.lo >= 0 else None, None)
    assert a.lo is not None and a.hi is not None and b.lo is not None and b.hi is not None
    corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi]
    return Interval(min(corners), max(corners))


def _arith(op: str, left: Node, right: Node, scope: Scope) -> Interval:
    a, b = interval_of(left, scope), interval_of(right, scope)
    match op:
        case "+":
            return Interval(
                None if a.lo is None or b.lo is None else a.lo + b.lo,
                None if a.hi is None or b.hi is None else a.hi + b.hi,
            )
        case "-":
            return Interval(
                None if a.lo is None or b.hi is None else a.lo - b.hi,
                None if a.hi is None or b.lo is None else a.hi - b.lo,
            )
        case "*":
            return _product(a, b)
        case "%":
            return Interval(0, b.hi - 1) if b.lo is not None and b.lo > 0 and b.hi is not None else Interval()
        case "//" if b.lo is not None and b.lo > 0:
            if a.lo is None or a.hi is None:
                return Interval(0 if a.lo is not None and a.lo >= 0 else None, None)
            divisors = [b.lo] if b.hi is None else [b.lo, b.hi]
            quotients = [value // divisor for value in (a.lo, a.hi) for divisor in divisors]
            if b.hi is None:
                quotients += [0 if value >= 0 else -1 for value in (a.lo, a.hi)]
            return Interval(min(quotients), max(quotients))
    return Interval()
