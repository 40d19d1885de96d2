"""The committed cells, in groups: a TOML file a group, with the figure that its cells have to reach."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from benchmarks.groups.model import Cell, Group
from benchmarks.groups.read import read

FOLDER = Path(__file__).parent


@cache
def all_groups() -> dict[str, Group]:
    """The groups by name, in the order of their pages."""
    found = [read(path) for path in FOLDER.glob("*.toml")]
    return {group.name: group for group in sorted(found, key=lambda group: (group.page, group.name))}


def committed_cells() -> list[Cell]:
    """The cells of all groups."""
    return [cell for group in all_groups().values() for cell in group.cells]
