"""The properties of each family hold on what ``dmlcy.testing`` draws, and each has something to compare."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from depth import SEED, Draws, draws_of, draws_of_seeds
from drawing import draw_all
from families import properties_of
from families.common import run
from family_files import PROPERTIES, having
from instruction_levels import assert_same_lines
from strategies import Array

from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import FAST
from dmlcy._runtime import isa

BITS = Path(__file__).parents[1] / "machines" / "bits.py"


MORE = (500, 600, 700, 800)
"""Seeds of more draws, where a property is rare."""


def with_sizes_that_follow(desc: OperatorDesc) -> OperatorDesc:
    """The desc, without the sizes that it may say of outputs."""
    said = [field.python for field in desc.operator.fields if field.sized_by is not None and field.sizes]
    return type(desc)(**(desc._values() | dict.fromkeys(said))) if said else desc


@draws_of_seeds(4, 10, 3)
@pytest.mark.parametrize("name", having(PROPERTIES))
def test_properties(name: str, draws: Draws) -> None:
    """Each property has something to compare among the draws of a run: among more of them where they are rare."""
    properties = properties_of(FAST[name])
    compared: Counter[str] = Counter()

    def look(case: tuple[OperatorDesc, dict[str, Array]]) -> None:
        desc, arrays = with_sizes_that_follow(case[0]), case[1]
        result = run(desc, arrays)
        for holds in properties:
            compared[holds.__name__] += holds(desc, arrays, result)

    cases = testing.cases(name, most_elements=500)
    draw_all(cases, draws.number, look, 400, draws.seeds)
    for seed in MORE:
        if missing := [holds for holds in properties if not compared[holds.__name__]]:
            properties[:] = missing
            draw_all(cases, 10, look, seed, draws.seeds)
    assert all(compared[holds.__name__] >= 1 for holds in properties), compared


@draws_of(2, 100)
@pytest.mark.parametrize("level", isa.LEVELS)
def test_levels_give_the_same_bits(level: str, draws: int) -> None:
    """Of every operator, with each data type, in any layout; a NaN's sign and bits excepted."""
    assert_same_lines(level, "-P", str(BITS), "--walks", str(draws), "--seed", str(SEED))
