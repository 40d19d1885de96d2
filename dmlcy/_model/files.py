"""The files that a model names: read only when regular, written only below the output folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO


class NotRegular(OSError):
    """A folder, a pipe, a device."""


def open_regular(path: str | Path) -> BinaryIO:
    """The file, opened for reading without waiting for a writer; NotRegular for anything but a regular file."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    if Path(path).is_dir():
        raise NotRegular("it is a folder")
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular("it is not a regular file")
    return os.fdopen(descriptor, "rb")


def find(folder: Path, name: str) -> Path:
    """A file named in a model: relative to the model's folder, then to the current one."""
    beside = folder / name
    return beside if beside.exists() else Path(name)


def target_parts(path: str) -> tuple[str, ...] | None:
    """The steps of a path that stays below a folder; None for one that leaves it, or names no file."""
    steps = [step for step in re.split(r"[\\/]", path) if step != "."]
    if not steps or "" in steps or ".." in steps or "\0" in path or ":" in steps[0]:
        return None
    return tuple(steps)


def write(root: Path, parts: tuple[str, ...], content: Callable[[IO[bytes]], None]) -> Path:
    """Write a file below ``root``, in one step, without following a link out of it."""
    try:
        top = root.resolve()
        target = top.joinpath(*parts)
        inside = target.parent.resolve().is_relative_to(top)
    except RuntimeError as error:
        raise OSError("the links in it form a circle") from error
    if not inside:
        raise OSError("a link leads out of the output folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{os.getpid()}.dmlcy")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(draft, flags, 0o666), "wb") as stream:
            content(stream)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return root.joinpath(*parts)
