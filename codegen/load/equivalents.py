"""The equivalents of an operator in other libraries."""

from __future__ import annotations

from ..model import Difference, Equivalent, Facts, Outcome
from ..source import Table
from .reading import finished, python_text, source_of


def equivalent(facts: Facts, row: Table) -> Equivalent:
    name = row.choice("library", tuple(library.name for library in facts.libraries))
    languages = {library.name: library.language for library in facts.libraries}
    setup, shown, differs = "", [], []
    if languages.get(name) == "python":
        setup, gives = python_text(row, "setup"), row.any("gives")
        shown = [Outcome(python_text(row, key, "eval"), gives, None) for key in ("ours", "theirs")]
        differs = [finished(inner, _difference) for inner in row.tables("differs")]
    return Equivalent(name, row.str("call"), source_of(row), row.str("note", ""), setup, tuple(shown), tuple(differs))


def _difference(row: Table) -> Difference:
    found = []
    for key in ("ours", "theirs"):
        inner = row.table(key, required=True)
        found.append(Outcome("", None, None) if inner is None else finished(inner, _outcome))
    if found[0].gives == found[1].gives and found[0].raises == found[1].raises:
        row.error("says", "both give the same")
    return Difference(row.str("says"), python_text(row, "setup"), *found)


def _outcome(row: Table) -> Outcome:
    if row.has("gives") == row.has("raises"):
        row.error("code", "code gives values or raises an exception: one of both")
    return Outcome(python_text(row, "code", "eval"), row.any("gives", None), row.str("raises", None))
