"""Times in proportion: to the peers, to memcpy, and over many rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.peers import NAMES
from benchmarks.run import LIMIT, OURS, OURS_OUT, Row


def forms(peer: str) -> tuple[str, str]:
    """The names of both forms of a peer: allocating, and with a tensor given for the result."""
    return peer, f"{peer} out"


def best(row: Row, names: Iterable[str]) -> float | None:
    """The least median of these contenders; None if the row has none of them."""
    return min((row.times[name].median for name in names if name in row.times), default=None)


def ratio(row: Row, names: Iterable[str], ours: str = OURS_OUT) -> float | None:
    """How many times our time the best of these contenders takes; above 1, we are faster."""
    theirs, mine = best(row, names), row.times.get(ours)
    return None if theirs is None or mine is None else theirs / mine.median


def ratios(row: Row) -> dict[str, float]:
    """By peer, its better form against ours with `out=`."""
    found = {name: ratio(row, forms(name)) for name in NAMES}
    return {name: value for name, value in found.items() if value is not None}


def peer_ratio(row: Row, ours: str = OURS_OUT) -> float | None:
    """The best peer's time in units of ours: with `out=` against all forms, allocating against allocating ones."""
    names = [*NAMES] if ours == OURS else [form for name in NAMES for form in forms(name)]
    return ratio(row, names, ours)


def best_peer(row: Row) -> str:
    """The name of the peer that is the fastest in any of its forms."""
    found = {name: value for name in NAMES if (value := best(row, forms(name))) is not None}
    return NAMES[min(found, key=lambda name: found[name])]


def memcpy_ratio(row: Row) -> float | None:
    """The time of a parallel memcpy of the same bytes in units of ours: the part of the bandwidth that is used."""
    return ratio(row, [LIMIT])


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def grid(rows: Iterable[Row]) -> list[Row]:
    """One row per cell, with the most threads it was measured with: what "the whole grid" means."""
    chosen: dict[str, Row] = {}
    for row in rows:
        name = row.cell.name
        if name not in chosen or row.threads > chosen[name].threads:
            chosen[name] = row
    return list(chosen.values())


def rated(rows: Iterable[Row], ours: str = OURS_OUT) -> list[tuple[float, Row]]:
    """Rows that have a peer, with their ratio to the best one; the worst first."""
    pairs = [(peer_ratio(row, ours), row) for row in rows]
    return sorted([(value, row) for value, row in pairs if value is not None], key=lambda pair: pair[0])


def copied(rows: Iterable[Row]) -> list[tuple[float, Row]]:
    """Rows beside a parallel memcpy; the slowest first."""
    pairs = [(memcpy_ratio(row), row) for row in rows]
    return sorted([(value, row) for value, row in pairs if value is not None], key=lambda pair: pair[0])
