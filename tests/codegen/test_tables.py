"""The tables of the package: their rows are the classes that the package has, and what is written is what was given."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
from planned import planned

from codegen import tables
from codegen.plan import Plan, rows
from codegen.plan.data import STATES
from codegen.plan.rows import Code

ROOT = Path(__file__).parents[2]
ROWS = {
    name: row
    for name, row in vars(rows).items()
    if dataclasses.is_dataclass(row) and isinstance(row, type) and row.__module__ == rows.__name__
}
OWN = {"Code", "FactRows"}  # which the package has no use for


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned()


@pytest.mark.parametrize("name", sorted({*ROWS, "DtypeRow", "RankRow"} - OWN))
def test_a_row_has_the_fields_and_defaults_of_the_package(name: str) -> None:
    package = pytest.importorskip("dmlcy._facts.rows", reason="dmlcy is not built")

    def shown(default: Any) -> Any:
        return "MISSING" if default in (rows.MISSING, package.MISSING) else default

    ours, theirs = (dataclasses.fields(getattr(where, name)) for where in (rows, package))
    assert [(field.name, shown(field.default)) for field in ours] == [
        (field.name, shown(field.default)) for field in theirs
    ]


def test_the_module_of_an_operator_gives_its_rows(plan: Plan) -> None:
    """All but the functions, which are compared by their text."""
    package = pytest.importorskip("dmlcy._facts.rows", reason="dmlcy is not built")
    for op in plan.operators:
        names: dict[str, Any] = {"__name__": "written"}
        text = tables.operator_module(op)
        exec(compile(text, op.name, "exec"), names)
        same(rows.operator_row(op), names["OPERATOR"], package)


def same(row: Any, found: Any, package: Any) -> None:
    if isinstance(row, Code):
        assert found is package.MISSING if row is rows.MISSING else callable(found)
    elif dataclasses.is_dataclass(row):
        assert type(found) is getattr(package, type(row).__name__)
        for field in dataclasses.fields(row):
            same(getattr(row, field.name), getattr(found, field.name), package)
    elif isinstance(row, tuple):
        assert type(found) is tuple
        for one, other in zip(row, found, strict=True):
            same(one, other, package)
    elif isinstance(row, dict):
        assert list(found) == list(row)
        for key, one in row.items():
            same(one, found[key], package)
    else:
        assert found == row and type(found) is type(row)


@pytest.mark.parametrize(
    "value", [(), (1,), (1, "a"), {}, {"a": (1, 2)}, frozenset(), frozenset({"b", "a"}), "\"'\n\\", -0.0, 1e300, True]
)
def test_a_value_is_written_as_python(value: Any) -> None:
    found = eval(tables.written(value))
    assert found == value and type(found) is type(value) and sorted(repr(found)) == sorted(repr(value))


def test_long_values_are_written_on_several_lines() -> None:
    value = {"a" * 60: ("b" * 50, "c"), "e" * 40: ("b" * 50, "c"), "d": (math.pi,)}
    text = tables.written(value)
    assert eval(text) == value and max(map(len, text.split("\n"))) < 120


def test_the_index_names_all_operators(plan: Plan) -> None:
    names: dict[str, Any] = {}
    exec(tables.index_module(plan), names)
    assert names["OPERATORS"] == {
        op.name: (op.python, op.desc, op.operator.family, op.operator.summary, op.state) for op in plan.operators
    }
    assert names["STATES"] == STATES and {op.state for op in plan.operators} <= {*STATES} - {"listed"}
    assert names["ENUMS"] == tuple(sorted(enum.python for enum in plan.enums))
