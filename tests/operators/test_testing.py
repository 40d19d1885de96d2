"""``dmlcy.testing``: what its strategies reach, that a desc is broken in one way only, and what a wrong result is."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from depth import deep, draws_of, in_turn, of_each_family, one_operator
from drawing import Facts, draw_all, draw_some, draw_until
from each import each_of
from families import never_largest
from few import few_of_each_family
from strategies import Array

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field, Operator, Rule
from dmlcy._facts.tables import DTYPES, ENUMS, FAST, LEVEL_INDEX, LEVELS, OPERATORS, RUNNABLE
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._testing.broken import ways_of
from dmlcy._testing.starts import tensors_of

NAMES = list(OPERATORS)
NEWEST = len(LEVELS) - 1
UINT_MAX = 2**32 - 1
SEEDS = 5


# Descs


def channels_last(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the axes lie in the order of N, H, W, C; those of one element lie anywhere."""
    if len(sizes) < 4:
        return False
    order = [0, *range(2, len(sizes)), 1]
    steps = [abs(strides[axis]) for axis in order if sizes[axis] > 1]
    return sizes[1] > 1 and len(steps) > 2 and steps == sorted(steps, reverse=True) and len({*steps}) == len(steps)


def layout_of_desc(sizes: tuple[int, ...], strides: tuple[int, ...] | None) -> Iterator[str]:
    if strides is None:
        yield "packed"
        return
    yield "strided"
    axes = [(stride, size) for stride, size in zip(strides, sizes, strict=True) if size > 1]
    shared = any(stride == 0 for stride, _ in axes)
    if shared:
        yield "elements that share their place"
    if axes != sorted(axes, reverse=True) and not shared:
        yield "transposed"
    if channels_last(sizes, strides):
        yield "channels last"
    if not shared and sum((size - 1) * stride for stride, size in axes) + 1 > math.prod(sizes):
        yield "gaps"


def facts_of_desc(desc: OperatorDesc) -> Iterator[tuple[str, Any]]:
    for field in desc.operator.fields:
        value = getattr(desc, field.python)
        found: list[Any]
        if field.kind != "attribute":
            found = [value] if value is None else [fact for one in tensors_of(value) for fact in facts_of_one(one)]
        elif field.type == "scalar_union":
            dtype = np.dtype(getattr(desc, field.scalar_type or "").name.lower())
            found = [fact.partition(" ")[2] for fact in values_of_array(np.array([value], dtype))]
        else:
            found = [comparable(one) for one in (value if isinstance(value, tuple) else (value,))]
        yield from ((field.python, one) for one in found)


def comparable(value: Any) -> Any:
    """A value that is equal to others like it: of a float its text, of the desc of an activation its operator."""
    return (
        repr(value) if isinstance(value, float) else value.operator.name if isinstance(value, OperatorDesc) else value
    )


def facts_of_one(tensor: dml.TensorDesc) -> Iterator[Any]:
    bare = dml.TensorDesc(tensor.dtype, tensor.sizes, tensor.strides)
    larger = tensor.total_tensor_size_in_bytes > bare.total_tensor_size_in_bytes
    yield from (tensor.dtype.name, tensor.rank, *layout_of_desc(tensor.sizes, tensor.strides))
    yield from (f"flags {tensor.flags.name}", f"larger total: {larger}")
    yield f"alignment: {tensor.guaranteed_base_offset_alignment > 0}"
    yield from ("a size of 1" if size == 1 else "a size beyond 1" for size in tensor.sizes)


def domain(operator: Operator, level: int) -> Iterator[tuple[str, Any]]:
    """The possible values of the fields of a desc at a level, one by one."""
    for field in operator.fields:
        if field.kind != "attribute":
            yield from ((field.python, found) for found in facts_of_tensor(field, level))
        elif field.value is None:
            yield from ((field.python, found) for found in facts_of_attribute(field, level))


def facts_of_tensor(field: Field, level: int) -> Iterator[Any]:
    yield from dtypes_at(field, level)
    if field.kind == "input":
        ranks = sorted(ranks_at(field, level))
        yield from ranks[:1] if field.leading_ones == "desc" else ranks  # a call takes no ones in front of them
        yield from ("elements that share their place", *(["flags OWNED_BY_DML"] if field.owned else []))
        if max(ranks_at(field, level)) > 3 and field.sizes is None:
            yield "channels last"
    yield from ("packed", "strided", "transposed", "gaps", "flags NONE", "a size of 1", "a size beyond 1")
    yield from (f"{name}: {choice}" for name in ("larger total", "alignment") for choice in (False, True))


