"""Whether memory stays what it was over many calls, refusals and files: ``python -m tests.reliability.leaks``.

``--calls 10000000`` makes so many small calls, spread over all operators and the ways to call them, then 10,000
refusals, of as many kinds, then reads 2000 model files, good and broken ones. After each round it takes the resident
memory, the blocks of Python's allocator and the objects that the collector knows. The numbers are shown; a growth that
a few caches do not explain is a failure.
"""

from __future__ import annotations

import argparse
import gc
import io
import itertools
import json
import os
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
for folder in ("operators", "reliability"):
    if str(TESTS / folder) not in sys.path:
        sys.path.insert(0, str(TESTS / folder))

from calls import small_calls  # noqa: E402
from garbage import GARBAGE  # noqa: E402

import dmlcy as dml  # noqa: E402
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

EACH_PASS: Final = 30
"""Blocks that a line adds in every pass over the steps, where it leaks: a few operators are enough."""

Step = Callable[[], object]


@dataclass(frozen=True)
class Sample:
    """The memory and the objects of a process."""

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


def call_steps() -> list[Step]:
    """A call of each operator in each way: allocating, with ``out``, compiled, of another layout, as memory views."""
    steps: list[Step] = []
    for call in small_calls():
        function, given = getattr(dml, call.name), call.attributes
        turned = [each_part(value, np.asfortranarray) for value in call.inputs]
        views = [each_part(value, memoryview) for value in call.inputs]
        steps += call.ways()
        steps += [
            partial(function, *turned, **given),
            partial(function, *views, **given),
            partial(dml.check, call.desc),
            partial(dml.compile, call.desc),
        ]
    return steps


def each_part(value: Any, take: Callable[[Any], Any]) -> Any:
    """The same of an input: of None, of an array, or of each array of a tuple."""
    return tuple(map(take, value)) if isinstance(value, tuple) else None if value is None else take(value)


def refusals(most: int) -> list[Step]:
    """So many calls, compiled calls and descs of all operators with one piece of garbage in a place, by chance."""
    every = list(garbage_steps())
    return random.Random(1).sample(every, min(most, len(every)))


def garbage_steps() -> Iterator[Step]:
    """Steps with each piece of garbage in each place."""
    for call in small_calls():
        fields = [field for field in call.desc.operator.fields if field.value is None]
        inputs = [field.python for field in fields if field.kind == "input"]
        arrays = dict(zip(inputs, call.inputs, strict=True))
        good: dict[str, Any] = arrays | call.attributes
        members = {field.python: getattr(call.desc, field.python) for field in fields}
        function, make, compiled = getattr(dml, call.name), type(call.desc), call.compiled()
        for name, value in itertools.product([*good, "out"], GARBAGE):
            yield partial(function, **(good | {name: value}))
            if name in arrays or name == "out":
                yield partial(compiled, **(arrays | {name: value}))
        for name, value in itertools.product(members, GARBAGE):
            yield partial(_compiled, make, members | {name: value})


def _compiled(make: Any, members: dict[str, Any]) -> object:
    return dml.compile(make(**members))


def _linted(data: bytes) -> object:
    return lint(decode("m.json", data), "6_4")


def _ran(data: bytes, folder: Path, options: Options) -> None:
    run(read(decode("m.json", data), folder), io.StringIO(), options)


def files(folder: Path) -> Iterator[Step]:
    """Model files: read, linted and run where they are good; cut short, and with mistakes."""
    options = Options(output_path=folder)
    for path in sorted(EXAMPLES.glob("**/*.json")):
        content = path.read_bytes()
        yield partial(_linted, content)
        yield partial(_ran, content, path.parent, options)
        for end in range(0, len(content), len(content) // 40):
            yield partial(decode, "m.json", content[:end])
    np.save(folder / "good.npy", np.zeros(100, np.float32))
    np.save(folder / "objects.npy", np.array([{}], object), allow_pickle=True)
    (folder / "bad.npy").write_bytes((folder / "good.npy").read_bytes()[:-1])
    for name in ("good.npy", "objects.npy", "bad.npy", "none.npy"):
        model = {"resources": {"x": {"initialValues": {"sourcePath": name}}}, "dispatchables": {}, "commands": []}
        content = json.dumps(model).encode()
        yield partial(_ran, content, folder, options)


def do(step: Step) -> bool:
    """Takes a step; whether it was refused. A compiled call knows the names that its desc leaves out."""
    try:
        step()
    except (dml.DmlError, TypeError):
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
    """The numbers that grew in the second half of the samples, more than caches grow that fill once."""
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
    earliest, before, last = (snapshot.filter_traces(own) for snapshot in snapshots)
    lines = [row for row in last.compare_to(before, "lineno") if row.count_diff >= EACH_PASS]
    first = {row.traceback for row in before.compare_to(earliest, "lineno") if row.count_diff >= EACH_PASS}
    lines = [row for row in lines if row.traceback in first]
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
        ("calls", call_steps(), options.calls),
        ("refusals", refusals(options.refusals), options.refusals),
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
