"""Both ways: what a page claims of a tensor is accepted from its level on, and nothing else is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from depth import deep
from each import each
from reaching import Reached, changed, reached
from sources import NAMES, RANKS, Cell, claims, differing, facts, first_levels, of, rows, tensors

import dmlcy as dml
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, OPERATORS
from dmlcy._testing.starts import tensors_of

FAMILIES = sorted({one["family"] for one in facts().values()})


def of_family(family: str) -> list[str]:
    return [name for name, one in facts().items() if one["family"] == family]


def test_each_operator_has_its_facts() -> None:
    assert {name: one["family"] for name, one in facts().items()} == {
        name: operator.family for name, operator in OPERATORS.items()
    }
    assert {name: one["since"] for name, one in facts().items()} == {
        name: operator.since for name, operator in OPERATORS.items()
    }


def test_the_support_table_is_that_of_the_pages() -> None:
    found: dict[str, dict[Cell, int]] = {name: {} for name in OPERATORS}
    for row in dml.support_table():
        found[row.operator][row.tensor, row.dtype, row.rank] = LEVEL_INDEX[row.since]
    each([*OPERATORS], lambda name: same_cells(found[name], claims(name)))


def same_cells(found: dict[Cell, int], claimed: dict[Cell, int]) -> None:
    wrong = {cell for cell in found.keys() | claimed.keys() if found.get(cell) != claimed.get(cell)}
    assert not wrong, {cell: (found.get(cell), claimed.get(cell)) for cell in wrong}


@pytest.mark.parametrize("name", [name for name, one in facts().items() if "differs" in one])
def test_a_difference_is_one(name: str) -> None:
    page = first_levels(rows(name))
    assert differing(name) and all(page.get(cell) != level for cell, level in differing(name).items())


CELLS = pytest.mark.parametrize("every", [pytest.param(False, id="some"), pytest.param(True, id="all", marks=deep)])


@CELLS
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_claimed_is_accepted_from_its_level_on(family: str, every: bool) -> None:
    cases = [(name, one) for name in of_family(family) for one in reached(name, every)]
    each(cases, lambda case: accepted_just_then(*case), lambda case: f"{case[0]} {case[1]}")


def accepted_just_then(name: str, one: Reached) -> None:
    assert one.desc is not None, "no valid desc is found"
    assert dml.check(one.desc, LEVELS[one.level].name) == []
    if one.level:
        ids = {violation.id for violation in dml.check(one.desc, LEVELS[one.level - 1].name)}
        fields = {one.field.python, one.field.same_dtype_as or one.field.python, "operator"}
        refused = {f"DML-{name}-{field}-level" for field in fields}
        if one.chosen:  # then the other tensors may be what is too new, and rules say what goes with the member
            refused |= {f"DML-{name}-{field.python}-level" for field in tensors(OPERATORS[name])}
            refused |= {rule.id for rule in OPERATORS[name].rules}
        assert ids & refused, ids


@CELLS
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_not_claimed_is_refused(family: str, every: bool) -> None:
    cases = [(name, field) for name in of_family(family) for field in tensors(OPERATORS[name])]
    each(cases, lambda case: nothing_else(*case, every), lambda case: f"{case[0]} {case[1].python}")


def nothing_else(name: str, field: Field, every: bool) -> None:
    """The data types and the ranks that a tensor has at no level."""
    levels = claims(name)
    dtypes, ranks = ({cell[place] for cell in levels if cell[0] == field.python} for place in (1, 2))
    desc = next(one.desc for one in reached(name, False) if one.field is field and one.desc is not None)
    old = tensors_of(getattr(desc, field.python))[0]
    others = [dml.TensorDesc(dtype, old.sizes) for dtype in NAMES if dtype not in dtypes]
    other_ranks = [dml.TensorDesc(old.dtype, (1,) * rank) for rank in RANKS if rank not in ranks]
    for slug, broken in (("dtype", others), ("rank", other_ranks)):
        id_ = f"DML-{name}-{field.python}-{slug}"
        for one in broken if every else broken[:1] + broken[-1:]:
            assert id_ in {violation.id for violation in dml.check(changed(desc, field, one))}, one


FACETS: dict[str, Callable[[dml.TensorDesc], object]] = {
    "dtype": lambda one: one.dtype,
    "sizes": lambda one: one.sizes,
    "rank": lambda one: one.rank,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_tensors_have_in_common(family: str) -> None:
    """Valid descs have it; a desc that does not have it is refused, and each of the ids says so."""
    cases = [
        (name, constraint)
        for name in of_family(family)
        for constraint in facts()[name]["constraints"]
        if "same" in constraint and "rules" in constraint
    ]
    each(cases, lambda case: in_common(*case), str)


def in_common(name: str, constraint: dict[str, Any]) -> None:
    fields, facets = of(OPERATORS[name], constraint["of"]), constraint["same"].split()
    until = LEVEL_INDEX[constraint["until"]] if "until" in constraint else len(LEVELS)
    descs = [(one.desc, one.level) for one in reached(name, False) if one.desc is not None and one.level < until]
    for facet, (desc, _) in itertools.product(facets, descs):
        values = [FACETS[facet](one) for field in fields for one in tensors_of(getattr(desc, field.python))]
        assert len({*values}) <= 1, (facet, desc)
    level, found = LEVELS[min(max(level for _, level in descs), until - 1)].name, set[str]()
    for facet, field in itertools.product(facets, fields):
        for desc in having(field, fields, [desc for desc, _ in descs]):
            broken = another(field, desc, facet)
            if broken is not None:
                violations = dml.check(broken, level)
                assert violations, (facet, field.python)
                found |= {violation.id for violation in violations}
    optional = {f"DML-{name}-{field.python}-same-dtype" for field in fields if field.optional}  # beside an earlier one
    named = {f"DML-{name}-{slug}" for slug in constraint["rules"]} - optional
    assert named <= found, named - found


def having(field: Field, fields: tuple[Field, ...], descs: list[OperatorDesc]) -> list[OperatorDesc]:
    """A desc that has a tensor, and of the others that it is compared with as many as there is one with."""
    able = [desc for desc in descs if getattr(desc, field.python) is not None]
    able.sort(key=lambda desc: sum(getattr(desc, other.python) is not None for other in fields))
    return able[-1:]


def another(field: Field, desc: OperatorDesc, facet: str) -> OperatorDesc | None:
    """The desc with another data type, other sizes or more dimensions of one tensor alone."""
    old = tensors_of(getattr(desc, field.python))[0]
    if facet == "dtype":
        others = {name for row in field.dtypes for name in row.dtypes} - {old.dtype.name}
        return changed(desc, field, dml.TensorDesc(min(others), old.sizes)) if others else None
    if facet == "sizes":
        return changed(desc, field, dml.TensorDesc(old.dtype, (*old.sizes[:-1], old.sizes[-1] + 1)))
    ranks = {rank for row in field.ranks for rank in range(row.min, row.max + 1)} - {old.rank} or {old.rank + 1}
    return changed(desc, field, dml.TensorDesc(old.dtype, (*[1] * 8, *old.sizes)[-min(ranks) :]))
