"""The limit of moving data: threads that memcpy as many bytes as an operator reads and writes."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator

import numpy as np

CHUNK = 1 << 20


def pieces(read: int, written: int, threads: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield each thread's copies, as (offset to write, offset to read, bytes).

    Equal sizes are one copy per thread. Else the larger side is walked in chunks, and the smaller one in proportion, so
    that a chunk is in the cache when it is used again: each side passes through the memory once.
    """
    most, least = max(read, written), min(read, written)
    chunk = most // threads if most == least else min(CHUNK, least, most // threads)
    for thread in range(threads):
        begin, end = most * thread // threads, most * (thread + 1) // threads
        copies = []
        for offset in range(begin, end, max(chunk, 1)):
            count = min(chunk, end - offset)
            other = offset * (least - count) // max(most - count, 1)
            copies.append((offset, other, count) if written == most else (other, offset, count))
        yield copies


class Memcpy:
    """A parallel memcpy that reads `read` bytes once and writes `written` bytes once.

    The threads do not wait for each other between the calls of a block, so the time is a lower bound.
    """

    def __init__(self, read: int, written: int, threads: int) -> None:
        self.source, self.target = np.ones(read, np.uint8), np.ones(written, np.uint8)
        to, of = self.target.ctypes.data, self.source.ctypes.data
        self.copies = [[(to + a, of + b, n) for a, b, n in copies] for copies in pieces(read, written, threads)]

    def __call__(self, calls: int) -> float:
        """Make so many calls and return the seconds."""
        start, end = (threading.Barrier(len(self.copies) + 1) for _ in range(2))

        def work(copies: list[tuple[int, int, int]]) -> None:
            memmove = ctypes.memmove
            start.wait()
            for _ in range(calls):
                for to, of, count in copies:
                    memmove(to, of, count)
            end.wait()

        workers = [threading.Thread(target=work, args=(copies,), daemon=True) for copies in self.copies]
        for worker in workers:
            worker.start()
        start.wait()
        begin = time.perf_counter()
        end.wait()
        seconds = time.perf_counter() - begin
        for worker in workers:
            worker.join()
        return seconds
