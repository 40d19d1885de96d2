"""The state of each operator: on the pages, in the index of the package and in the list of ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from each import each_of
from planned import planned

from codegen import ids
from codegen.diagnostics import Diagnostics
from codegen.pages.marked import MARKED, marked_page
from codegen.plan.data import STATES

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PLAN = planned()
RUN = [operator.name for operator in PLAN.operators if operator.runs]
FAST = [operator.name for operator in PLAN.operators if operator.is_fast]
REST = len(PLAN.operators) - len(RUN)


def test_each_operator_has_a_state() -> None:
    states = {name: PLAN.state(name) for name in PLAN.facts.catalogue}
    assert {*states.values()} <= {*STATES}
    assert [name for name in RUN if states[name] != ("fast" if name in FAST else "reference")] == []
    assert sum(state != "listed" for state in states.values()) == len(PLAN.operators)


def test_the_first_lines_say_how_many_operators_run() -> None:
    pages = {name: marked_page(PLAN, ROOT, name) or "" for name in MARKED}
    for name in ("README.md", "docs/index.md"):
        first = " ".join(pages[name].partition("\n## ")[0].split())
        if len(FAST) == len(PLAN.facts.catalogue):
            assert f"dmlcy runs [all of DirectML's {len(FAST)} operators](" in first
            assert ") by compiled kernels." in first
        else:
            assert f"dmlcy runs [{len(RUN)} of DirectML's {len(PLAN.facts.catalogue)} operators](" in first
            assert f": {len(FAST)} by compiled kernels" in first
            assert (f" {len(RUN) - len(FAST)} by [the reference](" in first) == (len(RUN) > len(FAST))
        assert (f" {REST} more " in first) == (REST > 0)
    for name, text in pages.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, name


def test_the_catalogue_has_the_state_of_all() -> None:
    text = (REFERENCE / "catalogue.md").read_text(encoding="utf-8")
    assert f"**{len(RUN)} of DirectML's {len(PLAN.facts.catalogue)} operators run" in text
    lines = [line for line in text.split("## All operators")[1].split("\n") if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    states = {PLAN.state(name) for name in PLAN.facts.catalogue}
    assert head == ["Operator", "Kind", "Family", "From level", *(["State"] if len(states) > 1 else [])]
    known = {operator.name: operator for operator in PLAN.operators}
    named = [name for row in rows for name in re.findall(r"^\[`(\w+)`\]\(", row[0])]
    assert named == sorted(PLAN.facts.catalogue)
    for name, (first, _, family, level, *state) in zip(named, rows, strict=True):
        assert f"[{PLAN.facts.catalogue[name].since}]" in level and {*state} <= {PLAN.state(name)}
        assert family == (known[name].operator.family if name in known else "")
        assert (f"]({known[name].python}.md)" if name in known else "](https://") in first


@each_of("name", [operator.name for operator in PLAN.operators])
def test_a_page_shows_the_state(name: str) -> None:
    """The page of a described operator shows no call, only the desc and the data of each example."""
    operator = next(operator for operator in PLAN.operators if operator.name == name)
    page = (REFERENCE / f"{operator.python}.md").read_text(encoding="utf-8")
    shown = f"\n- State: [{operator.state}](../glossary.md#{operator.state}). " in page
    assert shown == (operator.state != [*STATES][-1])
    calls = re.findall(rf"\bd(?:mlcy|ml)\.{operator.python}\b", page)
    assert bool(calls) == operator.runs and ("are provisional" in page) != operator.runs
    if not operator.runs:
        examples = page.split("\n## Examples\n")[1]
        assert examples.count("\n>>> dml.check(desc)\n[]\n") == len(operator.operator.examples)
        for tensor in (tensor for one in operator.operator.examples for tensor in (*one.inputs, *one.outputs)):
            assert re.search(rf"^{re.escape(tensor)} = ", examples, re.M), tensor


def test_the_index_of_errors_names_the_operators_whose_ids_are_provisional() -> None:
    """Where fewer operators run, the index names the running ones instead. Where all run, it names none."""
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    running = sum(operator.runs for operator in PLAN.operators)
    if running == len(PLAN.operators):
        assert "\nThese operators " not in page
        return
    runs = running < len(PLAN.operators) - running
    assert f"\nThese operators {'run' if runs else 'do not run'}: " in page
    for operator in PLAN.operators:
        assert (f"[{operator.name}]({operator.python}.md#rules)" in page) == (operator.runs == runs)


# Ids


def test_provisional_ids_are_those_of_operators_that_do_not_run() -> None:
    lock = ids.read(ROOT, Diagnostics())
    assert {*lock.provisional} == PLAN.provisional and PLAN.provisional.isdisjoint(lock.ids)
    assert {*lock.ids} | {*lock.provisional} == {id_ for id_, _ in PLAN.ids}


@pytest.fixture
def lock(tmp_path: Path) -> ids.Lock:
    """A permanent id, two provisional ones and a retired one."""
    path = tmp_path / ids.PATH
    path.parent.mkdir()
    path.write_text("DML-PAD-a-b\n\nprovisional:\nDML-SUM-a-b\nDML-SUM-c-d\n\nretired:\nDML-PAD-x-y  No more.\n")
    return ids.read(tmp_path, Diagnostics())


def errors(lock: ids.Lock, *known: str) -> list[str]:
    diagnostics = Diagnostics()
    ids.check(lock, known, diagnostics)
    return [error.message for error in diagnostics.errors]


def sections(text: str) -> list[list[str]]:
    """The ids of each part of the file."""
    return [re.findall(r"^DML-\S+", part, re.M) for part in re.split(r"^(?:provisional|retired):$", text, flags=re.M)]


def test_a_provisional_id_may_vanish(lock: ids.Lock) -> None:
    assert errors(lock, "DML-PAD-a-b", "DML-SUM-a-b") == errors(lock, "DML-PAD-a-b") == []
    assert errors(lock, "DML-PAD-c-d", "DML-SUM-a-b") == ["no spec has DML-PAD-a-b any more"]
    text = ids.render(lock, ["DML-PAD-a-b"], ["DML-SUM-a-b", "DML-SUM-new"])
    assert sections(text) == [["DML-PAD-a-b"], ["DML-SUM-a-b", "DML-SUM-new"], ["DML-PAD-x-y"]]


def test_ids_are_permanent_once_the_operator_runs(lock: ids.Lock, tmp_path: Path) -> None:
    text = ids.render(lock, ["DML-PAD-a-b", "DML-SUM-a-b"], [])
    assert sections(text) == [["DML-PAD-a-b", "DML-SUM-a-b"], ["DML-PAD-x-y"]]
    (tmp_path / ids.PATH).write_text(text)
    later = ids.read(tmp_path, Diagnostics())
    assert not later.provisional and errors(later, "DML-PAD-a-b") != []
    # The ids stay so if the operator does not run any more.
    assert sections(ids.render(later, ["DML-PAD-a-b"], ["DML-SUM-a-b"]))[0] == ["DML-PAD-a-b", "DML-SUM-a-b"]
