"""The arguments of the reference of a family: a use of an operator, its tensors, and ``[kernel]`` for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcy._arithmetic import EXACT, Arithmetic
from dmlcy._desc.formulas import Formulas, Values
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.rows import Operator, Rules
from dmlcy._field_types.tensor_array import by_path
from dmlcy._runtime import four_bits
from dmlcy._types import DType, Number


def beside(rules: Rules, names: Mapping[str, Number]) -> Rules:
    """The values of a desc with more names, or other values of some; ``rules`` stay what they are."""
    return type(rules)({**vars(rules), **names})


class Kernel(Values):
    """The table ``[kernel]`` of an operator, worked out for one use, over the numbers of an arithmetic."""

    def __init__(self, operator: Operator, rules: Rules, arithmetic: Arithmetic = EXACT) -> None:
        super().__init__(rules)
        self.operator = operator
        self.told = operator.definition
        self.arithmetic = arithmetic

    def field(self, role: str) -> Any:
        """The value of the field that plays a role."""
        return getattr(self.rules, self.told.roles[role])

    def is_member(self, role: str, member: str) -> bool:
        """Whether the field that plays a role is that member of its enum; False without such a field."""
        return role in self.told.roles and self.field(role).name == member

    def value(self, key: str, /, **names: Number) -> Number:
        """The value of an expression, over the names that the family reserves."""
        return self.told.formulas[key].function(self.arithmetic, beside(self.rules, names) if names else self.rules)


def kernel_of(desc: OperatorDesc, arithmetic: Arithmetic = EXACT) -> Kernel:
    """The kernel of a valid desc."""
    return Kernel(desc.operator, Formulas(desc).rules, arithmetic)


def _numbers(array: Number) -> Number:
    """The array, or the arrays, of an input; elements of 4 bits as numbers of one byte."""
    return tuple(map(_numbers, array)) if isinstance(array, tuple | list) else four_bits.values_of(array)


class Given(Kernel):
    """A valid use of an operator, and the arrays of its inputs by Python name; an array of tensors is a tuple.

    ``values``: of its fields, tensors as TensorDesc. ``outputs``: the outputs that are there, each tensor of an array
    by its path. ``input`` is the array of the first input that there is, ``output_sizes`` are those of the first
    output. ``kept`` has what a family computed together with another output.
    """

    def __init__(
        self,
        operator: Operator,
        rules: Rules,
        values: Mapping[str, Any],
        arrays: Mapping[str, Number],
        arithmetic: Arithmetic,
    ) -> None:
        super().__init__(operator, rules, arithmetic)
        self.outputs = tuple(by_path(operator.fields, "output", values))
        self.values = {**values, **dict(self.outputs)}
        self.arrays = {name: _numbers(array) for name, array in arrays.items()}
        self.kept: dict[str, Number] = {}
        self.input: Number = next(iter(self.arrays.values()), None)
        self.output_sizes: tuple[int, ...] = next((tensor.sizes for _, tensor in self.outputs), ())

    @classmethod
    def of_desc(cls, desc: OperatorDesc, arrays: Mapping[str, Number], arithmetic: Arithmetic = EXACT) -> Given:
        """A valid desc and its arrays."""
        return cls(desc.operator, Formulas(desc).rules, desc._values(), arrays, arithmetic)

    def with_arrays(self, arrays: Mapping[str, Number]) -> Given:
        """The same use with other arrays."""
        return type(self)(self.operator, self.rules, self.values, arrays, self.arithmetic)

    def of_role(self, role: str) -> Number:
        """The value of the field that plays a role, as the desc has it; None without such a field."""
        name = self.told.roles.get(role)
        return None if name is None else self.values[name]

    def dtype(self, name: str) -> DType:
        """The data type of a tensor."""
        return numpy_dtype(dtype_of(self.values[name]))

    def room(self, name: str) -> Number:
        """An array without values for the elements of an output, as the arithmetic stores them."""
        return np.empty(self.values[name].sizes, self.arithmetic.storage(self.dtype(name)))

    def elements(self, name: str) -> Number:
        """The elements of an input as numbers; None if it is left out."""
        array = self.arrays.get(name)
        return None if array is None else self.arithmetic.of(array)
