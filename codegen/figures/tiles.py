"""Shapes, and tiles of them that are put beside and above each other."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

LINE = 17  # from one line of text to the next
FONTS = {"title": 14, "caption": 12.5, "name": 12, "attributes": 11, "worked": 11}  # sizes, as in the template
MONOSPACED = ("name", "attributes", "worked")
LETTERS = "ABCDEFGH"  # one per colour of the template
COLOURS = len(LETTERS)


@dataclass(frozen=True, slots=True)
class Shape:
    """An element of SVG."""

    tag: str
    attributes: Mapping[str, object]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of a figure: its shapes, other tiles at places in it, and the attributes that all of them share."""

    width: float
    height: float
    shapes: tuple[Shape, ...] = ()
    tiles: tuple[tuple[float, float, Tile], ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)


def xml(text: object) -> str:
    """Text as one line that is safe in XML, between quotes too."""
    line = "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return html.escape(" ".join(line.split()))


# Shapes -------------------------------------------------------------------------------------------------------------


def rect(kind: str, x: float, y: float, width: float, height: float, corner: float | None = None) -> Shape:
    """A rectangle."""
    place = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    return Shape("rect", {"class": kind, **place, **({} if corner is None else {"rx": number(corner)})})


def words(kind: str, x: float, y: float, text: str) -> Shape:
    """A line of text."""
    return Shape("text", {"class": kind, "x": number(x), "y": number(y)}, text)


def badge(colour: int, x: float, y: float) -> Iterator[Shape]:
    """The letter of a colour."""
    yield Shape("circle", {"class": f"badge c{colour}", "cx": number(x), "cy": number(y), "r": "7.5"})
    yield words("letter", x, y + 3.4, LETTERS[colour])


def tag(text: str, x: float, y: float) -> Iterator[Shape]:
    """A label on a dark ground."""
    width = 6 * len(text) + 8
    yield rect("tag", x - width / 2, y - 7, width, 14, 3)
    yield words("letter", x, y + 3.4, text)


def number(value: float) -> str:
    """A length as it is written."""
    return f"{round(value, 2):g}"


# Tiles --------------------------------------------------------------------------------------------------------------


def beside(tiles: Sequence[Tile], gap: float, down: float = 0) -> Tile:
    """Tiles in a row: their heads on one line (``down`` is 0), their middles (0.5) or their feet (1)."""
    height, x, placed = max(tile.height for tile in tiles), 0.0, []
    for tile in tiles:
        placed.append((x, (height - tile.height) * down, tile))
        x += tile.width + gap
    return Tile(x - gap, height, (), tuple(placed))


def above(tiles: Sequence[Tile], gap: float, right: float = 0) -> Tile:
    """Tiles in a column: their left sides on one line (``right`` is 0), or their middles (0.5)."""
    width, y, placed = max(tile.width for tile in tiles), 0.0, []
    for tile in tiles:
        placed.append(((width - tile.width) * right, y, tile))
        y += tile.height + gap
    return Tile(width, y - gap, (), tuple(placed))


def in_columns(tiles: Sequence[Tile], columns: int, gap: float) -> Tile:
    """Tiles in rows of so many: the feet of a row on one line, the left sides of a column too."""
    wide = [max(tile.width for tile in tiles[column::columns]) for column in range(min(columns, len(tiles)))]
    even = [replace(tile, width=wide[index % columns]) for index, tile in enumerate(tiles)]
    return above([beside(even[start : start + columns], gap, 1) for start in range(0, len(tiles), columns)], gap)


def paragraph(kind: str, pieces: Iterable[str], width: float) -> Tile:
    """Text in lines of at most that width; a line ends between two pieces, or in one that is too long itself."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and length(kind, f"{lines[-1]} {piece}") > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {piece}".strip()
        while length(kind, lines[-1]) > width and len(lines[-1]) > 1:
            fit = max([1, *(n for n in range(len(lines[-1])) if length(kind, lines[-1][:n]) <= width)])
            lines[-1:] = [lines[-1][:fit], lines[-1][fit:]]
    shapes = tuple(words(kind, 0, LINE * row + 12, line) for row, line in enumerate(lines))
    return Tile(max(length(kind, line) for line in lines), LINE * len(lines), shapes)


def length(kind: str, text: str) -> float:
    """The width of a line of text, in a wide font."""
    size = FONTS[kind]
    if kind in MONOSPACED:
        return len(text) * size * 0.61
    return sum(0.8 if c.isupper() else 0.36 if c in " .,:;|!'ijl()" else 0.64 for c in text) * size
