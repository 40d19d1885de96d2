"""Hypothesis strategies made of the specs, for tests of code that uses the operators, of a GPU, or of another backend.

``descs`` draws valid descs over the whole domain of an operator, ``inputs`` draws arrays of any layout for the tensors
of one, ``broken_descs`` draws descs with exactly one violation. They need Hypothesis: ``pip install dmlcy[testing]``.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

try:
    from hypothesis import assume
    from hypothesis import strategies as st
except ImportError:
    raise ImportError("dmlcy.testing needs Hypothesis: pip install dmlcy[testing]") from None

from dmlcy._checker import Check
from dmlcy._desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._levels import LEVEL, NEWEST, level_index
from dmlcy._names import known_operator
from dmlcy._spec import MISSING, Field, Operator
from dmlcy._support import dtypes_at, ranks_at
from dmlcy._tables import DTYPES, ENUMS, LEVEL_INDEX, LEVELS
from dmlcy._tensor_desc import UINT_MAX, TensorDesc

__all__ = ["broken_descs", "descs", "inputs"]

Array = npt.NDArray[Any]
Values = dict[str, Any]

MOST_ELEMENTS: Final = 2000


def descs(
    operator: object, *, level: object = None, most_elements: int = MOST_ELEMENTS, layouts: bool = True
) -> st.SearchStrategy[OperatorDesc]:
    """Valid descs of an operator: every data type, rank and enum member, sizes and attributes of all kinds.

    Parameters
    ----------
    operator
        Its name: PADDING1, DML_OPERATOR_PADDING1, padding1 or Padding1.
    level
        The feature level at which the descs are valid; None: the current one.
    most_elements
        Of all tensors of a desc together.
    layouts
        Also tensors with strides: transposed, with gaps, and, of inputs, with elements that share their place.

    Returns
    -------
    hypothesis.strategies.SearchStrategy

    Raises
    ------
    ModelError
        The operator is not known, or not built yet.
    ValueError
        The feature level does not have it.

    Examples
    --------
    >>> from hypothesis import given
    >>> import dmlcy as dml
    >>> from dmlcy import testing
    >>> @given(testing.descs("padding1", level="5_0"))
    ... def test(desc):
    ...     assert not dml.check(desc, feature_level="5_0")
    >>> test()
    """
    known = known_operator(operator)
    position = LEVEL.get() if level is None else level_index(level)
    if position < LEVEL_INDEX[known.since]:
        raise ValueError(f"feature level {LEVELS[position].name} has no {known.name}: it came with {known.since}")
    return _descs(known, position, most_elements, layouts)


@st.composite
def _descs(draw: st.DrawFn, operator: Operator, level: int, most: int, layouts: bool) -> OperatorDesc:
    # From one valid desc to another: a field is drawn anew, and what follows from it is adapted. What is not valid then
    # is not taken, so that a desc is never far from valid, however many rules there are.
    walk = _Walk(draw, operator, level, most)
    inputs = [field for field in operator.fields if field.kind == "input"]
    attributes = [field for field in operator.fields if field.kind == "attribute" and field.value is None]
    walk.start()
    for field in inputs:
        walk.new_dtype(field)
        walk.new_rank(field)
    scalars = [field for field in attributes if field.type != "uint_array"]
    for field in [*draw(st.permutations([*inputs, *attributes])), *draw(st.permutations(scalars))]:
        if field.kind == "input":
            walk.new_sizes(field)
        else:
            walk.new_attribute(field)
    if layouts:
        for field in operator.fields:
            if field.kind != "attribute":
                walk.new_strides(field)
    return _class_of(operator)(**walk.values)


class _Walk:
    """The values of a valid desc, and the steps to others."""

    values: Values

    def __init__(self, draw: st.DrawFn, operator: Operator, level: int, most: int) -> None:
        self.draw = draw
        self.operator = operator
        self.level = level
        self.most = most
        self.given = [field.python for field in operator.fields if field.kind != "output" and field.value is None]

    def check(self, values: Values) -> Check:
        return Check(self.operator, values, self.level, call=False)

    def start(self) -> None:
        """The smallest of the spec's examples that are valid at the level, with defaults where there are any."""
        defaults = {field.python: field.default for field in self.operator.fields if field.default is not MISSING}
        found = []
        for example in self.operator.examples:
            tensors = {name: TensorDesc(dtype, sizes) for name, (dtype, sizes, _) in example.inputs.items()}
            checks = [self.check({**tensors, **example.attributes, **more}) for more in ({}, defaults)]
            found += [check.resolved for check in checks if not check.violations]
        if not found:
            raise ValueError(f"no example of {self.operator.name} is valid at feature level {LEVELS[self.level].name}")
        self.values = min(reversed(found), key=_elements)

    def take(self, changes: Values) -> bool:
        """Goes on to the desc with these changes, and with what follows from them, if it is valid."""
        check = self.check({name: self.values[name] for name in self.given} | changes)
        if check.violations:
            check = self.check(self.adapted(check))
        if check.violations or _elements(check.resolved) > self.most:
            return False
        self.values = check.resolved
        return True

    def adapted(self, check: Check) -> Values:
        """The values with the sizes and lengths that follow from others; new entries are neutral."""
        values = {name: check.resolved[name] for name in self.given}
        for field in self.operator.fields:
            value = values.get(field.python)
            if field.kind == "input" and field.sizes is not None:
                sizes = check._computed(field)
                if sizes is not None:
                    values[field.python] = TensorDesc(self.tensor(field).dtype, sizes)
            elif field.length is not None and isinstance(value, tuple):
                length = check._evaluated(field.length) or len(value)
                neutral = field.minimum or 0 if field.default is MISSING else field.default
                values[field.python] = (*value, *[neutral] * length)[:length]
        return values

    def tensor(self, field: Field) -> TensorDesc:
        found = self.values[field.python]
        assert isinstance(found, TensorDesc)
        return found

    def new_dtype(self, field: Field) -> None:
        """Another data type, of all tensors that share it."""
        if field.same_dtype_as is not None:
            return
        dtype = self.draw(st.sampled_from(dtypes_at(field, self.level)))
        shared = [one for one in self.operator.fields if field.python in (one.python, one.same_dtype_as)]
        self.take({one.python: TensorDesc(dtype, self.tensor(one).sizes) for one in shared if one.kind == "input"})

    def new_rank(self, field: Field) -> None:
        sizes = self.tensor(field).sizes
        rank = self.draw(st.sampled_from(ranks_at(field, self.level)))
        self.take({field.python: self._resized(field, (*sizes, *[1] * 8)[:rank])})

    def new_sizes(self, field: Field) -> None:
        for axis in range(len(self.tensor(field).sizes)):
            sizes = list(self.tensor(field).sizes)
            sizes[axis] = self.draw(_COUNTS) or 1
            self.take({field.python: self._resized(field, sizes)})

    def _resized(self, field: Field, sizes: Any) -> TensorDesc:
        return TensorDesc(self.tensor(field).dtype, sizes)

    def new_attribute(self, field: Field) -> None:
        value = self.values[field.python]
        if isinstance(value, tuple) and field.type == "uint_array":
            for index in range(len(value)):
                entries = list(self.values[field.python])
                entries[index] = self.draw(_near(self._largest()))
                self.take({field.python: tuple(entries)})
        else:
            self.take({field.python: self.draw(self.values_of(field))})

    def _largest(self) -> int:
        """The largest size of an input: what attributes are often compared with."""
        return max(size for field in self.operator.fields if field.kind == "input" for size in self.tensor(field).sizes)

    def values_of(self, field: Field) -> st.SearchStrategy[Any]:
        """Values of an attribute, most of them valid."""
        if field.type.startswith("enum:"):
            return st.sampled_from(list(ENUMS[field.type.removeprefix("enum:")].cls))
        if field.type == "bool":
            return st.booleans()
        if field.type == "float":
            return st.one_of(st.sampled_from([1.0, 0.5, 0.0625, 2.0, 0.0, -1.0]), st.floats(width=32))
        if field.type == "size_2d":
            return st.tuples(_near(self._largest()), _near(self._largest()))
        if field.type == "scalar_union":
            return self._scalars(field)
        return _near(self._largest())

    def _scalars(self, field: Field) -> st.SearchStrategy[Any]:
        dtype = np.dtype(self.values[field.scalar_type or ""].name.lower())
        if dtype.kind == "f":
            return st.floats(width=8 * dtype.itemsize)
        return st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))

    def new_strides(self, field: Field) -> None:
        """Another layout of a tensor."""
        desc = self.tensor(field)
        strides = self.draw(_strides(desc.sizes, shared=field.kind == "input"))
        if strides is None:
            return
        moved = {**self.values, field.python: TensorDesc(desc.dtype, desc.sizes, strides)}
        if not self.check(moved).violations:
            self.values = moved


