"""The files that a model names: read only when regular, written only below the output folder."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Mapping
from itertools import count, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, TypeAlias

from dmlcy._frontends.dxdispatch.signals import Clearing

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Content: TypeAlias = Callable[[IO[bytes]], object]
"""Writes the bytes of a file."""
Contents: TypeAlias = dict[tuple[str, ...], Content]
"""The contents of files, by the steps of their paths."""

LARGEST: Final = 256 * 2**20
"""Bytes of a file that a model or a graph is in."""
START: Final = 2**16
"""Bytes of a larger file that tell what it is."""
_PIECE: Final = 16 * 2**20  # bytes that are written between two looks for a signal
_LONGEST: Final = 100
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


class NotRegular(OSError):
    """A folder, a pipe, a device."""


class TooLarge(OSError):
    """A file of more bytes than are read; ``start`` has the first ones."""

    def __init__(self, most: int, start: bytes) -> None:
        super().__init__(f"it is larger than {most} bytes")
        self.start = start


def open_regular(path: str | Path) -> io.BufferedReader:
    """The file, opened for reading without waiting for a writer; NotRegular for anything but a regular file."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    if Path(path).is_dir():
        raise NotRegular("it is a folder")
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular("it is not a regular file")
    return os.fdopen(descriptor, "rb")


def read_bytes(stream: BinaryIO, most: int = LARGEST) -> bytes:
    """The bytes of a file; OSError for a file that is larger than ``most`` bytes."""
    # No more than there is: room for all that is asked for is made beforehand.
    data = stream.read(min(os.fstat(stream.fileno()).st_size, most) + 1)
    if len(data) > most:
        raise TooLarge(most, data[:START])
    return data


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


def distinct(name: str, taken: set[str], folder: str = "") -> str:
    """A file name like this one that every file system takes; it is added to ``taken``."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:_LONGEST].strip(".") or "_"
    if stem.split(".")[0].lower() in _RESERVED:
        stem = f"_{stem}"
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    chosen = next(name for name in candidates if (folder + name).lower() not in taken)
    taken.add((folder + chosen).lower())
    return chosen


def write(root: Path, parts: tuple[str, ...], content: Content) -> Path:
    """Write a file below ``root``, in one step, without following a link out of it."""
    return write_all(root, {parts: content})[0]


def write_all(root: Path, contents: Mapping[tuple[str, ...], Content]) -> list[Path]:
    """Write files below ``root``: none of them is seen before all are written."""
    if "\0" in str(root):
        raise OSError("there is a NUL in its name")
    targets = [_target(root, parts) for parts in contents]
    drafts: list[Path] = []
    with Clearing() as clearing:
        try:
            for target, content in zip(targets, contents.values(), strict=True):
                _make_folder(target.parent)
                with io.BufferedWriter(_Pieces(_draft(target.parent, drafts), clearing)) as stream:
                    content(stream)
            clearing.check()
            for draft, target in zip(drafts, targets, strict=True):
                draft.replace(target)
        except BaseException:
            for draft in drafts:
                draft.unlink(missing_ok=True)
            raise
    return [root.joinpath(*parts) for parts in contents]


def _make_folder(folder: Path) -> None:
    """The folder, and those above it. ``Path.mkdir`` calls itself for each of them, and there may be 2,000."""
    missing = list(takewhile(lambda one: not one.is_dir(), (folder, *folder.parents)))
    for one in reversed(missing):
        one.mkdir(exist_ok=True)


class _Pieces(io.FileIO):
    """A file written in pieces, so that a signal need not wait for all of them."""

    def __init__(self, descriptor: int, clearing: Clearing) -> None:
        super().__init__(descriptor, "wb")
        self._clearing = clearing

    def write(self, data: ReadableBuffer) -> int:
        self._clearing.check()
        return super().write(memoryview(data)[:_PIECE])


def _draft(folder: Path, drafts: list[Path]) -> int:
    """A new file of a random name, added to ``drafts``. A draft that another process left has another name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        drafts.append(folder / f".{os.urandom(8).hex()}.dmlcy")  # before it is made: a signal may come in between
        try:
            return os.open(drafts[-1], flags, 0o666)
        except OSError as error:
            drafts.pop()  # what is there is not ours
            if error.errno != errno.EEXIST:
                raise


def remove(root: Path, parts: tuple[str, ...]) -> Path:
    """Remove a file below ``root``; OSError where there is none."""
    _target(root, parts).unlink()
    return root.joinpath(*parts)


def _target(root: Path, parts: tuple[str, ...]) -> Path:
    """Where a file below ``root`` lies when links are followed; OSError when that is elsewhere."""
    try:
        top = root.resolve()
        target = top.joinpath(*parts)
        inside = target.parent.resolve().is_relative_to(top)
    except RuntimeError as error:
        raise OSError("its symbolic links form a circle") from error
    if not inside:
        raise OSError("a link leads out of the output folder")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return target
