"""The ids of ONNX models: each is published and explained."""

from __future__ import annotations

import pytest
from each import each_of
from planned import specs

import dmlcy as dml
from codegen.model import ErrorText
from dmlcy._cli import main

ERRORS = [error for error in specs().facts.model_errors if error.id.startswith("DML-ONNX-")]


@each_of("error", ERRORS)
def test_each_is_explained(error: ErrorText) -> None:
    assert error.id in dml.specs.ids() and error.id in dml.specs.errors()


def test_the_command_explains_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ERRORS[0].id]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ERRORS[0].about in said and f"docs/reference/onnx_errors.md#{ERRORS[0].id}" in said
