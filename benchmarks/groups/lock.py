"""The list of committed cells: none is taken out, none gets other sizes, data types or attributes, or loses a peer."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.groups import networks
from benchmarks.groups.inputs import inputs_of
from benchmarks.groups.model import Cell

PATH = Path(__file__).with_name("cells.lock")
HEAD = """\
# Every cell of the groups: a digest of its call, and of the sizes, data types, strides and values of its inputs; then
# the initials of the contenders that it is compared with: numpy, torch, onnxruntime, beside.
# `python -m benchmarks figures --lock` adds cells and contenders. Nothing is changed or taken out.
"""


class Line(NamedTuple):
    """The line of a cell in the list."""

    digest: str
    peers: str


def line_of(cell: Cell) -> Line:
    """The line that a cell must have in the list."""
    if cell.network:
        return Line(networks.digest(cell)[:12], "to")
    arrays = inputs_of(cell, real=False)
    parts = [cell.call, *cell.constants]
    parts += [f"{name} {x.dtype.name} {x.shape} {x.strides} {cell.inputs[name]}" for name, x in arrays.items()]
    return Line(sha256("\n".join(parts).encode()).hexdigest()[:12], "".join(name[0] for name in cell.works) or "-")


def locked(path: Path = PATH) -> dict[str, Line]:
    """The lines of the list, by the name of the cell."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    split = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: Line(digest, peers) for name, digest, peers in split}


def compare(cells: Iterable[Cell], path: Path = PATH) -> tuple[dict[str, Line], list[str]]:
    """The lines to add to the list, and the mistakes in the cells that are listed."""
    known, present = locked(path), {cell.name: line_of(cell) for cell in cells}
    wrong = [f"{name} is taken out" for name in known if name not in present]
    for name, line in known.items():
        if name in present and present[name].digest != line.digest:
            wrong.append(f"{name} has another call or other inputs")
        elif name in present and not set(line.peers) <= set(present[name].peers) | {"-"}:
            wrong.append(f"{name} has lost a peer: {line.peers} were listed")
    return {name: line for name, line in present.items() if known.get(name) != line}, wrong


def write(cells: Iterable[Cell], path: Path = PATH) -> list[str]:
    """Add what is new; where something listed has changed, write nothing and return what is wrong."""
    new, wrong = compare(cells, path)
    if not wrong:
        lines = sorted(f"{name} {line.digest} {line.peers}" for name, line in (locked(path) | new).items())
        path.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return wrong
