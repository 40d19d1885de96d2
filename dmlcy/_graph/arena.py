"""Places in one piece of memory for values that are there at different times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

ALIGNED: Final = 64
"""Each place is at a multiple of so many bytes."""
_FEW: Final = 300
"""Of more values, only the first way to place them is tried."""


class Life(NamedTuple):
    """A value of so many bytes, which is there from one step to another one, both included."""

    size: int
    first: int
    last: int


def placed(lives: Sequence[Life]) -> tuple[list[int], int]:
    """The place of each value, and the bytes of them all: no two values that are there at a time meet."""
    sizes = [-(-life.size // ALIGNED) * ALIGNED for life in lives]
    found, total = _in_order(lives, sizes)
    if len(lives) <= _FEW and total > _least(lives, sizes):
        other, less = _largest_first(lives, sizes)
        if less < total:
            return other, less
    return found, total


def _least(lives: Sequence[Life], sizes: Sequence[int]) -> int:
    """The bytes of the values that are there at a time, at most."""
    changes: dict[int, int] = {}
    for life, size in zip(lives, sizes, strict=True):
        changes[life.first] = changes.get(life.first, 0) + size
        changes[life.last + 1] = changes.get(life.last + 1, 0) - size
    most = live = 0
    for step in sorted(changes):
        live += changes[step]
        most = max(most, live)
    return most


def _in_order(lives: Sequence[Life], sizes: Sequence[int]) -> tuple[list[int], int]:
    """Each value where it fits best when it comes."""
    ends: dict[int, list[int]] = {}
    for number, life in enumerate(lives):
        ends.setdefault(life.last, []).append(number)
    waiting = sorted(ends, reverse=True)
    found, total = [0] * len(lives), 0
    free: dict[int, int] = {}  # sizes of what is free below the total, by place
    behind: dict[int, int] = {}  # the same places, by what is behind them

    def give(place: int, size: int) -> None:
        nonlocal total
        if place in behind:
            before = behind.pop(place)
            size += free.pop(before)
            place = before
        if place + size in free:
            size += free.pop(place + size)
            del behind[place + size]
        if place + size == total:
            total = place
        else:
            free[place], behind[place + size] = size, place

    most = 0
    for number in sorted(range(len(lives)), key=lambda one: lives[one].first):
        while waiting and waiting[-1] < lives[number].first:
            for ended in ends[waiting.pop()]:
                give(found[ended], sizes[ended])
        size = sizes[number]
        fitting = [(room, place) for place, room in free.items() if room >= size]
        if fitting:
            room, place = min(fitting)
            del free[place], behind[place + room]
            if room > size:
                free[place + size], behind[place + room] = room - size, place + size
        else:
            place = total
            total += size
            most = max(most, total)
        found[number] = place
    return found, most


def _largest_first(lives: Sequence[Life], sizes: Sequence[int]) -> tuple[list[int], int]:
    """Each value, the largest first, at the lowest place at which it meets no other one."""
    found, total = [0] * len(lives), 0
    done: list[int] = []
    for number in sorted(range(len(lives)), key=lambda one: (-sizes[one], lives[one].first)):
        life, place = lives[number], 0
        meets = [one for one in done if lives[one].first <= life.last and life.first <= lives[one].last]
        for other in sorted(meets, key=lambda one: found[one]):
            if found[other] - place >= sizes[number]:
                break
            place = max(place, found[other] + sizes[other])
        found[number] = place
        done.append(number)
        total = max(total, place + sizes[number])
    return found, total
