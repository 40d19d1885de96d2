"""The lines about dmlcy itself and about the machine."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._cli import info, main
from dmlcy._facts.tables import CATALOGUE, FAST, LEVELS, RUNNABLE, STATES, state_of
from dmlcy._runtime import isa, threads


def run(*arguments: str, **environment: str) -> str:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "dmlcy", "info", *arguments]
    kept = {name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "COLUMNS")}
    done = subprocess.run(command, env=kept | environment, capture_output=True, text=True, check=False, cwd=Path.home())
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def facts() -> dict[str, Any]:
    return info.collect()


def test_facts(facts: dict[str, Any]) -> None:
    assert json.loads(json.dumps(facts)) == facts
    assert (facts["version"], facts["dmlcy"]) == (1, dml.__version__)
    assert facts["numpy"] == np.__version__
    assert facts["python"].endswith(".".join(map(str, sys.version_info[:3])))
    assert Path(facts["location"]) == Path(dml.__file__).resolve().parent
    assert facts["build"]["threads"] == threads.threads_available()
    assert re.fullmatch(r"(gcc|clang|msvc) \d.*|unknown", facts["build"]["compiler"])
    assert facts["processor"]["used"] == isa.used() and facts["processor"]["vnni"] == isa.vnni()
    assert facts["processor"]["level"] == {"name": isa.level(), "why": isa.why(), "allowed": isa.levels()}
    assert facts["processor"]["features"] == sorted(set(facts["processor"]["features"]))
    states = {state: sum(state_of(name) == state for name in CATALOGUE) for state in STATES}
    assert facts["operators"] == {**states, "all": len(CATALOGUE)}
    assert facts["feature_levels"] == {"oldest": "1_0", "newest": LEVELS[-1].name, "number": len(LEVELS)}


def test_the_limits_give_the_threads() -> None:
    plain = json.loads(run("--format", "json"))["threads"]
    assert plain["number"] == min(limit["threads"] for limit in plain["limits"])
    one = json.loads(run("--format", "json", OMP_NUM_THREADS="1"))["threads"]
    assert one["number"] == 1
    assert {"threads": 1, "why": "OMP_NUM_THREADS"} in one["limits"]
    strange = json.loads(run("--format", "json", OMP_NUM_THREADS="\x1b[2J"))["threads"]
    assert strange == plain


def test_text() -> None:
    text = run()
    assert f"dmlcy {dml.__version__}\n" in text
    fast, runnable, every = len(FAST), len(RUNNABLE), len(CATALOGUE)
    counts = {"fast": fast, "reference": runnable - fast, "described": every - runnable}
    states = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    assert f" {states}: {len(CATALOGUE)} in all\n" in text
    assert threads.compiler() in text and np.__version__ in text
    assert "processors that the process may run on" in text
    assert f"Threads: {json.loads(run('--format', 'json'))['threads']['number']}, the least of\n" in text
    for line in text.splitlines():
        assert line.isprintable() and (len(line) <= 100 or len(line.split()) <= 2)


def test_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "threads_available", lambda: False)
    assert next(info.limits()) == {"threads": 1, "why": "built without threads"}


CPUINFO = (
    "processor\t: 0\nmodel name\t: Some\x1b[31m chip\nflags\t\t: sse2 avx\n\nprocessor\t: 1\nmodel name\t: Other\n"
)


def test_features_without_numpy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(info, "import_module", missing)
    monkeypatch.setattr(info, "CPUINFO", tmp_path / "cpuinfo")
    assert info.features() == []
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    assert info.features() == ["avx", "sse2"]
    assert info.processor() == "Some\\x1b[31m chip"


def test_a_machine_that_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(info, "CPUINFO", tmp_path)
    monkeypatch.setattr(info, "import_module", lambda name: None)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(isa, "used", list)
    monkeypatch.setattr(isa, "vnni", list)
    monkeypatch.setattr(threads, "threads_available", lambda: False)
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert (
        "Features   unknown" in text
        and "Used       the baseline" in text
        and "one thread" in text
        and "VNNI       none" in text
    )
