"""A newer version gives what the older one gives, with the attributes that its spec says: bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, assert_same_values
from depth import Draws, draws_of_seeds
from drawing import draw_all
from example_descs import attributes
from strategies import Array

import dmlcy as dml
from dmlcy import specs, testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import FAST, RUNNABLE
from dmlcy._show.explain.find import find
from dmlcy._show.explain.text import lay_out

PAGES = Path(__file__).resolve().parents[2] / "docs/reference"

SAME = [(name, row) for name in RUNNABLE for row in specs.operator(name).get("same", ())]


def flat(text: str) -> str:
    """Without line ends."""
    return " ".join(text.split())


def page_of(name: str) -> str:
    return flat((PAGES / f"{name.lower()}.md").read_text("utf-8")).replace("`", "")


@draws_of_seeds(6, 10, 3)
@pytest.mark.parametrize(("newer", "row"), SAME, ids=[f"{name} as {row['as']}" for name, row in SAME])
def test_the_newer_version_gives_what_the_older_one_gives(newer: str, row: dict[str, Any], draws: Draws) -> None:
    """On descs of the older one; an attribute that both have is changed in both."""
    older, new = RUNNABLE[row["as"]], RUNNABLE[newer]
    own = {field.python for field in older.fields}
    changes = {name: value for name, value in row["with"].items() if name in own} | row.get("older", {})
    optional = {field.python for field in new.fields if field.kind == "output" and field.optional}
    seen = []

    def compare(case: tuple[OperatorDesc, dict[str, Array]]) -> None:
        desc, arrays = case
        given = attributes(desc) | changes
        expected = getattr(dml, older.python)(*arrays.values(), **given)
        result = getattr(dml, new.python)(*arrays.values(), **given | row["with"])
        same = assert_same_values if new.accuracy else assert_same_bits
        same(result, expected)
        first = result[0] if isinstance(result, tuple) else result
        seen.append(not np.array_equal(first, np.zeros_like(first)))
        for asked in optional - own:  # what the older version has not leaves the first output as it is
            with_it = getattr(dml, new.python)(*arrays.values(), **given | row["with"] | {asked: True})
            same(with_it[0], first)

    draw_all(testing.cases(older.name, most_elements=600), draws.number, compare, 500, draws.seeds)
    assert sum(seen) > 2


def test_versions_that_say_what_they_have_in_common() -> None:
    """A name with a digit behind it is a newer version of the name without.

    Where it takes the arguments of the older one, its page says so, or says which arguments are to be added. An
    argument that depends on other attributes or on the rank, such as axes, has no single value.
    """
    known = {name for name, _ in SAME if name in FAST}
    newer = {name for name in FAST if name[-1].isdigit() and name[:-1] in FAST}
    choices = {name: {one["id"] for one in specs.operator(name).get("interpretation", ())} for name in newer}
    said = {name for name in newer if "older-version" in choices[name]}
    axes = {name for name in newer if "axes" in {one for one, _ in taken(name) - taken(name[:-1])}}
    assert {name for name in newer if taken(name) >= taken(name[:-1])} - said - axes <= known <= newer


def taken(name: str) -> set[tuple[str, str]]:
    """The names and types of the attributes of an operator, and the data types of its first input."""
    operator = FAST[name]
    attributes = {(field.python, field.type) for field in operator.fields if field.kind == "attribute"}
    return attributes | {("", dtype) for row in operator.fields[0].dtypes for dtype in row.dtypes}


NEAREST = 'interpolation_mode="NEAREST_NEIGHBOR", rounding_direction="DECREASING", input_pixel_offsets=0'


def test_the_text_on_a_version_and_both_pages_say_so() -> None:
    """With values of attributes, with other values in the older version, and without any."""
    for newer, older, given, theirs in (
        ("RESAMPLE2", "RESAMPLE", f"{NEAREST}, output_pixel_offsets=-0.5", ""),
        ("RESAMPLE2", "RESAMPLE1", NEAREST, " with input_pixel_offsets=0.5"),
        ("MAX_POOLING1", "MAX_POOLING", "", ""),
    ):
        this, that = (f"[{name}]({name.lower()}.md)" for name in (newer, older))
        text, page, older_page = flat(lay_out(find(newer), 100)), page_of(newer), page_of(older)
        assert f"{f'With {given}: the' if given else 'The'} result of {older}{theirs}, bit for bit." in text
        assert (
            f"{f'With {given}, the' if given else 'The'} result equals the result of {that}{theirs}, bit for bit."
            in page
        )
        assert f"{f'With {given}, ' if given else ''}{this}, from level" in older_page
        assert f"gives the same result{theirs and f' as this operator{theirs}'}, bit for bit." in older_page
