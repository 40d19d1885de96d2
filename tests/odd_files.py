"""Things that may be in place of a file that is to be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes with a name here")
    os.mkfifo(path)


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def zeros_without_end(path: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no /dev/zero here")
    path.symlink_to("/dev/zero")
