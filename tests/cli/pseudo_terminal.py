"""Run a command on a pseudo-terminal, as a person sees it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")


@dataclass(frozen=True)
class Seen:
    """The output of a command, and its exit status."""

    stdout: str
    stderr: str
    status: int


def seen(
    *command: str,
    out: bool = True,
    error: bool = True,
    variables: dict[str, str] | None = None,
) -> Seen:
    """Run ``python -P command...``; standard output and standard error are a terminal each, or a pipe."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment = kept | {"TERM": "xterm-256color", "COLUMNS": "100", **(variables or {})}
    ends = [pty.openpty() if terminal else os.pipe() for terminal in (out, error)]
    process = subprocess.Popen(
        [sys.executable, "-P", *command], stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1],
        env=environment,
    )  # fmt: skip
    for _, written in ends:
        os.close(written)
    out_text, error_text = _read([read for read, _ in ends], time.monotonic() + 120)
    status = process.wait(60)
    return Seen(_text(out_text), _text(error_text), status)


def _text(part: bytes) -> str:
    return part.decode().replace("\r\n", "\n")


def _read(files: list[int], until: float) -> list[bytes]:
    found = {file: b"" for file in files}
    left = set(files)
    while left:
        ready, _, _ = select.select(list(left), [], [], max(0.0, until - time.monotonic()))
        assert ready, "the command takes too long"
        for file in ready:
            try:
                part = os.read(file, 65536)
            except OSError:  # what a terminal says when its other end is closed
                part = b""
            found[file] += part
            if not part:
                left.remove(file)
                os.close(file)
    return [found[file] for file in files]
