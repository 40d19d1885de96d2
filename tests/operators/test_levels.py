"""All feature levels: what the rows of the specs give, and nothing else; and the level in force."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_values
from depth import deep
from each import each, each_of
from family_files import DEFINITIONS, has
from few import few_of_each_family
from uses import (
    FACTS,
    FAST,
    LEVELS,
    NEWEST,
    NUMPY,
    PLAN,
    USES,
    Array,
    following,
    rows_of_rank,
    rows_of_type,
)

import dmlcy as dml
from codegen.model import Field, Operator
from dmlcy._check.checker import Check
from dmlcy._facts.tables import OPERATORS as TABLE
from dmlcy._runtime.compiled import TableOperator

DTYPES = [dtype.name for dtype in FACTS.dtypes]


Sizes = dict[str, tuple[int, ...]]


@cache
def adapted(name: str, rank: int) -> tuple[Sizes, dict[str, Any]]:
    """Sizes of the inputs, and attributes, of the first example stretched to a rank of its first tensor.

    If rules tie the ranks of tensors and attributes, the first ones of some that hold.
    """
    operator = FAST[name]
    found = stretched_example(operator, rank)
    first = operator.inputs[0]
    integers = [field.python for field in operator.attributes if field.type == "uint"]
    lists = [field.python for field in operator.attributes if field.type == "uint_array"]
    if rank not in rows_of_rank(operator, first, len(LEVELS) - 1) or not fails(operator, *found):
        return found
    use, own = USES[name], found[0]
    shapes = [{own[first.python]: 0, in_front(use.arrays[first.python].shape, rank): 0}]
    for field in operator.inputs[1:]:
        shape = use.arrays[field.python].shape
        shapes.append({own[field.python]: 0, stretched(shape, rank): 0, in_front(shape, rank): 0})
    values = [{found[1][one]: 0, rank: 0, rank - 1: 0, 1: 0} for one in integers]
    values += [{found[1][one]: 0, (0,): 0} for one in lists]
    for tried in product(*shapes, *values):
        sizes = dict(zip([field.python for field in operator.inputs], tried, strict=False))
        attributes = found[1] | dict(zip((*integers, *lists), tried[len(sizes) :], strict=True))
        if not fails(operator, sizes, attributes):
            return sizes, attributes
    return found


def fails(operator: Operator, sizes: Sizes, attributes: dict[str, Any]) -> bool:
    """Whether tensors of these sizes, of FLOAT32 where they may be, break a rule."""
    if not {field.python for field in operator.inputs} <= {*sizes}:
        return False
    descs = {
        one.python: dml.TensorDesc(own_type(operator, one, "FLOAT32"), sizes[one.python]) for one in operator.inputs
    }
    return bool(Check(TABLE[operator.name], descs | attributes, len(LEVELS) - 1, call=True).violations)


def in_front(entries: tuple[int, ...], length: int) -> tuple[int, ...]:
    """So many entries: the last ones, and ones before them."""
    return ((1,) * length + entries)[len(entries) :]


def stretched_example(operator: Operator, rank: int) -> tuple[Sizes, dict[str, Any]]:
    """The first example with more or fewer axes, and each attribute as it is."""
    use = USES[operator.name]
    sizes = {field.python: use.arrays[field.python].shape for field in operator.inputs}
    first = sizes[operator.inputs[0].python]
    alike = [name for name, own in sizes.items() if own == first]  # a tensor beside the first one may have its sizes
    sizes |= dict.fromkeys(alike, stretched(first, rank))
    attributes = dict(use.attributes)
    for field in operator.attributes:
        if field.type in ("uint_array", "int_array", "float_array"):
            entries, filled = attributes[field.python], 2 if field.default is None else field.default
            along = isinstance(entries, list | tuple) and len(entries) == len(
                first
            )  # an entry for each axis of the tensor
            attributes[field.python] = stretched(entries, rank, filled) if along else min(1, rank - 1)
    for field in operator.chosen:  # for an output of that rank
        _, before, after = operator.of_chosen(field)
        attributes[field.python] = stretched(attributes[field.python], max(rank - before - after, 1))
    descs = {name: dml.TensorDesc("FLOAT32", given) for name, given in sizes.items()}
    check = Check(TABLE[operator.name], descs | attributes, len(LEVELS) - 1, call=True)
    return sizes | {name: found for name, found in following(check).items() if name in sizes}, attributes


def stretched(entries: tuple[int, ...], length: int, filled: Any = 2) -> tuple[int, ...]:
    """So many entries."""
    return (*entries[:length], *[filled] * (length - len(entries)))


def outputs(operator: Operator, sizes: dict[str, tuple[int, ...]], attributes: dict[str, Any]) -> dict[str, Any]:
    """Sizes of the outputs that a desc must be given."""
    own = {one.python: own_type(operator, one, "FLOAT32") for one in operator.inputs}
    descs = {name: dml.TensorDesc(own[name.partition("[")[0]], given) for name, given in sizes.items()}
    requests = USES[operator.name].requests
    asked = {name.removesuffix("_dtype"): value for name, value in requests.items() if name.endswith("_dtype")}
    check = Check(TABLE[operator.name], descs | attributes, len(LEVELS) - 1, call=True, asked=asked)
    every = all(one.optional for one in operator.outputs)  # then a desc must have one
    needed = [
        one
        for one in operator.outputs
        if operator.is_chosen(one) or every or not (one.optional or operator.has_type(one))
    ]
    found = {one.python: check.resolved.get(one.python) for one in needed}
    first = next(iter(sizes.values()))
    given = {one.python: dml.TensorDesc(own_type(operator, one, "FLOAT32"), first) for one in needed}
    other = Check(TABLE[operator.name], descs | attributes | given, len(LEVELS) - 1, call=False)
    follow = following(other) if None in found.values() else {}
    return {name: follow.get(name, first) if one is None else one.sizes for name, one in found.items()}  # type: ignore[attr-defined]


def cells(operator: Operator, every: bool) -> Iterator[tuple[Field, str, int]]:
    """Every data type and rank of the first tensor; of the others, each beside what the example has, or every."""
    for field in operator.tensors:
        own = None if every or field is operator.inputs[0] else USES[operator.name].arrays[field.python]
        for dtype in DTYPES:
            for rank in range(1, 10):
                if own is None or rank == own.ndim or dtype == own.dtype.name.upper():
                    yield field, dtype, rank


def expected(operator: Operator, field: Field, dtype: str, rank: int, level: int) -> set[str]:
    """The ids that data type and rank of one tensor give by the rows of the spec."""
    since = FACTS.level_index(operator.since)
    ids = {"operator-level"} if level < since else set()
    now = max(level, since)
    for known, value, slug in ((rows_of_type, dtype, "dtype"), (rows_of_rank, rank, "rank")):
        if value not in known(operator, field, now):
            later = value in known(operator, field, len(LEVELS) - 1)
            ids.add(f"{field.python}-{'level' if later else slug}")
    return ids


def changing(operator: Operator) -> list[str]:
    """The levels at which a row of the spec begins, those before them, and the newest."""
    rows = [
        [{*known(operator, field, max(level, FACTS.level_index(operator.since)))} for field in operator.tensors]
        for level in range(len(LEVELS))
        for known in (rows_of_type, rows_of_rank)
    ]
    begins = {FACTS.level_index(operator.since), len(LEVELS)}
    begins |= {
        level for level in range(1, len(LEVELS)) if rows[2 * level : 2 * level + 2] != rows[2 * level - 2 : 2 * level]
    }
    return [name for level, name in enumerate(LEVELS) if {level, level + 1} & begins]


def all_levels(operator: Operator) -> list[str]:
    """Every level."""
    return list(LEVELS)


def last_changing(operator: Operator) -> list[str]:
    """The level of the last change, the one before it, and the newest."""
    return changing(operator)[-3:]


def levels_by(default: Callable[[Operator], list[str]]) -> pytest.MarkDecorator:
    """Some levels by default, and all with ``-m deep``."""
    return pytest.mark.parametrize("levels_of", [default, pytest.param(all_levels, marks=deep)])


def own_type(operator: Operator, field: Field, first: str) -> str:
    """A data type of a tensor that need not have that of the first one: the same float, which rules may demand."""
    dtypes = rows_of_type(operator, field, len(LEVELS) - 1)
    wanted = first if first.startswith("FLOAT") and first in dtypes else "FLOAT32"
    return wanted if wanted in dtypes else dtypes[0]


def described(operator: Operator, field: Field, dtype: str, rank: int) -> Any:
    """A desc in which one tensor has this data type and rank: the first takes the others with it, they go alone."""
    use = USES[operator.name]
    if field is operator.inputs[0]:
        sizes, attributes = adapted(operator.name, rank)
        sizes = sizes | outputs(operator, sizes, attributes)
        own = {other.python: own_type(operator, other, dtype) for other in operator.tensors}
        tied = {other.python: dtype if other.types == field.types else own[other.python] for other in operator.tensors}
        return use.make({name: dml.TensorDesc(tied[name], sizes[name]) for name in sizes} | attributes)
    valid = use.arrays[field.python].shape
    return use.make({**use.values(), field.python: dml.TensorDesc(dtype, valid if rank == len(valid) else (1,) * rank)})


def with_all_data_types() -> list[Any]:
    """Few operators of each family, but those of which an attribute says what data types the first tensor may have.

    By default still fewer of them.
    """
    default = few_of_each_family(most=3)

    def leaves_some(name: str) -> bool:
        first, attributes = FAST[name].inputs[0].python, {field.python for field in FAST[name].attributes}
        return any(
            rule.about == first and f"{first}.dtype" in rule.reads and attributes & rule.reads
            for rule in TABLE[name].rules
        )

    names = [name for name in few_of_each_family() if not leaves_some(name)]
    return [pytest.param(name, marks=() if name in default else deep) for name in names]


@levels_by(changing)
@pytest.mark.parametrize("name", with_all_data_types())
def test_every_data_type_and_rank_at_every_level(name: str, levels_of: Callable[[Operator], list[Any]]) -> None:
    operator = FAST[name]
    levels = levels_of(operator)
    accepted, first = set(), operator.inputs[0]
    for field, dtype, rank in cells(operator, levels_of is all_levels):
        d = described(operator, field, dtype, rank)
        for level_name in levels:
            level = LEVELS.index(level_name)
            found = {one.id.removeprefix(f"DML-{name}-") for one in dml.check(d, level_name)}
            about = {id_ for id_ in found if id_.startswith((f"{field.python}-", "operator-"))}
            # A data type or a rank that one tensor alone cannot have beside the others.
            about -= {f"{field.python}-{slug}" for slug in ("same-dtype", "other-type", "sizes", "dimensions", "axes")}
            wanted = expected(operator, field, dtype, rank, level)
            if operator.is_chosen(field):  # its rank may be that of an input
                about -= {f"{field.python}-rank"} - wanted
            if field.kind == "output" and field.types == first.types and getattr(d, first.python).dtype.name == dtype:
                wanted -= {f"{field.python}-level"} - about  # the input has it, and says so
            assert about == wanted, (field.python, dtype, rank, level_name)
            if not found:
                accepted.add((field.python, dtype, rank))
                TableOperator(d, level)
            elif found == about and field is operator.inputs[0] and getattr(d, operator.outputs[0].python) is not None:
                with pytest.raises(dml.DmlError):
                    TableOperator(d, level)
    newest = len(LEVELS) - 1
    assert {cell for cell in accepted if cell[0] == first.python} == {
        (first.python, dtype, rank)
        for dtype in rows_of_type(operator, first, newest)
        for rank in rows_of_rank(operator, first, newest)
    }


def defined(operator: Operator, arrays: list[Array], d: Any) -> Any:
    """The result by the definition of the operator, element by element."""
    given = {name: getattr(value, "name", value) for name, value in d.operator.arguments(d).items()}
    result = reference.defined(operator, *arrays, **given)
    return result.rounded(arrays[0].dtype) if isinstance(result, reference.Average | reference.Norm) else result


def assert_equal(result: Any, right: Any) -> None:
    """The elements of an output, or of each of several."""
    for one, other in zip(result, right, strict=True) if isinstance(right, tuple) else [(result, right)]:
        np.testing.assert_array_equal(one, other)


@levels_by(last_changing)
@pytest.mark.parametrize("name", with_all_data_types())
def test_calls_at_every_level(name: str, levels_of: Callable[[Operator], list[str]]) -> None:
    """The functional call agrees with the rows for every data type and rank of the first tensor, and is right."""
    each(levels_of(FAST[name]), lambda level: calls_at(name, level))


def calls_at(name: str, level: Any) -> None:
    operator = FAST[name]
    index, function = LEVELS.index(level), getattr(dml, operator.python)
    use, first = USES[name], operator.inputs[0]
    for dtype, numpy in NUMPY.items():
        for rank in range(1, 10):
            sizes, attributes = adapted(operator.name, rank)
            attributes = attributes | {name: value for name, value in use.requests.items() if name.endswith("_dtype")}
            if all(one.optional for one in operator.outputs):  # a call must ask for one
                attributes |= {one.python: True for one in operator.outputs}
            size = sizes[first.python]
            arrays = [(np.arange(math.prod(size)) % 50).reshape(size).astype(numpy)]
            for field in operator.inputs[1:]:
                other = np.resize(use.arrays[field.python], sizes[field.python])
                if use.arrays[operator.inputs[0].python].shape != size and any(
                    r.each == field.python for r in operator.rules
                ):
                    other = np.zeros_like(other)  # the first place of any axis
                own = numpy if field.types == first.types else NUMPY[own_type(operator, field, dtype)]
                arrays.append(other.astype(own))
            wanted = expected(operator, first, dtype, rank, index)
            with dml.feature_level(level):
                if not wanted:
                    result = function(*arrays, **attributes)
                    output = operator.outputs[0]
                    own = numpy if output.types == first.types else NUMPY[own_type(operator, output, dtype)]
                    results = result if isinstance(result, tuple) else (result,)
                    asked = operator.is_asked(output) and attributes.get(output.python) is not True
                    assert results[0].dtype == (use.arrays[output.python].dtype if asked else own)
                    d = described(operator, first, dtype, rank)
                    if has(DEFINITIONS, operator.family):
                        right = defined(operator, arrays, d)
                        near = isinstance(right, reference.Near | tuple)
                        (assert_same_values if near else assert_equal)(result, right)
                    assert_equal(dml.compile(d)(*arrays), result)
                    continue
                with pytest.raises(dml.DmlError) as raised:
                    function(*arrays, **attributes)
            found = {one.id.removeprefix(f"DML-{name}-") for one in raised.value.violations}
            assert wanted <= found, (dtype, rank)
            later = {one.level for one in raised.value.violations if one.id.endswith("-level")}
            assert (type(raised.value) is dml.FeatureLevelError) == raised.value.id.endswith("-level")
            assert all(LEVELS.index(str(needed)) > index for needed in later)


MEMBERS = [
    (name, field.python, member.name, member.since)
    for name, operator in FAST.items()
    for field in operator.attributes
    if field.enum is not None
    for member in next(enum for enum in PLAN.enums if enum.name == field.enum).members
]


@each_of("name, field, member, since", MEMBERS)
def test_every_member_at_every_level(name: str, field: str, member: str, since: str) -> None:
    use, function = USES[name], getattr(dml, FAST[name].python)
    d = use.make({**use.values(), field: member})
    beside = {one.id for one in dml.check(d)}  # rules that the rest of the use breaks then
    for index, level in enumerate(LEVELS):
        wanted = []
        if index < LEVELS.index(FAST[name].since):
            wanted.append(f"DML-{name}-operator-level")
        if LEVELS.index(since) > max(index, LEVELS.index(FAST[name].since)):
            wanted.append(f"DML-{name}-{field}-level")
        others = beside | {one.id for one in dml.check(use.desc, level)} - {*wanted}
        assert [one.id for one in dml.check(d, level) if one.id not in others] == wanted
        with dml.feature_level(level):
            if wanted:
                with pytest.raises(dml.FeatureLevelError) as raised:
                    use.call(function, {}, use.attributes | {field: member})
                assert [one.id for one in raised.value.violations if one.id not in others] == wanted
            elif not others:
                use.call(function, {}, use.attributes | {field: member})


@each_of("name", FAST)
def test_a_refusal_names_the_lowest_level_that_accepts(name: str) -> None:
    """Of the operator, and of what its first example has besides."""
    use, since = USES[name], LEVELS.index(FAST[name].since)
    lowest = since
    for number, level in enumerate(LEVELS):
        found = dml.check(use.desc, level)
        assert [one.level for one in found if one.id == f"DML-{name}-operator-level"] == [FAST[name].since] * (
            number < since
        )
        for one in found:
            assert LEVELS.index(str(one.level)) > number
            assert f"feature level {one.level} " in one.message
            lowest = max(lowest, LEVELS.index(str(one.level)))
    assert all(bool(dml.check(use.desc, level)) == (number < lowest) for number, level in enumerate(LEVELS))


# The level in force


def test_the_newest_level_is_the_default() -> None:
    assert dml.current_level() == NEWEST == "6_4"
    assert len(LEVELS) == 15


@pytest.mark.parametrize("number", range(15))
def test_every_spelling(number: int) -> None:
    name = LEVELS[number]
    member = list(dml.FeatureLevel)[number]
    spellings: tuple[Any, ...] = (name, f"DML_FEATURE_LEVEL_{name}", member, np.str_(name))
    for spelling in spellings:
        with dml.feature_level(spelling) as level:
            assert level == dml.current_level() == name
    assert dml.current_level() == NEWEST


BAD = ["", "5", "5_", "5.0", "5_0 ", "7_0", "LEVEL_5_0", "dml_feature_level_5_0", None, 5, 5.0, math.nan, 0x5000, 14,
       b"5_0", ["5_0"], True, dml.PaddingMode.EDGE, object(), "x" * 9999, "\x1b[31m5_0"]  # fmt: skip


@pytest.mark.parametrize("level", BAD, ids=lambda value: repr(value)[:20])
def test_what_is_no_level(level: Any) -> None:
    other: Any = level if level else 0
    for use in (lambda: dml.feature_level(level), lambda: dml.compile(USES["UNFOLD"].desc, other)):
        with pytest.raises(ValueError) as raised:
            use()
        assert len(str(raised.value)) < 300 and str(raised.value).isprintable()
    assert dml.current_level() == NEWEST


def test_a_level_that_was_probably_meant() -> None:
    with pytest.raises(ValueError, match=r'Did you mean "5_0"\?'):
        dml.feature_level("5.0")  # type: ignore[arg-type]  # no level


def test_levels_nest_and_end_with_an_exception() -> None:
    with dml.feature_level("5_0"):
        with dml.feature_level("2_1"):
            assert dml.current_level() == "2_1"
        assert dml.current_level() == "5_0"
        with pytest.raises(ZeroDivisionError), dml.feature_level("1_0"):
            raise ZeroDivisionError
        assert dml.current_level() == "5_0"
        with pytest.raises(dml.FeatureLevelError), dml.feature_level("6_3"):
            dml.unfold(np.ones((1, 1, 3), np.float32), window_sizes=1)
        assert dml.current_level() == "5_0"
        for _ in range(3):
            with dml.feature_level("4_0"), dml.feature_level("3_0"):
                assert dml.current_level() == "3_0"
    assert dml.current_level() == NEWEST


def test_a_call_a_check_and_compile_take_the_level_in_force() -> None:
    x = np.ones((1, 1, 3), np.float32)
    d = dml.desc.Unfold(input=dml.TensorDesc.from_array(x), window_sizes=1)
    op = dml.compile(d)
    with dml.feature_level("6_3"):
        assert [found.id for found in dml.check(d)] == ["DML-UNFOLD-operator-level"]
        assert dml.check(d, "6_4") == []
        with pytest.raises(dml.FeatureLevelError):
            dml.compile(d)
        with pytest.raises(dml.FeatureLevelError):
            dml.unfold(x, window_sizes=1)
        assert op(x).shape == (1, 1, 3)  # checked once, at its own level
    assert dml.unfold(x, window_sizes=1).shape == (1, 1, 3)


def at(level: Any) -> bool:
    """Whether the level in force is this one, and a call sees it."""
    try:
        dml.unfold(np.ones((1, 1, 3), np.float32), window_sizes=1)
    except dml.FeatureLevelError as error:
        return dml.current_level() == level != NEWEST and f"level is {level}." in str(error)
    return bool(dml.current_level() == level == NEWEST)


def test_threads_have_levels_of_their_own() -> None:
    count = 8
    barrier, seen = threading.Barrier(count), [False] * count

    def work(number: int) -> None:
        level = LEVELS[number]
        seen[number] = at(NEWEST)
        with dml.feature_level(level):
            for _ in range(50):
                barrier.wait(10)
                seen[number] &= at(level)
        seen[number] &= at(NEWEST)

    with dml.feature_level("5_0"):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert dml.current_level() == "5_0"
    assert seen == [True] * count


def test_tasks_have_levels_of_their_own() -> None:
    async def work(number: int) -> bool:
        fine = at("6_0")  # a task starts with the level of its creator
        with dml.feature_level(LEVELS[number]):
            for _ in range(20):
                await asyncio.sleep(0)
                fine &= at(LEVELS[number])
            if number % 2:
                raise KeyError(number)
        return fine and at("6_0")

    async def main() -> list[Any]:
        with dml.feature_level("6_0"):
            tasks = [asyncio.create_task(work(number)) for number in range(14)]
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert await asyncio.to_thread(at, "6_0")
            assert at("6_0")
        assert at(NEWEST)
        return results

    results = asyncio.run(main())
    assert all(result is True for result in results[::2])
    assert all(type(result) is KeyError for result in results[1::2])
    assert dml.current_level() == NEWEST
