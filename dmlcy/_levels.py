"""The feature level in force: LEVEL, a context variable, holds its position in LEVELS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from typing import Final

from dmlcy._errors import listing, show
from dmlcy._runtime.level import LEVEL
from dmlcy._tables import LEVEL_INDEX, LEVELS, FeatureLevel

__all__ = ["LEVEL", "NEWEST", "current_level", "feature_level", "level_index"]

NEWEST: Final = len(LEVELS) - 1
PREFIX: Final = "DML_FEATURE_LEVEL_"


def current_level() -> str:
    """The feature level in force, such as ``"6_4"``."""
    return LEVELS[LEVEL.get()].name


def level_index(level: object) -> int:
    """Position of a level, given as ``"5_0"``, ``"DML_FEATURE_LEVEL_5_0"`` or a FeatureLevel; else ValueError."""
    if type(level) is FeatureLevel:
        return next(index for index, known in enumerate(LEVELS) if known.value == level.value)
    if issubclass(type(level), str):
        name = str.__str__(level).removeprefix(PREFIX)
        if name in LEVEL_INDEX:
            return LEVEL_INDEX[name]
        close = get_close_matches(name[:40], LEVEL_INDEX, 1, 0.5)
        hint = f'Did you mean "{close[0]}"?' if close else f"The levels are {listing(list(LEVEL_INDEX))}."
        raise ValueError(f"unknown feature level {show(level)}. {hint}")
    raise ValueError(f'a feature level must be text such as "5_0", or a FeatureLevel, not {show(level)}')


def feature_level(level: object) -> AbstractContextManager[str]:
    """Everything inside the ``with`` block is checked at this feature level.

    Parameters
    ----------
    level
        ``"5_0"``, ``"DML_FEATURE_LEVEL_5_0"`` or a member of FeatureLevel.
    """
    return _in_force(level_index(level))


@contextmanager
def _in_force(index: int) -> Iterator[str]:
    token = LEVEL.set(index)
    try:
        yield LEVELS[index].name
    finally:
        LEVEL.reset(token)
