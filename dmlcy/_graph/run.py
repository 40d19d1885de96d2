"""A graph that was checked and compiled once, and is called many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any, TypeAlias

import numpy as np

from dmlcy._compile import compile as compile_desc
from dmlcy._desc.memory import view
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, raise_violations
from dmlcy._facts.names import not_runnable
from dmlcy._facts.tables import LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.arrays import Array, Buffer, Taker, label_of, named
from dmlcy._graph.model import Constant, Node, Port, Structure
from dmlcy._graph.owned import owned_inputs
from dmlcy._graph.plan import Action, Plan, Tensor, actions, is_plain, plan_of
from dmlcy._graph.violations import made, of_node
from dmlcy._graph.wiring import wiring_of
from dmlcy._runtime import four_bits
from dmlcy._runtime.memory import require
from dmlcy._runtime.tensor import to_array

Seen: TypeAlias = Callable[[Port, Array], None]
"""Is told of each value, under its own desc."""

FUNCTION = "graph"
"""The name of a compiled graph in errors."""


class CompiledGraph:
    """A graph that was checked once: ``op(x, ..., out=None)``, with the inputs of the graph by position or name.

    The result is the output of the graph, or a tuple of its outputs. Inputs with the flag OWNED_BY_DML are given to
    ``initialize`` once, and to no call.
    """

    def __init__(self, graph: Structure, level: int, path: str | None) -> None:
        refused = [
            of_node(not_runnable(node.kind), node, number)
            for number, node in enumerate(graph.nodes)
            if isinstance(node, Node) and not node.desc.operator.runs
        ]
        if refused:
            raise_violations(refused, "compile")
        self._graph, self._path = graph, path
        self._wiring = wiring_of(graph)
        self._actions = actions(graph)
        self._plan = plan_of(graph, path == "reference")
        self._operators = _compiled(graph, level, path)
        self._owned: dict[int, Buffer] = {}
        self._descs = [self._wiring.desc_of(Port(None, index)) for index in range(len(graph.inputs))]
        owned = owned_inputs(graph)
        names = self._wiring.value_names
        every = {names[Port(None, index)]: index for index in range(len(graph.inputs))}
        self._bound = {name: index for name, index in every.items() if index in owned}
        self._given = {name: index for name, index in every.items() if index not in owned}

    @property
    def graph(self) -> Structure:
        """What is computed."""
        return self._graph

    @property
    def __signature__(self) -> Signature:
        """How it is called: the inputs of the graph, and ``out``."""
        names = [name for name in self._given if name.isidentifier() and not iskeyword(name) and name != "out"]
        inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        return Signature([*inputs, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the inputs that a call takes."""
        return tuple(self._given)

    @property
    def owned(self) -> tuple[str, ...]:
        """The names of the inputs with the flag OWNED_BY_DML, which ``initialize`` takes."""
        return tuple(self._bound)

    def plan(self) -> Plan:
        """The nodes in the order in which they run, with the memory that each takes."""
        return self._plan

    def initialize(self, /, *arrays: Any, **by_name: Any) -> None:
        """Gives the inputs that have the flag OWNED_BY_DML; they are copied."""
        given = named(arrays, by_name, [*self._bound], "initialize()")
        taker = Taker(self._graph)
        found = self._buffers(taker, given, self._bound, copy=True)
        _refuse(taker)
        self._owned = found

    def __call__(self, /, *arrays: Any, out: Any = None, **by_name: Any) -> Any:
        return self.run(arrays, by_name, out)

    def run(self, arrays: Sequence[Any], by_name: Mapping[str, Any], out: Any = None, seen: Seen | None = None) -> Any:
        """What a call does, with a hook for the values in between.

        Parameters
        ----------
        arrays, by_name
            The inputs by position, and by name.
        out
            As in a call.
        seen
            Is called with the port and the array of each value: of the inputs and the constants, then of the outputs of
            each node once the node has run. ``value_names`` of the graph says what a port is called. Another node may
            write over the memory of the array later: copy it to keep it, and do not change it. An exception of ``seen``
            ends the run.

        Returns
        -------
        array, or tuple of arrays
            The outputs of the graph.
        """
        given = named(arrays, by_name, [*self._given], f"{FUNCTION}()")
        if len(self._owned) < len(self._bound):
            names = ", ".join(map(repr, self._bound))
            raise_violations([made(self._graph, "initialize", "graph", None, {"names": names})], FUNCTION)
        taker = Taker(self._graph)
        buffers = self._buffers(taker, given, self._given, copy=False)
        outs = self._outs(taker, out)
        _refuse(taker)
        require(self._plan.peak, f"{FUNCTION}(): the values")
        results = self._results(self._values(buffers, seen), outs)
        return out if out is not None else results[0] if len(results) == 1 else tuple(results)

    def _buffers(
        self, taker: Taker, given: Mapping[str, Any], indices: Mapping[str, int], copy: bool
    ) -> dict[int, Buffer]:
        """The bytes of graph inputs, by their indices; one that no tensor describes is not read."""
        found = {}
        for name, index in indices.items():
            desc, label = self._descs[index], label_of("input", self._graph.inputs[index].name, index)
            if desc is None:
                continue
            array = taker.input(index, label, given[name], desc)
            if array is not None:
                size = self._wiring.sizes[Port(None, index)]
                found[index] = taker.buffer(index, label, array, desc, size, copy)
        return found

    def _outs(self, taker: Taker, out: Any) -> list[Array | None]:
        """The arrays for the outputs; None: new ones."""
        count = len(self._graph.outputs)
        if out is None:
            return [None] * count
        parts = (out,) if count == 1 else out
        if type(parts) is not tuple or len(parts) != count:
            raise TypeError(f"{FUNCTION}() takes a tuple of {count} arrays as out")
        others = dict(taker.taken)
        found: list[Array | None] = []
        for index, part in enumerate(parts):
            label = label_of("output", self._graph.outputs[index].name, index)
            array = taker.output(index, label, part, self._output(index)[1], others)
            if array is not None:
                others[label] = array
            found.append(array)
        return found

    def _output(self, index: int) -> tuple[Port, TensorDesc]:
        """The value that is an output of the graph, and its desc there."""
        port = self._wiring.source_of(Port(None, index))
        assert port is not None
        desc = self._graph.outputs[index].desc or self._wiring.desc_of(port)
        assert desc is not None
        return port, desc

    def _values(self, inputs: Mapping[int, Buffer], seen: Seen | None) -> dict[Port, Buffer]:
        """Runs the nodes; the buffers that are left are those of graph inputs, constants and graph outputs."""
        values: dict[Port, Buffer] = {Port(None, index): one for index, one in (*inputs.items(), *self._owned.items())}
        for number, node in enumerate(self._graph.nodes):
            if isinstance(node, Constant) and node.data is not None:
                values[Port(number, 0)] = node.data
        if seen is not None:
            for port, buffer in values.items():
                self._tell(seen, port, buffer)
        for action in self._actions:
            self._node(action, values)
            if seen is not None:
                for one in action.outputs:
                    self._tell(seen, one.port, values[one.port])
            for port in action.frees:
                del values[port]
        return values

    def _tell(self, seen: Seen, port: Port, buffer: Buffer) -> None:
        desc = self._wiring.desc_of(port)
        if desc is not None:
            seen(port, four_bits.given_back(view(buffer, desc, 0)))

    def _node(self, action: Action, values: dict[Port, Buffer]) -> None:
        """Runs one node: its outputs are new arrays, or written to buffers where these have strides or are inputs."""
        arguments = [_tensor(one, values) for one in action.inputs]
        operator: Any = self._operators[action.node]
        outs = None
        if action.over is not None:
            buffers = [values.pop(action.over)]
            outs = [view(buffers[0], action.outputs[0].desc, 0)]
        elif not all(is_plain(one.desc, one.size) for one in action.outputs):
            buffers = [np.zeros(one.size, np.uint8) for one in action.outputs]
            outs = [view(buffer, one.desc, 0) for buffer, one in zip(buffers, action.outputs, strict=True)]
        try:
            if outs is None:
                found = operator(*arguments)
                buffers = [_buffer(one) for one in (found if type(found) is tuple else (found,))]
            else:
                operator(*arguments, out=outs[0] if _is_one(self._graph, action.node) else tuple(outs))
        except DmlError as error:
            node = self._graph.nodes[action.node]
            raise_violations([of_node(one, node, action.node) for one in error.violations], FUNCTION, error)
        values.update(zip((one.port for one in action.outputs), buffers, strict=True))

    def _results(self, values: Mapping[Port, Buffer], outs: Sequence[Array | None]) -> list[Array]:
        """The outputs: each in its array, or an array of its own that shares no memory."""
        results: list[Array] = []
        taken: set[Port] = set()
        for index, out in enumerate(outs):
            port, desc = self._output(index)
            array = view(values[port], desc, 0)
            if out is not None:
                four_bits.write(out, array)
            elif port in taken or not _is_new(self._graph, port) or not array.flags.c_contiguous:
                array = np.array(array, order="C")
            taken.add(port)
            results.append(four_bits.given_back(array) if out is None else out)
        return results

    def __reduce__(self) -> Any:
        return compiled, (self._graph, self._path, self._owned)

    def __repr__(self) -> str:
        return f"compile({self._graph!r})"


