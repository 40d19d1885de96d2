"""Results of earlier runs, in a folder that git ignores: each with the digest of everything that it was made of.

A result is found again only under the digest that it was stored with. A file that is broken, or that another version
of codegen wrote, is as good as none. Files are replaced whole, so that several runs may use a folder at once.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from .writer import replace

FOLDER = "build/codegen"
SOURCES = Path(__file__).parent


def digest(*parts: str | bytes | None) -> str:
    """A digest of texts in this order; None is a part of its own."""
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(b"none;" if content is None else b"%d;%b" % (len(content), content))
    return found.hexdigest()


def file_digest(path: Path) -> str | None:
    """A digest of the content of a file; None where there is no file that can be read."""
    try:
        return digest(path.read_bytes()) if path.is_file() else None
    except OSError:
        return None


@cache
def version() -> str:
    """A digest of everything that turns specs into text, except the templates."""
    files = sorted(SOURCES.rglob("*.py"))
    parts = [part for path in files for part in (path.relative_to(SOURCES).as_posix(), path.read_bytes())]
    return digest(sys.version, sys.implementation.cache_tag, jinja2.__version__, *parts)


class Store:
    """The results of a checkout."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER
        self.used: set[Path] = set()
        self.waiting: dict[Path, bytes] = {}

    def get(self, name: str, key: str) -> Any:
        """The value stored under a name with this key; None where there is none."""
        path = self.path(name)
        try:
            content = path.read_bytes()
            head, payload = content[:64].decode("ascii"), content[64:]
            if head != digest(version(), key, payload):
                return None
            found = pickle.loads(payload)
        except Exception:  # whatever is in the file: the result is made again
            return None
        self.used.add(path)
        return found

    def put(self, name: str, key: str, value: Any) -> None:
        """Stores a result with the next ``write``."""
        payload = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        self.waiting[self.path(name)] = digest(version(), key, payload).encode("ascii") + payload

    def write(self, prefix: str | None = None) -> None:
        """Writes the results. Files with this prefix that this run neither found nor made are removed."""
        with suppress(OSError):  # then the next run makes everything again
            for path, content in self.waiting.items():
                replace(path, content)
            if prefix is not None:
                for path in {*self.folder.glob(f"{prefix}*.pickle")} - self.used - {*self.waiting}:
                    path.unlink(missing_ok=True)
            self.waiting.clear()

    def path(self, name: str) -> Path:
        """The file of a result."""
        return self.folder / f"{name}.pickle"
