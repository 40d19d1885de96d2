"""A small pack, a back end that answers it right, and the commands about packs."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dmlcy._cli import main
from dmlcy._conformance.command import program
from dmlcy._desc.classes import desc_class
from dmlcy._facts.tables import LEVELS, OPERATORS
from dmlcy._judge.packs.pack import File

NAMES = ("AVERAGE_POOLING", "JOIN", "MAX_POOLING1")
"""An operator with a bound, one that moves elements of several tensors, one with an optional output."""

RIGHT = {"passed", "not judged"}
"""The verdicts of right results: of some cases, nobody promises any element."""


@dataclass(frozen=True)
class Done:
    """The output of a command, and its exit status."""

    status: int
    out: str
    err: str


def command(*arguments: object, run: Any = program) -> Done:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = run([str(argument) for argument in arguments])
        except SystemExit as exit_:
            status = int(exit_.code or 0)
    return Done(status, out.getvalue(), err.getvalue())


def export(folder: Path, *options: object) -> Path:
    done = command("export", folder, *options)
    assert done.status == 0, done.err
    return folder


def listed(pack: Path) -> Any:
    return json.loads((pack / "pack.json").read_text(encoding="utf-8"))


def case_of(pack: Path, operator: str, **wanted: Any) -> str:
    """The first case of an operator that has these members."""
    cases = [one for one in listed(pack)["cases"] if one["operator"] == operator]
    return str(next(one["name"] for one in cases if all(one[key] == value for key, value in wanted.items())))


def answer(pack: Path, results: Path) -> Path:
    """Run the models of a pack with dmlcy, and refuse what check refuses."""
    for case in listed(pack)["cases"]:
        done = command("run", pack / case["name"] / "model.json", "--output-path", results / case["name"], run=main)
        assert done.status == 0, done.err
    for one in listed(pack)["refusals"]:
        kind = desc_class(OPERATORS[one["operator"]].name)
        entries = json.loads((pack / one["file"]["path"]).read_text(encoding="utf-8"))["refusals"]
        refused = {entry["id"]: kind.from_dict(entry["operator"])._violations(len(LEVELS) - 1) for entry in entries}
        path = results / one["file"]["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({id_: "E_INVALIDARG" if found else "S_OK" for id_, found in refused.items()}))
    return results


def compare(pack: Path, results: Path, *options: object) -> Done:
    return command("compare", pack, results, *options)


def verdicts(pack: Path, results: Path, *options: object) -> dict[str, str]:
    """The verdict of each case and of each desc that must be refused."""
    report = json.loads(compare(pack, results, "--json", *options).out)
    return {one["name"]: one["verdict"] for one in report["cases"]} | {
        one["id"]: one["verdict"] for one in report["refusals"]
    }


def listed_again(pack: Path, case: str) -> None:
    """Put the files of a case into the list of its pack as they are now."""
    whole = listed(pack)
    (entry,) = [one for one in whole["cases"] if one["name"] == case]
    paths = sorted(path for path in (pack / case).rglob("*") if path.is_file())
    entry["files"] = [File.of(pack / case, path).to_json() for path in paths]
    (pack / "pack.json").write_text(json.dumps(whole), encoding="utf-8")


def expected_of(pack: Path, case: str) -> tuple[Any, Any, Any]:
    """The manifest of a case, the values of its first output, and the differences that pass; None: none does."""
    folder = pack / case / "expected"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    output = manifest["outputs"][0]
    accuracy = output["accuracy"]
    allowed = None if accuracy == "exact" else np.load(folder / accuracy["allowed"])
    return manifest, np.load(folder / output["file"]), allowed
