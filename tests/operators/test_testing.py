"""``dmlcy.testing``: its descs are valid, its broken descs have one violation, and on its arrays every operator gives
what its definition gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import pytest
from checks import assert_defined, assert_same_bits, attributes
from hypothesis import given, seed
from hypothesis import strategies as st
from strategies import Array, examples

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc import OperatorDesc
from dmlcy._spec import Operator
from dmlcy._support import dtypes_at, ranks_at
from dmlcy._tables import ENUMS, LEVEL_INDEX, LEVELS, OPERATORS

NAMES = list(OPERATORS)


@pytest.mark.parametrize(
    ("name", "level"), sorted({(name, level) for name in NAMES for level in (OPERATORS[name].since, LEVELS[-1].name)})
)
def test_descs_are_valid_and_reach_the_whole_domain(name: str, level: str) -> None:
    operator, seen = OPERATORS[name], set()

    def look(desc: OperatorDesc) -> None:
        assert not dml.check(desc, feature_level=level)
        for field in operator.fields:
            value = getattr(desc, field.python)
            if isinstance(value, dml.TensorDesc):
                seen.update([(field.python, value.dtype.name), (field.python, value.rank)])
                seen.add((field.python, "strided" if value.strides else "packed"))
            elif isinstance(value, IntEnum):
                seen.add((field.python, value.name))

    missing = set(domain(operator, LEVEL_INDEX[level]))
    for attempt in range(10):  # what is drawn is not spread evenly
        if not missing <= seen:
            seed(attempt)(examples(200)(given(testing.descs(name, level=level))(look)))()
    assert not missing - seen


def domain(operator: Operator, level: int) -> Iterator[tuple[str, Any]]:
    """What the fields of a desc can be at a level, one by one."""
    for field in operator.fields:
        if field.kind == "input" and field.same_dtype_as is None:
            yield from ((field.python, found) for found in (*dtypes_at(field, level), *ranks_at(field, level)))
        if field.kind != "attribute":
            yield from ((field.python, layout) for layout in ("strided", "packed"))
        elif field.type.startswith("enum:") and field.value is None:
            info = ENUMS[field.type.removeprefix("enum:")]
            yield from (
                (field.python, name) for name, (_, since) in info.members.items() if LEVEL_INDEX[since] <= level
            )


@pytest.mark.parametrize("name", NAMES)
def test_operators_give_what_their_definition_gives(name: str) -> None:
    cases = testing.descs(name, layouts=False, most_elements=600)

    @examples(80)
    @given(cases.flatmap(lambda desc: st.tuples(st.just(desc), testing.inputs(desc))))
    def compare(case: tuple[OperatorDesc, dict[str, Array]]) -> None:
        desc, arrays = case
        result = getattr(dml, desc.operator.python)(*arrays.values(), **attributes(desc))
        assert_defined(result, desc, arrays)
        assert_same_bits(dml.compile(desc)(*arrays.values()), result)

    compare()


@pytest.mark.parametrize("name", NAMES)
def test_broken_descs_have_one_violation(name: str) -> None:
    ids: Counter[str] = Counter()

    @examples(120)
    @given(testing.broken_descs(name))
    def draw(broken: tuple[OperatorDesc, dml.Violation]) -> None:
        desc, violation = broken
        assert dml.check(desc) == [violation]
        with pytest.raises(dml.DmlError) as caught:
            dml.compile(desc)
        assert caught.value.violations == (violation,)
        ids[violation.id] += 1

    draw()
    assert len(ids) > 8


def test_names_and_levels() -> None:
    with pytest.raises(dml.ModelError, match=r"pading1.* is not an operator of DirectML"):
        testing.descs("pading1")
    with pytest.raises(ValueError, match="feature level 1_0 has no PADDING1: it came with 5_0"):
        testing.descs("padding1", level="1_0")
