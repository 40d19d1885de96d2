"""Places of values in the arena of a run."""

from __future__ import annotations

import random

import pytest

from dmlcy._graph.arena import ALIGNED, Life, placed


def least(lives: list[Life]) -> int:
    """The most bytes of values that are there at a time, each a multiple of ALIGNED."""
    steps = {step for life in lives for step in (life.first, life.last)}
    sizes = {life: -(-life.size // ALIGNED) * ALIGNED for life in lives}
    return max((sum(sizes[one] for one in lives if one.first <= step <= one.last) for step in steps), default=0)


def check(lives: list[Life]) -> int:
    """No two values meet; the bytes of all."""
    places, total = placed(lives)
    for number, (life, place) in enumerate(zip(lives, places, strict=True)):
        assert place % ALIGNED == 0 and place + life.size <= total
        for other, before in zip(lives[:number], places[:number], strict=True):
            if other.first <= life.last and life.first <= other.last:
                assert place + life.size <= before or before + other.size <= place, (life, other)
    return total


@pytest.mark.parametrize("seed", range(20))
def test_no_two_values_meet(seed: int) -> None:
    draw = random.Random(seed)
    slack = []
    for _ in range(30):
        lives: list[Life] = []
        for _ in range(draw.randrange(1, 40)):
            first = draw.randrange(30)
            lives.append(Life(draw.choice([1, 64, 100, 1000, 4096]), first, first + draw.randrange(1 + seed)))
        slack.append(check(lives) / least(lives))
    assert min(slack) == 1 and sum(slack) / len(slack) < 1.06, slack


def test_many_values_take_little_time_and_memory() -> None:
    chain = [Life(1000, step, step + 1) for step in range(20_000)]
    assert placed(chain)[1] == 2 * 1024
    assert placed([]) == ([], 0)
