"""``dmlcy operators``: the operators of a level, those built and the others."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import dmlcy as dml
from dmlcy._facts.tables import CATALOGUE, DTYPES, LEVELS, OPERATORS

Command = Callable[..., tuple[int, str, str]]


class TestOperators:
    def test_all(self, command: Command) -> None:
        status, out, err = command("operators")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        for name, entry in CATALOGUE.items():
            (line,) = [line for line in lines if line.split()[:1] == [name]]
            assert line.split()[1] == entry.since
            assert (OPERATORS[name].python in line) if name in OPERATORS else len(line.split()) == 3
            assert len(line) <= 100
        built, rest = len(OPERATORS), len(CATALOGUE) - len(OPERATORS)
        assert lines[-1] == f"Level 6_4 has {len(CATALOGUE)} operators: {built} done, {rest} not yet built."

    @pytest.mark.parametrize("level", [level.name for level in LEVELS])
    def test_json(self, command: Command, level: str) -> None:
        status, out, _ = command("operators", "--format", "json", "--feature-level", level)
        report = json.loads(out)
        rows = {row["name"]: row for row in report["operators"]}
        assert (status, report["feature_level"]) == (0, level)
        assert [*rows] == sorted(name for name in CATALOGUE if dml.supports(name, level=level))
        for name, row in rows.items():
            assert (row["status"] == "done") == (name in OPERATORS)
            assert row["source"].startswith("https://")
            if name in OPERATORS:
                assert row["data_types"] and row["dimensions"]
                for dtype in DTYPES:
                    assert dml.supports(name, dtype=dtype, level=level) == (dtype in row["data_types"])
                for rank in range(10):
                    assert dml.supports(name, rank=rank, level=level) == (rank in row["dimensions"])
        totals = report["totals"]
        assert totals["all"] == len(rows) == totals["done"] + totals["not yet built"]

    def test_some(self, command: Command) -> None:
        for option, status in (("--built", "done"), ("--unbuilt", "not yet built")):
            report = json.loads(command("operators", option, "--format", "json")[1])
            assert {row["status"] for row in report["operators"]} == {status}
            assert len(report["operators"]) == report["totals"][status]
        assert "Not yet built" not in command("operators", "--built")[1]
        assert "Done" not in command("operators", "--unbuilt")[1]

    @pytest.mark.parametrize(
        "arguments", [("--built", "--unbuilt"), ("--feature-level", "9_9\x1b"), ("--format", "xml"), ("more",)]
    )
    def test_usage(self, command: Command, arguments: tuple[str, ...]) -> None:
        status, out, err = command("operators", *arguments)
        assert (status, out) == (2, "")
        assert "\x1b" not in err and "Traceback" not in err
