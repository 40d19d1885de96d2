"""The files that each family with loops needs: the only test that fails without one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import family_files
import pytest
from family_files import BENCHMARK, DEFINITIONS, LIBRARIES, PROPERTIES, WAYS, has
from planned import planned

from benchmarks.groups import committed_cells
from benchmarks.groups.ours import expression_of
from codegen.model import Operator

FAMILIES = {one.family.name: [fast.operator for fast in one.fast] for one in planned().families if one.fast}
COMMITTED = {expression_of(cell).function for cell in committed_cells() if not cell.network}


def in_a_library(operator: Operator) -> bool:
    """Whether a call of a library is shown that gives the same: codegen/test_equivalents.py compares the two."""
    return any(same.library in LIBRARIES and same.shown for same in operator.equivalents)


def is_committed(operator: Operator) -> bool:
    """Whether the committed cells of the benchmark measure the operator."""
    return operator.python in COMMITTED


@dataclass(frozen=True)
class File:
    """The contents of a file of a family. An operator that has ``other`` does not need the file."""

    content: str
    other: str = ""
    has_other: Callable[[Operator], bool] = lambda operator: False


FILES = {
    PROPERTIES: File("properties(operator): what holds between results"),
    WAYS: File("ways(operator): uses that take each way through the loops"),
    DEFINITIONS: File(
        "a function for each operator: the result as the documentation defines it, in NumPy",
        f"an [[equivalent]] with a call of {' or '.join(LIBRARIES)}",
        in_a_library,
    ),
    BENCHMARK: File(
        "OPERATORS: the sizes to measure, and the same work with each peer",
        "committed cells in benchmarks/groups",
        is_committed,
    ),
}


def missing(family: str, operators: Sequence[Operator]) -> Iterator[str]:
    """The files that a family with these fast operators lacks, what each has, and which operators need it."""
    for path, file in FILES.items():
        needing = [operator.name for operator in operators if not file.has_other(operator)]
        if needing and not has(path, family):
            other = f"; or {file.other}, for {', '.join(needing)}" if file.other else ""
            yield f"{path.format(family)}, with {file.content}{other}"


def test_each_family_has_its_files() -> None:
    found = [line for name, operators in FAMILIES.items() for line in missing(name, operators)]
    assert not found, "\n".join(["families with loops lack these files:", *found])


def test_the_files_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family_files, "ROOT", tmp_path)
    shown = next(one for operators in FAMILIES.values() for one in operators if in_a_library(one) and is_committed(one))
    bare = replace(shown, name="BARE", python="bare", equivalents=())
    paths = [path.format("new") for path in FILES]
    assert [line.split(", ")[0] for line in missing("new", [shown])] == paths[:2]
    lines = [*missing("new", [shown, bare])]
    assert [line.split(", ")[0] for line in lines] == paths
    assert all(file.content in line for file, line in zip(FILES.values(), lines, strict=True))
    assert [line.endswith(", for BARE") for line in lines] == [False, False, True, True]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert [*missing("new", [shown, bare])] == []
