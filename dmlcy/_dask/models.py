"""Models that run on the blocks of dask arrays: compiled graphs and ONNX models, and what is known of their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeAlias

import numpy as np

from dmlcy._dask.arrays import public_dtype_of
from dmlcy._desc.memory import dtype_of
from dmlcy._errors import DmlError, raise_violations
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.loading import CompiledModel, digest
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.stages import Stage
from dmlcy._frontends.onnx.visits import key_of
from dmlcy._graph.arrays import Array, Taker, label_of, named
from dmlcy._graph.items import Axis, Batch, Mixed, output_of
from dmlcy._graph.model import Port, Structure
from dmlcy._graph.run import CompiledGraph
from dmlcy._graph.violations import Part, made
from dmlcy._graph.wiring import wiring_of
from dmlcy._words.values import listing, quote

FUNCTION: Final = "run"
HINT: Final = "If you know that the results for an item do not depend on other items, pass independent=True."
UNINITIALIZED: Final = "Call initialize() of the compiled graph, and pass the compiled graph."
FEW: Final = (2, 3)
"""Numbers of items for which a model that takes any number is looked at."""
OF_FILES: Final = "DML-ONNX-file-"
"""The beginning of the ids of errors in the file of a model, which do not depend on the number of items."""
_NONE: Final = Structure((), (), (), ())


class Result(NamedTuple):
    """An output: its data type, its sizes for some items, and the axis that counts them; None: it is of no items.

    ``constant``: the hash of the elements of a constant.
    """

    dtype: np.dtype[Any]
    sizes: tuple[int, ...]
    axis: Axis | None
    constant: bytes = b""


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of a call of ``run``.

    Attributes
    ----------
    arrays
        The data type and the sizes of each input, by its name.
    axes
        The axes of the inputs that have items.
    names
        The outputs.
    others
        The axis of each output, where nothing else is known.
    independent
        The caller says that items stay apart.
    blocks
        The different numbers of items in blocks, two at most.
    """

    arrays: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]
    axes: Mapping[str, int]
    names: Sequence[str]
    others: Mapping[str, int]
    independent: bool
    blocks: tuple[int, ...]

    def of(self, number: int) -> dict[str, Array]:
        """Arrays of zeros, which take no memory, for so many items."""
        return {
            name: np.broadcast_to(np.zeros((), dtype), self._sizes(name, sizes, number))
            for name, (dtype, sizes) in self.arrays.items()
        }

    def _sizes(self, name: str, sizes: tuple[int, ...], number: int) -> tuple[int, ...]:
        axis = self.axes.get(name)
        return sizes if axis is None else (*sizes[:axis], number, *sizes[axis + 1 :])


Plan: TypeAlias = tuple[int | None, dict[str, Result]]
"""How many items each call takes, None for any number, and each output that is asked for."""


class Model(Protocol):
    """A model that runs on arrays."""

    outputs: tuple[str, ...]

    def plan(self, asked: Asked) -> Plan:
        """The outputs, as far as they are known before a run; raises all errors of the call."""

    def prepare(self, arrays: Mapping[str, Any], names: Sequence[str]) -> None:
        """Compiles for arrays of these sizes."""

    def run(self, arrays: Mapping[str, Any], names: Sequence[str]) -> list[Array]:
        """The outputs of these names."""


def refuse(slug: str, graph: Structure = _NONE, node: int | None = None, hint: str = "", **values: object) -> NoReturn:
    """Raises the violation DML-GRAPH-batch-<slug>."""
    part: Part = "graph" if node is None else "nodes"
    raise_violations([made(graph, f"batch-{slug}", part, node, values, node=node, hint=hint)], FUNCTION)


