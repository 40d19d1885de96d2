"""The properties of each family hold on what ``dmlcy.testing`` draws, and each has something to compare."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from checks import assert_same_output_on_any_processor
from depth import seeds_of
from drawing import draw_all
from families import properties_of
from families.common import run
from family_files import PROPERTIES, having
from strategies import Array

from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import FAST

TESTS = Path(__file__).parents[1]


def with_sizes_that_follow(desc: OperatorDesc) -> OperatorDesc:
    """The desc, without the sizes that it may say of outputs."""
    said = [field.python for field in desc.operator.fields if field.sized_by is not None]
    return type(desc)(**(desc._values() | dict.fromkeys(said))) if said else desc


@seeds_of(4)
@pytest.mark.parametrize("name", having(PROPERTIES))
def test_properties(name: str, seeds: range) -> None:
    """Each property has something to compare among the draws of a run: among more of them where they are rare."""
    properties = properties_of(FAST[name])
    compared: Counter[str] = Counter()

    def look(case: tuple[OperatorDesc, dict[str, Array]]) -> None:
        desc, arrays = with_sizes_that_follow(case[0]), case[1]
        result = run(desc, arrays)
        for holds in properties:
            compared[holds.__name__] += holds(desc, arrays, result)

    draw_all(testing.cases(name, most_elements=500), 10, look, 400, seeds)
    if missing := [holds for holds in properties if not compared[holds.__name__]]:
        properties[:] = missing
        draw_all(testing.cases(name, most_elements=500), 10, look, 500, seeds)
        draw_all(testing.cases(name, most_elements=500), 10, look, 600, seeds)
    assert all(compared[holds.__name__] >= 1 for holds in properties), compared


def test_wide_and_baseline_instructions_give_the_same_bits() -> None:
    """Of every operator, on some hundred random descs each; a NaN's sign and bits excepted."""
    assert_same_output_on_any_processor(
        f"import runpy; runpy.run_path({str(TESTS / 'machines' / 'bits.py')!r}, run_name='__main__')"
    )
