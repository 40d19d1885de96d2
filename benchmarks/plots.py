"""Three plots as SVG, with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.families import OPERATORS
from benchmarks.figures import FLOOR
from benchmarks.peers import library
from benchmarks.ratios import copied, geometric_mean, grid, rated
from benchmarks.results import Results
from benchmarks.run import LIMIT, OURS_OUT, Row

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 50, 100)
# Text stays text, and a second run of the same numbers gives the same file.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "dmlcy", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}


def plot(results: Results, folder: Path) -> list[str]:
    """Write the plots that these results have numbers for, and return their names."""
    library("matplotlib").use("svg")
    drawings = drawings_of(results)
    with library("matplotlib.pyplot").rc_context(STYLE):
        for name, draw in drawings.items():
            figure = draw()
            figure.savefig(folder / name, metadata={"Date": None})
            library("matplotlib.pyplot").close(figure)
    return list(drawings)


def drawings_of(results: Results) -> dict[str, Callable[[], Any]]:
    """The plots by file name, each as a function that draws it; plots without numbers are left out."""
    rows = grid(results.rows)
    beside, moved = rated(rows), copied(rows)
    drawings = {
        "moving-beside-the-best-peer.svg": (beside, lambda: beside_peers(beside)),
        "part-of-memcpy.svg": (moved, lambda: beside_memcpy(moved)),
        "time-against-size.svg": (results.sweep, lambda: against_size(results.sweep)),
    }
    return {name: draw for name, (found, draw) in drawings.items() if found}


def beside_peers(pairs: Sequence[tuple[float, Row]]) -> Any:
    """The ratio to the best peer: a line per operator, a point per cell."""
    figure, axes = strips(pairs)
    axes.axvline(FLOOR, color="black", linewidth=0.8, label=f"{FLOOR}, the least to reach")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in TICKS if low <= tick <= high], minor=False)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("time of the best peer / time of dmlcy")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def beside_memcpy(pairs: Sequence[tuple[float, Row]]) -> Any:
    """The part of the speed of a parallel memcpy: a line per operator, a point per cell."""
    figure, axes = strips(pairs)
    axes.axvline(1, color="black", linewidth=0.8, label="memcpy")
    axes.set_xlim(0, 1.05 * max(1.1, *(value for value, _ in pairs)))
    axes.set_xlabel("time of memcpy of the same bytes / time of dmlcy")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def strips(pairs: Sequence[tuple[float, Row]]) -> tuple[Any, Any]:
    """A line per operator, the first on top; tiny and small cells are hollow, the bar is the geometric mean."""
    shown = [name for name in OPERATORS if any(row.cell.operator == name for _, row in pairs)]
    figure, axes = subplots(1.4 + 0.26 * len(shown))
    for height, (name, colour) in enumerate(colours(shown).items()):
        mine = [(value, row) for value, row in pairs if row.cell.operator == name]
        for hollow in (False, True):
            values = [value for value, row in mine if is_small(row) == hollow]
            style = {"markersize": 4, "color": colour, "fillstyle": "none" if hollow else "full"}
            axes.plot(values, [height] * len(values), "o", **style)
        axes.plot(geometric_mean([value for value, _ in mine]), height, "|", markersize=13, color="black")
    axes.plot([], [], "o", color="black", markersize=4, label="a cell")
    axes.plot([], [], "o", color="black", fillstyle="none", markersize=4, label="a tiny or small cell")
    axes.plot([], [], "|", color="black", markersize=11, linestyle="none", label="geometric mean")
    axes.set_yticks(range(len(shown)), shown)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    return figure, axes


def subplots(height: float) -> tuple[Any, Any]:
    """A figure of this height in inches, with one set of axes."""
    figure, axes = library("matplotlib.pyplot").subplots(figsize=(8, height), layout="constrained")
    return figure, axes


def colours(names: Sequence[str]) -> dict[str, Any]:
    """A colour for each name, as far apart as their number allows."""
    shades = library("matplotlib").colormaps["turbo"].resampled(len(names) + 2)  # both ends are nearly black
    return {name: shades(number + 1) for number, name in enumerate(names)}


def is_small(row: Row) -> bool:
    return row.cell.size in ("tiny", "small")


def against_size(rows: Sequence[Row]) -> Any:
    """Time by bytes on logarithmic axes: a line of slope 1 is linear cost."""
    figure, axes = subplots(4.2)
    measured = {row.cell.operator for row in rows}
    for name, colour in colours([name for name in OPERATORS if name in measured]).items():
        mine = [row for row in rows if row.cell.operator == name]
        moved = [row.moved / 1e6 for row in mine]
        for contender, style in ((OURS_OUT, "o-"), (LIMIT, ":")):
            seconds = [row.times[contender].median * 1e3 for row in mine]
            label = name if contender == OURS_OUT else None
            axes.plot(moved, seconds, style, color=colour, markersize=4, label=label)
    axes.plot([], [], ":", color="black", label="memcpy of the same bytes")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("megabytes read and written")
    axes.set_ylabel("milliseconds")
    figure.legend(loc="outside right upper", frameon=False)
    return figure
