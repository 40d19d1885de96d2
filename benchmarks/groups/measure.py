"""Measure a cell: compare the results, then time all contenders in turn."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.calls import Block
from benchmarks.cells import Array
from benchmarks.groups.compared import compare, errors
from benchmarks.groups.contenders import contenders_of
from benchmarks.groups.model import ADD, BESIDE, COMPILED, Cell, Figure, Group
from benchmarks.groups.ours import expression_of
from benchmarks.memcpy import Memcpy
from benchmarks.run import LIMIT, set_num_threads
from benchmarks.timing import BLOCK, SHORT, Times, measure

TINY = 1 << 14  # bytes of all tensors; calls of so few are timed in short blocks


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a cell: seconds a call by contender, why others are absent, and errors in ULP.

    ``optimized``: what `compile` did to a network, in words.
    """

    cell: Cell
    threads: int
    times: dict[str, Times]
    absent: dict[str, str] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    optimized: str = ""

    def against(self, group: Group) -> dict[str, Times]:
        """The contenders whose time counts: those of the group that are exact enough."""
        most = group.most_ulp
        return {
            name: self.times[name]
            for name in group.against
            if name in self.times and (most is None or self.errors.get(name, 0) <= most)
        }

    def best(self, group: Group) -> str | None:
        """The name of the fastest of them."""
        found = self.against(group)
        return min(found, key=lambda name: found[name].median) if found else None

    def ratio(self, group: Group, figure: Figure) -> float | None:
        """The best time in units of ours, or ours in units of it; None where nobody else does the work."""
        name = self.best(group)
        if name is None or figure.form not in self.times:
            return None
        theirs, ours = self.times[name].median, self.times[figure.form].median
        return ours / theirs if figure.at_most else theirs / ours


def run_cell(group: Group, cell: Cell, threads: int, seconds: float) -> Row:
    """Compare, then time for about so many seconds."""
    set_num_threads(threads)
    calls, absent, inputs = contenders_of(group, cell)
    compare(cell, {name: call for name, call in calls.items() if name != ADD})
    real = {name: call for name, call in calls.items() if name not in (ADD, BESIDE)}
    found = errors(cell, inputs, real) if group.most_ulp is not None else {}
    blocks: dict[str, Block] = {name: call.block() for name, call in calls.items()}
    result = next(iter(calls.values())).once()
    written = sum(x.nbytes for x in (result if isinstance(result, tuple) else (result,)))
    read = sum(unique_bytes(x) for name, x in inputs.items() if cell.network or expression_of(cell).reads(name))
    if group.memcpy is not None:
        blocks[LIMIT] = Memcpy(min(read, written) if group.memcpy.moves else read, written, threads)
    times = measure(blocks, seconds, SHORT if read + written <= TINY else BLOCK)
    optimized = str(calls[COMPILED].names["op"].optimizations) if cell.network else ""
    return Row(cell, threads, times, absent, found, optimized)


def unique_bytes(x: Array) -> int:
    """The bytes of an array, each counted once where axes repeat it."""
    return x.itemsize * int(
        np.prod([n for n, stride in zip(x.shape, x.strides, strict=True) if stride], dtype=np.int64)
    )
