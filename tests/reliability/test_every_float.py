"""The errors of functions are within the bounds, and what is beyond is noticed."""

from __future__ import annotations

from typing import Any

import every_float
import numpy as np
import pytest
from depth import deep

import dmlcy as dml

SAMPLE = ["--step", "262147", "--draws", "300000"]


@pytest.mark.parametrize("more", [SAMPLE, pytest.param(["--step", "4099", "--draws", "20000000"], marks=deep)])
def test_errors_are_within_the_bounds(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert every_float.main(more) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(every_float.operators()) + 2


@pytest.mark.parametrize(
    "wrong", [lambda y: y * np.float32(1 + 2**-21), lambda y: -y, lambda y: y + np.float32(np.nan)]
)
def test_what_is_beyond_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function = dml.element_wise_exp
    monkeypatch.setattr(dml, "element_wise_exp", lambda x: wrong(function(x)))
    assert every_float.main(["--only", "element_wise_exp", "--step", "262147"]) == 1
