"""The layer between a program of C++ and its device: the program sees the same, and lint sees what it did."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from compilers import COMPILERS, FOLDER, SANITIZED, WINDOWS, Programs
from depth import deep

from dmlcy._cli import main
from dmlcy._frontends.dxdispatch.returned import returned_to

LAYERED = FOLDER / "layered.cpp"
CALLS = (
    "00000000-CompileGraph", "00000000-CompileOperator-ACTIVATION_RELU", "8007000e-CompileOperator-ACTIVATION_RELU",
    "80070057-CompileGraph", "80070057-CreateOperator-AVERAGE_POOLING",
)  # fmt: skip
"""The calls of the program that have a file each."""


def run(program: Path, *arguments: object, **variables: str) -> str:
    """The standard error of the program, which fails if it sees a wrong value."""
    environment = {name: value for name, value in os.environ.items() if name != "DMLCY_LAYER"} | variables
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stdout, done.stderr
    return done.stderr


@pytest.fixture
def program(programs: Programs) -> Path:
    return programs.built(LAYERED, "-pthread", *SANITIZED)


def lint(*arguments: object) -> tuple[int, str, str]:
    """Status, report and messages."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["lint", *map(str, arguments)])
    return status, out.getvalue(), err.getvalue()


def calls_in(folder: Path) -> tuple[str, ...]:
    """The names of the files, without the hash of each."""
    return tuple(sorted(path.name.rpartition("-")[0] for path in folder.iterdir()))


def test_every_call_has_a_file(program: Path, tmp_path: Path) -> None:
    """Each desc and result has one file, with one thread or four, in a new run as well. No file is half-written."""
    folder = tmp_path / "a" / "b"
    for way in ("calls", "threads", "calls"):
        assert run(program, way, folder) == ""
        assert calls_in(folder) == CALLS
    assert all(json.loads(path.read_text(encoding="utf-8")) for path in folder.iterdir())


def test_lint_says_what_was_refused(program: Path, tmp_path: Path) -> None:
    run(program, "calls", tmp_path)
    status, text, _ = lint("--only-refused", tmp_path)
    assert status == 1 and "3 files" in text
    assert "window_size[1] does not fit" in text and "nearest valid value: 8" in text
    assert "note: CreateOperator returned 80070057 (E_INVALIDARG)\n" in text
    assert "No edge leads to input of node 0" in text
    assert "CompileOperator returned 8007000E (E_OUTOFMEMORY), but dmlcy finds nothing wrong" in text
    status, text, _ = lint("--json", tmp_path)
    found = json.loads(text)["files"]
    assert len(found) == len(CALLS)
    named = [f"{one['returned']['hresult'].lower()}-{one['returned']['call']}" for one in found]
    assert Counter(named) == Counter("-".join(call.split("-")[:2]) for call in CALLS)
    compiled = next(one for one in found if "00000000-CompileGraph" in one["file"])
    assert compiled["status"] == 0 and compiled["findings"] == [] and compiled["dispatchables"][0]["nodes"] == 3


def test_constants_are_written_where_they_are_asked_for(program: Path, tmp_path: Path) -> None:
    for way, data in (("calls", {"valueCount": 16, "value": 0}), ("constants", [0, 0, 128, 63, 0, 0, 0, 64])):
        run(program, way, tmp_path / way)
        (path,) = (tmp_path / way).glob("00000000-CompileGraph-*")
        node = json.loads(path.read_text(encoding="utf-8"))["Nodes"][2]
        assert (node["Desc"]["Name"], node["Desc"]["DataSize"]) == ("weights", 16)
        values = node["Desc"]["Data"]["initialValues"]
        assert (values if way == "calls" else values[:8]) == data


def test_an_operator_of_another_device(program: Path, tmp_path: Path) -> None:
    run(program, "elsewhere", tmp_path)
    assert calls_in(tmp_path) == ("00000000-CompileGraph", "00000000-CompileOperator-unknown")
    status, text, _ = lint(tmp_path)
    assert status == 1 and "another device made this operator" in text and "dmlcy refuses" not in text


def test_an_older_device_stays_one(program: Path, tmp_path: Path) -> None:
    run(program, "old", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_variable(program: Path, tmp_path: Path) -> None:
    assert run(program, "variable") == ""
    run(program, "variable", DMLCY_LAYER=str(tmp_path / "found"))
    assert calls_in(tmp_path / "found") == CALLS


def test_a_folder_that_cannot_be_written(program: Path, tmp_path: Path) -> None:
    """The program goes on, and is told once."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = run(program, "calls", tmp_path / "file")
    assert said == f"dmlcy: no files can be written to {tmp_path / 'file'}\n"


@pytest.mark.skipif(os.name != "posix", reason="only POSIX limits the size of files so")
def test_a_disk_that_is_full(program: Path, tmp_path: Path) -> None:
    """No half of a file is left."""
    command = f"trap '' XFSZ; ulimit -f 0; exec {program} threads {tmp_path / 'descs'}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and "no files can be written" in done.stderr
    assert list((tmp_path / "descs").iterdir()) == []


def test_off(programs: Programs, tmp_path: Path) -> None:
    """Nothing is compiled of it, and nothing is written."""
    program = programs.built(LAYERED, "-pthread", "-DDMLCY_LAYER_OFF")
    run(program, "calls", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert b"another device" not in program.read_bytes()


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A program that has nothing but the layer."""
    path = tmp_path / "alone.cpp"
    path.write_text('#include "dmlcy_layer.h"\nHRESULT use(IDMLDevice** it) { return dmlcy::layer(it, "descs"); }\n')
    return path


def test_older_headers_have_no_graphs(alone: Path, programs: Programs) -> None:
    programs.compile(alone, "-fsyntax-only", "-DDML_TARGET_VERSION=0x2000", "-fno-exceptions")


@pytest.mark.parametrize("compiler", [pytest.param(one, marks=deep) for one in (*COMPILERS[1:], f"{WINDOWS}-posix")])
def test_other_compilers_take_the_layer(compiler: str, alone: Path, programs: Programs) -> None:
    """The library of MinGW-w64 has no threads, unless it is that of POSIX."""
    programs.compile(alone if compiler == WINDOWS else LAYERED, "-fsyntax-only", compiler=compiler)


def test_names_of_files_that_say_nothing() -> None:
    for name in ("model.json", "80070057.json", "80070057-Other-a.json", "x80070057-CreateOperator-a.json"):
        assert returned_to(name) is None
    found = returned_to("folder/887a0005-CompileGraph-0123456789abcdef.json")
    assert found is not None and found.refused
    assert found.words == "CompileGraph returned 887A0005 (DXGI_ERROR_DEVICE_REMOVED)"


def test_lint_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.json", "a.JSON", "c.txt"):
        (tmp_path / name).write_text('{"type": "DML_OPERATOR_CAST", "desc": {}}', encoding="utf-8")
    status, text, _ = lint(tmp_path)
    assert status == 1 and text.index("a.JSON") < text.index("b.json") and "c.txt" not in text
    assert lint("--only-refused", tmp_path) == (0, "", "dmlcy lint: no file belongs to a call that DirectML refused.\n")
