"""How a window slides over a tensor, for the families that have windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dmlcy._facts.rows import Operator
from dmlcy._families.given import Kernel
from dmlcy._families.pieces import Cut, Cutting, Padding, Piece, bounds
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._types import Array

Slices = Any  # a tuple of slices


@dataclass(frozen=True, slots=True)
class WindowRoles:
    """The input of an operator, and the names of the fields and lets that say how a window slides.

    Without ``blocks`` the spatial axes of the output are the positions; with it the last axis is, row-major.
    """

    input: str
    spatial: str
    window: str
    strides: str
    dilations: str | None
    start: str
    end: str
    blocks: str | None


def roles_of(operator: Operator) -> WindowRoles:
    """The roles in ``[kernel]`` of an operator that has a window."""
    told = operator.definition.roles
    first = next(field.python for field in operator.fields if field.kind == "input")
    names = (told["spatial"], told["window"], told["strides"], told.get("dilations"), told["start"], told["end"])
    return WindowRoles(first, *names, told.get("blocks"))


@dataclass(frozen=True, slots=True)
class Slide:
    """A window along each spatial axis.

    Attributes
    ----------
    limits
        Sizes of the tensor over which the window slides.
    sizes, strides, dilations, start, end
        Of the window, between positions, between elements, and of the padding before and after the tensor.
    blocks
        Positions, where the spec has a let for them.
    """

    limits: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]
    blocks: tuple[int, ...] | None

    def first(self, position: Sequence[int]) -> tuple[int, ...]:
        """The place of the first element of the window at a position; negative in the padding."""
        return tuple(i * step - before for i, step, before in zip(position, self.strides, self.start, strict=True))

    def inside(self, position: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The elements of the window that are not padding, row-major: their number in it, their place in the input."""
        axes = []
        for first, size, dilation, limit in zip(
            self.first(position), self.sizes, self.dilations, self.limits, strict=True
        ):
            axes.append([(tap, first + tap * dilation) for tap in numbers_inside(first, dilation, size, limit)])
        for axis_taps in itertools.product(*axes):
            number = 0
            for size, (tap, _) in zip(self.sizes, axis_taps, strict=True):
                number = number * size + tap
            yield number, tuple(place for _, place in axis_taps)

    def taps(self, positions: Sequence[int]) -> Iterator[tuple[int, Slices, Slices]]:
        """The elements of the window that are not padding at some position: the number of each, row-major.

        And, with slices along each axis, the positions at which it is no padding, and its places in the input there.
        ``positions``: how many there are along each axis.
        """
        axes = [list(self._along(d, count)) for d, count in enumerate(positions)]
        for taps in itertools.product(*axes):
            number = 0
            for size, (tap, _, _) in zip(self.sizes, taps, strict=True):
                number = number * size + tap
            yield number, tuple(one for _, one, _ in taps), tuple(one for _, _, one in taps)

    def _along(self, d: int, count: int) -> Iterator[tuple[int, slice, slice]]:
        """The elements of the window along one axis; a window may be much longer than what it has inside."""
        stride, dilation, start, limit = self.strides[d], self.dilations[d], self.start[d], self.limits[d]
        taps: Sequence[int] = range(self.numbers(d, count - 1).start, self.numbers(d, 0).stop)
        if len(taps) > count:  # there may be none in most of them
            inside = (self.numbers(d, position) for position in range(count))
            taps = sorted({tap for some in inside for tap in some})
        for tap in taps:
            place = tap * dilation - start
            positions = slice(max(0, -(place // stride)), min(count, (limit - 1 - place) // stride + 1))
            if positions.start < positions.stop:
                begin, end = (place + position * stride for position in (positions.start, positions.stop - 1))
                yield tap, positions, slice(begin, end + 1, stride)

    def touched(self, marks: Array, positions: tuple[int, ...]) -> Array:
        """At which positions a marked element is under the window; axes before the spatial ones are kept."""
        found: Array = np.zeros((*marks.shape[: -len(self.sizes)], *positions), np.bool_)
        for _, under, places in self.taps(positions):
            found[(..., *under)] |= marks[(..., *places)]
        return found

    def under(self, marks: Array) -> Array:
        """Which elements are under the window at a marked position."""
        count = len(self.sizes)
        found: Array = np.zeros((*marks.shape[:-count], *self.limits), np.bool_)
        for _, under, places in self.taps(marks.shape[-count:]):
            found[(..., *places)] |= marks[(..., *under)]
        return found

    def counts(self, positions: Sequence[int]) -> Array:
        """How many elements of the window are no padding at each position."""
        found: Array = np.ones((1,) * len(positions), np.int64)
        for d, count in enumerate(positions):
            along = np.array([len(self.numbers(d, position)) for position in range(count)], np.int64)
            found = found * along.reshape([-1 if k == d else 1 for k in range(len(positions))])
        return found

    def beyond(self, positions: Sequence[int]) -> Array:
        """Whether the window reaches past the end padding at each position."""
        found: Array = np.zeros((1,) * len(positions), np.bool_)
        for d, count in enumerate(positions):
            last = np.arange(count) * self.strides[d] - self.start[d] + self.dilations[d] * (self.sizes[d] - 1)
            shape = [-1 if k == d else 1 for k in range(len(positions))]
            found = found | (last >= self.limits[d] + self.end[d]).reshape(shape)
        return found

    def numbers(self, d: int, position: int) -> range:
        """The elements of the window at a position along an axis that are not padding, by their numbers."""
        first = position * self.strides[d] - self.start[d]
        return numbers_inside(first, self.dilations[d], self.sizes[d], self.limits[d])


def numbers_inside(first: int, step: int, count: int, limit: int) -> range:
    """The numbers of the places inside an axis of ``limit`` elements, of ``count`` places from ``first`` on."""
    return range(max(0, -(first // step)), min(count, (limit - 1 - first) // step + 1))


def slide(kernel: Kernel, image: tuple[int, ...]) -> Slide:
    """The window of a use; ``image``: the sizes of the tensor that the window slides over, its last axes."""
    roles = roles_of(kernel.operator)
    count = kernel.number(roles.spatial)
    return Slide(
        image[-count:],
        kernel.numbers(roles.window, count),
        kernel.numbers(roles.strides, count),
        kernel.numbers(roles.dilations, count) if roles.dilations else (1,) * count,
        kernel.numbers(roles.start, count),
        kernel.numbers(roles.end, count),
        kernel.numbers(roles.blocks, count) if roles.blocks else None,
    )


def cut_positions(use: Cutting) -> Iterator[Cut]:
    """Each spatial axis of an output that has one element for each position."""
    roles = roles_of(use.kernel.operator)
    window = slide(use.kernel, use.sizes(use.input))
    lead = len(use.sizes(use.input)) - len(window.sizes)
    for d in range(len(window.sizes)):
        pieces = pieces_under(window, d, use.chunks(use.input, lead + d), use.sizes(use.output)[lead + d])
        axes = {use.input: lead + d, use.output: lead + d}
        yield Cut(axes, pieces, Padding(roles.start, roles.end, d))


def cut_columns(use: Cutting) -> Iterator[Cut]:
    """The first spatial axis, if the positions are row-major along the last axis of the output."""
    roles = roles_of(use.kernel.operator)
    window = slide(use.kernel, use.sizes(use.input))
    assert window.blocks is not None
    lead = len(use.sizes(use.input)) - len(window.sizes)
    if len(window.sizes) > 1:
        use.merge_rows(use.input, lead)
    rest = math.prod(window.blocks[1:])
    pieces = pieces_under(window, 0, use.chunks(use.input, lead), window.blocks[0])
    wide = [Piece(p.begin, p.end, p.size * rest, p.before, p.after) for p in pieces]
    axes = {use.input: lead, use.output: len(use.sizes(use.output)) - 1}
    yield Cut(axes, wide, Padding(roles.start, roles.end, 0))


def pieces_under(window: Slide, d: int, chunks: Sequence[int], positions: int) -> list[Piece]:
    """The pieces along spatial axis ``d`` of a tensor in these chunks, of so many positions."""
    extent = window.dilations[d] * (window.sizes[d] - 1) + 1
    return pieces_of(chunks, extent, window.strides[d], window.start[d], window.end[d], positions)


def pieces_of(chunks: Sequence[int], extent: int, stride: int, before: int, after: int, positions: int) -> list[Piece]:
    """An axis under a window: its positions belong to the chunk in which they begin, and read over its end.

    The last position may reach past the padding: its piece is asked for one more than fit.
    """
    ends = bounds(chunks)[1:]
    size = ends[-1]

    def piece(first: int, last: int) -> Piece:
        begin, end = first * stride - before, (last - 1) * stride - before + extent
        behind = min(max(end - size, 0), max(after, begin + extent - size))  # the first window is whole
        return Piece(max(begin, 0), min(end, size), last - first, max(-begin, 0), behind)

    starts: list[int] = [0]  # the first positions of the pieces
    for end in ends[:-1]:
        last = min(-(-(end + before) // stride), positions)
        if last > starts[-1] and _reads(piece(starts[-1], last)) and _reads(piece(last, positions)):
            starts.append(last)
    if len(starts) == 1:
        return [Piece(0, size, positions, before, after)]
    return [piece(first, last) for first, last in itertools.pairwise([*starts, positions])]


def _reads(piece: Piece) -> bool:
    """Whether a window of the piece lies not in the padding alone: an operator takes no empty tensor, and a UINT."""
    return piece.size > 0 and piece.begin < piece.end and piece.after <= UINT_MAX
