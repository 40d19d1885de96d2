"""The list of a pack: its cases, its files and their digests, as ``pack.json`` has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from dmlcy._frontends.dxdispatch.problems import Problem
from dmlcy._judge.expected import manifest
from dmlcy._version import __version__

NAME: Final = "pack.json"
FORMAT: Final = "dmlcy-conformance-pack"
VERSION: Final = 1
OLDEST: Final = 1
"""The oldest version that is read."""

EXPECTED: Final = "expected"
MANIFEST: Final = f"{EXPECTED}/{manifest.NAME}"
REFUSALS: Final = "refusals.json"
REFUSED: Final = "E_INVALIDARG"


@dataclass(frozen=True, slots=True)
class File:
    """A file below the folder of its entry."""

    path: str
    size: int
    digest: str

    @classmethod
    def of(cls, folder: Path, path: Path) -> File:
        """The file as it is now."""
        data = path.read_bytes()
        return cls(path.relative_to(folder).as_posix(), len(data), sha256(data).hexdigest())

    def to_json(self) -> dict[str, object]:
        """The file as the list has it."""
        return {"path": self.path, "size_in_bytes": self.size, "sha256": self.digest}


@dataclass(frozen=True, slots=True)
class Entry:
    """A case: its folder, the operator, the level that its desc needs, and its files."""

    name: str
    operator: str
    level: str
    origin: str
    dtypes: tuple[str, ...]
    stock: bool  # a stock DxDispatch knows all of it
    files: tuple[File, ...]

    def to_json(self) -> dict[str, object]:
        """The case as the list has it."""
        return {
            "name": self.name,
            "operator": self.operator,
            "feature_level": self.level,
            "origin": self.origin,
            "dtypes": list(self.dtypes),
            "stock_dxdispatch": self.stock,
            "files": [file.to_json() for file in self.files],
        }


@dataclass(frozen=True, slots=True)
class Refusals:
    """The descs of an operator that must be refused."""

    operator: str
    level: str
    count: int
    file: File

    def to_json(self) -> dict[str, object]:
        """The file as the list has it."""
        return {
            "operator": self.operator, "feature_level": self.level, "count": self.count, "file": self.file.to_json()
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pack:
    """The content of a pack. ``warnings``: of the list that was read."""

    seed: int
    level: str
    cases: tuple[Entry, ...]
    refusals: tuple[Refusals, ...]
    warnings: tuple[Problem, ...] = ()

    def to_bytes(self) -> bytes:
        """The text of the list, a line for each entry."""
        head = {
            "format": FORMAT, "version": VERSION, "dmlcy": __version__, "seed": self.seed, "feature_level": self.level
        }  # fmt: skip
        lists: dict[str, Sequence[Entry | Refusals]] = {"cases": self.cases, "refusals": self.refusals}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        for name, entries in lists.items():
            rows = ",\n".join(json.dumps(entry.to_json()) for entry in entries)
            lines.append(f"{json.dumps(name)}: [\n{rows}\n]")
        return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
