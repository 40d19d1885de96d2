"""Elements of results that are not judged: no document promises their values, as an interpretation of the spec says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from dmlcy._arithmetic import WIDE
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import family_of
from dmlcy._families.given import Given
from dmlcy._field_types.tensor_desc import TensorDesc

Marks = npt.NDArray[np.bool_]


def unjudged(desc: OperatorDesc, arrays: Mapping[str, object], output: str | None = None) -> list[tuple[str, Marks]]:
    """The elements of an output whose values are not promised for these inputs, by the id of the interpretation.

    ``arrays``: the inputs by Python name, an array of tensors as a tuple, None for one left out. ``output``: the path
    of an output, by default the first. Each interpretation that leaves out an element gives its id and, in the sizes of
    the output, the marks of its elements; an element may have several. Interpretations of a fused activation count,
    too.
    """
    given = Given.of_desc(desc, {name: array for name, array in arrays.items() if array is not None}, WIDE)
    first = given.outputs[0][0]
    with np.errstate(all="ignore"):
        found = [*_own(given, first if output is None else output)]
        if output in (None, first):
            found += _of_activation(desc, given)
    return found


def ids_of(desc: OperatorDesc) -> frozenset[str]:
    """The ids that ``unjudged`` may give for a desc: of its operator, and of a fused activation."""
    several = [desc, *(value for value in desc._values().values() if isinstance(value, OperatorDesc))]
    return frozenset(one.id for each in several for one in each.operator.unjudged)


def _own(given: Given, output: str) -> Iterator[tuple[str, Marks]]:
    """The marks by the interpretations of the operator itself."""
    for one in given.operator.unjudged:
        if one.outputs and output.partition("[")[0] not in one.outputs:
            continue
        if one.when is None or given.of(one.when):
            marks = np.asarray(family_of(given.operator).holds(one.condition, given, output), np.bool_)
            if marks.any():
                yield one.id, np.broadcast_to(marks, tuple(given.values[output].sizes))


def _of_activation(desc: OperatorDesc, given: Given) -> list[tuple[str, Marks]]:
    """The marks by the interpretations of a fused activation, where an input of the first output is infinite or NaN."""
    fused = given.of_role("fused")
    if fused is None or not fused.operator.unjudged:
        return []
    if all(np.isfinite(array).all() for array in given.arrays.values()):
        return []
    name, tensor = given.outputs[0]
    values = {**desc._values(), given.told.roles["fused"]: None}
    plain = Given(desc.operator, Formulas(desc).rules, values, given.arrays, WIDE)
    packed = TensorDesc(tensor.dtype, tensor.sizes)
    attributes = {one.python: getattr(fused, one.python) for one in fused.operator.parameters}
    whole = type(fused)(input=packed, output=packed, **attributes)
    return unjudged(whole, {"input": family_of(desc.operator).result(plain, name)})
