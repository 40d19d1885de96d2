"""A graph as a picture: rows from top to bottom, so that each edge leads down, between the boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from dmlcy._errors import Violation
from dmlcy._graph.model import Structure
from dmlcy._show.graphs.layout import WIDTH, Layout
from dmlcy._show.graphs.parts import Box, Line, boxes, printable
from dmlcy._show.graphs.parts import lines as edges_of

HEIGHT: Final = 40
ROW: Final = 12
"""Pixels of a line of small text."""
INDENT: Final = 8
SHOWN: Final = 3
"""Ids in a box."""
LEVELS: Final = 4
"""Heights of the sizes of edges that end beside each other."""
STYLE: Final = (
    "text{font:11px sans-serif;fill:#222}.s{font-size:9px;fill:#555}rect{fill:#eef3fb;stroke:#5b7aa9}"
    ".constant rect{fill:#f4efe3;stroke:#a98f5b}.input rect,.output rect{fill:#e9f5ea;stroke:#5ba967}"
    ".wrong rect{fill:#fde8e8;stroke:#c00;stroke-width:2.5}.wrong text{fill:#900}"
    "path{fill:none;stroke:#888}.bad{stroke:#c00;stroke-width:2.5;stroke-dasharray:7 3}.x{stroke:#c00;stroke-width:3}"
    ".e{font-size:9px;fill:#555;stroke:#fff;stroke-width:3px;paint-order:stroke}"
)
_BAD: Final = ' class="bad"'
_WIDE: Final = {**dict.fromkeys("mwMW@%", 0.95), **dict.fromkeys("fijlrtI1-./:,' ", 0.42)}


def lines(graph: Structure, violations: Sequence[Violation]) -> Iterator[str]:
    """The lines of the file."""
    shown, edges = boxes(graph, violations), [*edges_of(graph, violations)]
    layout = layout_of(shown, edges)
    wide, high = layout.size
    size = f'width="{wide:.0f}" height="{high:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide:.0f} {high:.0f}">'
    yield f"<style>{STYLE}</style>"
    yield f'<rect {size} style="fill:#fff;stroke:none"/>'
    yield from _Drawer(layout, edges).lines()
    for box in shown:
        yield from _box(box, layout)
    yield "</svg>"


def layout_of(shown: Sequence[Box], edges: Sequence[Line]) -> Layout:
    """Where the boxes are."""
    heights = {box.key: HEIGHT + ROW * max(0, len(_below(box)) - 1) for box in shown}
    return Layout(heights, [(line.begin, line.end) for line in edges])


class _Drawer:
    """Draws the edges. Those of one value share their way past a row, and each ends at a place of its own."""

    def __init__(self, layout: Layout, edges: Sequence[Line]) -> None:
        self.layout = layout
        self.edges = edges
        above: dict[str, list[int]] = defaultdict(list)
        below: dict[str, set[str]] = defaultdict(set)
        for place, line in enumerate(edges):
            above[line.end].append(place)
            before = layout.before(line.begin, line.end)
            below[line.begin].add(line.end if before == line.begin else f"{line.begin}/{layout.rows[line.begin] + 1}")
        self.ends = self._spread(above)
        self.begins = {
            (key, other): self._beside(key, number, len(others))
            for key, others in below.items()
            for number, other in enumerate(sorted(others, key=layout.middles.__getitem__))
        }

    def _spread(self, above: dict[str, list[int]]) -> dict[int, tuple[float, int]]:
        """For each edge the place at the top of its box, and the height of its sizes."""
        found = {}
        for key, places in above.items():
            places.sort(key=lambda one: self._left(self.edges[one]))
            for number, place in enumerate(places):
                found[place] = self._beside(key, number, len(places)), number % LEVELS
        return found

    def _left(self, line: Line) -> float:
        return self.layout.middles[self.layout.before(line.begin, line.end)]

    def _beside(self, key: str, number: int, count: int) -> float:
        return self.layout.middles[key] + WIDTH * ((number + 1) / (count + 1) - 0.5)

    def lines(self) -> Iterator[str]:
        """The ways past rows, the edges, their sizes."""
        sound = {line.begin for line in self.edges if not line.wrong}
        for begin in self.layout.chains:
            yield f'<path{"" if begin in sound else _BAD} d="{self._way(begin)}"/>'
        for place, line in sorted(enumerate(self.edges), key=lambda one: bool(one[1].wrong)):
            title = escape(" ".join((line.sizes, *line.wrong)), False)
            kind = _BAD if line.wrong else ""
            yield f'<path{kind} d="{self._last(line, self.ends[place][0])}"><title>{title}</title></path>'
        for place, line in enumerate(self.edges):
            x, level = self.ends[place]
            y = self._top(line.end) - 4 - 10 * level
            yield f'<text class="e" x="{x + 3:.0f}" y="{y:.0f}">{escape(line.sizes, False)}</text>'

    def _top(self, key: str) -> float:
        return self.layout.tops[self.layout.rows[key]]

    def _leave(self, key: str, other: str) -> tuple[float, float]:
        """Where an edge leaves a box, or a point."""
        layout = self.layout
        if key in layout.heights:
            return self.begins[key, other], self._top(key) + layout.heights[key]
        return layout.middles[key], layout.bottoms[layout.rows[key]]

    def _way(self, begin: str) -> str:
        """From a box down through its points, straight past each row."""
        layout, key = self.layout, begin
        steps: list[str] = []
        for point in layout.points(begin):
            row = layout.rows[point]
            x = layout.middles[point]
            curve = _curve(self._leave(key, point), (x, layout.tops[row]), not steps)
            steps.append(f"{curve}V{layout.bottoms[row]:.0f}")
            key = point
        return "".join(steps)

    def _last(self, line: Line, x: float) -> str:
        before = self.layout.before(line.begin, line.end)
        return _curve(self._leave(before, line.end), (x, self._top(line.end)), True)


def _curve(begin: tuple[float, float], end: tuple[float, float], moved: bool) -> str:
    (x, y), (u, v) = begin, end
    middle = (y + v) / 2
    return f"{f'M{x:.0f} {y:.0f}' if moved else ''}C{x:.0f} {middle:.0f} {u:.0f} {middle:.0f} {u:.0f} {v:.0f}"


def _below(box: Box) -> list[str]:
    """The lines under the title of a box: its name, its origin, its ids."""
    ids = [*box.wrong[:SHOWN], *([f"and {len(box.wrong) - SHOWN} more"] if len(box.wrong) > SHOWN else [])]
    return [*(row for row in (box.name, box.origin) if row), *ids]


def _box(box: Box, layout: Layout) -> Iterator[str]:
    x, y = layout.middles[box.key] - WIDTH / 2, layout.tops[layout.rows[box.key]]
    kind = f"{box.kind} wrong" if box.wrong else box.kind
    words = (box.title, box.name, *([box.origin] if box.origin else []), *box.wrong)
    yield f'<g class="{kind}"><title>{escape(printable(" ".join(words), 400), False)}</title>'
    yield f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{layout.heights[box.key]}" rx="4"/>'
    if box.wrong:  # a cross, for those who do not see the colour
        yield f'<path class="x" d="M{x + WIDTH - 18:.0f} {y + 7:.0f}l9 9m0 -9l-9 9"/>'
    yield f'<text x="{x + INDENT:.0f}" y="{y + 16:.0f}">{_fitted(box.title, 11, 24 if box.wrong else INDENT)}</text>'
    for number, below in enumerate(_below(box)):
        at = f'x="{x + INDENT:.0f}" y="{y + 31 + ROW * number:.0f}"'
        yield f'<text class="s" {at}>{_fitted(below, 9, INDENT)}</text>'
    yield "</g>"


def _fitted(text: str, size: int, right: int) -> str:
    """As much of a text as a box has room for, by the usual widths of letters."""
    room, safe = (WIDTH - INDENT - right) / size, printable(text, WIDTH)
    for place, letter in enumerate(safe):
        room -= _WIDE.get(letter) or (0.69 if letter.isupper() else 0.58 if letter.isascii() else 1.0)
        if room < (0 if place == len(safe) - 1 else 1):
            return escape(f"{safe[:place]}…", False)
    return escape(safe, False)
