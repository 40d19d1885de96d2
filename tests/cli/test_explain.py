"""The commands' explanations of ids, operators, fields, enums, levels and data types."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from depth import deep, in_turn
from each import each, each_of

import dmlcy as dml
from codegen.expr.parse import EACH, FUNCTIONS
from dmlcy import specs
from dmlcy._facts import shipped
from dmlcy._facts.ids import published
from dmlcy._facts.rows import Field, Operator, Rule
from dmlcy._facts.tables import CATALOGUE, DTYPES, ENUMS, ERRORS, LEVELS, OPERATORS, RUNNABLE, STATES, state_of
from dmlcy._show.explain import breaks, facts, rules
from dmlcy._show.explain.find import find, suggestion
from dmlcy._show.explain.text import lay_out

RULES = [(operator, rule) for operator in OPERATORS.values() for rule in operator.rules]
IDS_OF_RULES = {rule.id for _, rule in RULES}
FIELD_ERRORS = {name for name in published().in_force if name not in ERRORS and name not in IDS_OF_RULES}
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True, scope="module")
def _read_once() -> Iterator[None]:
    """A command reads the file of an operator anew: these tests ask for each in a hundred ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shipped, "read", functools.cache(shipped.read))
        yield
    told.cache_clear()


def one(word: str, kind: str) -> dict[str, Any]:
    """The only thing of that kind that a word means."""
    (found,) = [each for each in find(word) if each["kind"] == kind]
    return found


@functools.lru_cache(200)
def told(word: str, kind: str) -> tuple[dict[str, Any], str]:
    """The only thing of that kind that a word means, and the text on the word; several tests look at both."""
    found = find(word)
    (same,) = [each for each in found if each["kind"] == kind]
    return same, laid_out(found)


def shown(word: str, width: int = 100) -> str:
    """The text on a word."""
    return laid_out(find(word), width)


def laid_out(found: list[dict[str, Any]], width: int = 100) -> str:
    """The text on what was found. No line is longer than it must be, and nothing in it could move a cursor."""
    text = lay_out(found, width)
    for line in text.splitlines():
        assert line.isprintable() and line == line.rstrip()
        assert len(line) <= width or len(line.split()) <= 2, line
    assert "\n\n\n" not in text
    return text


def one_of_each_slug(identifiers: Iterable[str]) -> list[str]:
    """An id of an error of a field for each slug of an operator, and all others."""
    fields = {(name.split("-")[1], name.split("-", 3)[3]): name for name in identifiers if name in FIELD_ERRORS}
    return [*fields.values(), *(name for name in identifiers if name not in FIELD_ERRORS)]


@in_turn
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=deep) for part in range(1, 5))])
def test_every_id_is_explained(part: int) -> None:
    """With an example, where it is an error of a field: a third of one for each slug, and with ``-m deep`` all."""
    known = published()
    permanent = [*known.permanent]
    few = one_of_each_slug(permanent)[::3] if part == 0 else permanent[part - 1 :: 4]
    each([*few, *one_of_each_slug(known.provisional)], is_explained)


def is_explained(identifier: str) -> None:
    provisional = identifier in published().provisional
    (found,) = find(identifier)
    text = laid_out([found])
    assert (found["id"], found["provisional"]) == (identifier, provisional)
    assert ("provisional" in text) == provisional
    assert json.loads(json.dumps(found)) == found
    assert text.splitlines()[0] == identifier
    assert found["error"] in dir(dml)
    assert (found["kind"] == "field error") == (identifier in FIELD_ERRORS)
    if found["kind"] == "field error":
        has_an_example(found, _flat(text))


@each_of("operator, rule", RULES)
def test_a_rule(operator: Operator, rule: Rule) -> None:
    found, text = told(rule.id, "rule")
    assert rule.text in " ".join(text.split())
    assert rule.provenance in text and operator.source in text and rule.hint in _flat(text)
    assert ("warning" if rule.severity == "warning" else found["error"]) in text
    defined = {each["name"]: each for each in found["definitions"]}
    assert len(defined) == len(found["definitions"])
    formulas = [rule.text, *(each["formula"] for each in defined.values() if each["is"] == "quantity")]
    indices = {loop.split()[0] for loop in [rule.loop, *(let.loop for let in operator.lets)] if loop} | {rule.index}
    for formula in formulas:
        assert {*rules.names_in(formula)} <= {*defined, *indices}
    for field in rule.reads:
        assert field.partition(".")[0] in defined
    example = found["example"]
    assert example is not None and f"{example['message']} [{rule.id}]" in _flat(text)
    assert (found["fix"] is None) == (rule.fix is None) and ("Nearest valid value: " in example["message"]) == bool(
        rule.fix
    )


