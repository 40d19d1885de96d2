"""The specs as data: every file is there and parses, and says what the package's own tables say."""

from __future__ import annotations

import doctest
import functools
import inspect
import math
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from each import each_of
from planned import specs

import dmlcy as dml
from codegen import ids
from codegen.diagnostics import Diagnostics
from codegen.expr.parse import parse
from codegen.expr.text import formula
from dmlcy._facts.names import catalogue_name, known_operator
from dmlcy._facts.rows import MISSING, Field
from dmlcy._facts.tables import CATALOGUE, DTYPES, ENUMS, ERRORS, LEVELS, OPERATORS, RUNNABLE
from dmlcy._show.explain.find import find

SPECS = Path(__file__).parents[2] / "specs"
FACTS = (
    "catalogue.toml", "dtypes.toml", "enums.toml", "errors.toml", "fused.toml", "graph_errors.toml", "levels.toml",
    "model_errors.toml", "onnx/errors.toml", "terms.toml",
)  # fmt: skip
NAMES = tuple(OPERATORS)
WRITTEN = specs()


@pytest.fixture(autouse=True)
def operators() -> None:
    """Only the operators that are built, without operators that other tests here make up."""


def test_files() -> None:
    files = dml.specs.files()
    assert list(files) == sorted(
        [*FACTS, "ids.lock", "schema.json", *(f"operators/{name.lower()}.toml" for name in NAMES)]
    )
    for name, file in files.items():
        text = file.read_text(encoding="utf-8")
        if name.endswith(".toml"):
            assert tomllib.loads(text), name


@each_of("name", [*FACTS, "ids.lock", "schema.json"])
def test_facts_are_those_of_the_checkout(name: str) -> None:
    """Below the line that says what made them."""
    shipped, written = dml.specs.files()[name].read_bytes(), (SPECS / name).read_bytes()
    assert (shipped.partition(b"\n")[2] if name in FACTS else shipped) == written


def test_ids() -> None:
    found = dml.specs.ids()
    lock = ids.read(SPECS.parent, Diagnostics())
    assert list(found) == [*lock.ids, *lock.provisional]
    assert dml.specs.provisional_ids() == tuple(lock.provisional)
    for operator in OPERATORS.values():
        for rule in operator.rules:
            assert rule.about in found[rule.id] and rule.text in found[rule.id]
    for id_, says in found.items():
        if id_ in ERRORS:
            assert says == ERRORS[id_].about
    assert found[f"DML-{NAMES[0]}-input-same-dtype"] == ERRORS["same-dtype"].about


def test_every_key_is_documented() -> None:
    tables = {
        "levels": dml.specs.levels(), "dtypes": dml.specs.dtypes(), "enums": dml.specs.enums(),
        "catalogue": dml.specs.catalogue(), "errors": dml.specs.errors(), "terms": dml.specs.terms(),
    }  # fmt: skip
    for function, rows in tables.items():
        for key in {key for row in rows.values() for key in row}:
            assert f"``{key}``" in (getattr(dml.specs, function).__doc__ or ""), (function, key)
    for name in NAMES:
        for key, rows in dml.specs.operator(name).items():
            assert f"``{key}``" in (dml.specs.operator.__doc__ or ""), key
            for row in rows if isinstance(rows, list) else [rows] if key == "operator" else ():
                for inner in row:
                    assert f"``{inner}``" in (dml.specs.operator.__doc__ or ""), (key, inner)


@pytest.mark.parametrize("code", ["887A0004", "0x887a0004", "DXGI_ERROR_UNSUPPORTED"])
def test_an_unsupported_feature_level_has_a_number_and_a_name(code: str) -> None:
    (found,) = find(code)
    assert found["name"] == "DXGI_ERROR_UNSUPPORTED" and "feature level" in found["doc"]
    assert [one["call"] for one in found["returned"]] == ["DMLCreateDevice1"]


def test_terms() -> None:
    assert all(
        {*row} >= {"name", "is", "doc"} and row.keys() & {"source", "page"} for row in dml.specs.terms().values()
    )


@pytest.mark.parametrize("module", [dml, dml.specs])
def test_dir_is_what_is_public(module: Any) -> None:
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("function", ["check", "minimum_feature_level", "supports"])
def test_examples_in_docstrings(function: str) -> None:
    (test,) = doctest.DocTestFinder(recurse=False).find(getattr(dml, function), function, globs={})
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0
    assert test.docstring is not None and "Returns\n" in test.docstring


def test_help_of_the_support_table() -> None:
    assert inspect.isfunction(dml.support_table) and dml.support_table() is dml.support_table()


def test_levels() -> None:
    found = dml.specs.levels()
    assert list(found) == [level.name for level in LEVELS]
    for level in LEVELS:
        row = found[level.name]
        assert (row["value"], row["directml"], row["max_rank"]) == (level.value, level.directml, level.max_rank)
        assert row.get("dxdispatch", True) == level.dxdispatch


