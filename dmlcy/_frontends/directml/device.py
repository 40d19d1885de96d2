"""Bindings of arrays to inputs, and the device that runs models: the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import dtype_of, needed, view
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import TensorFlags
from dmlcy._frontends.directml.execution import current
from dmlcy._frontends.directml.expressions import Expression, Model, entries_of
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._graph.check import counted
from dmlcy._runtime.four_bits import in_bytes
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array
from dmlcy._words.values import show

_INITIALIZING: Final = Lock()


class TensorData(Array):
    """A result: an array with the sizes and the data type of its tensor."""


class Binding:
    """An array for an input of a graph.

    Parameters
    ----------
    expr
        An expression that ``input_tensor`` gave.
    data
        An array, converted to the data type of the tensor within one kind of data types, or where NumPy calls the cast
        safe. Its elements are the first bytes of the buffer of the tensor, whatever its shape is; the others are 0.
    """

    def __init__(self, expr: Expression, data: object) -> None:
        if not isinstance(expr, Expression):
            raise TypeError(f"Binding() takes an Expression, not {show(expr)}")
        self._expression, desc = expr, expr._value.desc
        size = max(desc.total_tensor_size_in_bytes, needed(desc))
        if current().is_unknown(data):
            self._data: npt.NDArray[np.uint8] | None = np.zeros(size, np.uint8)
            return
        found = to_array(data)
        target, given = numpy_dtype(dtype_of(desc)), np.asarray(data if found is None else found)
        if given.dtype.kind != target.kind and not np.can_cast(given.dtype, target, "safe"):
            refuse("Binding", "binding-kind", actual=str(given.dtype), expected=str(target))
        with np.errstate(over="ignore"):
            packed = in_bytes(given if given.dtype == target else np.ascontiguousarray(given, target))
        if packed.size > size:
            refuse("Binding", "binding-size", actual=packed.size, expected=size)
        self._data = np.empty(size, np.uint8)
        self._data[: packed.size], self._data[packed.size :] = packed, 0

    def release_data(self) -> None:
        """Frees the copy of the array; an OWNED_BY_DML input of an initialized model needs it no more."""
        self._data = None


class Device:
    """The CPU, whatever ``use_gpu`` says."""

    def __init__(self, use_gpu: bool = True, use_debug_layer: bool = False) -> None:
        self.use_gpu: bool = use_gpu
        self.use_debug_layer: bool = use_debug_layer

    def compute(self, model: Model, inputs: Sequence[Binding], outputs: Sequence[Expression]) -> list[TensorData]:
        """Runs a model; the first time it is initialized too."""
        if not _known(model, "compute")._initialized:
            with _INITIALIZING:
                if not model._initialized:  # threads that begin together initialize it once
                    self.initialize(model, inputs)
        return self._run(model, inputs, outputs, "compute")

    def initialize(self, model: Model, inputs: Sequence[Binding]) -> None:
        """Gives a model its OWNED_BY_DML inputs, which later changes of the arrays do not change."""
        owned = {f"input{i}" for i in _known(model, "initialize")._inputs if _is_owned(model, i)}
        model._compiled.own(_arrays(model, inputs, "initialize", owned), copy=False)  # nobody changes those of bindings
        model._initialized = True

    def dispatch(self, model: Model, inputs: Sequence[Binding], outputs: Sequence[Expression]) -> list[TensorData]:
        """Runs an initialized model: the arrays of ``outputs``, which are among the outputs that it was built with."""
        return self._run(model, inputs, outputs, "dispatch")

    def _run(
        self, model: Model, inputs: Sequence[Binding], outputs: Sequence[Expression], function: str
    ) -> list[TensorData]:
        """As ``dispatch``; errors name the function that was called."""
        if not _known(model, function)._initialized:
            refuse(function, "initialize", names="the model")
        places: list[int] = []
        for number, one in enumerate(entries_of(outputs, Expression, f"{function}() takes a list of expressions")):
            if one not in model._outputs:
                refuse(function, "binding-output", index=number)
            places.append(model._outputs.index(one))
        others = {f"input{i}" for i in model._inputs if not _is_owned(model, i)}
        found = model._compiled(**_arrays(model, inputs, function, others))
        results = found if isinstance(found, tuple) else (found,)
        fresh = [place not in places[:number] for number, place in enumerate(places)]
        arrays = (results[place] if new else results[place].copy() for place, new in zip(places, fresh, strict=True))
        return [array.view(TensorData) for array in arrays]

    def __repr__(self) -> str:
        return "dml.Device on CPU"


def _is_owned(model: Model, index: int) -> bool:
    one = model._inputs.get(index)
    return one is not None and one._value.desc.flags == TensorFlags.OWNED_BY_DML


def _known(model: Model, function: str) -> Model:
    """The model itself; TypeError for what is none."""
    if not isinstance(model, Model):
        raise TypeError(f"{function}() takes a Model, which GraphBuilder.build() gives, not {show(model)}")
    return model


def _what(expression: Expression, model: Model) -> str:
    """The object of a binding that is in a wrong place."""
    index = expression._index
    if index is None:
        return "an expression that is no input"
    return f"input {index}" if model._inputs.get(index) is expression else f"input {index} of another graph"


def _arrays(model: Model, inputs: Sequence[Binding], function: str, names: set[str]) -> dict[str, Array]:
    """The arrays of the bindings with these names, in the order of the inputs."""
    bindings = entries_of(inputs, Binding, f"{function}() takes a list of bindings")
    if len(bindings) != len(model._inputs):
        words = {"actual": counted(len(bindings), "binding"), "expected": counted(len(model._inputs), "input")}
        refuse(function, "binding-count", **words)
    found = {}
    for place, one in enumerate(bindings):
        if one._expression is not model._inputs[place]:
            refuse(function, "binding-order", place=place, actual=_what(one._expression, model))
        if f"input{place}" in names:
            if one._data is None:
                refuse(function, "binding-released", place=place)
            found[f"input{place}"] = view(one._data, one._expression._value.desc, 0)
    return found
