"""A call of an operator on dask arrays: checked as a whole, then a graph of calls on pieces. Nothing is computed."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import dask.array as da
import numpy as np

from dmlcy._check.checker import Check
from dmlcy._dask.pieces import Piece, bounds, cut, pad, slide
from dmlcy._errors import raise_violations
from dmlcy._facts.levels import LEVEL, current_level, feature_level
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import DTYPES, OPERATORS, FeatureLevelName, function
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._runtime.tensor import to_array
from dmlcy._runtime.threads import one_thread

PADDING: Final = np.dtype([("before", np.int64), ("after", np.int64)])


@dataclass(frozen=True, slots=True)
class Cut:
    """An axis of some tensors, and the pieces of it; ``entry``: of the paddings, where pieces have their own."""

    axes: dict[str, int]
    pieces: Sequence[Piece]
    entry: int | None = None


class Call:
    """The arguments of one call, with what follows from them."""

    def __init__(self, name: str, arguments: Mapping[str, object]) -> None:
        self.operator: Operator = OPERATORS[name]
        tensors = [field for field in self.operator.fields if field.kind == "input"]
        for role in arguments.keys() - {field.python for field in tensors}:
            if _is_dask(arguments[role]):
                raise TypeError(f"{self.operator.python}(): {role} is a dask array. Pass {role}.compute().")
        given = {field.python: self._tensor(field, arguments[field.python]) for field in tensors}
        described = {name: TensorDesc(x.dtype, x.shape) if _is_dask(x) else x for name, x in given.items()}
        found = Check(self.operator, {**arguments, **described}, LEVEL.get(), call=True, limited=False)
        if found.violations:
            raise_violations(found.violations, self.operator.python)
        self.rules: Any = found.rules
        self.resolved = found.resolved
        self.ones = {name: len(found.tensors[name].sizes) - x.ndim for name, x in given.items()}
        self.inputs = {name: x[(None,) * self.ones[name]] for name, x in given.items()}
        self.output: Field = next(field for field in self.operator.fields if field.kind == "output")
        self.desc: Any = found.resolved[self.output.python]

    def _tensor(self, field: Field, value: Any) -> Any:
        """The dask array itself, or one of what else is an array; anything else is for the checks to refuse."""
        if not _is_dask(value):
            array = to_array(value)
            return value if array is None else da.from_array(array, chunks=-1)
        if isinstance(value._meta, np.ma.MaskedArray):
            raise TypeError(
                f"{self.operator.python}(): {field.python} is masked. Pass da.ma.filled({field.python}, …)."
            )
        for axis, chunks in enumerate(value.chunks):
            if any(math.isnan(size) for size in chunks):
                raise ValueError(
                    f"{self.operator.python}(): {field.python} has chunks of unknown size along axis {axis}. "
                    f"Call {field.python}.compute_chunk_sizes() first."
                )
        return value

    def cuts(self) -> Iterator[Cut]:
        """Every axis that can be cut: those that the spec declares, then those of windows and of padding."""
        done = set()
        for one in itertools.chain(self._independent(), self._window(), self._padded()):
            key = (self.output.python, one.axes[self.output.python])
            if key not in done:
                done.add(key)
                yield one

    def _independent(self) -> Iterator[Cut]:
        for one in self.operator.independent:
            for index in [()] if one.domain is None else [(d,) for d in range(one.domain(self.rules))]:
                if one.when is None or one.when(self.rules, *index):
                    axes = {name: int(axis(self.rules, *index)) for name, axis in one.axes.items()}
                    first = next(name for name in axes if name in self.inputs)
                    chunks = self.inputs[first].chunks[axes[first]]
                    yield Cut(axes, cut(chunks, one.takes(self.rules, *index), one.gives(self.rules, *index)))

    def _entries(self, name: str, count: int) -> list[int]:
        """The entries of a field or of a let with an index."""
        values = getattr(self.rules, name)
        return [int(values(d) if callable(values) else values[d]) for d in range(count)]

    def _window(self) -> Iterator[Cut]:
        window = self.operator.window
        if window is None:
            return
        spatial = int(getattr(self.rules, window.spatial)())
        x = self.inputs[window.input]
        lead = x.ndim - spatial
        if window.blocks is not None and spatial > 1:
            # Positions lie row-major along one axis of the output: only the first spatial axis can be cut.
            x = self.inputs[window.input] = _in_rows(x, lead)
        sizes, strides = self._entries(window.window, spatial), self._entries(window.strides, spatial)
        dilations = [1] * spatial if window.dilations is None else self._entries(window.dilations, spatial)
        before, after = (self._entries(self.operator.definition.roles[role], spatial) for role in ("start", "end"))
        for d in range(spatial):
            extent = dilations[d] * (sizes[d] - 1) + 1
            pieces = slide(x.chunks[lead + d], extent, strides[d], before[d], after[d])
            if window.blocks is None:
                yield Cut({window.input: lead + d, self.output.python: lead + d}, pieces, d)
            elif d == 0:
                rest = math.prod(self._entries(window.blocks, spatial)[1:])
                wide = [Piece(p.begin, p.end, p.size * rest, p.before, p.after) for p in pieces]
                yield Cut({window.input: lead, self.output.python: len(self.desc.sizes) - 1}, wide, d)

    def _padded(self) -> Iterator[Cut]:
        told = self.operator.definition
        if self.operator.family != "pad":
            return
        ((name, x),) = self.inputs.items()
        formula = told.formulas.get(f"index.{self.resolved[told.roles['mode']].name}")  # type: ignore[attr-defined]

        def index(p: int, n: int) -> int:
            self.rules.__dict__.update(p=p, n=n)
            assert formula is not None
            return int(formula.function(self.rules))

        before, after = (self._entries(told.roles[role], x.ndim) for role in ("start", "end"))
        for d in range(x.ndim):
            pieces = pad(x.chunks[d], before[d], after[d], None if formula is None else index)
            yield Cut({name: d, self.output.python: d}, pieces, d)

    def refuse_axis(self, name: str, axis: int) -> None:
        """Raises ValueError: the axis has several chunks, and no piece of it gives a piece of the output."""
        chunks, given = len(self.inputs[name].chunks[axis]), axis - self.ones[name]
        raise ValueError(
            f"{self.operator.python}(): {name} has {chunks} chunks along axis {given}, and must have one chunk there. "
            f"Pass {name}.rechunk({{{given}: -1}})."
        )


def run(operator: str, arguments: Mapping[str, object]) -> Any:
    """The result of an operator on dask arrays, as a dask array."""
    call = Call(operator, arguments)
    labels: dict[tuple[str, int], int] = {}
    sizes: dict[int, tuple[int, ...]] = {}
    blocks, paddings = [], []
    for label, one in enumerate(call.cuts()):
        labels.update(dict.fromkeys(one.axes.items(), label))
        sizes[label] = tuple(piece.size for piece in one.pieces)
        for name, axis in one.axes.items():
            if name in call.inputs:
                call.inputs[name] = _pieces(call.inputs[name], axis, one.pieces)
        if one.entry is not None:
            values = np.array([(piece.before, piece.after) for piece in one.pieces], PADDING)
            blocks.append((da.from_array(values, chunks=1), (label,)))
            paddings.append(one.entry)
    number = itertools.count(len(sizes))
    inputs = []
    for name, x in call.inputs.items():
        for axis, chunks in enumerate(x.chunks):
            if (name, axis) not in labels:
                labels[name, axis] = next(number)
                if len(bounds(chunks)) > 2:
                    call.refuse_axis(name, axis)
                x = _pieces(x, axis, [Piece(0, x.shape[axis], 0)])
        inputs.append((x, tuple(labels[name, axis] for axis in range(x.ndim))))
    new = {}
    out = []
    for axis, size in enumerate(call.desc.sizes):
        out.append(labels.get((call.output.python, axis), -1))
        if out[-1] < 0:
            out[-1] = next(number)
            new[out[-1]] = size
    chunks = [sizes.get(label, (new.get(label),)) for label in out]
    _limit(call, [x.chunks for x, _ in inputs], chunks)
    told = call.operator.definition.roles
    block = functools.partial(
        _block,
        call.operator.name,
        tuple(call.inputs),
        {field.python: _plain(call.resolved[field.python]) for field in call.operator.parameters},
        tuple(told[role] for role in ("start", "end")) if paddings else (),
        tuple(paddings),
        current_level(),
        math.prod(map(len, chunks)) > 1,
    )
    dtype = np.dtype(DTYPES[call.desc.dtype.name].numpy)
    return da.blockwise(
        block,
        tuple(out),
        *itertools.chain.from_iterable((*inputs, *blocks)),
        name=None,
        token=f"dmlcy-{call.operator.python}",
        new_axes=new,
        adjust_chunks=sizes,
        concatenate=False,
        align_arrays=False,
        dtype=dtype,
        meta=np.empty((0,) * len(out), dtype),
    )


def _block(
    name: str,
    inputs: tuple[str, ...],
    attributes: dict[str, Any],
    roles: tuple[str, ...],
    entries: tuple[int, ...],
    level: FeatureLevelName,
    alone: bool,
    *blocks: Any,
) -> Any:
    """One piece of the output: the operator on pieces of its inputs, with the paddings of these pieces."""
    given = dict(attributes)
    pieces = [_only(block) for block in blocks]
    for role, key in zip(roles, PADDING.names or (), strict=bool(roles)):
        values = list(given[role])
        for entry, padding in zip(entries, pieces[len(inputs) :], strict=True):
            values[entry] = int(padding[0][key])
        given[role] = tuple(values)
    with feature_level(level), one_thread(alone):
        return function(name)(*pieces[: len(inputs)], **given)


def _only(block: Any) -> Any:
    """The array of a block along axes that are not in the output: lists of the one there is."""
    while isinstance(block, list):
        (block,) = block
    return block


def _is_dask(value: object) -> bool:
    return isinstance(value, da.Array)


def _plain(value: Any) -> Any:
    """The value in types that a graph carries well."""
    return value.name if isinstance(value, Enum) else tuple(value) if isinstance(value, tuple) else value


def _pieces(x: Any, axis: int, pieces: Sequence[Piece]) -> Any:
    """The array with one chunk per piece along the axis, those that overlap one after the other."""
    ends = [piece.end for piece in pieces]
    if [piece.begin for piece in pieces] != [0, *ends[:-1]] or ends[-1] != x.shape[axis]:
        lead = (slice(None),) * axis
        x = da.concatenate([x[(*lead, slice(piece.begin, piece.end))] for piece in pieces], axis)
    sizes = tuple(piece.end - piece.begin for piece in pieces)
    return x if x.chunks[axis] == sizes else x.rechunk({axis: sizes})


def _in_rows(x: Any, first: int) -> Any:
    """The array in chunks of whole rows along the axes behind the first spatial one, no larger than they were."""
    rest = range(first + 1, x.ndim)
    parts = math.prod(len(bounds(x.chunks[axis])) - 1 for axis in rest)
    if parts == 1:
        return x
    sizes: list[int] = []
    for begin, end in itertools.pairwise(bounds(x.chunks[first])):
        each = -(-(end - begin) // parts)
        sizes += [min(each, end - at) for at in range(begin, end, each)]
    return x.rechunk({first: tuple(sizes), **dict.fromkeys(rest, -1)})


def _limit(call: Call, inputs: Sequence[Any], output: Any) -> None:
    """Refuses chunks of more elements than a tensor can have."""
    names = [*call.inputs, "the result"]
    for name, chunks in zip(names, [*inputs, output], strict=True):
        most = math.prod(max(sizes) for sizes in chunks)
        if most > UINT_MAX:
            raise ValueError(
                f"{call.operator.python}(): a chunk of {name} would have {most} elements, and a tensor has at most "
                f"{UINT_MAX}. Rechunk {next(iter(call.inputs))} into smaller chunks."
            )
