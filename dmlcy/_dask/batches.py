"""A model over the blocks of dask arrays: each block has some items of a batch, and gives the results for them."""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import dask.array as da
import numpy as np

from dmlcy._dask.arrays import DaskArray, refuse_chunks, with_known_sizes
from dmlcy._dask.models import FUNCTION, Asked, Result, refuse, resized
from dmlcy._dask.source import Source, source_of
from dmlcy._errors import DmlError
from dmlcy._facts.levels import current_level, feature_level
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._families.pieces import bounds
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.run import CompiledGraph
from dmlcy._runtime.tensor import to_array
from dmlcy._runtime.threads import one_thread
from dmlcy._types import Array
from dmlcy._words.values import listing, quote, show

BLOCKS: Final = np.dtype([("block", np.int64), ("begin", np.int64), ("end", np.int64)])
_ITEMS: Final = 0
"""The label of the axis that counts items."""


class Work(NamedTuple):
    """The arguments of the call of each block, beside its arrays."""

    inputs: tuple[str, ...]
    axes: dict[str, int]
    results: dict[str, Result]
    number: int | None
    level: FeatureLevelName
    alone: bool


def run(
    model: GraphDesc | CompiledGraph | CompiledModel | str | os.PathLike[str],
    inputs: Mapping[str, object],
    *,
    axis: int | Mapping[str, int] = 0,
    outputs: Sequence[str] | None = None,
    independent: bool = False,
    threads: int | None = 1,
    send: bool = False,
) -> dict[str, Any]:
    """A graph or an ONNX model over the blocks of dask arrays: nothing is computed before a result is asked for.

    Parameters
    ----------
    model
        A graph, a compiled graph, an ONNX model that ``dmlcy.onnx.load`` gives, or the path of a file.
    inputs
        An array for each input, by its name. A dask array holds the items of a batch along ``axis``, and is computed
        block by block; any other array is passed to each block as a whole.
    axis
        The axis that counts the items; of some inputs and outputs by their names, and 0 for the others. Where the items
        of an output are is found out, unless ``independent`` is true or the model takes one item.
    outputs
        The names of the outputs, of an ONNX model also of other values. By default, all outputs.
    independent
        True: the caller says that the results for an item do not depend on other items. Nothing is checked.
    threads
        1: each call of the model uses one thread, because dask computes several blocks at the same time. None: as many
        as any call.
    send
        True: the contents of an ONNX file are sent to each worker, once; False: its path, under which each worker finds
        the same file. A graph is always sent.

    Returns
    -------
    dict
        A dask array for each output, with the data type and the sizes that it has in the model, and along its axis the
        results of all items. An output that depends on no items has one chunk, of the first block.

    Raises
    ------
    InvalidDescError
        The results for an item depend on other items, or it is not known (``DML-GRAPH-batch-...``).
    DmlError
        The model refuses the data types or the sizes of the inputs. If it refuses their values, a block raises this
        error when it is computed; the message names the block and the node.
    ModelError
        The file cannot be read.
    TypeError, ValueError
        An input is missing or unknown, no input is a dask array, or chunks do not fit.

    Examples
    --------
    >>> import dask.array as da
    >>> import dmlcy.dask
    >>> images = da.random.random((1000, 1, 8, 8), chunks=(100, 1, 8, 8)).astype("float32")
    >>> results = dmlcy.dask.run("digits.onnx", {"image": images})  # doctest: +SKIP
    >>> results["shares"].compute()  # doctest: +SKIP
    """
    if threads not in (1, None):
        raise ValueError(f"{FUNCTION}(): threads is 1 or None, not {show(threads)}.")
    if not isinstance(inputs, Mapping):
        raise TypeError(f"{FUNCTION}(): inputs is a dict of arrays by the names of inputs, not {show(inputs)}.")
    if isinstance(outputs, str):
        raise TypeError(f"{FUNCTION}(): outputs is a sequence of names, not {show(outputs)}.")
    level = current_level()
    source, runner = source_of(model, level, send)
    names = [*dict.fromkeys(runner.outputs if outputs is None else outputs)]
    _known_names(axis, [*inputs, *names])
    given = _given(inputs)
    axes = {name: _axis(axis, name, x.ndim) for name, x in given.items() if isinstance(inputs[name], da.Array)}
    arrays, chunks = _in_blocks(given, axes)
    others = {name: _axis_of(axis, name) for name in names}
    described = {name: (x.dtype, x.shape) for name, x in arrays.items()}
    blocks = tuple(sorted({max(chunks), min(chunks)}, reverse=True))
    number, results = runner.plan(Asked(described, axes, names, others, independent, blocks))
    work = Work(tuple(arrays), axes, results, number, level, threads == 1)
    most = max(chunks) if number is None else number
    _limit(work, arrays, most)
    return _results(source, work, arrays, chunks)


