"""Functions of FLOAT32 over all numbers, or over drawn ones with many values of each attribute.

``python -m tests.reliability.every_float`` computes each operator whose results are not the nearest ones, at each of
the 2^32 numbers, and holds the results against the definition in float64. An operator of two inputs gets drawn numbers
instead, and one with attributes drawn values of these besides. The command prints the worst error of a normal number in
units in the last place, and of a denormal one in steps of 2^-149, with their places. Then come the number of wrong
results (NaN or not, an infinity, the sign), and a digest of all bits. The status is 1 if an error is beyond the
accuracy of the operator.

``--bits`` computes the digest only: with ``DMLCY_ISA=wide``, it must be the same. ``--step 65537`` takes one number of
so many. ``--minutes 15 --seed 3`` takes the operators in turn, from one on that the seed says, until the time is over.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

TESTS: Final = Path(__file__).resolve().parents[1]
for folder in ("", "operators"):
    if str(TESTS / folder) not in sys.path:
        sys.path.insert(0, str(TESTS / folder))

import reference  # noqa: E402
from libm import compiled  # noqa: E402
from reference import elementwise  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._facts.rows import Operator  # noqa: E402
from dmlcy._facts.tables import FAST  # noqa: E402

Array = np.ndarray[Any, Any]
Given = Mapping[str, float]
ALL: Final = 1 << 32
PART: Final = 1 << 16
"""Numbers that are computed together."""
LEAST: Final = 2.0**-126
BEYOND: Final = 2.0**128


@dataclass(slots=True)
class Worst:
    """Of one operator: the largest errors, and at which numbers, with which attributes."""

    numbers: int = 0
    ulp: tuple[float, str] = (0.0, "")
    steps: tuple[float, str] = (0.0, "")
    wrong: int = 0
    digest: Any = field(default_factory=hashlib.blake2b)

    def add(self, given: Given, found: Found) -> None:
        """The errors of some numbers."""
        said = [f"{name}={value:.9g}" for name, value in given.items()]
        self.numbers += found.numbers
        self.ulp = max(self.ulp, place(found.ulp, said))
        self.steps = max(self.steps, place(found.steps, said))
        self.wrong += found.wrong
        self.digest.update(found.digest)


Error = tuple[float, list[float]]
"""An error and the numbers, one of each input."""


def place(error: Error, said: list[str]) -> tuple[float, str]:
    """An error, and where it is."""
    return error[0], ", ".join([*(f"{one:.9g}" for one in error[1]), *said])


@dataclass(frozen=True, slots=True)
class Found:
    """Of some numbers: how many, the largest errors, the wrong results, the bits."""

    numbers: int
    ulp: Error
    steps: Error
    wrong: int
    digest: bytes


def operators() -> list[Operator]:
    """The operators whose results of FLOAT32 are not exact, and not the nearest."""
    found = []
    for operator in FAST.values():
        accuracy = operator.accuracy.get("FLOAT32")
        if hasattr(elementwise, operator.python) and accuracy and accuracy.of == "result" and accuracy.ulp.text != "1":
            found.append(operator)
    return found


def inputs_of(operator: Operator) -> int:
    """How many inputs it has."""
    return sum(one.kind == "input" for one in operator.fields)


def attributes_of(operator: Operator) -> list[str]:
    """The attributes that its definition reads."""
    return [one.python for one in operator.fields if one.kind == "attribute" and one.python != "scale_bias"]


def values(random: np.random.Generator, count: int) -> Array:
    """Values of an attribute: ordinary ones, whole and half ones, and any finite number but 0."""
    any_bits = random.integers(0, ALL, 4 * count, np.uint64).astype(np.uint32).view(np.float32)
    finite = any_bits[np.isfinite(any_bits) & (any_bits != 0)][:count]
    ordinary = np.exp(random.normal(0, 2, count)) * random.choice([1, 1, 1, -1], count)
    halves = random.choice([0.5, 1, 1.5, 2, 3, -0.5, -1, -2], count)
    found = np.where(random.random(count) < 0.7, ordinary, halves).astype(np.float32)
    return np.where(random.random(count) < 0.4, finite, found)


def parts(operator: Operator, step: int, draws: int, kinds: int, seed: int) -> Iterator[tuple[dict[str, float], Any]]:
    """The attributes of each part, and a function that makes its numbers, of each input."""
    names, inputs = attributes_of(operator), inputs_of(operator)
    if not names and inputs == 1:
        for begin in range(0, ALL, PART * step):
            yield {}, partial(in_order, begin, min(begin + PART * step, ALL), step)
        return
    random = np.random.default_rng(seed)
    drawn = {name: values(random, kinds) for name in names}
    for part in range(-(-draws // PART)):
        chosen = {name: (part + 17 * place * (part // kinds)) % kinds for place, name in enumerate(names)}
        given = {name: float(drawn[name][at]) for name, at in chosen.items()}
        yield given, partial(drawn_numbers, seed + part, inputs, min(PART, draws - part * PART))


def in_order(begin: int, end: int, step: int) -> list[Array]:
    """The numbers with these bits."""
    return [np.arange(begin, end, step, dtype=np.uint32)]


def drawn_numbers(seed: int, inputs: int, count: int) -> list[Array]:
    """The bits of drawn numbers of each input."""
    random = np.random.default_rng(seed)
    return [numbers(random, count) for _ in range(inputs)]


def numbers(random: np.random.Generator, count: int) -> Array:
    """Of drawn numbers, half of them of ordinary size."""
    ordinary = (random.standard_normal(count) * np.exp(random.normal(0, 3, count))).astype(np.float32).view(np.uint32)
    return np.where(random.random(count) < 0.5, ordinary, random.integers(0, ALL, count, np.uint64).astype(np.uint32))


def look(operator: Operator, given: Given, bits: Any, only_bits: bool) -> Found:
    """Computes some numbers, and their errors."""
    arrays = [one.view(np.float32) for one in bits()]
    result: Array = getattr(dml, operator.python)(*arrays, **given)
    nan = np.isnan(result)
    digest = hashlib.blake2b(np.where(nan, np.float32(np.nan), result).tobytes()).digest()
    if only_bits:
        return Found(result.size, (0.0, []), (0.0, []), 0, digest)
    exact = reference.defined(operator, *arrays, **given).exact
    with np.errstate(all="ignore"):
        wanted, found = (np.clip(one, -BEYOND, BEYOND) for one in (exact, result.astype(np.float64)))
        wrong = np.isnan(exact) != nan
        wrong |= ~nan & (np.signbit(exact) != np.signbit(result)) | (np.isinf(exact) & (result != exact) & ~nan)
        size = np.clip(np.abs(wanted), LEAST, BEYOND / 2)
        unit = ((size.view(np.int64) & (0x7FF << 52)) - (23 << 52)).view(np.float64)
        error = np.nan_to_num(np.abs(found - wanted) / unit)
    denormal = np.abs(wanted) < LEAST
    sizes = (np.where(denormal, 0, error), np.where(denormal, error, 0))
    return Found(result.size, largest(sizes[0], arrays), largest(sizes[1], arrays), int(wrong.sum()), digest)


def largest(error: Array, arrays: Sequence[Array]) -> Error:
    """The largest error, and the numbers."""
    at = int(error.argmax())
    return float(error[at]), [float(one[at]) for one in arrays]


def measure(operator: Operator, options: argparse.Namespace, threads: int) -> Worst:
    """All parts of an operator."""
    worst = Worst()
    every = parts(operator, options.step, options.draws, options.values, options.seed)
    with ThreadPoolExecutor(threads) as pool:
        waiting = []
        for given, bits in every:
            waiting.append((given, pool.submit(look, operator, given, bits, options.bits)))
            if len(waiting) > 4 * threads:
                first, future = waiting.pop(0)
                worst.add(first, future.result())
        for first, future in waiting:
            worst.add(first, future.result())
    return worst


def bound(operator: Operator) -> float:
    """The bound of the spec."""
    return float(operator.accuracy["FLOAT32"].ulp.text)


HEAD: Final = """\
| operator | numbers | worst error | at | of denormal numbers | at | bound | wrong | bits |
|---|---|---|---|---|---|---|---|---|"""


def row(name: str, worst: Worst, most: float) -> str:
    """As Markdown."""
    errors = [f"{worst.ulp[0]:.4f} ULP", worst.ulp[1], f"{worst.steps[0]:.3f} steps", worst.steps[1]]
    figures = [f"{worst.numbers:,}", *errors, f"{most:g} ULP", f"{worst.wrong:,}", worst.digest.hexdigest()[:16]]
    return "| " + " | ".join([name, *figures]) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.every_float", description=__doc__)
    parser.add_argument("--only", help="one operator")
    parser.add_argument("--step", type=int, default=1, help="takes one number of so many")
    parser.add_argument("--draws", type=int, default=10**9, help="drawn numbers of an operator with attributes")
    parser.add_argument("--values", type=int, default=64, help="of each attribute")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="begins no operator after so long")
    parser.add_argument("--bits", action="store_true", help="computes the digests only")
    given = parser.parse_args(arguments)
    for name in ("erf", "erfc"):
        setattr(elementwise, name, compiled(name))
    every = [one for one in operators() if given.only is None or given.only.upper() == one.name]
    turn = 5 * given.seed % max(len(every), 1) if given.minutes else 0
    begin, right = time.monotonic(), bool(every)
    dml.set_num_threads(1)
    print(HEAD)
    for operator in every[turn:] + every[:turn]:
        if given.minutes and time.monotonic() - begin > 60 * given.minutes:
            break
        worst = measure(operator, given, os.cpu_count() or 1)
        most = bound(operator)
        print(row(operator.name, worst, most), flush=True)
        right = right and worst.wrong == 0 and max(worst.ulp[0], worst.steps[0]) <= most
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
