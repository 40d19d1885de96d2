"""Three plots as SVG, with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import FLOOR
from benchmarks.operators import OPERATORS
from benchmarks.peers import library
from benchmarks.ratios import copied, grid, rated
from benchmarks.results import Results
from benchmarks.run import LIMIT, OURS_OUT, Row

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 50, 100)
# Text stays text, and a second run of the same numbers gives the same file.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "dmlcy", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}


def plot(results: Results, folder: Path) -> list[str]:
    """Write the plots that these results have numbers for, and return their names."""
    library("matplotlib").use("svg")
    pyplot = library("matplotlib.pyplot")
    drawings: dict[str, tuple[Callable[[Any, Any], None], Sequence[Any]]] = {
        "speed-beside-the-best-peer.svg": (beside_peers, rated(grid(results.rows))),
        "part-of-memcpy.svg": (beside_memcpy, copied(grid(results.rows))),
        "time-against-size.svg": (against_size, results.sweep),
    }
    written = [name for name, (_, found) in drawings.items() if found]
    with pyplot.rc_context(STYLE):
        for name in written:
            draw, found = drawings[name]
            figure, axes = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
            draw(axes, found)
            figure.savefig(folder / name, metadata={"Date": None})
            pyplot.close(figure)
    return written


def beside_peers(axes: Any, pairs: Sequence[tuple[float, Row]]) -> None:
    """The ratio to the best peer, by cell."""
    sorted_points(axes, pairs)
    axes.set_yscale("log")
    axes.axhline(FLOOR, color="black", linewidth=0.8, label=f"{FLOOR}, the least to reach")
    axes.legend()
    low, high = axes.get_ylim()
    axes.set_yticks([tick for tick in TICKS if low <= tick <= high])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("cells, sorted")
    axes.set_ylabel("time of the best peer / time of dmlcy")


def beside_memcpy(axes: Any, pairs: Sequence[tuple[float, Row]]) -> None:
    """The part of a parallel memcpy's speed, by cell."""
    sorted_points(axes, pairs)
    axes.axhline(1, color="black", linewidth=0.8, label="memcpy")
    axes.legend()
    axes.set_ylim(0, 1.05 * max(1.1, *(value for value, _ in pairs)))
    axes.set_xlabel("cells, sorted")
    axes.set_ylabel("time of memcpy of the same bytes / time of dmlcy")


def sorted_points(axes: Any, pairs: Sequence[tuple[float, Row]]) -> None:
    """A colour per operator; tiny and small cells are hollow."""
    axes.xaxis.get_major_locator().set_params(integer=True)
    for number, name in enumerate(OPERATORS):
        if not any(row.cell.operator == name for _, row in pairs):
            continue
        for hollow in (False, True):
            places = [
                place for place, (_, row) in enumerate(pairs) if row.cell.operator == name and is_small(row) == hollow
            ]
            style = {"markersize": 4, "color": f"C{number}", "fillstyle": "none" if hollow else "full"}
            label = None if hollow else name
            axes.plot(places, [pairs[place][0] for place in places], "o", label=label, **style)
    axes.plot([], [], "o", color="black", fillstyle="none", markersize=4, label="tiny and small")


def is_small(row: Row) -> bool:
    return row.cell.size in ("tiny", "small")


def against_size(axes: Any, rows: Sequence[Row]) -> None:
    """Time by bytes on logarithmic axes: a line of slope 1 is linear cost."""
    for number, name in enumerate(OPERATORS):
        mine = [row for row in rows if row.cell.operator == name]
        moved = [(row.read + row.written) / 1e6 for row in mine]
        for contender, style in ((OURS_OUT, "o-"), (LIMIT, ":")):
            seconds = [row.times[contender].median * 1e3 for row in mine]
            label = name if contender == OURS_OUT else None
            axes.plot(moved, seconds, style, color=f"C{number}", markersize=4, label=label)
    axes.plot([], [], ":", color="black", label="memcpy of the same bytes")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("megabytes read and written")
    axes.set_ylabel("milliseconds")
    axes.legend()