_COUNTS: Final = st.one_of(st.integers(1, 4), st.integers(1, 12), st.sampled_from([16, 17, 31, 64]))


def _near(size: int) -> st.SearchStrategy[int]:
    """Counts such as windows and paddings are: small ones, those about a size, the ends of the range."""
    about = [size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 1, 3 * size + 2]
    small = st.integers(0, 4)
    return st.one_of(small, small, small, small, st.sampled_from(about), st.sampled_from([UINT_MAX, 2**31 - 1, *about]))


@st.composite
def _strides(draw: st.DrawFn, sizes: tuple[int, ...], shared: bool) -> tuple[int, ...] | None:
    """Strides of a tensor in any order of its axes, with gaps; ``shared``: also 0."""
    if draw(st.booleans()):
        return None
    strides, step = [0] * len(sizes), 1
    for axis in draw(st.permutations(range(len(sizes)))):
        if shared and draw(st.integers(0, 5)) == 0:
            continue
        step *= draw(st.sampled_from([1, 1, 1, 2, 3]))
        strides[axis] = step
        step *= sizes[axis]
    return tuple(strides)


def _class_of(operator: Operator) -> type[OperatorDesc]:
    from dmlcy import desc

    found: type[OperatorDesc] = getattr(desc, operator.desc)
    return found


