"""A tensor of an example as grids of cells, one per plane, with what is coloured and framed in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ..families.base import Place, Region, grid, inside, shown
from .shown import Shown
from .tiles import Shape, Tile, above, badge, in_columns, number, paragraph, rect, tag, words

BETWEEN = 12  # planes
ABOVE = 17  # a plane: room for its index


def split(place: Place) -> tuple[Place, int, int]:
    """A place as that of its plane, its row and its column."""
    return (place[:-2], place[-2], place[-1]) if len(place) > 1 else ((), 0, place[0])


def one_box(places: Sequence[Place]) -> bool:
    """Whether places fill a rectangle of one plane."""
    planes, rows, columns = (set(part) for part in zip(*map(split, places), strict=True))
    covered = (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)
    return len(planes) == 1 and covered == len(set(places))


def divisors(count: int) -> list[int]:
    """The number of columns for so many tiles."""
    return [divisor for divisor in range(1, count + 1) if count % divisor == 0]


class Drawing:
    """How a tensor is drawn: ``colours`` has the places of each colour; ``letters`` marks them by letters too."""

    def __init__(
        self, shown_: Shown, name: str, side: float, colours: Sequence[Sequence[Place]], letters: bool
    ) -> None:
        self.use, self.picture, self.name, self.side = shown_.use, shown_.picture, name, side
        self.colours, self.letters = colours, letters
        self.sizes = self.use.sizes(name)
        read = [place for sources in self.picture.sources.values() for place in sources]
        drawn = [*grid(self.sizes), *(read if name == self.use.input else ())]
        planes, rows, columns = zip(*map(split, drawn), strict=True)
        self.planes = sorted(set(planes))
        self.rows, self.columns = range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1)
        self.width = max(side, max(len(self.value(place)) for place in drawn) * side * 0.27 + 10)

    def value(self, place: Place) -> str:
        """The content of a cell."""
        if inside(place, self.sizes):
            return shown(self.use.element(self.name, place))
        return "" if self.picture.padding is None else shown(self.picture.padding)

    def is_padding(self, place: Place) -> bool:
        """Whether a cell is padding: of the input, or in the output."""
        return not inside(place, self.sizes) or (self.name == self.use.output and place in self.picture.outside)

    def tile(self, room: float | None) -> Tile:
        """Its name and sizes above its planes; with ``room`` centred and as wide as that allows, else about square."""
        sizes = f"({', '.join(map(str, self.sizes))}{',' if len(self.sizes) == 1 else ''})"
        name = paragraph("name", [f"{self.name} {sizes}"], 1e9)
        tries = [in_columns(self.tiles, columns, BETWEEN) for columns in divisors(len(self.tiles))]
        if room is None:
            return above([name, min(tries, key=lambda tile: abs(tile.width - tile.height))], 6)
        fitting = [tile for tile in tries if tile.width <= room] or tries[:1]
        return above([name, max(fitting, key=lambda tile: tile.width)], 6, 0.5)

    @cached_property
    def tiles(self) -> list[Tile]:
        """The planes."""
        return [self.plane(lead) for lead in self.planes]

    def plane(self, lead: Place) -> Tile:
        """The grid of a plane, below its index if there are several."""
        places = [self.place(lead, row, column) for row in self.rows for column in self.columns]
        here = [[place for place in own if split(place)[0] == lead] for own in self.colours]
        shapes = (*self.cells(places, here), *self.marks(lead, here))
        size = len(self.columns) * self.width, len(self.rows) * self.side
        cells = Tile(*size, shapes, attributes={"font-size": number(self.side * 0.44)})
        if len(self.planes) == 1:
            return cells
        index = words("plane", 0, 8, f"[{', '.join(map(str, lead))}]")
        return Tile(cells.width, cells.height + ABOVE, (index,), ((0, ABOVE, cells),))

    def place(self, lead: Place, row: int, column: int) -> Place:
        """The place in a row and a column of a plane."""
        return (*lead, row, column) if len(self.sizes) > 1 else (column,)

    def box(self, places: Sequence[Place]) -> tuple[float, float, float, float]:
        """x, y, width and height of what some places cover."""
        _, rows, columns = zip(*map(split, places), strict=True)
        x, y = (min(columns) - self.columns.start) * self.width, (min(rows) - self.rows.start) * self.side
        return x, y, (max(columns) - min(columns) + 1) * self.width, (max(rows) - min(rows) + 1) * self.side

    def cells(self, places: Sequence[Place], here: Sequence[Sequence[Place]]) -> Iterator[Shape]:
        """The cells with their values, in equal parts of their colours."""
        for place in places:
            x, y, width, height = self.box([place])
            pale = " pale" if self.is_padding(place) else ""
            yield rect("padding" if pale else "cell", x, y, width, height)
            of = [colour for colour, own in enumerate(here) if place in own]
            for part, colour in enumerate(of):
                yield rect(f"fill c{colour}{pale}", x + part * width / len(of), y, width / len(of), height)
            value = self.value(place)
            if value:
                yield words(f"value{pale}", x + width / 2, y + height * 0.655, value)

    def marks(self, lead: Place, here: Sequence[Sequence[Place]]) -> Iterator[Shape]:
        """Outlines of the colours, frames of the regions, and their letters and labels over them."""
        for colour, own in enumerate(here):
            inset = 1.5 + 3 * sum(not set(own).isdisjoint(other) for other in here[:colour])
            together = bool(own) and one_box(own)
            for x, y, width, height in [self.box(own)] if together else [self.box([place]) for place in own]:
                kind = f"outline c{colour}" if together else f"outline thin c{colour}"
                yield rect(kind, x + inset, y + inset, width - 2 * inset, height - 2 * inset, 3)
        frames = [(self.box(region.parts[self.name]), region.label) for region in self.regions(lead)]
        for box, _ in frames:
            yield rect("frame", *box)
        for colour, own in enumerate(here):
            if own and self.letters:
                x, y, _, _ = self.box(own)
                yield from badge(colour, x + 0.5, y + 0.5)
        for (x, y, width, height), label in frames:
            if label:
                yield from tag(label, x + width + 3, y + height / 2)

    def regions(self, lead: Place) -> list[Region]:
        """The regions that have a frame in a plane."""
        known = [region for region in self.picture.regions if self.name in region.parts]
        return [region for region in known if split(region.parts[self.name][0])[0] == lead]