class OfGraph:
    """A compiled graph, whose sizes are fixed."""

    def __init__(self, compiled: CompiledGraph) -> None:
        self.compiled, graph = compiled, compiled.graph
        names = wiring_of(graph).value_names
        self.inputs = {names[Port(None, place)]: place for place in range(len(graph.inputs))}
        ends = [(place, *output_of(graph, place)) for place in range(len(graph.outputs))]
        self.descs = {graph.outputs[place].name or names[port]: desc for place, port, desc in ends}
        self.outputs = tuple(self.descs)

    def plan(self, asked: Asked) -> Plan:
        """The outputs, as far as they are known before a run; raises all errors of the call."""
        graph = self.compiled.graph
        unknown = [name for name in asked.names if name not in self.descs]
        if unknown:
            raise TypeError(f"The graph has the outputs {listing([*map(repr, self.outputs)])}, and no {unknown[0]!r}.")
        self.compiled.must_be_initialized(FUNCTION, UNINITIALIZED)
        named((), asked.arrays, [*self.compiled.called], f"{FUNCTION}()")
        descs = {name: wiring_of(graph).desc_of(Port(None, self.inputs[name])) for name in asked.arrays}
        sizes = {name: None if one is None else one.sizes for name, one in descs.items()}
        number = _common({name: _entry(sizes[name], axis) for name, axis in asked.axes.items()})
        if number is None:
            raise TypeError("The graph reads no input that is a dask array.")
        self._check(asked.of(number), descs)
        found = {}
        batch = None
        if number > 1 and not asked.independent:
            axes = {self.inputs[name]: (asked.of(number)[name].shape, axis) for name, axis in asked.axes.items()}
            batch = Batch(graph, axes, number, self.compiled.known)
        for place, name in enumerate(self.outputs):
            if name in asked.names:
                desc = self.descs[name]
                axis = (
                    _given(name, desc.sizes, asked.others[name], number) if batch is None
                    else _proven(batch, batch.of_output(place, desc.sizes), name, desc.sizes)
                )  # fmt: skip
                found[name] = Result(public_dtype_of(FUNCTION, dtype_of(desc)), desc.sizes, axis)
        return number, found

    def _check(self, arrays: Mapping[str, Array], descs: Mapping[str, TensorDesc | None]) -> None:
        """Refuses what a call would refuse."""
        taker = Taker(self.compiled.graph)
        for name, array in arrays.items():
            desc = descs[name]
            if desc is not None:
                taker.input(self.inputs[name], label_of("input", name, self.inputs[name]), array, desc)
        if taker.wrong:
            raise_violations(taker.wrong, FUNCTION)

    def prepare(self, arrays: Mapping[str, Any], names: Sequence[str]) -> None:
        """Nothing: it is compiled."""

    def run(self, arrays: Mapping[str, Any], names: Sequence[str]) -> list[Array]:
        """The outputs of these names."""
        results = self.compiled(*[arrays[name] for name in self.compiled.called])
        found = dict(zip(self.outputs, results if isinstance(results, tuple) else (results,), strict=True))
        return [found[name] for name in names]


class OfModel:
    """An ONNX model, which takes any number of items, or a fixed one."""

    def __init__(self, model: CompiledModel) -> None:
        self.model = model
        self.outputs = tuple(one.name for one in model.outputs)

    def plan(self, asked: Asked) -> Plan:
        """The outputs, as far as they are known before a run; raises all errors of the call."""
        sizes = {one.name: one.sizes for one in self.model.inputs}
        number = _common({name: _entry(sizes.get(name), axis) for name, axis in asked.axes.items()})
        self.model.check(asked.of(FEW[0] if number is None else number), asked.names)
        if asked.independent or number == 1:
            return number, self._told(asked, number)
        if number is not None:
            return number, self._looked_at(asked, number)[1]
        (batch, results), (other, more) = (self._looked_at(asked, few, free=True) for few in FEW)
        node = None if batch is None or other is None else batch.unlike(other)
        if batch is not None and node is not None:
            graph, at = batch.graph, None if node < 0 else node
            refuse("number", graph, at, HINT, what="the graph" if at is None else graph.label(at))
        for name, result in results.items():
            if resized(result, FEW[1]) != more[name].sizes:
                self._refuse_output(name, FEW, result.sizes, more[name].sizes)
            if result.constant != more[name].constant:
                refuse("number", hint=HINT, what=f"the output {quote(name)}")
        return None, results

    def _told(self, asked: Asked, number: int | None) -> dict[str, Result]:
        """The outputs of a model whose items stay apart, as the caller says."""
        few = asked.blocks if number is None else (number,)
        of_few = [self._results(asked, one) for one in few]
        found = {}
        for place, name in enumerate(asked.names):
            (dtype, sizes), *more = (one[place] for one in of_few)
            result = Result(dtype, sizes, _given(name, sizes, asked.others[name], few[0]))
            if more and resized(result, few[1]) != more[0][1]:
                self._refuse_output(name, few, sizes, more[0][1])
            found[name] = result
        return found

    def _refuse_output(self, name: str, few: Sequence[int], sizes: tuple[int, ...], more: tuple[int, ...]) -> NoReturn:
        found = f"the sizes {sizes} for {few[0]} items, and {more} for {few[1]}"
        refuse("output", name=quote(name), wanted="an equal part along an axis for each item", found=found)

    def _results(self, asked: Asked, number: int) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
        """The data type and the sizes of each output; where only a run knows them, of a run of zeros."""
        arrays = asked.of(number)
        stage = self.model.first_stage(arrays, asked.names)
        if not stage.needs:
            return [*_of_stage(stage)]
        found = self.model.run({name: np.zeros(one.shape, one.dtype) for name, one in arrays.items()}, asked.names)
        return [(found[name].dtype, found[name].shape) for name in asked.names]

    def _looked_at(self, asked: Asked, number: int, *, free: bool = False) -> tuple[Batch | None, dict[str, Result]]:
        """The values of the graph for so many items, and the outputs, whose items stay apart.

        ``free``: the model takes other numbers of items, too.
        """
        arrays = asked.of(number)
        try:
            stage = self.model.first_stage(arrays, asked.names, kept=not free)
        except DmlError as error:
            if error.id.startswith(OF_FILES):
                raise
            refuse("unknown", hint=HINT, why=f"for {number} items, the model has no graph ({error})")
        if stage.needs:
            which = stage.needs[0].visit.node
            name = quote(which.name or which.operator)
            refuse("unknown", hint=HINT, why=f"for {number} items, the node {name} waits for what a run gives")
        fed = {stage.walk.keys[id(one)]: place for place, one in enumerate(stage.fed)}
        axes = {
            fed[key]: (arrays[name].shape, axis)
            for name, axis in asked.axes.items()
            if (key := key_of((), name)) in fed
        }
        batch = None
        if stage.compiled is not None and axes:
            batch = Batch(stage.compiled.graph, axes, number, stage.compiled.known)
        places = {id(one): place for place, one in enumerate(stage.copied)}
        results = {}
        for name, (dtype, sizes) in zip(asked.names, _of_stage(stage), strict=True):
            value = stage.walk.scope[name].value
            place, axis = places.get(id(value)), None
            if batch is not None and place is not None:
                axis = _proven(batch, batch.of_output(place, sizes), name, sizes)
            read = None if value is None else value.read
            results[name] = Result(dtype, sizes, axis, b"" if read is None else digest(read()))
        return batch, results

    def prepare(self, arrays: Mapping[str, Any], names: Sequence[str]) -> None:
        """Compiles for arrays of these sizes; what depends on elements is compiled when the model runs."""
        self.model.first_stage(arrays, names)

    def run(self, arrays: Mapping[str, Any], names: Sequence[str]) -> list[Array]:
        """The outputs of these names."""
        return [*self.model.run(arrays, names).values()]


