"""A group of cells from its TOML file. Each row of a work gives its columns to the expressions, as ``$column``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.groups.model import COMPILED, DIRECT, PEERS, Cell, Copy, Figure, Group, Work

FORMS = {"direct": DIRECT, "compiled": COMPILED}
GROUP = {"title", "page", "against", "figure", "work", "sizes", "dtypes", "most_ulp", "memcpy", "loops", "tolerance"}
WORK = {
    "name",
    "columns",
    "rows",
    "inputs",
    "constants",
    "dmlcy",
    "sizes",
    "dtypes",
    "network",
    "tolerance",
    "each",
    *PEERS,
}


def read(path: Path) -> Group:
    """The group in a file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    _refuse_others(data, GROUP, path.name)
    figures = [Figure(FORMS[form], **found) for form, found in data["figure"].items()]
    return Group(
        name=path.stem,
        title=data["title"],
        page=data["page"],
        against=tuple(data.get("against", PEERS[:3])),
        figures=figures,
        cells=[cell for work in data["work"] for cell in _cells(path.stem, work, data)],
        most_ulp=data.get("most_ulp"),
        memcpy=Copy(**data["memcpy"]) if "memcpy" in data else None,
        loops=data.get("loops", False),
    )


def _refuse_others(data: Mapping[str, Any], known: set[str], where: str) -> None:
    others = set(data) - known
    if others:
        raise ValueError(f"{where}: unknown keys {', '.join(sorted(others))}")


def _cells(group: str, work: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[Cell]:
    """Each row with each size and each data type."""
    _refuse_others(work, WORK, f"{group}, work {work.get('name', work.get('columns'))}")
    columns: Sequence[str] = work.get("columns", ["name"])
    rows = work.get("rows", [[work.get("name")]])
    sizes: Mapping[str, Sequence[int]] = work.get("sizes", data.get("sizes", {}))
    for row in rows:
        names = {column: str(value) for column, value in zip(columns, row, strict=True)}
        for size, numbers in sizes.items():
            for dtype in work.get("dtypes", data.get("dtypes", ["float32"])):
                yield Cell(
                    name=f"{group}/{_filled(work.get('name', '$name'), names)}/{size}/{dtype}",
                    dtype=dtype,
                    sizes=tuple(numbers),
                    inputs={name: _filled(text, names) for name, text in work.get("inputs", {}).items()},
                    constants=tuple(work.get("constants", ())),
                    call=_filled(work.get("dmlcy", ""), names),
                    works={peer: found for peer in PEERS if (found := _work(work.get(peer), names)) is not None},
                    network=_filled(work.get("network", ""), names),
                    tolerance=work.get("tolerance", data.get("tolerance")),
                    each=work.get("each"),
                )


def _work(found: Any, names: Mapping[str, str]) -> Work | None:
    """The work of a peer; None where the row leaves a column empty that its call needs, or the peer has no call."""
    if found is None:
        return None
    call, before = (found, "") if isinstance(found, str) else (found["call"], found.get("before", ""))
    if any(names[one] == "" for one in Template(call).get_identifiers()):
        return None
    return Work(_filled(call, names), _filled(before, names))


def _filled(text: str, names: Mapping[str, str]) -> str:
    return Template(text).substitute(names)
