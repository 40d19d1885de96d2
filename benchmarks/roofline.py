"""How near sums of products come to what a processor can add: ``python -m benchmarks roofline``, for each level.

A loop of multiply-adds that stay in registers is the limit. A C compiler makes it when the command runs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.cells import Array
from benchmarks.groups import all_groups
from benchmarks.groups.contenders import room
from benchmarks.groups.inputs import inputs_of
from benchmarks.groups.model import Cell
from benchmarks.groups.ours import expression_of
from benchmarks.run import set_num_threads
from dmlcy._runtime import isa

GROUPS: Final = ("products", "products_row", "convolutions", "convolutions_hard", "convolutions_depthwise")
FLAGS: Final = {"baseline": ("", 16), "wide": ("-mavx2 -mfma", 32), "widest": ("-mavx512f", 64)}
"""By level: how the loop is compiled, and the bytes of its vectors."""
SUMS: Final = 12
TIMES: Final = 9  # of which the least counts: whatever else runs makes a time longer

LOOP: Final = """
typedef float numbers __attribute__((vector_size(BYTES)));
float add_products(long n, float x)
{
    numbers sums[SUMS], factor = x - (numbers){0}, added = 1 - factor;
    float result = 0;
    for (int i = 0; i < SUMS; i++)
        sums[i] = factor * (float)(i + 1);
    for (; n > 0; n--) {
        __asm__("" : "+v"(factor), "+v"(added));
#pragma GCC unroll 16
        for (int i = 0; i < SUMS; i++)
            sums[i] = sums[i] * factor + added;
    }
    for (int i = 0; i < SUMS; i++)
        result += sums[i][0];
    return result;
}
"""


def limit(level: str) -> float:
    """The GFLOP/s of the loop in registers; without a fused multiply-add, of products and sums."""
    flags, size = FLAGS[level]
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "loop.c", Path(folder) / "loop.so"
        source.write_text(LOOP, encoding="utf-8")
        defined = [f"-DBYTES={size}", f"-DSUMS={SUMS}"]
        command = [os.environ.get("CC", "cc"), "-O2", "-ffp-contract=fast", "-shared", "-fPIC", *flags.split()]
        subprocess.run([*command, *defined, str(source), "-o", str(library)], check=True)
        loop = ctypes.CDLL(str(library)).add_products
        loop.argtypes, loop.restype = [ctypes.c_long, ctypes.c_float], ctypes.c_float
        turns = 1_000_000
        return turns * SUMS * size // 4 * 2 / min(seconds(lambda: loop(turns, 0.5)) for _ in range(TIMES)) / 1e9


def seconds(work: Any) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def operations(cell: Cell, inputs: Mapping[str, Array], result: Array) -> int:
    """Multiplications and additions of a cell, those with the padding included."""
    if expression_of(cell).function == "convolution":
        filters = inputs["w"]
        return 2 * result.size * (filters.size // len(filters))
    batch = math.prod(result.shape[:-2])
    return 2 * result.size * math.isqrt(inputs["a"].size * inputs["b"].size // (result.size * batch))


def measured(cells: Sequence[Cell]) -> Iterator[tuple[str, float]]:
    """The GFLOP/s of each cell, on one thread."""
    set_num_threads(1)
    for cell in cells:
        inputs, expression = inputs_of(cell), expression_of(cell)
        out = room(expression.direct(inputs).once())
        block = expression.direct(inputs, out).block()
        calls = max(1, round(0.003 / max(block(1), 1e-7)))
        yield cell.name, operations(cell, inputs, out) * calls / min(block(calls) for _ in range(TIMES)) / 1e9


def at(level: str, arguments: Sequence[str]) -> dict[str, float]:
    """The measurements of another process at a level."""
    command = [sys.executable, "-m", "benchmarks", "roofline", "--here", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, "DMLCY_ISA": level})
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks roofline", description=__doc__)
    parser.add_argument("--group", nargs="+", choices=GROUPS, default=list(GROUPS), metavar="G", help=", ".join(GROUPS))
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="cells named so")
    parser.add_argument("--here", action="store_true", help="GFLOP/s at the level in force, as JSON")
    options = parser.parse_args(arguments)
    cells = [cell for name in options.group for cell in all_groups()[name].cells]
    cells = [cell for cell in cells if not options.only or any(cell.matches(part) for part in options.only)]
    if options.here:
        print(json.dumps({**dict(measured(cells)), "": limit(isa.level())}))
        return 0
    levels = isa.levels()
    found = {level: at(level, arguments) for level in levels}
    most = {level: found[level].pop("") for level in levels}
    print("GFLOP/s on one thread, and percent of a loop in registers")
    print(*(f"{f'{level}: {most[level]:.0f}':>18}" for level in levels))
    for cell in cells:
        speeds = {level: found[level][cell.name] for level in levels}
        print(*(f"{speed:9.1f} {100 * speed / most[level]:6.0f} %" for level, speed in speeds.items()), f" {cell.name}")
    for name in options.group:
        own = [cell.name for cell in cells if cell.name.startswith(f"{name}/")]
        if own:
            parts = [statistics.geometric_mean(found[level][one] / most[level] for one in own) for level in levels]
            print(*(f"{100 * part:16.0f} %" for part in parts), f" {name}: geometric mean of {len(own)} cells")
    return 0
