"""ONNX models that run: compiled for the sizes of the inputs of a call, and kept for the next call with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from hashlib import blake2b
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import numpy as np

from dmlcy._errors import ModelError
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._frontends.dxdispatch.problems import Problem, Refusal, did_you_mean, make, refuse, whole
from dmlcy._frontends.onnx.binding import bound, written
from dmlcy._frontends.onnx.fusing.editing import Gone
from dmlcy._frontends.onnx.model import ELEMENTS, Info, Model, Sizes
from dmlcy._frontends.onnx.places import in_words
from dmlcy._frontends.onnx.stages import Settings, Stage
from dmlcy._frontends.onnx.structure import ordered
from dmlcy._frontends.onnx.use import Unconverted
from dmlcy._frontends.onnx.visits import Given, key_of
from dmlcy._graph.check import counted
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._runtime import four_bits
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array
from dmlcy._words.values import listing, quote, show

if TYPE_CHECKING:
    from dmlcy._graph.profile import Profile

KEPT: Final = 8
"""Compiled stages of a model that are kept, for as many sizes of its inputs."""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _refused(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, which raises the error of a file as the class that users know."""

    @wraps(function)
    def known(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except Refusal as error:
            raise ModelError(error.violations) from None
        except Unconverted as error:  # of a constant that is computed when its elements are asked for
            problem = make(error.identifier, whole(getattr(arguments[0], "file", "")), error.values)
            raise ModelError([problem.located()]) from None

    return known


@dataclass(frozen=True, slots=True)
class ModelValue:
    """An input or an output of a model.

    Attributes
    ----------
    name
        Its name in the model.
    element
        ONNX's name for its data type, such as ``FLOAT``; None where the model does not say it.
    sizes
        Its sizes: numbers, names of free dimensions, and None for a free dimension without a name. ``None`` where the
        model does not state even their number.
    """

    name: str
    element: str | None
    sizes: Sizes | None


class CompiledModel:
    """An ONNX model that runs: ``model(x, ...)``, with the inputs of the model by position or name.

    ``dmlcy.onnx.load`` makes it. The result of a call is the output of the model, or a tuple of its outputs. The model
    is compiled for the sizes of the inputs of a call, and the last compiled graphs are kept. Threads may call it at
    the same time.

    Attributes
    ----------
    inputs
        The inputs that a call must be given, and after them the initializers that a call may replace.
    required
        How many inputs a call must be given.
    outputs
        The outputs of the model.
    file
        The file of the model.
    names
        The names of all inputs, initializers and outputs of nodes: ``run(..., outputs=)`` takes them.
    """

    inputs: tuple[ModelValue, ...]
    required: int
    outputs: tuple[ModelValue, ...]
    file: str
    names: tuple[str, ...]

    def __init__(
        self,
        model: Model,
        sizes: Mapping[str, Sequence[int]],
        *,
        level: FeatureLevelName | None = None,
        limit: int = MOST,
        at_once: bool = True,
        gone: Sequence[Gone] = (),
    ) -> None:
        self._model, self.file = model, model.file
        self._settings = Settings(model, level, limit, {})
        self._sizes, self._dimensions = bound(model, sizes)
        read = {name: one for one in gone for name in one.node.inputs if one.into is not None}
        self._gone = read | {name: one for one in gone for name in one.node.outputs}
        self._kept: OrderedDict[object, Stage] = OrderedDict()
        self._lock = Lock()
        graph = model.graph
        given = [one for one in graph.inputs if one.name not in graph.initializers]
        # Before version 4 of the format, each initializer was an input too, and none could be replaced.
        others = [one for one in graph.inputs if one.name in graph.initializers and model.ir_version >= 4]
        self.required = len(given)
        self.inputs = tuple(map(self._value, (*given, *others)))
        self.outputs = tuple(map(self._value, graph.outputs))
        nodes = ordered(graph, model.file)
        self.names = tuple(
            dict.fromkeys(
                [
                    *(one.name for one in graph.inputs),
                    *graph.initializers,
                    *(name for node in nodes for name in node.outputs if name),
                ]
            )
        )
        known = [one.sizes for one in self.inputs[: self.required]]
        if at_once and all(size is not None and all(isinstance(one, int) for one in size) for size in known):
            self._stage(self._bound({}), Given(), [one.name for one in self.outputs])

    def _value(self, info: Info) -> ModelValue:
        sizes: Sizes | None = self._sizes.get(info.name, info.sizes)
        if sizes is not None:
            sizes = tuple(self._dimensions.get(one, one) if isinstance(one, str) else one for one in sizes)
        return ModelValue(info.name, info.element, sizes)

    def __call__(self, /, *arrays: object, **by_name: object) -> Any:
        """The outputs for these inputs."""
        if len(arrays) > len(self.inputs):
            raise TypeError(f"The model takes {counted(len(self.inputs), 'input')}, not {len(arrays)}.")
        inputs = dict(zip((one.name for one in self.inputs), arrays, strict=False))
        twice = [name for name in by_name if name in inputs]
        if twice:
            raise TypeError(f"The model was given the input {twice[0]!r} by position and by name.")
        found = tuple(self._run({**inputs, **by_name}, [one.name for one in self.outputs]))
        return found[0] if len(found) == 1 else found

    def run(self, inputs: Mapping[str, object], outputs: Sequence[str] | None = None) -> dict[str, Array]:
        """Values of the model by their names.

        Parameters
        ----------
        inputs
            An array for each input of the model, by its name.
        outputs
            The names of the values: any of ``names``. By default, the outputs of the model.

        Returns
        -------
        dict
            An array for each name, with the data type and the sizes that the value has in ONNX.

        Raises
        ------
        ModelError
            An array does not fit its input (``DML-ONNX-run-type``, ``DML-ONNX-shape-sizes``), no value has such a name,
            or a node cannot be computed: the message names the node.
        DmlError
            A node refuses the values that it reads.
        TypeError
            An input is missing, or the model does not have it.
        """
        names = [one.name for one in self.outputs] if outputs is None else [*outputs]
        if isinstance(outputs, str):
            raise TypeError(f"outputs is a sequence of names, not {show(outputs)}.")
        return dict(zip(names, self._run(inputs, names), strict=True))

    @_refused
    def graph(
        self, inputs: Mapping[str, object] | None = None, outputs: Sequence[str] | None = None
    ) -> GraphDesc | None:
        """The DirectML graph of the model, or of its last part, for inputs of these sizes.

        Parameters
        ----------
        inputs
            Arrays as ``run`` takes them. The inputs are needed where sizes are free, or where sizes depend on elements.
        outputs
            As of ``run``.

        Returns
        -------
        GraphDesc or None
            The graph: ``dmlcy.graph.save`` writes it, ``dmlcy.compile`` compiles it. ``None`` where no operator is
            left.
        """
        names = [one.name for one in self.outputs] if outputs is None else [*outputs]
        arrays = {} if inputs is None else self._arrays(inputs)
        stage, _ = self._last(arrays, names, self._bound(arrays))
        return stage.graph

    @_refused
    def profile(self, inputs: Mapping[str, object], runs: int = 10) -> Profile | None:
        """Runs the graph of the model, or of its last part, several times, and measures each step.

        Parameters
        ----------
        inputs
            Arrays as ``run`` takes them.
        runs
            How many runs are measured, after one that is not.

        Returns
        -------
        Profile or None
            As ``profile`` of a compiled graph gives it; each row names the ONNX nodes that it computes. ``None`` where
            no operator is left.

        Raises
        ------
        ModelError, DmlError
            An error that ``run`` raises.
        ValueError
            ``runs`` is less than 1.
        """
        arrays = self._arrays(inputs)
        stage, fed = self._last(arrays, [one.name for one in self.outputs], self._bound(arrays))
        return None if stage.compiled is None else stage.compiled.profile(*stage.inputs(fed), runs=runs)

    @_refused
    def stage(
        self, inputs: Mapping[str, object], names: Sequence[str], others: Mapping[str, Array] = MappingProxyType({})
    ) -> tuple[Stage, dict[str, Array]]:
        """The last stage of a run that gives these values, and the arrays that its graph is fed, by key.

        ``others``: values of another program, for the nodes that nothing here computes.
        """
        arrays = self._arrays(inputs)
        return self._last(arrays, names, self._bound(arrays), others)

    @property
    def settings(self) -> dict[str, Any]:
        """How the model was loaded: what the class is made with, beside the model."""
        sizes = {**self._sizes, **{name: (size,) for name, size in self._dimensions.items()}}
        return {"sizes": sizes, "level": self._settings.level, "limit": self._settings.limit}

    @_refused
    def first_stage(self, inputs: Mapping[str, object], names: Sequence[str], *, kept: bool = True) -> Stage:
        """The first stage of a run with inputs of these data types and sizes, whatever their elements are.

        ``kept``: a run with these sizes will follow.
        """
        arrays = self._arrays(inputs)
        self._refuse_unknown(names)
        sizes, given = self._bound(arrays), self._known(arrays)
        return self._stage(sizes, given, names) if kept else Stage(self._settings, sizes, given, names, {})

    @_refused
    def check(self, inputs: Mapping[str, object], names: Sequence[str]) -> None:
        """Raises what is wrong with the data types and the sizes of inputs, and with names of values."""
        self._arrays(inputs)
        self._refuse_unknown(names)

    # Running ----------------------------------------------------------------------------------------------------------

    def _known(self, arrays: Mapping[str, Array]) -> Given:
        """The facts that a run knows before its first stage."""
        return Given(replaced=frozenset(name for name in arrays if name in self._model.graph.initializers))

    @_refused
    def _run(self, inputs: Mapping[str, object], names: Sequence[str]) -> list[Array]:
        arrays = self._arrays(inputs)
        stage, fed = self._last(arrays, names, self._bound(arrays))
        return stage.results(fed)

    def _last(
        self,
        arrays: Mapping[str, Array],
        names: Sequence[str],
        sizes: Mapping[str, Sequence[int]],
        others: Mapping[str, Array] = MappingProxyType({}),
    ) -> tuple[Stage, dict[str, Array]]:
        """The last stage, once those before it have run; and the arrays for it, by key."""
        self._refuse_unknown(names)
        fed = {key_of((), name): array for name, array in arrays.items()}
        given = self._known(arrays)
        while (stage := self._stage(sizes, given, names, others)).needs:  # each stage computes at least one value more
            given, more = stage.following(fed)
            fed |= more
        return stage, fed

    def _stage(
        self,
        sizes: Mapping[str, Sequence[int]],
        given: Given,
        names: Sequence[str],
        others: Mapping[str, Array] = MappingProxyType({}),
    ) -> Stage:
        """The compiled stage, which is made if it is not kept; one that takes values of others is not kept."""
        if others:
            return Stage(self._settings, sizes, given, names, others)
        computed = ((name, element, array.shape, digest(array)) for name, (array, element) in given.computed.items())
        key = tuple(names), tuple(sizes.items()), given.replaced, tuple(given.fed.items()), tuple(computed)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = Stage(self._settings, sizes, given, names, others)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def _bound(self, arrays: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
        """The sizes of the inputs, and of the free dimensions that are not those of inputs that are given."""
        found = {**self._sizes, **{name: (size,) for name, size in self._dimensions.items()}}
        return {**found, **{name: array.shape for name, array in arrays.items()}} if arrays else found

    # Arguments --------------------------------------------------------------------------------------------------------

    def _arrays(self, inputs: Mapping[str, object]) -> dict[str, Array]:
        """The inputs as arrays; raises all that is wrong with them."""
        known = {one.name: one for one in self.inputs}
        missing = [one.name for one in self.inputs[: self.required] if one.name not in inputs]
        unknown = [name for name in inputs if name not in known]
        if missing or unknown:
            has = listing([repr(name) for name in known]) if known else "none"
            what = f"there is no input {unknown[0]!r}" if unknown else f"{missing[0]!r} is missing"
            raise TypeError(f"The model has the inputs {has}: {what}.")
        arrays, wrong = dict[str, Array](), list[Problem]()
        for name, one in known.items():
            if name in inputs:
                array = _array_of(inputs[name], one)
                wrong += self._wrong(one, array)
                arrays[name] = array
        if wrong:
            refuse(wrong)
        return arrays

    def _wrong(self, one: ModelValue, array: Array) -> list[Problem]:
        """The mistakes of an array."""
        place = whole(self._model.file)
        element = None if one.element is None else ELEMENTS[one.element]
        if element is not None and element.numpy is not None and array.dtype != np.dtype(element.numpy):
            values = {"name": one.name, "element": element.name, "wanted": element.numpy, "found": str(array.dtype)}
            return [make("DML-ONNX-run-type", place, values)]
        known = one.sizes
        if known is not None and (
            len(known) != array.ndim
            or any(isinstance(size, int) and size != own for size, own in zip(known, array.shape, strict=True))
        ):
            values = {"name": one.name, "given": written(array.shape), "sizes": written(known)}
            return [make("DML-ONNX-shape-sizes", place, values)]
        return []

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        known = {*self.names}
        wrong = [
            make("DML-ONNX-run-value", whole(self._model.file), {"name": name}, hint=self._instead_of(name))
            for name in names
            if name not in known
        ]
        if wrong:
            refuse(wrong)

    def _instead_of(self, name: str) -> str:
        """The hint for a name that no value has: of a value inside a fused node, which node this is."""
        gone = self._gone.get(name)
        if gone is None:
            return did_you_mean(name, {*self.names})
        if gone.into is None:
            return (
                f"The optimiser took {in_words(gone.node)} out of the model. Ask for the value without the optimiser."
            )
        outputs = listing([quote(one) for one in gone.into.outputs if one])
        joined = f"The optimiser made {in_words(gone.node)} a part of {in_words(gone.into)}, which gives {outputs}."
        return f"{joined} Ask for the value without the optimiser."

    def __repr__(self) -> str:
        inputs = ", ".join(f"{one.name}: {written(one.sizes or ())}" for one in self.inputs[: self.required])
        return f"<CompiledModel {quote(self._model.file)}: {inputs}>"


def _array_of(given: object, one: ModelValue) -> Array:
    """The elements that a caller gives: those of other libraries have bytes for bools, and at least one axis."""
    if isinstance(given, np.generic) or type(given) is np.ndarray:
        return four_bits.values_of(np.asarray(given))
    found = given.values() if isinstance(given, four_bits.Packed) else to_array(given)
    if found is None:
        raise TypeError(f"The input {one.name!r} is an array, not {show(given)}.")
    array = four_bits.values_of(np.asarray(found))
    array = array.view(bool) if one.element == "BOOL" and array.dtype == np.uint8 else array
    return array.reshape(()) if one.sizes == () and array.shape == (1,) else array


def digest(array: Array) -> bytes:
    """A digest that two arrays of the same data type and sizes have in common only if their elements are the same."""
    if array.dtype == object:
        return repr(array.tolist()).encode()
    return blake2b(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, digest_size=16).digest()