def facts_of_attribute(field: Field, level: int) -> Iterator[Any]:
    if field.type.startswith("enum:"):
        members = ENUMS[field.type.removeprefix("enum:")]
        yield from (members.cls[name] for name, (_, since) in members.members.items() if LEVEL_INDEX[since] <= level)
    elif field.type == "bool":
        yield from (False, True)
    elif field.type in ("float", "float_array"):
        yield from map(repr, (2.0**-149, 1.0, float(np.finfo("f4").max)))
    elif field.type in ("operator_desc", "operator_desc_array"):
        yield from (name for name, since in field.among if LEVEL_INDEX[since] <= level and name in OPERATORS)
        yield from (None,) if field.optional else ()
    elif field.type == "scalar_union":
        yield from (*FLOATS, "min", "max")
    else:
        yield from (field.minimum, field.maximum)


RARELY = {
    "GATHER": {("indices", "channels last")},
    "MULTIHEAD_ATTENTION": {("relative_position_bias", "channels last")},
    "MULTIHEAD_ATTENTION1": {
        ("relative_position_bias", "channels last"),
        *(("past_sequence_lengths", layout) for layout in ("transposed", "channels last", "Fortran")),
    },
}
"""Facts that a desc or an array can have, and few draws do. Several sizes of a tensor must be more than 1 at once,
though rules tie each of them to another field, or their product to the size of a batch."""
SINGLE = "single"
RULED = [(one.name, rule.about, rule.id.rpartition("-")[2]) for one in FAST.values() for rule in one.rules]
SIZES = [(one.name, field.python, field.sizes.words) for one in FAST.values() for field in one.fields if field.sizes]
OF_ONE_ELEMENT = {(name, tensor) for name, tensor, words in SIZES if words == "one element"} | {
    (name, about) for name, about, of in RULED if of == SINGLE
}


def in_a_line(words: str) -> bool:
    """Whether all sizes except one are 1, by the words of their formula."""
    sizes = words.removeprefix("[").removesuffix("]").split(", ")
    listed = words.startswith("[") and len(sizes) - sizes.count("1") == 1 and "*" not in sizes[0][:1]
    return listed or words == "one element for each channel of the output"


IN_ONE_LINE = {
    ("RANDOM_GENERATOR", "output_state"),  # the sizes of input_state
    *((name, tensor) for name, tensor, words in SIZES if in_a_line(words)),
    *(
        (name, about)
        for name, about, of in RULED
        if of in ("rows", "columns", "channels") and about.endswith(("_scale", "_zero_point"))
    ),
}
"""Tensors whose sizes are 1, except one axis of several elements."""
IN_A_MATRIX = {(name, about) for name, about, of in RULED if of == "matrix"}
"""Tensors whose sizes are 1 in front of the last two axes."""
MANY = {"a size beyond 1", "gaps", "elements that share their place"}
ORDERED = {"transposed", "channels last", "Fortran", "backwards"}
OF_MANY_LINES = {"one element", "elements that share their place", "transposed", "channels last", "Fortran", "gaps"}


def reachable(operator: Operator, fact: tuple[str, Any]) -> bool:
    """Whether a desc or an array can be so: no tensor has more than 2**32 - 1 elements."""
    name, value = fact
    ruled = {of for one, _, of in RULED if one == operator.name}
    if value == "channels last" and SINGLE in ruled and name in ("input", "filter"):
        return False  # too few draws have so many channels and taps
    if (operator.name, name) in OF_ONE_ELEMENT and value in MANY | ORDERED | LAYOUTS - {"one element"}:
        return False
    if ((operator.name, name) in IN_ONE_LINE or (SINGLE in ruled and name == "bias")) and value in OF_MANY_LINES:
        return False
    if (operator.name, name) in IN_A_MATRIX and value == "channels last":
        return False
    if (value == UINT_MAX and name in never_largest(operator)) or fact in RARELY.get(operator.name, ()):
        return False
    return not any(refuses(rule, operator, name, value) for rule in operator.rules)


