"""Whether memory stays what it was over many calls, refusals and files: ``python -m tests.reliability.leaks``.

``--calls 10000000`` makes so many small calls, spread over the operators and the ways to call them, then 10,000
refusals of every kind, then reads 2000 model files, good and broken ones. After each round it takes the resident
memory, the blocks of Python's allocator and the objects that the collector knows. All are shown; a growth beyond what
a few caches explain is a failure.
"""

from __future__ import annotations

import argparse
import gc
import io
import itertools
import json
import os
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
if str(TESTS / "operators") not in sys.path:
    sys.path.insert(0, str(TESTS / "operators"))

from garbage import GARBAGE  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._facts.tables import FAST  # noqa: E402
from dmlcy._frontends.dxdispatch.json import decode  # noqa: E402
from dmlcy._frontends.dxdispatch.lint import lint  # noqa: E402
from dmlcy._frontends.dxdispatch.model import read  # noqa: E402
from dmlcy._frontends.dxdispatch.run import Options, run  # noqa: E402

EXAMPLES: Final = TESTS.parent / "examples"
ROUNDS: Final = 20
GROWTH: Final = 1 << 20
"""Bytes of resident memory that the second half of the rounds may add."""
BLOCKS: Final = 200
"""Blocks of Python's allocator, and objects, that it may add."""

Step = Callable[[], object]


@dataclass(frozen=True)
class Sample:
    """What a process holds."""

    resident: int
    blocks: int
    objects: int

    @classmethod
    def take(cls) -> Sample:
        gc.collect()
        return cls(resident(), sys.getallocatedblocks(), len(gc.get_objects()))


