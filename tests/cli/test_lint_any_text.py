"""``dmlcy lint``: no text, no value and no number of findings breaks it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from linting import EXAMPLES, ROOT, lint, model, of

from dmlcy._cli.lint import FORMATS

TOKENS = st.sampled_from(
    [
        "{", "}", "[", "]", ",", ":", '"', "\\", "null", "true", "-1", "0", "1.5", "4294967296", "1e400", "NaN",
        "//", "/*", "*/", "\n", "\r", "\t", "\x00", "\x1b[2J", "\u202e", "\ud7ff", "漢", "é", "😀", "[" * 300,
        '"x":', "DML_", "9" * 1200, '"Desc":{', '"Type":"', "FLOAT", "INT4", "[[1]]", '{"Width":1}', '"\\u001b"',
        '"\\ud83d\\ude00"', '"nan"',
    ]
)  # fmt: skip
SEEDS = [path.read_text(encoding="utf-8") for path in (*EXAMPLES, ROOT / "examples" / "broken" / "mistakes.json")]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.integers(0, 12))
        text = text[:at] + draw(TOKENS | st.text(max_size=3)) + text[at + gone :]
    return text


@given(text=mutated(), form=st.sampled_from(list(FORMATS)), level=st.sampled_from(["1_0", "5_0", "6_4"]))
@settings(max_examples=examples(400), deadline=None, derandomize=os.environ.get("CI", "").lower() in ("1", "true"))
def test_no_text_breaks_it(text: str, form: str, level: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.getbasetemp() / "mutated.json"
    target.write_bytes(text.encode("utf-8", "replace"))
    status, shown = lint("--format", form, "--feature-level", level, target)
    assert status in (0, 1, 2)
    if form in ("json", "sarif"):
        json.loads(shown)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
@settings(max_examples=examples(300), deadline=None, derandomize=os.environ.get("CI", "").lower() in ("1", "true"))
def test_no_value_breaks_it(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any JSON value in place of any value of a model."""
    document = json.loads(data.draw(st.sampled_from(SEEDS[:-1])))
    at = document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        inner = at[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 4)) == 0:
            at[key] = data.draw(VALUES)
            break
        at = inner
    target = tmp_path_factory.getbasetemp() / "changed.json"
    target.write_text(json.dumps(document), encoding="utf-8")
    assert lint("--format", data.draw(st.sampled_from(list(FORMATS))), target)[0] in (0, 1)


def test_many_wrong_references_are_quick(tmp_path: Path) -> None:
    names: dict[str, object] = {f"resource number {i}": {} for i in range(300)}
    commands = [{"type": "print", "resource": f"resourse numbre {i}"} for i in range(3000)]
    found = of(tmp_path, {"resources": names, "dispatchables": {}, "commands": commands})
    wrong = [one for one in found if one["id"] == "DML-MODEL-reference"]
    assert len(wrong) > 500
    assert wrong[0]["hint"] and not wrong[-1]["hint"]  # a search takes longer than all the rest


def test_many_duplicates_that_stand_deep(tmp_path: Path) -> None:
    text = '{"a":' * 199 + "{" + ",".join(['"k":0'] * 5000) + "}" * 200
    assert len([one for one in of(tmp_path, text) if one["id"] == "DML-MODEL-duplicate"]) == 1000


def test_the_report_of_many_problems_ends_with_a_word(tmp_path: Path) -> None:
    """Problems and warnings are cut apart from each other, so that no number of warnings hides a problem."""
    found = of(tmp_path, model(**{f"p{i}": {"type": 5} for i in range(1200)}))
    assert [one["severity"] for one in found] == ["error"] * 1000 + ["warning"]
    assert found[-1]["id"] == "DML-MODEL-more" and "$.dispatchables.p1000" in found[-1]["path"]
    found = of(tmp_path, model(pool={"type": 5}) | {f"unknown{i}": 1 for i in range(1200)})
    assert sum(one["severity"] == "error" for one in found) == 1
    assert sum(one["id"] == "DML-MODEL-more" for one in found) == 1 and len(found) == 1002
