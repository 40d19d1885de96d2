"""``dmlcy operators``: the operators of a level, and the state of each."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import dmlcy as dml
from dmlcy._facts.tables import CATALOGUE, DTYPES, FAST, LEVELS, OPERATORS, STATES, FeatureLevelName, state_of

Command = Callable[..., tuple[int, str, str]]


class TestOperators:
    def test_all(self, command: Command) -> None:
        status, out, err = command("operators")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        for name, entry in CATALOGUE.items():
            (line,) = [line for line in lines if line.split()[:1] == [name]]
            assert line.split()[1] == entry.since
            assert (OPERATORS[name].family in line) if name in OPERATORS else len(line.split()) == 3
            assert name not in FAST or FAST[name].python == name.lower()
            assert len(line) <= 100
        totals = {state: len(dml.specs.operators(state)) for state in STATES}
        shown = ", ".join(f"{number} {state}" for state, number in reversed(totals.items()) if number)
        assert lines[-1] == f"Level 6_4 has {len(CATALOGUE)} operators: {shown}."
        assert [line for line in lines if not line.startswith((" ", "Level")) and line] == [
            f"{state.capitalize()}: {STATES[state]}" for state in reversed(STATES) if totals[state]
        ]

    @pytest.mark.parametrize("level", [level.name for level in LEVELS])
    def test_json(self, command: Command, level: FeatureLevelName) -> None:
        status, out, _ = command("operators", "--format", "json", "--feature-level", level)
        report = json.loads(out)
        rows = {row["name"]: row for row in report["operators"]}
        assert (status, report["feature_level"]) == (0, level)
        assert [*rows] == sorted(name for name in CATALOGUE if dml.supports(name, level=level))
        for name, row in rows.items():
            assert row["state"] == state_of(name)
            assert row["source"].startswith("https://")
            if name in OPERATORS:
                if level == LEVELS[-1].name:  # an operator may be of a level before that of its first data types
                    assert row["data_types"] and row["dimensions"]
                for dtype in DTYPES:
                    assert dml.supports(name, dtype=dtype, level=level) == (dtype in row["data_types"])
                for rank in range(10):
                    assert dml.supports(name, rank=rank, level=level) == (rank in row["dimensions"])
        totals = report["totals"]
        assert totals["all"] == len(rows) == sum(totals[state] for state in STATES)

    @pytest.mark.parametrize("state", STATES)
    def test_some(self, command: Command, state: str) -> None:
        report = json.loads(command("operators", "--state", state, "--format", "json")[1])
        assert {row["name"] for row in report["operators"]} == {name for name in CATALOGUE if state_of(name) == state}
        assert len(report["operators"]) == report["totals"][state]
        titles = [
            line
            for line in command("operators", "--state", state)[1].splitlines()
            if line.partition(":")[0].lower() in STATES
        ]
        assert titles == [f"{state.capitalize()}: {STATES[state]}"][: len(report["operators"])]

    def test_several(self, command: Command) -> None:
        report = json.loads(
            command("operators", *(word for state in STATES for word in ("--state", state)), "--json")[1]
        )
        assert len(report["operators"]) == len(CATALOGUE)

    @pytest.mark.parametrize(
        "arguments", [("--state", "built"), ("--feature-level", "9_9\x1b"), ("--format", "xml"), ("more",)]
    )
    def test_usage(self, command: Command, arguments: tuple[str, ...]) -> None:
        status, out, err = command("operators", *arguments)
        assert (status, out) == (2, "")
        assert "\x1b" not in err and "Traceback" not in err


def test_the_call_that_explain_shows_has_each_keyword_and_default(command: Command) -> None:
    _, argmax, _ = command("explain", "argmax")
    assert 'argmax(input, *, axes, axis_direction="INCREASING", output_dtype=None, out=None)' in argmax
    _, gemm, _ = command("explain", "gemm")
    assert "gemm(a, b, c=None, *," in gemm


@pytest.mark.parametrize(("word", "name"), [("relu", "ACTIVATION_RELU"), ("add", "ELEMENT_WISE_ADD")])
def test_the_last_word_of_a_name_leads_to_the_operator(command: Command, word: str, name: str) -> None:
    for asked in ("explain", "example"):
        status, out, _ = command(asked, word)
        assert status == 0 and name in out
