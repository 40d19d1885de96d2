"""The feature level in force: LEVEL, a context variable, holds its position in LEVELS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, FeatureLevel, FeatureLevelName
from dmlcy._runtime.context import LEVEL
from dmlcy._words.values import listing, show

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _FeatureLevel

__all__ = ["LEVEL", "NEWEST", "current_level", "feature_level", "level_index"]

NEWEST: Final = len(LEVELS) - 1
PREFIX: Final = "DML_FEATURE_LEVEL_"


def current_level() -> FeatureLevelName:
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
        raise ValueError(f"unknown feature level {show(level)}. {level_hint(name)}")
    raise ValueError(f'a feature level must be text such as "5_0", or a FeatureLevel, not {show(level)}')


def level_hint(name: str) -> str:
    """The hint on a level that does not exist: the right spelling, or the newest level for one beyond it."""
    digits = re.fullmatch(r"(?:DML_FEATURE_LEVEL_)?([0-9]{1,3})[._ -]?([0-9])", name[:40].upper())
    major, minor = digits.groups() if digits else ("0", "0")
    if f"{major}_{minor}" in LEVEL_INDEX:
        return f'Did you mean "{major}_{minor}"?'
    newest = LEVELS[NEWEST].name
    beyond = [int(major), int(minor)] > [int(part) for part in newest.split("_")]
    return f"The newest is {newest}." if beyond else f"The levels are {listing(list(LEVEL_INDEX))}."


def feature_level(level: _FeatureLevel) -> AbstractContextManager[FeatureLevelName]:
    """Everything inside the ``with`` block is checked at this feature level.

    Parameters
    ----------
    level
        ``"5_0"``, ``"DML_FEATURE_LEVEL_5_0"`` or a member of FeatureLevel.
    """
    return _in_force(level_index(level))


@contextmanager
def _in_force(index: int) -> Iterator[FeatureLevelName]:
    token = LEVEL.set(index)
    try:
        yield LEVELS[index].name
    finally:
        LEVEL.reset(token)
