"""How codegen may depend on itself and on others, and what its texts may name."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from each import each_of

from codegen.model import snake

ROOT = Path(__file__).parents[2]
CODEGEN = ROOT / "codegen"
# Each module imports only from modules before it. The writer is before emit, which hands its files to it. The command
# line calls schema, show, new and ids, which are outside the pipeline.
ORDER = (
    "diagnostics", "source", "expr", "model", "notice", "names", "field_types", "load", "lint", "schema", "show", "new",
    "families", "plan", "tables", "modules", "headers", "pages", "figures", "ids", "writer", "store", "emit",
    "incremental", "compiling", "__main__",
)  # fmt: skip
INSIDE = {
    "expr": (
        "nodes", "parse", "composed", "types", "present", "text", "latex", "python", "numbers", "cython", "c",
        "half_bits",
    ),
    "field_types": ("base", "*", "__init__"),
    "load": (
        "reading", "bindings", "facts", "formulas", "fields", "rules", "examples", "equivalents", "operator", "onnx",
        "__init__",
    ),
    "model": ("bindings", "facts", "examples", "fields", "onnx", "operator", "__init__"),
    "figures": ("evaluate", "tiles", "shown", "tensors", "panels", "__init__"),
    "families": ("base", "windows", "*", "__init__"),
    "plan": ("taken", "step", "data", "levels", "steps", "tables", "unjudged", "planner", "rows", "__init__"),
    "pages": (
        "markdown", "values", "speed", "shapes", "levels", "enums", "codes", "catalogue", "marked", "errors",
        "equivalents", "described", "independent", "versions", "unjudged", "operator", "onnx", "stubs",
        "graph_stub", "bindings", "__init__",
    ),
}  # fmt: skip
ALLOWED = {"jinja2"}
# expr reads no files; families and plan are given what load has read.
NEVER = {"expr": {"source"}, "families": {"load", "lint"}, "writer": {"diagnostics", "source"}}


def modules(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.py")):
        yield ".".join(path.relative_to(folder.parent).with_suffix("").parts), path


def imports(name: str, path: Path) -> set[str]:
    """Absolute names of the modules that a module imports."""
    package = name.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            plain = node.module is None or (CODEGEN.parent / Path(*module.split("."))).is_dir()
            found.update(f"{module}.{alias.name}" for alias in node.names) if plain else found.add(module)
    return found


def part(name: str) -> str:
    """The step of the pipeline that a module of codegen belongs to."""
    return name.split(".")[1]


def step(name: str, order: tuple[str, ...]) -> str:
    """The place of a module, or of a name in it, in the order of its folder. ``*`` is for files that do not know each
    other.
    """
    folder, module = [*name.split("."), "__init__"][1:3]
    if module in order:
        return module
    beside = CODEGEN / folder / module
    return "*" if "*" in order and (beside.is_dir() or beside.with_suffix(".py").is_file()) else "__init__"


@each_of("name, path", [item for item in modules(CODEGEN) if item[0] != "codegen.__init__"])
def test_imports_go_one_way(name: str, path: Path) -> None:
    own = part(name)
    assert own in ORDER, "give the module its place in ORDER"
    for imported in imports(name, path):
        if not imported.startswith("codegen"):
            continue
        other = part(imported)
        assert other not in NEVER.get(own, ()), imported
        if other == own:
            order = INSIDE[own]
            if name.split(".")[:3] == imported.split(".")[:3] and (CODEGEN / own / name.split(".")[2]).is_dir():
                continue  # files of one family
            assert order.index(step(imported, order)) < order.index(step(name, order)), imported
        else:
            assert ORDER.index(other) < ORDER.index(own), imported


def test_codegen_needs_jinja2_only() -> None:
    import sys

    for name, path in modules(CODEGEN):
        for imported in imports(name, path):
            top = imported.split(".")[0]
            assert top in sys.stdlib_module_names or top in ALLOWED or top == "codegen", f"{name} imports {imported}"


def test_the_package_never_imports_codegen() -> None:
    for name, path in modules(ROOT / "dmlcy"):
        said = "codegen" in path.read_text(encoding="utf-8")  # of hundreds of files few are parsed
        assert not (said and any(imported.split(".")[0] == "codegen" for imported in imports(name, path))), name
    for path in (ROOT / "dmlcy").rglob("*.p[yx]*"):
        if path.suffix in (".pyx", ".pxd"):
            assert not re.search(r"^\s*(from|c?import)\s+codegen\b", path.read_text(encoding="utf-8"), re.M), path


@cache
def operator_names() -> frozenset[str]:
    with (ROOT / "specs" / "catalogue.toml").open("rb") as file:
        return frozenset(row["name"] for row in tomllib.load(file)["operator"])


@cache
def spellings(names: frozenset[str]) -> frozenset[str]:
    """Names of operators in a text: in capitals always, and in small letters where the name is no common word."""
    small = {name.lower() for name in names if re.search(r"[_0-9]", name)}
    desc = {"".join(word.capitalize() for word in name.split("_")) for name in names if re.search(r"[_0-9]", name)}
    return names | small | desc


def named(text: str, names: frozenset[str]) -> frozenset[str]:
    """The spellings that are in a text."""
    return spellings(names) & {*re.findall(r"\w+", text)}


@each_of("path", [p for p in sorted(CODEGEN.rglob("*")) if p.is_file() and p.suffix in (".py", ".j2", ".md", ".txt")])
def test_no_operator_is_named(path: Path) -> None:
    """Help and comments too: what is special about an operator belongs into its spec."""
    assert named(path.read_text(encoding="utf-8"), operator_names()) == set()


def test_names_are_found() -> None:
    names = operator_names()
    assert len(names) == 177
    text = "if name == 'ROI_POOLING' or x.average_pooling: # AveragePooling; tile, fold, padding, join, TILE"
    assert named(text, names) == {"ROI_POOLING", "average_pooling", "AveragePooling", "TILE"}
    assert snake("ROITensor") == "roi"
