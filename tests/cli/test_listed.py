"""Messages about an operator that is only listed: no spec describes it. The tests take a spec away."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dmlcy as dml
from dmlcy._facts.tables import CATALOGUE, OPERATORS
from dmlcy._generated import index

Command = Callable[..., tuple[int, str, str]]
SAYS = "does not run yet. It is only listed: no spec describes it. [DML-MODEL-operator-not-runnable]"


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    """The operator that has no spec."""
    first, *_ = OPERATORS
    others = {name: row for name, row in index.OPERATORS.items() if name != first}
    monkeypatch.setattr(index, "OPERATORS", others)
    return first


def test_its_name_is_refused(name: str) -> None:
    for attempt in (
        lambda: dml.specs.operator(name),
        lambda: dml.desc.OperatorDesc.from_dict({"type": f"DML_OPERATOR_{name}", "desc": {}}),
        lambda: dml.supports(name, rank=4),
    ):
        with pytest.raises(dml.OperatorNotRunnableError) as caught:
            attempt()
        assert str(caught.value) == f"{name} {SAYS}"
    levels: list[Any] = [*dml.specs.levels()]
    assert [dml.supports(name, level=level) for level in levels].index(True) == levels.index(CATALOGUE[name].since)
    assert dml.specs.operators("listed") == (name,) and dml.specs.catalogue()[name]["state"] == "listed"


def test_the_commands_name_it(name: str, tmp_path: Path, command: Command) -> None:
    model, desc = tmp_path / "model.json", tmp_path / "desc.json"
    body = {"type": name, "desc": {}}
    model.write_text(json.dumps({"resources": {}, "dispatchables": {"x": body}, "commands": []}))
    desc.write_text(json.dumps(body))
    assert f"$.dispatchables.x.type: {name} {SAYS}" in command("run", str(model))[2]
    status, out, _ = command("lint", str(model))
    assert status == 1 and "[DML-MODEL-operator-not-runnable]" in out
    assert SAYS in command("export", str(desc), "--output", str(tmp_path / "folder"))[2]
    status, _, err = command("example", name)
    assert (status, err) == (2, f"dmlcy example: {name} {SAYS}\n")


def test_the_catalogue_knows_it(name: str, command: Command) -> None:
    status, out, _ = command("explain", name)
    assert status == 0 and "State          listed. " in out and dml.specs.catalogue()[name]["source"] in out
    field = dml.specs.catalogue()[name]["fields"][0]["name"]
    status, out, _ = command("explain", f"{name}.{field}")
    assert status == 0 and "In operators that are only listed" in out
    out = command("operators", "--state", "listed")[1]
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == ["Operator", name]
    totals = json.loads(command("operators", "--json")[1])["totals"]
    assert totals["listed"] == 1 and sum(totals.values()) == 2 * totals["all"] == 2 * len(CATALOGUE)
