"""Verdicts that agree are counted, and verdicts that differ are shown."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from verdicts import WAYS, run

import dmlcy as dml

NAME = "UNFOLD"
unfold = dml.unfold


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([NAME], 1, 0) == 0
    first, *ways, ids, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"1 operators, 1 draws of seed 0, \d+ s", first)
    for line, way in zip(ways, WAYS, strict=True):
        assert re.fullmatch(rf"{way} +[1-9]\d* valid +[1-9]\d* broken +[1-9]\d* ids", line), line
    assert re.fullmatch(r"[1-9]\d* of [1-9]\d* ids", ids) and last == "0 disagreements"


def accept(*_: Any, **__: Any) -> None:
    """Finds nothing wrong."""


@functools.wraps(unfold)
def accepting(**_: Any) -> None:
    """Finds nothing wrong."""


@functools.wraps(unfold)
def reversing(**arguments: Any) -> Any:
    """Finds the same in another order."""
    try:
        return unfold(**arguments)
    except dml.DmlError as error:
        raise type(error)(error.violations[::-1]) from None


@functools.wraps(unfold)
def raising(**arguments: Any) -> Any:
    """Finds the same, and raises another error."""
    try:
        return unfold(**arguments)
    except dml.InvalidDescError as error:
        raise dml.InvalidDataTypeError(error.violations) from None


@pytest.mark.parametrize(
    ("way", "name", "fault"),
    [
        ("descs", "agreement.TableOperator", accept),
        ("calls", "dmlcy.unfold", accepting),
        ("calls", "dmlcy.unfold", reversing),
        ("calls", "dmlcy.unfold", raising),
        ("compiled operators", "agreement.refuse_call", accept),
    ],
)
def test_faults_are_found(
    way: str, name: str, fault: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(name, fault)
    assert run([NAME], 0, 0) == 1
    shown = re.findall(rf"^{NAME}, (.*?) at ", capsys.readouterr().out, re.MULTILINE)
    assert {*shown} == {way}
