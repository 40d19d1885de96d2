"""Results as text: a line while the run goes on, the figures to reach, and the page of tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.cells import SIZES
from benchmarks.families import OPERATORS
from benchmarks.figures import FLOOR, MOVERS, Judged, speed_up
from benchmarks.peers import NAMES
from benchmarks.ratios import best_peer, copied, forms, geometric_mean, grid, memcpy_ratio, peer_ratio, rated, ratio
from benchmarks.results import Results
from benchmarks.run import COMPILED, LIMIT, OURS, OURS_OUT, YARDSTICK, Row
from benchmarks.timing import Times

WORST = 15
Cells = Sequence[str]


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size * 0.9995:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def spread(times: Times | None) -> str:
    """The median, and the quartiles in percent of it."""
    if times is None:
        return "–"
    below, above = (round(100 * abs(edge / times.median - 1)) for edge in (times.low, times.high))
    return f"{duration(times.median)} −{below} +{above} %"


def times_of(value: float | None) -> str:
    """How many times; bold if that is too little."""
    if value is None:
        return "–"
    text = f"{value:.2f}×" if value < 10 else f"{value:.0f}×"
    return f"**{text}**" if value < FLOOR else text


def line(row: Row) -> str:
    """A row while the run goes on."""
    parts = [f"{row.cell.name:56} {row.threads}t  out {duration(row.times[OURS_OUT].median):>8}"]
    if OURS in row.times:
        parts.append(f"new {duration(row.times[OURS].median):>8}")
    parts += [f"{name} {ratio(row, [name]):5.2f}×" for name in (COMPILED, YARDSTICK, LIMIT) if name in row.times]
    parts += [f"{name} {value:5.2f}×" for name in NAMES if (value := ratio(row, forms(name))) is not None]
    return "  ".join(parts)


def table(head: Cells, rows: Iterable[Cells], align: str = "--:") -> str:
    """A Markdown table; the first column is text, the others are numbers unless they are aligned otherwise."""
    lines = [head, ["---", *[align] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def figures_text(found: Iterable[Judged]) -> str:
    """The figures to reach on a terminal: what the rows cannot answer is left out."""
    return "\n".join(
        f"{'yes' if one.reached else 'NO':3}  {one.work:55} {one.peer:33} {one.target:>8}  {one.measured}  {one.where}"
        for one in found
        if one.reached is not None
    )


def markdown(results: Results, plots: Iterable[str]) -> str:
    """The page."""
    parts = [
        "# Operators that move elements or pool",
        "`python -m benchmarks` wrote this page, and the times are in [results.json](results.json). "
        "[The benchmark](../../benchmarks/README.md) says how they are measured. "
        "A ratio is the median time of a peer, divided by the median time of dmlcy with `out=` given: above 1, dmlcy "
        f"is faster. A bold ratio is below {FLOOR}. Peak MB is the memory that the call needs beside its input and "
        "output.",
        *summary(results),
        *(f"![{name.removesuffix('.svg').replace('-', ' ')}]({name})" for name in plots),
        *(part for name in OPERATORS for part in operator(name, results.rows)),
    ]
    return "\n\n".join(parts) + "\n"


def summary(results: Results) -> Iterator[str]:
    """The summary of a run, before the long tables."""
    yield "## The machine"
    yield "\n".join(f"- {name}: {value}" for name, value in machine(results))
    if results.rows:
        yield from the_grid(results)
    if results.sweep:
        yield "Time in nanoseconds per kilobyte that is read or written, by the size of the tensors in megabytes:"
        yield sweep(results.sweep)
    if results.checks:
        yield "Time of the checks alone:"
        add = results.checks[YARDSTICK].median
        rows = [[name, spread(found), f"{found.median / add:.2f}×"] for name, found in results.checks.items()]
        yield table(["call", "time", "divided by numpy.add(x, x)"], rows)


def the_grid(results: Results) -> Iterator[str]:
    """Means over many cells, and the cells at both ends."""
    yield "## The grid"
    yield table(["geometric mean of", "cells", "with `out=`", "allocating", "part of memcpy"], means(results.rows))
    worst = rated(grid(results.rows))[:WORST]
    yield f"These {len(worst)} cells have the lowest ratios to their best peer:"
    rows = [[row.cell.name, str(row.threads), best_peer(row), times_of(value)] for value, row in worst]
    yield table(["cell", "threads", "best peer", "ratio"], rows)
    copies = copied(row for row in grid(results.rows) if row.cell.operator in MOVERS)[:WORST]
    if copies:
        yield f"These {len(copies)} cells of data movement have the lowest speeds, as parts of memcpy's speed:"
        yield table(["cell", "part of memcpy"], [[row.cell.name, f"{value:.2f}"] for value, row in copies])
    faster = sorted(speed_up(results.rows), key=lambda pair: pair[0])
    if faster:
        yield "In these cells, the processor is the limit, and two threads are faster than one:"
        yield table(["cell", "speed-up"], [[row.cell.name, f"{value:.2f}×"] for value, row in faster])


def machine(results: Results) -> Iterator[Cells]:
    facts = results.machine
    yield "processor", f"{facts['processor']}, {facts['processors']} in all, {facts['threads']} threads used"
    yield "caches", ", ".join(f"{level} {size}" for level, size in facts["caches"].items())
    yield "memory", facts["memory"]
    yield "platform", facts["platform"]
    yield "compiler", facts["compiler"]
    yield "instructions used beyond the baseline", ", ".join(facts["instructions"]) or "none"
    yield "versions", ", ".join([facts["python"], *(f"{name} {it}" for name, it in facts["versions"].items())])
    yield "missing libraries", "; ".join(f"{NAMES[name]}: {why}" for name, why in facts["missing"].items()) or "none"
    yield "processes that ran in the minute before, on average", facts["load"]
    yield "commit", facts["commit"]
    yield "time of the run", f"{results.seconds / 60:.1f} minutes for {len(results.rows)} rows"


def means(rows: Sequence[Row]) -> Iterator[Cells]:
    """Geometric means over the whole grid, one thread, each operator and each size."""
    cells = grid(rows)
    groups = {
        "the whole grid": cells,
        "rows on one thread, not tiny": [r for r in rows if r.threads == 1 and r.cell.size != "tiny"],
    }
    groups |= {name: [row for row in cells if row.cell.operator == name] for name in OPERATORS}
    groups |= {size: [row for row in cells if row.cell.size == size] for size in SIZES}
    for name, group in groups.items():
        if not group:
            continue
        found = [[value for value, _ in rated(group, ours)] for ours in (OURS_OUT, OURS)]
        copies = [value for value, _ in copied(group)]
        shown = [times_of(geometric_mean(values)) if values else "–" for values in found]
        yield name, str(len(found[0])), *shown, f"{geometric_mean(copies):.2f}" if copies else "–"


def sweep(rows: Iterable[Row]) -> str:
    """A line per operator, and memcpy of the same bytes under it."""
    costs: dict[str, dict[str, float]] = {}
    for row in rows:
        for name, ours in ((row.cell.operator, OURS_OUT), ("memcpy of the same", LIMIT)):
            kilobytes = row.moved / 1e3
            label = name if ours == OURS_OUT else f"{row.cell.operator}: memcpy"
            costs.setdefault(label, {})[row.cell.size] = row.times[ours].median * 1e9 / kilobytes
    sizes = list(next(iter(costs.values())))
    return table(
        ["", *(size.removesuffix(" MB") for size in sizes)],
        [[name, *(f"{found[size]:.3g}" for size in sizes)] for name, found in costs.items()],
    )


def operator(name: str, rows: Iterable[Row]) -> Iterator[str]:
    """The tables of one operator: its tiny calls, then the rest; and why a peer is not there."""
    mine = [row for row in rows if row.cell.operator == name]
    if not mine:
        return
    yield f"## {name}"
    tiny = [row for row in mine if row.cell.size == "tiny"]
    peers = list(NAMES.values())
    if tiny:
        head = ["tiny, one thread", "numpy.add(x, x)", "compiled, `out=`", "`out=`", "allocating"]
        yield table([*head, *peers], map(tiny_line, tiny))
    rest = [row for row in mine if row.cell.size != "tiny"]
    if rest:
        head = ["cell", "threads", "`out=`", "allocating"]
        yield table([*head, *peers, "best", "part of memcpy", "peak MB"], map(long_line, rest))
    reasons = {reason: peer for row in mine for peer, reason in row.absent.items()}
    if reasons:
        yield "Why cells have a dash: " + "; ".join(sorted(reasons)) + "."


def tiny_line(row: Row) -> Cells:
    times = [row.times.get(name) for name in (YARDSTICK, COMPILED, OURS_OUT, OURS)]
    return [short_name(row), *map(spread, times), *peer_columns(row)]


def long_line(row: Row) -> Cells:
    part = memcpy_ratio(row)
    return [
        short_name(row),
        str(row.threads),
        spread(row.times[OURS_OUT]),
        spread(row.times.get(OURS)),
        *peer_columns(row),
        times_of(peer_ratio(row)),
        "–" if part is None else f"{part:.2f}",
        extra(row),
    ]


def short_name(row: Row) -> str:
    """The cell without its operator, and without what most cells are."""
    parts = [part for part in row.cell.parts[1:] if part not in ("FLOAT32", "contiguous", "tiny")]
    return " ".join(parts)


def peer_columns(row: Row) -> Iterator[str]:
    return (times_of(ratio(row, forms(name))) for name in NAMES)


def extra(row: Row) -> str:
    """Peak memory above the tensors."""
    return "–" if row.peak is None else f"{row.peak / 1e6:.1f}"
