"""``python -m dmlcy.testing compare`` finds each planted error, and nothing in results that are right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from old_manifests import aged
from packs import NAMES, RIGHT, answer, case_of, compare, expected_of, export, listed, listed_again, verdicts

from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.packs import reader

AVERAGE, JOIN, MAXIMUM = NAMES


def test_right_results_pass(pack: Path, right: Path) -> None:
    done = compare(pack, right)
    assert done.status == 0 and not done.err
    assert {*verdicts(pack, right).values()} <= RIGHT
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.startswith(NAMES)}
    counts = {name: sum(case["operator"] == name for case in listed(pack)["cases"]) for name in NAMES}
    assert {name: int(row[0]) + int(row[5]) for name, row in rows.items()} == counts
    assert not any(int(number) for row in rows.values() for number in row[1:5])
    assert sum(int(row[5]) for row in rows.values()) < sum(counts.values()) // 4


def bounded(pack: Path) -> tuple[str, Path, np.ndarray, np.ndarray]:
    """The example with a bound: its name, the file of its output, its values, the differences that pass."""
    case = case_of(pack, AVERAGE, origin="example")
    manifest, values, allowed = expected_of(pack, case)
    return case, Path(manifest["outputs"][0]["written_to"][0]), values, allowed


def test_the_last_number_that_passes_passes_and_the_next_one_fails(pack: Path, results: Path) -> None:
    case, file, values, allowed = bounded(pack)
    at = (0,) * values.ndim
    number = values[at]
    while abs(float(np.nextafter(number, np.float32(np.inf))) - float(values[at])) <= allowed[at]:
        number = np.nextafter(number, np.float32(np.inf))
    assert number != values[at]
    for planted, verdict in ((number, "passed"), (np.nextafter(number, np.float32(np.inf)), "failed")):
        changed = values.copy()
        changed[at] = planted
        np.save(results / case / file, changed)
        assert verdicts(pack, results)[case] == verdict
    done = compare(pack, results)
    assert done.status == 1 and f"the first at {list(at)}" in done.out and "times what passes" in done.out


def planted(values: np.ndarray) -> dict[str, np.ndarray]:
    wrong = values.copy()
    wrong.flat[-1] = np.nan
    infinite = values.copy()
    infinite.flat[0] = np.inf
    return {"NaN": wrong, "infinity": infinite, "zeros": np.zeros_like(values)}


@pytest.mark.parametrize("kind", ["NaN", "infinity", "zeros"])
def test_wrong_elements_are_found(kind: str, pack: Path, results: Path) -> None:
    case, file, values, _ = bounded(pack)
    np.save(results / case / file, planted(values)[kind])
    found = verdicts(pack, results)
    assert found.pop(case) == "failed" and {*found.values()} <= RIGHT
    assert compare(pack, results).status == 1


def test_elements_in_another_order_are_found(pack: Path, results: Path) -> None:
    case = case_of(pack, JOIN, origin="example")
    manifest, values, _ = expected_of(pack, case)
    np.save(results / case / manifest["outputs"][0]["written_to"][0], np.flip(values).copy())
    assert verdicts(pack, results)[case] == "failed"


def test_a_zero_of_the_other_sign_passes(tmp_path: Path) -> None:
    pack = export(tmp_path / "pack", "--operators", "ACTIVATION_RELU", "--cases", 1)  # its example gives a zero
    results = answer(pack, tmp_path / "results")
    before = verdicts(pack, results)
    for case in (one["name"] for one in listed(pack)["cases"]):
        _, values, _ = expected_of(pack, case)
        if not (values == 0).any() or values.dtype.kind != "f" or before[case] != "passed":
            continue
        path = next((results / case).glob("output.npy"))
        actual = np.load(path)
        np.save(path, np.where(actual == 0, -actual, actual))
        assert verdicts(pack, results)[case] == "passed"
        return
    pytest.fail("no case has a zero")


def test_a_suspect_case_is_named(pack: Path, right: Path, tmp_path: Path) -> None:
    """A suspect case fails only where the user asks for strictness."""
    own, results = copied(pack, tmp_path), shutil.copytree(right, tmp_path / "results")
    case, file, values, allowed = bounded(own)
    np.save(own / case / "expected" / "typical" / "output.npy", np.zeros_like(allowed))
    listed_again(own, case)
    values[..., 0] = np.nextafter(values[..., 0], np.float32(np.inf))
    np.save(results / case / file, values)
    done, report = compare(own, results), json.loads(compare(own, results, "--json").out)
    (found,) = [one for one in report["cases"] if one["verdict"] not in RIGHT]
    assert (done.status, report["passed"], found["name"], found["verdict"]) == (0, False, case, "suspect")
    assert found["outputs"][0]["suspect"] == 2 and found["outputs"][0]["first_suspect"][0] == [0, 0, 0, 0]
    first, second, *_, last = done.out.splitlines()
    assert first == f"suspect  {case}"
    assert second.startswith(
        "  output.npy: 2 of 4 elements are suspect, the first at [0, 0, 0, 0]; the worst at [0, 0, "
    )
    assert last.startswith("cases: ") and ", 1 suspect" in last
    assert compare(own, results, "--strict").status == 1


def test_a_case_of_which_no_element_is_judged(pack: Path, right: Path, tmp_path: Path) -> None:
    """The case is named with the interpretation's id, and counted. With any values, it neither passes nor fails."""
    own, results = copied(pack, tmp_path), shutil.copytree(right, tmp_path / "results")
    case, file, values, _ = bounded(own)
    folder, id_ = own / case / "expected", "AVERAGE_POOLING-window-only-padding"
    np.save(folder / "marks.npy", np.ones(values.shape, np.uint8))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["outputs"][0]["not_judged"] = [{"id": id_, "file": "marks.npy"}]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    listed_again(own, case)
    np.save(results / case / file, np.full_like(values, np.nan))
    done = compare(own, results, "--operators", AVERAGE)
    assert done.status == 0 and verdicts(own, results)[case] == "not judged"
    lines = done.out.splitlines()
    assert lines[0] == f"not judged  {case}" and lines[1] == f"  output.npy: no element is judged, {id_}"
    report = json.loads(compare(own, results, "--operators", AVERAGE, "--json").out)
    count, idle = len(report["cases"]), sum(one["verdict"] == "not judged" for one in report["cases"])
    left_out = [one["outputs"][0]["not_judged_by"] for one in report["cases"]]
    assert f"not judged: {sum(one.get(id_, 0) for one in left_out)} elements, {id_}" in lines
    every = sum(one["outputs"][0]["not_judged"] for one in report["cases"])
    assert (
        lines[-1] == f"cases: {count}, of which {count - idle} passed, {idle} not judged; {every} elements not judged"
    )
    assert not report["passed"]
    assert [one["outputs"][0]["not_judged_by"] for one in report["cases"] if one["name"] == case] == [{id_: 4}]
    assert compare(own, results, "--operators", AVERAGE, "--strict").status == 1


