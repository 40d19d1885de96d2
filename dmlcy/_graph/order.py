"""The order of things that wait for others, such as nodes for the values that they read."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush


def in_order(before: Sequence[Sequence[int]]) -> list[int]:
    """Numbers, each after those before it, else as they are numbered; those on or behind a cycle lack."""
    needs = [len(one) for one in before]
    after: list[list[int]] = [[] for _ in needs]
    for number, one in enumerate(before):
        for other in one:
            after[other].append(number)
    ready = [number for number, count in enumerate(needs) if not count]
    heapify(ready)
    found = []
    while ready:
        number = heappop(ready)
        found.append(number)
        for other in after[number]:
            needs[other] -= 1
            if not needs[other]:
                heappush(ready, other)
    return found


def cycle_of(before: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """The numbers of a cycle, each waiting for the next one and the last for the first; none where all are in order."""
    done = {*order}
    number = next((one for one in range(len(before)) if one not in done), None)
    places: dict[int, int] = {}
    while number is not None and number not in places:  # each number that is left waits for another one that is
        places[number] = len(places)
        number = next(one for one in before[number] if one not in done)
    return [] if number is None else [*places][places[number] :]