def refuses(rule: Rule, operator: Operator, name: str, value: Any) -> bool:
    """Whether a rule refuses a value of an attribute, whatever the rest of a desc is."""
    if rule.reads != {name} or rule.data or rule.severity != "error" or rule.until is not None:
        return False
    given = float(value) if operator.field(name).type == "float" else value
    return not rule.holds(operator.rules_class({name: given}))


@pytest.mark.parametrize("name", one_operator())
def test_descs_are_valid_and_reach_the_whole_domain(name: str) -> None:
    operator, met = OPERATORS[name], Counter[tuple[str, Any]]()

    def look(desc: OperatorDesc) -> None:
        assert not dml.check(desc)
        met.update(facts_of_desc(desc))

    def draw(number: int) -> None:
        draw_some(testing.descs(name), 40, look, number)
        draw_some(testing.descs(name, most_elements=2**34, layouts=False), 15, look, number)

    draw_until(met, {fact for fact in domain(operator, NEWEST) if reachable(operator, fact)}, 40, draw)


def first_level(operator: Operator) -> Any:
    """The header may have the operator before its tensors have types."""
    tensors = [field for field in operator.fields if field.kind != "attribute"]
    levels = LEVELS[LEVEL_INDEX[operator.since] :]
    return next(one.name for one in levels if all(dtypes_at(field, LEVEL_INDEX[one.name]) for field in tensors))


@in_turn
@draws_of(2, 15)
@pytest.mark.parametrize("name", RUNNABLE)
def test_descs_of_a_level_are_valid_there(name: str, draws: int) -> None:
    since = first_level(OPERATORS[name])

    def look(desc: OperatorDesc) -> None:
        assert not dml.check(desc, feature_level=since)

    draw_all(testing.descs(name, level=since), draws, look)


# Arrays


def layout_of_array(x: Array) -> Iterator[str]:
    if x.__array_interface__["data"][0] % x.itemsize:
        yield "misaligned"
    axes = [(stride, size) for stride, size in zip(x.strides, x.shape, strict=True) if size > 1]
    if not axes:
        yield "one element"
        return
    steps = [abs(stride) for stride, _ in axes]
    yield from (["contiguous"] if x.flags.c_contiguous else ["not contiguous"])
    if len(axes) > 1 and x.flags.f_contiguous:
        yield "Fortran"
    if channels_last(x.shape, x.strides):
        yield "channels last"
    if any(stride < 0 for stride, _ in axes):
        yield "backwards"
    if 0 in steps:
        yield "elements that share their place"
    elif steps != sorted(steps, reverse=True):
        yield "transposed"
    elif sum((size - 1) * abs(stride) for stride, size in axes) + x.itemsize > x.nbytes:
        yield "gaps"
    if any(stride % x.itemsize for stride, _ in axes):
        yield "strides that are no multiples"
    base = x.base
    if isinstance(base, np.ndarray) and x.__array_interface__["data"][0] > base.__array_interface__["data"][0]:
        yield "behind an offset"


def values_of_array(x: Array) -> Iterator[str]:
    if x.dtype.kind != "f":
        limits = np.iinfo(x.dtype)
        yield from (f"integer {end}" for end in ("min", "max") if (x == getattr(limits, end)).any())
        return
    finite, range_ = np.abs(x[np.isfinite(x)]), np.finfo(x.dtype)
    found = {
        "NaN": np.isnan(x).any(),
        "inf": (x == np.inf).any(),
        "-inf": (x == -np.inf).any(),
        "-0": (np.signbit(x) & (x == 0)).any(),
        "subnormal": ((finite > 0) & (finite < range_.smallest_normal)).any(),
        "largest": (finite == range_.max).any(),
    }
    yield from (f"{x.dtype} {what}" for what, there in found.items() if there)


LAYOUTS = {
    "misaligned", "contiguous", "not contiguous", "Fortran", "channels last", "backwards", "transposed", "gaps",
    "elements that share their place", "strides that are no multiples", "behind an offset", "one element",
}  # fmt: skip
FLOATS = ("NaN", "inf", "-inf", "-0", "subnormal", "largest")
OF_PLACES = {(one.name, rule.about) for one in FAST.values() for rule in one.rules if rule.id.endswith("-inside")}
"""Tensors whose elements count from 0, and are refused beyond a size."""


def specials_of(dtype: np.dtype[Any], of_places: bool) -> Iterator[str]:
    """The special values of a data type that a tensor takes."""
    if of_places:
        yield from ("integer min",) if dtype.kind == "u" else ()
    elif dtype.kind == "f":
        yield from (f"{dtype} {what}" for what in FLOATS)
    else:
        yield from ("integer min", "integer max")


