"""Imports of the package go one way: each room knows those before it, and no file is part of a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dmlcy

PACKAGE = Path(dmlcy.__file__).parent
# What is generated holds facts and calls; dmlcy/__init__.py, the last but one, imports the rest when it is asked for.
ORDER = (
    "_version", "_words", "_errors", "_generated", "_runtime", "_facts", "_field_types", "_check", "_desc",
    "_arithmetic", "_families", "_reference", "_graph", "_frontends", "_record", "_judge", "_testing", "_dask", "specs",
    "desc", "dask", "graph", "onnx", "directml", "_show", "_cli", "_conformance", "testing", "__init__", "__main__",
)  # fmt: skip
FILES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if "_generated" not in path.parts
}


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports anywhere, for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dmlcy":
            module = (node.module or "").partition(".")[2]
            for alias in node.names:
                inner = f"{module}.{alias.name}".strip(".")
                yield inner if inner in FILES else module or "__init__"
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2] or "__init__" for alias in node.names if alias.name[:5] == "dmlcy")


def room(module: str) -> int:
    return ORDER.index(module.partition(".")[0])


@pytest.mark.parametrize("module", FILES)
def test_a_room_knows_those_before_it(module: str) -> None:
    assert [other for other in imports(FILES[module]) if room(other) > room(module)] == []


def test_no_file_is_part_of_a_circle() -> None:
    left = {module: {other for other in imports(path) if other in FILES} for module, path in FILES.items()}
    while ready := {module for module, needs in left.items() if not needs & left.keys()}:
        left = {module: needs for module, needs in left.items() if module not in ready}
    assert left == {}


def test_the_runtime_asks_for_nothing_above_the_errors() -> None:
    """Except where it refuses: what explains a refusal is imported then."""
    for path in (PACKAGE / "_runtime").glob("*.p[yx]*"):
        if path.suffix in (".pyx", ".pxd"):
            found = re.findall(r"^(?:from|c?import) dmlcy\.(\w+)", path.read_text(encoding="utf-8"), re.M)
            assert [name for name in found if ORDER.index(name) > ORDER.index("_runtime")] == [], path.name
