"""Checks of the descs of every operator that has a spec, whether it runs or not: no operator is named.

Operators that run have more tests elsewhere: one of each of their families is here too.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from agreement import of_desc
from depth import SEED, draws_of, in_turn, of_each_family
from drawing import draw_all
from each import each, each_of
from few import few_of_each_family
from uses import FACTS, LEVELS, PLAN

import dmlcy as dml
from codegen.model import Field, Operator
from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Example
from dmlcy._facts.tables import OPERATORS, FeatureLevelName
from dmlcy._show.explain import rules
from dmlcy._show.explain.find import find
from dmlcy._show.explain.text import lay_out

LOOPED = few_of_each_family()
SOME = [*(name for name in OPERATORS if name not in LOOPED), *of_each_family(LOOPED)]
ENDING = {rule.id for operator in OPERATORS.values() for rule in operator.rules if rule.until is not None}
EACH = pytest.mark.parametrize("name", SOME)
OF_FAMILIES = pytest.mark.parametrize("name", of_each_family(OPERATORS))
"""For what is drawn: test_testing.py draws valid descs of all operators, test_ids.py breaks each thing of them."""


def descs_of(name: str) -> Iterator[tuple[Example, Any]]:
    """The desc of each example, as a model file has it: every tensor of the example is given."""
    from dmlcy._cli.example import model

    for example in OPERATORS[name].examples:
        (dispatchable,) = model(OPERATORS[name], example)["dispatchables"].values()
        yield example, OperatorDesc.from_dict({"type": dispatchable["type"], "desc": dispatchable["desc"]})


def goes_to_json_and_back(desc: OperatorDesc) -> None:
    written = json.loads(json.dumps(desc.to_dict(), allow_nan=False))
    read = OperatorDesc.from_dict(written)
    assert type(read) is type(desc) and read == desc and hash(read) == hash(desc)
    assert json.loads(json.dumps(read.to_dict())) == written


def compiled_checks_agree(desc: OperatorDesc, level: FeatureLevelName) -> None:
    compiled, said = of_desc(desc, level)
    assert compiled == said


def accepted_from(desc: OperatorDesc, level: str) -> None:
    """The desc is valid at this level and at later ones only, and minimum_feature_level says so.

    Before, it is too new, or breaks a rule that no longer holds at the level.
    """
    index = LEVELS.index(level)
    for number in {0, max(index - 1, 0), index, len(LEVELS) - 1}:
        found = dml.check(desc, LEVELS[number])
        assert (found == []) == (number >= index), LEVELS[number]
        compiled_checks_agree(desc, LEVELS[number])
    for violation in dml.check(desc, LEVELS[index - 1]) if index else ():
        assert LEVELS.index(str(violation.level)) <= index
        assert violation.error == "FeatureLevelError" or violation.id in ENDING, violation


@EACH
def test_each_example_is_a_valid_desc(name: str) -> None:
    found = list(descs_of(name))
    assert found, "a spec has at least one example"
    for example, desc in found:
        assert dml.check(desc) == [], example.title
        goes_to_json_and_back(desc)
        accepted_from(desc, dml.minimum_feature_level(desc).level)


@EACH
def test_each_rule_is_broken_alone(name: str) -> None:
    """The changes that the spec gives as ``breaks`` break just this rule, of one example at least."""
    each(OPERATORS[name].rules, lambda rule: broken_alone(name, rule), lambda rule: rule.id)


def broken_alone(name: str, rule: Any) -> None:
    found = [[one.id for one in violations] for _, _, violations in rules.refusals(OPERATORS[name], rule)]
    assert any({*ids} == {rule.id} for ids in found), found
    (facts,) = find(rule.id)
    assert facts["example"] is not None and facts["example"]["message"] in " ".join(lay_out([facts], 10**6).split())


@in_turn
@draws_of(2, 60)
@OF_FAMILIES
def test_random_descs_are_valid(name: str, draws: int) -> None:
    def look(desc: OperatorDesc) -> None:
        assert dml.check(desc) == []
        goes_to_json_and_back(desc)
        accepted_from(desc, dml.minimum_feature_level(desc).level)

    draw_all(testing.descs(name, most_elements=300), draws, look, SEED)
    since = min((dml.minimum_feature_level(desc).level for _, desc in descs_of(name)), key=LEVELS.index)
    older = testing.descs(name, level=since, most_elements=300)
    draw_all(older, draws // 2, lambda desc: accepted_from(desc, since), SEED)


@in_turn
@draws_of(2, 200)
@OF_FAMILIES
def test_a_broken_desc_has_just_its_violation(name: str, draws: int) -> None:
    def look(broken: tuple[OperatorDesc, dml.Violation]) -> None:
        desc, violation = broken
        assert dml.check(desc) == [violation] and violation.id.startswith(f"DML-{name}-")
        assert violation.text.isprintable() and f"[{violation.id}]" in str(violation)
        with pytest.raises(dml.DmlError) as caught:
            dml.compile(desc)
        assert caught.value.violations == (violation,) and type(caught.value).__name__ == violation.error
        compiled_checks_agree(desc, LEVELS[-1])

    draw_all(testing.broken_descs(name, most_elements=300), draws, look, SEED)


@each_of("name", OPERATORS)
def test_ones_in_front_of_an_output(name: str) -> None:
    """One more, one less, and no dimension at all: the compiled checks refuse it where those in Python do."""
    desc = next(desc for _, desc in descs_of(name))
    for field in desc.operator.fields:
        tensor = getattr(desc, field.python)
        if field.kind == "output" and type(tensor) is dml.TensorDesc:
            for sizes in ((1, *tensor.sizes), tensor.sizes[1:], ()):
                changed = desc._values() | {field.python: dml.TensorDesc(tensor.dtype, sizes)}
                compiled_checks_agree(type(desc)(**changed), LEVELS[-1])


@functools.cache
def support_table() -> dict[str, dict[tuple[str, str, int], str]]:
    """The rows of each operator: the first level by tensor, data type and number of dimensions."""
    found: dict[str, dict[tuple[str, str, int], str]] = {name: {} for name in OPERATORS}
    for row in dml.support_table():
        found[row.operator][row.tensor, row.dtype, row.rank] = row.since
    return found


def first_level(operator: Operator, field: Field, dtype: str, rank: int) -> int:
    """The position of the first level at which the rows of the spec have it, beyond the newest where none has."""
    beyond = len(LEVELS)
    types = [FACTS.level_index(row.since) for row in operator.types[field.types or ""] if dtype in row.dtypes]
    rows = [row for row in operator.ranks[field.ranks or ""] if row.min <= rank <= row.max]
    ranks = [FACTS.level_index(row.since) for row in rows]
    roomy = [number for number, level in enumerate(FACTS.levels) if level.max_rank >= rank]
    needed = (min(types, default=beyond), min(ranks, default=beyond), min(roomy, default=beyond))
    return max(*needed, FACTS.level_index(operator.since))


@EACH
def test_the_support_table_is_that_of_the_rows(name: str) -> None:
    """``supports`` too, for each tensor, data type and number of dimensions, before and from its level on."""
    spec = next(one.operator for one in PLAN.operators if one.name == name)
    found, since = {}, FACTS.level_index(spec.since)
    for field, dtype, rank in itertools.product(spec.tensors, (one.name for one in FACTS.dtypes), range(10)):
        first = first_level(spec, field, dtype, rank)
        if first < len(LEVELS):
            found[field.python, dtype, rank] = LEVELS[first]
        for level in {max(first - 1, 0), min(first, len(LEVELS) - 1)}:
            given = {"dtype": dtype, "rank": rank, "tensor": field.python, "level": LEVELS[level]}
            assert dml.supports(name, **given) == (level >= first), given
    assert found == support_table()[name]
    assert [dml.supports(name, level=level) for level in LEVELS] == [n >= since for n in range(len(LEVELS))]
