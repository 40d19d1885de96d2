"""Arrays for the inputs of a desc: any values that the operator takes, or that it refuses, in any layout."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from dmlcy._check.checker import Check
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.memory import dtype_of, is_packed
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.dtypes import has_four_bits, numpy_dtype
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Field, Rule
from dmlcy._facts.tables import DTYPES
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._runtime.four_bits import given_back
from dmlcy._testing.descs import MOST_ELEMENTS, descs
from dmlcy._testing.starts import tensors_of
from dmlcy._testing.values import specials
from dmlcy._types import Array, DType

__all__ = ["broken_inputs", "cases", "inputs", "specials"]

Arrays = dict[str, Any]
"""By the Python names of inputs; an array of tensors is a tuple."""

LAYOUTS: Final = ("contiguous", "channels last", "Fortran", "transposed", "backwards", "steps", "offset", "misaligned")
WRONG: Final = (math.nan, math.inf, -math.inf, 0.5, -1.0, 999.0, 65504.0, -65504.0)


def inputs(desc: OperatorDesc) -> st.SearchStrategy[Arrays]:
    """Arrays for the inputs of a valid desc, by their Python names: any values that the operator takes, in any layout.

    Floating point has NaN, infinities, subnormal numbers and zeros of both signs, unless the operator refuses them. The
    layouts are those of NumPy: channels last, transposed, backwards, with gaps, behind an offset, misaligned, with
    elements that share their place. Tensors of INT4 and UINT4 are arrays of ml_dtypes where that is installed, else
    packed.
    """
    return _inputs(desc)


def cases(
    operator: object, *, level: object = None, most_elements: int = MOST_ELEMENTS
) -> st.SearchStrategy[tuple[OperatorDesc, Arrays]]:
    """A valid desc of packed tensors, and arrays for its inputs. The parameters are those of ``descs``.

    The data types of the desc are the data types that NumPy has.
    """
    valid = descs(operator, level=level, most_elements=most_elements, layouts=False).filter(in_numpy)
    return valid.flatmap(lambda desc: st.tuples(st.just(desc), _inputs(desc)))


def in_numpy(desc: OperatorDesc) -> bool:
    """Whether NumPy has the data types of all tensors."""
    fields = [field for field in desc.operator.fields if field.kind != "attribute"]
    tensors = [tensor for field in fields for tensor in tensors_of(getattr(desc, field.python))]
    return all(DTYPES[tensor.dtype.name].numpy is not None for tensor in tensors)


def runs(desc: OperatorDesc) -> bool:
    """Whether a desc of an operator that runs does so: tensors of 4 bits have no strides."""
    fields = [field for field in desc.operator.fields if field.kind != "attribute"]
    tensors = [tensor for field in fields for tensor in tensors_of(getattr(desc, field.python))]
    return all(is_packed(tensor) or not has_four_bits(dtype_of(tensor)) for tensor in tensors)


def broken_inputs(
    operator: object, *, level: object = None, most_elements: int = MOST_ELEMENTS
) -> st.SearchStrategy[tuple[OperatorDesc, Arrays, Violation]]:
    """A valid desc, and arrays of which one value is refused when the operator runs, with the violation.

    An operator without rules on data refuses none: for it the strategy is empty. The parameters are those of ``descs``.
    """
    if not any(rule.data and rule.severity == "error" for rule in known_operator(operator).rules):
        return st.nothing()
    return cases(operator, level=level, most_elements=most_elements).flatmap(_broken)


@st.composite
def _broken(draw: st.DrawFn, case: tuple[OperatorDesc, Arrays]) -> tuple[OperatorDesc, Arrays, Violation]:
    desc, arrays = case
    rules = [rule for rule in desc.operator.rules if rule.data and rule.severity == "error" and rule.about in arrays]
    assume(rules)
    rule = draw(st.sampled_from(rules))
    array = arrays[rule.about] = arrays[rule.about].copy()
    at = draw(st.tuples(*(st.integers(0, size - 1) for size in array.shape)))
    with np.errstate(over="ignore"):
        array[at] = draw(st.sampled_from(WRONG if array.dtype.kind == "f" else wrong_integers(array.dtype)))
    check = Check(desc.operator, desc._values(), NEWEST, call=False)
    check.data(arrays)
    assume([one.id for one in check.violations] == [rule.id])
    return desc, arrays, check.violations[0]


def wrong_integers(dtype: DType) -> list[int]:
    """Integers of a data type that a rule is likely to refuse."""
    limits = np.iinfo(dtype)
    return [number for number in (limits.max, limits.min, -1, 999, 70, -70) if limits.min <= number <= limits.max]


@st.composite
def _inputs(draw: st.DrawFn, desc: OperatorDesc) -> Arrays:
    strict = {rule.about for rule in desc.operator.rules if rule.data}
    arrays: Arrays = {}
    for field in desc.operator.fields:
        if field.kind == "input" and getattr(desc, field.python) is not None:
            tensor = getattr(desc, field.python)
            if type(tensor) is tuple:
                arrays[field.python] = tuple(given_back(draw(_placed(_any(draw, one)))) for one in tensor)
                continue
            values = _taken(draw, desc, field) if field.python in strict else _any(draw, tensor)
            arrays[field.python] = given_back(draw(_placed(values)))
    return arrays


def _zeros(tensor: TensorDesc) -> Array:
    return np.zeros(tensor.sizes, numpy_dtype(DTYPES[tensor.dtype.name]).newbyteorder("="))


def _any(draw: st.DrawFn, tensor: TensorDesc) -> Array:
    """Any bits, or small whole numbers, with special values here and there."""
    zeros = _zeros(tensor)
    dtype, count = zeros.dtype, zeros.size
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()) and not has_four_bits(dtype_of(tensor)):
        values = random.integers(*((0, 9) if dtype.kind == "u" else (-8, 9)), count).astype(dtype)
    else:
        values = np.frombuffer(random.bytes(count * dtype.itemsize), dtype).copy()
    share = draw(st.sampled_from([0.0, 0.1, 0.5]))
    special = random.random(count) < share
    special[random.integers(count)] |= share > 0
    if not has_four_bits(dtype_of(tensor)):
        values[special] = random.choice(specials(dtype), int(special.sum()))
    return values.reshape(zeros.shape)


def _taken(draw: st.DrawFn, desc: OperatorDesc, field: Field) -> Array:
    """Zeros of which elements are made anew, one by one, and kept where the operator takes them."""
    array = _zeros(getattr(desc, field.python))
    rules = Formulas(desc).rules
    setattr(rules, f"{field.python}_data", array)
    conditions = [
        (rule, at)
        for rule in desc.operator.rules
        if rule.data and rule.each is None and rule.about == field.python
        for at in ([()] if rule.domain is None else [(index,) for index in range(rule.domain(rules))])
    ]
    each = [rule for rule in desc.operator.rules if rule.each == field.python]
    places = [*np.ndindex(array.shape)]
    tuples = places[: array.shape[-1]]
    array[...] = next((value for value in (0, 1, -1, 2) if all(kept(each, rules, at, value) for at in tuples)), 0)
    with np.errstate(over="ignore", invalid="ignore"):
        made = _numbers(draw, len(places)).astype(array.dtype)
    for number in range(len(places)) if draw(st.booleans()) else reversed(range(len(places))):
        at = places[number]
        before = array[at]
        array[at] = made[number]
        fine = kept(each, rules, at, array.item(*at))
        if not fine or not all(rule.holds(rules, *index) for rule, index in conditions):
            array[at] = before
    return array


def kept(each: list[Rule], rules: object, at: tuple[int, ...], value: object) -> bool:
    """Whether rules on each element hold for this value at a place."""
    return all(rule.holds(rules, *(() if rule.index is None else at[-1:]), value) for rule in each)


def _numbers(draw: st.DrawFn, count: int) -> Array:
    """Whole ones, halves, and some of all sizes, also such as a data type cannot hold."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = random.choice([2.0**31, 2.0**31 - 128, 65504.0, 1e38, 1e-3, 0.5, 0.0, 1.5], count)
    kinds = [
        random.integers(-4, 41, count),
        random.integers(-80, 601, count) / 2,
        sizes * random.choice([1, -1], count),
    ]
    return np.choose(random.integers(0, draw(st.integers(1, len(kinds))), count), kinds)


