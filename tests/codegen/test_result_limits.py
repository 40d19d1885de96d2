"""Which results are their element within two limits: products compute these by themselves."""

from __future__ import annotations

import pytest

from codegen.expr.parse import parse
from codegen.families.elementwise.ways import limits


@pytest.mark.parametrize(
    ("text", "least", "greatest"),
    [
        ("x if isnan(x) else max(min(x, most), least)", "least", "most"),
        ("0 if x <= 0 else x", "0", None),
    ],
)
def test_limits_are_found(text: str, least: str, greatest: str | None) -> None:
    found = limits(parse(text))
    assert found == (parse(least), None if greatest is None else parse(greatest))


@pytest.mark.parametrize(
    "text",
    [
        "max(min(x, most), least)",  # of NaN, it is a limit
        "x if isnan(x) else min(max(x, least), most)",
        "x if isnan(y) else max(min(x, most), least)",
        "0 if x < 0 else x",  # -0 stays
        "x if x <= 0 else 0",
        "1 if x <= 0 else x",
    ],
)
def test_others_have_none(text: str) -> None:
    assert limits(parse(text)) is None