def _of_stage(stage: Stage) -> Iterator[tuple[np.dtype[Any], tuple[int, ...]]]:
    """The data type and the sizes of each value that a last stage gives."""
    for name in stage.names:
        value = stage.walk.scope[name].value
        assert value is not None
        yield np.dtype(ELEMENTS[value.element].numpy), tuple(value.sizes)


def _entry(sizes: Sequence[object] | None, axis: int) -> object:
    """The size along an axis, if it is known."""
    return None if sizes is None or axis >= len(sizes) else sizes[axis]


def _common(sizes: Mapping[str, object]) -> int | None:
    """The number of items that inputs say; None where none says it."""
    said = {name: size for name, size in sizes.items() if isinstance(size, int)}
    if len({*said.values()}) > 1:
        raise ValueError(f"{FUNCTION}(): the inputs have different numbers of items: {said}.")
    return next(iter(said.values()), None)


def resized(result: Result, number: int) -> tuple[int, ...]:
    """The sizes of an output for so many items."""
    if result.axis is None:
        return result.sizes
    axis = result.axis.axis
    return (*result.sizes[:axis], result.axis.each * number, *result.sizes[axis + 1 :])


def _given(name: str, sizes: Sequence[int], axis: int, number: int) -> Axis:
    """The axis of an output that the caller says."""
    place = axis + len(sizes) if axis < 0 else axis
    if not 0 <= place < len(sizes) or sizes[place] % number or not sizes[place]:
        wanted = f"an equal part along axis {axis} for each of {number} items"
        refuse("output", name=quote(name), wanted=wanted, found=f"the sizes {tuple(sizes)}")
    return Axis(place, sizes[place] // number)


def _proven(batch: Batch, found: Axis | Mixed | None, name: str, sizes: Sequence[int]) -> Axis | None:
    """The axis of an output; refuses one in which an element depends on several items."""
    if not isinstance(found, Mixed):
        return found
    if found.node < 0:
        where = f"no axis of the output {quote(name)} of sizes {tuple(sizes)} counts them"
        refuse("mixed", batch.graph, None, HINT, where=where)
    where = f"{batch.graph.label(found.node)} mixes those of its input {found.path}"
    refuse("mixed", batch.graph, found.node, HINT, where=where)
