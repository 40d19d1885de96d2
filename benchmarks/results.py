"""What a run found, and its form as JSON."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cells import Cell
from benchmarks.ratios import memcpy_ratio, peer_ratio, ratios
from benchmarks.run import OURS, OURS_OUT, Row
from benchmarks.timing import Times


@dataclass(slots=True)
class Results:
    """One run: the machine, a row per cell and number of threads, and the two small measurements beside the grid."""

    machine: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    sweep: list[Row] = field(default_factory=list)
    checks: dict[str, Times] = field(default_factory=dict)
    seconds: float = 0.0

    def save(self, path: Path) -> None:
        """Write JSON, one row a line, so that two runs can be compared by their lines."""
        parts = [
            f'"machine": {json.dumps(self.machine, indent=1)}',
            f'"seconds": {self.seconds:.0f}',
            f'"checks": {json.dumps({name: _times(times) for name, times in self.checks.items()})}',
            *(f'"{name}": [\n{_lines(rows)}\n]' for name, rows in (("rows", self.rows), ("sweep", self.sweep))),
        ]
        path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Results:
        """Read what `save` wrote; the ratios, which follow from the times, are not kept."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return Results(
            data["machine"],
            [_row(row) for row in data["rows"]],
            [_row(row) for row in data["sweep"]],
            {name: Times(**times) for name, times in data["checks"].items()},
            data["seconds"],
        )


def _lines(rows: list[Row]) -> str:
    return ",\n".join(json.dumps(_row_to_json(row)) for row in rows)


def _row_to_json(row: Row) -> dict[str, Any]:
    data = dataclasses.asdict(row)
    data["times"] = {name: _times(times) for name, times in row.times.items()}
    data["ratios"] = {name: _short(ratio) for name, ratio in ratios(row).items()}
    best = {ours: peer_ratio(row, ours) for ours in (OURS_OUT, OURS)}
    data["best_peer"] = {ours: _short(ratio) for ours, ratio in best.items() if ratio is not None}
    copied = memcpy_ratio(row)
    return data if copied is None else data | {"memcpy": _short(copied)}


def _row(data: dict[str, Any]) -> Row:
    cell = Cell(**{**data["cell"], "sizes": tuple(data["cell"]["sizes"])})
    times = {name: Times(**values) for name, values in data["times"].items()}
    return Row(cell, data["threads"], data["read"], data["written"], times, data["absent"], data["peak"])


def _times(times: Times) -> dict[str, float]:
    return {name: _short(value) for name, value in dataclasses.asdict(times).items()}


def _short(value: float) -> float:
    """Four digits, which is more than the spread leaves."""
    return value if isinstance(value, int) else float(f"{value:.4g}")
