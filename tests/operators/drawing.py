"""Draws from the strategies of ``dmlcy.testing``: the same values in each run, for tests that count what they met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

Facts = Counter[tuple[str, Any]]


def draw_all(
    strategy: Any, draws: int, look: Callable[[Any], None], first_seed: int = 0, seeds: Iterable[int] = (0,)
) -> None:
    """Looks at so many values of each seed, the same each time; several seeds, since one alone repeats itself."""
    for number in seeds:
        draw_some(strategy, draws, look, first_seed + number)


def draw_some(strategy: Any, draws: int, look: Callable[[Any], None], number: int, strict: bool = False) -> None:
    """``strict``: with Hypothesis' health checks, except the one of the time, which depends on the machine's load."""
    once = settings(
        max_examples=draws,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow] if strict else list(HealthCheck),
    )
    decorated: Any = given(strategy)
    seed(number)(once(decorated(lambda value: look(value))))()


def draw_until(met: Facts, wanted: set[tuple[str, Any]], rounds: int, draw: Callable[[int], None]) -> None:
    """Draws in rounds until all is met that is wanted; the last one must find it."""
    for number in range(rounds):
        if wanted <= met.keys():
            return
        draw(number)
    assert_met(met, wanted)


def assert_met(met: Facts, wanted: set[tuple[str, Any]]) -> None:
    missing = sorted(map(str, wanted - met.keys()))
    counts = "\n".join(f"{count:6} {fact}" for fact, count in sorted(met.items(), key=str))
    assert not missing, f"never drawn: {missing}\ndrawn:\n{counts}"
