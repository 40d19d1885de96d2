"""Expressions: values of a graph that is being built, and what they are put together with."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, TypeAlias, TypeGuard, TypeVar

from dmlcy._errors import DmlError, Violation
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._frontends.directml.execution import current
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._frontends.directml.tensors import TensorDesc, numpy_type
from dmlcy._graph.values import Value
from dmlcy._types import DType
from dmlcy._words.values import show

Entry = TypeVar("Entry")
Scaled: TypeAlias = Callable[[float], tuple[float, float]]
"""A scale and a bias, from a number that is an operand."""
ASTYPE = re.compile(r"(\w+)\.astype\(numpy\.(\w+)\)")
"""How a hint converts an array; an expression is converted by cast."""


class Scope:
    """A graph that is being built, of either API. The operators of Python mean what its API says."""

    _sum: ClassVar[str]
    _remainder: ClassVar[str]
    _divides_a_number: ClassVar[bool]
    """Whether ``2 / x`` is 2 / x; else it is 1 / (2 x)."""

    def __init__(self, device: object) -> None:
        self.device: Any = device
        self._graph = current().graph()


class GraphBuilder(Scope):
    """A graph of the older API that is being built. ``device`` is the one that it runs on."""

    _sum = "element_wise_add"
    _remainder = "element_wise_modulus_truncate"
    _divides_a_number = False

    def __init__(self, device: object) -> None:
        super().__init__(device)
        self._inputs: dict[int, Expression] = {}

    def build(self, flags: object, outputs: Sequence[Expression]) -> Model:
        """Checks the graph and compiles it. ``flags``: of ``ExecutionFlags``; the CPU has no use for them."""
        entries = entries_of(outputs, Expression, "build() takes a list of expressions")
        missing = [index for index in range(len(self._inputs)) if index not in self._inputs]
        if missing:
            refuse("build", "binding-index", index=missing[0], most=max(self._inputs))
        return Model(self, entries)


class Expression:
    """The value of an operator or an input: an argument of other operators. Equal only to itself."""

    __array_ufunc__ = None  # an array beside an expression is refused, and not taken element by element

    def __init__(self, builder: Scope, value: Value, index: int | None = None) -> None:
        self._builder, self._value, self._index = builder, value, index

    @property
    def desc(self) -> TensorDesc:
        """The desc of its tensor."""
        return TensorDesc._of(self._value.desc)

    def get_output_desc(self) -> TensorDesc:
        """The desc of its tensor, as the older API asks for it."""
        return self.desc

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return tuple(self._value.desc.sizes)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """In elements; None where the elements are packed."""
        return self._value.desc.strides

    @property
    def dtype(self) -> DType:
        """The data type of its elements."""
        return numpy_type(self._value.desc)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self._value.desc.element_count

    def __repr__(self) -> str:
        return f"dml.Expression of type {self.dtype} and shape {[*self.shape]}"

    def __add__(self, other: object) -> Expression:
        return self._with("+", ("__add__", self._builder._sum), other, lambda one: (1.0, one))

    def __sub__(self, other: object) -> Expression:
        return self._with("-", ("__sub__", "element_wise_subtract"), other, lambda one: (1.0, -one))

    def __mul__(self, other: object) -> Expression:
        return self._with("*", ("__mul__", "element_wise_multiply"), other, lambda one: (one, 0.0))

    def __truediv__(self, other: object) -> Expression:
        return self._with("/", ("__truediv__", "element_wise_divide"), other, lambda one: (_inverse(one), 0.0))

    def __mod__(self, other: object) -> Expression:
        """With the sign of the other one in the newer API, with the sign of this one in the older."""
        if not isinstance(other, Expression):
            found: Expression = _no_operand("%", other)
            return found
        return self._of_two(("__mod__", self._builder._remainder), other)

    def __radd__(self, other: object) -> Expression:
        return self._reflected("+", other, lambda one: (1.0, one))

    def __rsub__(self, other: object) -> Expression:
        return self._reflected("-", other, lambda one: (-1.0, one))

    def __rmul__(self, other: object) -> Expression:
        return self._reflected("*", other, lambda one: (one, 0.0))

    def __rtruediv__(self, other: object) -> Expression:
        """other / x; in the older API, as its DirectMLX has it, 1 / (other * x)."""
        function = ("__rtruediv__", "element_wise_recip")
        if not self._builder._divides_a_number or not is_number(other):
            return self._reflected("/", other, lambda one: (one, 0.0), function)
        return self._scaled(1.0, 0.0, function)._scaled(other, 0.0, ("__rtruediv__", "element_wise_identity"))

    def __neg__(self) -> Expression:
        return self._made(("__neg__", "element_wise_negate"), input=self)

    def _with(self, sign: str, function: tuple[str, str], other: object, scaled: Scaled) -> Expression:
        """An operator of two expressions; of a number, this expression times a scale plus a bias."""
        if is_number(other):
            return self._scaled(*scaled(other), (function[0], "element_wise_identity"))
        return self._of_two(function, other) if isinstance(other, Expression) else _no_operand(sign, other)

    def _of_two(self, function: tuple[str, str], other: Expression) -> Expression:
        value_of(other, function[0], self._builder)
        must_be_alike(function[0], {"a": self, "b": other})
        return self._made(function, a=self, b=other)

    def _reflected(
        self, sign: str, other: object, scaled: Scaled, function: tuple[str, str] | None = None
    ) -> Expression:
        """An operator of a number in front of this expression."""
        names = {"+": "__radd__", "-": "__rsub__", "*": "__rmul__"}
        function = function or (names[sign], "element_wise_identity")
        return self._scaled(*scaled(other), function) if is_number(other) else _no_operand(sign, other)

    def _scaled(self, scale: float, bias: float, function: tuple[str, str]) -> Expression:
        return self._made(function, input=self, scale_bias=(_as_float(scale), _as_float(bias)))

    def _made(self, function: tuple[str, str], **values: object) -> Expression:
        """An operator of one output."""
        found = use(function, self._builder, values)
        assert isinstance(found, Expression)
        return found


class Model:
    """A compiled graph, which ``GraphBuilder.build`` gives. ``Device.compute`` runs it."""

    def __init__(self, builder: GraphBuilder, outputs: Sequence[Expression]) -> None:
        if not isinstance(builder, GraphBuilder):
            raise TypeError(f"Model() takes a GraphBuilder, not {show(builder)}")
        self._inputs = dict(builder._inputs)
        self._outputs = [*outputs]
        self._initialized = False
        self._compiled = current().compiled(builder._graph.build(*(one._value for one in outputs)))


def input_tensor(scope: GraphBuilder, input_index: int, tensor_desc: TensorDesc) -> Expression:
    """Creates an input of a graph."""
    if not isinstance(scope, GraphBuilder):
        raise TypeError(f"input_tensor() takes a GraphBuilder, not {show(scope)}")
    if not isinstance(tensor_desc, TensorDesc):
        raise TypeError(f"input_tensor() takes a TensorDesc, not {show(tensor_desc)}")
    if type(input_index) is not int or input_index < 0:
        raise TypeError(f"input_tensor(): input_index must be an int that is not negative, not {show(input_index)}")
    if input_index in scope._inputs:
        refuse("input_tensor", "binding-twice", index=input_index)
    value = scope._graph.input(tensor_desc._desc, name=f"input{input_index}")
    found = scope._inputs[input_index] = Expression(scope, value, input_index)
    return found


def use(
    function: tuple[str, str], scope: Scope, values: dict[str, object], names: dict[str, str] | None = None
) -> Expression | tuple[Expression, ...]:
    """An operator of expressions, of None and of sequences of them: an expression for its output, or a tuple.

    Parameters
    ----------
    function
        The function of PyDirectML, which errors name, and the one of dmlcy.
    scope
        The graph.
    values
        The arguments of the function of dmlcy.
    names
        The arguments that PyDirectML has another name for, with this name.
    """
    called, python = function
    given = {name: _values(one, called) for name, one in values.items()}
    try:
        found = getattr(scope._graph, python)(**given)
    except DmlError as error:
        said = [_renamed(one, names or {}) for one in error.violations]
        raise type(error)(said, called) from error.__cause__
    return tuple(Expression(scope, one) for one in found) if type(found) is tuple else Expression(scope, found)


def _renamed(violation: Violation, names: dict[str, str]) -> Violation:
    """A violation that names the arguments as the program does."""
    words = re.compile(rf"\b({'|'.join(names)})\b" if names else r"(?!)")
    message, hint = (words.sub(lambda found: names[found[0]], said) for said in (violation.message, violation.hint))
    field = violation.field and names.get(violation.field, violation.field)
    return replace(violation, field=field, message=message, hint=ASTYPE.sub(r'cast(\1, dtype="\2")', hint))


def _values(one: object, function: str) -> object:
    if isinstance(one, Expression):
        return one._value
    if (type(one) is list or type(one) is tuple) and any(isinstance(entry, Expression) for entry in one):
        return [value_of(entry, function) for entry in one]
    return one


def value_of(one: object, function: str, scope: Scope | None = None, argument: str = "") -> Value:
    """The value of an expression, which ``expression_of`` checks."""
    return expression_of(one, function, scope, argument)._value


def expression_of(one: object, function: str, scope: Scope | None = None, argument: str = "") -> Expression:
    """An expression; TypeError for what is none, ValueError for one of another graph than ``scope``."""
    if not isinstance(one, Expression):
        of = f" for {argument}" if argument else ""
        raise TypeError(f"{function}() takes an Expression{of}, not {show(one)}{_hint(one)}")
    if scope is not None and one._builder is not scope:
        raise ValueError(f"{function}() takes expressions of one graph, and {one!r} is of another graph.")
    return one


def must_be_alike(function: str, values: dict[str, Expression], types: bool = True) -> None:
    """Refuses expressions whose sizes differ, or their data types; a lint leaves this to the operator."""
    if not current().computes:
        return
    (first, a), *others = values.items()
    for name, b in others:
        both = {"a": f"{first} ({_shown(a)})", "b": f"{name} ({_shown(b)})"}
        if a.shape != b.shape:
            refuse(function, "operand-sizes", **both)
        if types and a.dtype != b.dtype:
            refuse(function, "operand-types", **both)


def _shown(one: Expression) -> str:
    return f"{one.dtype}, {[*one.shape]}"


def entries_of(given: object, kind: type[Entry], what: str) -> list[Entry]:
    """The entries of a list or a tuple, all of one class; TypeError for anything else."""
    if not isinstance(given, list | tuple):
        raise TypeError(f"{what}, not {show(given)}")
    for one in given:
        if not isinstance(one, kind):
            raise TypeError(f"{what}, not {show(one)} in it")
    return [*given]


def viewed(input: Expression, desc: Desc) -> Expression:
    """The bytes of an expression under another desc."""
    return Expression(input._builder, input._builder._graph.reinterpret(input._value, desc))


def _hint(one: object) -> str:
    """A hint about an argument that is no expression."""
    if hasattr(one, "__array__"):
        return (
            ". Make it an input with input_tensor(...) and a Binding, or with Graph.input(...) or Graph.constant(...)."
        )
    fields = [name for name in getattr(one, "_fields", ()) if getattr(one, name) is not None]  # outputs of an operator
    return f". Take one of its outputs: {', '.join(fields)}." if fields else ""


def _no_operand(sign: str, other: object) -> Any:
    """Refuse an array beside an expression, for which NumPy would speak of something else."""
    if hasattr(other, "__array__"):
        raise TypeError(f"{sign} takes two Expressions, or an Expression and a number, not {show(other)}{_hint(other)}")
    return NotImplemented


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that may be the other operand of an expression."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _as_float(value: float) -> float:
    """The number; infinity where it is too large, which the operator refuses."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _inverse(value: float) -> float:
    """1 / x, with infinity for 0 as in C."""
    return math.copysign(math.inf, value) if value == 0 else 1.0 / _as_float(value)
