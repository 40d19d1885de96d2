"""Values for the inputs of a case: special ones, such as NaN and the ends of the range, or ordinary ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dmlcy._conformance.source import drawn
from dmlcy._desc.check import check, check_inputs
from dmlcy._desc.memory import in_memory, view
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError
from dmlcy._facts.tables import LEVELS
from dmlcy._field_types.tensor_array import arrays_by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.write import Use
from dmlcy._runtime.tensor import to_array
from dmlcy._testing.arrays import inputs
from dmlcy._types import Array

TRIES: Final = 4
ORDINARY: Final = 64.0
"""The largest size of an ordinary number; the smallest one is its reciprocal."""
SCALES: Final = (0.25, 1.0, 4.0, 16.0)


def values_for(desc: OperatorDesc, special: bool, number: int) -> dict[str, Array] | None:
    """Arrays by the names of their resources; None if none was found that the operator takes.

    ``special``: any values that the operator takes; else floating point values are ordinary numbers, except where a
    rule speaks of them.
    """
    ruled = {rule.about for rule in desc.operator.rules if rule.data}
    tensors = Use("", desc, {}).tensors("input")
    for arrays in reversed(drawn(inputs(desc), TRIES, number)):
        random = np.random.default_rng(number)
        found = {}
        for name, given in arrays_by_path(arrays).items():
            array = np.asarray(to_array(given))
            if not special and array.dtype.kind == "f" and name not in ruled:
                scaled = random.standard_normal(array.shape) * random.choice(SCALES)
                array = scaled.astype(array.dtype)
            found[name] = as_laid_out(tensors[name], array)
        if takes(desc, found):
            return found
    return None


def ordinary(desc: OperatorDesc) -> OperatorDesc:
    """The desc with the numbers of an example in place of very large and very small ones, where it is valid so."""
    given = {field.python: getattr(desc, field.python) for field in desc.operator.fields}
    found = desc
    for name, value in given.items():
        if isinstance(value, float) and value and not 1 / ORDINARY <= abs(value) <= ORDINARY:
            examples = [example.attributes[name] for example in desc.operator.examples if name in example.attributes]
            for other in examples[:1]:
                changed = type(desc)(**{**given, name: other})
                if not check(changed, LEVELS[-1].name):
                    given[name], found = other, changed
    return found


def as_laid_out(tensor: TensorDesc, values: Array) -> Array:
    """The values as an operator sees them that reads them from a buffer: elements that share their place are one."""
    if tensor.strides is None:
        return np.ascontiguousarray(values)
    return np.array(view(in_memory(tensor, values).view(np.uint8), tensor, 0))


def takes(desc: OperatorDesc, arrays: Mapping[str, Array]) -> bool:
    """Whether no rule of the operator refuses these values."""
    try:
        check_inputs(desc, arrays)
    except DmlError:
        return False
    return True
