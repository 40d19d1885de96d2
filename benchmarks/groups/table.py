"""The measurements as text: a line for each cell, and for each group its means, its figures and its worst cells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.groups.measure import Row
from benchmarks.groups.model import Copy, Figure, Group
from benchmarks.ratios import geometric_mean
from benchmarks.report import duration
from benchmarks.run import LIMIT
from benchmarks.timing import Times
from dmlcy._facts.tables import FAST

WORST = 5


def line(group: Group, row: Row) -> str:
    """A cell: the ratio of each figure, and the time and the error of each contender."""
    shown = [_times(row.ratio(group, figure)) for figure in group.figures]
    parts = []
    for name, times in row.times.items():
        error = f" ({row.errors[name]:.2f} ULP)" if name in row.errors else ""
        parts.append(f"{name} {duration(times.median)}{error}")
    return f"{' '.join(shown)}  {row.cell.name} {row.threads}t  {', '.join(parts)}"


def _times(value: float | None) -> str:
    return f"{'–' if value is None else _number(value):>6}"


def _number(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def summary(group: Group, rows: Sequence[Row], below: float | None = None) -> Iterator[str]:
    """A group: for each number of threads and each figure, the geometric mean, the median and the worst cells.

    Behind them, what `compile` did to each network.

    ``below``: all cells that are worse than this ratio are printed, not the five worst ones.
    """
    yield f"{group.name}: {group.title}"
    for threads in sorted({row.threads for row in rows}):
        chosen = [row for row in rows if row.threads == threads]
        for figure in group.figures:
            yield from _figure(group, figure, threads, chosen, below)
        copied = [row for row in chosen if group.memcpy is not None and row.cell.matches(group.memcpy.size)]
        if group.memcpy is not None and copied:
            yield from _copied(
                group.memcpy, threads, [(row.times[LIMIT], row.times[group.forms[0]], row) for row in copied]
            )
    yield from dict.fromkeys(f"  {row.cell.network}: {row.optimized}" for row in rows if row.optimized)


def _figure(group: Group, figure: Figure, threads: int, rows: Iterable[Row], below: float | None) -> Iterator[str]:
    """The line of a figure, and its worst cells."""
    pairs = [(value, row) for row in rows if (value := row.ratio(group, figure)) is not None]
    pairs.sort(key=lambda pair: pair[0], reverse=figure.at_most)
    head = f"  {threads}t  {figure.form}, {'time in units of' if figure.at_most else 'speed beside'} "
    head += f"{'the best of ' if len(group.against) > 1 else ''}{', '.join(group.against)}"
    counted = [pair for pair in pairs if not group.loops or has_loops(pair[1])]
    if not counted:
        yield f"{head}: not measured"
    else:
        mean = _asked(figure, geometric_mean([value for value, _ in counted]))
        yield f"{head}: {_means(counted)}{mean}{_missed(figure, counted)}"
        if figure.seconds is not None:
            longest = max(row.times[figure.form].median for _, row in counted)
            kept = "yes" if longest <= figure.seconds else "NO"
            yield f"    {duration(longest)} in place of {duration(figure.seconds)} at most: {kept}"
        for value, row in counted[:WORST] if below is None else counted:
            if below is None or (value > below if figure.at_most else value < below):
                yield f"    {_times(value)}  {row.cell.name}  ({row.best(group)})"
    others = [pair for pair in pairs if group.loops and not has_loops(pair[1])]
    if others:
        yield f"  {threads}t  the same of operators without loops: {_means(others)}"


def _copied(copy: Copy, threads: int, rows: Iterable[tuple[Times, Times, Row]]) -> Iterator[str]:
    """The part of a memcpy's bandwidth, and the cells that have the least of it."""
    shares = sorted(((theirs.median / ours.median, row) for theirs, ours, row in rows), key=lambda pair: pair[0])
    yield f"  {threads}t  part of memcpy, {copy.size}: {_means(shares)}{_missed(Figure('', each=copy.each), shares)}"
    yield from (f"    {_times(share)}  {row.cell.name}" for share, row in shares[:WORST])


def _means(pairs: Sequence[tuple[float, Row]]) -> str:
    """The geometric mean, the median, and of how many cells."""
    values = [value for value, _ in pairs]
    return f"mean {_number(geometric_mean(values))}, median {_number(median(values))}, {len(values)} cells"


def has_loops(row: Row) -> bool:
    """Whether the operator of a cell has generated loops."""
    return row.cell.call.partition("(")[0] in {spec.python for spec in FAST.values()}


def _asked(figure: Figure, found: float) -> str:
    """Whether the mean is reached."""
    if figure.mean is None:
        return ""
    return f"; mean {_sign(figure)} {figure.mean:g}: {'yes' if _keeps(figure, found, figure.mean) else 'NO'}"


def _missed(figure: Figure, pairs: Sequence[tuple[float, Row]]) -> str:
    """Whether each cell reaches what it has to, or how many do not."""
    limits = [(value, row.cell.each or figure.each) for value, row in pairs]
    asked = [(value, limit) for value, limit in limits if limit is not None]
    if not asked:
        return ""
    missed = sum(not _keeps(figure, value, limit) for value, limit in asked)
    several = ", ".join(f"{limit:g}" for limit in sorted({limit for _, limit in asked}))
    return f"; each {_sign(figure)} {several}: {f'{missed} of {len(asked)} miss it' if missed else 'yes'}"


def _sign(figure: Figure) -> str:
    return "≤" if figure.at_most else "≥"


def _keeps(figure: Figure, found: float, limit: float) -> bool:
    return found <= limit if figure.at_most else found >= limit


def as_json(machine: dict[str, Any], rows: Iterable[Row]) -> str:
    """Medians by cell, a line for each."""
    lines = [
        json.dumps(
            {
                "cell": row.cell.name,
                "threads": row.threads,
                "times": {name: float(f"{times.median:.4g}") for name, times in row.times.items()},
                "errors": {name: float(f"{error:.3g}") for name, error in row.errors.items()},
            }
        )
        for row in rows
    ]
    between = ",\n"
    return f'{{"machine": {json.dumps(machine)},\n"rows": [\n{between.join(lines)}\n]}}\n'