def _given(inputs: Mapping[str, object]) -> dict[str, DaskArray]:
    """Each input as a dask array."""
    found: dict[str, DaskArray] = {}
    for name, value in inputs.items():
        if isinstance(value, da.Array):
            found[name] = with_known_sizes(FUNCTION, name, value)
            continue
        array = value if isinstance(value, np.ndarray) else to_array(value)
        if array is None:
            raise TypeError(f"{FUNCTION}(): the input {name!r} is an array, not {show(value)}.")
        found[name] = da.from_array(array, chunks=-1)
    return found


def _known_names(axis: object, names: Sequence[str]) -> None:
    """Refuses axes of what is neither an input nor an output that is asked for."""
    if not isinstance(axis, int | Mapping):
        raise TypeError(f"{FUNCTION}(): axis is an int, or a dict of ints by names, not {show(axis)}.")
    unknown = [name for name in axis if name not in names] if isinstance(axis, Mapping) else []
    if unknown:
        raise TypeError(f"{FUNCTION}(): axis has {unknown[0]!r}, but the call has {listing([*map(repr, names)])}.")


def _axis_of(axis: int | Mapping[str, int], name: str) -> int:
    return axis if isinstance(axis, int) else axis.get(name, 0)


def _axis(axis: int | Mapping[str, int], name: str, rank: int) -> int:
    """The axis of an input that counts items, from 0 on."""
    found = _axis_of(axis, name)
    place = found + rank if found < 0 else found
    if not 0 <= place < rank:
        raise ValueError(f"{FUNCTION}(): {name} has {rank} axes, and no axis {found} that counts items.")
    return place


def _in_blocks(
    arrays: Mapping[str, DaskArray], axes: Mapping[str, int]
) -> tuple[dict[str, DaskArray], tuple[int, ...]]:
    """The inputs with the same chunks of items, and these; the chunks of the first input that has several."""
    if not axes:
        raise TypeError(f"{FUNCTION}(): no input is a dask array. Call the model.")
    numbers = {name: arrays[name].shape[axis] for name, axis in axes.items()}
    if len({*numbers.values()}) > 1:
        raise ValueError(f"{FUNCTION}(): the inputs have different numbers of items: {numbers}.")
    name, number = next(iter(numbers.items()))
    if not number:
        raise ValueError(f"{FUNCTION}(): {name} has no items along axis {axes[name]}.")
    every = [bounds(arrays[name].chunks[axis]) for name, axis in axes.items()]
    ends = next((one for one in every if len(one) > 2), every[0])
    chunks = tuple(end - begin for begin, end in itertools.pairwise(ends))
    found = {}
    for name, x in arrays.items():
        for place, sizes in enumerate(x.chunks):
            if place != axes.get(name) and len(sizes) > 1:
                refuse_chunks(FUNCTION, name, place, len(sizes))
        fits = name not in axes or x.chunks[axes[name]] == chunks
        found[name] = x if fits else x.rechunk({axes[name]: chunks})
    return found, chunks


def _limit(work: Work, arrays: Mapping[str, DaskArray], number: int) -> None:
    """Refuses calls with more elements than a tensor can have."""
    sizes = {name: [*x.shape] for name, x in arrays.items()}
    for name, axis in work.axes.items():
        sizes[name][axis] = number
    counts = {name: math.prod(one) for name, one in sizes.items()}
    counts |= {name: math.prod(resized(one, number)) for name, one in work.results.items()}
    name = max(counts, key=lambda one: counts[one])
    if counts[name] > UINT_MAX:
        raise ValueError(
            f"{FUNCTION}(): a block of {name} would have {counts[name]} elements, and a tensor has at most {UINT_MAX}. "
            f"Rechunk the inputs into smaller chunks."
        )


# The graph ------------------------------------------------------------------------------------------------------------


