"""Output on a terminal and elsewhere: colour, progress, help with examples, ``--json``."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy._cli
from dmlcy._cli import COMMANDS, main
from dmlcy._show import terminal
from dmlcy._show.terminal import Progress, span

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

from pseudo_terminal import seen  # noqa: E402

ROOT = Path(__file__).parent.parent.parent
MODEL = {
    "resources": {
        "x": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
        "y": {"initialValuesDataType": "FLOAT32", "initialValues": {"value": 0, "valueCount": 4}},
    },
    "dispatchables": {
        "pool": {
            "type": "DML_OPERATOR_AVERAGE_POOLING",
            "desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
                "DimensionCount": 2, "Strides": [1, 1], "WindowSize": [2, 2], "StartPadding": [0, 0],
                "EndPadding": [0, 0], "IncludePadding": False,
            },
        },
    },
    "commands": [
        {"type": "dispatch", "dispatchable": "pool", "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
        {"type": "print", "resource": "y"},
    ],
}  # fmt: skip
AT_ONCE = "import sys; from dmlcy._cli import program; from dmlcy._show import terminal; "
AT_ONCE += "terminal._FIRST = terminal._BETWEEN = 0; sys.exit(program())"
"""The command line, with progress from the first step on."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(MODEL))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(MODEL).replace('"WindowSize": [2, 2]', '"WindowSize": [2, 9]'))
    return path


def said_by(*commands: list[str], **more: Any) -> list[str]:
    """The standard output and the exit status of each command. One process runs all commands."""
    code = "import sys; from dmlcy._cli import main; [print(end=f'{main(line.split())}\\0') for line in sys.argv[1:]]"
    shown = seen("-c", code, *map(" ".join, commands), **more)
    assert (shown.status, shown.stderr) == (0, ""), shown
    *texts, end = shown.stdout.split("\0")
    assert len(texts) == len(commands) and not end
    return texts


def reports(broken: Path, **more: Any) -> list[str]:
    """The output of each command that uses colours."""
    return said_by(["info"], ["operators", "--state", "fast"], ["explain", "padding1"], ["lint", str(broken)], **more)


def test_colours_on_a_terminal_only(broken: Path) -> None:
    shown, piped = reports(broken), reports(broken, out=False)
    for on, off in zip(shown, piped, strict=True):
        assert COLOUR.search(on)
        assert "\x1b" not in off
        if "dmlcy 0" not in off:  # info tells of the moment
            assert COLOUR.sub("", on) == off
    assert "\x1b[1;31merror:\x1b[0m" in shown[-1]
    assert "\x1b[1mFields\x1b[0m" in shown[2]


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_colours_are_not_forced_on_a_terminal(broken: Path, variables: dict[str, str]) -> None:
    assert "\x1b" not in "".join(reports(broken, variables=variables))


def test_colours_can_be_had_without_a_terminal(broken: Path) -> None:
    for one in reports(broken, out=False, variables={"FORCE_COLOR": "1"}):
        assert COLOUR.search(one)
    for off in ({"FORCE_COLOR": "0"}, {"FORCE_COLOR": ""}, {"NO_COLOR": ""}):
        assert "\x1b" not in seen("-m", "dmlcy", "info", out=False, variables=off).stdout
    assert "\x1b" in seen("-m", "dmlcy", "info", variables={"NO_COLOR": ""}).stdout  # empty is unset


def test_json_has_no_colours(broken: Path) -> None:
    commands = (["lint", str(broken)], ["operators"], ["info"], ["explain", "5_0"])
    for spelling in (["--json"], ["--format", "json"]):
        for shown in said_by(*([*command, *spelling] for command in commands), variables={"FORCE_COLOR": "1"}):
            assert "\x1b" not in shown and json.loads(shown.rstrip("01"))


