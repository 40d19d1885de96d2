"""The methods that ``check``, ``minimum_feature_level`` and ``compile`` ask of a desc of operator descs: a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args

from dmlcy._errors import Violation
from dmlcy._words.values import quote, show

Compiled = TypeVar("Compiled", covariant=True)
Found = TypeVar("Found", bound=Violation, covariant=True)
Optimization: TypeAlias = Literal["adjacent", "chains", "epilogues", "folded", "in_place", "pieces", "views"]
"""The optimizations that the compilation of a graph makes. None changes a bit of a result."""
OPTIMIZATIONS: Final[tuple[Optimization, ...]] = get_args(Optimization)
Switches: TypeAlias = frozenset[Optimization]
"""The optimizations that are turned off."""


def switches(without: Collection[Optimization]) -> Switches:
    """The optimizations of these names; ValueError for others."""
    if isinstance(without, str) or not isinstance(without, Collection):
        raise TypeError(f"compile() takes a tuple of names as without, not {show(without)}")
    unknown = [name for name in without if name not in OPTIMIZATIONS]
    if unknown:
        known = ", ".join(map(quote, OPTIMIZATIONS))
        raise ValueError(f"compile() knows no optimization {show(unknown[0])} to leave out: it has {known}")
    return frozenset(without)


class Whole(ABC, Generic[Compiled, Found]):
    """A desc of several operators; ``Compiled`` is what runs it, ``Found`` a violation of it."""

    @abstractmethod
    def _violations(self, level: int) -> Sequence[Found]:
        """The errors at the level of that position."""

    @abstractmethod
    def _warnings(self, level: int) -> Sequence[Found]:
        """The warnings."""

    @abstractmethod
    def _minimum(self) -> Any:
        """The MinimumLevel; raises the violations of one that is valid at none."""

    @abstractmethod
    def _compiled(self, level: int, path: str | None, without: Switches) -> Compiled:
        """The program that runs the desc, without some optimizations; the desc is valid at this level."""
