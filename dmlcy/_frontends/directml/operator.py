"""A compiled graph of the newer API: its weights are given once, and it is called many times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias, overload

import numpy as np

from dmlcy._frontends.directml.buffers import Buffer, bound
from dmlcy._frontends.directml.device import Device
from dmlcy._frontends.directml.execution import Compiled
from dmlcy._frontends.directml.expressions import Expression, Scope, value_of
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._types import Array, DType
from dmlcy._words.values import listing, show

Inputs: TypeAlias = Mapping[Expression | str, object] | Mapping[Expression, object] | Mapping[str, object] | None
"""Arrays and Buffers by expression or by name."""


@dataclass(slots=True)
class Input:
    """An input of a graph. ``known``: its array or Buffer, of a constant, until the operator is initialized."""

    expression: Expression
    name: str | None
    owned: bool
    known: object = None
    value: str = field(init=False)  # its name in the compiled graph
    dtype: DType = field(init=False)
    sizes: tuple[int, ...] | None = field(init=False)  # ``None`` with strides

    def __post_init__(self) -> None:
        self.value = f"input{self.expression._index}"
        self.dtype = self.expression.dtype
        self.sizes = self.expression.shape if self.expression.strides is None else None

    @property
    def label(self) -> str:
        """How messages call it."""
        named = "" if self.name is None else f' "{self.name}"'
        return f"input {self.expression._index}{named} ({self.expression.dtype}, {[*self.expression.shape]})"

    def array(self, given: object, device: Device, function: str) -> Array:
        """An array or a Buffer as its tensor."""
        if type(given) is np.ndarray and given.dtype == self.dtype and given.shape == self.sizes:
            return given  # the graph takes it in any layout
        return bound(given, self.expression._value.desc, device, function, self.label)


class CompiledOperator:
    """A compiled graph, which ``Graph.compile`` gives. Several threads may call it."""

    def __init__(self, compiled: Compiled, inputs: list[Input], outputs: int, device: Device) -> None:
        self._compiled, self._inputs, self._outputs, self._device = compiled, inputs, outputs, device
        self._by_key = {one.expression: one for one in inputs} | {
            one.name: one for one in inputs if one.name is not None
        }
        self._initialized = False
        self._unread: dict[str, Array] = {}
        self._persistent = 0
        if all(one.known is not None for one in inputs if one.owned):
            self.initialize()

    @property
    def initialized(self) -> bool:
        """Whether all owned inputs were given."""
        return self._initialized

    @property
    def temporary_size(self) -> int:
        """The bytes in which a call computes what is between its inputs and its outputs."""
        return int(self._compiled.plan().arena)

    @property
    def persistent_size(self) -> int:
        """The bytes of the owned inputs that the operator keeps between calls."""
        return self._persistent

    @property
    def descriptor_count(self) -> int:
        """How many tensors a call binds: the inputs that are not owned, and the outputs."""
        return sum(not one.owned for one in self._inputs) + self._outputs

    def initialize(self, weights: Inputs = None) -> None:
        """Gives the operator its owned inputs, which it reads once.

        Parameters
        ----------
        weights
            The arrays and Buffers of the owned inputs, by expression or by name. The first time constants may be left
            out. Afterwards all owned inputs must be given again.

        Raises
        ------
        ValueError
            An input is missing, given twice, not owned or not of this graph, or its array does not fit (the ids
            DML-GRAPH-bound-...).
        TypeError
            A key is no expression and no name.
        """
        given = self._resolved(weights, "initialize", owned=True)
        for one in self._inputs:
            if one.owned and one.known is not None and not self._initialized:
                given.setdefault(id(one), one.known)
        arrays = self._arrays(given, "initialize", owned=True)
        self._compiled.initialize(**{name: arrays[name] for name in self._compiled.owned})
        self._unread = {
            name: np.broadcast_to(np.zeros((), array.dtype), array.shape)
            for name, array in arrays.items()
            if name in self._compiled.called
        }
        self._persistent = sum(arrays[name].nbytes for name in self._compiled.owned)
        self._initialized = True
        for one in self._inputs:
            one.known = None

    @overload
    def dispatch(self, inputs: Inputs = None, *, readback: Literal[True] = True) -> list[Array]: ...
    @overload
    def dispatch(self, inputs: Inputs = None, *, readback: Literal[False]) -> list[Buffer]: ...
    @overload
    def dispatch(self, inputs: Inputs = None, *, readback: bool) -> list[Array] | list[Buffer]: ...
    def dispatch(self, inputs: Inputs = None, *, readback: bool = True) -> list[Array] | list[Buffer]:
        """Computes the outputs.

        Parameters
        ----------
        inputs
            The arrays and Buffers of all inputs that are not owned, by expression or by name.
        readback
            Whether the outputs are NumPy arrays; else they are Buffers.

        Returns
        -------
        list of numpy.ndarray or of Buffer
            The outputs in their order.

        Raises
        ------
        ValueError
            Owned inputs were not given to ``initialize`` (DML-GRAPH-initialize); or as ``initialize`` raises.
        TypeError
            A key is no expression and no name.
        """
        if not self._initialized:
            missing = ", ".join(one.label for one in self._inputs if one.owned)
            refuse("dispatch", "initialize", names=missing)
        arrays = self._arrays(self._resolved(inputs, "dispatch", owned=False), "dispatch", owned=False) | self._unread
        found = self._compiled(*(arrays[name] for name in self._compiled.called))
        outputs = [*found] if isinstance(found, tuple) else [found]
        return outputs if readback else [Buffer._of(self._device, one) for one in outputs]

    @overload
    def __call__(self, inputs: Inputs = None, *, readback: Literal[True] = True) -> list[Array]: ...
    @overload
    def __call__(self, inputs: Inputs = None, *, readback: Literal[False]) -> list[Buffer]: ...
    @overload
    def __call__(self, inputs: Inputs = None, *, readback: bool) -> list[Array] | list[Buffer]: ...
    def __call__(self, inputs: Inputs = None, *, readback: bool = True) -> list[Array] | list[Buffer]:
        """As ``dispatch``."""
        return self.dispatch(inputs, readback=readback)

    def _resolved(self, given: Inputs, function: str, owned: bool) -> dict[int, object]:
        """The values by the ``id`` of their inputs; refuses keys that are none, of the other kind, or there twice."""
        if given is not None and type(given) is not dict and not isinstance(given, Mapping):
            raise TypeError(f"{function}() takes a dict of inputs, not {show(given)}")
        found: dict[int, object] = {}
        for key, value in (given or {}).items():
            one = self._by_key.get(key)
            if one is None:
                self._refuse_key(key, function)
            if one.owned is not owned:
                refuse(function, "bound-method", label=one.label, method="dispatch" if owned else "initialize")
            if id(one) in found:
                refuse(function, "bound-twice", label=one.label)
            found[id(one)] = value
        return found

    def _refuse_key(self, key: object, function: str) -> NoReturn:
        if not isinstance(key, Expression | str):
            raise TypeError(f"{function}() takes expressions and names as keys, not {type(key).__name__}: {show(key)}")
        if isinstance(key, str):
            known = listing([one.label for one in self._inputs]) or "none"
            refuse(function, "bound-name", key=repr(key), known=known)
        refuse(function, "bound-expression", key=repr(key))

    def _arrays(self, given: dict[int, object], function: str, owned: bool) -> dict[str, Array]:
        """The tensors of all inputs of a kind, by the names of the compiled graph."""
        needed = [one for one in self._inputs if one.owned is owned]
        missing = [one.label for one in needed if id(one) not in given]
        if missing:
            refuse(function, "bound-missing", labels=", ".join(missing))
        return {f"input{one.expression._index}": one.array(given[id(one)], self._device, function) for one in needed}

    def __repr__(self) -> str:
        return f"dml.CompiledOperator of {len(self._inputs)} inputs and {self._outputs} outputs"


def expressions_of(outputs: Iterable[object], graph: Scope) -> list[Expression]:
    """The outputs of ``Graph.compile``; TypeError for what are none, ValueError for those of another graph."""
    if isinstance(outputs, Expression | str) or not hasattr(outputs, "__iter__"):
        raise TypeError(f"compile() takes a list of expressions, not {show(outputs)}")
    given = [*outputs]
    if not given:
        raise TypeError("compile() takes at least one expression, not an empty list")
    found = []
    for one in given:
        if not isinstance(one, Expression):
            raise TypeError(f"compile() takes a list of expressions, not {show(one)} in it")
        value_of(one, "compile", graph)
        found.append(one)
    return found
