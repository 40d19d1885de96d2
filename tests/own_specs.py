"""Specs of the tests in place of those of the package: real operators of the catalogue, described and not compiled."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dmlcy as dml
from codegen.__main__ import make_plan
from codegen.diagnostics import Diagnostics
from codegen.emit import PACKAGE, emit
from codegen.lint import lint
from codegen.plan import Plan
from codegen.writer import Writer
from dmlcy._facts import shipped
from dmlcy._generated import index

ROOT = Path(__file__).resolve().parents[1]
SPECS = ROOT / "tests" / "constructs" / "specs"
FOLDERS = ("operators", "descs")


def generated(root: Path, specs: Iterable[Path]) -> Plan:
    """Makes everything that is generated of these specs, in a folder."""
    shutil.copytree(ROOT / "specs", root / "specs", ignore=shutil.ignore_patterns("operators", "ids.lock"))
    for path in specs:
        target = root / "specs" / "operators" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    plan = make_plan(root)
    diagnostics = Diagnostics()
    lint(plan.specs, diagnostics)
    diagnostics.raise_if_any()
    writer = Writer(root, check=False)
    emit(plan, writer)
    writer.finish(())
    return plan


def put_in_place(patch: pytest.MonkeyPatch, root: Path, plan: Plan, folders: Iterable[str] = FOLDERS) -> None:
    """The package has these operators; the caches of what it found before are the caller's to clear."""
    others = shipped.operator
    patch.setattr(shipped, "operator", lambda name: _shipped(root, name) or others(name))
    for op in plan.operators:
        # Found before: undoing the patch must not leave what these specs put in place.
        getattr(dml, op.python, None), getattr(dml.desc, op.desc, None)
        row = (op.python, op.desc, op.operator.family, op.operator.summary, op.state)
        patch.setitem(index.OPERATORS, op.name, row)
        for folder in folders:
            path = root / PACKAGE / folder / f"{op.python}.py"
            module = ModuleType(f"dmlcy._generated.{folder}.{op.python}")
            patch.setitem(sys.modules, module.__name__, module)
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))


def _shipped(root: Path, name: str) -> dict[str, Any]:
    path = root / PACKAGE / "specs" / "operators" / f"{name.lower()}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def describe(patch: pytest.MonkeyPatch, root: Path, plan: Plan) -> None:
    """The package has these operators as a user sees them: their functions, their descs and their ids, too."""
    put_in_place(patch, root, plan, (*FOLDERS, "functions"))
    patch.setattr(shipped, "folder", lambda: root / PACKAGE / "specs")
    for op in plan.operators:
        patch.setattr(dml, op.python, getattr(sys.modules[f"dmlcy._generated.functions.{op.python}"], op.python))
        patch.setattr(dml.desc, op.desc, getattr(sys.modules[f"dmlcy._generated.descs.{op.python}"], op.desc))
