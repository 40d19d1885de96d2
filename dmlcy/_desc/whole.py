"""What ``check``, ``minimum_feature_level`` and ``compile`` ask of a desc that is made of operator descs: a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from dmlcy._errors import Violation

Compiled = TypeVar("Compiled", covariant=True)


class Whole(ABC, Generic[Compiled]):
    """A desc of several operators; ``Compiled`` is what runs it."""

    @abstractmethod
    def _violations(self, level: int) -> list[Violation]:
        """The errors at the level of that position."""

    @abstractmethod
    def _warnings(self, level: int) -> list[Violation]:
        """The warnings."""

    @abstractmethod
    def _minimum(self) -> Any:
        """The MinimumLevel; raises the violations of one that is valid at none."""

    @abstractmethod
    def _compiled(self, level: int, path: str | None) -> Compiled:
        """What runs it; it is valid at this level."""