def test_the_formula_of_sizes_and_what_its_names_mean() -> None:
    found = one("DML-FOLD-input-sizes", "field error")
    defined = {each["name"] for each in found["definitions"]}
    assert {"N", "C", "volume", "blocks", "padded", "output_sizes", "prod"} <= defined
    text = _flat(shown("DML-FOLD-input-sizes"))
    assert "Formula sizes(input) = [N, C * volume, prod(blocks)] Where N = sizes(input)[ones] Batch size." in text
    assert "len(strides) = spatial" in _flat(shown("DML-FOLD-strides-length"))
    assert one("DML-FOLD-input-rank", "field error")["definitions"] == []


def _flat(text: str) -> str:
    return " ".join(text.split())


def test_every_function_of_the_language_has_a_meaning() -> None:
    assert {*rules.FUNCTIONS} == {*FUNCTIONS, *EACH}


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("a[d] + b // len(c)", ["a", "d", "b", "len", "c"]),
        ("all(isfinite(roi[0, k]) for k in 5)", ["all", "isfinite", "roi"]),
        ("size.Height if mode == 'WRAP' else 0", ["size", "mode"]),
        ("[n, *padded]", ["n", "padded"]),
        ("", []),
        ("not a formula", []),
    ],
)
def test_names_in_a_formula(formula: str, names: list[str]) -> None:
    assert sorted(rules.names_in(formula)) == sorted(names)


def test_what_cannot_be_broken_has_no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    operator, rule = RULES[0]
    monkeypatch.setattr(specs, "operator", lambda name: {})
    assert rules.broken(operator, rule) is None
    assert "For example" not in lay_out([rules.of_rule(operator, rule)], 100)


def test_an_error_of_a_field() -> None:
    found = one("dml-padding1-input-dtype", "field error")
    assert found["field"]["support"] == [
        {
            "since": "5_0",
            "data_types": list(OPERATORS["PADDING1"].fields[0].dtypes[0].dtypes),
            "dimensions": [*range(1, 9)],
        }
    ]
    assert (found["error"], found["also"], found["when"]) == (
        "InvalidDataTypeError",
        "TypeError",
        ERRORS["dtype"].about,
    )
    assert f"{found['example']['message']} [{found['id']}]" in _flat(shown("DML-PADDING1-input-dtype"))
    text = shown("DML-PADDING1-padding_mode-level")
    assert "SYMMETRIC, WRAP since 6_4" in text
    assert "UINT[spatial], 1 to 2^32 - 1 (inferred), required" in shown("DML-AVERAGE_POOLING-window_size-range")
    assert "sizes(output) = padded" in shown("DML-PADDING1-output-sizes")
    assert "follows: axes" in shown("DML-PADDING1-dimension_count-length")


ONLY_IN_CALLS = {"byteorder", "overlap", "readonly", "same-dtype", "sizes"}  # of some fields


def has_an_example(found: dict[str, Any], text: str) -> None:
    example = found["example"]
    if example is None and found["operator"] not in RUNNABLE:
        operator = OPERATORS[found["operator"]]
        tensors = {path.partition("[")[0] for one in operator.examples for path in (*one.inputs, *one.outputs)}
        chosen = {field.python for field in operator.chosen}
        absent = {field.python for field in operator.fields if field.optional} - tensors
        assert found["slug"] in ONLY_IN_CALLS or found["subject"] in chosen | absent
        return
    assert example is not None, "no change in dmlcy/_show/explain/breaks.py gives this error"
    assert f"{example['message']} [{found['id']}]" in text
    assert all(path in text for path in example["changes"]) and example["call"] in text
    assert found["provenance"] in text and f"Levels {found['since']} and later" in text
    assert "{" not in text.partition("The field")[0].replace(example["message"], "") or "{" in str(example["changes"])


