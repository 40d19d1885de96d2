"""The command ``python -m benchmarks constants``: the neighbours of a tuned constant, in builds of their own."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Final

from benchmarks import machine
from benchmarks.beside import OURS, Checkout
from benchmarks.constants import (
    PAGE,
    RUNTIME,
    Constant,
    Entry,
    Record,
    constants,
    edited,
    page,
    record,
    sources,
    tuned,
)
from benchmarks.machine import ROOT
from benchmarks.timing import BLOCK, SHORT, Times, measure

COPIED: Final = (
    "dmlcy",
    "codegen",
    "specs",
    "build",
    "setup.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE.md",
)
LEFT: Final = ("__pycache__", "site", "sanitized", "portable", "lines", "arm64", "mingw")
SECONDS: Final = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    found = tuned()
    if options.write:
        PAGE.write_text(page(), encoding="utf-8")
        print(f"written to {PAGE}")
        return 0
    if not options.names and not options.all:
        print(*(f"{key} = {one.value}  {one.meaning}" for key, (one, _) in found.items()), sep="\n")
        return 0
    keys = list(found) if options.all else []
    for name in options.names:
        near = [key for key in found if key == name or key.partition(":")[2] == name]
        if len(near) != 1:
            unknown = "is no tuned constant; without a name, the command lists them"
            said = f"is one of {', '.join(near)}" if near else unknown
            print(f"python -m benchmarks constants: error: {name!r} {said}", file=sys.stderr)
            return 2
        keys += near
    return max(one_constant(*found[key], options) for key in keys)


def one_constant(constant: Constant, entry: Entry, options: argparse.Namespace) -> int:
    """Build other values of a constant, and compare their times and bits."""
    values = options.values or neighbours(constant)
    facts = machine.facts()
    print(*(f"{name}: {facts[name]}" for name in ("processor", "load")), sep="\n")
    print(f"{constant.key} = {constant.value}: {constant.meaning}")
    with tempfile.TemporaryDirectory() as temporary:
        print(f"building with {' and '.join(values)}", flush=True)
        with ThreadPoolExecutor() as pool:
            built = pool.map(partial(build, Path(temporary), constant), values)
            folders = dict(zip(values, built, strict=True))
        compared = compare(constant, folders, options.cells or entry.cells, options.threads, options.seconds)
    for value, ratio in compared.ratios.items():
        print(f"{value}: {ratio:.3f} times the time with {constant.value}, in the mean of {compared.cells}")
    for one in sorted(compared.differ):
        print(f"{one}: the results have other bits")
    if options.record:
        record(constant.key, Record(constant.value, compared.ratios, facts["processor"], options.threads))
    return 1 if compared.differ and constant.name not in entry.bits else 0


def neighbours(constant: Constant) -> list[str]:
    """Half of a value, and twice the value."""
    value = int(eval(constant.value, {"__builtins__": {}}, Names()))
    return [str(one) for one in (value // 2, value * 2) if one != value]


class Names(dict[str, int]):
    """The constants that another one is made of, wherever they are."""

    def __missing__(self, name: str) -> int:
        one = next(one for one in constants(sources()) if one.name == name)
        return int(eval(one.value, {"__builtins__": {}}, Names()))


def build(temporary: Path, constant: Constant, value: str) -> Path:
    """A copy of this checkout with another value, built in place: what the value does not reach is not compiled."""
    folder = temporary / re.sub(r"\W", "_", value)
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*LEFT), symlinks=True)
        elif source.exists():
            shutil.copy2(source, folder / name)
    path = folder / RUNTIME / constant.path
    path.write_text(edited(path.read_text(encoding="utf-8"), constant, value), encoding="utf-8")
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{constant.key} = {value} does not compile:\n{done.stderr[-2000:]}")
    return folder


@dataclass(frozen=True, slots=True)
class Compared:
    """By value, the time in units of the time today, in the mean of the cells; what has other bits."""

    ratios: Mapping[str, float]
    differ: frozenset[str]
    cells: int


def compare(
    constant: Constant, folders: Mapping[str, Path], cells: Sequence[str], threads: int, seconds: float
) -> Compared:
    """Print the time of each cell with each value in units of the time today."""
    ratios: dict[str, list[float]] = {value: [] for value in folders}
    differ: set[str] = set()
    with ExitStack() as stack:
        today = stack.enter_context(Checkout(OURS))
        others = {value: stack.enter_context(Checkout(folder.resolve())) for value, folder in folders.items()}
        for cell in cells:
            made = today.ask("cell", cell, threads)
            answers = {value: one.ask("cell", cell, threads) for value, one in others.items()}
            differ |= {f"{cell} with {value}" for value, one in answers.items() if one["bits"] != made["bits"]}
            for form in made["forms"][-1:]:
                blocks = {constant.value: today.block(form)}
                blocks |= {value: one.block(form) for value, one in others.items()}
                times = measure(blocks, seconds, SHORT if "/tiny/" in cell else BLOCK)
                for value in others:
                    ratios[value].append(times[value].median / times[constant.value].median)
                print(*lines(cell, constant.value, times), sep="\n", flush=True)
    means = {value: round(geometric_mean(some), 3) for value, some in ratios.items()}
    return Compared(means, frozenset(differ), len(cells))


def lines(cell: str, value: str, times: Mapping[str, Times]) -> Iterator[str]:
    """The time of a cell with the value of today, and the ratios of the others."""
    today = times[value]
    shown = ", ".join(f"{one}: {times[one].median / today.median:.2f}" for one in times if one != value)
    spread = 100 * (today.high - today.low) / today.median
    yield f"{shown}  ({1e6 * today.median:.1f} µs with {value}, quartiles {spread:.0f} % apart)  {cell}"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks constants",
        description="List the tuned constants, or measure the neighbours of one: half of its value, and twice.",
    )
    parser.add_argument("names", nargs="*", help="products.pyx:WIDE, or WIDE where one file only has it")
    parser.add_argument("--all", action="store_true", help="measure all constants")
    parser.add_argument("--values", nargs="+", help="these values in place of half and twice the value")
    parser.add_argument("--cells", nargs="+", help="these cells in place of those of the table")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="a cell, all values together; default: 2")
    parser.add_argument("--record", action="store_true", help="write the ratios to benchmarks/constants.json")
    parser.add_argument("--write", action="store_true", help="write docs/constants.md")
    return parser.parse_args(arguments)