@pytest.mark.parametrize("name", one_operator())
def test_arrays_have_every_layout_and_special_value(name: str) -> None:
    operator, met = OPERATORS[name], Counter[tuple[str, Any]]()
    tensors = [field for field in operator.fields if field.kind == "input"]

    def look(case: tuple[OperatorDesc, dict[str, Array | tuple[Array, ...]]]) -> None:
        desc, arrays = case
        for field, given in arrays.items():
            found = given if isinstance(given, tuple) else (given,)
            for tensor, x in zip(tensors_of(getattr(desc, field)), found, strict=True):
                assert x.dtype == tensor.dtype.name.lower() and x.shape == tensor.sizes
                met.update((field, fact) for fact in (*layout_of_array(x), *values_of_array(x)))

    wanted = set()
    for number, field in enumerate(tensors):
        ranks = ranks_at(field, NEWEST)
        layouts = LAYOUTS - ({"channels last"} if max(ranks) < 4 or field.sizes is not None else set())
        names = [found for found in dtypes_at(field, NEWEST) if DTYPES[found].numpy is not None]
        if {*names} <= {"UINT8", "INT8"}:
            layouts = layouts - {"misaligned", "strides that are no multiples"}
        wanted |= {(field.python, layout) for layout in layouts - ({"one element"} if number else set())}
        if field.sizes is None:
            for dtype in (np.dtype(found.lower()) for found in names):
                wanted |= {(field.python, special) for special in specials_of(dtype, (name, field.python) in OF_PLACES)}
    wanted = {fact for fact in wanted if reachable(operator, fact)}
    draw_until(met, wanted, 60, lambda number: draw_some(testing.cases(name, most_elements=600), 20, look, number))


# Refusals


def broken_at(name: str) -> list[tuple[str, str]]:
    """Every id that a desc can have, with the last level at which it can: some rules end, and data types come late."""
    operator, found = OPERATORS[name], dict[str, str]()
    ends = {LEVEL_INDEX[rule.until] - 1 for rule in operator.rules if rule.until is not None}
    for level in sorted({NEWEST, *ends, LEVEL_INDEX[first_level(operator)]}, reverse=True):
        found = dict.fromkeys(ways_of(name, level), LEVELS[level].name) | found
    return sorted(found.items())


def _draw_two(strategy: Any, look: Callable[[Any], None], number: int) -> None:
    draw_some(strategy, 2, look, number, True)


@pytest.mark.parametrize("name", one_operator())
def test_every_id_is_drawn_alone(name: str) -> None:
    for id_, level in broken_at(name):
        met: Facts = Counter()

        def look(
            broken: tuple[OperatorDesc, dml.Violation], id_: str = id_, level: Any = level, met: Any = met
        ) -> None:
            desc, violation = broken
            assert violation.id == id_
            assert dml.check(desc, feature_level=level) == [violation]
            with dml.feature_level(level), pytest.raises(dml.DmlError) as caught:
                dml.compile(desc)
            assert caught.value.violations == (violation,)
            met["drawn", id_] += 1

        broken = testing.broken_descs(name, id=id_, level=level, most_elements=300)
        draw_until(met, {("drawn", id_)}, 8, partial(_draw_two, broken, look))


NUMBERS = [
    rule.id
    for operator in OPERATORS.values()
    for rule in operator.rules
    if not rule.data and rule.severity == "error" and rule.index is None and f"-{rule.about}-" in rule.id
    if any(field.python == rule.about and field.kind == "attribute" for field in operator.fields)
]


RARE = {
    "DML-GATHER_ND-input_dimension_count-room",
    "DML-GATHER_ND1-batch_dimension_count-exist",
    "DML-GATHER_ND1-input_dimension_count-room",
    "DML-MULTIHEAD_ATTENTION1-key_value_head_count-divides",
    "DML-MULTIHEAD_ATTENTION1-query_head_count-stacked",
    "DML-SCATTER_ND-input_dimension_count-room",
}
"""Rules on a number and the sizes of tensors: of most descs, no number breaks the rule alone; of one in 20 or more,
one does."""


FIRST = "DML-GATHER-index_dimensions-exist"


def _count(found: Counter[str], drawn: Any) -> None:
    found.update([drawn[1].id])


