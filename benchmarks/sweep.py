"""Cost against size: one set of attributes of an operator of each family, from 1 MB to 1 GB read and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from benchmarks.calls import Block
from benchmarks.cells import Cell, empty
from benchmarks.families import OPERATORS
from benchmarks.memcpy import Memcpy
from benchmarks.memory import peak
from benchmarks.run import LIMIT, OURS_OUT, Row, our_call, set_num_threads
from benchmarks.timing import measure

MEGABYTES = (1, 4, 16, 64, 256, 1024)
SWEPT = {  # operator: variant, and the size of its input with the fewest channels it takes
    "unfold": ("3x3-s1-p1", (1, 1, 56, 56)),
    "average_pooling": ("3x3-s1-p1", (1, 1, 112, 112)),
    "depth_to_space1": ("block2-CRD", (1, 4, 128, 128)),
    "padding1": ("CONSTANT-by-3", (1, 1, 128, 128)),
    "fold": ("3x3-s1-p1", (1, 9, 3136)),
    "roi_pooling": ("256-regions-7x7", (2, 1, 50, 50)),
}


def sweep_cells(megabytes: int) -> Iterator[Cell]:
    """Each operator with as many channels as make so many megabytes."""
    for name, (variant, least) in SWEPT.items():
        cell = next(cell for cell in OPERATORS[name].cells if cell.name == f"{name}/{variant}/small/FLOAT32/contiguous")
        cell = dataclasses.replace(cell, size=f"{megabytes} MB", sizes=least, layout="contiguous")
        inputs = OPERATORS[name].inputs(cell)
        apiece = inputs[0].nbytes + our_call(cell, inputs, None).once().nbytes
        channels = max(1, round(megabytes * 1e6 / apiece))
        yield dataclasses.replace(cell, sizes=(least[0], least[1] * channels, *least[2:]))


def sweep_row(cell: Cell, threads: int, seconds: float) -> Row:
    """Time the operator, with its result given, and memcpy."""
    set_num_threads(threads)
    inputs = OPERATORS[cell.operator].inputs(cell)
    result = our_call(cell, inputs, None).once()
    ours = our_call(cell, inputs, empty(result.shape, result.dtype, "contiguous"))
    ours.once()
    read = sum(x.nbytes for x in inputs)
    highest = peak(ours.once)
    blocks: dict[str, Block] = {OURS_OUT: ours.block(), LIMIT: Memcpy(read, result.nbytes, threads)}
    return Row(cell, threads, read + result.nbytes, measure(blocks, seconds), {}, highest)
