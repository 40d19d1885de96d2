"""The commands on a model of an operator that is described and does not run: one of a spec of the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy import testing
from dmlcy._cli.example import model
from dmlcy._facts.ids import published
from dmlcy._facts.tables import OPERATORS, RUNNABLE

Command = Callable[..., tuple[int, str, str]]


def whole(name: str) -> dict[str, Any]:
    """The model of the first example of an operator."""
    return model(OPERATORS[name], OPERATORS[name].examples[0])


def desc_of(name: str) -> dict[str, Any]:
    """The desc of that example as JSON."""
    (dispatchable,) = whole(name)["dispatchables"].values()
    return {"type": dispatchable["type"], "desc": dispatchable["desc"]}


def write(folder: Path, content: object) -> str:
    path = folder / "model.json"
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return str(path)


def test_an_example_is_a_model_without_mistakes(described: str, tmp_path: Path, command: Command) -> None:
    status, out, err = command("example", described)
    assert (status, err) == (0, f"warning: dmlcy does not run {described} yet: the model is for other programs\n")
    assert json.loads(out) == json.loads(json.dumps(whole(described)))
    status, out, _ = command("lint", write(tmp_path, whole(described)), "--json")
    report = json.loads(out)
    assert (status, report["errors"]) == (0, 0)
    ((dispatchable,),) = [file["dispatchables"] for file in report["files"]]
    assert dispatchable["operator"] == described and dispatchable["minimum"]["feature_level"]


def test_lint_looks_at_all_of_it(described: str, tmp_path: Path, command: Command) -> None:
    content = whole(described)
    (dispatchable,) = content["dispatchables"].values()
    first = next(field for field in OPERATORS[described].fields if field.kind == "input")
    dispatchable["desc"][first.name]["DataType"] = "BOGUS"
    dispatchable["desc"]["Bogus"] = 1
    status, out, _ = command("lint", write(tmp_path, content), "--json")
    (findings,) = [file["findings"] for file in json.loads(out)["files"]]
    found = {finding["id"]: finding for finding in findings}
    assert status == 1 and found[f"DML-{described}-{first.python}-dtype"]["provisional"]
    assert not found["DML-MODEL-unknown"]["provisional"]


def test_run_says_that_it_does_not_run(described: str, tmp_path: Path, command: Command) -> None:
    path = write(tmp_path, whole(described))
    status, out, err = command("run", path)
    assert (status, out) == (1, "")
    (name,) = whole(described)["dispatchables"]
    assert f"$.dispatchables.{name}.type: {described} does not run yet. " in err
    assert err.endswith("[DML-MODEL-operator-not-runnable]\n") and err.count("\n") == 1
    status, out, err = command("run", path, "--expect", str(tmp_path / "expected"))
    assert (status, out) == (1, "") and "[DML-MODEL-operator-not-runnable]" in err
    assert not (tmp_path / "expected").exists()


def test_run_names_it_beside_other_mistakes(described: str, tmp_path: Path, command: Command) -> None:
    content = whole(described)
    (dispatchable,) = content["dispatchables"].values()
    content["dispatchables"]["other"] = {**dispatchable, "desc": {}}
    err = command("run", write(tmp_path, content))[2]
    assert err.count("[DML-MODEL-operator-not-runnable]") == 2 and f"[DML-{described}-" in err


def test_export_writes_it(described: str, tmp_path: Path, command: Command) -> None:
    desc = write(tmp_path, desc_of(described))
    given = []
    for number, (field, (dtype, sizes, data)) in enumerate(OPERATORS[described].examples[0].inputs.items()):
        file = tmp_path / f"{number}.npy"
        np.save(file, np.array(data, dtype.lower()).reshape(sizes))
        given += ["--input", f"{field}={file}"]
    status, _, err = command("export", desc, "--output", str(tmp_path / "folder"), *given)
    assert status == 0, err
    assert f"warning: dmlcy does not run {described} yet: the model is for other programs\n" in err
    status, out, _ = command("lint", str(tmp_path / "folder" / "model.json"), "--json")
    assert (status, json.loads(out)["errors"]) == (0, 0)


def test_export_looks_at_what_it_is_given(described: str, tmp_path: Path, command: Command) -> None:
    desc = write(tmp_path, desc_of(described))
    field, (_, sizes, _) = next(iter(OPERATORS[described].examples[0].inputs.items()))
    np.save(tmp_path / "wrong.npy", np.zeros((*sizes, 2), np.float64))
    arguments = ("export", desc, "--output", str(tmp_path / "folder"), "--input", f"{field}={tmp_path / 'wrong.npy'}")
    status, _, err = command(*arguments)
    assert status == 1 and f"[DML-{described}-{field}-sizes]" in err and "wrong.npy" in err
    assert not (tmp_path / "folder").exists()


def test_operators_and_info_count_it(described: str, command: Command) -> None:
    for name in ("operators", "info"):
        status, out, _ = command(name)
        assert status == 0 and ", 1 described" in out, name
    assert len(RUNNABLE) == len(OPERATORS) - 1
    assert dml.specs.catalogue()[described]["state"] == "described"


def test_the_error_in_python(described: str) -> None:
    operator = OPERATORS[described]
    desc = dml.desc.OperatorDesc.from_dict(desc_of(described))
    arguments = [None] * sum(field.kind == "input" for field in operator.fields)
    given = {field.python: 1 for field in operator.parameters}
    for attempt in (
        lambda: getattr(dml, operator.python)(*arguments, **given),
        lambda: dml.compile(desc),
        lambda: testing.expected(desc, {}),
    ):
        with pytest.raises(dml.OperatorNotRunnableError) as caught:
            attempt()
        assert isinstance(caught.value, NotImplementedError) and isinstance(caught.value, dml.DmlError)
        assert (caught.value.id, caught.value.operator) == ("DML-MODEL-operator-not-runnable", described)
        assert str(caught.value).startswith(f"{described} does not run yet. ")
    with pytest.raises(TypeError):
        getattr(dml, operator.python)(*arguments, **given, nothing=1)


def test_its_ids_are_provisional(described: str) -> None:
    owners = {identifier.split("-")[1] for identifier in published().provisional}
    assert owners == {described} == OPERATORS.keys() - RUNNABLE.keys()
    assert owners.isdisjoint(identifier.split("-")[1] for identifier in published().permanent)
    assert dml.specs.provisional_ids() == tuple(published().provisional)


def test_provisional_ids_are_those_of_operators_that_do_not_run() -> None:
    owners = {identifier.split("-")[1] for identifier in published().provisional}
    assert owners == OPERATORS.keys() - RUNNABLE.keys()
    assert owners.isdisjoint(identifier.split("-")[1] for identifier in published().permanent)
    assert dml.specs.provisional_ids() == tuple(published().provisional)
