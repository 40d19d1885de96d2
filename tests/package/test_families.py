"""The specialties of a family of operators are in the files of this family, which are found by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.families import FAMILIES
from dmlcy._facts.tables import RUNNABLE
from dmlcy._families import Family, family_of

ROOT = Path(__file__).resolve().parents[2]
CODE = ("codegen", "dmlcy", "benchmarks")
OWN = re.compile(r"(^|/)_generated/|families/\w+(/|\.py$)")
OTHER = {("dmlcy/_cli/compare_text.py", "pad")}  # printed for an element of the padding
OTHER |= {(f"codegen/expr/{name}.py", "index") for name in ("cython", "python", "text", "types")}  # of a formula
OTHER |= {("dmlcy/_cli/__init__.py", "reduce"), ("dmlcy/_cli/reduce.py", "reduce")}  # a command
OTHER |= {("dmlcy/_desc/whole.py", "views"), ("dmlcy/_graph/actions.py", "views")}  # an optimization
OTHER |= {("codegen/pages/__init__.py", "index"), ("dmlcy/_cli/compare_json.py", "index")}  # a page, an element's place


def files(*folders: str) -> Iterator[tuple[str, str]]:
    """The hand-written files that are of no family, and their texts."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".py", ".j2", ".pyx", ".pxd", ".h") and not OWN.search(name):
                yield name, path.read_text(encoding="utf-8")


def strings(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def asks_for_a_family(tree: ast.AST) -> bool:
    """Whether an expression has ``x.family`` or ``x["family"]`` in it."""
    return "family" in strings(tree) or any(
        isinstance(node, ast.Attribute) and node.attr == "family" for node in ast.walk(tree)
    )


def test_code_names_no_family() -> None:
    found = set()
    for name, text in files(*CODE):
        quoted = strings(ast.parse(text)) if name.endswith(".py") else set(re.findall(r"[\"'](\w+)[\"']", text))
        found |= {(name, word) for word in quoted & FAMILIES.keys()}
    assert found == OTHER


def test_tests_compare_with_no_family() -> None:
    """The tests may have specs of real families, and words that mean something else."""
    for name, text in files("tests"):
        for node in ast.walk(ast.parse(text)) if name.endswith(".py") else ():
            if isinstance(node, ast.Compare | ast.Match) and asks_for_a_family(node):
                assert not strings(node) & FAMILIES.keys(), f"{name}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("name", {operator.family: operator for operator in RUNNABLE.values()})
def test_a_family_is_found_by_its_name_in_both_halves(name: str) -> None:
    found = family_of(next(operator for operator in RUNNABLE.values() if operator.family == name))
    assert isinstance(found, Family)
    assert type(found).__module__ == f"dmlcy._families.{name}.family"
    assert type(FAMILIES[name]).__module__ == f"codegen.families.{name}.family"
