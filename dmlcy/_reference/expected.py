"""The result that the reference gives in exact arithmetic, and how far another one may be off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._arithmetic.rounding import unit
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import numpy_dtype, plain_dtype
from dmlcy._facts.names import must_run
from dmlcy._families import family_of
from dmlcy._families.accumulators import limits
from dmlcy._families.given import Given
from dmlcy._field_types.tensor_array import by_path
from dmlcy._reference.accuracy import MAGNITUDES, bound
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array, DType


@dataclass(frozen=True, slots=True)
class Expected:
    """The result of an operator for some arrays.

    Attributes
    ----------
    values
        The elements themselves; of an operator that computes, fractions, and floats for infinities and NaN.
    dtype
        Data type of a result: of 4 bits int8 or uint8, as which results of 4 bits are compared.
    ulp
        The accuracy that the spec states, in units in the last place; 0: exact.
    units
        Of an operator that computes, what one unit is at each element, as fractions. ``units`` is None where the spec
        promises nothing: the sum of the absolute values is beyond the data type in which it is accumulated.
    """

    values: Array
    dtype: DType
    ulp: float
    units: Array | None

    def errors(self, result: Array) -> npt.NDArray[np.float64]:
        """How far each element of a result is off, in units in the last place; NaN where the spec promises nothing.

        Where the values are exact, an infinity or NaN, an element is right (0) or wrong (inf). The sign and the bits of
        a NaN do not count.
        """
        values = self.values
        result = as_array(result)
        if result.dtype != self.dtype or without_ones(result.shape) != without_ones(values.shape):
            raise AssertionError(
                f"the result is {result.dtype} {result.shape}, and must be {self.dtype} {values.shape}"
            )
        result = result.reshape(values.shape)
        if self.units is None:
            return _different(result, values)
        errors = np.empty(values.shape)
        most = int(np.finfo(self.dtype).maxexp)
        for at in np.ndindex(values.shape):
            errors[at] = _error(float(result[at]), values.item(*at), self.units.item(*at), most)
        return errors


def _different(result: Array, values: Array) -> npt.NDArray[np.float64]:
    """0 where the bits are the same, inf elsewhere; NaN equals NaN."""
    bits = f"u{values.itemsize}"
    same = np.ascontiguousarray(result).view(bits) == np.ascontiguousarray(values).view(bits)
    if values.dtype.kind == "f":
        same |= np.isnan(result) & np.isnan(values)
    return np.where(same, 0.0, np.inf)


def _error(actual: float, value: float | Fraction, one: Fraction | None, most: int) -> float:
    """The error of an element; 2 ** ``most`` is the number after the largest one."""
    if isinstance(value, float):  # an infinity or NaN
        if math.isnan(value):
            return 0.0 if math.isnan(actual) else math.inf
        return math.nan if one is None else 0.0 if actual == value else math.inf
    if one is None:
        return math.nan
    if math.isnan(actual):
        return math.inf
    if math.isinf(actual) and abs(value) >= Fraction(2) ** most and (actual > 0) == (value > 0):
        return 0.0
    # An infinity is where the number after the largest one is: it rounds to infinity.
    actual_exact = Fraction(2) ** most * (1 if actual > 0 else -1) if math.isinf(actual) else Fraction(actual)
    return float(abs(actual_exact - Fraction(value)) / one)


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes without leading ones."""
    first = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes))
    return sizes[first:]


def expected(desc: OperatorDesc, arrays: Mapping[str, Array], output: str | None = None) -> Expected:
    """The result of a valid desc for arrays, by the Python names of its inputs.

    Parameters
    ----------
    desc
        A valid desc.
    arrays
        By the Python names of the inputs; an array of tensors is a sequence.
    output
        The Python name of one of several outputs, such as ``"outputs[1]"`` in an array; None: the first.

    Raises
    ------
    OperatorNotRunnableError
        The operator is described: dmlcy cannot compute its result yet.
    """
    operator = desc.operator
    must_run(operator)
    names = outputs_of(desc)
    name = names[0] if output is None else output
    if name not in names:
        raise ValueError(f"the desc has no output {name!r}: it has {', '.join(names)}")
    inputs = as_arrays(arrays)
    given = Given.of_desc(desc, inputs)
    tensor = given.values[name]
    dtype, own = dtype_of(tensor), numpy_dtype(dtype_of(tensor))
    family = family_of(operator)
    found = family.evaluate(given, name)
    stated = bound(desc, dtype)
    if found.moved or own.kind != "f" or stated is None:
        exact = found.values.astype(own, copy=False) if found.moved else family.stored(given, found.values, name)
        return Expected(four_bits.values_of(exact), plain_dtype(dtype), 0.0, None)
    values = np.broadcast_to(np.asarray(found.values, object), tensor.sizes)
    magnitudes, large = found, found.values
    if stated.of == MAGNITUDES and found.magnitudes is not None:
        large = found.magnitudes()
    elif stated.of == MAGNITUDES or found.accumulators is not None:
        sized = {name: _magnitudes(array) for name, array in inputs.items()}
        magnitudes = family.evaluate(Given.of_desc(desc, sized), name)
        large = magnitudes.values if stated.of == MAGNITUDES else large
    sizes = np.broadcast_to(np.asarray(large, object), values.shape)
    units = np.empty(values.shape, object)
    for at in np.ndindex(values.shape):
        size: Any = sizes[at]
        # An infinite size of a finite result is of an infinity that the result does not depend on.
        one: Any = next((one for one in (size, values[at]) if _is_finite(one)), 0)
        units[at] = unit(abs(Fraction(one)), own)
        if isinstance(size, float) and math.isnan(size) and stated.of == MAGNITUDES:
            units[at] = None
    if magnitudes.accumulators is not None:
        least, most = limits(operator, dtype, given.input.size)
        for at, total in np.ndenumerate(magnitudes.accumulators):
            if total > most or 0 < total < least:
                units[at] = None
    return Expected(values, own, stated.ulp, units)


def outputs_of(desc: OperatorDesc) -> list[str]:
    """The Python names of the outputs that a desc has, of those in an array with their places."""
    return [name for name, _ in by_path(desc.operator.fields, "output", desc._values())]


def as_arrays(arrays: Mapping[str, object]) -> dict[str, object]:
    """The arrays of inputs by their names, without arrays that are None: an optional input may be left out so."""
    return {name: as_array(array) for name, array in arrays.items() if array is not None}


def as_array(array: object) -> Any:
    """The given value of a tensor, as an array, or a tuple of them; elements of 4 bits as numbers of one byte."""
    if isinstance(array, tuple | list):
        return tuple(map(as_array, array))
    found = to_array(array)
    return np.asarray(array) if found is None else four_bits.values_of(np.asarray(found))


def _magnitudes(array: Any) -> object:
    """The absolute values of the finite elements, 0 for the others."""
    if isinstance(array, tuple):
        return tuple(map(_magnitudes, array))
    if array.dtype.kind != "f":
        return array
    return np.where(np.isfinite(array), np.abs(array), array.dtype.type(0))
