"""The steps of a run: choose cells, run them, write the results."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks import machine, peers
from benchmarks.beside import compare
from benchmarks.cells import Cell
from benchmarks.checks import run_checks
from benchmarks.families import all_cells
from benchmarks.figures import is_target, judge
from benchmarks.machine import ROOT
from benchmarks.report import figures_text, line, markdown
from benchmarks.results import Results
from benchmarks.run import Differs, run_cell
from benchmarks.sweep import MEGABYTES, sweep_cells, sweep_row
from dmlcy._runtime.cpus import default_threads
from dmlcy._show.terminal import Progress

SECONDS = {"tiny": 0.6, "small": 0.8, "medium": 1.2, "target": 1.2, "large": 3.0}  # a row, all contenders together
QUICK = 0.25

Step = TypeVar("Step")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.render is not None:
        try:
            write(Results.load(options.render), options.render.parent)
        except (OSError, ValueError, LookupError, TypeError) as error:
            return refuse(f"{str(options.render)!r} has no results of a run, or of another version: {error!r}")
        return 0
    planned = list(plan(options))
    if not planned and not options.sweep:
        return refuse("these options leave no cell; --list prints the cells of a run")
    if options.list:
        print(*(f"{cell.name} {threads}t" for cell, threads in planned), sep="\n")
        print(f"{len({cell.name for cell, _ in planned})} cells, {len(planned)} rows")
        return 0
    if options.beside is not None:
        try:
            share = QUICK if options.quick else 1.0
            return compare(options.beside, planned, {size: seconds * share for size, seconds in SECONDS.items()})
        except (EOFError, ValueError) as error:
            return refuse(str(error))
    results = Results(machine.facts())
    for name, reason in results.machine["missing"].items():
        print(f"without {peers.NAMES[name]}: {reason}")
    wrong = run(results, planned, options)
    if options.targets:
        print(figures_text(judge(results.rows, results.sweep)))
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        results.save(options.out / "results.json")
        write(results, options.out)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


def refuse(reason: str) -> int:
    """The exit status of a command that cannot be followed."""
    print(f"python -m benchmarks: error: {reason}", file=sys.stderr)
    return 2


def run(results: Results, planned: Iterable[tuple[Cell, int]], options: argparse.Namespace) -> list[Differs]:
    """Measure what is asked for, and return which cells had to be left out."""
    started = time.perf_counter()
    share = QUICK if options.quick else 1.0
    wrong = []
    progress = Progress()

    def told(name: str, steps: Sequence[Step]) -> Iterator[Step]:
        for number, step in enumerate(steps):
            progress.reached(name, number, len(steps))
            yield step
        progress.clear()

    def show(text: object) -> None:
        progress.clear()
        print(text, flush=True)

    for cell, threads in told("rows", list(planned)):
        try:
            results.rows.append(run_cell(cell, threads, SECONDS[cell.size] * share))
        except Differs as differs:
            wrong.append(differs)
            show(differs)
        else:
            show(line(results.rows[-1]))
    if options.sweep or not (options.quick or options.only or options.targets):
        for cell in told("sweep", [cell for megabytes in MEGABYTES for cell in sweep_cells(megabytes)]):
            results.sweep.append(sweep_row(cell, default_threads(), SECONDS["small"] * share))
            show(line(results.sweep[-1]))
    if not (options.only or options.sweep):
        results.checks = run_checks(SECONDS["tiny"])
    results.seconds = time.perf_counter() - started
    print(f"{len(results.rows)} rows in {results.seconds:.0f} s")
    return wrong


def write(results: Results, folder: Path) -> None:
    """The table, and the plots if there is something to plot them with."""
    reason = peers.absent("matplotlib")
    if reason:
        print(f"no plots: {reason}")
        names = []
    else:
        from benchmarks.plots import plot

        names = plot(results, folder)
    (folder / "moving.md").write_text(markdown(results, names), encoding="utf-8")
    print(f"written to {folder}")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the speed of dmlcy.")
    parser.add_argument("--quick", action="store_true", help="under two minutes: FLOAT32, contiguous, nothing large")
    parser.add_argument("--targets", action="store_true", help="only the cells of the figures to reach; print them")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="cells named so: unfold, padding1/medium")
    parser.add_argument("--sweep", action="store_true", help="only cost against size, 1 MB to 1 GB")
    parser.add_argument("--threads", choices=["1", "all", "both"], help="default: all, FLOAT32 both, --quick all")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write; a full run's is docs/benchmarks")
    parser.add_argument("--render", type=Path, metavar="JSON", help="write tables and plots of a run again")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="no peers: another checkout, built in place")
    parser.add_argument("--list", action="store_true", help="print the cells instead of running them")
    options = parser.parse_args(arguments)
    for pattern in options.only:
        if not any(cell.matches(pattern) for cell in all_cells()):
            parser.error(f"no cell has the parts {pattern!r}; --list prints all cells")
    if options.sweep and (options.only or options.targets or options.beside):
        parser.error("--sweep takes no cells")
    partial = options.beside or options.quick or options.targets or options.only or options.sweep or options.threads
    if options.out is None and not partial:
        options.out = ROOT / "docs" / "benchmarks"
    return options


def plan(options: argparse.Namespace) -> Iterator[tuple[Cell, int]]:
    """The rows of a run: tiny cells on one thread; others on all, contiguous FLOAT32 up to medium on one as well."""
    for cell in chosen(options):
        both = options.threads == "both" or (
            not options.threads and not options.quick and is_plain(cell) and cell.size != "large"
        )
        counts = {1} if options.threads == "1" or cell.size == "tiny" else {default_threads(), *([1] if both else [])}
        yield from ((cell, threads) for threads in sorted(counts))


def chosen(options: argparse.Namespace) -> list[Cell]:
    """The cells that match any of the patterns, as far as a quick run takes them."""
    if options.sweep:
        return []
    cells = all_cells()
    if options.only:
        cells = [cell for cell in cells if any(cell.matches(pattern) for pattern in options.only)]
    if options.targets:
        cells = [cell for cell in cells if is_target(cell)]
    if options.quick:
        named = {part for pattern in options.only for part in pattern.split("/")}
        cells = [cell for cell in cells if is_quick(cell, named)]
    return cells


def is_quick(cell: Cell, named: set[str]) -> bool:
    """Whether a quick run takes this cell: another data type, another layout and large ones only if they are named."""
    plain = cell.dtype in ("FLOAT32", *named) and cell.layout in ("contiguous", *named)
    return plain and (cell.size != "large" or "large" in named)


def is_plain(cell: Cell) -> bool:
    return (cell.dtype, cell.layout) == ("FLOAT32", "contiguous")
