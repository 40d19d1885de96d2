"""A virtual array larger than memory, padded, pooled and summed on a cluster of processes:
``python -m tests.chunks.larger_than_memory --workers 2 --gigabytes 8 --limit 2``.

The elements follow from their place, so each sum is known. Prints the time, that of processors, and the most memory
that all processes of the cluster, its scheduler and this program among them, had resident at once. A wrong sum, or more
memory than ``--limit`` gigabytes, is a failure.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from typing import Any

import numpy as np

CHANNELS, SIDE, CHUNK = 8, 4096, 1024
ITEM = CHANNELS * SIDE * SIDE * 4 / 1e9  # gigabytes
PERIODS = (5, 3, 7, 11)  # the element n, c, y, x is n % 5 + c % 3 + y % 7 + x % 11: a small integer


def made(block_info: Any = None) -> Any:
    """The values of one chunk, from its place in the array."""
    places = block_info[None]["array-location"]
    axes = [np.arange(*place) % period for place, period in zip(places, PERIODS, strict=True)]
    return sum(np.ix_(*(axis.astype(np.float32) for axis in axes)), np.float32(0))


def expected(items: int) -> list[float]:
    """The sum of each item: after REFLECTION by 1, the second and the last but one of an axis count twice."""
    weights = np.ones(SIDE)
    weights[[1, -2]] += 1
    count = SIDE + 2
    plane = sum(count * float(weights @ (np.arange(SIDE) % period)) for period in PERIODS[2:])
    channels = sum(c % PERIODS[1] for c in range(CHANNELS))
    return [(CHANNELS * (plane + count**2 * (n % PERIODS[0])) + count**2 * channels) / 4 for n in range(items)]


class Watch:
    """The memory of this process and its child processes, measured twenty times a second."""

    def __init__(self) -> None:
        import psutil

        self.most = 0  # bytes resident at once
        self.seconds: dict[int, float] = {}  # of processors, by process
        self.ended = threading.Event()
        self.process = psutil.Process(os.getpid())
        self.error = psutil.Error
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self) -> None:
        while not self.ended.wait(0.05):
            self.most = max(self.most, sum(map(self.of, [self.process, *self.process.children(recursive=True)])))

    def of(self, process: Any) -> int:
        try:
            times = process.cpu_times()
            self.seconds[process.pid] = times.user + times.system
            return int(process.memory_info().rss)
        except self.error:  # it has ended
            return 0

    def end(self) -> tuple[float, float]:
        """Gigabytes and seconds."""
        self.ended.set()
        self.thread.join()
        return self.most / 1e9, sum(self.seconds.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--gigabytes", type=float, default=8)
    parser.add_argument("--limit", type=float, default=2)
    options = parser.parse_args()

    import dask.array as da
    import distributed

    import dmlcy.dask

    items = -(-int(options.gigabytes * 1e9) // int(ITEM * 1e9))
    chunks = ((1,) * items, (CHANNELS,), (CHUNK,) * (SIDE // CHUNK), (CHUNK,) * (SIDE // CHUNK))
    x = da.map_blocks(made, chunks=chunks, dtype=np.float32, meta=np.empty((0,) * 4, np.float32))
    padded = dmlcy.dask.padding1(x, start_padding=(0, 0, 1, 1), end_padding=(0, 0, 1, 1), padding_mode="REFLECTION")
    pooled = dmlcy.dask.average_pooling(padded, window_size=2, strides=2)
    sums = pooled.sum(axis=(1, 2, 3), dtype=np.float64)

    watch = Watch()
    with (
        distributed.LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            memory_limit=int(options.limit * 1e9 / options.workers),
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster),
    ):
        begin = time.perf_counter()
        found = sums.compute().tolist()
        seconds = time.perf_counter() - begin
    most, busy = watch.end()
    right = found == expected(items)
    print(f"{x.nbytes / 1e9:.1f} GB in {seconds:.1f} s on {options.workers} workers, {busy:.1f} s of processors")
    print(f"{most:.2f} GB resident at most")
    print("the sums are right" if right else f"wrong sums: {found[:3]} in place of {expected(items)[:3]}")
    raise SystemExit(not (right and most <= options.limit))


if __name__ == "__main__":
    main()
