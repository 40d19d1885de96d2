"""``dmlcy operators``: the operators of DirectML, and how far dmlcy has each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from operator import itemgetter
from string import digits
from typing import Final, TypeAlias, TypedDict

from dmlcy._cli.options import add_examples, add_feature_level, add_format
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, OPERATORS, STATES, state_of
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._show.explain.facts import catalogue
from dmlcy._show.explain.page import Page, page_width
from dmlcy._show.terminal import head
from dmlcy._words.values import dimensions

VERSION: Final = 1
"""Of the JSON."""


class Row(TypedDict):
    """An operator of the table, in JSON."""

    name: str
    since: str
    kind: str
    state: str
    family: str | None
    python: str | None
    summary: str | None
    tensor: str | None
    data_types: list[str]
    dimensions: list[int]
    source: str | None


Columns: TypeAlias = dict[str, Callable[[Row], str]]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "operators",
        help="list the operators of DirectML",
        description="List the operators of DirectML: since which feature level, how far dmlcy has them, and what "
        "the first tensor can be.",
    )
    parser.add_argument(
        "--state",
        action="append",
        choices=tuple(STATES),
        help=" ".join(f"{state}: {says}" for state, says in STATES.items()) + " Can be given several times.",
    )
    add_feature_level(parser, "what this level has")
    add_format(parser)
    add_examples(
        parser,
        "dmlcy operators --state fast    # those that run",
        "dmlcy operators --feature-level 3_0    # what this level has",
        "dmlcy operators --json | jq -r '.operators[].name'",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the table."""
    level = LEVELS[NEWEST].name if options.feature_level is None else options.feature_level
    known = table(level)
    rows = [row for row in known if options.state is None or row["state"] in options.state]
    totals = {state: sum(row["state"] == state for row in known) for state in STATES} | {"all": len(known)}
    if options.format == "json":
        print(json.dumps({"version": VERSION, "feature_level": level, "operators": rows, "totals": totals}, indent=2))
        return 0
    page = Page(page_width())
    _lay_out(page, rows)
    page.gap()
    page.text(f"Level {level} has {len(known)} operators: {in_states(totals)}.", 0)
    print(page.shown(head))
    return 0


def in_states(totals: Mapping[str, int]) -> str:
    """How many operators are in each state, from the most that dmlcy can do on, in words."""
    return ", ".join(f"{totals[state]} {state}" for state in reversed(STATES) if totals[state])


def table(level: str) -> list[Row]:
    """The operators that a feature level has, by name."""
    index = LEVEL_INDEX[level]
    rows: list[Row] = []
    for name, entry in sorted(catalogue().items()):
        if LEVEL_INDEX[entry["since"]] > index:
            continue
        operator = OPERATORS.get(name)
        first = None if operator is None else next(field for field in operator.fields if field.kind != "attribute")
        rows.append({
            "name": name,
            "since": entry["since"],
            "kind": entry["kind"],
            "state": state_of(name),
            "family": None if operator is None else operator.family,
            "python": None if operator is None else operator.python,
            "summary": None if operator is None else operator.summary,
            "tensor": None if first is None else first.python,
            "data_types": [] if first is None else dtypes_at(first, index),
            "dimensions": [] if first is None else ranks_at(first, index),
            "source": entry.get("source"),
        })  # fmt: skip
    return rows


def _lay_out(page: Page, rows: list[Row]) -> None:
    for state, says in reversed(STATES.items()):
        found = [row for row in rows if row["state"] == state]
        if not found:
            continue
        page.section(f"{state.capitalize()}: {says}")
        columns = COLUMNS[state]
        page.rows([(*columns,), *(tuple(str(show(row)) for show in columns.values()) for row in found)], most=50)
        if "Dimensions" in columns:
            page.text(
                "Dimensions and data types are those of the first tensor. In Python, an operator has its name in small"
                " letters."
            )


def _brief(dtypes: list[str]) -> str:
    """FLOAT16/32, INT8/16/32."""
    kinds: dict[str, list[int]] = {}
    for dtype in dtypes:
        kind = dtype.rstrip(digits)
        kinds.setdefault(kind, []).append(int(dtype.removeprefix(kind)))
    return ", ".join(f"{kind}{'/'.join(map(str, sorted(bits)))}" for kind, bits in kinds.items())


_FIRST: Final[Columns] = {"Operator": itemgetter("name"), "Since": itemgetter("since")}
_FAMILY: Final[Columns] = {"Family": itemgetter("family")}
_TENSOR: Final[Columns] = {
    "Dimensions": lambda row: dimensions(row["dimensions"]),
    "Data types": lambda row: _brief(row["data_types"]),
}
COLUMNS: Final = {
    "listed": _FIRST | {"Kind": itemgetter("kind")},
    "described": _FIRST | _FAMILY | _TENSOR,
    "reference": _FIRST | _FAMILY | _TENSOR,
    "fast": _FIRST | _FAMILY | _TENSOR,
}
"""The cells of an operator in the table of each state, by the head of the column."""
