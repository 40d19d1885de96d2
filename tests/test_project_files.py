"""The files around the code say what the code and the gate say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
GATE = [line.strip() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()]
TEMPLATES = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def test_hooks_run_what_the_gate_runs() -> None:
    hooks = read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    commands = [re.sub(r"^bash -c '(.*)'$", r"\1", hook["entry"]) for hook in hooks]
    assert commands and [command for command in commands if command not in GATE] == []


def test_no_file_has_the_marks_of_a_merge() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git")
    found = subprocess.run(
        ["git", "grep", "-lE", "^(<{7}|>{7}) "], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.returncode) == ("", 1)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_templates_ask_for_a_model_and_for_the_machine(path: Path) -> None:
    template = read(path)
    fields = {part["id"]: part["attributes"]["label"] for part in template["body"]}
    assert "`dmlcy info`" in fields["info"]
    assert any(part["attributes"].get("render") == "json" for part in template["body"])
    assert template["name"] and template["description"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_is_there(path: Path) -> None:
    jobs = read(path)["jobs"].values()
    commands = "\n".join(step["run"] for job in jobs for step in job["steps"] if "run" in step)
    named = [*re.findall(r"bash ([\w./]+)", commands), *re.findall(r"pytest .*(tests/\w+)", commands)]
    named += [f"{name.replace('.', '/')}.py" for name in re.findall(r"python -m (tests[\w.]+)", commands)]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert all(job["timeout-minutes"] <= 300 for job in jobs)


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"] and project["project"]["dynamic"] == ["version"]


def shell(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The result of a command that knows the functions which the scripts share."""
    whole = ["bash", "-euc", f". .ci/oldest; {command}", "bash", *arguments]
    return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_oldest_numpy_is_named_in_pyproject_and_tested() -> None:
    """The gate reads the version, installs it, and runs tests of all operators; pages and the build name the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (oldest,) = [one.removeprefix("numpy>=") for one in project["project"]["dependencies"]]
    assert f"numpy>={oldest}" in project["build-system"]["requires"]
    assert f"NumPy {oldest} or newer" in (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert shell("oldest_numpy").stdout.split() == [oldest]
    for name in ("run", "deep", "oldest"):
        text = (ROOT / ".ci" / name).read_text(encoding="utf-8")
        assert not re.search(rf"numpy\W*{re.escape(oldest)}", text), name
        assert name == "oldest" or (". .ci/oldest\n" in text and "install_oldest " in text)
    (names,) = re.findall(r'/oldest/bin/pytest" .*tests/operators/test_\{(.*)\}\.py', "\n".join(GATE))
    assert {"examples", "reference", "properties", "bad_input", "limits"} <= {*names.split(",")}
    assert all((ROOT / "tests" / "operators" / f"test_{name}.py").exists() for name in names.split(","))


def test_the_gate_fails_beside_another_numpy(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" PYTHONDONTWRITEBYTECODE=1 exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (oldest,) = shell("oldest_numpy").stdout.split()
    for version, status in ((oldest, 0), (f"{oldest}.0", 0), (f"{oldest}.1", 1), ("1.26.4", 1), ("20.0", 1)):
        (tmp_path / "numpy.py").write_text(f'__version__ = "{version}"\n')
        found = shell('is_oldest "$1"', str(tmp_path))
        assert (found.returncode, version in found.stderr) == (status, bool(status)), found.stderr


def test_wheels_are_built_for_every_python_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = int(project["project"]["requires-python"].removeprefix(">=3."))
    built = [int(re.match(r"cp3(\d+)-", name)[1]) for name in project["tool"]["cibuildwheel"]["build"]]  # type: ignore[index]
    assert built == list(range(oldest, oldest + len(built)))


def test_the_docs_extra_imports_every_module_that_the_site_describes() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert "dmlcy.testing" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert set(extras["testing"]) <= set(extras["docs"])


def test_the_extras_that_pages_name_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = {name for found in re.findall(r"(?:dmlcy|\.)\[([a-z,]+)\]'", text) for name in found.split(",")}
    assert {"docs", "dask", "test", "testing"} <= named <= {*extras}


def test_each_conftest_is_checked_by_its_whole_name() -> None:
    """mypy finds the other files of the tests by itself, and says so where two have one name."""
    named = re.findall(r"^import tests\.(.+)$", (ROOT / "tests" / "whole_names.pyi").read_text(encoding="utf-8"), re.M)
    files = (ROOT / "tests").glob("*/conftest.py")
    assert {f"{path.parent.name}.conftest" for path in files} <= {*named}
    assert named == sorted(named)


MOST_LINES = 500
ROOMS = ("benchmarks", "codegen", "dmlcy", "docs", "examples")
HAND_WRITTEN = {".py", ".pyx", ".pxd", ".pxi", ".h", ".j2"}


def test_no_file_written_by_hand_has_more_than_500_lines() -> None:
    folders = [ROOT / name for name in (*ROOMS, "tests")]
    paths = [ROOT / "setup.py", *(path for folder in folders for path in folder.rglob("*"))]
    lines = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in paths
        if path.suffix in HAND_WRITTEN
        and not {"_generated", "golden"} & {*path.parts}
        and not path.read_text(encoding="utf-8").startswith("// Generated by ")
    }
    assert len(lines) > 200
    assert {name for name, count in lines.items() if count > MOST_LINES} == set()


MOST_OF_A_FUNCTION = 50


def test_no_function_outside_tests_has_more_than_50_lines() -> None:
    """Without its docstring, which describes the parameters of a public function."""
    paths = [ROOT / "setup.py", *(path for name in ROOMS for path in (ROOT / name).rglob("*.py"))]
    functions = {
        f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}": lines_of(node)
        for path in paths
        if "_generated" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert len(functions) > 5000
    assert {name for name, count in functions.items() if count > MOST_OF_A_FUNCTION} == set()


def lines_of(function: ast.FunctionDef) -> int:
    """The lines of a function, without its docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    described = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - described


MOST_ANY = {"codegen": 171, "dmlcy": 235}
"""How often a folder says Any, behind which no type checker looks: a new use takes the place of an older one."""


@pytest.mark.parametrize("room", MOST_ANY)
def test_any_is_not_said_more_often_than_before(room: str) -> None:
    paths = [path for kind in ("*.py", "*.pyi") for path in (ROOT / room).rglob(kind) if "_generated" not in path.parts]
    assert sum(len(re.findall(r"\bAny\b", path.read_text(encoding="utf-8"))) for path in paths) <= MOST_ANY[room]


def test_no_two_modules_of_tests_have_one_name() -> None:
    """Folders that are no packages share one namespace: of two modules of one name, only one is imported."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    several = [path for folder in folders if not (folder / "__init__.py").exists() for path in folder.glob("*.py")]
    names = Counter(path.name for path in several if path.name not in ("conftest.py", "__main__.py", "__init__.py"))
    assert [name for name, count in names.items() if count > 1] == []