def _elements(values: Values) -> int:
    return sum(value.element_count for value in values.values() if isinstance(value, TensorDesc))


def broken_descs(
    operator: object, *, level: object = None, most_elements: int = MOST_ELEMENTS
) -> st.SearchStrategy[tuple[OperatorDesc, Violation]]:
    """Descs of which one thing is wrong, each with the violation: ``check`` reports it and nothing else.

    The parameters are those of ``descs``.
    """
    known = known_operator(operator)
    position = LEVEL.get() if level is None else level_index(level)
    return _broken(known, position, descs(operator, level=level, most_elements=most_elements))


@st.composite
def _broken(
    draw: st.DrawFn, operator: Operator, level: int, valid: st.SearchStrategy[OperatorDesc]
) -> tuple[OperatorDesc, Violation]:
    values = draw(valid).values()
    field = draw(st.sampled_from([field for field in operator.fields if field.value is None]))
    value = values[field.python]
    wrong: st.SearchStrategy[Any]
    if isinstance(value, TensorDesc):
        wrong = _wrong_tensors(value)
    elif isinstance(value, tuple):
        wrong = _wrong_entries(value)
    else:
        wrong = _WRONG
    if field.kind != "output":  # what follows from the field is not given
        values = {one.python: values[one.python] for one in operator.fields if one.kind != "output" and not one.value}
    desc = _class_of(operator)(**{**values, field.python: draw(wrong)})
    violations = desc._violations(level)
    assume(len(violations) == 1)
    return desc, violations[0]


_WRONG: Final = st.one_of(
    st.integers(-3, 70), st.sampled_from([2**31, 2**32 - 1, 2**32, 2**64, 0.5, -1.0, math.nan, math.inf, True, None]),
    st.text(max_size=3), st.just(()), st.just("NONE"),
)  # fmt: skip