def resident() -> int:
    """Bytes of memory of this process; 0 where the system does not say."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def small_calls() -> list[Step]:
    """A call of each operator in each way: allocating, with ``out``, compiled, of another layout, in a list."""
    steps: list[Step] = []
    for operator in FAST.values():
        example = operator.examples[0]
        arrays = [np.array(data, dtype.lower()).reshape(sizes) for dtype, sizes, data in example.inputs.values()]
        function = getattr(dml, operator.python)
        given = operator.example_arguments(example)
        out = function(*arrays, **given)
        described = operator.example_tensors(example)
        tensors = {name: dml.TensorDesc(dtype, sizes) for name, (dtype, sizes, _) in described.items()}
        desc = getattr(dml.desc, operator.desc)(**tensors, **example.attributes)
        compiled = dml.compile(desc)
        turned = [np.asfortranarray(array) for array in arrays]
        views = [memoryview(array) for array in arrays]
        steps += [
            lambda f=function, x=arrays, a=given: f(*x, **a),
            lambda f=function, x=arrays, a=given, o=out: f(*x, **a, out=o),
            lambda c=compiled, x=arrays: c(*x),
            lambda c=compiled, x=arrays, o=out: c(*x, out=o),
            lambda f=function, x=turned, a=given, o=out: f(*x, **a, out=o.T.copy().T),
            lambda f=function, x=views, a=given, o=out: f(*x, **a, out=memoryview(o)),
        ]
        steps += [lambda d=desc: dml.check(d), lambda d=desc: dml.compile(d)]
    return steps


def refusals() -> Iterator[Step]:
    """Calls, compiled calls and descs with one piece of garbage in each place."""
    for operator in FAST.values():
        example = operator.examples[0]
        arrays = {
            name: np.array(data, dtype.lower()).reshape(sizes) for name, (dtype, sizes, data) in example.inputs.items()
        }
        good: dict[str, Any] = arrays | operator.example_arguments(example)
        described = operator.example_tensors(example)
        tensors = {name: dml.TensorDesc(dtype, sizes) for name, (dtype, sizes, _) in described.items()}
        function, make = getattr(dml, operator.python), getattr(dml.desc, operator.desc)
        compiled = dml.compile(make(**tensors, **example.attributes))
        for name, value in itertools.product([*good, "out"], GARBAGE):
            yield lambda f=function, a=good | {name: value}: f(**a)
            if name in arrays or name == "out":
                yield lambda f=compiled, a=arrays | {name: value}: f(**a)
            if name in tensors or name in example.attributes:
                yield lambda m=make, a=tensors | example.attributes | {name: value}: dml.compile(m(**a))


def files(folder: Path) -> Iterator[Step]:
    """Model files: read, linted and run where they are good; cut short, and with mistakes."""
    for path in sorted(EXAMPLES.glob("**/*.json")):
        content = path.read_bytes()
        yield lambda data=content: lint(decode("m.json", data), "6_4")
        yield lambda data=content, folder=path.parent: run(
            read(decode("m.json", data), folder), io.StringIO(), Options()
        )
        for end in range(0, len(content), len(content) // 40):
            yield lambda data=content[:end]: decode("m.json", data)
    np.save(folder / "good.npy", np.zeros(100, np.float32))
    np.save(folder / "objects.npy", np.array([{}], object), allow_pickle=True)
    (folder / "bad.npy").write_bytes((folder / "good.npy").read_bytes()[:-1])
    for name in ("good.npy", "objects.npy", "bad.npy", "none.npy"):
        model = {"resources": {"x": {"initialValues": {"sourcePath": name}}}, "dispatchables": {}, "commands": []}
        content = json.dumps(model).encode()
        yield lambda data=content: run(read(decode("m.json", data), folder), io.StringIO(), Options())


def do(step: Step) -> bool:
    """Takes a step; whether it was refused."""
    try:
        step()
    except dml.DmlError:
        return True
    return False


def rounds(name: str, steps: list[Step], count: int, show: Callable[[str], object]) -> list[Sample]:
    """Takes each step once, for what is kept from then on, then ``count`` in rounds with a sample after each."""
    for step in steps:
        do(step)
    waiting = itertools.cycle(steps)
    each = max(count // ROUNDS, 1)
    samples = []
    for number in range(1, ROUNDS + 1):
        start, refused = time.perf_counter(), 0
        for step in itertools.islice(waiting, each):
            refused += do(step)
        seconds = time.perf_counter() - start
        samples.append(Sample.take())
        show(f"{name} {number * each:>9}: {samples[-1]}, {refused} of {each} refused, {seconds:.1f} s")
    return samples


def grown(samples: list[Sample]) -> list[str]:
    """What grew in the second half of the samples: more than caches do that fill once."""
    half = samples[len(samples) // 2 :]
    found = []
    for what, limit in (("resident", GROWTH), ("blocks", BLOCKS), ("objects", BLOCKS)):
        values = [getattr(sample, what) for sample in half]
        if min(values[-3:]) - min(values[:3]) > limit:
            found.append(f"{what}: {values[0]} to {values[-1]}")
    return found


def traced(steps: list[Step], show: Callable[[str], object]) -> list[str]:
    """Lines whose memory grows with every pass over the steps."""
    for step in steps:
        do(step)
    tracemalloc.start(5)
    snapshots = []
    for _ in range(3):
        for step in steps:
            do(step)
        gc.collect()
        snapshots.append(tracemalloc.take_snapshot())
    tracemalloc.stop()
    own = [tracemalloc.Filter(False, __file__), tracemalloc.Filter(False, tracemalloc.__file__)]
    last, before = (snapshot.filter_traces(own) for snapshot in (snapshots[2], snapshots[1]))
    lines = [row for row in last.compare_to(before, "lineno") if row.count_diff > len(steps) // 2]
    show(f"traced: {sum(row.size for row in last.statistics('lineno'))} bytes after {3 * len(steps)} steps")
    return [str(row) for row in lines]


def main() -> int:
    """Measure, with a folder for files."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder))


def measure(folder: Path) -> int:
    """Print what a process holds as it goes on; 1 where something grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.leaks", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--refusals", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=2000)
    options = parser.parse_args()
    dml.set_num_threads(1)
    kinds = (
        ("calls", small_calls(), options.calls),
        ("refusals", list(refusals()), options.refusals),
        ("files", list(files(folder)), options.files),
    )
    found: list[str] = []
    for name, steps, count in kinds:
        print(f"{name}: {len(steps)} kinds, {count} steps", flush=True)
        found += [f"{name}: {what}" for what in grown(rounds(name, steps, count, lambda text: print(text, flush=True)))]
        found += [f"{name}: {what}" for what in traced(steps, print)]
    print("\n".join(found) or "nothing grows")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
