"""The readers that every part of load uses: files, each opened once, and rows of common kinds."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from .. import source
from ..diagnostics import Diagnostics
from ..source import Table

T = TypeVar("T")
URL = re.compile(r"https://[\w.-]+\.\w+/\S*")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LOWER = re.compile(r"[a-z][a-z0-9_]*")


class Files:
    """Opens spec files, each once."""

    def __init__(self, root: Path, diagnostics: Diagnostics) -> None:
        self.root = root
        self.diagnostics = diagnostics
        self.documents: dict[str, source.Document | None] = {}

    def table(self, relative: str) -> Table | None:
        """A fresh cursor over the file, or None where it cannot be read."""
        if relative not in self.documents:
            self.documents[relative] = source.load(self.root / relative, self.root / "specs", self.diagnostics)
        document = self.documents[relative]
        return None if document is None else document.table()


def finished(row: Table, read: Callable[[Table], T]) -> T:
    result = read(row)
    row.finish()
    return result


def each(tables: list[Table], key: str) -> Iterator[Table]:
    for table in tables:
        inner = table.table(key)
        if inner is not None:
            yield inner


def named(row: Table, key: str, pattern: re.Pattern[str]) -> str:
    """A name that generated code has."""
    text = row.str(key)
    if row.has(key) and not pattern.fullmatch(text):
        row.error(key, f"the {key} {text!r} of {row.what} is not of the form {pattern.pattern}")
    return text


def word(table: Table, key: str, name: str) -> None:
    """Refuses what is no name in generated code."""
    if not WORD.fullmatch(name):
        table.error(key, f"{name!r} is no name: a letter, then letters, digits and _")


def source_of(row: Table) -> str:
    text = row.str("source")
    if row.has("source") and not URL.fullmatch(text):
        row.error("source", "a source is an https URL")
    return text


def python_text(row: Table, key: str, mode: str = "exec") -> str:
    """Python as text: it is parsed, and never run."""
    text = row.str(key)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        row.error(key, f"{key} is {'not Python' if mode == 'exec' else 'no expression of Python'}")
    return text
