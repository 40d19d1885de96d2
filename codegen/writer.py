"""Generated files: written when their text changed, removed when nothing generates them, compared in check mode."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath


class Writer:
    """Collects generated files and puts them below root at the end; in check mode it touches nothing."""

    def __init__(self, root: Path, check: bool) -> None:
        self.root = root
        self.check = check
        self._texts: dict[str, str | None] = {}
        self._committed: set[str] = set()
        self._diffs: dict[str, str] = {}

    def write(self, relative: str, text: str, committed: bool = False) -> None:
        """Add a file. Only committed files are compared in check mode; the others are ignored by git."""
        _refuse_outside(relative)
        if relative in self._texts:
            raise ValueError(f"{relative} is generated twice")
        self._texts[relative] = text
        if committed:
            self._committed.add(relative)

    def keep(self, relative: str, committed: bool = False) -> None:
        """Say of a file that it is as it should be."""
        _refuse_outside(relative)
        self._texts[relative] = None
        if committed:
            self._committed.add(relative)

    def finish(self, owned: Sequence[str]) -> list[str]:
        """Write what changed and remove stale files, which match an owned pattern and were not added.

        Returns the changed, new and stale paths, in check mode of committed files. Patterns are relative to root, ``*``
        stays within a directory, ``**/`` stands for any directories. Each covers either committed files or others:
        whether a stale file was a committed one follows from its pattern.
        """
        stale = self._stale(owned)
        texts = {
            name: text.encode()
            for name, text in self._texts.items()
            if text is not None and (name in self._committed or not self.check)
        }
        self._diffs = {}
        changed = []
        for name in sorted({*texts, *stale}):
            path = self.root / name
            before = path.read_bytes() if path.is_file() else None
            after = texts.get(name)
            if before == after:
                continue
            changed.append(name)
            if self.check:
                self._diffs[name] = _diff(name, before, after)
            elif after is None:
                path.unlink()
            else:
                replace(path, after)
        return changed

    def diffs(self) -> str:
        """The findings of finish in check mode, as unified diffs from the files to the right texts."""
        return "".join(self._diffs.values())

    def counts(self) -> dict[str, tuple[int, int]]:
        """How many lines of each of them are added, and how many removed."""
        changes = {name: [line[:1] for line in text.split("\n")[2:]] for name, text in self._diffs.items()}
        return {name: (signs.count("+"), signs.count("-")) for name, signs in changes.items()}

    def _stale(self, owned: Sequence[str]) -> set[str]:
        stale: set[str] = set()
        for pattern in owned:
            _refuse_outside(pattern)
            kinds = {name in self._committed for name in self._texts if _matches(name, pattern)}
            if len(kinds) == 2:
                raise ValueError(f"{pattern!r} covers committed files and others; give each kind a pattern of its own")
            if self.check and kinds == {False}:
                continue
            files = (path for path in self.root.glob(pattern) if path.is_file())
            stale.update(path.relative_to(self.root).as_posix() for path in files)
        return stale - self._texts.keys()


def _refuse_outside(relative: str) -> None:
    path = PurePosixPath(relative)
    if path.is_absolute() or not path.parts or ".." in path.parts or str(path) != relative or "\\" in relative:
        raise ValueError(f"{relative!r} is not a plain path relative to the root, with / between its parts")


def _matches(name: str, pattern: str) -> bool:
    return _match_parts(name.split("/"), pattern.split("/"))


def _match_parts(name: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "**":
        return any(_match_parts(name[i:], pattern[1:]) for i in range(len(name) + 1))
    return bool(name) and fnmatchcase(name[0], pattern[0]) and _match_parts(name[1:], pattern[1:])


def replace(path: Path, content: bytes) -> None:
    """Put a whole file in place at once. A new file has the usual permissions, which tempfile would not give it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _diff(name: str, before: bytes | None, after: bytes | None) -> str:
    old = "/dev/null" if before is None else f"a/{name}"
    new = "/dev/null" if after is None else f"b/{name}"
    lines = list(difflib.unified_diff(_lines(before), _lines(after), old, new))
    if not lines:  # an empty file came or went
        lines = [f"--- {old}\n", f"+++ {new}\n"]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    """Lines with their ends; only a line feed ends one."""
    *whole, rest = (content or b"").decode(errors="replace").split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
