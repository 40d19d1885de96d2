"""The compiled checks refuse what the exact ones refuse, by chance and at every limit."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from depth import deep, draws_of
from few import few_of_each_family
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from uses import (
    FAST,
    LEVELS,
    NEWEST,
    NUMPY,
    UINT_MAX,
    USES,
    Array,
    Use,
    following,
    search,
)

import dmlcy as dml
from codegen.model import Field, Operator
from dmlcy._check.checker import Check
from dmlcy._facts.levels import level_index
from dmlcy._facts.tables import OPERATORS as TABLE
from dmlcy._runtime.compiled import TableOperator

INTEGRAL = ("uint", "uint_array", "size_2d")

SMALL = st.integers(1, 3)
EDGES = st.sampled_from([0, 1, 2, 8, 9, 65535, 65536, 2**31 - 1, 2**31, UINT_MAX, UINT_MAX + 1, -1])
SIZE = st.one_of(*[SMALL] * 12, *[st.integers(1, 9)] * 6, EDGES)
NUMBER = st.one_of(*[SMALL] * 12, *[st.integers(0, 12)] * 3, EDGES)
SCALARS = [
    *(sign * (2**bits + step)
      for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64) for step in (-1, 0, 1) for sign in (1, -1)),
    0, 0.5, 9.0, -0.0, 65519.99, 65520, -65520.0, 3.4028235e38, 3.4028235677973366e38, 3.402823567797337e38, 1.8e308,
    math.inf, -math.inf, math.nan, Fraction(1, 3), Fraction(131039, 2), Fraction(131041, 2), Decimal("1e400"), 10**39,
    True, "1", np.int64(5), np.float32(1), np.uint64(2**64 - 1), 1j,
]  # fmt: skip
FLOATS = [
    *[1.0, 0.5, 1 / 16, 2, 0.25] * 4,
    0.0, -0.0, -1.0, 1e-45, 7e-46, 1e-46, 1e38, 3.4028235677973366e38, 1e39, math.nan, True,
]  # fmt: skip
COORDINATES = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 1.5, -1.0, 5.0, 60000.0, math.nan, math.inf]


@st.composite
def tensors(draw: st.DrawFn, operator: Operator) -> dict[str, Array]:
    """Inputs that hardly take memory: every element is the same, or, in tensors whose values are checked, every row."""
    arrays: dict[str, Array] = {}
    checked = {rule.about for rule in operator.rules if rule.data}
    dtype = draw(st.sampled_from(list(NUMPY)))
    for field in operator.inputs:
        own = dtype if draw(st.integers(0, 9)) else draw(st.sampled_from(list(NUMPY)))
        known = [name for row in operator.types[field.types or ""] for name in row.dtypes]
        own = own if own in known or not draw(st.integers(0, 9)) else known[0]
        row = draw(st.sampled_from(operator.ranks[field.ranks or ""]))
        rank = draw(st.integers(row.min, row.max)) if draw(st.integers(0, 9)) else draw(st.integers(0, 9))
        if field.python not in checked:
            sizes = draw(st.lists(SIZE, min_size=rank, max_size=rank))
            data = np.ones(1, NUMPY[own])
        else:
            tail = (draw(SIZE), 5 if draw(st.integers(0, 9)) else 4)
            sizes = [*[1] * draw(st.sampled_from([2, 2, 2, 0, 1, 3])), *tail]
            values = draw(st.lists(st.sampled_from(COORDINATES), min_size=5, max_size=5))
            data = np.array([0.0, 1.0, 1.0, 2.0, 3.0] if draw(st.integers(0, 2)) else values)
            data = np.nan_to_num(data, posinf=5) if NUMPY[own].kind in "iu" else data
            data = data.astype(NUMPY[own])
        sizes = [max(size, 0) for size in sizes]
        strides = [*[0] * (len(sizes) - 1), data.itemsize if data.size > 1 else 0][: len(sizes)]
        try:
            arrays[field.python] = as_strided(data, sizes, strides)
        except ValueError:  # more bytes than an address can name
            arrays[field.python] = as_strided(data, sizes[:1], strides[:1])
    return arrays


@st.composite
def attribute(draw: st.DrawFn, field: Field, arrays: dict[str, Array]) -> Any:
    """A value of an attribute: mostly one that could be valid."""
    if field.enum is not None:
        members = [member for member in getattr(dml, field.enum.removeprefix("DML_").title().replace("_", ""))]
        return draw(st.sampled_from([*members, *(member.name for member in members), "BOGUS"]))
    match field.type:
        case "uint":
            return draw(NUMBER)
        case "uint_array":
            first = next(iter(arrays.values()))
            length = first.ndim if field.default is None and not field.minimum else first.ndim - 2
            length = max(length if draw(st.integers(0, 9)) else draw(st.integers(0, 8)), 0)
            return draw(NUMBER | st.lists(NUMBER, min_size=length, max_size=length).map(tuple))
        case "float":
            return draw(st.sampled_from(FLOATS))
        case "bool":
            return draw(st.sampled_from([True, False, np.True_, 1]))
        case "size_2d":
            return draw(NUMBER | st.tuples(NUMBER, NUMBER))
        case _:
            return draw(st.sampled_from(SCALARS) | st.integers(-300, 300) | st.floats())


MOST = 20_000


def opened(operator: Operator) -> list[str]:
    """The outputs whose sizes or data type are the caller's choice."""
    found = (one for one in operator.outputs if operator.is_chosen(one) or not (one.optional or operator.has_type(one)))
    return [field.python for field in found]


