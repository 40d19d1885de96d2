"""The graph of a call on dask arrays: calls on pieces of its tensors. Nothing is computed."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias, cast

import dask.array as da
import numpy as np

from dmlcy._compile import function
from dmlcy._dask.arrays import DaskArray, public_dtype_of
from dmlcy._dask.call import Call
from dmlcy._facts.levels import current_level, feature_level
from dmlcy._facts.tables import DTYPES, FeatureLevelName
from dmlcy._families.pieces import Cut, Piece, bounds
from dmlcy._families.slices import part, replaced, sizes_of
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor_desc import Described
from dmlcy._runtime.threads import one_thread
from dmlcy._types import DType

Chunks: TypeAlias = Sequence[Sequence[int]]
"""The sizes of the chunks of an array along each axis."""
PIECES: Final = np.dtype([("before", np.int64), ("after", np.int64), ("size", np.int64)])


class Entry(NamedTuple):
    """A place in the value of an argument which is each piece's own: one of the columns of PIECES."""

    argument: str
    place: tuple[int, ...]
    column: str


class Work(NamedTuple):
    """The arguments of the call of each piece beside tensors; ``entries`` has those of each array of PIECES."""

    operator: str
    inputs: tuple[str, ...]
    arguments: dict[str, object]
    entries: tuple[tuple[Entry, ...], ...]
    level: FeatureLevelName
    alone: bool


