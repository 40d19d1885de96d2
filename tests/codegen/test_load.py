"""Tests of codegen.load: the specs load, and every problem is reported at its place."""

from __future__ import annotations

import importlib
import json
import pkgutil
import shutil
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bad_specs import BASE, cases, compare, edited, never_reported
from planned import planned

import codegen.load
from codegen import schema as schema_module
from codegen import source
from codegen.__main__ import make_plan
from codegen.diagnostics import Diagnostics, SpecError
from codegen.families import FAMILIES
from codegen.load import load
from codegen.source import Table

ROOT = Path(__file__).parents[2]
LOAD = [importlib.import_module(name) for _, name, _ in pkgutil.iter_modules(codegen.load.__path__, "codegen.load.")]
OTHERS = ("1", "-1.5", '"x"', "[]", "{ a = 1 }", '""', "true", '[{ a = "b" }]', "1979-05-27")


@pytest.mark.parametrize("case", cases("load"))
def test_bad_spec(case: Path, tmp_path: Path) -> None:
    compare(case, tmp_path, load)


@pytest.mark.parametrize("case", cases("kernel"))
def test_bad_kernel(case: Path, tmp_path: Path) -> None:
    compare(case, tmp_path, make_plan)


def test_every_error_of_load_has_a_bad_spec(tmp_path: Path) -> None:
    found = cases("load")
    folders = [tmp_path / str(number) for number in range(len(found))]
    runs = [
        lambda case=case, folder=folder: load(edited(case.values[0], folder))
        for case, folder in zip(found, folders, strict=True)
    ]
    assert never_reported([codegen.load, *LOAD], iter(runs)) == []


def test_the_base_is_good() -> None:
    specs = load(BASE)
    assert list(specs.operators) == ["SQUASH", "WIDEN"]
    assert make_plan(BASE).specs.operators.keys() == specs.operators.keys()


def test_all_operators_load() -> None:
    specs = planned().specs
    files = sorted((ROOT / "specs" / "operators").glob("*/*.toml"))
    assert sorted(operator.file for operator in specs.operators.values()) == [
        path.relative_to(ROOT).as_posix() for path in files
    ]
    assert len(specs.facts.catalogue) == 177
    assert len(specs.facts.levels) == 15


def test_problems_of_all_files_are_reported_together(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    shutil.copytree(BASE, root)
    for path in (root / "specs" / "operators").glob("*/*.toml"):
        path.write_text(path.read_text().replace("since = ", "sinse = ").replace("doc  ", "dok  "))
    with pytest.raises(SpecError) as caught:
        load(root)
    assert {error.span.file for error in caught.value.errors if error.span} == {
        "specs/operators/pad/widen.toml", "specs/operators/window_reduce/squash.toml",
    }  # fmt: skip
    assert "did you mean 'since'?" in str(caught.value)


def test_any_single_value_of_another_type_is_no_crash(tmp_path: Path) -> None:
    """Each value of a spec replaced in turn: loading reports, or accepts, but never fails otherwise."""
    root = tmp_path / "checkout"
    shutil.copytree(BASE, root)
    path = root / "specs" / "operators" / "pad" / "widen.toml"
    lines = path.read_text().split("\n")
    for number, line in enumerate(lines):
        key, equals, value = line.partition(" = ")
        if not equals or value.endswith("["):
            continue
        for other in [*OTHERS, *OTHERS][number % len(OTHERS) :][:2]:
            path.write_text("\n".join([*lines[:number], f"{key} = {other}", *lines[number + 1 :]]))
            try:
                make_plan(root)
            except SpecError as error:
                assert "specs/" in str(error)


# The schema --------------------------------------------------------------------------------------------------------


def keys_of_schema(node: Any, definitions: dict[str, Any]) -> set[str]:
    """The names of all keys of the tables that a schema describes."""
    if isinstance(node, list):
        return set().union(*(keys_of_schema(item, definitions) for item in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found = set(node.get("properties", {})) if node.get("additionalProperties") is False else set()
    return found.union(*(keys_of_schema(item, definitions) for item in node.values()))


def test_load_and_schema_agree_on_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    finish = Table.finish

    def record(self: Table) -> None:
        steps = [step for step in self.path if isinstance(step, str)]
        named = steps[-2:-1] in (["types"], ["ranks"]) or steps[-1:] in (["types"], ["ranks"], ["accuracy"])
        free = steps[:1] == ["kernel"] or steps[-1:] in (["inputs"], ["outputs"], ["axes"], ["sized"])
        if not (free or (named and len(steps) < 2)):
            asked.update(self._asked)
        finish(self)

    monkeypatch.setattr(Table, "finish", record)
    facts = load(ROOT).facts
    schema = schema_module.schema(facts, FAMILIES)
    assert keys_of_schema(schema, schema["$defs"]) == asked


def specs_of(root: Path) -> list[Path]:
    return sorted((root / "specs").rglob("*.toml"))


@pytest.mark.parametrize("root", [ROOT, BASE], ids=["specs", "base"])
def test_every_spec_validates(root: Path) -> None:
    schema = schema_module.schema((planned().specs if root == ROOT else load(root)).facts, FAMILIES)
    for path in specs_of(root):
        assert complaints(schema, tomllib.loads(path.read_text(encoding="utf-8"))) == [], path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('summary = "Widen a tensor."', "summary = 1"),
        ('family  = "pad"', 'family = "padding"'),
        ('since = "2_0", any', 'since = "2_5", any'),
        ('doc   = "Number of axes."', 'dok = "Number of axes."'),
        ('from   = "inferred"\n', ""),
    ],
)
def test_the_schema_refuses(old: str, new: str) -> None:
    pytest.importorskip("jsonschema")
    schema = schema_module.schema(load(BASE).facts, FAMILIES)
    text = (BASE / "specs" / "operators" / "pad" / "widen.toml").read_text()
    assert text.count(old) == 1
    assert complaints(schema, tomllib.loads(text)) == []
    assert complaints(schema, tomllib.loads(text.replace(old, new))) != []


def complaints(schema: dict[str, Any], data: dict[str, Any]) -> list[str]:
    """The complaints of jsonschema. Without jsonschema, the missing required keys of the tables at the top."""
    try:
        validator = validator_of(json.dumps(schema))
    except ImportError:
        kind = "an_operator" if isinstance(data.get("operator"), dict) else "a_group"
        kind = next((f"facts_{key}" for key in data if f"facts_{key}" in schema["$defs"] and key != "operator"), kind)
        if isinstance(data.get("operator"), list):
            kind = "facts_operator"
        known = schema["$defs"][kind]
        return [*(set(known["required"]) - data.keys()), *(data.keys() - known["properties"].keys())]
    return [error.message for error in validator.iter_errors(data)]


@cache
def validator_of(schema: str) -> Any:
    """The validator of a schema in JSON, which is itself checked once."""
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(json.loads(schema))
    return Draft202012Validator(json.loads(schema))


def test_the_committed_schema_is_json() -> None:
    assert json.loads((ROOT / schema_module.PATH).read_text())["$schema"].endswith("2020-12/schema")


def test_files_are_named_from_specs(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    with pytest.raises(SpecError) as caught:
        load(tmp_path)
    assert "cannot read specs/levels.toml: No such file or directory" in str(caught.value)
    assert source.load(tmp_path / "specs" / "none.toml", tmp_path / "specs", Diagnostics()) is None
