"""The limit of moving data: threads that memcpy as many bytes as an operator reads and writes."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator

import numpy as np

CHUNK = 1 << 20
LEAST = 1 << 16  # bytes; smaller copies would measure their calls


def chunk_of(read: int, written: int, threads: int) -> int:
    """The bytes of one copy: equal sides are one copy per thread, else the larger side is walked in chunks."""
    most, least = max(read, written), min(read, written)
    return max(1, most // threads if most == least else min(CHUNK, max(least, LEAST), most // threads))


def pieces(read: int, written: int, threads: int, chunk: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield each thread's copies, as (offset to write, offset to read, bytes).

    The smaller side is walked in proportion to the larger one. So a chunk is in the cache when it is used again, and
    each side passes through the memory once.
    """
    most, least = max(read, written), min(read, written)
    for thread in range(threads):
        begin, end = most * thread // threads, most * (thread + 1) // threads
        copies = []
        for offset in range(begin, end, chunk):
            count = min(chunk, end - offset)
            other = offset * (least - count) // max(most - count, 1)
            copies.append((offset, other, count) if written == most else (other, offset, count))
        yield copies


class Memcpy:
    """A parallel memcpy that reads `read` bytes once and writes `written` bytes once.

    The threads do not wait for each other between the calls of a block, so the time is a lower bound.
    """

    def __init__(self, read: int, written: int, threads: int) -> None:
        chunk = chunk_of(read, written, threads)
        # A side smaller than that would be shared by the threads.
        read, written = max(read, chunk * threads), max(written, chunk * threads)
        self.source, self.target = np.ones(read, np.uint8), np.ones(written, np.uint8)
        to, of = self.target.ctypes.data, self.source.ctypes.data
        self.copies = [[(to + a, of + b, n) for a, b, n in copies] for copies in pieces(read, written, threads, chunk)]

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
