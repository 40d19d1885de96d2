"""Models executed: what is bound, printed and written."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import first_of_each
from helpers import FLOATS, execute, model, padding, parse, refused
from hypothesis import given
from hypothesis import strategies as st

from dmlcy._cli import command_line, main
from dmlcy._facts.tables import RUNNABLE
from dmlcy._frontends.dxdispatch import resources, show
from dmlcy._frontends.dxdispatch.files import target_parts
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.run import Options, run

EXAMPLES = [
    (name, number) for name, operator in sorted(RUNNABLE.items()) for number in range(1, len(operator.examples) + 1)
]
ZEROS = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 5, "value": 0}}


def write(path: str, **more: Any) -> dict[str, Any]:
    return {"type": "writeFile", "resource": "out", "targetPath": path, **more}


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "dmlcy", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The same in this process, which has no standard input."""
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(str(ended.code))
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), error.getvalue())


@given(st.floats(width=32))
def test_floats_are_printed_as_by_a_stream(value: float) -> None:
    printed = "".join(show.line(np.array([value], np.float32)))
    assert re.fullmatch(r"-?\d(\.\d{1,5})?(e[+-]\d\d)?|-?\d{1,6}(\.\d{1,5})?|-?0\.0{0,4}\d{1,6}|-?inf|nan", printed), (
        printed
    )
    assert np.isnan(value) if printed == "nan" else float(printed) == pytest.approx(value, rel=1e-5)


def test_formats() -> None:
    floats = np.array([1.5, -0.432332, 1e6, 123456, np.inf, -np.inf, np.nan, -0.0, 1e-5], np.float32)
    assert "".join(show.line(floats)) == "1.5, -0.432332, 1e+06, 123456, inf, -inf, nan, -0, 1e-05"
    assert "".join(show.line(np.array([-1, 65], np.int8))) == "-1, 65"
    assert "".join(show.line(np.array([2**64 - 1], np.uint64))) == "18446744073709551615"
    assert "".join(show.lines(np.array([1] * 9 + [-2], np.float32))).splitlines()[8:] == [
        "[ 8] 1 (0x3F800000)",
        "[ 9] -2 (0xC0000000)",
    ]
    assert "".join(show.lines(np.array([-1], np.int8))) == "[0] -1 (0xFF)\n"
    assert "".join(show.line(np.zeros(70000, np.uint8))) == ", ".join(["0"] * 70000)


def test_the_long_form_of_a_scalar() -> None:
    assert execute(model(dispatchables={"pad": padding(PaddingValue={"Float32": 9})})) == execute(model())


def test_the_model_runs() -> None:
    assert execute(model()) == "Resource 'out': 9, 1, 2, 3, 9\n"


def test_dispatch_line() -> None:
    out = io.StringIO()
    run(parse(model(commands=model()["commands"][:1])), out, Options(iterations=3))
    assert re.fullmatch(r"Dispatch 'pad': 3 iterations, \d+\.\d{4} ms median \(CPU\)\n", out.getvalue())


def test_verbose() -> None:
    printed = execute(model(commands=[model()["commands"][0], {"type": "print", "resource": "in", "verbose": True}]))
    assert printed == "Resource 'in':\n[0] 1 (0x3F800000)\n[1] 2 (0x40000000)\n[2] 3 (0x40400000)\n"


def test_padding_to_four_bytes_is_not_shown() -> None:
    resources = {"x": {"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3]}}
    commands = [{"type": "print", "resource": "x"}]
    assert execute(model(resources=resources, dispatchables={}, commands=commands)) == "Resource 'x': 1, 2, 3\n"


def test_a_buffer_bound_as_another_type() -> None:
    resources = {
        **model()["resources"],
        "in": {"initialValuesDataType": "UINT32", "initialValues": [0x3F800000, 0x40000000, 0x40400000]},
    }
    assert execute(model(resources=resources)) == "Resource 'out': 9, 1, 2, 3, 9\n"


def test_offsets_and_strides() -> None:
    data = {"initialValuesDataType": "FLOAT32", "initialValues": [0, 1, 0, 2, 0, 3]}
    pad = padding(InputTensor={"DataType": "FLOAT32", "Sizes": [3], "Strides": [2]})
    binding = {"name": "in", "elementOffset": 1}
    commands = [
        {"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": binding, "OutputTensor": "out"}},
        {"type": "print", "resource": "out"},
    ]
    whole = model(resources={"in": data, "out": ZEROS}, dispatchables={"pad": pad}, commands=commands)
    assert execute(whole) == "Resource 'out': 9, 1, 2, 3, 9\n"
    binding.update(elementOffset=2, elementSizeInBytes=2)
    assert execute(whole) == "Resource 'out': 9, 1, 2, 3, 9\n"
    binding["elementOffset"] = 4
    refused("DML-MODEL-buffer-size", "$.commands[0].bindings.InputTensor", execute, whole)
    binding["elementOffset"] = 2**63
    refused("DML-MODEL-buffer-size", "$.commands[0].bindings.InputTensor", execute, whole)


def test_a_buffer_that_is_too_small() -> None:
    resources = {**model()["resources"], "out": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]}}
    refused("DML-MODEL-buffer-size", "$.commands[0].bindings.OutputTensor", execute, model(resources=resources))