def test_progress_of_iterations(model: Path) -> None:
    command = ("-c", AT_ONCE, "run", "--iterations", "20000", str(model))
    shown = seen(*command)
    assert shown.status == 0
    assert re.search(r"\rpool: \d+ of 20000 \(\d+ %\), [\w ]+ left\x1b\[K", shown.stderr)
    assert shown.stderr.endswith("\r\x1b[K")
    assert "pool: " not in shown.stdout
    quiet = seen(*command, error=False)
    assert (quiet.status, quiet.stderr) == (0, "")
    assert re.sub(r"[\d.]+ ms", "", quiet.stdout) == re.sub(r"[\d.]+ ms", "", shown.stdout)


class Clock:
    """Time that passes by as much at each look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """A function from the seconds of a step to a progress that is shown, and one that reads what it wrote."""

    def make(step: float) -> tuple[Progress, Any]:
        monkeypatch.setattr(terminal, "time", Clock(step))
        monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)
        return Progress(), lambda: capsys.readouterr().err

    return make


def test_the_estimate(drawn: Any) -> None:
    progress, written = drawn(2.0)
    for done in range(4):
        progress.reached("x", done, 100)
    assert written() == "".join(
        f"\rx: {done} of 100 ({done} %), {span(2.0 * (100 - done))} left\x1b[K" for done in (1, 2, 3)
    )
    progress.reached("x", 100, 100)
    assert written() == "\r\x1b[K"
    progress.reached("x", 0, 100)  # a part of the same name begins anew
    assert written() == ""
    progress.reached("x", 50, 100)
    assert written() == "\rx: 50 of 100 (50 %), 2 s left\x1b[K"
    progress.reached("y", 1, 4)  # so does one of another name
    progress.clear()
    assert written() == "\r\x1b[K"


def test_what_is_short_shows_nothing(drawn: Any) -> None:
    progress, written = drawn(0.001)
    for done in range(400):
        progress.reached("x", done, 400)
    progress.reached("x", 400, 400)
    assert written() == ""


def test_a_line_is_no_longer_than_the_terminal(drawn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    progress, written = drawn(1.0)
    progress.reached("x" * 100, 0, 10)
    progress.reached("x" * 100, 1, 10)
    assert written() == f"\r{'x' * 29}\x1b[K"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1 s"),
        (59.4, "59 s"),
        (60, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3600, "1 h 00 min"),
        (12000, "3 h 20 min"),
    ],
)
def test_spans(seconds: float, text: str) -> None:
    assert span(seconds) == text


def compared(model: Path, elements: int, files: int = 1) -> tuple[Path, Path]:
    """Folders to compare: expected values of a model with large outputs, and those again."""
    side = int(elements**0.5)
    big = json.loads(json.dumps(MODEL))
    big["resources"]["x"]["initialValues"] = {"value": 1, "valueCount": side * side}
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, side, side]}
    desc = big["dispatchables"]["pool"]["desc"]
    desc.update(InputTensor=tensor, OutputTensor=tensor, WindowSize=[1, 1])
    big["commands"] = []
    for number in range(files):
        big["resources"][f"y{number}"] = {
            "initialValuesDataType": "FLOAT32", "initialValues": {"value": 0, "valueCount": side * side},
        }  # fmt: skip
        bindings = {"InputTensor": "x", "OutputTensor": f"y{number}"}
        big["commands"].append({"type": "dispatch", "dispatchable": "pool", "bindings": bindings})
    model.write_text(json.dumps(big))
    expected = model.parent / "expected"
    assert main(["run", "--expect", str(expected), str(model)]) == 0
    actual = model.parent / "actual"
    actual.mkdir()
    for path in expected.glob("y*.npy"):
        np.save(actual / path.name, np.load(path))
    return expected, actual


def test_progress_of_a_comparison(model: Path) -> None:
    expected, actual = compared(model, 1_200_000)
    values = np.load(actual / "y0.npy")
    np.save(actual / "y0.npy", values + np.float32(1))
    shown = seen("-c", AT_ONCE, "compare", str(expected), str(actual))
    assert shown.status == 1
    assert re.search(r"\ry0\.npy: \d+ of \d+ \(\d+ %\), [\w ]+ left\x1b\[K", shown.stderr)
    assert shown.stderr.endswith("\r\x1b[K")
    assert "\x1b[1;31mFAILED\x1b[0m  y0.npy" in shown.stdout
    assert seen("-c", AT_ONCE, "compare", str(expected), str(actual), error=False).stderr == ""


def test_several_outputs_end_in_a_table(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected, actual = compared(model, 16, files=2)
    capsys.readouterr()
    values = np.load(actual / "y1.npy")
    values.flat[0] = 7
    np.save(actual / "y1.npy", values)
    assert main(["compare", str(expected), str(actual)]) == 1
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "          output  elements  different  by more than passes",
        "  passed  y0.npy        16          0                    0",
        "  FAILED  y1.npy        16          1                    1",
        "",
        "2 outputs: 1 passed, 1 failed",
    ]
    (actual / "y0.npy").unlink()
    assert main(["compare", str(expected), str(actual)]) == 1
    assert "  MISSING  y0.npy\n" in capsys.readouterr().out


def test_progress_of_the_benchmark() -> None:
    alone = "[os.environ.pop(name, None) for name in ('OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE')]"
    run = "runpy.run_module('benchmarks', run_name='__main__')"
    code = f"import os, runpy, sys; {alone}; sys.path.append({str(ROOT)!r}); {run}"
    command = ("-c", code, "--quick", "--only", "unfold/tiny", "--threads", "1")
    passive = {"OMP_WAIT_POLICY": "PASSIVE"}  # or it starts itself again, as with those variables
    shown = seen(*command, variables=passive)
    assert shown.status == 0, shown
    found = re.findall(r"\rrows: (\d+) of (\d+) \((\d+) %\), [\w ]+ left\x1b\[K", shown.stderr)
    rows = [int(row) for row, _, _ in found]
    assert rows and rows == sorted(set(rows))
    assert all(total == found[0][1] and int(share) == 100 * int(row) // int(total) for row, total, share in found)
    assert rows[-1] <= int(found[0][1])
    assert shown.stderr.endswith("\r\x1b[K")
    assert seen(*command, variables=passive, error=False).stderr == ""


def parsers() -> dict[str, argparse.ArgumentParser]:
    parser = dmlcy._cli.command_line()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {"": parser, **commands.choices}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_help_has_examples_that_are_understood(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*([name] if name else []), "--help"])
    assert ended.value.code == 0
    *_, examples = capsys.readouterr().out.partition("\nexamples:\n")
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    assert lines
    for line in lines:
        for command in re.split(r" \| ", line.partition("    #")[0]):
            words = shlex.split(command.partition(" > ")[0])
            if words[0] == "dmlcy" and "COMMAND" not in words:
                options = dmlcy._cli.command_line().parse_args(words[1:])
                if words[1] in ("example", "explain", "info", "operators"):
                    assert options.execute(options) == 0


@pytest.mark.parametrize("command", [["info"], ["operators"], ["explain", "5_0"]])
def test_json_is_the_format(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*command, "--format", "json"])
    written = json.loads(capsys.readouterr().out)
    main([*command, "--json"])
    assert json.loads(capsys.readouterr().out) == written
    main([*command, "--json", "--format", "text"])  # the last one counts
    assert not capsys.readouterr().out.startswith("{")


def test_the_documented_keys(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """docs/command-line.md lists the keys of each command at the top."""
    expected, actual = compared(model, 16)
    capsys.readouterr()
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+) --json` \| (.*) \|$", page, re.M))
    arguments = {
        "operators": [], "info": [], "explain": ["5_0"], "lint": [str(model)], "compare": [str(expected), str(actual)],
        "onnx": [str(ROOT / "examples" / "onnx" / "digits.onnx")],
    }  # fmt: skip
    assert set(table) == set(arguments)
    formats = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^\| `(\w+) --json` \| (\d+) \|$", formats, re.M))
    for command, more in arguments.items():
        main([command, "--json", *more])
        document = json.loads(capsys.readouterr().out)
        assert re.findall(r"`(\w+)`", table[command]) == list(document), command
        assert str(document["version"]) == versions[command], command
