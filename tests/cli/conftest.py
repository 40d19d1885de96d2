"""Fixtures that the tests of the commands share."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from exchange import EXAMPLES, copied, expect

from dmlcy._cli import main
from dmlcy._cli.example import model

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command: its status, and what it wrote."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as error:
            status = int(str(error.code))
        written = capsys.readouterr()
        return status, written.out, written.err

    return run


@pytest.fixture(scope="session")
def folder_of_pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the expected values of an average and of a copy, and actual values that pass."""
    chosen = {operator.name: model(operator, operator.examples[0]) for operator, _ in EXAMPLES}
    first, second = chosen["AVERAGE_POOLING"], chosen["UNFOLD"]
    for command_ in second["commands"]:
        for key, name in command_.get("bindings", {"": ""}).items():
            command_.setdefault("bindings", {})[key] = f"u{name}"
    whole = {
        "resources": {**first["resources"], **{f"u{name}": value for name, value in second["resources"].items()}},
        "dispatchables": {**first["dispatchables"], **second["dispatchables"]},
        "commands": [first["commands"][0], second["commands"][0]],
    }
    folder = tmp_path_factory.mktemp("pair")
    copied(expect(folder, whole), folder / "actual")
    return folder


@pytest.fixture
def pair(folder_of_pair: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Expected and actual values of a test's own."""
    shutil.copytree(folder_of_pair, tmp_path, dirs_exist_ok=True)
    return tmp_path / "expected", tmp_path / "actual"
