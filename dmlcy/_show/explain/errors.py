"""Facts of errors as text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from dmlcy._facts.tables import LEVELS
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.fields import field_body, field_words
from dmlcy._show.explain.page import INDENT, Page
from dmlcy._show.explain.words import between, in_words, let_name, see
from dmlcy._words.values import show

WARNING: Final = "warning: dmlcy lint and check(desc, warnings=True) show it, and nothing is refused because of it"
REASONS: Final = ("DML-ONNX-cpu-", "DML-ONNX-alone-", "DML-ONNX-model-", "DML-ONNX-level")
"""How the ids of reasons begin that a report on an ONNX model gives: nothing raises them."""


def rule_page(page: Page, rule: Facts) -> None:
    """A rule."""
    page.title(rule["id"])
    refused = "data" if rule["data"] else "a desc"
    does = "refuses" if rule["severity"] == "error" else "warns of"
    page.text(f"A rule of {rule['operator']}. It {does} {refused} whose {rule['about']} {rule['says']}.")
    _provisional(page, rule)
    page.section("Rule")
    page.code(rule["formula"])
    if rule["for"]:
        page.text(in_words(rule["for"]), 2 * INDENT)
    _where(page, rule["definitions"])
    page.section("Refusal")
    checked = "the values, when the operator runs" if rule["data"] else "the desc, before anything runs"
    raised = ("Raises", f"{rule['error']}, which is a {rule['also']}")
    rows = [
        raised if rule["severity"] == "error" else ("Severity", WARNING),
        ("Checked", f"on {checked}"),
        ("Levels", between(rule["since"], rule["until"])),
        ("Provenance", f"{rule['provenance']}: {rule['meaning']}"),
    ]
    if rule["accepts"]:
        rows.append(("Taken by DirectML", rule["accepts"]))
    if rule["hint"]:
        rows.append(("Hint", rule["hint"]))
    if rule["fix"]:
        index = f"[{rule['for'].partition(' in ')[0]}]" if " in " in (rule["for"] or "") else ""
        rows.append(("Nearest valid value", f"{rule['about']}{index} = {rule['fix']}"))
    page.rows(rows)
    example = rule["example"]
    if example is not None:
        page.section("For example")
        changes = " and ".join(_change(name, change) for name, change in example["changes"].items())
        page.text(f'The example "{example["title"]}" with {changes} gives:')
        page.text(f"{example['message']} [{rule['id']}]", 2 * INDENT)
    see(page, rule)


def _provisional(page: Page, error: Facts) -> None:
    if error["provisional"]:
        page.text(f"The id is provisional: it may change until {error['operator']} runs.")


def _where(page: Page, definitions: Sequence[Facts]) -> None:
    """The meanings of the names in a formula."""
    page.section("Where")
    for one in definitions:
        if one["is"] == "quantity":
            page.code(f"{let_name(one)} = {one['formula']}", INDENT)
            page.text(one["doc"], 3 * INDENT)
    for one in definitions:
        if one["is"] == "field":
            field = one["field"]
            page.code(f"{one['name']}: {field['name']}, {field_words(field, support=True)}", INDENT)
            page.text(field["doc"], 3 * INDENT)
    page.rows([(one["written"], one["doc"]) for one in definitions if one["is"] == "function"])


def field_error_page(page: Page, error: Facts) -> None:
    """An error that a field or an operator has without a rule."""
    page.title(error["id"])
    field = error["field"]
    what = f"the operator {error['operator']} itself" if field is None else f"{error['subject']} of {error['operator']}"
    page.text(f"An error of {what}. {error['when']}")
    _provisional(page, error)
    if error["definitions"] and field is not None:
        page.section("Formula")
        page.code(f"{_left(error)} = {field[error['formula']]}", INDENT)
        _where(page, error["definitions"])
    page.section("Refusal")
    example = error["example"]
    rows = [
        ("Raises", f"{error['error']}, which is a {error['also']}"),
        ("Levels", between(error["since"], None)),
        ("Provenance", f"{error['provenance']}: {error['meaning']}"),
    ]
    if example is None:
        rows.insert(0, ("Message", _template(error["message"], field["python"] if field else error["operator"])))
    page.rows(rows)
    if field is not None and error["slug"] == "required" and "default" in field:
        page.text(
            f"The default {show(field['default'])} applies in Python only. JSON and DirectML's struct have no default."
        )
    if example is not None:
        page.section("For example")
        level = "" if example["level"] == LEVELS[-1].name else f" at feature level {example['level']}"
        page.text(f'The example "{example["title"]}"{_changed(example)}{level} gives:')
        page.text(f"{example['message']} [{error['id']}]", 2 * INDENT)
    page.section(f"{error['operator']}, since {error['since']}" if field is None else "The field")
    if field is None:
        page.rows([("Fields", ", ".join(error["fields"]))])
    else:
        field_body(page, field)
    see(page, error)


def _left(error: Facts) -> str:
    """The left side of the formula of a field: its length, its sizes, or the field itself."""
    function = {"length": "len", "sizes": "sizes"}.get(error["formula"])
    return f"{function}({error['subject']})" if function else str(error["subject"])


def model_error_page(page: Page, error: Facts) -> None:
    """An error of a model file, of a graph, or of an ONNX model."""
    what = "graph" if error["id"].startswith("DML-GRAPH-") else "model"
    page.title(error["id"])
    page.text(error["when"])
    is_reason = error["id"].startswith(REASONS)
    page.section("Report" if is_reason else "Refusal")
    raises = [] if is_reason else [("Raises", f"{error['error']}, which is a {error['also']}")]
    page.rows([("Message", _template(error["message"])), *raises])
    if error["breaks"]:
        page.section("For example")
        for path, value in error["breaks"].items():
            page.text(f"A valid {what} gets this id by this change:" if path else "This text gives it:")
            page.code(f"{path} = {json.dumps(value)}" if path else value)
    page.section("See")
    index = "onnx_errors" if error["id"].startswith("DML-ONNX-") else "errors"
    page.code(f"docs/reference/{index}.md#{error['id']}", INDENT)
    if is_reason:
        page.code("docs/onnx.md#the-reasons-and-what-to-do", INDENT)


def retired_page(page: Page, facts: Facts) -> None:
    """An id that is no longer in force."""
    page.title(facts["id"])
    page.text(f"A retired id: no error has it any more. {facts['reason']}")


def slug_page(page: Page, slug: Facts) -> None:
    """An error that fields of many operators have."""
    page.title(f"{slug['slug']}, the end of ids of errors")
    page.text(slug["when"])
    page.section("Refusal")
    page.rows([("Message", _template(slug["message"])), ("Raises", slug["error"])])
    page.section("Ids")
    for one in slug["operators"]:
        page.rows([(f"DML-{one['operator']}-…-{slug['slug']}", ", ".join(one["fields"]))], most=50)


def _change(name: str, change: object) -> str:
    if isinstance(change, Mapping):
        parts = [
            f"{name}[{key}] = {_plain(value)}" if key[0].isdigit() else f"{key} of {name} {_plain(value)}"
            for key, value in change.items()
        ]
        return " and ".join(parts)
    return f"{name} = {_plain(change)}"


def _changed(example: Facts) -> str:
    """The change of the example of an error of a field, in words."""
    if example["call"]:
        return f", {example['call']},"
    parts = [
        f"without {path}" if value is None else f"with {path} = {_short(value)}"
        for path, value in example["changes"].items()
    ]
    return f" {' and '.join(parts)}" if parts else ""


def _short(value: object) -> str:
    return json.dumps(value) if not isinstance(value, int) else show(value)


def _plain(value: object) -> str:
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return json.dumps(value)
    return value if isinstance(value, str) else show(value)


def _template(message: str, field: str = "…") -> str:
    """The message with its field, and with … where the other values are put in."""
    return re.sub(r"\{\w+\}", "…", message.replace("{field}", field).replace("{where}", ""))