@draws_of(5, 60)
@pytest.mark.parametrize("name", few_of_each_family())
def test_the_compiled_checks_agree_with_the_exact_ones(name: str, draws: int) -> None:
    search(lambda data: checks_agree(FAST[name], data), draws, name)


def checks_agree(operator: Operator, data: st.DataObject) -> None:
    """Of one call with any arguments."""
    name = operator.name
    arrays = data.draw(tensors(operator))
    fields = (*operator.chosen, *operator.attributes)
    attributes = {field.python: data.draw(attribute(field, arrays)) for field in fields}
    level = data.draw(st.just(NEWEST) | st.sampled_from(LEVELS))
    descs = {key: dml.TensorDesc(array.dtype, array.shape or (1,)) for key, array in arrays.items()}
    requests = {key: value for key, value in USES[name].requests.items() if key.endswith("_dtype")}
    asked = {key.removesuffix("_dtype"): value for key, value in requests.items()}
    exact = Check(TABLE[name], descs | attributes, level_index(level), call=True, asked=asked)
    if len(operator.chosen) and data.draw(st.integers(0, 9)):  # then sizes of inputs follow
        for key, sizes in following(exact).items():
            if key in arrays and math.prod(sizes) < 2**59:
                arrays[key] = np.broadcast_to(np.ones(1, arrays[key].dtype), sizes)
                descs[key] = dml.TensorDesc(arrays[key].dtype, sizes)
        exact = Check(TABLE[name], descs | attributes, level_index(level), call=True, asked=asked)
    outputs = {key: exact.resolved.get(key) or next(iter(descs.values())) for key in opened(operator)}

    d = USES[name].make(descs | outputs | attributes)
    found = dml.check(d, level)
    output = operator.outputs[0].python
    if getattr(d, output) is not None:
        assert accepted(lambda: TableOperator(d, level_index(level))) == (not found), (d, found)

    elements = sum(array.size for array in arrays.values())
    # A valid and large call would run, and take long.
    resolved: dict[str, Any] = exact.resolved
    if not exact.violations and elements + resolved[output].element_count > MOST:
        return
    if elements <= MOST:
        exact.data(arrays)

    def call() -> None:
        with dml.feature_level(level):
            result = getattr(dml, operator.python)(**arrays, **attributes, **requests)
        first = result[0] if isinstance(result, tuple) else result
        assert dml.TensorDesc.from_array(first) == exact.resolved[output]

    quick = exact.violations and not any(rule.data for rule in operator.rules)
    if elements <= MOST or quick:
        assert accepted(call) == (not exact.violations), (descs, attributes, level, exact.violations)


INTEGERS = [
    (name, field)
    for name in few_of_each_family(FAST, len(FAST))
    for field in FAST[name].attributes
    if field.type in INTEGRAL
]


