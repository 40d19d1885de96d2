"""The search for repairs of a refused desc, as its violations hold it: what it finds, once somebody reads it."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from dmlcy._errors import Repair, Violation


class Found(NamedTuple):
    """The end of a search."""

    repairs: tuple[Repair, ...]
    sentence: str
    searches: bool = False


NOTHING: Final = Found((), "")


class Checked(Protocol):
    """The part of a pass over changed values that a search asks for."""

    @property
    def violations(self) -> list[Violation]:
        """The violations of the values."""


class Asking(Protocol):
    """The values to search. ``arrays``: the tensors of a call are arrays, and no values of a graph."""

    arrays: bool

    def search(self) -> Found:
        """Tries the changes."""


class Search:
    """A search for the repairs of one desc, which all violations of the desc share.

    A pass opens it with the values that it has found wrong. A mistake that is found later, such as in memory or
    elements of tensors, is mended by no other value of a field: it closes the search.
    """

    __slots__ = ("_asked", "_found")

    def __init__(self) -> None:
        self._asked: Asking | None = None
        self._found: Found | None = None

    def noted(self) -> Search:
        """The search, for a violation that is noted."""
        if self._asked is not None:
            self._asked, self._found = None, NOTHING
        return self

    def open(self, asked: Asking) -> None:
        """Say what is to be searched."""
        self._asked = asked

    def without_arrays(self) -> None:
        """Say that the tensors of the call are no arrays, but values of a graph."""
        if self._asked is not None:
            self._asked.arrays = False

    @property
    def searches(self) -> bool:
        """Whether there is something to search."""
        return self._asked is not None

    @property
    def found(self) -> Found:
        """The result of the search, which is made here, once."""
        if self._found is None:
            self._found = NOTHING if self._asked is None else self._asked.search()
        return self._found

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The changes."""
        return self.found.repairs

    @property
    def sentence(self) -> str:
        """The sentence of a message on the repairs."""
        return self.found.sentence

    def __reduce__(self) -> tuple[object, ...]:
        return Found, (*self.found[:2], bool(self.repairs))
