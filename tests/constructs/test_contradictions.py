"""Examples that contradict their own page."""

from __future__ import annotations

from typing import Any

from dmlcy import specs
from dmlcy._facts.tables import OPERATORS

SAID = "The page prints 3 for the element, and a cast of 2 is 2."


def test_what_the_page_prints_is_told(checkout: Any) -> None:
    (example,) = OPERATORS["CAST"].examples
    assert (example.contradicts, OPERATORS["GATHER"].examples[0].contradicts) == (SAID, None)
    page = " ".join((checkout[0] / "docs/reference/cast.md").read_text().split())
    assert f"Correction: {SAID}" in page
    shipped = (checkout[0] / "dmlcy/_generated/specs/operators/cast.toml").read_text()
    assert f'contradicts = "{SAID}"' in shipped
    assert "contradicts" in (specs.operator.__doc__ or "")
