"""Every documented constraint has the rule that enforces it, and every documented rule a constraint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from each import each
from sources import FUSED, TENSORS, beside, facts, tensors

from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, OPERATORS
from dmlcy._testing.broken import ways_of

SOURCES = ("https://learn.microsoft.com/windows/", "https://github.com/microsoft/")
ALL = {(0, 2**32 - 1), (-(2**31), 2**31 - 1), (None, None)}
FAMILIES = sorted({one["family"] for one in facts().values()})


def possible(operator: Operator) -> set[str]:
    """The ids with which a desc of an operator can be refused, at any level; and those of the rules on data.

    Some tensors differ from another in the data type only in a desc that has one tensor too many.
    """
    levels = range(LEVEL_INDEX[operator.since], len(LEVELS))
    fields = [field for field in operator.fields if field.same_dtype_as is not None and field.only_dtype is None]
    tied = {f"DML-{operator.name}-{field.python}-same-dtype" for field in fields}
    alone = {id_ for level in levels for id_ in ways_of(operator.name, level)}
    return alone | tied | {rule.id for rule in operator.rules}


def documented(operator: Operator) -> Iterator[str]:
    """The ids that need a constraint: the ids of documented rules, and of rules between fields."""
    yield from (rule.id for rule in operator.rules if rule.provenance == "documented")
    chosen = {field.python for field in operator.chosen}
    for field in operator.fields:
        start = f"DML-{operator.name}-{field.python}-"
        if field.kind == "chosen":
            continue
        if field.sizes is not None and not field.sizes.reads <= chosen:
            yield f"{start}sizes"
        if field.same_dtype_as is not None and field.only_dtype is None:
            yield f"{start}same-dtype"
        if field.length is not None:
            yield f"{start}length"
        if field.value is not None:
            yield start + ("same-dtype" if field.type.startswith("enum:") else "length")
        if field.provenance == "documented" and (field.minimum, field.maximum) not in ALL:
            yield f"{start}range"
        if not field.owned:
            yield f"{start}owned"


@pytest.mark.parametrize("family", FAMILIES)
def test_each_constraint_has_its_rules(family: str) -> None:
    each([name for name, one in facts().items() if one["family"] == family], has_its_rules)


def has_its_rules(name: str) -> None:
    operator, one = OPERATORS[name], facts()[name]
    known, named, taken = possible(operator), set(), set()
    rules = {rule.id: rule for rule in operator.rules}
    assert one["page"].startswith(SOURCES)
    for constraint in one["constraints"]:
        ids = {f"DML-{name}-{slug}" for slug in constraint.get("rules", ())}
        assert ids <= known, (constraint, ids - known)
        assert bool(ids) != bool(constraint.get("none")), constraint
        assert ("says" in constraint) != ({"same", "of"} <= constraint.keys()), constraint
        assert constraint.keys() <= {"same", "of", "says", "rules", "none", "until", "source", "taken"}
        assert constraint.get("source", one["page"]).startswith(SOURCES)
        if "until" in constraint:
            assert {rules[id_].until for id_ in ids} == {constraint["until"]}
        named |= ids
        taken |= {f"DML-{name}-{slug}" for slug in constraint.get("taken", ())}
    assert taken == {rule.id for rule in operator.rules if rule.accepts and rule.provenance == "documented"}
    assert not {*documented(operator)} - named, "no constraint names these"
    for line in one.get("differs", ()):
        assert line["why"] and line["source"].startswith(SOURCES)


def test_the_activations_that_can_be_fused() -> None:
    known = beside(FUSED)
    for host in known["hosts"]:
        since = OPERATORS[host].since
        wanted = {name: max(since, OPERATORS[name].since, key=LEVEL_INDEX.__getitem__) for name in known["activations"]}
        wanted |= {one["activation"]: one["since"] for one in known["restricted"] if host in one["hosts"]}
        (field,) = (field for field in OPERATORS[host].fields if field.type == "operator_desc")
        assert {name: max(since, level, key=LEVEL_INDEX.__getitem__) for name, level in field.among} == wanted, host
    assert {name for name, one in OPERATORS.items() if any(field.type == "operator_desc" for field in one.fields)} == {
        *known["hosts"]
    }


def test_what_each_tensor_keeps() -> None:
    slugs = [slug for constraint in beside(TENSORS)["constraints"] for slug in constraint["rules"]]
    for name, operator in OPERATORS.items():
        wanted = {f"DML-{name}-{field.python}-{slug}" for field in tensors(operator) for slug in slugs}
        assert wanted <= possible(operator), name
