"""A type of fields is one file of the package, as it is one file of codegen, and nothing else asks for it by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from each import each_of
from field_types import asked

import dmlcy
from codegen.field_types import FIELD_TYPES
from codegen.field_types.base import Tensors
from dmlcy._field_types import FieldType, type_of

PACKAGE = Path(dmlcy.__file__).parent
OUTSIDE = [
    path
    for path in sorted(PACKAGE.rglob("*"))
    if path.suffix in (".py", ".pyx", ".pxd") and not {"_generated", "_field_types"} & {*path.parts}
    if path.parent.name != "onnx" and "onnx" not in path.parent.parts  # whose data types and attributes have such names
]


def test_the_package_has_the_types_of_codegen() -> None:
    room = PACKAGE / "_field_types"
    files = {path.stem for path in room.glob("*.py") if _defines_a_type(path)}
    assert files == FIELD_TYPES.keys()


def _defines_a_type(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TYPE" for node in body)


@pytest.mark.parametrize("name", FIELD_TYPES)
def test_a_type_has_words_for_an_explanation(name: str) -> None:
    found = type_of(name)
    assert isinstance(found, FieldType) and found is type_of(name)
    assert found.words("input", None) or name == "enum"  # whose words are the name of the enum


def test_what_a_call_takes_a_desc_takes() -> None:
    for name, kind in FIELD_TYPES.items():
        taken = type(type_of(name)).resolve is not FieldType.resolve
        assert taken != isinstance(kind, Tensors), name


@each_of("path", OUTSIDE)
def test_nothing_else_asks_for_a_type_by_name(path: Path) -> None:
    assert asked(path) == set()


def test_names_are_found(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(
        'if field.type in ("uint", "bool") or field.type.startswith("enum:"): pass\n'
        'match kind:\n    case "tensor": found = {"size_2d": 1, "float": 2}\n'
    )
    assert asked(file) == {"uint", "bool", "enum:", "tensor", "size_2d"}
