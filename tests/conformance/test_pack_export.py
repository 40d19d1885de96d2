"""``python -m dmlcy.testing export`` writes the same bytes each time, and cases of all possible mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from depth import deep, in_turn
from packs import NAMES, answer, command, compare, expected_of, export, listed

import dmlcy as dml
from dmlcy._conformance import write
from dmlcy._conformance.cases import Case
from dmlcy._conformance.values import values_for
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import ENUMS, LEVEL_INDEX, OPERATORS, RUNNABLE
from dmlcy._field_types.tensor import dtypes_at
from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.packs.pack import Pack


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_seed_gives_the_same_bytes_in_another_process(pack: Path, tmp_path: Path) -> None:
    """And beside other operators: what a process has imported makes no difference."""
    name = NAMES[-1]
    arguments = [sys.executable, "-m", "dmlcy.testing", "export", "again", "--operators", name, "--cases", "2"]
    done = subprocess.run(arguments, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    again = {path: data for path, data in files(tmp_path / "again").items() if path != "pack.json"}
    own = {path: data for path, data in files(pack).items() if path.startswith(f"{name}{os.sep}")}
    assert again == own


def test_another_seed_gives_other_cases(pack: Path, tmp_path: Path) -> None:
    other = export(tmp_path / "other", "--operators", "join", "--cases", 2, "--seed", 7)
    drawn = [name for name in files(other) if "drawn" in name]
    assert drawn and files(other) != {name: data for name, data in files(pack).items() if name in files(other)}


def test_every_file_is_listed_with_its_digest(pack: Path) -> None:
    whole = listed(pack)
    entries = {f"{case['name']}/{file['path']}": file for case in whole["cases"] for file in case["files"]}
    entries |= {one["file"]["path"]: one["file"] for one in whole["refusals"]}
    found = {name.replace(os.sep, "/"): data for name, data in files(pack).items() if name != "pack.json"}
    assert found.keys() == entries.keys()
    for name, data in found.items():
        assert (len(data), sha256(data).hexdigest()) == (entries[name]["size_in_bytes"], entries[name]["sha256"])


def test_examples_come_first_then_drawn_ones(pack: Path) -> None:
    for name in NAMES:
        cases = [case for case in listed(pack)["cases"] if case["operator"] == name]
        origins = [case["origin"] for case in cases]
        assert origins == sorted(origins, reverse=True) == ["example"] * len(OPERATORS[name].examples) + ["drawn"] * 2


def test_a_level_has_only_its_cases(pack: Path, tmp_path: Path) -> None:
    old = export(tmp_path / "old", "--operators", "average_pooling,max_pooling2,join", "--cases", 1, "--level", "1_0")
    assert {case["feature_level"] for case in listed(old)["cases"]} == {"1_0"}
    assert {case["operator"] for case in listed(old)["cases"]} == {"AVERAGE_POOLING", "JOIN"}


def test_a_pack_of_examples_has_no_drawn_cases_and_no_refusals(tmp_path: Path) -> None:
    whole = listed(export(tmp_path / "examples", "--operators", "join", "--cases", 0))
    assert {case["origin"] for case in whole["cases"]} == {"example"} and not whole["refusals"]


def test_values_are_near_their_exact_ones_and_differences_that_pass_are_not_negative(pack: Path) -> None:
    bounded = 0
    for case in listed(pack)["cases"]:
        manifest, values, allowed = expected_of(pack, case["name"])
        assert values.shape == tuple(manifest["outputs"][0]["sizes"])
        if allowed is not None:
            bounded += 1
            assert allowed.dtype == np.float64 and allowed.shape == values.shape
            assert not (allowed < 0).any()
    assert bounded


def test_each_refusal_has_an_id_of_its_own(pack: Path) -> None:
    for one in listed(pack)["refusals"]:
        entries = json.loads((pack / one["file"]["path"]).read_text(encoding="utf-8"))["refusals"]
        ids = [entry["id"] for entry in entries]
        assert ids == sorted({*ids}) and len(ids) == one["count"] > 10
        assert all(id_.startswith(f"DML-{one['operator']}-") for id_ in ids)


def test_a_folder_that_is_not_empty_is_refused(pack: Path) -> None:
    before = files(pack)
    done = command("export", pack, "--operators", "join")
    assert done.status == 2 and "DML-MODEL-write" in done.err and files(pack) == before


@pytest.mark.parametrize("option", [("--operators", "bogus"), ("--level", "9_9"), ("--cases", "-1"), ("--seed", "x")])
def test_wrong_options_are_refused(option: tuple[str, str], tmp_path: Path) -> None:
    done = command("export", tmp_path / "none", *option)
    assert done.status == 2 and option[0] in done.err and not (tmp_path / "none").exists()


def refused(desc: OperatorDesc, field: str, member: str) -> bool:
    """Whether a desc with another member of an enum breaks a rule about that field."""
    changed = type(desc)(**(desc._values() | {field: member}))
    return any(violation.field == field for violation in dml.check(changed))


def test_a_case_of_4_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case is the same with ml_dtypes and without, and dmlcy's results for it pass."""
    packed, numbers = dml.TensorDesc("INT4", (3, 5)), dml.TensorDesc("FLOAT32", (3, 5))
    desc = dml.desc.Quantize(
        input=numbers, quantizations=[numbers, packed], quantization_type="SCALE_ZERO_POINT", output=packed
    )
    found = []
    for folder in ("with", "without"):
        arrays = values_for(desc, special=False, number=1)
        assert arrays is not None
        entry = write._case(tmp_path / folder, Case(desc, arrays, "drawn", 1))
        (tmp_path / folder / "pack.json").write_bytes(Pack(0, "6_4", (entry,), ()).to_bytes())
        found.append(files(tmp_path / folder))
        monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    assert found[0] == found[1] and entry.dtypes == ("FLOAT32", "INT4")
    assert np.load(tmp_path / "with" / entry.name / "expected" / "output.npy").shape == (8,)
    results = answer(tmp_path / "with", tmp_path / "right")
    assert compare(tmp_path / "with", results).status == 0
    (file,) = results.rglob("output.npy")
    data = np.load(file)
    data[0] ^= 0x80
    np.save(file, data)
    assert compare(tmp_path / "with", results).status == 1


@in_turn
@deep
@pytest.mark.parametrize("name", RUNNABLE)
def test_the_cases_of_each_operator_pass_when_dmlcy_runs_them(name: str, tmp_path: Path) -> None:
    """And they have every data type of every input, and every member of every enum."""
    pack = export(tmp_path / "pack", "--operators", name)
    done = compare(pack, answer(pack, tmp_path / "right"))
    assert done.status == 0, done.out
    operator, met, descs = OPERATORS[name], set(), []
    for case in listed(pack)["cases"]:
        desc = manifest_reader.read(pack / case["name"] / "expected").manifest.outputs[0].desc
        descs.append(desc)
        for field in operator.fields:
            value = getattr(desc, field.python)
            several = value if isinstance(value, tuple) else (value,)
            met |= {(field.python, getattr(getattr(one, "dtype", one), "name", None)) for one in several}
    for field in operator.fields:
        if field.kind == "input":
            names = {*dtypes_at(field, len(LEVEL_INDEX) - 1)}
        elif field.type.startswith("enum:") and field.value is None:
            members = ENUMS[field.type.removeprefix("enum:")].members
            names = {member for member in members if any(not refused(desc, field.python, member) for desc in descs)}
        else:
            continue
        left = {one for one in names if (field.python, one) not in met}
        assert len(left) <= len(names) // 4, (field.python, left)
