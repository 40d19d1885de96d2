"""Expressions: values of a graph that is being built, and what they are put together with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeVar

from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.float import Float
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._frontends.directml.enums import OperatorType, name_of
from dmlcy._frontends.directml.execution import current
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._frontends.directml.tensors import TensorDesc
from dmlcy._graph.values import Value
from dmlcy._words.values import show

Entry = TypeVar("Entry")


class GraphBuilder:
    """A graph that is being built. ``device`` is the one that it runs on."""

    def __init__(self, device: Any) -> None:
        self.device: Any = device
        self._graph = current().graph()
        self._inputs: dict[int, Expression] = {}

    def build(self, flags: Any, outputs: Sequence[Expression]) -> Model:
        """Checks the graph and compiles it. ``flags``: of ``ExecutionFlags``; the CPU has no use for them."""
        entries = entries_of(outputs, Expression, "build() takes a list of expressions")
        missing = [index for index in range(len(self._inputs)) if index not in self._inputs]
        if missing:
            refuse("build", "binding-index", index=missing[0], most=max(self._inputs))
        return Model(self, entries)


class Expression:
    """What an operator or an input gives: an argument of other operators."""

    __array_ufunc__ = None  # an array beside an expression is refused, and not taken element by element

    def __init__(self, builder: GraphBuilder, value: Value, index: int | None = None) -> None:
        self._builder, self._value, self._index = builder, value, index

    def get_output_desc(self) -> TensorDesc:
        """The desc of its tensor."""
        return TensorDesc._of(self._value.desc)

    def __add__(self, other: Any) -> Expression:
        return self._with("+", ("__add__", "element_wise_add"), other, 1.0, other)

    def __sub__(self, other: Any) -> Expression:
        return self._with("-", ("__sub__", "element_wise_subtract"), other, 1.0, -other if _is_number(other) else 0.0)

    def __mul__(self, other: Any) -> Expression:
        return self._with("*", ("__mul__", "element_wise_multiply"), other, other, 0.0)

    def __truediv__(self, other: Any) -> Expression:
        return self._with("/", ("__truediv__", "element_wise_divide"), other, _inverse(other), 0.0)

    def __mod__(self, other: Any) -> Expression:
        known = isinstance(other, Expression)
        found: Expression = (
            use(("__mod__", "element_wise_modulus_truncate"), self, other) if known else _no_operand("%", other)
        )
        return found

    def __radd__(self, other: Any) -> Expression:
        return self._reflected("+", other, 1.0, other)

    def __rsub__(self, other: Any) -> Expression:
        return self._reflected("-", other, -1.0, other)

    def __rmul__(self, other: Any) -> Expression:
        return self._reflected("*", other, other, 0.0)

    def __rtruediv__(self, other: Any) -> Expression:
        """As DirectMLX has it: 1 / (other * x)."""
        return self._reflected("/", other, other, 0.0, "element_wise_recip")

    def __neg__(self) -> Expression:
        found: Expression = use(("__neg__", "element_wise_negate"), self)
        return found

    def _with(self, sign: str, function: tuple[str, str], other: Any, scale: Any, bias: Any) -> Expression:
        """An operator of two expressions; of a number, this expression times a scale plus a bias."""
        if _is_number(other):
            return self._scaled(scale, bias)
        found: Expression = use(function, self, other) if isinstance(other, Expression) else _no_operand(sign, other)
        return found

    def _reflected(
        self, sign: str, other: Any, scale: Any, bias: Any, function: str = "element_wise_identity"
    ) -> Expression:
        """An operator of a number in front of this expression."""
        found: Expression = self._scaled(scale, bias, function) if _is_number(other) else _no_operand(sign, other)
        return found

    def _scaled(self, scale: Any, bias: Any, function: str = "element_wise_identity") -> Expression:
        found: Expression = use(function, self, scale_bias=(_as_float(scale), _as_float(bias)))
        return found


class Model:
    """A compiled graph, which ``GraphBuilder.build`` gives. ``Device.compute`` runs it."""

    def __init__(self, builder: GraphBuilder, outputs: Sequence[Expression]) -> None:
        if not isinstance(builder, GraphBuilder):
            raise TypeError(f"Model() takes a GraphBuilder, not {show(builder)}")
        self._inputs = dict(builder._inputs)
        self._outputs = [*outputs]
        self._initialized = False
        self._compiled: Any = current().compiled(builder._graph.build(*(one._value for one in outputs)))


class FusedActivation:
    """An activation that an operator applies to its result, with its first two float parameters.

    Parameters
    ----------
    activation
        A member of ``OperatorType``; INVALID: none.
    param_1, param_2
        The float fields of its desc, in their order.
    """

    def __init__(self, activation: Any = OperatorType.INVALID, param_1: float = 0.0, param_2: float = 0.0) -> None:
        self.activation: Any = activation
        self.param_1: float = param_1
        self.param_2: float = param_2
        self._desc()  # refuses here, in the user's own line, what is no activation

    def _desc(self) -> OperatorDesc | None:
        name = name_of(self.activation)
        if name == OperatorType.INVALID.name:
            return None
        if name not in OPERATORS:
            raise TypeError(
                f"FusedActivation takes a member of OperatorType, such as OperatorType.ACTIVATION_RELU, not "
                f"{show(self.activation)}"
            )
        floats = [field.python for field in OPERATORS[name].fields if isinstance(type_of(field.type), Float)]
        try:
            desc: OperatorDesc = desc_class(name)(**dict(zip(floats, (self.param_1, self.param_2), strict=False)))
        except TypeError:  # it has other fields that must be given
            raise TypeError(f"FusedActivation takes an activation, not {name}") from None
        return desc


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


def reinterpret(
    input: Expression, new_type: Any, new_size: Sequence[int], new_strides: Sequence[int] | None = None
) -> Expression:
    """The same bytes under another data type, other sizes and strides."""
    old = _value(input, "reinterpret").desc
    total, alignment = old.total_tensor_size_in_bytes, old.guaranteed_base_offset_alignment
    desc = Desc(name_of(new_type), new_size, new_strides, old.flags, total, alignment)
    return Expression(input._builder, input._builder._graph.reinterpret(input._value, desc))


def use(function: str | tuple[str, str], *inputs: Any, **attributes: Any) -> Any:
    """An operator of expressions, of None and of sequences of them: an expression for its output, or a tuple.

    ``function``: that of dmlcy; before it the one of PyDirectML, which errors name, where that is another one.
    """
    called, function = (function, function) if isinstance(function, str) else function
    builder = next((one._builder for one in _flat(inputs) if isinstance(one, Expression)), None)
    values = [None if one is None else _values(one, called) for one in inputs]
    if builder is None:
        _value(next(iter(_flat(inputs)), None), called)
        raise AssertionError("an operator has an input")
    try:
        found = getattr(builder._graph, function)(*values, **attributes)
    except DmlError as error:
        raise type(error)(error.violations, called) from error.__cause__
    return tuple(Expression(builder, one) for one in found) if type(found) is tuple else Expression(builder, found)


def _flat(inputs: Sequence[Any]) -> list[Any]:
    return [entry for one in inputs for entry in (one if isinstance(one, list | tuple) else [one])]


def _values(one: Any, function: str) -> Any:
    return [_value(entry, function) for entry in one] if type(one) in (list, tuple) else _value(one, function)


def _value(one: Any, function: str) -> Value:
    if not isinstance(one, Expression):
        raise TypeError(f"{function}() takes an Expression, not {show(one)}{_hint(one)}")
    return one._value


def entries_of(given: Any, kind: type[Entry], what: str) -> list[Entry]:
    """The entries of a list or a tuple, all of one class; TypeError for anything else."""
    if not isinstance(given, list | tuple):
        raise TypeError(f"{what}, not {show(given)}")
    for one in given:
        if not isinstance(one, kind):
            raise TypeError(f"{what}, not {show(one)} in it")
    return [*given]


def _hint(one: object) -> str:
    """What to do with what is no expression."""
    if hasattr(one, "__array__"):
        return ". Make it an input with input_tensor(...), and give the array in a Binding."
    fields = getattr(one, "_fields", ())  # those of the outputs of an operator
    return f". Take one of its outputs: {', '.join(fields)}." if fields else ""


def _no_operand(sign: str, other: object) -> Any:
    """Refuse an array beside an expression, for which NumPy would speak of something else."""
    if hasattr(other, "__array__"):
        raise TypeError(f"{sign} takes two Expressions, or an Expression and a number, not {show(other)}{_hint(other)}")
    return NotImplemented


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _as_float(value: Any) -> float:
    """The number; infinity where it is too large, which the operator refuses."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _inverse(value: Any) -> float:
    """1 / x, with infinity for 0 as in C; 0 for what is no number."""
    return 0.0 if not _is_number(value) else math.copysign(math.inf, value) if value == 0 else 1.0 / _as_float(value)