@st.composite
def _placed(draw: st.DrawFn, values: Array) -> Array:
    """An array of these values in any layout; one whose elements share their place repeats the first ones."""
    often = ["channels last"] * 2 if values.ndim > 3 else []
    kind = draw(st.sampled_from([*LAYOUTS, *often, "mixed", "mixed", "mixed"]))
    axes = [*range(values.ndim)]
    order, steps, gap, shift = axes, [1] * values.ndim, 0, 0
    if kind == "channels last" and values.ndim > 2:
        order = [0, *axes[2:], 1]
    elif kind == "Fortran":
        order = axes[::-1]
    elif kind in ("transposed", "mixed"):
        order = draw(st.permutations(axes))
    if kind in ("backwards", "steps", "mixed"):
        allowed = {"backwards": [1, -1], "steps": [1, 2, 3], "mixed": [1, 1, 1, -1, 2, 0]}[kind]
        steps = [draw(st.sampled_from(allowed)) if axis < 4 else 1 for axis in axes]
    if kind in ("offset", "mixed"):
        shift = values.itemsize * draw(st.integers(0, 3))
    if kind == "misaligned" or (kind == "mixed" and draw(st.integers(0, 2)) == 0):
        shift += draw(st.integers(1, max(values.itemsize - 1, 1)))
    if kind == "misaligned":
        gap = draw(st.sampled_from([0, 1]))
    elif kind == "mixed":
        gap = draw(st.sampled_from([0, 0, 0, values.itemsize, 1]))
    return _laid_out(values, order, steps, gap, shift)


def _laid_out(values: Array, order: list[int], steps: list[int], gap: int, shift: int) -> Array:
    """The values in a buffer: axes from the slowest to the fastest, steps along them, bytes between and before."""
    extent, offset = values.itemsize + gap, shift
    strides, shared = [0] * values.ndim, [slice(None)] * values.ndim
    for axis in reversed(order):
        strides[axis] = steps[axis] * extent
        if steps[axis] == 0:
            shared[axis] = slice(0, 1)
            continue
        offset += max(-strides[axis], 0) * (values.shape[axis] - 1)
        extent *= abs(steps[axis]) * values.shape[axis]
    buffer = np.zeros(shift + extent, np.uint8)
    placed: Array = np.ndarray(values.shape, values.dtype, buffer, offset, strides)
    bits = f"u{values.itemsize}"
    placed[tuple(shared)].view(bits)[...] = values[tuple(shared)].view(bits)
    return placed
