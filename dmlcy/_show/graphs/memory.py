"""The memory of a run as a picture: steps from left to right, the bytes of the arena from bottom to top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from dmlcy._graph.model import Structure
from dmlcy._graph.places import places_of
from dmlcy._graph.plan import plan_of
from dmlcy._graph.residents import Resident, residents
from dmlcy._show.graphs.parts import printable
from dmlcy._show.graphs.svg import fitted, head

LEFT: Final = 84
TOP: Final = 44
BOTTOM: Final = 44
RIGHT: Final = 24
HIGH: Final = 480
"""Pixels of the arena."""
WIDE: Final = 1400
"""Pixels of all steps, about."""
STEP: Final = (1.0, 44.0)
"""Pixels of a step, the least and the most."""
LINES: Final = 4
"""Parts into which lines divide the height."""
NUMBERS: Final = 20
"""Steps with a number, at most about."""
LETTERS: Final = 12
"""Pixels of a rectangle with its name in it, at least."""
KINDS: Final = 6
"""Colours."""
STYLE: Final = (
    "text{font:11px sans-serif;fill:#222}.s{font-size:9px;fill:#555}rect.bg{fill:#fff;stroke:none}"
    "rect{stroke:#fff;stroke-width:.7}.g{stroke:#ddd;fill:none}.live{stroke:#c0392b;stroke-width:1.6;fill:none}"
    ".live text{stroke:none}.k0{fill:#a6cee3}.k1{fill:#b2df8a}.k2{fill:#fdbf6f}.k3{fill:#cab2d6}.k4{fill:#ffe48a}"
    ".k5{fill:#9fd6cb}"
)
DARK: Final = (
    "text{fill:#e4e4e4}.s{fill:#b4b4b4}rect.bg{fill:#17191d}rect{stroke:#17191d}.g{stroke:#3a3d44}"
    ".live{stroke:#ff8a7a}.k0{fill:#2f5b78}.k1{fill:#3f6a26}.k2{fill:#87561a}.k3{fill:#5f4a78}.k4{fill:#6f6220}"
    ".k5{fill:#2b675d}"
)


def lines(graph: Structure) -> Iterator[str]:
    """The lines of the file, of a valid graph."""
    values, arena = residents(graph), places_of(graph).arena
    plan = plan_of(graph, by_reference=False)
    steps = sum(not step.folded for step in plan.steps)
    wide = min(max(WIDE / max(steps, 1), STEP[0]), STEP[1])
    right = max(LEFT + wide * steps, LEFT + WIDE / 3)
    yield from head(right + RIGHT, TOP + HIGH + BOTTOM, STYLE, DARK)
    said = (
        f"arena {arena:,} bytes, {len(values)} values, {steps} steps; results of their own {plan.results:,}, "
        f"constants {plan.constants:,}, peak of a run {plan.peak:,} bytes"
    )
    yield f'<text x="{LEFT}" y="18">{said}</text>'
    yield f'<text class="s" x="{LEFT}" y="33">a rectangle: a value, from the step that writes it to the last one that '
    yield "reads it, at its place in the arena; the line: bytes of the values that there are</text>"
    yield from _grid(arena, steps, wide, right)
    for place, one in enumerate(values):
        yield from _value(one, place, values, arena, wide)
    if values:
        yield f'<path class="live" d="{_live(values, arena, steps, wide)}"/>'
    yield "</svg>"


def _y(byte: float, arena: int) -> float:
    return TOP + HIGH * (1 - byte / max(arena, 1))


def _grid(arena: int, steps: int, wide: float, right: float) -> Iterator[str]:
    """Lines with bytes, and the numbers of some steps."""
    for part in range(LINES + 1):
        y = _y(arena * part / LINES, arena)
        yield f'<path class="g" d="M{LEFT} {y:.1f}H{right:.1f}"/>'
        yield f'<text class="s" x="{LEFT - 6}" y="{y + 3:.1f}" text-anchor="end">{arena * part // LINES:,}</text>'
    every = max(1, -(-steps // NUMBERS))
    for step in range(0, steps, every):
        x = LEFT + wide * (step + 0.5)
        yield f'<text class="s" x="{x:.1f}" y="{TOP + HIGH + 14}" text-anchor="middle">{step}</text>'
    yield f'<text class="s" x="{LEFT}" y="{TOP + HIGH + 30}">step</text>'


def _value(one: Resident, place: int, values: Sequence[Resident], arena: int, wide: float) -> Iterator[str]:
    """The rectangle of a value, with its name if there is room before the next one that is written over it."""
    x, y = LEFT + wide * one.first, _y(one.offset + one.bytes, arena)
    width, height = wide * (one.last + 1 - one.first), HIGH * one.bytes / max(arena, 1)
    title = f'"{one.name}" of node {one.port.node} {one.operator}: {one.bytes:,} bytes at {one.offset:,}, '
    title += f"steps {one.first} to {one.last}"
    yield f"<g><title>{escape(printable(title, 400), False)}</title>"
    size = f'width="{width:.1f}" height="{max(height, 0.5):.2f}"'
    yield f'<rect class="k{place % KINDS}" x="{x:.1f}" y="{y:.1f}" {size}/>'
    if height >= LETTERS and width >= 2 * LETTERS:
        seen = wide * (min(_covers(one, values), one.last + 1) - one.first)
        words = fitted(one.name, 9, seen - 6)
        yield f'<text class="s" x="{x + 3:.1f}" y="{y + height / 2 + 3:.1f}">{words}</text>'
    yield "</g>"


def _covers(one: Resident, values: Sequence[Resident]) -> int:
    """The step that writes over some of a value, as far as the picture shows it; that behind all steps if none does."""
    return min(
        (
            other.first
            for other in values
            if one.first < other.first <= one.last
            and other.offset < one.offset + one.bytes
            and one.offset < other.offset + other.bytes
        ),
        default=one.last + 1,
    )


def _live(values: Sequence[Resident], arena: int, steps: int, wide: float) -> str:
    """The bytes of the values that there are at each step; those in one place count once."""
    starts: dict[int, list[Resident]] = {}
    for one in values:
        starts.setdefault(one.first, []).append(one)
    there: list[Resident] = []
    way: list[str] = []
    for step in range(steps):
        there = [one for one in there if one.last >= step] + starts.get(step, [])
        total = end = 0
        for begin, stop in sorted((one.offset, one.offset + one.bytes) for one in there):
            total += max(0, stop - max(begin, end))
            end = max(end, stop)
        y = _y(total, arena)
        way.append(f"{'V' if way else f'M{LEFT} '}{y:.1f}H{LEFT + wide * (step + 1):.1f}")
    return "".join(way)
