"""How what takes long says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Reached: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of a part, how much of it is done, and how much there is."""


def nothing(name: str, done: int, total: int) -> None:
    """Nobody wants to know."""
