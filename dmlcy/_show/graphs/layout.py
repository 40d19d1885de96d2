"""Where the parts of a picture are: boxes in rows from top to bottom, and points at which long edges pass a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

WIDTH: Final = 210
GAP: Final = 24
BETWEEN: Final = 48
"""From the bottom of a row to the top of the next one."""
SWEEPS: Final = 8
POINTS: Final = 8
"""Points for each box, at most: the longest edges of a graph with more go behind the boxes."""

Edges: TypeAlias = Sequence[tuple[str, str]]


class Layout:
    """Boxes, by their keys with their heights, and edges between them.

    ``middles``: of boxes and points, from the left; ``tops``, ``bottoms``: of rows; ``rows``: the row of each of them.
    """

    def __init__(self, heights: Mapping[str, float], edges: Edges) -> None:
        self.heights = heights
        self.rows = rows_of(heights, edges)
        self.chains = chains_of(self.rows, edges)
        for begin, last in self.chains.items():
            self.rows |= {f"{begin}/{row}": row for row in range(self.rows[begin] + 1, last + 1)}
        joins = [*self._joins(edges)]
        lists: list[list[str]] = [[] for _ in range(max(self.rows.values(), default=-1) + 1)]
        for key, row in self.rows.items():
            lists[row].append(key)
        self.middles = placed(ordered(lists, joins), joins, {key: self.width(key) for key in self.rows})
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        top = float(GAP)
        for row_ in lists:
            self.tops.append(top)
            self.bottoms.append(top + max(heights.get(key, 0) for key in row_))
            top = self.bottoms[-1] + BETWEEN

    def width(self, key: str) -> float:
        """Of a box; a point has none."""
        return WIDTH if key in self.heights else 0

    @property
    def size(self) -> tuple[float, float]:
        """Of the picture."""
        right = max((middle + self.width(key) / 2 for key, middle in self.middles.items()), default=0)
        return right + GAP, (self.bottoms[-1] if self.bottoms else 0) + GAP

    def points(self, begin: str) -> list[str]:
        """The points of the edges that leave a box, from top to bottom."""
        return [f"{begin}/{row}" for row in range(self.rows[begin] + 1, self.chains.get(begin, 0) + 1)]

    def before(self, begin: str, end: str) -> str:
        """The box or the point from which an edge reaches its end."""
        row = self.rows[end] - 1
        return f"{begin}/{row}" if begin in self.chains and row > self.rows[begin] else begin

    def _joins(self, edges: Edges) -> Iterable[tuple[str, str]]:
        for begin in self.chains:
            points = self.points(begin)
            yield from zip([begin, *points[:-1]], points, strict=True)
        for begin, end in edges:
            yield self.before(begin, end), end


def rows_of(keys: Iterable[str], edges: Edges) -> dict[str, int]:
    """The row of each box: below the boxes that lead to it, or, without such a box, right above its first reader."""
    after: dict[str, list[str]] = defaultdict(list)
    needs = dict.fromkeys(keys, 0)
    for begin, end in edges:
        after[begin].append(end)
        needs[end] += 1
    starts = [key for key, count in needs.items() if not count]
    found = dict.fromkeys(needs, 0)
    ready = [*starts]
    for key in ready:  # grows; what is on a cycle stays above
        for other in after[key]:
            found[other] = max(found[other], found[key] + 1)
            needs[other] -= 1
            if not needs[other]:
                ready.append(other)
    for key in starts:
        found[key] = max(min((found[other] for other in after[key]), default=1) - 1, 0)
    number = {row: place for place, row in enumerate(sorted({*found.values()}))}
    return {key: number[row] for key, row in found.items()}


def chains_of(rows: Mapping[str, int], edges: Edges) -> dict[str, int]:
    """The last row with a point, for each box with edges that pass rows; the shorter ones first."""
    reach: dict[str, int] = {}
    for begin, end in edges:
        if rows[end] - rows[begin] > 1:
            reach[begin] = max(reach.get(begin, 0), rows[end] - 1)
    left, found = POINTS * len(rows), {}
    for begin, last in sorted(reach.items(), key=lambda one: one[1] - rows[one[0]]):
        left -= last - rows[begin]
        if left >= 0:
            found[begin] = last
    return found


def ordered(rows: list[list[str]], joins: Edges) -> list[list[str]]:
    """The rows with each part near the middle of the parts that it is joined to."""
    joined: dict[str, list[str]] = defaultdict(list)
    for begin, end in joins:
        joined[begin].append(end)
        joined[end].append(begin)
    place = {key: at for row in rows for at, key in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            middle = {key: _mean([place[other] for other in joined[key]], place[key]) for key in row}
            row.sort(key=lambda key: middle[key])
            place.update({key: at for at, key in enumerate(row)})
    return rows


def placed(rows: Sequence[Sequence[str]], joins: Edges, widths: Mapping[str, float]) -> dict[str, float]:
    """The middle of each part: under the parts that lead to it where there is room."""
    above: dict[str, list[str]] = defaultdict(list)
    for begin, end in joins:
        above[end].append(begin)
    middles: dict[str, float] = {}
    for row in rows:
        next_free = float(GAP)
        for key in row:
            half = widths[key] / 2
            known = [middles[other] for other in above[key] if other in middles]
            middles[key] = max(_mean(known, next_free + half), next_free + half)
            next_free = middles[key] + half + GAP
    return middles


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
