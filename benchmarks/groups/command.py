"""The command ``python -m benchmarks figures``: the committed cells beside NumPy, PyTorch and ONNX Runtime."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import machine, peers
from benchmarks.groups import all_groups, committed_cells, lock, page
from benchmarks.groups.compared import Differs
from benchmarks.groups.measure import Row, run_cell
from benchmarks.groups.model import Cell, Group
from benchmarks.groups.table import as_json, line, summary
from benchmarks.machine import ROOT
from dmlcy._runtime.cpus import default_threads
from dmlcy._show.terminal import Progress

SECONDS = 0.8  # a cell, all contenders together
QUICK = 0.02


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.lock:
        wrong = lock.write(committed_cells())
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    planned = {group: cells for group in all_groups().values() if (cells := list(chosen(group, options)))}
    if not planned:
        print("python -m benchmarks figures: error: these options leave no cell; --list prints them", file=sys.stderr)
        return 2
    if options.list:
        for group, cells in planned.items():
            print(f"{group.name}: {len(cells)} cells. {group.title}", *(f"  {cell.name}" for cell in cells), sep="\n")
        print(f"{sum(map(len, planned.values()))} cells in {len(planned)} groups")
        return 0
    if options.render:
        page.write(page.merged(options.render), ROOT / "docs" / "benchmarks")
        return 0
    if options.resident:
        from benchmarks.groups import resident

        resident.report(cell.network for cells in planned.values() for cell in cells if cell.network)
        return 0
    facts = machine.facts()
    print(*(f"{name}: {facts[name]}" for name in ("processor", "instructions", "versions", "load", "commit")), sep="\n")
    for text in (*(f"without {peers.NAMES[name]}: {why}" for name, why in facts["missing"].items()), *peers.blas()):
        print(text)
    rows, wrong = run(planned, options)
    if options.out is not None:
        options.out.write_text(as_json(facts, rows), encoding="utf-8")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


def run(planned: dict[Group, list[Cell]], options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Measure the cells, print each group when it is done; return the rows, and which cells had to be left out."""
    begin, rows, wrong = time.perf_counter(), [], []
    progress, count, done = Progress(), sum(map(len, planned.values())), 0
    for group, cells in planned.items():
        found = []
        for cell in cells:
            progress.reached(cell.name, done, count)
            done += 1
            for threads in options.threads:
                try:
                    found.append(run_cell(group, cell, threads, QUICK if options.quick else options.seconds))
                except Differs as differs:
                    wrong.append(str(differs))
            if options.cells:
                progress.clear()
                print(*(line(group, row) for row in found if row.cell is cell), sep="\n", flush=True)
        progress.clear()
        print(*summary(group, found, options.below), sep="\n", flush=True)
        rows += found
    print(f"{len(rows)} rows in {time.perf_counter() - begin:.0f} s")
    return rows, wrong


def chosen(group: Group, options: argparse.Namespace) -> Iterator[Cell]:
    """The cells of a group that the options name; the first one of each work if the run is quick."""
    works: set[str] = set()
    if options.group and group.name not in options.group:
        return
    for cell in group.cells:
        if options.only and not any(cell.matches(pattern) for pattern in options.only):
            continue
        if not (options.quick and cell.work in works):
            works.add(cell.work)
            yield cell


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks figures",
        description="Measure the committed cells beside other libraries, and print a summary of each group.",
    )
    parser.add_argument("--group", nargs="+", choices=list(all_groups()), metavar="G", help=", ".join(all_groups()))
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="cells named so: exp, add/64MB")
    parser.add_argument("--threads", nargs="+", type=int, help="default: one, and all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="a cell, all contenders together; default: 0.8")
    parser.add_argument("--quick", action="store_true", help="the first size of each work, hardly timed: does it run?")
    parser.add_argument("--below", type=float, metavar="RATIO", help="print all cells worse than this, not the worst 5")
    parser.add_argument("--cells", action="store_true", help="print a line for each cell, with all times and errors")
    parser.add_argument("--out", type=Path, metavar="JSON", help="write the medians")
    parser.add_argument(
        "--render", nargs="+", type=Path, metavar="JSON", help="write docs/benchmarks/README.md from these medians"
    )
    parser.add_argument(
        "--resident", action="store_true", help="memory of a process that runs a network once, no times"
    )
    parser.add_argument("--list", action="store_true", help="print the cells instead of running them")
    parser.add_argument("--lock", action="store_true", help="add new cells to cells.lock; change none that is there")
    options = parser.parse_args(arguments)
    options.threads = options.threads or sorted({1, default_threads()})
    return options