@pytest.mark.parametrize("every", [pytest.param(1, id="all", marks=deep), pytest.param(6, id="some")])
@pytest.mark.parametrize(("name", "field"), INTEGERS, ids=[f"{name}-{field.python}" for name, field in INTEGERS])
def test_one_beyond_a_limit_whatever_the_others_are(name: str, field: Field, every: int) -> None:
    """The other attributes are as small or as large as they may be, so that often nothing else is wrong.

    Each value is tried beside some of them, and some values beside each of them.
    """
    use = USES[name]
    arrays = {one.python: use.arrays[one.python] for one in use.operator.inputs}
    others = [other for other in FAST[name].attributes if other.type in INTEGRAL and other is not field]
    beside = [*itertools.product(*((other.minimum, other.maximum) for other in others))]
    for number, extremes in enumerate(beside):
        attributes = use.attributes | dict(zip((other.python for other in others), extremes, strict=True))
        step = min(every, len(beside))
        for value in beyond(use, field)[number % step :: step]:
            changed = attributes | {field.python: value}
            assert dml.check(use.make(use.values() | changed)), changed
            assert not accepted(lambda c=changed: dml.compile(use.make(use.values() | c))), changed
            assert not accepted(lambda c=changed: getattr(dml, use.operator.python)(**arrays, **c)), changed


@pytest.mark.parametrize("name", few_of_each_family())
def test_an_axis_without_elements_whatever_the_attributes_are(name: str) -> None:
    """With padding the output would have elements all the same."""
    use = USES[name]
    arrays = {one.python: use.arrays[one.python] for one in use.operator.inputs}
    fields = [field for field in use.operator.attributes if field.type in INTEGRAL]
    for key, array in arrays.items():
        for axis in range(array.ndim):
            empty = arrays | {key: array[(slice(None),) * axis + (slice(0),)]}
            for values in itertools.product(*((field.minimum, 2) for field in fields)):
                changed = use.attributes | dict(zip((field.python for field in fields), values, strict=True))
                assert not accepted(lambda a=empty, c=changed: getattr(dml, use.operator.python)(**a, **c)), changed


def beyond(use: Use, field: Field) -> list[Any]:
    """Values that an attribute cannot have: numbers, one of several entries, and what is no number."""
    wrong = [field.minimum - 1, field.maximum + 1]
    if field.type != "uint":
        length = len(getattr(use.desc, field.python))
        several = [(*[field.minimum] * (length - 1), number) for number in wrong]
        return [*wrong, *several, "1", 1.5]
    return [*wrong, "1", 1.5]


def accepted(function: Any) -> bool:
    """Whether it does not raise a DmlError."""
    try:
        function()
    except dml.DmlError:
        return False
    return True


class Foreign:
    """An array of another library."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array__(self, *_: object, **__: object) -> Array:
        return np.array(self.value)


NO_SIZES = [np.array(1), np.array(True), np.array([True]), Foreign(1), Foreign([True])]


@pytest.mark.parametrize("value", NO_SIZES, ids=["number", "bool", "bools", "foreign", "foreign-bools"])
def test_what_is_no_sequence_of_sizes(value: Any) -> None:
    """Each value is refused, though 1 would be the size."""
    indices, values = np.zeros(1, np.int32), np.zeros(2, np.float32)
    assert not accepted(lambda: dml.one_hot(indices, values, axis=0, output_sizes=value))
    assert not accepted(lambda: dml.split(indices, axis=0, output_sizes=[value]))
    tensor = dml.TensorDesc("INT32", (1,))
    assert dml.check(dml.desc.Split(input=tensor, outputs=[dml.TensorDesc("INT32", value)], axis=0))


def test_an_array_without_dimensions_is_a_number() -> None:
    x = np.zeros((2, 2), np.float32)
    assert dml.tile(x, repeats=np.array(2)).shape == (4, 4)
    tensors: dict[str, Any] = {"input": dml.TensorDesc("FLOAT32", (2, 2)), "output": dml.TensorDesc("FLOAT32", (4, 4))}
    assert not dml.check(dml.desc.Tile(repeats=np.array(2), **tensors))
    values: tuple[Any, ...] = (np.array(True), np.array([True, True]), Foreign(2), Foreign([True, True]))
    for value in values:
        assert not accepted(lambda one=value: dml.tile(x, repeats=one))
        assert dml.check(dml.desc.Tile(repeats=value, **tensors))
