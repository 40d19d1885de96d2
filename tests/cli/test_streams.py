"""The command line without standard output or standard error."""

from __future__ import annotations

import os
import subprocess
import sys

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


def closed(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = f'exec "$0" -P -m dmlcy "$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", script, sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_no_command_runs_without_standard_output(arguments: list[str]) -> None:
    done = closed(">&-", *arguments)
    assert (done.returncode, done.stderr) == (2, "dmlcy: standard output is closed\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["operators"], ["--help"], ["--version"], ["lint", "--help"]], ids=" ".join)
def test_a_full_disk_is_an_error(arguments: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    done = closed(">/dev/full", *arguments)
    assert (done.returncode, done.stderr) == (2, "dmlcy: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("arguments", [["run", "missing.json"], ["explain", "no such word"], ["no such command"]])
def test_errors_do_not_go_to_standard_output(arguments: list[str]) -> None:
    done = closed("2>&-", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    assert closed(">&- 2>&-", *arguments).returncode == 2


@pytest.mark.parametrize("arguments", [["operators", "\x1b[31mX\x07"], ["lint", "x", "--\x1b[31m=3"], ["\x1b[31m"]])
def test_errors_of_usage_are_printable(arguments: list[str]) -> None:
    done = closed("", *arguments)
    assert done.returncode == 2
    assert all(line.isprintable() for line in done.stderr.split("\n"))
