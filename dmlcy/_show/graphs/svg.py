"""A graph as a picture: rows from top to bottom, so that each edge leads down, between the boxes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from dmlcy._errors import Violation
from dmlcy._frontends.graphs.profiles import Timing
from dmlcy._graph.model import Structure
from dmlcy._show.graphs.layout import GAP, WIDTH, Layout
from dmlcy._show.graphs.parts import NO_TIMINGS, Box, Line, boxes, printable
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
    ".wrong rect{fill:#fde8e8;stroke:#c00;stroke-width:2.5}.wrong text{fill:#900}.idle rect{stroke-dasharray:4 3}"
    "path{fill:none;stroke:#888}.bad{stroke:#c00;stroke-width:2.5;stroke-dasharray:7 3}.x{stroke:#c00;stroke-width:3}"
    ".turn{stroke:#7a4fb5;stroke-dasharray:2 2}rect.bg{fill:#fff;stroke:none}"
    ".e{font-size:9px;fill:#555;stroke:#fff;stroke-width:3px;paint-order:stroke}.e.t{fill:#6a3fa5}"
)
DARK: Final = (
    "text{fill:#e4e4e4}.s{fill:#b4b4b4}rect{fill:#232b3a;stroke:#7f9fd0}"
    ".constant rect{fill:#332d1f;stroke:#b89d66}.input rect,.output rect{fill:#1f3022;stroke:#66b873}"
    ".wrong rect{fill:#45191c;stroke:#ff6b6b}.wrong text{fill:#ffb3b3}path{stroke:#8a8a8a}"
    ".bad,.x{stroke:#ff6b6b}.turn{stroke:#b48ce8}rect.bg{fill:#17191d}.e{fill:#b4b4b4;stroke:#17191d}.e.t{fill:#c8a6f0}"
)
HEAT: Final = ("#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548")
DARK_HEAT: Final = ("#2b2522", "#432f1f", "#5c391b", "#7a4517", "#9c5113", "#bf5e10")
"""The colours of nodes with a small and with a large share of the time."""
SWATCH: Final = 60
"""Pixels of a colour in the legend."""
LEGEND: Final = 560
"""Pixels that a legend is wide."""
LABEL: Final = 60
"""Letters at the end of an edge."""
_BAD: Final = ' class="bad"'
_TURN: Final = ' class="turn"'
_WIDE: Final = {**dict.fromkeys("mwMW@%", 0.95), **dict.fromkeys("fijlrtI1-./:,' ", 0.42)}


def lines(
    graph: Structure, violations: Sequence[Violation], timings: Mapping[int, Timing] = NO_TIMINGS
) -> Iterator[str]:
    """The lines of the file; ``timings`` of a profile colour the nodes."""
    shown, edges = boxes(graph, violations, timings), [*edges_of(graph, violations)]
    layout = layout_of(shown, edges)
    wide, high = layout.size
    drawer = _Drawer(layout, edges)
    wide = max([wide, *(x + length_of(text, 9) + INDENT for x, _, text, _ in drawer.labels())])
    most = max((one.share for one in timings.values()), default=0)
    yield from head(max(wide, LEGEND) if timings else wide, high + 2 * GAP * bool(timings), STYLE, DARK, bool(timings))
    yield from drawer.lines()
    for box in shown:
        yield from _box(box, layout, most)
    if timings:
        yield from _legend(most, high)
    yield "</svg>"


def head(wide: float, high: float, light: str, dark: str, heat: bool = False) -> Iterator[str]:
    """The head of a picture of this size, with its style, which follows that of the reader, and its background."""
    if heat:
        light, dark = light + _heat(HEAT, "#222"), dark + _heat(DARK_HEAT, "#fff")
    size = f'width="{wide:.0f}" height="{high:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide:.0f} {high:.0f}">'
    yield f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"
    yield f'<rect class="bg" {size}/>'


def _heat(colours: Sequence[str], ink: str) -> str:
    found = "".join(f".h{number} rect,rect.h{number}{{fill:{colour}}}" for number, colour in enumerate(colours))
    return f"{found}.h4 .s,.h5 .s{{fill:{ink}}}"


def _warmth(share: float, most: float) -> int:
    """Which colour a share has: each goes as far as a square, so that small shares differ too."""
    return min(int(math.sqrt(share / most) * len(HEAT)), len(HEAT) - 1) if most > 0 else 0


def _legend(most: float, top: float) -> Iterator[str]:
    """The meanings of the colours, below the picture."""
    for number in range(len(HEAT)):
        x, end = GAP + number * SWATCH, most * ((number + 1) / len(HEAT)) ** 2
        yield f'<rect class="h{number}" x="{x}" y="{top:.0f}" width="{SWATCH}" height="{ROW}"/>'
        yield f'<text class="s" x="{x + 4}" y="{top + 2 * ROW:.0f}">to {end * 100:.1f} %</text>'
    x = GAP + len(HEAT) * SWATCH + INDENT
    yield f'<text class="s" x="{x}" y="{top + ROW - 3:.0f}">of the time of all steps</text>'


def layout_of(shown: Sequence[Box], edges: Sequence[Line]) -> Layout:
    """Where the boxes are."""
    heights = {box.key: HEIGHT + ROW * max(0, len(_below(box)) - 1) for box in shown}
    return Layout(heights, [(line.begin, line.end) for line in edges])


class _Drawer:
    """Draws the edges. Edges of one value share their way past a row, and each ends at a place of its own."""

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
            title = escape(printable(" ".join((_said(line), *line.wrong)), 400), False)
            kind = _BAD if line.wrong else _TURN if line.was else ""
            yield f'<path{kind} d="{self._last(line, self.ends[place][0])}"><title>{title}</title></path>'
        for x, y, text, kind in self.labels():
            yield f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(text, False)}</text>'

    def labels(self) -> Iterator[tuple[float, float, str, str]]:
        """The labels at the ends of edges: place, and kind."""
        for place, line in enumerate(self.edges):
            x, level = self.ends[place]
            text = printable(_said(line, False), LABEL)
            yield x + 3, self._top(line.end) - 4 - 10 * level, text, "e t" if line.was else "e"

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


def _said(line: Line, source: bool = True) -> str:
    """An edge in words: the input that it is, its tensor, and what it was where the reader sees another one."""
    came = [f"from {line.source}"] if line.source and source else []
    was = [f"({line.was})" if line.was.startswith("in ") else f"(was {line.was})"] if line.was else []
    return " ".join(filter(None, (line.target, line.dtype, line.sizes, *was, *came)))


def _curve(begin: tuple[float, float], end: tuple[float, float], moved: bool) -> str:
    (x, y), (u, v) = begin, end
    middle = (y + v) / 2
    return f"{f'M{x:.0f} {y:.0f}' if moved else ''}C{x:.0f} {middle:.0f} {u:.0f} {middle:.0f} {u:.0f} {v:.0f}"


def _below(box: Box) -> list[str]:
    """The lines under the title of a box: its name, its origin, its ids."""
    ids = [*box.wrong[:SHOWN], *([f"and {len(box.wrong) - SHOWN} more"] if len(box.wrong) > SHOWN else [])]
    return [*filter(None, (box.name, box.origin, _fused(box), *_timed(box.timing))), *ids]


def _fused(box: Box) -> str:
    return f"with {box.fused}" if box.fused else ""


def _timed(timing: Timing | None) -> list[str]:
    """The times of a node in a profile."""
    if timing is None:
        return []
    if timing.why:
        return [timing.why]
    words = [f"{timing.share * 100:.1f} %", f"{timing.seconds * 1e3:.4g} ms"]
    if timing.operations and timing.seconds:
        words.append(f"{timing.operations / timing.seconds / 1e9:.3g} GFLOP/s")
    beside = f"in a step with {', '.join(map(str, timing.beside))}" if timing.beside else ""
    return [", ".join(words), *([beside] if beside else [])]


def _box(box: Box, layout: Layout, most: float) -> Iterator[str]:
    x, y = layout.middles[box.key] - WIDTH / 2, layout.tops[layout.rows[box.key]]
    kind = f"{box.kind} wrong" if box.wrong else box.kind
    if box.timing is not None:
        kind += " idle" if box.timing.why else f" h{_warmth(box.timing.share, most)}"
    words = filter(None, (box.title, box.name, box.origin, _fused(box), *_timed(box.timing), *box.wrong))
    yield f'<g class="{kind}"><title>{escape(printable(" ".join(words), 400), False)}</title>'
    yield f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{layout.heights[box.key]}" rx="4"/>'
    if box.wrong:  # a cross, for readers who do not see the colour
        yield f'<path class="x" d="M{x + WIDTH - 18:.0f} {y + 7:.0f}l9 9m0 -9l-9 9"/>'
    yield f'<text x="{x + INDENT:.0f}" y="{y + 16:.0f}">{_fitted(box.title, 11, 24 if box.wrong else INDENT)}</text>'
    for number, below in enumerate(_below(box)):
        at = f'x="{x + INDENT:.0f}" y="{y + 31 + ROW * number:.0f}"'
        yield f'<text class="s" {at}>{_fitted(below, 9, INDENT)}</text>'
    yield "</g>"


def _fitted(text: str, size: int, right: int) -> str:
    """As much of a text as a box has room for."""
    return fitted(text, size, WIDTH - INDENT - right)


def _width(letter: str) -> float:
    """Of a letter, by the size of the text."""
    return _WIDE.get(letter) or (0.69 if letter.isupper() else 0.58 if letter.isascii() else 1.0)


def length_of(text: str, size: int) -> float:
    """The pixels of a text, about."""
    return size * sum(map(_width, text))


def fitted(text: str, size: int, pixels: float) -> str:
    """As much of a text as there is room for, by the usual widths of letters."""
    room, safe = pixels / size, printable(text, WIDTH)
    for place, letter in enumerate(safe):
        room -= _width(letter)
        if room < (0 if place == len(safe) - 1 else 1):
            return escape(f"{safe[:place]}…", False)
    return escape(safe, False)
