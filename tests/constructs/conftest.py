"""Operators whose specs are in specs/ beside this file, in place of those of the package; they compile nothing.

Each is a real operator of the catalogue, with a small spec that has one construct of the language.
"""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from codegen.__main__ import make_plan
from codegen.diagnostics import Diagnostics
from codegen.emit import PACKAGE, emit
from codegen.lint import lint
from codegen.plan import Plan
from codegen.writer import Writer
from dmlcy._facts import rows
from dmlcy._generated import index
from dmlcy._testing import broken, walk

ROOT = Path(__file__).parents[2]
SPECS = Path(__file__).parent / "specs"


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    """A folder with these specs and everything that is generated of them."""
    root = tmp_path_factory.mktemp("constructs")
    shutil.copytree(ROOT / "specs", root / "specs", ignore=shutil.ignore_patterns("operators", "ids.lock"))
    for path in SPECS.glob("*/*.toml"):
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
    return root, plan


@pytest.fixture(scope="module", autouse=True)
def operators(checkout: tuple[Path, Plan]) -> Iterator[Plan]:
    """The package, with these operators."""
    root, plan = checkout
    caches = (rows._docs, rows._interpretations, rows._examples, broken.ways_of, walk.starts)
    with pytest.MonkeyPatch.context() as patch:
        others = rows.shipped.operator
        patch.setattr(rows.shipped, "operator", lambda name: _shipped(root, name) or others(name))
        for op in plan.operators:
            row = (op.python, op.desc, op.operator.family, op.operator.summary, op.state)
            patch.setitem(index.OPERATORS, op.name, row)
            for folder in ("operators", "descs"):
                path = root / PACKAGE / folder / f"{op.python}.py"
                module = ModuleType(f"dmlcy._generated.{folder}.{op.python}")
                patch.setitem(sys.modules, module.__name__, module)
                exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
        for cache in caches:
            cache.cache_clear()
        yield plan
    for cache in caches:
        cache.cache_clear()


def _shipped(root: Path, name: str) -> dict[str, Any]:
    path = root / PACKAGE / "specs" / "operators" / f"{name.lower()}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
