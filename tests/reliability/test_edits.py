"""The changes that tests/reliability/mutants.py makes."""

from __future__ import annotations

import pytest

from tests.reliability.edits import edits


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a <= b", {"a < b", "a <= 1 + b", "a > b"}),
        ("a < b", {"a <= b", "a < -1 + b", "a >= b"}),
        ("a == b", {"a != b", "a <= b", "a >= b"}),
        ("a and not b", {"a or not b", "a and b"}),
        ("if not f(x):", {"if f(x):"}),
        ("a not in b", {"a in b"}),
        ("a in b", {"a not in b"}),
        ("all(f(x) for x in b)", set()),
        ("a is not None", {"a is None"}),
        ("return False", {"return True"}),
        ("return 1", {"return 0"}),
        ("x[2 + d] - -n", {"x[3 + d] - -n", "x[2 - d] - -n", "x[2 + d] + -n"}),
        ("<int64_t>x == <Tensor*>y", {f"<int64_t>x {op} <Tensor*>y" for op in ("!=", "<=", ">=")}),
    ],
)
def test_edits(text: str, wanted: set[str]) -> None:
    assert {edit.of(text) for edit in edits(text)} == wanted


def test_an_edit_shows_its_line() -> None:
    text = "first\n    if a < b:\n        return 0\nlast\n"
    *_, last = edits(text)
    assert next(edits(text)).shown(text) == "if a < b:  =>  if a <= b:"
    assert last.shown(text) == "if a < b: return 0  =>  return 1"