def test_an_output_over_an_input() -> None:
    """Refused before anything is executed; beside it in the same buffer it may be."""
    data = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 0, 0, 0, 0, 0]}
    output = {"name": "in", "elementOffset": 2}
    bindings = {"InputTensor": "in", "OutputTensor": output}
    commands = [{"type": "dispatch", "dispatchable": "pad", "bindings": bindings}, {"type": "print", "resource": "in"}]
    whole = model(resources={"in": data}, commands=commands)
    refused("DML-MODEL-shared", "$.commands[0].bindings.OutputTensor", execute, whole)
    output["elementOffset"] = 3
    assert execute(whole) == "Resource 'in': 1, 2, 3, 9, 1, 2, 3, 9\n"


def test_bound_at_initialisation() -> None:
    owned = {"DataType": "FLOAT32", "Sizes": [3], "Flags": "DML_TENSOR_FLAG_OWNED_BY_DML"}
    pad = {**padding(InputTensor=owned), "bindings": {"InputTensor": "in"}}
    commands = [
        {"type": "dispatch", "dispatchable": "pad", "bindings": {"OutputTensor": "out"}},
        {"type": "print", "resource": "out"},
    ]
    assert execute(model(dispatchables={"pad": pad}, commands=commands)) == "Resource 'out': 9, 1, 2, 3, 9\n"


def test_an_output_between_the_elements_of_an_input_is_refused_at_the_binding() -> None:
    pad = padding(InputTensor={"DataType": "FLOAT32", "Sizes": [3], "Strides": [2]})
    commands = [{"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "out", "OutputTensor": "out"}}]
    whole = model(commands=commands, dispatchables={"pad": pad})
    refused("DML-PADDING1-output-overlap", "$.commands[0].bindings.OutputTensor", execute, whole)


def test_nothing_runs_when_something_is_wrong(tmp_path: Path) -> None:
    commands = [*model()["commands"], write("a.bin"), {"type": "print", "resource": "nothing"}]
    refused("DML-MODEL-reference", "$.commands[3].resource", execute, model(commands=commands), output_path=tmp_path)
    assert not list(tmp_path.iterdir())


def test_write_file(tmp_path: Path) -> None:
    commands = [model()["commands"][0], write("a/b.npy"), write("c.NPY", dimensions=[1, 5]), write("d.dat")]
    printed = execute(model(commands=commands), output_path=tmp_path)
    assert printed.splitlines() == [
        f"Resource 'out' written to '{tmp_path / name}'" for name in ("a/b.npy", "c.NPY", "d.dat")
    ]
    assert np.load(tmp_path / "a" / "b.npy").tolist() == [9, 1, 2, 3, 9]
    assert np.load(tmp_path / "c.NPY").shape == (1, 5)
    assert np.fromfile(tmp_path / "d.dat", np.float32).tolist() == [9, 1, 2, 3, 9]
    assert {path.name for path in tmp_path.iterdir()} == {"a", "c.NPY", "d.dat"}


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = "$.commands[1].targetPath"
    (tmp_path / "inner").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "folder.npy").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "inner", target_is_directory=True)
    (tmp_path / "root" / "file.bin").symlink_to(tmp_path / "inner" / "kept")
    for name in ("link/a.bin", "folder.npy", "x" * 300, "file.bin/x"):
        commands = [model()["commands"][0], write(name)]
        refused("DML-MODEL-write", path, execute, model(commands=commands), output_path=tmp_path / "root")
    execute(model(commands=[model()["commands"][0], write("file.bin")]), output_path=tmp_path / "root")
    assert not list((tmp_path / "inner").iterdir())
    assert {entry.name for entry in (tmp_path / "root").iterdir()} == {"folder.npy", "link", "file.bin"}


@given(st.text(alphabet="ab./\\:\0 ", max_size=12))
def test_a_target_stays_below(path: str) -> None:
    parts = target_parts(path)
    if parts is not None:
        assert os.path.normpath(os.path.join("/root", *parts)).startswith("/root/")


def test_dimensions_that_do_not_fit(tmp_path: Path) -> None:
    commands = [write("a.npy", dimensions=[2, 2**32 - 1, 2**32 - 1])]
    refused("DML-MODEL-dimensions", "$.commands[0].dimensions", execute, model(commands=commands), output_path=tmp_path)


def test_a_list_has_no_type() -> None:
    resources = {"x": {"initialValues": [{"type": "UINT8", "value": 1}]}}
    commands = [{"type": "print", "resource": "x"}]
    refused(
        "DML-MODEL-untyped", "$.commands[0]", execute, model(resources=resources, dispatchables={}, commands=commands)
    )