def compiled(graph: Structure, path: str | None, owned: dict[int, Buffer]) -> CompiledGraph:
    """A compiled graph for one that was compiled before, and initialised with these buffers."""
    found = CompiledGraph(graph, len(LEVELS) - 1, path)
    found._owned = owned
    return found


def _compiled(graph: Structure, level: int, path: str | None) -> list[Any]:
    """The compiled operator of each node, one for all nodes of a desc; None for a constant."""
    known: dict[OperatorDesc, Any] = {}
    found: list[Any] = []
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Constant):
            found.append(None)
            continue
        if node.desc not in known:
            chosen: Any = "reference" if path == "reference" else None
            try:
                known[node.desc] = compile_desc(node.desc, LEVELS[level].name, path=chosen)
            except DmlError as error:
                raise_violations([of_node(one, node, number) for one in error.violations], "compile", error)
        found.append(known[node.desc])
    return found


def _tensor(one: Any, values: Mapping[Port, Buffer]) -> Any:
    """What an operator is given for a field: an array, a tuple of them, or None."""
    if one is None:
        return None
    if isinstance(one, Tensor):
        return view(values[one.port], one.desc, 0)
    return tuple(view(values[entry.port], entry.desc, 0) for entry in one)


def _buffer(result: Any) -> Buffer:
    """The bytes of what an operator gave."""
    array = to_array(result)
    assert array is not None
    return four_bits.in_bytes(array)


def _is_one(graph: Structure, number: int) -> bool:
    """Whether the outputs of a node are one array, and no tuple of arrays."""
    node = graph.nodes[number]
    assert isinstance(node, Node)
    there = [f for f in node.desc.operator.fields if f.kind == "output" and getattr(node.desc, f.python) is not None]
    return len(there) == 1 and not type_of(there[0].type).tensors


def _is_new(graph: Structure, port: Port) -> bool:
    """Whether a run has made the buffer of a value."""
    return port.node is not None and not isinstance(graph.nodes[port.node], Constant)


def _refuse(taker: Taker) -> None:
    if taker.wrong:
        raise_violations(taker.wrong, FUNCTION)