def test_the_options_replace_what_passes(pack: Path, results: Path) -> None:
    case, file, values, _ = bounded(pack)
    changed = values.copy()
    changed.flat[0] = np.nextafter(values.flat[0], np.float32(np.inf))
    np.save(results / case / file, changed)
    for options, verdict in (
        (["--ulp", 0], "failed"),
        (["--ulp", 1], "passed"),
        (["--allow-half-precision"], "passed"),
    ):
        assert verdicts(pack, results, *options)[case] == verdict
    np.save(results / case / file, np.zeros_like(values))
    for options, verdict in ((["--rtol", 1], "passed"), (["--rtol", 0.9], "failed"), (["--atol", 7], "passed")):
        assert verdicts(pack, results, *options)[case] == verdict
    done = compare(pack, results, "--atol", "-1")
    assert done.status == 2 and 'argument --atol: it must be a finite number, 0 or more, not "-1"' in done.err


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FILES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "another data type": (lambda path: np.save(path, np.load(path).astype("f8")), "failed", "DML-MODEL-npy-type"),
    "other sizes": (lambda path: np.save(path, np.load(path).reshape(-1)[:-1]), "failed", "DML-MODEL-npy-sizes"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "unreadable", "DML-MODEL-npy"),
    "no array": (lambda path: path.write_bytes(b"no array"), "unreadable", "DML-MODEL-npy"),
    "a folder": (_a_folder, "unreadable", "DML-MODEL-source"),
    "missing": (lambda path: path.unlink(), "missing", "DML-MODEL-actual-missing"),
}


@pytest.mark.parametrize("kind", FILES)
def test_broken_files_are_told_with_their_id(kind: str, pack: Path, results: Path) -> None:
    break_, verdict, id_ = FILES[kind]
    case, file, *_ = bounded(pack)
    break_(results / case / file)
    report = json.loads(compare(pack, results, "--json").out)
    (found,) = [one for one in report["cases"] if one["verdict"] not in RIGHT]
    assert (found["name"], found["verdict"]) == (case, verdict)
    assert found["outputs"][0]["problem"]["id"] == id_
    done = compare(pack, results)
    assert done.status == (2 if verdict == "unreadable" else 1)
    assert verdict == "missing" or id_ in done.out


