"""Philox 4x32-10: random numbers that are a function of a counter and of a key (Salmon and others, 2011).

A state has four words of a counter, the least one first, and two of a key. Each counter gives four numbers.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dmlcy._families.blocks import ranges
from dmlcy._types import Array

ROUNDS: Final = 10
FACTORS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
STEPS: Final = (0x9E3779B9, 0xBB67AE85)
WORD: Final = np.uint64(32)
LOW: Final = np.uint64(0xFFFFFFFF)
BLOCK: Final = 1 << 14
"""Counters that are worked out at once."""


def numbers(state: Array, count: int) -> Array:
    """So many numbers from a state."""
    result: Array = np.empty((-(-count // 4), 4), np.uint32)
    for part in ranges(slice(0, len(result)), BLOCK):
        words = _counters(state, part.start, part.stop - part.start)
        for number in range(ROUNDS):
            key = [np.uint64((int(word) + number * step) % 2**32) for word, step in zip(state[4:], STEPS, strict=True)]
            left, right = FACTORS[0] * words[0], FACTORS[1] * words[2]
            words = [(right >> WORD) ^ words[1] ^ key[0], right & LOW, (left >> WORD) ^ words[3] ^ key[1], left & LOW]
        result[part] = np.stack(words, -1)
    return result.reshape(-1)[:count]


def following(state: Array, count: int) -> Array:
    """The state after so many numbers."""
    counter = (_counter(state) + -(-count // 4)) % 2**128
    return np.array([*(counter >> 32 * place & 0xFFFFFFFF for place in range(4)), *state[4:].tolist()], np.uint32)


def _counter(state: Array) -> int:
    """The counter of a state."""
    return sum(int(word) << 32 * place for place, word in enumerate(state[:4]))


def _counters(state: Array, first: int, count: int) -> list[Array]:
    """The words of so many counters, from that number on."""
    start = (_counter(state) + first) % 2**128
    low = np.arange(count, dtype=np.uint64) + np.uint64(start % 2**64)  # modulo 2**64
    high = np.uint64(start >> 64) + (low < np.uint64(start % 2**64)).astype(np.uint64)
    return [low & LOW, low >> WORD, high & LOW, high >> WORD]