class Graph:
    """The axes of the tensors of a call under labels: one for each cut, whose pieces belong together, then others.

    ``labels``: of each axis of an input or output. ``sizes``: of the pieces of the outputs, by the label of a cut.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.labels: dict[tuple[str, int], int] = {}
        self.sizes: dict[int, tuple[int, ...]] = {}
        self.columns: list[tuple[DaskArray, tuple[int, ...]]] = []  # arrays of PIECES
        self.entries: list[tuple[Entry, ...]] = []
        self.values = _values(call)
        for label, one in enumerate(call.cuts()):
            self._cut(label, one)
        self.number = itertools.count(len(self.sizes))
        self.inputs = [(self._input(name), self._index(name, x.ndim)) for name, x in call.inputs.items()]

    def _cut(self, label: int, one: Cut) -> None:
        """Cuts the inputs into the pieces of an axis."""
        call = self.call
        self.labels.update(dict.fromkeys(one.axes.items(), label))
        self.sizes[label] = tuple(piece.size for piece in one.pieces)
        inputs = {name: axis for name, axis in one.axes.items() if name in call.inputs}
        first = next(iter(inputs))
        whole = call.sizes(first)[inputs[first]]
        for name, axis in inputs.items():
            call.inputs[name] = _pieces(call.inputs[name], axis, one.pieces, whole)
        sizes = sizes_of(call.operator, self.values, one.axes, one.sized)
        entries = (*_paddings(one), *(Entry(*found, "size") for found in sizes))
        if entries:
            rows = np.array([(piece.before, piece.after, piece.size) for piece in one.pieces], PIECES)
            self.columns.append((da.from_array(rows, chunks=1), (label,)))
            self.entries.append(entries)

    def _input(self, name: str) -> DaskArray:
        """An input in pieces, of one chunk along the axes that are not cut."""
        x = self.call.inputs[name]
        for axis, chunks in enumerate(x.chunks):
            if (name, axis) not in self.labels:
                self.labels[name, axis] = next(self.number)
                if len(bounds(chunks)) > 2:
                    self.call.refuse_axis(name, axis)
                x = _pieces(x, axis, [Piece(0, x.shape[axis], 0)], x.shape[axis])
        return x

    def _index(self, name: str, rank: int) -> tuple[int, ...]:
        return tuple(self.labels[name, axis] for axis in range(rank))

    def chunks(self, name: str) -> list[tuple[int, ...]]:
        """The chunks of an output."""
        sizes = self.call.outputs[name].sizes
        return [self.sizes.get(self.labels.get((name, axis), -1), (size,)) for axis, size in enumerate(sizes)]

    def result(self) -> DaskArray | tuple[DaskArray, ...]:
        """The result of the call."""
        call = self.call
        _limit(call, [x.chunks for x, _ in self.inputs], [self.chunks(name) for name in call.outputs])
        work = functools.partial(_block, self._work())
        given = [*itertools.chain.from_iterable((*self.inputs, *self.columns))]
        if not call.several:
            return self._output(call.output, work, given)
        every = tuple(range(len(self.sizes)))
        together = da.blockwise(
            work, every, *given, token=f"dmlcy-{call.operator.python}", adjust_chunks=self.sizes,
            concatenate=False, align_arrays=False, dtype=object, meta=np.empty((0,) * len(every), object),
        )  # fmt: skip
        return tuple(
            self._output(name, functools.partial(_one, place), [together, every])
            for place, name in enumerate(call.outputs)
        )

    def _dtype(self, name: str) -> DType:
        """The data type of an output."""
        return public_dtype_of(self.call.operator.python, DTYPES[self.call.outputs[name].dtype.name])

    def _work(self) -> Work:
        call = self.call
        several = math.prod(map(len, self.sizes.values())) > 1
        return Work(call.operator.name, tuple(call.inputs), self.values, tuple(self.entries), current_level(), several)

    def _output(self, name: str, work: object, given: Sequence[object]) -> DaskArray:
        """An output, made by ``work`` piece by piece."""
        out, new = [], {}
        for axis, size in enumerate(self.call.outputs[name].sizes):
            out.append(self.labels.get((name, axis), -1))
            if out[-1] < 0:
                out[-1] = next(self.number)
                new[out[-1]] = size
        dtype = self._dtype(name)
        found: DaskArray = da.blockwise(
            work, tuple(out), *given, token=f"dmlcy-{self.call.operator.python}", new_axes=new,
            adjust_chunks=self.sizes, concatenate=False, align_arrays=False, dtype=dtype,
            meta=np.empty((0,) * len(out), dtype),
        )  # fmt: skip
        return found


def run(operator: str, arguments: Mapping[str, object]) -> DaskArray | tuple[DaskArray, ...]:
    """The result of an operator on dask arrays: a dask array, or a tuple of several."""
    return Graph(Call(operator, arguments)).result()


def _values(call: Call) -> dict[str, object]:
    """The arguments beside arrays, in types that a graph carries well. A tensor that is left out is None."""
    attributes = {field.python: _plain(call.resolved[field.python]) for field in call.operator.parameters}
    tensors = {field.python for field in call.operator.fields if field.kind == "input"}
    asked = {name: value for name, value in call.arguments.items() if name not in attributes and name not in tensors}
    for field in call.operator.fields:
        if field.sized_by is not None and asked.get(field.sized_by) is not None:
            found = cast(Described, call.resolved[field.python])
            asked[field.sized_by] = tuple(one.sizes for one in found) if isinstance(found, tuple) else found.sizes
    absent = {name: None for name in tensors if call.resolved[name] is None}
    return {**attributes, **asked, **absent}


def _plain(value: object) -> object:
    return value.name if isinstance(value, Enum) else tuple(value) if isinstance(value, tuple) else value


def _paddings(one: Cut) -> Iterator[Entry]:
    if one.padding is not None:
        yield Entry(one.padding.start, (one.padding.entry,), "before")
        yield Entry(one.padding.end, (one.padding.entry,), "after")


def _block(work: Work, *blocks: object) -> object:
    """One piece of each output: the operator on pieces of its inputs, with the entries of these pieces."""
    pieces = [_only(block) for block in blocks]
    given = dict(work.arguments)
    for entries, values in zip(work.entries, pieces[len(work.inputs) :], strict=True):
        for argument, place, column in entries:
            given[argument] = replaced(given[argument], place, values[column].item())
    for path, piece in zip(work.inputs, pieces, strict=False):
        name, several, _ = path.partition("[")
        before = given.get(name)
        given[name] = (*(before if isinstance(before, tuple) else ()), piece) if several else piece
    with feature_level(work.level), one_thread(work.alone):
        return function(work.operator)(**given)


def _one(place: int, results: object) -> object:
    """The piece of one output."""
    return _only(results)[place]


def _only(block: object) -> Any:
    """The array of a block along axes that are not in the output: lists of the one there is."""
    while isinstance(block, list):
        (block,) = block
    return block


def _pieces(x: DaskArray, axis: int, pieces: Sequence[Piece], whole: int) -> DaskArray:
    """The array with one chunk per piece along the axis; chunks that overlap come one after the other.

    The pieces are of ``whole`` elements; if the array has another number of them, they are the same parts of it.
    """
    places = [part(x.shape[axis], piece.begin, piece.end, whole) for piece in pieces]
    ends = [end for _, end in places]
    if [begin for begin, _ in places] != [0, *ends[:-1]] or ends[-1] != x.shape[axis]:
        lead = (slice(None),) * axis
        x = da.concatenate([x[(*lead, slice(begin, end))] for begin, end in places], axis)
    sizes = tuple(end - begin for begin, end in places)
    return x if x.chunks[axis] == sizes else x.rechunk({axis: sizes})


def _limit(call: Call, inputs: Sequence[Chunks], outputs: Sequence[Chunks]) -> None:
    """Refuses chunks of more elements than a tensor can have."""
    names = [*call.inputs, *(["the result"] * len(outputs))]
    for name, chunks in zip(names, [*inputs, *outputs], strict=True):
        most = math.prod(max(sizes) for sizes in chunks)
        if most > UINT_MAX:
            raise ValueError(
                f"{call.operator.python}(): a chunk of {name} would have {most} elements, and a tensor has at most "
                f"{UINT_MAX}. Rechunk {next(iter(call.inputs))} into smaller chunks."
            )