def test_dtypes() -> None:
    found = dml.specs.dtypes()
    assert list(found) == list(DTYPES)
    for name, dtype in DTYPES.items():
        row = found[name]
        assert (row["value"], row["bits"], row["since"], row.get("numpy")) == (
            dtype.value, dtype.bits, dtype.since, dtype.numpy,
        )  # fmt: skip


def test_enums() -> None:
    found = dml.specs.enums()
    assert {*found} == {*ENUMS} - {"DML_TENSOR_DATA_TYPE"}  # which is dtypes()
    for name, row in found.items():
        info = ENUMS[name]
        assert (row["python"], row["prefix"], row["since"]) == (info.cls.__name__, info.prefix, info.since)
        assert (row.get("source"), row.get("note")) == (info.source, info.note)
        members = {one["name"]: (one["value"], one["since"], one.get("doc", "")) for one in row["members"]}
        assert members == {
            member: (int(value), since, info.doc.get(member, "")) for member, (value, since) in info.members.items()
        }


def test_catalogue() -> None:
    found = dml.specs.catalogue()
    assert {name: (row["value"], row["since"]) for name, row in found.items()} == {
        name: (entry.value, entry.since) for name, entry in CATALOGUE.items()
    }
    assert {row["source"].partition("/windows/")[0] for row in found.values()} == {"https://learn.microsoft.com"}
    for name in NAMES:
        assert found[name]["struct"] == OPERATORS[name].struct


def test_errors() -> None:
    found = dml.specs.errors()
    assert {id_: (row["error"], row["message"], row["about"]) for id_, row in found.items()} == {
        id_: (text.error, text.message, text.about) for id_, text in ERRORS.items()
    }


catalogue = functools.cache(dml.specs.catalogue)


@each_of("name", NAMES)
def test_operator(name: str) -> None:
    spec, known, entry = dml.specs.operator(name), OPERATORS[name], catalogue()[name]
    head, written = spec["operator"], WRITTEN.operators[name]
    for key in ("name", "python", "desc", "struct", "family", "since", "summary", "source"):
        assert head[key] == getattr(known, key) == getattr(written, key)
    assert {key: head[key] for key in ("value", "kind", "in_place")} == {
        key: entry[key] for key in ("value", "kind", "in_place")
    }
    assert [field["name"] for field in spec["field"]] == [field["name"] for field in entry["fields"]]
    for row, field in zip(spec["field"], known.fields, strict=True):
        agree(spec, row, field)
    lets = [(let["name"], loop(let), normal(let["value"]), let.get("each", "")) for let in spec.get("let", [])]
    assert lets == [(let.name, let.loop, let.text, let.each) for let in known.lets]
    documented = [*spec["field"], *spec.get("chosen", []), *spec.get("let", [])]
    assert [row["doc"] for row in documented] == list(known.docs.values())
    assert known.docs == {
        **{field.python: field.doc for field in (*written.fields, *written.chosen)},
        **{let.name: let.doc for let in written.lets},
    }
    rows = [*((row, False) for row in spec.get("rule", [])), *((row, True) for row in spec.get("data_rule", []))]
    for (row, data), rule in zip(rows, known.rules, strict=True):
        assert (row["id"], row["about"], row["says"], data) == (rule.id, rule.about, rule.says, rule.data)
        assert (normal(row["that"]), loop(row)) == (rule.text, rule.loop)
        assert (row["from"], row.get("hint", "")) == (rule.provenance, rule.hint)
        assert (row.get("since", known.since), row.get("until")) == (rule.since, rule.until)
        assert row.get("fix") == (None if rule.fix is None else rule.fix.text)
    for item, said in zip(known.interpretations, written.interpretations, strict=True):
        texts = {key: getattr(said, key) for key in ("id", "question", "choice", "evidence", "outputs")}
        conditions = {key: getattr(getattr(said, key), "text", "") for key in ("not_judged", "when")}
        assert asdict(item) == texts | conditions
    conditions = {f"{name}-{item.id}": normal(item.not_judged) for item in known.interpretations if item.not_judged}
    assert {one.id: one.condition.text for one in known.unjudged} == conditions
    for example, other in zip(known.examples, written.examples, strict=True):
        assert (example.title, example.source, example.calculation) == (other.title, other.source, other.calculation)
        assert same(example.attributes) == same(dict(other.attributes))
        for tensors, others in ((example.inputs, other.inputs), (example.outputs, other.outputs)):
            assert same(tensors) == same({name: (x.dtype, x.sizes, x.data) for name, x in others.items()})
    assert {dtype: (one["ulp"], one["of"]) for dtype, one in spec.get("accuracy", {}).items()} == {
        dtype: (one.ulp.text, one.of) for dtype, one in known.accuracy.items()
    }
    assert spec.get("kernel") == (None if written.kernel is None else written.kernel.data)


