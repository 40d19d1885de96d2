"""Facts of operators as text, and what feature levels brought to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dmlcy._facts.tables import RUNNABLE, STATES
from dmlcy._field_types import type_of
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.fields import field_words, or_nothing, support_notes, support_steps, type_words
from dmlcy._show.explain.page import INDENT, Page
from dmlcy._show.explain.words import between, in_words, let_name, listed, see
from dmlcy._words.values import dimensions, listing, show

ACCURACY_OF: Final = {
    "result": "the result",
    "magnitudes": "the result that the absolute values of the inputs would have",
}


def operator_page(page: Page, operator: Facts) -> None:
    """An operator, whatever its state."""
    runs = operator["name"] in RUNNABLE
    page.title(operator["name"])
    if "summary" in operator:
        page.text(operator["summary"])
        page.gap()
    page.rows(list(_head(operator, runs)))
    if "family" not in operator:
        page.section("Fields")
        page.rows([(field["name"], type_words(field) + or_nothing(field)) for field in operator["fields"]])
        see(page, operator)
        return
    if runs:
        page.section("Call")
        page.code(f"dmlcy.{operator['python']}({_parameters(operator['signature'])})")
    page.section("Fields")
    fields = [(one["python"], f"{one['name']}, {field_words(one)} {one['doc']}") for one in operator["fields"]]
    page.rows([*fields, *((one["python"], f"{field_words(one)} {one['doc']}") for one in operator["chosen"])])
    _formulas(page, operator)
    page.section("Data types and dimensions")
    _supports(page, operator)
    page.section("Rules")
    _rules(page, operator)
    if operator["interpretations"]:
        page.section("Where the documentation is silent or contradicts itself")
        for one in operator["interpretations"]:
            _interpretation(page, one)
    if runs:
        _accuracy(page, operator)
    if operator["same"]:
        page.section("Older versions")
        for row in operator["same"]:
            page.text(_same(row))
    page.section("Levels")
    page.rows([(level["level"], f"{_brought(level)} (DirectML {level['directml']})") for level in operator["levels"]])
    page.section("Examples")
    page.rows([(f"{number}", title) for number, title in enumerate(operator["examples"], 1)])
    page.text(f"dmlcy example {operator['name']} --number N prints one as a model{' that runs' if runs else ''}.")
    see(page, operator)


def _head(operator: Facts, runs: bool) -> Iterator[tuple[str, str]]:
    """The first facts of every operator, and further ones of an operator with a spec."""
    state = operator["state"]
    yield from (
        ("State", f"{state}. {STATES[state]}"),
        ("Since", f"{operator['since']} (DirectML {operator['directml']})"),
        ("Operator type", f"{operator['type']} = {operator['value']}"),
        ("Struct", operator["struct"]),
    )
    if any(field["role"] == "input" for field in operator["fields"]):
        shared = listing(operator["in_place"])
        shares = f"may share the memory of {shared}" if shared else "may not share the memory of an input"
        yield "In place", f"an output {shares} in DirectML"
    yield "Bindings", _bindings(operator)
    unowned = [field["name"] for field in operator["fields"] if not field.get("owned", True)]
    if unowned:
        yield "OWNED_BY_DML", f"not allowed for {listed(unowned)}"
    if "family" in operator:
        call = f"dmlcy.{operator['python']}, and " if runs else ""
        yield "Family", operator["family"]
        if operator["also"]:
            yield "Also called", ", ".join(operator["also"])
        if operator["onnx"]:
            yield "ONNX", ", ".join(operator["onnx"])
        yield "In Python", f"{call}dmlcy.desc.{operator['desc']} for its desc"


def _rules(page: Page, operator: Facts) -> None:
    for rule in operator["rules"]:
        page.text(rule["id"])
        says = f"{rule['about']} {rule['says']} unless {rule['formula']}"
        loop = f", {in_words(rule['for'])}" if rule["for"] else ""
        levels = (
            ""
            if (rule["since"], rule["until"]) == (operator["since"], None)
            else f", {between(rule['since'], rule['until'])}"
        )
        page.text(f"{says}{loop} ({rule['provenance']}{levels}).", 3 * INDENT)
    if not operator["rules"]:
        page.text("None beside those that follow from the fields.")


def _bindings(operator: Facts) -> str:
    """How many bindings BindInputs and BindOutputs take."""
    return f"{_counted(operator, 'input')}; {_counted(operator, 'output')}"


def _counted(operator: Facts, role: str) -> str:
    fields = [field for field in operator["fields"] if field["role"] == role]
    arrays = [field["name"] for field in fields if type_of(field["type"]).tensors]
    optional = [field["name"] for field in fields if field["optional"]]
    number = len(fields) - len(arrays)
    counts = [f"{number} {role}{'' if number == 1 else 's'}"] if number or not arrays else []
    counts += [f"one {role} for each tensor of {name}" for name in arrays]
    left_out = f", DML_BINDING_TYPE_NONE for {listed(optional)} if left out" if optional else ""
    return f"{' and '.join(counts)}{left_out}"


def interpretation_page(page: Page, one: Facts) -> None:
    """A decision of dmlcy by itself."""
    page.title(one["id"])
    page.text(f"{one['operator']}, where the documentation is silent or contradicts itself:")
    _interpretation(page, one)
    see(page, one)


def _interpretation(page: Page, one: Facts) -> None:
    page.text(one["question"])
    page.text(one["choice"], 3 * INDENT)
    page.text(f"Evidence: {one['evidence']}", 3 * INDENT)
    if one["not_judged"]:
        page.text(_left_out(one), 3 * INDENT)


def _left_out(one: Facts) -> str:
    """Which elements of a device's result are not judged."""
    of = f" of {listing(one['outputs'])}" if one["outputs"] else ""
    when = f", if {one['when']}" if one["when"] else ""
    return f"Not judged ({one['id']}): elements{of} where {one['not_judged']}{when}."


