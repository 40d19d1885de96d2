"""Times of contenders that take turns in blocks: spread and median over the blocks of one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.calls import Block

BLOCK = 0.015  # seconds; long enough for the clock and for the caches to be the contender's own
SHORT = 0.005  # the same for tiny calls, of which these are thousands
SLOW = 0.05  # a call longer than this finds nothing of the last block in the caches, and needs no warm-up
LONG = 1.0  # of a call longer than this, FEW blocks have to do
FEW, FEWEST, MOST = 2, 3, 41  # blocks
QUIET = 0.002  # seconds in which no thread may take a tenth of the time
LOUD = 0.5  # seconds after which nobody waits for that


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds per call: the median and the quartiles over blocks of `calls` calls."""

    median: float
    low: float
    high: float
    blocks: int
    calls: int


def calls_per_block(block: Block, length: float) -> int:
    """Find how many calls take about `length` seconds, and warm up."""
    calls = 1
    while True:
        seconds = block(calls)
        if seconds > length / 8:
            return max(1, round(calls * length / seconds))
        calls *= 4


def rest() -> None:
    """Wait until no thread of the process waits for work in a loop, as OpenBLAS's do for 0.1 s after a call."""
    end = time.perf_counter() + LOUD
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(QUIET)
        if time.process_time() - before < QUIET / 10:
            return


def measure(contenders: Mapping[str, Block], seconds: float, length: float = BLOCK) -> dict[str, Times]:
    """Let the contenders take turns for about so many seconds, each for an equal share, but FEWEST blocks at least."""
    first = {name: block(1) for name, block in contenders.items()}
    calls = {name: calls_per_block(block, length) if first[name] < SLOW else 1 for name, block in contenders.items()}
    found: dict[str, list[float]] = {name: [] for name in contenders}
    spent = dict.fromkeys(contenders, 0.0)
    for turn in range(MOST):
        for name, block in contenders.items():
            fewest = FEW if found[name] and found[name][-1] > LONG else FEWEST
            if turn >= fewest and spent[name] >= seconds / len(contenders):
                continue
            rest()
            if (found[name][-1] if found[name] else first[name]) < SLOW:
                spent[name] += block(1)
            taken = block(calls[name])
            spent[name] += taken
            found[name].append(taken / calls[name])
    return {name: _times(values, calls[name]) for name, values in found.items()}


def _times(values: list[float], calls: int) -> Times:
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Times(median, low, high, len(values), calls)
