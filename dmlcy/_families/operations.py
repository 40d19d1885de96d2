"""How many operations a call takes: the expressions of ``[kernel]`` over numbers that count them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmlcy._arithmetic.counted import COUNTING, operations
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import plain_dtype
from dmlcy._families.given import Given
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._types import Array, Number


def sizes_only(desc: OperatorDesc, sized: Callable[[TensorDesc], tuple[int, ...]] | None = None) -> Given:
    """A valid desc with arrays of its sizes that take no memory; ``sized`` gives other sizes for a tensor."""

    def array(value: Number) -> Number:
        if value is None:
            return None
        if isinstance(value, tuple):
            return tuple(map(array, value))
        found: Array = np.zeros((), plain_dtype(dtype_of(value)))
        return np.broadcast_to(found, value.sizes if sized is None else sized(value))

    values = desc._values()
    names = [field.python for field in desc.operator.fields if field.kind == "input"]
    arrays = {name: array(values[name]) for name in names if values[name] is not None}
    return Given.of_desc(desc, arrays, COUNTING)


def along(given: Given, key: str, **names: Number) -> int:
    """The operations of an expression over the numbers of these names; 0 where there is no expression."""
    return operations([given.value(key, **names)]) if key in given.told.formulas else 0
