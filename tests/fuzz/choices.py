"""Choices by the bytes of a fuzzer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Choices:
    """Choices by the bytes, from the first one on; 0 when there are no more."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def below(self, end: int) -> int:
        """A number from 0 on."""
        return self.byte() % end

    def of(self, values: Sequence[Any]) -> Any:
        """One of the values."""
        return values[self.below(len(values))]

    def rarely(self) -> bool:
        """True for few bytes, and not for 0."""
        return self.byte() > 240
