"""Results as text."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.peers import NAMES
from benchmarks.run import COMPILED, LIMIT, OURS, OURS_OUT, YARDSTICK, Row


def best(row: Row, names: Iterable[str]) -> float | None:
    """The least median of these contenders."""
    return min((row.times[name].median for name in names if name in row.times), default=None)


def peer_ratio(row: Row, ours: str = OURS_OUT) -> float | None:
    """The time of the best peer by ours: with `out=` given against all their forms, else against allocating ones."""
    forms = [*NAMES] if ours == OURS else [*NAMES, *(f"{name} out" for name in NAMES)]
    peer = best(row, forms)
    return None if peer is None else peer / row.times[ours].median


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def line(row: Row) -> str:
    """A row while the run goes on."""
    ours = row.times[OURS_OUT].median
    parts = [f"{row.cell.name:58} {row.threads}t  ours {duration(ours):>8}"]
    parts.append(f"{duration(row.times[OURS].median):>8}")
    for name in (COMPILED, YARDSTICK, LIMIT):
        if name in row.times:
            parts.append(f" {name.removeprefix('dmlcy ')} {row.times[name].median / ours:5.2f}x")
    for name in NAMES:
        both = best(row, [name, f"{name} out"])
        parts.append(f" {name} " + ("    -" if both is None else f"{both / ours:5.2f}x"))
    return " ".join(parts)
