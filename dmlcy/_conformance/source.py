"""Draws that depend on a seed alone.

Hypothesis also draws the constants that it finds in the modules of a project, so that what is drawn would depend on
which modules a process has imported. Its interface for sources of draws leaves them out.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

NAME: Final = "dmlcy-seeded"

Drawn = TypeVar("Drawn")


class Seeded(HypothesisProvider):
    """The source of draws of Hypothesis, without constants."""

    def _maybe_draw_constant(self, *_arguments: object, **_named: object) -> None:
        """No constant."""


def drawn(strategy: st.SearchStrategy[Drawn], count: int, number: int) -> list[Drawn]:
    """At most so many values, the same for the same number; none of a strategy that finds none."""
    found: list[Drawn] = []
    AVAILABLE_PROVIDERS.setdefault(NAME, Seeded)
    once = settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        backend=NAME,
        suppress_health_check=list(HealthCheck),
    )
    with suppress(Unsatisfiable):
        seed(number)(once(given(strategy)(lambda value: found.append(value))))()
    return found
