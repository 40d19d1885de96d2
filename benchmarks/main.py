"""The steps of a run: choose cells, run them, write the results."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from benchmarks.cells import Cell
from benchmarks.operators import OPERATORS
from benchmarks.report import line
from benchmarks.run import Differs, Row, run_cell
from dmlcy._runtime.cpus import default_threads

SECONDS = {"tiny": 0.5, "small": 0.8, "medium": 1.2, "target": 1.2, "large": 3.0}
QUICK = 0.25


def main() -> int:
    options = parse()
    cells = chosen(options.only, options.quick)
    counts = {"1": [1], "all": [default_threads()], "both": sorted({1, default_threads()})}[options.threads]
    rows: list[Row] = []
    started = time.perf_counter()
    for cell in cells:
        for threads in [1] if cell.size == "tiny" else counts:
            try:
                rows.append(run_cell(cell, threads, SECONDS[cell.size] * (QUICK if options.quick else 1)))
            except Differs as differs:
                print(differs)
                return 1
            print(line(rows[-1]), flush=True)
    print(f"{len(rows)} rows in {time.perf_counter() - started:.0f} s")
    return 0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under two minutes: FLOAT32, contiguous, nothing large")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="cells such as unfold, padding1/medium")
    parser.add_argument("--threads", choices=["1", "all", "both"], default=None)
    options = parser.parse_args(arguments)
    options.threads = options.threads or ("all" if options.quick else "both")
    return options


def chosen(only: Sequence[str], quick: bool) -> list[Cell]:
    """The cells that match any of the patterns; a quick run takes FLOAT32 and contiguous unless one is given."""
    cells = [cell for operator in OPERATORS.values() for cell in operator.cells]
    if only:
        cells = [cell for cell in cells if any(cell.matches(pattern) for pattern in only)]
    elif quick:
        cells = [cell for cell in cells if (cell.dtype, cell.layout) == ("FLOAT32", "contiguous")]
    return [cell for cell in cells if not (quick and cell.size == "large")]
