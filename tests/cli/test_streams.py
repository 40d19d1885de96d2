"""The command line without standard output or standard error."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams are closed by the POSIX shell")

COMMANDS = [
    ["explain", "padding1"],
    ["lint", "missing.json"],
    ["run", "missing.json"],
    ["operators"],
    ["info"],
    ["example", "AVERAGE_POOLING"],
    ["--version"],
]


PROGRAM = """
import os, shlex, sys
from dmlcy._cli import program

with open(sys.argv[1], "wb", 0) as statuses:
    for line in sys.argv[2:]:
        if not os.fork():
            statuses.close()
            sys.argv[1:] = shlex.split(line)
            sys.exit(program())
        statuses.write(b"%d " % os.waitstatus_to_exitcode(os.wait()[1]))
"""
"""Runs each line as a command, in a process of its own that has the streams with which Python was started."""


def closed(folder: Path, redirection: str, *commands: list[str]) -> tuple[list[int], str, str]:
    """The statuses of the commands, and what they write to standard output and to standard error."""
    statuses = folder / "statuses"
    script = f'exec "$0" -P -c "$@" {redirection}'
    program = ["sh", "-c", script, sys.executable, PROGRAM, str(statuses), *map(shlex.join, commands)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = [int(status) for status in statuses.read_text().split()]
    assert len(found) == len(commands)
    return found, done.stdout, done.stderr


def test_no_command_runs_without_standard_output(tmp_path: Path) -> None:
    status, _, stderr = closed(tmp_path, ">&-", *COMMANDS)
    assert {*status} == {2} and stderr == "dmlcy: standard output is closed\n" * len(COMMANDS)


def test_the_module_is_the_program() -> None:
    script = 'exec "$0" -P -m dmlcy operators >&-'
    command = ["sh", "-c", script, sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (2, "dmlcy: standard output is closed\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_an_error(unbuffered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    commands = [["operators"], ["--help"], ["--version"], ["lint", "--help"]]
    status, _, stderr = closed(tmp_path, ">/dev/full", *commands)
    assert {*status} == {2} and stderr == "dmlcy: [Errno 28] No space left on device\n" * len(commands)


@pytest.mark.parametrize("redirection", ["2>&-", ">&- 2>&-"])
def test_errors_do_not_go_to_standard_output(redirection: str, tmp_path: Path) -> None:
    commands = [["run", "missing.json"], ["explain", "no such word"], ["no such command"]]
    assert closed(tmp_path, redirection, *commands) == ([2, 2, 2], "", "")


def test_errors_of_usage_are_printable(tmp_path: Path) -> None:
    commands = [["operators", "\x1b[31mX\x07"], ["lint", "x", "--\x1b[31m=3"], ["\x1b[31m"]]
    status, _, stderr = closed(tmp_path, "", *commands)
    assert status == [2, 2, 2]
    assert stderr.count("usage: ") >= 3 and all(line.isprintable() for line in stderr.split("\n"))
