"""The ids of ONNX models: each is published and explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from each import each_of
from planned import specs
from small_models import CASES, RUNS, Node, ids_of, ids_of_run, small

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._frontends.onnx.loading import CompiledModel

ERRORS = [error for error in specs().facts.model_errors if error.id.startswith("DML-ONNX-")]


def test_each_is_published() -> None:
    assert {error.id for error in ERRORS} <= dml.specs.ids().keys() & dml.specs.errors().keys()


def test_the_command_explains_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ERRORS[0].id]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ERRORS[0].about in said and f"docs/reference/onnx_errors.md#{ERRORS[0].id}" in said


@each_of("case", CASES)
def test_each_of_a_node_is_found(case: tuple[str, bytes, Mapping[str, Any]]) -> None:
    slug, data, options = case
    assert f"DML-ONNX-{slug}" in ids_of(data, **options)


@pytest.mark.parametrize("case", RUNS, ids=[slug for slug, *_ in RUNS])
def test_each_of_a_run_is_found(case: tuple[str, bytes, Callable[[CompiledModel], object]]) -> None:
    slug, data, run = case
    assert ids_of_run(data, run) == {f"DML-ONNX-{slug}"}


def test_a_valid_model_has_none() -> None:
    assert ids_of(small([Node("Relu", "x", "h"), Node("Tanh", "h", "y")], {"x": ("FLOAT", (2, 3))})) == set()
