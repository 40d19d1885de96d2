"""A call of an operator on dask arrays: checked as a whole, then a graph of calls on pieces. Nothing is computed."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import dask.array as da
import numpy as np

from dmlcy._check.checker import Check
from dmlcy._errors import raise_violations
from dmlcy._facts.levels import LEVEL, current_level, feature_level
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import DTYPES, OPERATORS, FeatureLevelName, function
from dmlcy._families import family_of
from dmlcy._families.given import Kernel
from dmlcy._families.pieces import Cut, Padding, Piece, bounds, cut
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._runtime.tensor import to_array
from dmlcy._runtime.threads import one_thread

PADDINGS: Final = np.dtype([("before", np.int64), ("after", np.int64)])


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
        self.kernel = Kernel(self.operator, found.rules)
        self.resolved = found.resolved
        self.ones = {name: len(found.tensors[name].sizes) - x.ndim for name, x in given.items()}
        self.inputs = {name: x[(None,) * self.ones[name]] for name, x in given.items()}
        self.input = next(iter(self.inputs))
        self.output = next(field.python for field in self.operator.fields if field.kind == "output")
        self.desc: Any = found.resolved[self.output]

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

    def sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor."""
        sizes: tuple[int, ...] = self.desc.sizes if name == self.output else self.inputs[name].shape
        return sizes

    def chunks(self, name: str, axis: int) -> Sequence[int]:
        """The sizes of the chunks of an input along an axis."""
        chunks: Sequence[int] = self.inputs[name].chunks[axis]
        return chunks

    def merge_rows(self, name: str, axis: int) -> None:
        """Makes the chunks of an input whole along all axes behind this one, and no larger than they were."""
        self.inputs[name] = _in_rows(self.inputs[name], axis)

    def cuts(self) -> Iterator[Cut]:
        """Every axis that can be cut: those that the spec declares, then those of the family."""
        done = set()
        for one in itertools.chain(self._independent(), family_of(self.operator).cuts(self)):
            axis = one.axes[self.output]
            if axis not in done:
                done.add(axis)
                yield one

    def _independent(self) -> Iterator[Cut]:
        for one in self.operator.independent:
            for index in [()] if one.domain is None else [(d,) for d in range(one.domain(self.rules))]:
                if one.when is None or one.when(self.rules, *index):
                    axes = {name: int(axis(self.rules, *index)) for name, axis in one.axes.items()}
                    first = next(name for name in axes if name in self.inputs)
                    chunks = self.chunks(first, axes[first])
                    yield Cut(axes, cut(chunks, one.takes(self.rules, *index), one.gives(self.rules, *index)))

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
        if one.padding is not None:
            values = np.array([(piece.before, piece.after) for piece in one.pieces], PADDINGS)
            blocks.append((da.from_array(values, chunks=1), (label,)))
            paddings.append(one.padding)
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
        out.append(labels.get((call.output, axis), -1))
        if out[-1] < 0:
            out[-1] = next(number)
            new[out[-1]] = size
    chunks = [sizes.get(label, (new.get(label),)) for label in out]
    _limit(call, [x.chunks for x, _ in inputs], chunks)
    block = functools.partial(
        _block,
        call.operator.name,
        tuple(call.inputs),
        {field.python: _plain(call.resolved[field.python]) for field in call.operator.parameters},
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
    paddings: tuple[Padding, ...],
    level: FeatureLevelName,
    alone: bool,
    *blocks: Any,
) -> Any:
    """One piece of the output: the operator on pieces of its inputs, with the paddings of these pieces."""
    given = dict(attributes)
    pieces = [_only(block) for block in blocks]
    for padding, values in zip(paddings, pieces[len(inputs) :], strict=True):
        for field, value in zip((padding.start, padding.end), values[0].item(), strict=True):
            entries = list(given[field])
            entries[padding.entry] = value
            given[field] = tuple(entries)
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
