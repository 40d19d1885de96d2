"""The graphs of the examples: what one gives, the report and the picture of the one with mistakes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dmlcy._cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"^dmlcy (graph .*) > (.*)$", PAGE, re.MULTILINE)


def test_the_graph_prints_what_the_page_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (command,) = re.findall(r"^\$ dmlcy (run examples/graphs/.*)$", PAGE, re.MULTILINE)
    assert main(shlex.split(command)) == 0
    optimizations, last = capsys.readouterr().out.splitlines()[1:]
    assert f"{optimizations}\n{last}\n" in PAGE and last.startswith("Output 'directions', FLOAT32 1x1x1x2: 0.95")


@pytest.mark.parametrize(("command", "file"), PICTURES)
def test_the_committed_pictures_are_true(
    command: str, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 1
    assert capsys.readouterr().out == Path(file).read_text(encoding="utf-8"), f"Run: dmlcy {command} > {file}"


def test_there_is_a_picture() -> None:
    assert [Path(file).suffix for _, file in PICTURES] == [".svg"]
