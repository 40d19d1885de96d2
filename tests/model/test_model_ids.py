"""Every id of model files is triggered by the change of a valid model that its spec gives, and nothing else is."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import execute, parse
from planned import specs

from codegen.model import ErrorText
from dmlcy._cli.example import model
from dmlcy._errors import ModelError
from dmlcy._facts.tables import FAST

ERRORS = specs().facts.model_errors
BREAKABLE = [error for error in ERRORS if error.breaks and error.id.startswith("DML-MODEL-")]
FIRST = next(one for one in FAST.values() if not one.in_place and {"input", "output"} <= {f.python for f in one.fields})
VALID = model(FIRST, FIRST.examples[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the changes name, which are all wrong."""
    for name in ("three.bin", "three.npy"):
        (tmp_path / name).write_bytes(b"abc")
    np.save(tmp_path / "bool.npy", np.ones(4, bool))
    (tmp_path / "folder.npy").mkdir()
    return tmp_path


def changed(path: str, value: Any, whole: Any) -> str:
    """The model with a value replaced, as text."""
    if not path:
        return str(value)
    whole = copy.deepcopy(whole)
    *steps, last = path.split(".")
    owner = whole
    for step in steps:
        owner = (
            owner[int(step)] if isinstance(owner, list) else next(iter(owner.values())) if step == "*" else owner[step]
        )
    owner[int(last) if isinstance(owner, list) else last] = value
    return json.dumps(whole)


def test_the_unbroken_model_is_valid(folder: Path) -> None:
    found = parse(json.dumps(VALID), folder)
    assert not (found.problems or found.warnings)
    assert execute(json.dumps(VALID), folder)


@pytest.mark.parametrize("error", BREAKABLE, ids=lambda error: error.id)
def test_one_change_gives_its_id(error: ErrorText, folder: Path) -> None:
    ((path, value),) = error.breaks.items()
    text = changed(path, value, VALID)
    try:
        found = parse(text, folder)
        ids = {problem.violation.id for problem in found.warnings}
        if not found.problems:
            execute(text, folder, output_path=folder)
    except ModelError as refused:
        ids = {violation.id for violation in refused.violations}
    else:
        ids |= {problem.violation.id for problem in found.problems}
    assert ids == {error.id}
