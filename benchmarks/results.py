"""The results of a run, and their form as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cells import Cell
from benchmarks.peers import NAMES
from benchmarks.ratios import forms
from benchmarks.run import COMPILED, LIMIT, OURS, OURS_OUT, YARDSTICK, Row
from benchmarks.timing import Times

OWN = (OURS, OURS_OUT, COMPILED, YARDSTICK)
"""The contenders whose quartiles the page shows, and the file keeps; of the others it keeps the median."""

CONTENDERS = (*OWN, LIMIT, *(form for name in NAMES for form in forms(name)))


@dataclass(slots=True)
class Results:
    """One run: the machine, a row per cell and number of threads, and the two small measurements beside the grid."""

    machine: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    sweep: list[Row] = field(default_factory=list)
    checks: dict[str, Times] = field(default_factory=dict)
    seconds: float = 0.0

    def save(self, path: Path) -> None:
        """Write JSON, one row a line, so that two runs can be compared by their lines.

        A row begins with the name of its cell, the number of threads, and the bytes read and written. The bytes
        resident above the tensors follow, or null, and the reasons why other libraries are absent. Then comes a time
        for each of ``contenders``, or null. A time is the median in nanoseconds, or ``[median, below, above]`` with
        the distance of both quartiles in percent of it.
        """
        parts = [
            f'"machine": {json.dumps(self.machine, indent=1)}',
            f'"seconds": {self.seconds:.0f}',
            f'"checks": {json.dumps({name: _time(times, True) for name, times in self.checks.items()})}',
            f'"contenders": {json.dumps(CONTENDERS)}',
            *(f'"{name}": [\n{_lines(rows)}\n]' for name, rows in (("rows", self.rows), ("sweep", self.sweep))),
        ]
        path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Results:
        """Read what `save` wrote: cells have no sizes and attributes then, and times no number of calls."""
        data = json.loads(path.read_text(encoding="utf-8"))
        rows, sweep = ([_row(data["contenders"], *row) for row in data[name]] for name in ("rows", "sweep"))
        checks = {name: _times(time) for name, time in data["checks"].items()}
        return Results(data["machine"], rows, sweep, checks, data["seconds"])


def _lines(rows: list[Row]) -> str:
    return ",\n".join(json.dumps(_row_to_json(row)) for row in rows)


def _row_to_json(row: Row) -> list[Any]:
    times = [_time(row.times[name], name in OWN) if name in row.times else None for name in CONTENDERS]
    return [row.cell.name, row.threads, row.moved, row.peak, row.absent, *times]


def _row(
    contenders: list[str], name: str, threads: int, moved: int, peak: int | None, absent: Mapping[str, str], *times: Any
) -> Row:
    operator, variant, size, dtype, layout = name.split("/")
    cell = Cell(operator, variant, size, dtype, layout, (), {})
    found = {name: _times(time) for name, time in zip(contenders, times, strict=True) if time is not None}
    return Row(cell, threads, moved, found, dict(absent), peak)


def _time(times: Times, quartiles: bool) -> Any:
    """Four digits, which is more than the spread leaves."""
    nanoseconds = float(f"{times.median * 1e9:.4g}")
    median = int(nanoseconds) if nanoseconds.is_integer() else nanoseconds
    edges = [round(100 * (edge / times.median - 1)) for edge in (times.low, times.high)]
    return [median, *edges] if quartiles else median


def _times(time: Any) -> Times:
    nanoseconds, below, above = time if isinstance(time, list) else (time, 0, 0)
    median = nanoseconds / 1e9
    return Times(median, median * (1 + below / 100), median * (1 + above / 100), 0, 0)