@in_turn
@pytest.mark.parametrize("id_", [pytest.param(id_, marks=() if id_ == FIRST else deep) for id_ in NUMBERS])
def test_rules_on_a_number_are_broken_with_every_seed(id_: str) -> None:
    """The strategy chooses data types and modes for which a number is refused; it waits only for sizes."""
    name = id_.split("-")[1]
    broken = testing.broken_descs(name, id=id_, level=dict(broken_at(name))[id_], most_elements=300)
    for number in range(SEEDS):
        found: Counter[str] = Counter()
        draw_some(broken, 10, partial(_count, found), number, id_ not in RARE)
        assert set(found) == {id_} and found[id_] >= (1 if id_ in RARE else 5)


NOT_IN_DESCS = {
    "-operator-level": "a desc is drawn for a level that has its operator",
    "-readonly": "of an array given as out",
    "-same-dtype": "where no other tensor has the data type: of an array given to a compiled operator",
    "-sizes": "where they follow from no other field: of an array given to a compiled operator",
}


@each_of("name", NAMES)
def test_the_ids_are_all_that_there_are(name: str) -> None:
    from breaking import ids
    from uses import OPERATORS as SPECS

    data = {rule.id for rule in OPERATORS[name].rules if rule.data or rule.severity == "warning"}
    chosen = tuple(f"DML-{name}-{field.python}-" for field in OPERATORS[name].chosen)  # a desc has them in its output
    others = (
        {id_ for id_ in ids(SPECS[name]) if not id_.startswith(chosen)} - data - {id_ for id_, _ in broken_at(name)}
    )
    single = {
        f"DML-{name}-{tensor}-overlap" for one, tensor in OF_ONE_ELEMENT if one == name
    }  # of an array given as out
    assert all(id_.endswith(tuple(NOT_IN_DESCS)) for id_ in others - single), others


FEWEST = 2


@draws_of(FEWEST, 40)
def test_broken_descs_of_any_kind(draws: int) -> None:
    """By default of a few of each family: test_ids.py breaks each thing of all operators."""
    met: Counter[str] = Counter()

    def look(broken: tuple[OperatorDesc, dml.Violation]) -> None:
        assert dml.check(broken[0]) == [broken[1]]
        met[broken[1].id] += 1

    for name in few_of_each_family() if draws == FEWEST else FAST:
        draw_all(testing.broken_descs(name), draws, look)
    assert len(met) > 30


@pytest.mark.parametrize("name", of_each_family())
def test_data_that_is_refused(name: str) -> None:
    met: Facts = Counter()
    rules = {rule.id for rule in OPERATORS[name].rules if rule.data}
    if not rules:
        assert testing.broken_inputs(name).is_empty
        return

    def look(broken: tuple[OperatorDesc, dict[str, Array], dml.Violation]) -> None:
        desc, arrays, violation = broken
        assert not dml.check(desc)
        with pytest.raises(dml.InvalidDataError) as caught:
            compiled: Any = dml.compile(desc)
            compiled(*(arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"))
        assert [one.id for one in caught.value.violations] == [violation.id]
        met["drawn", violation.id] += 1

    wanted = {("drawn", id_) for id_ in rules}
    draw_until(
        met, wanted, 12, lambda number: draw_some(testing.broken_inputs(name, most_elements=300), 8, look, number)
    )


def test_names_and_levels() -> None:
    with pytest.raises(dml.ModelError, match=r"pading1.* is not an operator of DirectML"):
        testing.descs("pading1")
    for strategy in (testing.descs, testing.broken_descs, testing.cases):
        with pytest.raises(ValueError, match="feature level 1_0 has no PADDING1: it came with 5_0"):
            strategy("padding1", level="1_0")
    with pytest.raises(ValueError, match="no desc of PADDING1 can be broken so: 'DML-PADDING1-input-shape'"):
        testing.broken_descs("padding1", id="DML-PADDING1-input-shape")


def test_hypothesis_is_asked_for_where_it_is_missing() -> None:
    program = "import sys; sys.modules['hypothesis'] = None\nimport dmlcy\nimport dmlcy.testing"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "ImportError: dmlcy.testing needs Hypothesis: pip install dmlcy[testing]"


def test_everything_public_is_listed() -> None:
    public = {name for name in vars(testing) if not name.startswith("_") and name != "annotations"}
    assert public == set(testing.__all__)
    assert all(getattr(testing, name).__doc__ for name in public)
