"""What check costs beside numpy.add of two tiny arrays: medians of alternating blocks in one run.

Run ``python benchmarks/check_cost.py``.
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable

import numpy as np

import dmlcy as dml

BLOCKS, CALLS = 51, 2000


def medians(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds per call of each function: the median over blocks, which take turns."""
    timers = {name: timeit.Timer(function) for name, function in functions.items()}
    blocks: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(BLOCKS):
        for name, timer in timers.items():
            blocks[name].append(timer.timeit(CALLS) / CALLS)
    return {name: statistics.median(times) for name, times in blocks.items()}


def main() -> None:
    """Print the table."""
    a, b = np.ones(4, np.float32), np.ones(4, np.float32)
    image = dml.TensorDesc("FLOAT32", (1, 1, 5, 5))
    pooling = dml.desc.AveragePooling(input=image, window_size=3)
    wrong = dml.desc.AveragePooling(input=image, window_size=9)
    found = medians(
        {
            "numpy.add of two arrays of 4 elements": lambda: np.add(a, b),
            "check of a valid desc": lambda: dml.check(pooling),
            "check of a valid desc at level 3_0": lambda: dml.check(pooling, "3_0"),
            "check of a desc with two violations": lambda: dml.check(wrong),
            "minimum_feature_level": lambda: dml.minimum_feature_level(pooling),
        }
    )
    add = next(iter(found.values()))
    for name, seconds in found.items():
        print(f"{name:40} {seconds * 1e9:10.0f} ns {seconds / add:8.2f}x")


if __name__ == "__main__":
    main()
