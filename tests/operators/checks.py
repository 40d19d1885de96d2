"""Checks that hold for every operator."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
import reference
from example_descs import attributes
from strategies import Array

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import RUNNABLE

PYTHON_NAMES = {operator.python: operator for operator in RUNNABLE.values()}


def assert_same_bits(actual: Any, expected: Array | tuple[Array, ...]) -> None:
    """The same data type, sizes and bytes: NaN payloads and signs of zeros count. Of several outputs, all of them."""
    if isinstance(expected, tuple):
        for one, wanted in zip(actual, expected, strict=True):
            assert_same_bits(one, wanted)
        return
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    bits = f"u{expected.itemsize}"
    if not np.array_equal(actual.view(bits), expected.view(bits)):
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(actual.view(bits), expected.view(bits))


def assert_same_values(actual: Any, expected: Array | reference.Near | tuple[Any, ...]) -> None:
    """The same data type, sizes and bytes, except the bytes of NaN; or numbers as near as the expected ones require."""
    if isinstance(expected, reference.Near):
        assert_near(actual, expected)
        return
    if isinstance(expected, tuple):
        for one, wanted in zip(actual, expected, strict=True):
            assert_same_values(one, wanted)
        return
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(actual), nan)
    zero = expected.dtype.type(0)
    assert_same_bits(np.where(nan, zero, actual), np.where(nan, zero, expected))


def assert_stated(actual: Any, expected: Array | tuple[Array, ...], operator: Operator) -> None:
    """The nearest numbers, or numbers as far from them as the accuracy of the operator says.

    Where functions are chained over steps, the loops round each of them: results with many digits may be 16 ULP off.
    """
    stated = [accuracy.ulp.text for accuracy in operator.accuracy.values()]
    ulp = max((int(text) for text in stated if text.isdigit()), default=1)
    found, wanted = (one if isinstance(one, tuple) else (one,) for one in (actual, expected))
    if ulp == 1 and any("steps" in text for text in stated) and not all(map(has_few_digits, wanted)):
        ulp = 16
    if ulp == 1:  # the operator rounds once
        assert_same_values(actual, expected)
        return
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_max_ulp(one, other, ulp)


def has_few_digits(array: Array) -> bool:
    """Whether all elements are multiples of 2^-12: products and sums of such numbers are exact."""
    return array.dtype.kind != "f" or bool(np.all(np.ldexp(array.astype(np.float64), 12) % 1 == 0))


def last_place(scale: Array, dtype: Any) -> Array:
    """A unit in the last place of numbers of this size, in float64."""
    limits = np.finfo(dtype)
    found: Array = np.ldexp(1.0, np.frexp(np.maximum(scale, float(limits.smallest_normal)))[1] - 1 - limits.nmant)
    return found


def assert_near(actual: Array, expected: reference.Near) -> None:
    """Every result is within the bound; an infinity counts as the number behind the largest.

    Zeros have their signs, except where terms cancel.
    """
    exact = expected.exact
    assert actual.shape == exact.shape
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(exact))
    checked = ~np.isnan(exact)
    beyond = 2.0 ** np.finfo(actual.dtype).maxexp
    found, wanted = (np.clip(one[checked].astype(np.float64), -beyond, beyond) for one in (actual, exact))
    terms = np.nan_to_num(np.maximum(expected.terms[checked], np.abs(wanted)), nan=beyond / 2)
    plain = terms <= np.abs(wanted)
    np.testing.assert_array_equal(np.signbit(found[plain]), np.signbit(wanted[plain]))
    ends = plain & ((np.abs(wanted) == beyond) | (wanted == 0))
    np.testing.assert_array_equal(found[ends], wanted[ends])
    error = np.abs(found - wanted) / last_place(np.minimum(terms, beyond / 2), actual.dtype)
    assert error.size == 0 or error.max() <= expected.ulp, f"{error.max()} ulp, the bound is {expected.ulp}"


def assert_within(actual: Array, average: reference.Average, bound: float) -> None:
    """Every result is within so many units in the last place of the sum of magnitudes by the divisor."""
    exact = average.mean()
    assert actual.shape == exact.shape
    np.testing.assert_array_equal(np.isnan(actual[np.isnan(exact)]), True)
    # A float32 sum whose parts may overflow says nothing.
    safe = average.magnitude <= 0.999 * float(np.finfo("f4").max)
    assert actual.dtype == np.float32 or safe.all()
    infinite, checked = safe & np.isinf(exact), safe & np.isfinite(exact)
    np.testing.assert_array_equal(actual[infinite], exact[infinite])
    scale = average.magnitude[checked] / np.maximum(average.divisor[checked], 1)
    error = np.abs(actual[checked].astype(np.float64) - exact[checked]) / last_place(scale, actual.dtype)
    assert error.size == 0 or error.max() <= bound, f"{error.max()} ulp, the bound is {bound}"


def assert_norm(actual: Array, expected: reference.Norm, bound: float) -> None:
    """Every result is within so many units in its last place, where its power is a normal number of float64."""
    norm, power = expected
    assert actual.shape == norm.shape
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(norm))
    with np.errstate(over="ignore"):
        exact = np.isinf(norm) | (norm == 0)
        beyond = np.isinf(norm.astype(actual.dtype)) & (np.isinf(actual) | exact)
    np.testing.assert_array_equal(actual[exact], norm[exact].astype(actual.dtype))
    checked = np.isfinite(norm) & ~exact & ~beyond & (power > 1e-290) & (power < 1e300)
    error = np.abs(actual[checked].astype(np.float64) - norm[checked]) / last_place(norm[checked], actual.dtype)
    assert error.size == 0 or error.max() <= bound, f"{error.max()} ulp, the bound is {bound}"


def assert_defined(actual: Any, desc: OperatorDesc, arrays: dict[str, Array]) -> None:
    """The results are those of the definition: the same bits, or within the accuracy that the spec states."""
    given = {name: value.name if isinstance(value, Enum) else value for name, value in attributes(desc).items()}
    with np.errstate(all="ignore"):
        inputs = [arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"]
        expected = reference.defined(desc.operator, *inputs, **given)
    if isinstance(expected, reference.Average):
        values = Check(desc.operator, desc._values(), NEWEST, call=False).rules
        assert_within(actual, expected, desc.operator.accuracy[str(actual.dtype).upper()].ulp.function(values))
    elif isinstance(expected, reference.Norm):
        values = Check(desc.operator, desc._values(), NEWEST, call=False).rules
        assert_norm(actual, expected, desc.operator.accuracy[str(actual.dtype).upper()].ulp.function(values))
    else:
        assert_same_values(actual, expected)


def compiled(name: str, inputs: list[Array], attributes: dict[str, Any]) -> Any:
    """The operator, checked once for tensors like `inputs`."""
    return dml.compile(described(name, inputs, attributes))


def described(name: str, inputs: list[Array], attributes: dict[str, Any]) -> Any:
    """The desc of a call."""
    operator, given = PYTHON_NAMES[name], dict(attributes)
    fields = [field.python for field in operator.fields if field.kind == "input"]
    tensors = {field: dml.TensorDesc(x.dtype, x.shape) for field, x in zip(fields, inputs, strict=True)}
    chosen = {field.python for field in operator.chosen}
    if chosen:
        resolved: Mapping[str, Any] = Check(operator, {**tensors, **attributes}, NEWEST, call=True).resolved
        tensors |= {field.python: resolved[field.python] for field in operator.fields if operator.is_open(field)}
    optional = [field.python for field in operator.fields if field.optional]
    asked = {name: given.pop(name) for name in optional if name in given}
    given = {key: value for key, value in given.items() if key not in chosen}
    desc = getattr(dml.desc, operator.desc)(**tensors, **given)
    outputs = {field: dml.TensorDesc(dtype, desc.output.sizes) for field, dtype in asked.items() if dtype}
    return getattr(dml.desc, operator.desc)(**tensors, **outputs, **given)
