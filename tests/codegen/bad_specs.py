"""The deliberately bad specs below bad/: each case edits a copy of bad/base, and the expected report is beside it.

A case is a TOML file of ``[[edit]]``: ``old``, which is in ``file`` once, becomes ``new``. Without ``old``, ``new`` is
appended. The default of ``file`` is the spec of WIDEN. CODEGEN_REWRITE=1 writes what is reported instead of comparing
it.
"""

from __future__ import annotations

import ast
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from codegen.diagnostics import Diagnostics, SpecError

BAD = Path(__file__).parent / "bad"
BASE = BAD / "base"
WIDEN = "specs/operators/pad/widen.toml"


def cases(kind: str) -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in sorted((BAD / kind).glob("*.toml"))]


def edited(case: Path, folder: Path) -> Path:
    """A copy of the base with the edits of a case."""
    root = folder / "checkout"
    shutil.copytree(BASE, root)
    for edit in tomllib.loads(case.read_text(encoding="utf-8"))["edit"]:
        path = root / edit.get("file", WIDEN)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if "old" in edit:
            assert text.count(edit["old"]) == 1, f"{case.name}: not there, or more than once: {edit['old']!r}"
            text = text.replace(edit["old"], edit["new"])
        else:
            text += edit["new"]
        path.write_text(text, encoding="utf-8")
    return root


def compare(case: Path, folder: Path, run: Callable[[Path], object]) -> None:
    """The run reports the text of the file beside the case."""
    with pytest.raises(SpecError) as caught:
        run(edited(case, folder))
    assert all(error.span or error.message.startswith("the ") for error in caught.value.errors)
    text, path = f"{caught.value}\n", case.with_suffix(".txt")
    if os.environ.get("CODEGEN_REWRITE"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "run with CODEGEN_REWRITE=1"
    assert text == path.read_text(encoding="utf-8")


def never_reported(modules: list[ModuleType], runs: Iterator[Callable[[], object]]) -> list[str]:
    """Calls of error() and report() in the modules through which none of the runs reports anything."""
    calls: dict[tuple[str, int], range] = {}
    for module in modules:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
            if isinstance(node, ast.Call) and name in ("error", "report", "texts"):
                calls[module.__name__, node.lineno] = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    missed = dict(calls)
    original = Diagnostics.error

    def record(self: Diagnostics, *arguments: Any, **named: Any) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            for place, lines in calls.items():
                if frame.f_globals.get("__name__") == place[0] and frame.f_lineno in lines:
                    missed.pop(place, None)
            frame = frame.f_back
        original(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Diagnostics, "error", record)
        for run in runs:
            with pytest.raises(SpecError):
                run()
    return [f"{name}:{line}" for name, line in missed]
