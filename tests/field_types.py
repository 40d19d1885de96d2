"""The names of field types, and where a file asks for one by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from codegen.field_types import FIELD_TYPES, MEMBER_OF

COMMON = {"bool", "enum", "float", "int", "tensor"}
"""Names that are words of C, Python or DirectML too: a file may write them, but not compare with them."""
ASKING = {"startswith", "removeprefix", "partition", "split"}
"""Methods that compare with what they are given."""


def asked(path: Path) -> set[str]:
    """The names of types that a file holds, in Python as a literal, in a template as a word in quotes."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return set(re.findall(r"[\"'](\w+)[\"']", text)) & (FIELD_TYPES.keys() - COMMON)
    tree = ast.parse(text)
    compared = {name for node in ast.walk(tree) for name in literals(node) if name in COMMON}
    return compared | {name for name in constants(tree) if MEMBER_OF in name or name in FIELD_TYPES.keys() - COMMON}


def constants(node: ast.AST) -> Iterator[str]:
    """The texts below a node that are values."""
    for found in ast.walk(node):
        if isinstance(found, ast.Constant) and isinstance(found.value, str) and not re.search(r"\s", found.value):
            yield found.value


def literals(node: ast.AST) -> Iterator[str]:
    """The texts with which a node compares."""
    if isinstance(node, ast.Compare):
        yield from (name for part in (node.left, *node.comparators) for name in constants(part))
    elif isinstance(node, ast.MatchValue):
        yield from constants(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING:
        yield from (name for part in node.args for name in constants(part))
