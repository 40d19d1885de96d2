"""A stream writes the bytes that are put into it, and no other, wherever its cache lines begin."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from each import each_of

from dmlcy._runtime.processor import set_stream_limit, stream_limit

LINE, ROOM = 64, 1024
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def aligned(n: int) -> Bytes:
    """Bytes from the begin of a cache line."""
    store = np.full(n + LINE, 7, np.uint8)
    begin = -store.ctypes.data % LINE
    return store[begin : begin + n]


@pytest.mark.parametrize("how", ["put", "room", "fill"])
@pytest.mark.parametrize("item", [1, 2, 4, 8])
def test_every_length_and_place(probe: ModuleType, how: str, item: int) -> None:
    data = np.resize(np.random.default_rng(1).integers(0, 256, item, np.uint8), ROOM)
    for offset in range(0, LINE, item):
        for n in [*range(0, 3 * LINE, item), ROOM - item, ROOM]:
            target, expected = aligned(n + 2 * LINE), aligned(n + 2 * LINE)
            expected[offset : offset + n] = data[:n]
            probe.stream_pieces(target[offset:], [(None, how, data, n)])
            assert np.array_equal(target, expected), (offset, n)


@each_of("seed", range(200))
def test_pieces(probe: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target, expected = aligned(1 << 16), aligned(1 << 16)
    pieces: list[tuple[int | None, str, Bytes, int]] = []
    offset = at = int(rng.integers(LINE))
    for _ in range(rng.integers(1, 40)):
        jump = rng.integers(5) == 0
        at += int(rng.integers(2 * LINE)) if jump else 0
        how = str(rng.choice(["put", "room"]))
        n = int(rng.integers(ROOM + 1 if rng.integers(4) == 0 else 2 * LINE))
        data = rng.integers(0, 256, n + 8, np.uint8)
        pieces.append((at - offset if jump or n % 2 else None, how, data, n))
        expected[at : at + n] = data[:n]
        at += n
    probe.stream_pieces(target[offset:], pieces)
    assert np.array_equal(target, expected)


def test_the_cache_has_a_likely_size(probe: ModuleType) -> None:
    size = probe.last_level_cache()
    assert size == 0 or 1 << 18 <= size <= 1 << 34


def test_the_limit() -> None:
    before = stream_limit()
    set_stream_limit(5)
    assert stream_limit() == 5
    set_stream_limit(before)
