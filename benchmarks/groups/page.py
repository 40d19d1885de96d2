"""The page of the benchmark, from the medians of one run or of several: a plot, a summary, slower calls, all cells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.groups import all_groups
from benchmarks.groups.measure import Row
from benchmarks.groups.model import Cell, Figure, Group
from benchmarks.peers import NAMES, library
from benchmarks.plots import STYLE, TICKS, colours, subplots
from benchmarks.ratios import geometric_mean
from benchmarks.report import duration, table
from benchmarks.timing import Times

PLOT = "speed-beside-the-best-peer.svg"
RESULTS = "figures.json"
SLOWER = 0.95
"""Works whose mean is below this part of the best peer's speed are in the list of slower ones."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A group, the form of dmlcy's call that counts, and the best peer's time in units of its time, by cell."""

    group: Group
    form: str
    rows: tuple[tuple[float, Row], ...]

    @property
    def mean(self) -> float:
        """The geometric mean over the cells."""
        return geometric_mean([ratio for ratio, _ in self.rows])


def merged(files: Iterable[Path]) -> dict[str, Any]:
    """The rows of several runs on one machine, such as one for each group."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    machine = found[0]["machine"]
    for key in ("processor", "commit", "versions"):
        if len({json.dumps(run["machine"][key]) for run in found}) > 1:
            raise ValueError(f"the runs differ in {key}")
    rows = {(row["cell"], row["threads"]): row for run in found for row in run["rows"]}
    return {"machine": machine, "rows": [rows[key] for key in sorted(rows)]}


def write(results: Mapping[str, Any], folder: Path) -> None:
    """The page, its plot, and the medians that both are made of."""
    measured = [*groups_of(results)]
    lines = ",\n".join(json.dumps(row) for row in results["rows"])
    text = f'{{"machine": {json.dumps(results["machine"])},\n"rows": [\n{lines}\n]}}\n'
    (folder / RESULTS).write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(markdown(results, measured), encoding="utf-8")
    library("matplotlib").use("svg")
    with library("matplotlib.pyplot").rc_context(STYLE):
        figure = drawn(measured)
        figure.savefig(folder / PLOT, metadata={"Date": None})
        library("matplotlib.pyplot").close(figure)


def groups_of(results: Mapping[str, Any]) -> Iterator[Measured]:
    """The groups with peers, in the order of their pages."""
    times: dict[str, list[Mapping[str, Any]]] = {}
    for row in results["rows"]:
        times.setdefault(row["cell"], []).append(row)
    for group in all_groups().values():
        figure = next((figure for figure in group.figures if not figure.at_most), None)
        if figure is not None:
            rows = [_row(cell, given) for cell in group.cells for given in times.get(cell.name, ())]
            rated = [(ratio, row) for row in rows if (ratio := _ratio(group, figure, row)) is not None]
            if rated:
                yield Measured(group, figure.form, tuple(rated))


def _row(cell: Cell, given: Mapping[str, Any]) -> Row:
    times = {name: Times(median, median, median, 1, 1) for name, median in given["times"].items()}
    return Row(cell, given["threads"], times, {}, given["errors"])


def _ratio(group: Group, figure: Figure, row: Row) -> float | None:
    return row.ratio(group, figure)


def markdown(results: Mapping[str, Any], measured: Sequence[Measured]) -> str:
    """The page."""
    parts = [
        "# Benchmarks",
        "This page compares dmlcy with NumPy, PyTorch and ONNX Runtime, for all kinds of operators. A ratio is the "
        "time of the fastest of these libraries, divided by the time of dmlcy: above 1, dmlcy is faster. "
        "[The benchmark](../../benchmarks/README.md) says how the times are measured, and [figures.json](figures.json) "
        "has the medians. [Another page](moving.md) compares operators that move elements or pool, also with memcpy.",
        f"![The time of the best peer divided by the time of dmlcy, for groups of operators]({PLOT})",
        "In the plot, each point is a call, and each line is the geometric mean of a group.",
        *_machine(results["machine"], results["rows"]),
        "## Summary",
        table(["group", "calls", "mean", "slowest call", "ratio of this call"], map(_summary, measured)),
        "## Slower than a peer",
        f"This table has each kind of call whose mean ratio is below {SLOWER}. [The groups](../../benchmarks/groups) "
        "have the targets that changes must keep. `python -m benchmarks figures` compares the ratios with these "
        "targets.",
        table(["calls", "mean", "lowest ratio", "fastest peer"], slower(measured)),
        "## All calls",
        *(part for one in measured for part in _cells(one)),
    ]
    return "\n\n".join(parts) + "\n"


def _machine(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    threads = " and ".join(str(count) for count in sorted({row["threads"] for row in rows}))
    yield (
        f"The calls ran on {threads} {'thread' if threads == '1' else 'threads'} of {facts['processor']}, with "
        f"{', '.join(facts['instructions'])}. The versions are {versions}. The commit is {facts['commit']}."
    )


def _summary(one: Measured) -> list[str]:
    ratio, row = min(one.rows, key=lambda pair: pair[0])
    return [one.group.title, str(len(one.rows)), shown(one.mean), f"`{row.cell.name}`", shown(ratio)]


def shown(ratio: float) -> str:
    """A ratio with two digits behind the point, or none from 10 on."""
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def slower(measured: Iterable[Measured]) -> list[list[str]]:
    """The works that are slower than their best peer, the slowest first."""
    works: dict[str, list[tuple[float, Row, Group]]] = {}
    for one in measured:
        for ratio, row in one.rows:
            works.setdefault(row.cell.work, []).append((ratio, row, one.group))
    found = []
    for work, rows in works.items():
        mean = geometric_mean([ratio for ratio, _, _ in rows])
        ratio, row, group = min(rows, key=lambda pair: pair[0])
        if mean < SLOWER:
            best = row.best(group) or ""
            found.append((mean, [f"`{work}`", shown(mean), shown(ratio), NAMES.get(best, best)]))
    return [line for _, line in sorted(found, key=lambda pair: pair[0])]


def _cells(one: Measured) -> Iterator[str]:
    """The calls of a group, folded."""
    yield f"<details>\n<summary>{one.group.title}: {len(one.rows)} calls, mean {shown(one.mean)}</summary>"
    peers = [name for name in NAMES if any(name in row.times for _, row in one.rows)]
    yield table(["call", "threads", "dmlcy", *(NAMES[name] for name in peers), "ratio"], _lines(one, peers))
    yield "</details>"


def _lines(one: Measured, peers: Sequence[str]) -> Iterator[list[str]]:
    for ratio, row in one.rows:
        others = [duration(row.times[name].median) if name in row.times else "–" for name in peers]
        yield [f"`{row.cell.name}`", str(row.threads), duration(row.times[one.form].median), *others, shown(ratio)]


def drawn(measured: Sequence[Measured]) -> Any:
    """The ratio to the best peer on a logarithmic axis: a line for each group, a point for each call."""
    figure, axes = subplots(1.4 + 0.26 * len(measured))
    for height, (one, colour) in enumerate(
        zip(measured, colours([m.group.name for m in measured]).values(), strict=True)
    ):
        axes.plot([ratio for ratio, _ in one.rows], [height] * len(one.rows), "o", markersize=4, color=colour)
        axes.plot(one.mean, height, "|", markersize=13, color="black")
    axes.plot([], [], "o", color="black", markersize=4, label="a call")
    axes.plot([], [], "|", color="black", markersize=11, linestyle="none", label="geometric mean")
    axes.axvline(1, color="black", linewidth=0.8, label="the best peer")
    axes.set_yticks(range(len(measured)), [one.group.name.replace("_", " ") for one in measured])
    axes.set_ylim(len(measured) - 0.5, -0.5)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in TICKS if low <= tick <= high], minor=False)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("time of the best peer / time of dmlcy")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