def _accuracy(page: Page, operator: Facts) -> None:
    page.section("Accuracy")
    page.rows(
        [
            (dtype, f"at most {one['ulp']} ULP of {ACCURACY_OF[one['of']]}")
            for dtype, one in operator["accuracy"].items()
        ]
    )
    if not operator["accuracy"]:
        page.text("Exact, bit for bit.")
    elif operator["exact"]:
        page.text(f"Exact, bit for bit: {', '.join(operator['exact'])}.")


def _same(row: Facts) -> str:
    """Of which older version the results are."""
    given, older = (", ".join(f"{name}={show(value)}" for name, value in row[key].items()) for key in ("with", "older"))
    return f"{f'With {given}: the' if given else 'The'} result of {row['as']}{older and f' with {older}'}, bit for bit."


def _formulas(page: Page, operator: Facts) -> None:
    sizes = [field for field in operator["fields"] if "sizes" in field]
    if sizes or operator["quantities"]:
        page.section("Sizes and quantities")
    for field in sizes:
        page.code(f"sizes({field['python']}) = {field['sizes']}", INDENT)
    for one in operator["quantities"]:
        page.code(f"{let_name(one)} = {one['formula']}", INDENT)
        page.text(one["doc"], 3 * INDENT)
    loops = dict.fromkeys(one["for"] for one in operator["quantities"] if one["for"])
    for loop in loops:
        page.text(in_words(loop))


def _supports(page: Page, operator: Facts) -> None:
    """The tables of the tensors; tensors with equal tables share one."""
    groups: dict[str, tuple[list[str], list[Facts]]] = {}
    for field in operator["fields"]:
        if "support" in field:
            groups.setdefault(repr(field["support"]), ([], field["support"]))[0].append(field["python"])
    for names, steps in groups.values():
        page.text(f"{listed(names)}:")
        page.rows(support_steps(steps), 2 * INDENT)
    for field in operator["fields"]:
        support_notes(page, field, INDENT)


def _parameters(signature: Sequence[Facts]) -> str:
    words: list[str] = []
    for one in signature:
        if not one["positional"] and "*" not in words:
            words.append("*")
        words.append(f"{one['name']}={show(one['default'])}" if "default" in one else one["name"])
    return ", ".join(words)


def _brought(level: Facts) -> str:
    return "; ".join(change_text(change) for change in level["brought"])


def change_text(change: Facts) -> str:
    """A change of an operator at a level."""
    if "operator" in change and "fields" not in change:
        return "the operator"
    if "rule" in change:
        return f"{change['rule']} holds"
    if "ends" in change:
        return f"{change['ends']} holds no longer"
    fields = listed(change["fields"])
    if "members" in change:
        return f"{fields}: {', '.join(change['members'])}"
    ranks = f"{dimensions(change['dimensions'])} dimensions" if change["dimensions"] else ""
    return f"{fields}: {', '.join(filter(None, [*change['data_types'], ranks]))}"
