"""The command ``python -m benchmarks threads``: how much faster calls are on more threads, by module of the loops."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Barrier, Thread

import dmlcy as dml
from benchmarks import machine
from benchmarks.calls import Block, Call
from benchmarks.groups.contenders import room
from benchmarks.groups.inputs import inputs_of
from benchmarks.groups.model import Cell
from benchmarks.groups.ours import expression_of
from benchmarks.groups.read import read
from benchmarks.timing import Times, measure
from dmlcy._show.terminal import Progress

WORKS = Path(__file__).with_suffix(".toml")
COUNTS = (1, 2, 4, 8, 16)
SECONDS = 2.0  # a work, all numbers of threads together
ROUND = 0.5  # seconds of a round of independent calls
APART = ("products_1024", "elements_erf")
"""Works whose calls run beside each other on one thread each, to see how much faster this machine can be."""
LINEAR, MOST_LINEAR, WHOLE, MOST = 0.8, 8, 16, 10.0
"""The figures: this part of the number of threads up to so many threads; and this many times with so many."""

Found = Mapping[int, float]  # by the number of threads: how many times faster than on one thread


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    cells = [cell for cell in read(WORKS).cells if not options.only or any(one in cell.name for one in options.only)]
    if not cells or 1 not in options.counts:
        reason = "the counts need 1, to compare with" if cells else "these options leave no work"
        print(f"python -m benchmarks threads: error: {reason}", file=sys.stderr)
        return 2
    facts, progress = machine.facts(), Progress()
    print(
        *(f"{name}: {facts[name]}" for name in ("processor", "processors", "instructions", "load", "commit")), sep="\n"
    )
    print(*heading(options.counts), sep="\n", flush=True)
    found: dict[str, Found] = {}
    for number, cell in enumerate(cells):
        progress.reached(name_of(cell), number, len(cells))
        times = timed(cell, options.counts, options.seconds)
        found[name_of(cell)] = {count: times[1].median / times[count].median for count in options.counts}
        progress.clear()
        print(line(name_of(cell), times[1].median, found[name_of(cell)]), flush=True)
    for cell in cells:
        if name_of(cell) in APART:
            seconds = {count: apart(cell, count) for count in options.counts}
            speeds = {count: count * seconds[1] / seconds[count] for count in options.counts}
            print(line(f"calls apart: {name_of(cell)}", seconds[1], speeds), flush=True)
    print(*summary(found, options.counts), sep="\n")
    if options.out is not None:
        options.out.write_text(json.dumps({"machine": facts, "faster": found}, indent=1) + "\n", encoding="utf-8")
    return 0


def name_of(cell: Cell) -> str:
    """The name of a work, which begins with the module of its loops."""
    return cell.name.split("/")[1]


def call_of(cell: Cell) -> Call:
    """A call that writes to an array of its own; compiled, where it has constants."""
    inputs, expression = inputs_of(cell), expression_of(cell)
    out = room(expression.direct(inputs).once())
    return expression.compiled(inputs, out, cell.constants) if cell.constants else expression.direct(inputs, out)


def timed(cell: Cell, counts: Sequence[int], seconds: float) -> dict[int, Times]:
    """The times of calls on so many threads, which take turns."""
    block = call_of(cell).block()

    def on(count: int) -> Block:
        def of(calls: int) -> float:
            dml.set_num_threads(count)
            return block(calls)

        return of

    times = measure({str(count): on(count) for count in counts}, seconds)
    return {count: times[str(count)] for count in counts}


def apart(cell: Cell, count: int) -> float:
    """Seconds of a call, while so many Python threads make calls of one thread each, on arrays of their own."""
    dml.set_num_threads(1)
    blocks = [call_of(cell).block() for _ in range(count)]
    calls = max(1, round(ROUND / blocks[0](1)))
    return statistics.median(together([partial(block, calls) for block in blocks]) / calls for _ in range(3))


def together(works: Sequence[Callable[[], object]]) -> float:
    """The seconds that works take beside each other, each in a Python thread."""
    ready = Barrier(len(works) + 1)

    def begin(work: Callable[[], object]) -> None:
        ready.wait()
        work()

    threads = [Thread(target=begin, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    ready.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def heading(counts: Sequence[int]) -> list[str]:
    """The first lines of the table."""
    columns = ("loops", "one thread, ms", *(f"{count} threads" for count in counts if count > 1))
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def line(name: str, seconds: float, found: Found) -> str:
    """A line of the table: how many times faster."""
    return f"| {name} | {seconds * 1e3:.2f} | {' | '.join(f'{x:.2f}' for count, x in found.items() if count > 1)} |"


def summary(found: Mapping[str, Found], counts: Sequence[int]) -> list[str]:
    """The geometric means, and the works below the figures."""
    lines = []
    for count in (count for count in counts if count > 1):
        least = LINEAR * count if count <= MOST_LINEAR else MOST if count == WHOLE else None
        speeds = {name: faster[count] for name, faster in found.items()}
        text = f"{count} threads: {statistics.geometric_mean(speeds.values()):.2f} times faster in the mean"
        if least is not None:
            below = [
                f"{name} {speed:.2f}" for name, speed in sorted(speeds.items(), key=lambda one: one[1]) if speed < least
            ]
            text += f"; below {least:g}: {', '.join(below) or 'none'}"
        lines.append(text)
    return lines


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks threads", description="Measure how much faster calls are on more threads."
    )
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS, help="numbers of threads; default: 1 2 4 8 16")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PART", help="works named so: products, convolutions_1x1"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="a work, all numbers of threads; default: 2")
    parser.add_argument("--out", type=Path, metavar="JSON", help="write how many times faster each work is")
    return parser.parse_args(arguments)