def _results(
    source: Source, work: Work, arrays: Mapping[str, DaskArray], chunks: tuple[int, ...]
) -> dict[str, DaskArray]:
    """The outputs, each block made by one call for all of them."""
    labels = itertools.count(_ITEMS + 1)
    ends = bounds(chunks)
    rows = np.array([(k, *span) for k, span in enumerate(itertools.pairwise(ends))], BLOCKS)
    given: list[object] = [_held(source), (), da.from_array(rows, chunks=1), (_ITEMS,)]
    for name, x in arrays.items():
        given += [x, tuple(_ITEMS if place == work.axes.get(name) else next(labels) for place in range(x.ndim))]
    together = da.blockwise(
        functools.partial(_block, work), (_ITEMS,), *given, token=f"dmlcy-{FUNCTION}", adjust_chunks={_ITEMS: chunks},
        concatenate=False, align_arrays=False, dtype=object, meta=np.empty((0,), object),
    )  # fmt: skip
    return {name: _output(name, one, together, chunks) for name, one in work.results.items()}


def _held(source: Source) -> object:
    """The source as an array without axes: one value of the graph, which each worker gets once."""
    name = f"dmlcy-model-{source.key}"
    return da.Array({(name,): source}, name, (), dtype=object, meta=np.empty((), object))


def _output(name: str, result: Result, together: DaskArray, chunks: tuple[int, ...]) -> DaskArray:
    """An output, of which each block has the results for its items."""
    axis = None if result.axis is None else result.axis.axis
    labels = [_ITEMS if place == axis else place + 1 for place in range(len(result.sizes))]
    new = {label: size for label, size in zip(labels, result.sizes, strict=True) if label != _ITEMS}
    adjust = {} if result.axis is None else {_ITEMS: tuple(size * result.axis.each for size in chunks)}
    given = together if result.axis is not None else together.blocks[:1]
    found: DaskArray = da.blockwise(
        functools.partial(_one, name), tuple(labels), given, (_ITEMS,), token=f"dmlcy-{FUNCTION}", new_axes=new,
        adjust_chunks=adjust, concatenate=False, align_arrays=False, dtype=result.dtype,
        meta=np.empty((0,) * len(labels), result.dtype),
    )  # fmt: skip
    return found


def _one(name: str, results: object) -> object:
    """The block of one output."""
    return _only(results)[name]


def _only(block: object) -> Any:
    """The value of a block along axes that are not in the output: lists of the one there is."""
    while isinstance(block, list):
        (block,) = block
    return block


# A block --------------------------------------------------------------------------------------------------------------


def _block(work: Work, source: Source, row: Array, *blocks: object) -> dict[str, Array]:
    """The outputs for the items of a block."""
    number, begin, end = row[0].tolist()
    arrays = dict(zip(work.inputs, map(_only, blocks), strict=True))
    place = f"block {number}, items {begin} to {end - 1}"
    try:
        with feature_level(work.level), one_thread(work.alone):
            loaded = source.loaded()
            calls = list(_calls(work, arrays, end - begin))
            parts = [(taken, loaded.run(given, [*work.results])) for taken, given in calls]
        return {name: _whole(name, work, [(n, one[k]) for n, one in parts]) for k, name in enumerate(work.results)}
    except DmlError as error:
        raise type(error)([replace(one, message=f"{place}: {one.message}") for one in error.violations],
                          error.function) from None  # fmt: skip
    except Exception as error:
        error.add_note(f"dmlcy.dask.{FUNCTION}(): {place}")
        raise


def _calls(work: Work, arrays: Mapping[str, Array], count: int) -> Iterator[tuple[int, dict[str, Array]]]:
    """The arguments of each call of the model, and how many items of it count: the last item fills up the last call."""
    if work.number is None or work.number == count:
        yield count, dict(arrays)
        return
    for begin in range(0, count, work.number):
        end = min(begin + work.number, count)
        span: slice | Array = slice(begin, end)
        if end - begin < work.number:
            span = np.minimum(np.arange(begin, begin + work.number), count - 1)
        yield (
            end - begin,
            {
                name: x[(slice(None),) * work.axes[name] + (span,)] if name in work.axes else x
                for name, x in arrays.items()
            },
        )


def _whole(name: str, work: Work, parts: Sequence[tuple[int, Array]]) -> Array:
    """The results of the calls of a block, one behind the other."""
    result = work.results[name]
    for taken, array in parts:
        wanted = resized(result, taken if work.number is None else work.number)
        if array.shape != wanted:
            refuse("output", name=quote(name), found=f"the sizes {array.shape}", wanted=f"the sizes {wanted}")
    if result.axis is None:
        return parts[0][1]
    lead = (slice(None),) * result.axis.axis
    cut = [array[(*lead, slice(taken * result.axis.each))] for taken, array in parts]
    return cut[0] if len(cut) == 1 else np.concatenate(cut, result.axis.axis)
