"""A graph as a picture: layers from top to bottom, so that each edge leads down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

from dmlcy._errors import Violation
from dmlcy._graph.model import Structure
from dmlcy._show.graphs.parts import Box, Line, boxes
from dmlcy._show.graphs.parts import lines as edges_of

WIDTH: Final = 190
HEIGHT: Final = 40
GAP: Final = 24
LAYER: Final = 84
SWEEPS: Final = 8
LETTERS: Final = 27
STYLE: Final = (
    "text{font:11px sans-serif;fill:#222}.s{font-size:9px;fill:#666}rect{fill:#eef3fb;stroke:#5b7aa9}"
    ".constant rect{fill:#f4efe3;stroke:#a98f5b}.input rect,.output rect{fill:#e9f5ea;stroke:#5ba967}"
    ".wrong rect{fill:#fde8e8;stroke:#c00;stroke-width:2}.wrong text{fill:#a00}"
    "path{fill:none;stroke:#888}.bad{stroke:#c00;stroke-width:2}"
)


def lines(graph: Structure, violations: Sequence[Violation]) -> Iterator[str]:
    """The lines of the file."""
    shown, edges = boxes(graph, violations), [*edges_of(graph, violations)]
    rows = ordered(layers(shown, edges), edges)
    places = placed(rows, edges)
    wide = max((x for x, _ in places.values()), default=0) + WIDTH + GAP
    high = len(rows) * LAYER + GAP
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high}" viewBox="0 0 {wide:.0f} {high}">'
    yield f"<style>{STYLE}</style>"
    yield f'<rect width="{wide:.0f}" height="{high}" style="fill:#fff;stroke:none"/>'
    for line in edges:
        yield from _edge(line, places)
    for box in shown:
        yield from _box(box, places[box.key])
    yield "</svg>"


def layers(shown: Sequence[Box], edges: Sequence[Line]) -> list[list[str]]:
    """The boxes in layers: each below those that lead to it, and what nothing leads to right above its first reader."""
    after: dict[str, list[str]] = defaultdict(list)
    needs = dict.fromkeys((box.key for box in shown), 0)
    for line in edges:
        after[line.begin].append(line.end)
        needs[line.end] += 1
    starts = {key for key, count in needs.items() if not count}
    depth = dict.fromkeys(needs, 0)
    ready = [key for key, count in needs.items() if not count]
    for key in ready:  # grows; what is on a cycle stays above
        for other in after[key]:
            depth[other] = max(depth[other], depth[key] + 1)
            needs[other] -= 1
            if not needs[other]:
                ready.append(other)
    for key in starts:
        depth[key] = max(min((depth[other] for other in after[key]), default=1) - 1, 0)
    found: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for key, row in depth.items():
        found[row].append(key)
    return [row for row in found if row]


def ordered(rows: list[list[str]], edges: Sequence[Line]) -> list[list[str]]:
    """The layers with each box near the middle of those that it is joined to."""
    joined: dict[str, list[str]] = defaultdict(list)
    for line in edges:
        joined[line.begin].append(line.end)
        joined[line.end].append(line.begin)
    place = {key: at for row in rows for at, key in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            middle = {key: _mean([place[other] for other in joined[key]], place[key]) for key in row}
            row.sort(key=lambda key: middle[key])
            place.update({key: at for at, key in enumerate(row)})
    return rows


def placed(rows: Sequence[Sequence[str]], edges: Sequence[Line]) -> dict[str, tuple[float, float]]:
    """The corner of each box: under the middle of those that lead to it where there is room."""
    above: dict[str, list[str]] = defaultdict(list)
    for line in edges:
        above[line.end].append(line.begin)
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        next_free = float(GAP)
        for key in row:
            wanted = _mean([places[other][0] for other in above[key] if other in places], next_free)
            x = max(wanted, next_free)
            places[key] = x, number * LAYER + GAP
            next_free = x + WIDTH + GAP
    return places


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _edge(line: Line, places: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    (x, y), (u, v) = places[line.begin], places[line.end]
    x, y, u = x + WIDTH / 2, y + HEIGHT, u + WIDTH / 2
    middle = (y + v) / 2
    kind = ' class="bad"' if line.wrong else ""
    curve = f"M{x:.0f} {y:.0f}C{x:.0f} {middle:.0f} {u:.0f} {middle:.0f} {u:.0f} {v:.0f}"
    yield f'<path{kind} d="{curve}">{_title(line)}</path>'
    yield f'<text class="s" x="{(x + u) / 2 + 4:.0f}" y="{middle:.0f}">{escape(line.sizes)}</text>'


def _title(line: Line) -> str:
    return f"<title>{escape(' '.join(line.wrong))}</title>" if line.wrong else ""


def _box(box: Box, place: tuple[float, float]) -> Iterator[str]:
    x, y = place
    kind = f"{box.kind} wrong" if box.wrong else box.kind
    yield f'<g class="{kind}"><title>{_text(" ".join((box.title, box.name, *box.wrong)), 400)}</title>'
    yield f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
    yield f'<text x="{x + 8:.0f}" y="{y + 16:.0f}">{_text(box.title, LETTERS)}</text>'
    below = box.wrong[0] if box.wrong else box.name
    yield f'<text class="s" x="{x + 8:.0f}" y="{y + 31:.0f}">{_text(below, LETTERS + 9)}</text></g>'


def _text(text: str, most: int) -> str:
    """Text that XML can hold, cut to so many letters."""
    safe = "".join(one if one.isprintable() else "?" for one in text)
    return escape(safe if len(safe) <= most else f"{safe[: most - 1]}…")