def test_what_was_not_run_is_missing_and_may_be(pack: Path, results: Path) -> None:
    shutil.rmtree(results / JOIN)
    found = verdicts(pack, results)
    assert {name for name, verdict in found.items() if verdict == "missing"} == {
        name for name in found if name.startswith((JOIN, f"DML-{JOIN}-"))
    }
    assert compare(pack, results).status == 1
    assert compare(pack, results, "--allow-missing").status == 0
    assert compare(pack, results, "--operators", AVERAGE).status == 0


def test_results_of_nothing_never_pass(pack: Path, tmp_path: Path) -> None:
    assert compare(pack, tmp_path, "--allow-missing").status == 1


def test_one_missing_output_of_several_is_not_allowed(pack: Path, results: Path) -> None:
    """The case is missing, not failed, and named; only a case without any result may be."""
    case = next(name for name in verdicts(pack, results) if len([*(results / name).glob("*.npy")]) > 1)
    (results / case / "output_indices.npy").unlink()
    found = verdicts(pack, results)
    assert found.pop(case) == "missing" and {*found.values()} <= RIGHT
    for options in ([], ["--allow-missing"]):
        done = compare(pack, results, *options)
        assert done.status == 1
        first, second, *_ = done.out.splitlines()
        assert first == f"MISSING  {case}" and second.startswith("  output_indices.npy: ")
        assert "1 missing" in done.out and "failed," not in done.out


def test_a_desc_that_is_accepted_fails(pack: Path, results: Path) -> None:
    path = results / JOIN / "refusals.json"
    answers = json.loads(path.read_text())
    id_ = next(iter(answers))
    path.write_text(json.dumps(answers | {id_: "S_OK"}))
    done = compare(pack, results)
    assert done.status == 1 and f"{id_}: S_OK in place of E_INVALIDARG" in done.out
    assert verdicts(pack, results)[id_] == "failed"


ANSWERS = {
    '{"bogus": "S_OK"}': "DML-MODEL-pack-result",
    '{"ID": 1}': "DML-MODEL-pack-result",
    "[]": "DML-MODEL-type",
    "{": "DML-MODEL-json",
}


@pytest.mark.parametrize("text", ANSWERS)
def test_answers_that_cannot_be_read_are_told_with_their_id(text: str, pack: Path, results: Path) -> None:
    path = results / JOIN / "refusals.json"
    path.write_text(text.replace("ID", next(iter(json.loads(path.read_text())))))
    report = json.loads(compare(pack, results, "--json").out)
    found = [one for one in report["refusals"] if one["verdict"] == "unreadable"]
    assert found and {one["problem"]["id"] for one in found} == {ANSWERS[text]}
    assert compare(pack, results).status == 2


def test_results_that_are_no_folder_are_refused(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "none", tmp_path / "file"):
        done = compare(pack, path)
        assert done.status == 2 and "DML-MODEL-actual" in done.err


# Packs that are damaged


def copied(pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pack, tmp_path / "pack"))


def test_hostile_names_are_escaped(pack: Path, right: Path, tmp_path: Path) -> None:
    """Of a case, and of a desc that must be refused, whose files list what a terminal would obey."""
    name, own, results = "\x1b[31mred\n\u202e", copied(pack, tmp_path), tmp_path / "results"
    shutil.copytree(right, results)
    whole, case = listed(own), case_of(pack, AVERAGE, origin="example")
    for folder in (own, results):
        (folder / case).rename(folder / name)
    next(one for one in whole["cases"] if one["name"] == case)["name"] = name
    np.save(results / name / "output.npy", np.load(results / name / "output.npy") + 1)
    file = whole["refusals"][0]["file"]
    refusals = json.loads((own / file["path"]).read_text())
    refusals["refusals"][0] |= {"id": name, "message": name}
    (own / file["path"]).write_text(json.dumps(refusals))
    data = (own / file["path"]).read_bytes()
    file |= {"size_in_bytes": len(data), "sha256": sha256(data).hexdigest()}
    (results / file["path"]).write_text(json.dumps({name: name}))
    (own / "pack.json").write_text(json.dumps(whole))
    for options in ([], ["--json"]):
        done = compare(own, results, *options)
        assert done.status == 1 and (options or done.out.count(r"\x1b[31mred\n\u202e") == 4)
        assert all(line.isprintable() for line in (done.out + done.err).split("\n"))


def test_a_file_that_changed_is_refused(pack: Path, right: Path, tmp_path: Path) -> None:
    own = copied(pack, tmp_path)
    path = own / case_of(own, JOIN) / "expected" / "output.npy"
    data = path.read_bytes()
    for changed in (data[:-1], data + b"\0", data[:-1] + bytes([data[-1] ^ 1]), None):
        path.unlink() if changed is None else path.write_bytes(changed)
        done = compare(own, right)
        assert done.status == 2 and "DML-MODEL-pack-changed" in done.err and not done.out
        assert compare(own, right, "--operators", AVERAGE).status == 0