def test_an_error_without_example_shows_its_message_without_braces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaks, "broken", lambda *arguments: None)
    text = shown("DML-PADDING1-input-dtype")
    assert "input has data type …, which is not among …." in text and "For example" not in text


def test_defaults_are_those_of_python() -> None:
    assert "default 1 applies in Python only" in shown("DML-AVERAGE_POOLING-strides-required")
    assert "applies in Python only" not in shown("DML-AVERAGE_POOLING-window_size-required").partition("Refusal")[2]


def test_an_error_of_an_operator() -> None:
    assert one("DML-PADDING1-operator-level", "field error")["since"] == "5_0"
    text = shown("DML-PADDING1-operator-unknown")
    assert "PADDING1 has no member" in text and "PaddingValueDataType" in text


def test_an_error_of_a_model() -> None:
    for identifier, text in ERRORS.items():
        if identifier.startswith("DML-MODEL-"):
            said = _flat(shown(identifier))
            assert (
                text.about in said
                and re.sub(r"\{\w+\}", "…", text.message) in said
                and f"docs/reference/errors.md#{identifier}" in said
            )
            for path, value in one(identifier, "model error")["breaks"].items():
                assert (f"{path} = {json.dumps(value)}" if path else value) in said


def test_a_retired_id(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    retired = {"DML-PADDING1-input-huge": "Replaced by elements."}
    for module in ("facts", "find", "rules"):
        patched = replace(published(), retired=retired)
        monkeypatch.setattr(f"dmlcy._show.explain.{module}.published", lambda patched=patched: patched)
    status, out, _ = command("explain", "DML-PADDING1-input-huge")
    assert status == 0 and "retired" in out and "Replaced by elements." in out
    assert "DML-PADDING1-input-huge" in suggestion("DML-PADDING1-input-hug")


@each_of("name", CATALOGUE)
def test_an_operator(name: str) -> None:
    found, text = told(name, "operator")
    assert found["state"] == state_of(name) and f"State {found['state']}. {STATES[found['state']]}" in _flat(text)
    assert f"{CATALOGUE[name].since} (DirectML " in text and found["source"] in text and found["struct"] in text
    declared = facts.catalogue()[name]["fields"]
    assert [field["name"] for field in found["fields"]] == [field["name"] for field in declared]
    for field in declared:
        assert field["name"] in text
    inputs = any(field["kind"] == "input" for field in facts.catalogue()[name]["fields"])
    assert ("share the memory of" in text) == inputs


@each_of("name", OPERATORS)
def test_an_operator_that_has_a_spec(name: str) -> None:
    operator, text = OPERATORS[name], _flat(told(name, "operator")[1])
    for rule in operator.rules:
        assert rule.id in text and rule.text in text
    for let in operator.lets:
        assert operator.docs[let.name] in text and f"= {let.text}" in text
    for known in operator.interpretations:
        assert known.question in text and known.choice in text and f"Evidence: {known.evidence}" in text
        assert (f"Not judged ({name}-{known.id}): elements" in text) == bool(known.not_judged)
        (found, alone) = told(f"{name}-{known.id}", "interpretation")
        alone = _flat(alone)
        assert found["operator"] == name and operator.summary not in alone
        assert known.question in alone and known.choice in alone and ("Not judged" in alone) == bool(known.not_judged)
    assert operator.summary in text and operator.family in text
    assert f"dmlcy.desc.{operator.desc} for its desc" in text
    if not operator.runs:
        assert "Accuracy" not in text and f"dmlcy.{operator.python}" not in text and "that runs" not in text
        return
    for bound in operator.accuracy.values():
        assert f"at most {bound.ulp.text} ULP" in text
    results = next(field for field in operator.fields if field.kind == "output")
    exact = {name for row in results.dtypes for name in row.dtypes} - {*operator.accuracy}
    assert ("Exact, bit for bit" in text) == bool(exact)
    call = re.search(r"dmlcy\.(\w+\(.*?out=None\))", text)
    assert call is not None
    compile(
        call[1].replace("*, ", "") if "*" not in call[1] else f"lambda {call[1].partition('(')[2][:-1]}: 0", "", "eval"
    )


@each_of("name", OPERATORS)
def test_what_a_call_is_given_stands_among_the_fields(name: str) -> None:
    operator, (found, text) = OPERATORS[name], told(name, "operator")
    section = re.search(r"^Fields\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    for field in operator.parameters:
        assert re.search(rf"^  {field.python}  ", section[1], re.MULTILINE)
        assert operator.docs[field.python] in _flat(section[1])
    assert [field["python"] for field in found["chosen"]] == [field.python for field in operator.chosen]


@pytest.mark.parametrize(
    ("operator", "field"), [(operator, field) for operator in OPERATORS.values() for field in operator.chosen]
)
def test_what_only_a_call_is_given(command: Command, operator: Operator, field: Field) -> None:
    (found,) = find(f"{operator.name.lower()}.{field.python}")
    assert [each["doc"] for each in found["operators"]] == [operator.docs[field.python]]
    assert f'"{operator.name}.{field.python}"' in command("explain", f"{operator.name}.{field.python}x")[2]


@each_of("name", OPERATORS)
def test_when_an_output_is_there(name: str) -> None:
    operator = OPERATORS[name]
    for field in operator.fields:
        if field.kind == "output":
            said = _flat(shown(f"{name}.{field.python}"))
            asked = f"left out unless it is asked for, in a call by {field.python}=True or a data type"
            opened = operator.is_open(field)
            assert ("follows from the other fields" in said) == (not field.optional and not opened)
            assert (asked in said) == field.optional and ("required in a desc" in said) == opened


def test_levels_of_an_operator() -> None:
    assert one("depth_to_space1", "operator")["levels"][1] == {
        "level": "5_0",
        "directml": "1.8.0",
        "brought": [
            {"fields": ["input", "output"], "data_types": ["FLOAT64", "INT64", "UINT64"], "dimensions": []},
        ],
    }
    assert "6_4  padding_mode: WRAP (DirectML 1.15.0)" in shown("PADDING1")


@pytest.mark.parametrize("word", ["PADDING1.padding_mode", "padding1.PaddingMode", "Padding1.PADDINGMODE"])
def test_a_field_of_an_operator(word: str) -> None:
    (found,) = find(word)
    assert [field["python"] for field in found["operators"]] == ["padding_mode"] and not found["listed"]
    assert 'default "CONSTANT"' in shown(word)


@pytest.mark.parametrize("word", ["window_size", "WindowSize", "windowsize", "WINDOW_SIZE"])
def test_a_field_of_all_operators(word: str) -> None:
    (found,) = find(word)
    having = {name for name, entry in facts.catalogue().items() if "'WindowSize'" in str(entry["fields"])}
    assert {field["operator"] for field in found["operators"]} == having & {*OPERATORS} >= {"AVERAGE_POOLING"}
    assert {field["operator"] for field in found["listed"]} == having - {*OPERATORS}
    assert "WindowSize and window_size, a field" in shown(word)


def test_every_field_is_found() -> None:
    owners: dict[str, set[str]] = {}
    for name, entry in facts.catalogue().items():
        for field in entry["fields"]:
            (found,) = find(f"{name}.{field['name']}")
            assert [each["name"] for each in found["operators"] or found["listed"]] == [field["name"]]
            laid_out([found])
            owners.setdefault(field["name"], set()).add(name)
    for field, names in owners.items():
        everywhere = one(field, "field")
        assert names <= {each["operator"] for each in everywhere["operators"] + everywhere["listed"]}


def test_a_word_with_two_meanings() -> None:
    for word in ("PaddingMode", "PADDING_MODE", "padding_mode"):
        assert [found["kind"] for found in find(word)] == ["enum", "field"]
        text = shown(word)
        assert "DML_PADDING_MODE, an enum\n===" in text and "PaddingMode and padding_mode, a field\n===" in text
    assert [found["kind"] for found in find("argmax")] == ["operator", "member"]
    assert len(find("NONE")) > 2


@pytest.mark.parametrize("name", ENUMS)
def test_an_enum(name: str) -> None:
    info = ENUMS[name]
    for word in (name, name.removeprefix("DML_"), info.cls.__name__, name.lower()):
        found, text = told(word, "enum")
        assert {each["name"]: each["value"] for each in found["members"]} == {
            member: int(value) for member, (value, _) in info.members.items()
        }
        assert all(member in text for member in info.members) and (info.source or "") in text
    users = {use["operator"] for use in found["fields"]} | {*found["listed"]}
    assert users == {
        operator
        for operator, entry in facts.catalogue().items()
        if any(field["type"] == f"enum:{name}" for field in entry["fields"])
    }


@pytest.mark.parametrize("name", sorted({*ENUMS} - {"DML_TENSOR_DATA_TYPE", "DML_FEATURE_LEVEL"}))
def test_a_member(name: str) -> None:
    info = ENUMS[name]
    for member, (value, since) in info.members.items():
        for word in (f"{info.prefix}{member}", f"{info.cls.__name__}.{member}", f"{info.prefix}{member}"[4:], member):
            meant = find(word)
            found = [each for each in meant if each["kind"] == "member" and each["enum"] == name]
            assert [(each["value"], each["since"]) for each in found] == [(int(value), since)]
            assert info.doc.get(member, "") in _flat(laid_out(meant))
    for other, member in info.also.items():
        for word in (other, other.lower(), f"{name}.{other}"):
            meant = find(word)
            (found_,) = [each for each in meant if each["kind"] == "member" and each["enum"] == name]
            assert found_["name"] == member and other in found_["also"] and other in laid_out(meant)


@pytest.mark.parametrize("name", dml.specs.terms())
def test_a_word_of_directml(name: str) -> None:
    term = dml.specs.terms()[name]
    for word in (name, name.lower(), *term.get("also", ())):
        assert name in [found["name"] for found in find(word) if found["kind"] == "term"]
    text = _flat(shown(name))
    assert f"{name}, {term['is']}" in text and term["doc"] in text
    assert all(term[key] in text for key in ("source", "page") if key in term)
    for slug in term.get("errors", ()):
        assert f"{slug} {ERRORS[slug].about}" in text


@pytest.mark.parametrize("slug", [slug for slug in ERRORS if not slug.startswith("DML-")])
def test_a_slug(slug: str) -> None:
    found, text = told(slug, "slug")
    text = _flat(text)
    listed = {f"DML-{row['operator']}-{field}-{slug}" for row in found["operators"] for field in row["fields"]}
    assert listed == {name for name in FIELD_ERRORS if name.split("-", 3)[3] == slug}
    assert ERRORS[slug].about in text and "{" not in text


@pytest.mark.parametrize("family", sorted({operator.family for operator in OPERATORS.values()}))
def test_a_family(family: str) -> None:
    found, text = told(family, "family")
    names = [row["operator"] for row in found["operators"]]
    assert names == [name for name, operator in OPERATORS.items() if operator.family == family]
    assert all(name in text for name in names)


def test_levels_by_version_and_value() -> None:
    for level in LEVELS:
        for word in (level.directml, hex(level.value), str(level.value)):
            assert level.name in [found["name"] for found in find(word)]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level(level: Any) -> None:
    for word in (level.name, f"DML_FEATURE_LEVEL_{level.name}", f"FeatureLevel.{level.name}"):
        found, text = told(word, "level")
        new = {each["name"] for each in found["operators"]}
        assert new == {name for name, entry in CATALOGUE.items() if entry.since == level.name}
        assert all(name in text for name in new)
        assert (found["directml"], found["max_rank"]) == (level.directml, level.max_rank)


def test_what_a_level_widened() -> None:
    text = _flat(shown("5_0"))
    assert "DEPTH_TO_SPACE1 input and output: FLOAT64, INT64, UINT64 " in text
    assert "DML_PADDING_MODE: WRAP" not in text


@pytest.mark.parametrize("name", DTYPES)
def test_a_data_type(name: str) -> None:
    for word in (name, f"DML_TENSOR_DATA_TYPE_{name}", f"TensorDataType.{name}", name.lower()):
        found, text = told(word, "data type")
        assert (found["bits"], found["since"]) == (DTYPES[name].bits, DTYPES[name].since)
        for use in found["fields"]:
            assert use["operator"] in text


def test_json(command: Command) -> None:
    status, out, err = command("explain", "PaddingMode", "--format", "json")
    assert (status, err) == (0, "")
    report = json.loads(out)
    assert report["word"] == "PaddingMode"
    assert report["found"] == find("PaddingMode")
    assert out.isascii()


def test_text_is_what_is_printed(command: Command) -> None:
    for word in ("PADDING1", RULES[0][1].id, "5_0"):
        assert command("explain", word) == (0, f"{shown(word)}\n", "")
