"""How far a result may be off: the accuracy that a spec states, for one desc and the values of its inputs.

An operator states a bound for its own result. A device that conforms is as far off at most, to the other side perhaps:
two results are told apart by ``SIDES`` bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dmlcy._arithmetic import WIDE
from dmlcy._desc.check import check
from dmlcy._desc.compile import compile as compile_desc
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import is_float, numpy_dtype
from dmlcy._facts.levels import level_index
from dmlcy._facts.rows import Dtype, Field
from dmlcy._facts.tables import DTYPES, FeatureLevelName
from dmlcy._families import family_of
from dmlcy._families.given import Given
from dmlcy._field_types.tensor import dtypes_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._reference import ulp

Array = npt.NDArray[Any]
Tolerance = npt.NDArray[np.float64]

SIDES: Final = 2
"""The expected value and that of the device may each be off by the bound, so that a difference of two bounds passes."""

RESULT: Final = "result"
MAGNITUDES: Final = "magnitudes"


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest error of one result, in units in the last place; of what, ``of`` says (see Accuracy)."""

    ulp: float
    formula: str
    of: str


def bound(desc: OperatorDesc, dtype: Dtype) -> Bound | None:
    """The accuracy of results of a data type; None: they are exact."""
    accuracy = desc.operator.accuracy.get(dtype.name)
    if accuracy is None:
        return None
    ulp = Formulas(desc).of(accuracy.ulp)
    return Bound(ulp, accuracy.ulp.text, accuracy.of) if ulp else None


def of_results(bound: Bound, values: Array) -> Tolerance:
    """The bound of each result, in units in the last place of the result itself."""
    return bound.ulp * ulp.unit(np.nan_to_num(values), values.dtype)


def varying(
    desc: OperatorDesc, output: Field, bound: Bound, inputs: Mapping[str, Array], values: Array, level: FeatureLevelName
) -> Callable[[], Tolerance] | None:
    """Makes the bound of each result where ``inputs`` (by Python name) decide it; None where ``of_results`` is it.

    It is infinite where the accuracy promises nothing.
    """
    if bound.of == MAGNITUDES:
        return partial(tolerance, desc, output, dtype_of(getattr(desc, output.python)), bound, inputs, level)
    spared = family_of(desc.operator).unpromised(desc, output, inputs)
    return None if spared is None else lambda: np.where(spared, np.inf, of_results(bound, values))


def tolerance(
    desc: OperatorDesc, output: Field, dtype: Dtype, bound: Bound, inputs: Mapping[str, Array], level: FeatureLevelName
) -> Tolerance:
    """The bound of each result, where it depends on the values of the inputs (by Python name).

    It is infinite where the absolute values exceed the range of the data type, so that any number may come of them by
    the order of a sum, and NaN where those of the positive and those of the negative values each do: NaN may, too.
    It is 0 where an infinity, but no such sum, goes into a result, and where a NaN does: neither is rounded.
    """
    if desc.operator.state == "reference":
        with np.errstate(all="ignore"):
            found = family_of(desc.operator).evaluate(Given.of_desc(desc, inputs, WIDE), output.python)
            sizes = None if found.magnitudes is None else np.asarray(found.magnitudes(), np.float64)
        if sizes is not None:
            return np.broadcast_to(bound.ulp * ulp.unit(sizes, numpy_dtype(dtype)), found.values.shape)
    values = {name: np.abs(x) if x.dtype.kind == "f" else x for name, x in inputs.items()}
    finite = {name: np.where(np.isfinite(x), x, x.dtype.type(0)) for name, x in values.items()}
    wide = _widened(desc, level)
    magnitudes, error = _run(wide, output, finite, level)
    result = bound.ulp * ulp.unit(magnitudes + error, numpy_dtype(dtype))
    beyond = ~np.isfinite(magnitudes)
    if beyond.any():
        halves = [_run(wide, output, _half(inputs, sign), level)[0] for sign in (1, -1)]
        result[beyond] = np.inf
        result[beyond & ~np.isfinite(halves[0]) & ~np.isfinite(halves[1])] = np.nan
    if any(not np.isfinite(x).all() for x in values.values()):
        spread, _ = _run(wide, output, values, level)
        result[np.isnan(spread) | (np.isfinite(magnitudes) & ~np.isfinite(spread))] = 0.0
    return result


def _half(inputs: Mapping[str, Array], sign: int) -> dict[str, Array]:
    """The sizes of the values of one sign, 0 in place of the others and of NaN."""
    with np.errstate(invalid="ignore"):  # of signalling NaN
        return {
            name: np.where(x * sign > 0, np.abs(x), x.dtype.type(0)) if x.dtype.kind == "f" else x
            for name, x in inputs.items()
        }


def _run(
    desc: OperatorDesc, output: Field, inputs: Mapping[str, Array], level: FeatureLevelName
) -> tuple[Tolerance, Tolerance]:
    """The result in float64, and how far it may be off itself."""
    arguments: list[Any] = []
    for field in desc.operator.fields:
        tensor = getattr(desc, field.python)
        if field.kind == "input":
            given = inputs.get(field.python)
            arguments.append(None if given is None else given.astype(numpy_dtype(dtype_of(tensor)), copy=False))
    results = compile_desc(desc, level)(*arguments)
    values = desc._values()
    outputs = [f.python for f in desc.operator.fields if f.kind == "output" and values[f.python] is not None]
    found = results if len(outputs) == 1 else results[outputs.index(output.python)]
    own = bound(desc, dtype_of(getattr(desc, output.python)))
    error = np.zeros(found.shape) if own is None else own.ulp * ulp.unit(found, found.dtype)
    return found.astype(np.float64), error


def _widened(desc: OperatorDesc, level: FeatureLevelName) -> OperatorDesc:
    """The desc with its floating tensors, packed, in the widest data type that all of them take."""
    operator, values = desc.operator, desc._values()
    fields = [field for field in operator.fields if isinstance(values[field.python], TensorDesc)]
    tensors = {field.python: (field, dtype_of(getattr(desc, field.python))) for field in fields}
    floats = [(field, dtype) for field, dtype in tensors.values() if is_float(dtype)]
    bits = max((dtype.bits for _, dtype in floats), default=0)
    common = [
        dtype
        for dtype in DTYPES.values()
        if dtype.numpy and is_float(dtype) and dtype.bits >= bits
        if all(dtype.name in dtypes_at(field, level_index(level)) for field, _ in floats)
    ]
    for dtype in sorted(common, key=lambda dtype: dtype.bits, reverse=True):
        given = {field.python: values[field.python] for field in operator.fields if field.value is None}
        for name, (_, own) in tensors.items():
            given[name] = TensorDesc((dtype if is_float(own) else own).name, getattr(desc, name).sizes)
        wide = type(desc)(**given)
        if not check(wide, level):
            return wide
    return desc
