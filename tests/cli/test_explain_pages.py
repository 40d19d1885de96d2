"""How ``dmlcy explain`` lays out pages."""

from __future__ import annotations

import pytest

from dmlcy._facts.tables import OPERATORS
from dmlcy._show.explain.find import find
from dmlcy._show.explain.page import Page
from dmlcy._show.explain.text import lay_out

RULE = next(rule.id for operator in OPERATORS.values() for rule in operator.rules)


@pytest.mark.parametrize("width", [50, 72, 100])
def test_widths(width: int) -> None:
    for word in ("PADDING1", RULE, "6_4", "PaddingMode", "input", "FOLD"):
        lay_out(find(word), width)


def test_rows_of_a_page() -> None:
    page = Page(40)
    page.rows([("a", "1", "x " * 20), ("bb", "22", "y"), ("c" * 38, "3", "z")])
    assert str(page).splitlines() == [
        "  a   1   x x x x x x x x x x x x x x x",
        "          x x x x x",
        "  bb  22  y",
        f"  {'c' * 38}",
        "      3   z",
    ]
