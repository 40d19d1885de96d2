"""A whole figure: panels of inputs and outputs, with their titles above them and the caption below."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any

from ..families.base import inside
from ..plan import OperatorPlan
from .shown import Shown, examples
from .tensors import Drawing, divisors, one_box
from .tiles import Shape, Tile, above, badge, beside, in_columns, length, paragraph, rect, words

WIDTH, HEIGHT = 528, 640  # that a panel has at most, if it can
CELLS = (32, 30, 28, 26, 24)  # sides of a cell, the best one first
MARGIN, GAP = 18, 18
CALCULATION = 400  # how wide a line of a calculation can be, before it goes on in another
WORD = 260  # how wide a word of a heading can be before it is broken
ARROWS = {  # by whether it points down: its size, its line and its head
    False: (36, 14, "M4 7H30", "M28 1L36 7L28 13Z"),
    True: (14, 28, "M7 0V22", "M1 20L7 28L13 20Z"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """The parts that the template lays out."""

    title: str
    text: str
    tile: Tile


Drawings = tuple[list[Drawing], list[list[Drawing]]]  # of the inputs, and of the outputs of each example


@dataclass(frozen=True, slots=True)
class Layout:
    """How a panel is laid out."""

    columns: int  # of outputs
    down: bool  # outputs are below the inputs, not beside them
    under: bool  # values that are worked out are below their output


def figure(op: OperatorPlan) -> Figure:
    """The figure of an operator."""
    every = examples(op)
    named = telling(op, every)
    panels = [panel(op, list(items), named) for _, items in groupby(every, key=lambda item: item.before)]
    body = above(panels, 1.6 * GAP)
    caption = sentences(every)
    inner = above([body, paragraph("caption", " ".join(caption).split(), max(body.width, 300))], GAP)
    width, height = inner.width + 2 * MARGIN, inner.height + 2 * MARGIN
    card = rect("card", 0.5, 0.5, width - 1, height - 1, 10)
    text = " ".join([*caption, *map(described, every)])
    return Figure(f"{op.name}: {op.operator.summary}", text, Tile(width, height, (card,), ((MARGIN, MARGIN, inner),)))


# Text ---------------------------------------------------------------------------------------------------------------


def sentences(items: Sequence[Shown]) -> list[str]:
    """How a figure is to be read."""
    found = [*dict.fromkeys(sentence for item in items for sentence in item.picture.caption)]
    return found + (["Dashed cells are padding."] if any(map(padded, items)) else [])


def padded(item: Shown) -> bool:
    """Whether padding is to be seen."""
    sizes = item.use.sizes(item.use.input)
    read = (place for sources in item.picture.sources.values() for place in sources)
    return bool(item.picture.outside) or not all(inside(place, sizes) for place in read)


def described(item: Shown) -> str:
    """An example in words, for readers who cannot see it: how the coloured elements were computed."""
    lines = [item.picture.worked[place] for _, place in worked(item)]
    return f"{item.example.title}: {'; '.join(lines)}." if lines else f"{item.example.title}."


def worked(item: Shown) -> list[tuple[int, tuple[int, ...]]]:
    """The elements of which there is to be said how they are computed, with their colours."""
    places = [(colour, place) for colour, group in enumerate(item.groups) for place in group.outputs]
    return [(colour, place) for colour, place in places if place in item.picture.worked]


def telling(op: OperatorPlan, items: Sequence[Shown]) -> set[str]:
    """The attributes that some example does not leave as they are by default."""
    found = set()
    for attribute, item in product(op.attributes, items):
        value = item.example.attributes.get(attribute.python, attribute.field.default)
        if any(entry != attribute.field.default for entry in (value if isinstance(value, list) else [value])):
            found.add(attribute.python)
    return found


def attributes(op: OperatorPlan, items: Sequence[Shown], named: Collection[str]) -> tuple[list[str], list[list[str]]]:
    """The named attributes that all examples share, and the others of each example."""
    given = []
    for item in items:
        own = item.example.attributes
        given.append(
            [f"{a.python}={python(own[a.python])}" for a in op.attributes if a.python in named and a.python in own]
        )
    common = [text for text in given[0] if all(text in texts for texts in given)]
    return common, [[text for text in texts if text not in common] for texts in given]


def python(value: Any) -> str:
    """An attribute as it is given in Python."""
    if isinstance(value, list):
        return f"({', '.join(map(python, value))}{',' if len(value) == 1 else ''})"
    return f'"{value}"' if isinstance(value, str) else repr(value)


# Panels -------------------------------------------------------------------------------------------------------------


def panel(op: OperatorPlan, items: Sequence[Shown], named: Collection[str]) -> Tile:
    """The inputs that some examples share, and the output of each: with the largest cells that have room."""
    tries: list[Tile] = []
    under = (False, True) if any(map(worked, items)) else (False,)
    for side in CELLS:
        drawings = drawn(op, items, side)
        layouts = product(divisors(len(items)), (False, True), under)
        tries = [arrange(op, items, named, drawings, Layout(*layout)) for layout in layouts]
        fitting = [tile for tile in tries if tile.width <= WIDTH and tile.height <= HEIGHT]
        if fitting:
            return min(fitting, key=lambda tile: tile.height + tile.width / 2)
    return min(tries, key=lambda tile: max(tile.width / WIDTH, tile.height / HEIGHT))


def drawn(op: OperatorPlan, items: Sequence[Shown], side: int) -> Drawings:
    """The inputs that some examples share, and the output of each, with cells of this side."""
    first = items[0]
    letters = all(
        one_box(places) for item in items for group in item.groups for places in (group.inputs, group.outputs) if places
    )
    inputs = []
    given = first.example.inputs
    for name in (name for field in op.inputs for name in given if name.partition("[")[0] == field.python):
        own = name == first.use.input
        colours = [group.inputs if own else group.beside.get(name, ()) for group in first.groups]
        inputs.append(Drawing(first, name, side, colours, letters))
    outputs = []
    for item in items:
        coloured = {name: [group.beside.get(name, ()) for group in item.groups] for name in item.picture.beside}
        coloured[item.use.output] = [group.outputs for group in item.groups]
        names = (name for name in item.example.outputs if name in coloured)
        outputs.append([Drawing(item, name, side, coloured[name], letters) for name in names])
    return inputs, outputs


def arrange(
    op: OperatorPlan, items: Sequence[Shown], named: Collection[str], drawings: Drawings, layout: Layout
) -> Tile:
    """A panel laid out in one way."""
    single = len(items) == 1
    last = single and layout.down and layout.under  # the calculation, below the tensors, which stay in their middle
    common, own = attributes(op, items, named)
    outputs: list[Tile] = []
    for item, of_item in zip(items, drawings[1], strict=True):
        output, *others = (drawing.tile(None) for drawing in of_item)
        output = above([output, *others], GAP) if others else output
        if worked(item) and not last:
            output = (above if layout.under else beside)([output, calculation(item)], GAP)
        outputs.append(output)
    if not single:
        outputs = titled(outputs, [item.example.title for item in items], own, layout.columns)
    right = in_columns(outputs, layout.columns, 1.4 * GAP)
    inputs = [drawing.tile(right.width if layout.down else None) for drawing in drawings[0]]
    left, arrow = above(inputs, GAP), pointer(layout.down)
    if layout.down:
        row = above([left, arrow, right], 12, 0.5)
        row = above([row, calculation(items[0])], GAP) if last and worked(items[0]) else row
    elif single:  # the names of the tensors on one line, the arrow between their grids
        least = min(inputs[0].height, outputs[0].height)
        row = beside([left, above([Tile(0, least / 2), arrow], 0), right], 12)
    else:
        row = beside([left, arrow, right], 12, 0.5)
    return above([heading(items[0].example.title if single else "", common, max(row.width, 400)), row], 14)


def titled(tiles: Sequence[Tile], titles: Sequence[str], lines: Sequence[Sequence[str]], columns: int) -> list[Tile]:
    """Tiles below their headings, which are of the same height in a row."""
    heads = [heading(title, own, tile.width) for tile, title, own in zip(tiles, titles, lines, strict=True)]
    rows = [heads[start : start + columns] for start in range(0, len(heads), columns)]
    even = [replace(head, height=max(one.height for one in row)) for row in rows for head in row]
    return [above([head, tile], 8) for head, tile in zip(even, tiles, strict=True)]


def heading(title: str, attributes: Sequence[str], width: float) -> Tile:
    """The title of an example and its attributes."""
    pieces = {"title": title.split(), "attributes": [*(f"{text}," for text in attributes[:-1]), *attributes[-1:]]}
    longest = max((length(kind, text) for kind, texts in pieces.items() for text in texts), default=0)
    parts = [paragraph(kind, texts, max(width, min(longest, WORD))) for kind, texts in pieces.items() if texts]
    return above(parts, 2) if parts else Tile(0, 0)


def calculation(item: Shown) -> Tile:
    """How the coloured elements are computed, a line each."""
    lines = []
    for colour, place in worked(item):
        text = item.picture.worked[place]
        if length("worked", text) <= CALCULATION:
            lines.append(Tile(22 + length("worked", text), 20, (*badge(colour, 8, 10), words("worked", 22, 14, text))))
        else:
            terms = above([Tile(0, 2), paragraph("worked", re.split(r"(?<= [+]) ", text), CALCULATION)], 0)
            lines.append(beside([Tile(16, 20, tuple(badge(colour, 8, 10))), terms], 6))
    return above(lines, 3)


def pointer(down: bool) -> Tile:
    """The arrow from the inputs to the outputs."""
    width, height, line, head = ARROWS[down]
    shapes = (Shape("path", {"class": "line", "d": line}), Shape("path", {"class": "head", "d": head}))
    return Tile(width, height, shapes)
