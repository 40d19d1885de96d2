"""The same cells in two checkouts that are built in place: a process for each, which take turns."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import dmlcy as dml
from benchmarks.calls import Block
from benchmarks.cells import Cell
from benchmarks.machine import ROOT
from benchmarks.timing import BLOCK, SHORT, Times, measure

HERE, THERE = "here", "there"
OURS: Final = Path(dml.__file__).resolve().parents[1]  # of the package that the benchmark measures
SLOWER: Final = 1.05
# The benchmark of this checkout, with the package of the checkout that is given.
START: Final = "import sys; root, package = sys.argv[1:]; sys.path.insert(0, root); import benchmarks; \
sys.path.insert(0, package); from benchmarks.beside_worker import serve; serve()"


class Checkout:
    """A process that makes calls of a checkout's package."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-P", "-c", START, str(ROOT), str(folder)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.process = subprocess.Popen(
            command, cwd="/", env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            found = Path(self.ask("package"))
        except EOFError:
            found = Path()
        if not found.is_relative_to(folder):
            self.stop()
            raise ValueError(f"{str(folder)!r} has no package that is built in place")

    def ask(self, *request: Any) -> Any:
        """The answer of the process to a request."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # there is no answer then
            print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise EOFError(f"a process of the benchmark ended with status {self.process.wait()}")
        return json.loads(answer)

    def block(self, form: str) -> Block:
        """Times so many calls of a form of the cell that was chosen last."""
        return lambda calls: float(self.ask("block", form, calls))

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def compare(folder: Path, planned: Iterable[tuple[Cell, int]], seconds: dict[str, float]) -> int:
    """Print the time of each form of each cell here in units of its time there; the status is 1 if results differ."""
    ratios: dict[str, float] = {}
    differ = []
    begin = time.perf_counter()
    with Checkout(OURS) as here, Checkout(folder.resolve()) as there:
        for cell, threads in planned:
            name = f"{cell.name} {threads}t"
            made = [one.ask("cell", cell.name, threads) for one in (here, there)]
            if made[0]["bits"] != made[1]["bits"]:
                differ.append(name)
                print(f"{name}: the results have other bits", flush=True)
            for form in made[0]["forms"]:
                contenders = {HERE: here.block(form), THERE: there.block(form)}
                times = measure(contenders, seconds[cell.size], SHORT if cell.size == "tiny" else BLOCK)
                ratios[f"{name} {form}"] = times[HERE].median / times[THERE].median
                print(line(f"{name} {form}", times), flush=True)
    print(summary(ratios))
    print(f"{len(ratios)} calls in {time.perf_counter() - begin:.0f} s; the results of {len(differ)} cells differ.")
    return 1 if differ else 0


def line(name: str, times: dict[str, Times]) -> str:
    """One call: the times of both checkouts, and their ratio."""
    here, there = times[HERE].median, times[THERE].median
    return f"{here / there:6.2f}  {1e6 * here:10.2f} µs  {1e6 * there:10.2f} µs  {name}"


def summary(ratios: dict[str, float]) -> str:
    """The geometric mean, and the calls that take longer here."""
    if not ratios:
        return "nothing was measured"
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = sorted(((ratio, name) for name, ratio in ratios.items() if ratio > SLOWER), reverse=True)
    lines = [f"The time here in units of the time there: {mean:.3f} (geometric mean)."]
    lines.append(f"{len(slower)} of {len(ratios)} calls take more than {SLOWER:.2f}{':' if slower else '.'}")
    return "\n".join(lines + [f"{ratio:6.2f}  {name}" for ratio, name in slower])