def _wrong_entries(entries: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """The entries with one of another value, one too many or one too few; or something else."""
    replaced = st.tuples(st.integers(0, max(len(entries) - 1, 0)), _WRONG).map(
        lambda pair: tuple(pair[1] if at == pair[0] else entry for at, entry in enumerate(entries))
    )
    return st.one_of(replaced, replaced, st.just((*entries, 1)), st.just(entries[:-1]), _WRONG)


@st.composite
def _wrong_tensors(draw: st.DrawFn, desc: TensorDesc) -> Any:
    """The desc with another value for one member; or something else."""
    member = draw(st.sampled_from(["dtype", "sizes", "strides", "flags", "total", "alignment", "count", "none"]))
    given: dict[str, Any] = {"dtype": desc.dtype, "sizes": desc.sizes, "strides": desc.strides}
    if member == "none":
        return draw(_WRONG)
    if member == "dtype":
        given["dtype"] = draw(st.one_of(st.sampled_from(list(DTYPES)), _WRONG))
    elif member in ("sizes", "strides"):
        given[member] = draw(_wrong_entries(desc.sizes))
    else:
        names = {"total": "total_tensor_size_in_bytes", "alignment": "guaranteed_base_offset_alignment"}
        name = {"count": "dimension_count", "flags": "flags", **names}[member]
        given[name] = draw(_WRONG)
    return TensorDesc(**given)


def inputs(desc: OperatorDesc) -> st.SearchStrategy[dict[str, Array]]:
    """Arrays for the inputs of a valid desc, by their Python names: any values that the operator takes, in any layout.

    Floating point has NaN, infinities, subnormal numbers and zeros of both signs, unless the operator refuses them.
    The layouts are those of NumPy: transposed, backwards, with gaps, misaligned, with elements that share their place.
    """
    return _inputs(desc)


@st.composite
def _inputs(draw: st.DrawFn, desc: OperatorDesc) -> dict[str, Array]:
    operator = desc.operator
    fields = [field for field in operator.fields if field.kind == "input"]
    strict = sorted({rule.about for rule in operator.rules if rule.data})
    arrays: dict[str, Array] = {}
    for field in fields:
        tensor = getattr(desc, field.python)
        dtype = np.dtype(tensor.dtype.name.lower())
        zeros = np.zeros(tensor.sizes, dtype)
        arrays[field.python] = draw(_placed(zeros if field.python in strict else draw(_values(tensor.sizes, dtype))))
    for name in strict:
        _fill(draw, desc, arrays, arrays[name])
    return arrays


@st.composite
def _values(draw: st.DrawFn, sizes: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Any bits, with special values here and there."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = math.prod(sizes)
    if draw(st.booleans()):
        low, high = (0, 9) if dtype.kind == "u" else (-8, 9)
        values = random.integers(low, high, count).astype(dtype)
    else:
        values = np.frombuffer(random.bytes(count * dtype.itemsize), dtype).copy()
    special = random.random(count) < draw(st.sampled_from([0.0, 0.1, 0.5]))
    values[special] = random.choice(specials(dtype), int(special.sum()))
    return values.reshape(sizes)


def specials(dtype: npt.DTypeLike) -> Array:
    """The ends of the range, zeros of both signs, subnormal numbers, infinities, NaN of several bits."""
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    infinity = int(np.array(np.inf, dtype).view(bits))
    sign = 1 << (8 * dtype.itemsize - 1)
    patterns = [0, 1, infinity - 1, infinity, infinity + 1, infinity | infinity >> 1 | 5]
    return np.array(patterns + [pattern | sign for pattern in patterns], bits).view(dtype)


def _fill(draw: st.DrawFn, desc: OperatorDesc, arrays: dict[str, Array], array: Array) -> None:
    """Draws elements of an array of zeros anew, one by one, and keeps what the operator takes."""
    numbers = st.one_of(st.integers(-4, 40), st.integers(-80, 600).map(lambda n: n / 2), st.floats(width=16))
    for at in draw(st.permutations(list(np.ndindex(array.shape)))):
        before = array[at]
        with np.errstate(over="ignore"):
            array[at] = draw(numbers)
        check = Check(desc.operator, desc.values(), NEWEST, call=False)
        check.data(arrays)
        if check.violations:
            array[at] = before


@st.composite
def _placed(draw: st.DrawFn, values: Array) -> Array:
    """An array of these values in any layout; one whose elements share their place repeats the first ones."""
    order = draw(st.permutations(range(values.ndim)))
    plain = draw(st.booleans())
    extent = values.itemsize + (0 if plain else draw(st.sampled_from([0, 0, 0, values.itemsize, 1])))
    shift = 0 if plain else draw(st.sampled_from([0, 0, values.itemsize, 1]))
    strides, offset, shared = [0] * values.ndim, shift, [slice(None)] * values.ndim
    for axis in reversed(range(values.ndim) if plain else order):
        step = 1 if plain else draw(st.sampled_from([1, 1, 1, -1, 2, 0]))
        strides[axis] = step * extent
        if step == 0:
            shared[axis] = slice(0, 1)
            continue
        size = values.shape[axis]
        offset += max(-strides[axis], 0) * (size - 1)
        extent *= abs(step) * size
    buffer = np.zeros(shift + extent, np.uint8)
    placed: Array = np.ndarray(values.shape, values.dtype, buffer, offset, strides)
    bits = f"u{values.itemsize}"
    placed[tuple(shared)].view(bits)[...] = values[tuple(shared)].view(bits)
    return placed