@pytest.mark.parametrize("file", ["output.npy", "allowed/output.npy", "inputs/input.npy", "manifest.json"])
def test_a_file_that_the_list_lacks_is_refused(file: str, pack: Path, right: Path, tmp_path: Path) -> None:
    """Nothing would notice that it was changed."""
    own, case = copied(pack, tmp_path), case_of(pack, AVERAGE, origin="example")
    whole = listed(own)
    (entry,) = [one for one in whole["cases"] if one["name"] == case]
    entry["files"] = [one for one in entry["files"] if one["path"] != f"expected/{file}"]
    (own / "pack.json").write_text(json.dumps(whole))
    done = compare(own, right)
    assert done.status == 2 and "[DML-MODEL-pack-list]" in done.err and f"expected/{file}" in done.err


def test_an_old_pack_is_judged_and_a_line_says_so(pack: Path, right: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reader, manifest_reader):
        newer = replace(module.VERSIONS, newest=module.VERSIONS.newest + 1)
        monkeypatch.setattr(module, "VERSIONS", newer)
    done = compare(pack, right)
    assert done.status == 0 and done.err.count("[DML-MODEL-version-old]") == 1


def test_a_pack_of_manifests_of_version_2(pack: Path, right: Path, tmp_path: Path) -> None:
    """Each manifest is judged by the file of allowed errors, without doubling. One line says so."""
    own, results = copied(pack, tmp_path), shutil.copytree(right, tmp_path / "results")
    for one in listed(own)["cases"]:
        aged(own / one["name"] / "expected", allowed=True)
        listed_again(own, one["name"])
    done = compare(own, results, "--operators", AVERAGE)
    assert done.status == 0 and done.err.count("[DML-MODEL-version-old]") == 1
    case, file, values, allowed = bounded(own)
    for part, verdict in ((1.0, "passed"), (1.5, "failed")):
        changed = values.copy()
        changed.flat[0] += np.float32(part * allowed.flat[0])
        np.save(results / case / file, changed)
        assert verdicts(own, results)[case] == verdict


LISTS: dict[str, tuple[dict[str, Any] | None, str]] = {
    "not there": (None, "DML-MODEL-pack"),
    "another format": ({"format": "x"}, "DML-MODEL-pack"),
    "no version": ({"version": None}, "DML-MODEL-type"),
    "a newer version": ({"version": 99}, "DML-MODEL-version"),
    "a version that never was": ({"version": 0}, "DML-MODEL-version"),
    "a path that leaves": ({"cases.0.name": "../x"}, "DML-MODEL-pack-path"),
    "an absolute path": ({"cases.0.files.0.path": "/etc/passwd"}, "DML-MODEL-pack-path"),
    "an unknown operator": ({"cases.0.operator": "BOGUS"}, "DML-MODEL-reference"),
    "an unknown level": ({"cases.0.feature_level": "9_9"}, "DML-MODEL-reference"),
    "another type": ({"cases": 1}, "DML-MODEL-type"),
    "a case without files": ({"cases.0.files": []}, "DML-MODEL-pack-list"),
    "a case twice": ({"cases.1": {"cases.0"}}, "DML-MODEL-pack-list"),
    "answers twice": ({"refusals.1": {"refusals.0"}}, "DML-MODEL-pack-list"),
    "a size beyond every file": ({"cases.0.files.0.size_in_bytes": 2**63 - 1}, "DML-MODEL-pack-changed"),
    "a size beyond the memory": ({"cases.0.files.0.size_in_bytes": 2**36}, "DML-MODEL-pack-changed"),
    "no cases": ({"cases": [], "refusals": []}, "DML-MODEL-pack"),
}


def inside(whole: Any, steps: list[str]) -> Any:
    for step in steps:
        whole = whole[int(step)] if isinstance(whole, list) else whole[step]
    return whole


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_that_is_wrong_is_refused(kind: str, pack: Path, right: Path, tmp_path: Path) -> None:
    own, (changes, id_) = copied(pack, tmp_path), LISTS[kind]
    if changes is None:
        (own / "pack.json").unlink()
    else:
        whole = listed(own)
        for path, value in changes.items():
            *steps, last = path.split(".")
            owner = inside(whole, steps)
            wanted = inside(whole, next(iter(value)).split(".")) if isinstance(value, set) else value
            owner[int(last) if isinstance(owner, list) else last] = wanted
        (own / "pack.json").write_text(json.dumps(whole))
    done = compare(own, right)
    assert done.status == 2 and f"[{id_}]" in done.err, done.err
