"""Every id that the generator lists is triggered by breaking exactly one thing, and says which."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from breaking import WAYS, cases_of, ids
from broken_case import Case
from checks import assert_stated
from depth import deep, in_turn
from each import each, each_of
from uses import EARLY, LEVELS, PLAN, RUNNABLE, first_level

import dmlcy as dml
from dmlcy._facts.tables import OPERATORS


def with_fix() -> Iterator[Case]:
    """The descs that break a rule which says what is valid instead."""
    for case in (case for name in RUNNABLE for case in cases_of(name)):
        for rule in case.use.operator.rules:
            if rule.fix is not None and case.way == "desc" and case.id.endswith(f"{case.use.operator.name}-{rule.id}"):
                yield case


def test_every_slug_has_a_way_to_break_it() -> None:
    assert set(WAYS) == {error.id for error in PLAN.facts.implicit}


@each_of("name", RUNNABLE)
def test_the_ids_triggered_are_those_listed(name: str) -> None:
    triggered = {case.id for case in cases_of(name)}
    assert sorted(triggered - ids(RUNNABLE[name])) == [], "the generator does not list these"


@each_of("name", RUNNABLE)
def test_the_unbroken_use_is_valid(name: str) -> None:
    use = EARLY[name]
    assert dml.check(use.desc, LEVELS[first_level(use.operator)]) == []
    function = getattr(dml, use.operator.python)
    names = [field.python for field in use.operator.outputs]
    outputs = [path for path in use.arrays if path.partition("[")[0] in names]
    for result in (use.call(function, {}, use.attributes), use.call(dml.compile(use.desc), {}, {})):
        for path, one in zip(outputs, result if isinstance(result, tuple) else (result,), strict=True):
            assert_stated(one, use.arrays[path], OPERATORS[name])


def some_of(name: str) -> list[Case]:
    """A case of each id, of several another one than the operators beside it have."""
    turn, found = list(RUNNABLE).index(name), dict[str, list[Case]]()
    for case in cases_of(name):
        found.setdefault(case.id, []).append(case)
    return [cases[turn % len(cases)] for cases in found.values()]


SHOWN = 16
"""Of so many errors, one is shown in each way by default."""
SOME_OR_ALL = pytest.mark.parametrize(
    "chosen", [pytest.param(some_of, id="some"), pytest.param(cases_of, id="all", marks=deep)]
)


@in_turn
@SOME_OR_ALL
@pytest.mark.parametrize("name", RUNNABLE)
def test_one_broken_thing_gives_its_id(name: str, chosen: Callable[[str], list[Case]]) -> None:
    cases = chosen(name)
    each(cases, gives_its_id)
    each(cases if chosen is cases_of else cases[list(RUNNABLE).index(name) % SHOWN :: SHOWN], shows_its_id)


def gives_its_id(case: Case) -> None:
    desc = case.desc() if case.way in ("desc", "json") else None
    error = case.run(desc)
    wanted = [found for found in error.violations if found.id == case.id]
    assert wanted and (not case.alone or len(wanted) == len(error.violations)), error
    assert type(error).__name__ == error.violations[0].error and wanted[0].error == case.error
    assert case.subject in wanted[0].message
    if desc is not None:
        found = dml.check(desc, case.level, warnings=case.warns)
        assert [one.id for one in found] == [one.id for one in error.violations]


def shows_its_id(case: Case) -> None:
    """In the text, in JSON and after pickle, which are long in the making: they have what would make the call valid."""
    error = case.run(case.desc() if case.way in ("desc", "json") else None)
    assert f"[{case.id}]" in str(error)
    told = error.to_json()
    read = json.loads(json.dumps(told, allow_nan=False))["violations"]
    assert [one["id"] for one in read] == [found.id for found in error.violations]
    assert pickle.loads(pickle.dumps(error)).to_json() == told


def test_the_nearest_valid_value_is_both() -> None:
    """With it the rule holds; one step from it to the value that was refused, it does not."""
    found = list(with_fix())
    assert len(found) > 20
    each(found, nearest_is_both)


def nearest_is_both(case: Case) -> None:
    others = {name: value for name, value in case.use.attributes.items() if isinstance(value, list)}
    for more in ({}, *({name: [n + 1 for n in value]} for name, value in others.items())):
        if dml.check(case.use.make(case.use.values() | more), case.level):  # beside which another rule is broken
            continue
        values = {**case.use.values(), **more, **case.changes}
        found = next(one for one in dml.check(case.use.make(values), case.level) if one.id == case.id)
        assert found.field is not None
        given, index = getattr(case.use.make(values), found.field), found.index
        assert index is None or isinstance(index, int)
        refused = given if index is None else given[index]
        for value, holds in ((found.fix, True), (nearer(found.fix, refused), False)):
            entries: Any = value if index is None else [*given[:index], value, *given[index + 1 :]]
            left = dml.check(case.use.make(values | {found.field: entries}), case.level)
            assert ((found.id, found.index) not in {(one.id, one.index) for one in left}) == holds, (more, value)


def nearer(fix: Any, refused: Any) -> Any:
    """The next value of the field after a fix, on the way to what was refused."""
    if isinstance(fix, int):
        return fix + (1 if refused > fix else -1)
    return float(np.nextafter(np.float32(fix), np.float32(refused)))


@in_turn
@SOME_OR_ALL
@pytest.mark.parametrize("name", RUNNABLE)
def test_a_fix_belongs_at_its_index(name: str, chosen: Callable[[str], list[Case]]) -> None:
    """A program that puts each fix where its violation is gets rid of the violation, whatever it is of."""
    cases = [case for case in chosen(name) if case.way in ("desc", "json")]
    each(cases if chosen is cases_of else cases[list(RUNNABLE).index(name) % 2 :: 2], fix_belongs)


def fix_belongs(case: Case) -> None:
    desc = case.desc()
    before = dml.check(desc, case.level)
    for found in before:
        if found.fix is None or found.field is None:  # without a field, it is the name of a member
            continue
        values = desc._values()
        name, entry, place = found.field.removesuffix("]").partition("[")
        value = values[name][int(place)] if entry else values[name]
        values[found.field] = mended(value, found)
        left = [one for one in dml.check(case.use.make(values), case.level) if one.field == found.field]
        assert not [one for one in left if one.id.endswith("-type") and one not in before], (found, left)
        assert (found.id, found.member, found.index) not in {(one.id, one.member, one.index) for one in left}, found


def mended(value: Any, found: dml.Violation) -> Any:
    """The value with the fix where the violation is."""
    if isinstance(value, dml.TensorDesc):
        names = [parameter for parameter in inspect.signature(dml.TensorDesc).parameters if parameter != "type"]
        parts = {name: getattr(value, name) for name in names}
        assert found.member is not None
        if found.member == "type":
            return dml.TensorDesc(**parts)
        parts[found.member] = mended(parts[found.member], replace(found, member=None))
        return dml.TensorDesc(**parts)
    if found.index is None:
        return found.fix
    assert isinstance(value, tuple | list) and isinstance(found.index, int)
    return [*value[: found.index], found.fix, *value[found.index + 1 :]]
