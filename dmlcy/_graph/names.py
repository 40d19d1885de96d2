"""Names of which no two are the same."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """The names that are taken. Another use of a name gets a number: relu, relu-2, relu-3."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken}
        self._numbers: dict[str, int] = {}

    def distinct(self, name: str) -> str:
        """The name, with a number where it is taken; it is taken from now on."""
        found, number = name, self._numbers.get(name, 1)
        while found in self._taken:
            number += 1
            found = f"{name}-{number}"
        self._numbers[name] = number
        self._taken.add(found)
        return found