def agree(spec: dict[str, Any], row: dict[str, Any], field: Field) -> None:
    """A field in the file and in the tables."""
    assert (row["name"], row["python"], row["kind"], row["type"], row.get("optional", False)) == (
        field.name, field.python, field.kind, field.type, field.optional,
    )  # fmt: skip
    left_out = None if field.optional and field.kind == "attribute" else MISSING
    assert row.get("default", left_out) == field.default
    for key, known in (("sizes", field.sizes), ("length", field.length), ("value", field.value)):
        given = row.get(key, "any")  # sizes of which no formula says them all
        assert (None if given == "any" else normal(given)) == (None if known is None else known.text)
    if field.kind == "attribute":
        assert row.get("dtype") == field.scalar_type
    else:
        assert [(one["since"], tuple(one["any"])) for one in spec["types"][row["dtype"]]] == [
            (one.since, one.dtypes) for one in field.dtypes
        ]
        assert [(one["since"], one["min"], one["max"]) for one in spec["ranks"][row["rank"]]] == [
            (one.since, one.min, one.max) for one in field.ranks
        ]
        assert row.get("leading_ones") == field.leading_ones
    if "range" in row:
        assert row["range"] == {"min": field.minimum, "max": field.maximum, "from": field.provenance}
    else:
        assert field.minimum is None or field.value is not None


def normal(text: str) -> str:
    """A formula as the tables write it."""
    return formula(parse(text))


def loop(row: dict[str, Any]) -> str | None:
    index, _, count = row.get("for", "").partition(" in ")
    elements = f"v of {row['each']}" if "each" in row and "that" in row else None
    if count and elements is not None:
        return f"{elements}, at {index} in {normal(count)} of its last axis"
    return f"{index} in {normal(count)}" if count else elements


def same(data: Any) -> Any:
    """Nested lists in dictionaries, NaN comparable with itself."""
    if isinstance(data, dict):
        return {key: same(one) for key, one in data.items()}
    if isinstance(data, list | tuple):
        return [same(one) for one in data]
    return "nan" if isinstance(data, float) and math.isnan(data) else data


def test_what_is_returned_is_the_callers_own() -> None:
    for read in (
        dml.specs.levels, dml.specs.dtypes, dml.specs.enums, dml.specs.catalogue, dml.specs.errors,
        lambda: dml.specs.operator(NAMES[0]), dml.specs.files,
    ):  # fmt: skip
        before = read()
        kept = repr(before)
        before.clear()
        assert repr(read()) == kept


@each_of("name", CATALOGUE)
def test_spellings_of_a_name(name: str) -> None:
    camel = "".join(word.capitalize() for word in name.split("_"))
    for spelling in (name, name.lower(), camel, f"DML_OPERATOR_{name}", f"DML_{name}_OPERATOR_DESC"):
        assert catalogue_name(spelling) == name
        if name in NAMES:
            assert known_operator(spelling) is OPERATORS[name]
            assert dml.specs.operator(spelling)["operator"]["name"] == name
        else:
            with pytest.raises(dml.ModelError) as caught:
                dml.specs.operator(spelling)
            assert caught.value.id == "DML-MODEL-operator-not-runnable"


@pytest.mark.parametrize(
    "name", ["PADING1", "DML_OPERATOR_", "", "P_ADDING1", "padding1 ", "x" * 10**6, "\x1b[2J", None, 3, b"PADDING1", []]
)
def test_what_is_no_name(name: Any) -> None:
    with pytest.raises(dml.ModelError) as caught:
        dml.specs.operator(name)
    (violation,) = caught.value.violations
    assert violation.id == "DML-MODEL-operator-unknown"
    assert str(caught.value).isprintable() and len(str(caught.value)) < 300
    assert ("Did you mean" in violation.hint) == (name in ("PADING1", "P_ADDING1", "padding1 "))


def test_operators() -> None:
    assert dml.specs.operators() == NAMES
    by_state = {state: dml.specs.operators(state) for state in dml.specs.states()}
    assert sorted(name for names in by_state.values() for name in names) == sorted(CATALOGUE)
    assert {*NAMES} == {*CATALOGUE} - {*by_state["listed"]} and {*by_state["fast"], *by_state["reference"]} == {
        *RUNNABLE
    }
    for name, row in dml.specs.catalogue().items():
        assert name in by_state[row["state"]]
        assert name not in NAMES or dml.specs.operator(name)["operator"]["state"] == row["state"]


@pytest.mark.parametrize("state", ["Fast", "", 1, b"fast", "\x1b", ["fast"]])
def test_what_is_no_state(state: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown state .*The states are listed, described") as caught:
        dml.specs.operators(state)
    assert str(caught.value).isprintable()
