"""Imports of the package go one way: each room knows those before it, and no file is part of a circle."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from each import each_of

import dmlcy

PACKAGE = Path(dmlcy.__file__).parent
# dmlcy/__init__.py, the last but one, imports the rest when it is asked for.
ORDER = (
    "_version", "_types", "_words", "_errors", "_generated", "_runtime", "_facts.shipped", "_facts.rows",
    "_generated.facts", "_generated.operators", "_facts", "_field_types", "_check", "_desc.operator_desc",
    "_generated.descs", "_desc", "_arithmetic", "_families", "_reference", "_generated.functions", "_compile", "_graph",
    "_frontends", "_generated.directml.functions", "_record", "_judge", "_testing", "_dask", "_generated.dask",
    "specs", "desc", "dask", "graph", "onnx", "directml", "_show", "_cli", "_conformance", "testing", "__init__",
    "__main__",
)  # fmt: skip
OF_AN_OPERATOR = ("operators", "descs", "functions", "dask")
"""The folders of generated files with a file for each operator; one with loops and one without stand for them."""

STAND_FOR_ALL = ("average_pooling", "element_wise_add1")


def is_looked_at(path: Path) -> bool:
    """Not the types of arguments, which are for type checkers only, of all rooms."""
    if path.match("_generated/arguments.py"):
        return False
    return path.parent.name not in OF_AN_OPERATOR or "_generated" not in path.parts or path.stem in STAND_FOR_ALL


FILES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if is_looked_at(path)
}


def named(tree: ast.AST) -> Iterator[str]:
    """The modules of the package that are named in texts, to be imported later: ``"dmlcy.one.two"``.

    The text before a hole is the beginning of a name, and stands for all modules that begin so.
    """
    for node in ast.walk(tree):
        parts = node.args if isinstance(node, ast.Call) else [node] if isinstance(node, ast.Dict | ast.DictComp) else []
        for text in (inner for part in parts for inner in ast.walk(part) if isinstance(inner, ast.Constant)):
            if isinstance(text.value, str) and re.fullmatch(r"dmlcy(\.\w+)+\.?", text.value):
                name = text.value.partition(".")[2]
                yield from [one for one in FILES if one.startswith(name)] if name[-1] == "." else [name]


@functools.cache
def imports(path: Path) -> tuple[str, ...]:
    """The modules of the package that a file imports anywhere, for type checkers too, or names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (*named(tree), *imported(tree))


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of the package that are imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dmlcy":
            module = (node.module or "").partition(".")[2]
            for alias in node.names:
                inner = f"{module}.{alias.name}".strip(".")
                yield inner if inner in FILES else module or "__init__"
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2] or "__init__" for alias in node.names if alias.name[:5] == "dmlcy")


def room(module: str) -> int:
    """The place of the longest name in ORDER that the module begins with."""
    parts = module.split(".")
    return next(ORDER.index(one) for n in range(len(parts), 0, -1) if (one := ".".join(parts[:n])) in ORDER)


@each_of("module", FILES)
def test_a_room_knows_those_before_it(module: str) -> None:
    assert [other for other in imports(FILES[module]) if room(other) > room(module)] == []


def test_no_file_is_part_of_a_circle() -> None:
    left = {
        module: {other for other in imports(path) if other in FILES and other != module}
        for module, path in FILES.items()
    }
    while ready := {module for module, needs in left.items() if not needs & left.keys()}:
        left = {module: needs for module, needs in left.items() if module not in ready}
    assert left == {}


def test_the_runtime_asks_for_nothing_above_the_errors() -> None:
    """Except where it refuses: what explains a refusal is imported then."""
    for path in (PACKAGE / "_runtime").glob("*.p[yx]*"):
        if path.suffix in (".pyx", ".pxd"):
            found = re.findall(r"^(?:from|c?import) dmlcy\.(\w+)", path.read_text(encoding="utf-8"), re.M)
            assert [name for name in found if ORDER.index(name) > ORDER.index("_runtime")] == [], path.name