@pytest.mark.parametrize(("name", "number"), first_of_each(EXAMPLES))
def test_examples_give_their_documented_output(name: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    options = command_line().parse_args(["example", name, "--number", str(number)])
    assert options.execute(options) == 0
    text = capsys.readouterr().out
    assert json.loads(text)
    example = RUNNABLE[name].examples[number - 1]
    expected = ""
    for output, (dtype, _, data) in example.outputs.items():
        array = np.array(data).astype({"FLOAT32": "f4", "FLOAT16": "f2"}.get(dtype, np.array(data).dtype)).ravel()
        resource = output.replace("[", "_").removesuffix("]")
        expected += f"Resource '{resource}': {''.join(show.line(array))}\n"
    assert NUMBER.sub(rounded, execute(text)) == NUMBER.sub(rounded, expected)


NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?|(?<![\d.])-0(?![\d.])")


def rounded(number: re.Match[str]) -> str:
    """A digit less than is printed: loops may be off by a few units in the last place. A page may have -0 for 0."""
    return f"{float(number[0]) + 0.0:.5g}"


class TestCommandLine:
    def test_run(self, tmp_path: Path) -> None:
        good, bad, broken = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "broken.json"
        good.write_text(json.dumps(model()))
        bad.write_text(json.dumps(model(commands=[{"type": "x"}])))
        broken.write_text("{")
        done = command("run", str(good))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("Resource 'out': 9, 1, 2, 3, 9\n")
        done = called("run", str(bad))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"{bad}:1:") and done.stderr.endswith("[DML-MODEL-command]\n")
        done = called("run", str(bad), str(broken), str(good))
        assert done.returncode == 2
        assert "Resource 'out'" in done.stdout
        assert "[DML-MODEL-json]" in done.stderr

    def test_standard_input(self) -> None:
        done = command("run", "-", input=json.dumps(model(extra=1)))
        assert done.returncode == 0
        assert "DML-MODEL-unknown" in done.stderr
        assert "9, 1, 2, 3, 9" in done.stdout

    def test_unreadable(self, tmp_path: Path) -> None:
        names = [str(tmp_path), str(tmp_path / "none.json"), "/dev/zero"]
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe")
            names.append(str(tmp_path / "pipe"))
        for name in names:
            done = called("run", name)
            assert done.returncode == 2
            assert "[DML-MODEL-file]" in done.stderr

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["run"],
            ["fly"],
            ["run", "-", "--feature-level", "9_9"],
            ["run", "-", "--iterations", "0"],
            ["example", "PADING1"],
            ["example", "PADDING1", "--number", "99"],
        ],
    )
    def test_usage(self, arguments: list[str]) -> None:
        done = called(*arguments) if arguments else command(input="")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr

    def test_level(self, tmp_path: Path) -> None:
        path = tmp_path / "m.json"
        path.write_text(json.dumps(model()))
        done = called("run", str(path), "--feature-level", "3_0")
        assert done.returncode == 1
        assert "[DML-PADDING1-operator-level]" in done.stderr

    @pytest.mark.skipif(os.name == "nt", reason="no SIGPIPE")
    def test_a_reader_that_leaves(self, tmp_path: Path) -> None:
        path = tmp_path / "m.json"
        resources = {
            "in": FLOATS,
            "out": {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 10**6, "value": 1}},
        }
        path.write_text(
            json.dumps(model(resources=resources, dispatchables={}, commands=[{"type": "print", "resource": "out"}]))
        )
        shell = f"{sys.executable} -P -m dmlcy run {path} | head -c 1"
        done = subprocess.run(shell, shell=True, capture_output=True, text=True, timeout=300, check=False)
        assert (done.stdout, done.stderr) == ("R", "")


def test_buffers_are_held_against_memory_in_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No buffer is filled before all are known to fit. Files count when they are read."""
    filled: list[int] = []

    def zeros(size: int) -> Any:
        filled.append(size)
        return np.zeros(size, np.uint8)

    monkeypatch.setattr(resources, "_zeros", zeros)

    def require(size: int) -> None:
        if size > 1000:
            raise MemoryError

    monkeypatch.setattr(resources, "require", require)
    np.save(tmp_path / "x.npy", np.zeros(100, np.float32))
    constant = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 100, "value": 1}}
    from_file = {"initialValues": {"sourcePath": "x.npy"}}
    for buffers, done in (([constant] * 3, 0), ([constant, from_file, from_file], 2), ([constant, from_file], 2)):
        filled.clear()
        reader = Reader(decode("m.json", json.dumps({"resources": dict(enumerate(buffers))}).encode()))
        nodes = reader.document.root.value["resources"].value
        parsed = {name: resources.parse(reader, name, node) for name, node in nodes.items()}
        found = resources.fill_all(reader, parsed, tmp_path)  # type: ignore[arg-type]
        assert [one.violation.id for one in reader.problems] == ["DML-MODEL-memory"] * (len(buffers) == 3)
        assert len(filled) == done and len(found) == done
