"""A graph that was checked and compiled once, and is called many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from dmlcy._compile import compile as compile_desc
from dmlcy._desc.memory import dtype_of, view
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._desc.whole import Switches
from dmlcy._errors import DmlError, raise_violations
from dmlcy._facts.dtypes import has_four_bits
from dmlcy._facts.names import not_runnable
from dmlcy._facts.tables import LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.actions import NONE, Action, Tensor, actions
from dmlcy._graph.arrays import Buffer, Taker, label_of, named
from dmlcy._graph.model import Constant, Node, Port, Structure
from dmlcy._graph.optimizations import Optimizations, optimizations_of
from dmlcy._graph.pieces import Pieces, Piecewise, part_of
from dmlcy._graph.places import places_of
from dmlcy._graph.plan import Plan, peak_of, plan_of
from dmlcy._graph.program import program_of
from dmlcy._graph.violations import made, of_node
from dmlcy._graph.wiring import wiring_of
from dmlcy._runtime import four_bits, memory
from dmlcy._runtime.compiled import CompiledOperator
from dmlcy._runtime.context import RECORDINGS
from dmlcy._runtime.program import Given, Values
from dmlcy._runtime.signatures import CallSignature
from dmlcy._types import Array

if TYPE_CHECKING:
    from dmlcy._graph.profile import Profile
    from dmlcy._graph.timing import Stamps

Seen: TypeAlias = Callable[[Port, Array], None]
"""Is told of each value, under its own desc."""

CHAINS: Final[Switches] = frozenset(("chains", "epilogues", "pieces"))
"""Without these, each node is a step of its own."""
FUNCTION = "graph"
"""The name of a compiled graph in errors."""


class CompiledGraph:
    """A graph that was checked once: ``op(x, ..., out=None)``, with the inputs of the graph by position or name.

    The result is the output of the graph, or a tuple of its outputs. Inputs with the flag OWNED_BY_DML are given to
    ``initialize`` once, and to no call.
    """

    def __init__(self, graph: Structure, level: int, path: str | None, without: Switches = NONE) -> None:
        refused = [
            of_node(not_runnable(node.kind), node, number)
            for number, node in enumerate(graph.nodes)
            if isinstance(node, Node) and not node.desc.operator.runs
        ]
        if refused:
            raise_violations(refused, "compile")
        self._graph, self._level, self._path, self._without = graph, level, path, without
        if path == "reference":
            without |= CHAINS
        self._left_out = without
        self._has_chains = any(one.chain is not None or one.pieces is not None for one in actions(graph, without))
        self._apart: CompiledGraph | None = None
        self._apart_of: Given | None = None
        self._wiring = wiring_of(graph)
        self._actions = actions(graph, without)
        self._places = places_of(graph, without)
        self._peak = peak_of(graph, path == "reference", without)
        self._operators = _compiled(graph, level, path)
        pieces = [one.pieces for one in self._actions if one.pieces is not None]
        self._piecewise = {one.reader: self._cut(one) for one in pieces if one.joint is None}
        self._folded: dict[Port, Buffer] = {}
        self._program = program_of(graph, self._operators, copy_context().run(self._fold), without)
        self._descs = [self._wiring.desc_of(Port(None, index)) for index in range(len(graph.inputs))]
        self._outputs = [self._output(index) for index in range(len(graph.outputs))]
        own = {index: place for place, index in enumerate(self._places.results)}
        self._own = [own.get(index) for index in range(len(graph.outputs))]
        names = self._wiring.value_names
        self._bound = {names[port]: port.place for port in self._places.fixed if port.node is None}
        self._given = {names[port]: port.place for port in self._places.given}
        self._readers = [self._readers_of(port) for port in self._places.fixed]
        self._bind({})

    @property
    def graph(self) -> Structure:
        """The computed graph."""
        return self._graph

    @CallSignature
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
        return plan_of(self._graph, self._path == "reference", self._left_out)

    @property
    def optimizations(self) -> Optimizations:
        """The changes that each optimization made; ``compile`` leaves out the optimizations in ``without``."""
        return optimizations_of(self._graph, self._left_out)

    def profile(self, /, *arrays: object, runs: int = 10, **by_name: object) -> Profile:
        """Runs the graph several times, and measures each step: time, bytes, operations a second, share.

        Parameters
        ----------
        arrays, by_name
            The inputs, as in a call. An input with the name ``runs`` is given by position.
        runs
            How many runs are measured, after one that is not.

        Returns
        -------
        Profile
            A row for each step; ``print`` shows the longest first.

        Raises
        ------
        DmlError
            An error that a call raises.
        ValueError
            ``runs`` is less than 1.
        """
        from dmlcy._graph.timing import profiled, steps_of  # here: a run needs none of it

        steps = steps_of(self._actions)
        return profiled(
            self._graph, steps, self._places.adjacent, lambda stamps: self.run(arrays, by_name, stamps=stamps), runs
        )

    def initialize(self, /, *arrays: object, **by_name: object) -> None:
        """Gives the inputs that have the flag OWNED_BY_DML; they are copied."""
        self.own(named(arrays, by_name, [*self._bound], "initialize()"), copy=True)

    def own(self, given: Mapping[str, object], copy: bool) -> None:
        """Gives the inputs by their names, as ``initialize`` does; without a copy the arrays must stay as they are."""
        taker = Taker(self._graph)
        found = self._buffers(taker, given, self._bound, copy)
        _refuse(taker)
        self._bind(found)

    def must_be_initialized(self, function: str, hint: str = "") -> None:
        """Refuses a graph whose inputs with the flag OWNED_BY_DML were not given."""
        if len(self._owned) < len(self._bound):
            names = ", ".join(map(repr, self._bound))
            raise_violations([made(self._graph, "initialize", "graph", None, {"names": names}, hint=hint)], function)

    def _readers_of(self, port: Port) -> int:
        """How many tensors read an array that may be left out once all have what they need of it; 0: it may not."""
        kept = port.node is not None or any(one.root == port for one in self._places.views.values())
        return 0 if kept else len(self._wiring.readers.get(port, ()))

    def _cut(self, pieces: Pieces) -> Piecewise:
        """An object that runs two nodes piece by piece."""
        nodes = (self._graph.nodes[number] for number in (pieces.maker, pieces.reader))
        maker, reader = (node.desc for node in nodes if isinstance(node, Node))
        return Piecewise(pieces, maker, reader, lambda desc: compile_desc(desc, LEVELS[self._level].name))

    def _bind(self, owned: Mapping[int, Buffer]) -> None:
        """Gives the program the constants, and inputs with the flag OWNED_BY_DML. Runs that have begun keep theirs."""
        arrays = [self._fixed_bytes(port, owned) for port in self._places.fixed]
        fixed = Given(self._program, arrays, self._readers)
        left_out = {self._places.fixed[number].place: None for number in fixed.left_out}
        self._fixed = fixed
        self._owned: Mapping[int, Buffer | None] = {**owned, **left_out}  # last: who finds all here finds them there

    def _all_owned(self) -> dict[int, Buffer]:
        """The inputs with the flag OWNED_BY_DML; inputs that are left out are restored from the loops' packed ones."""
        fixed, owned = self._fixed, self._owned
        places = {self._places.fixed[number].place: number for number in fixed.left_out}
        return {index: fixed.restored(places[index]) if one is None else one for index, one in owned.items()}

    def _fixed_bytes(self, port: Port, owned: Mapping[int, Buffer | None]) -> Buffer | None:
        if port.node is None:
            return owned.get(port.place)
        node = self._graph.nodes[port.node]
        return node.data if isinstance(node, Constant) else self._folded.get(port)

    def _fold(self) -> set[int]:
        """Computes what depends on constants only. Gives the nodes that refuse values, or wait for such nodes."""
        RECORDINGS.set(())
        left: set[int] = set()
        for action in self._actions:
            if not action.folded:
                continue
            buffers = {one.port: np.zeros(one.size, np.uint8) for one in action.outputs}
            outs = tuple(view(buffers[one.port], one.desc, 0) for one in action.outputs)
            try:
                if left.isdisjoint(self._root(one.port).node for one in action.read()):
                    self._compute(action, self._known, outs)
                else:
                    left.add(action.node)
            except DmlError:
                left.add(action.node)
            self._folded |= buffers
        return left

    def _known(self, port: Port, desc: TensorDesc) -> Array:
        """A constant, or what is computed of constants only, as a tensor."""
        found = self._fixed_bytes(self._root(port), {})
        assert found is not None
        return view(found, self._places.seen(port, desc), self._places.of[port][1])

    def known(self, port: Port, desc: TensorDesc) -> Array | None:
        """The same; None for what a run computes, or is given."""
        return None if self._fixed_bytes(self._root(port), {}) is None else self._known(port, desc)

    def _root(self, port: Port) -> Port:
        """The value in whose memory a value is."""
        return self._places.views[port].root if port in self._places.views else port

    def __call__(self, /, *arrays: object, out: object = None, **by_name: object) -> Any:
        inputs = arrays if not by_name else self._in_order(arrays, by_name)
        if inputs is not None and self._peak <= memory.PHYSICAL:
            found = self._program.quick(self, self._fixed, inputs, out)
            if found is not None:
                return found
        return self.run(arrays, by_name, out)

    def _in_order(self, arrays: tuple[object, ...], by_name: Mapping[str, object]) -> tuple[object, ...] | None:
        """The inputs of a call in their order; None for names that are not those of the others."""
        names = self.called[len(arrays) :]
        if len(names) != len(by_name) or any(name not in by_name for name in names):
            return None
        return (*arrays, *(by_name[name] for name in names))

    def run(
        self,
        arrays: Sequence[object],
        by_name: Mapping[str, object],
        out: object = None,
        seen: Seen | None = None,
        stamps: Stamps | None = None,
    ) -> Any:
        """Runs the graph as a call does, with a hook for the values in between.

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
        stamps
            Gets the times on a clock, in nanoseconds: at the start of the first step, and at the end of each one.

        Returns
        -------
        array, or tuple of arrays
            The outputs of the graph.
        """
        if (seen is not None or RECORDINGS.get()) and self._has_chains:
            return self._node_by_node().run(arrays, by_name, out, seen)
        given = named(arrays, by_name, [*self._given], f"{FUNCTION}()")
        self.must_be_initialized(FUNCTION)
        fixed = self._fixed
        if RECORDINGS.get() and fixed.left_out:
            fixed = Given(self._program, [self._fixed_bytes(port, self._all_owned()) for port in self._places.fixed])
        taker = Taker(self._graph)
        buffers = self._buffers(taker, given, self._given, copy=False)
        outs = self._outs(taker, out)
        _refuse(taker)
        memory.require(self._peak, f"{FUNCTION}(): the values")
        if seen is not None:
            self._tell_given(seen, buffers, self._all_owned())
        results = self._program.run(self, fixed, [buffers.get(index) for index in self._given.values()], seen, stamps)
        if out is None:
            results = [four_bits.given_back(one) for one in results]
            return results[0] if len(results) == 1 else tuple(results)
        for target, result in zip(outs, results, strict=True):
            assert target is not None  # else it was refused
            four_bits.write(target, result)
        return out

    def _node_by_node(self) -> CompiledGraph:
        """The same graph without chains: each value is in memory as a whole, once its node has run."""
        found = self._apart
        if found is None:
            found = CompiledGraph(self._graph, self._level, self._path, self._left_out | CHAINS)
            self._apart = found
        if self._bound and self._apart_of is not self._fixed:
            found._bind(self._all_owned())
            self._apart_of = self._fixed
        return found

    def _buffers(
        self, taker: Taker, given: Mapping[str, object], indices: Mapping[str, int], copy: bool
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

    def _outs(self, taker: Taker, out: object) -> list[Array | None]:
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
            array = taker.output(index, label, part, self._outputs[index][1], others)
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

    def _tell_given(self, seen: Seen, inputs: Mapping[int, Buffer], owned: Mapping[int, Buffer]) -> None:
        """Tells of the values that are there before the first node runs."""
        values = {Port(None, index): one for index, one in (*inputs.items(), *owned.items())}
        for number, node in enumerate(self._graph.nodes):
            if isinstance(node, Constant) and node.data is not None:
                values[Port(number, 0)] = node.data
        for port, buffer in values.items():
            desc = self._wiring.desc_of(port)
            if desc is not None:
                seen(port, four_bits.given_back(view(buffer, desc, 0)))

    def _tell(self, values: Values, step: int, seen: Seen) -> None:
        """Tells of the outputs of a step that has run."""
        for one in self._actions[step].outputs:
            desc = self._wiring.desc_of(one.port)
            assert desc is not None
            seen(one.port, four_bits.given_back(self._view(values, one.port, desc)))

    def _view(self, values: Values, port: Port, desc: TensorDesc) -> Array:
        """A value as a tensor."""
        buffer, offset = values.at(*self._places.of[port])
        return view(buffer, self._places.seen(port, desc), offset)

    def _call(self, values: Values, step: int) -> None:
        """Runs a step as a call of its operator, which writes its outputs to their places, if they are not there."""
        action = self._actions[step]
        if action.pieces is not None:
            self._in_pieces(values, action, action.pieces)
            return
        there = action.folded or action.views or action.node in self._places.adjacent
        outs = None if there else tuple(self._view(values, one.port, one.desc) for one in action.outputs)
        self._compute(action, lambda port, desc: self._view(values, port, desc), outs)

    def _in_pieces(self, values: Values, action: Action, pieces: Pieces) -> None:
        """Runs a node, and makes what it reads piece by piece."""

        def known(tensor: Tensor, axis: int | None, span: tuple[int, int]) -> Array:
            if axis is None:
                return self._view(values, tensor.port, tensor.desc)
            if has_four_bits(dtype_of(tensor.desc)):
                return part_of(*values.at(*self._places.of[tensor.port]), tensor.desc, axis, span)
            return self._view(values, tensor.port, tensor.desc)[(slice(None),) * axis + (slice(*span),)]

        maker = next(one for one in self._actions if one.node == pieces.maker)
        names = (path for path, desc in self._wiring.inputs[pieces.maker] if desc is not None)
        given = {
            path: self._view(values, port, desc)
            for (path, desc), port in zip(self._wiring.inputs[action.node], self._wiring.read[action.node], strict=True)
            if desc is not None and port is not None and path != pieces.path
        }
        (output,) = action.outputs
        parts = {path: partial(known, one) for path, one in zip(names, maker.read(), strict=True)}
        self._piecewise[action.node].run(parts, given, self._view(values, output.port, output.desc))

    def _compute(
        self, action: Action, viewed: Callable[[Port, TensorDesc], Array], outs: tuple[Array, ...] | None
    ) -> None:
        """Calls the operator of a node; ``viewed`` gives what it reads, and None for ``outs`` new arrays."""
        operator: Callable[..., object] | None = self._operators[action.node]
        assert operator is not None
        arguments = [
            tuple(viewed(entry.port, entry.desc) for entry in one)
            if isinstance(one, tuple)
            else None if one is None else viewed(one.port, one.desc)
            for one in action.inputs
        ]  # fmt: skip
        given = outs[0] if outs is not None and _is_one(self._graph, action.node) else outs
        try:
            operator(*arguments, out=given)
        except DmlError as error:
            node = self._graph.nodes[action.node]
            raise_violations([of_node(one, node, action.node) for one in error.violations], FUNCTION, error)

    def _results(self, values: Values, own: Sequence[Array]) -> list[Array]:
        """The outputs, each an array of its own; ``own``: what the run has made for them."""
        found: list[Array] = []
        for (port, desc), place in zip(self._outputs, self._own, strict=True):
            array = self._view(values, port, desc) if place is None else own[place]
            found.append(np.array(array, order="C") if place is None else array)
        return found

    def __reduce__(self) -> tuple[Callable[..., CompiledGraph], tuple[object, ...]]:
        return compiled, (self._graph, self._path, self._all_owned(), self._without)

    def __repr__(self) -> str:
        return f"compile({self._graph!r})"


def compiled(graph: Structure, path: str | None, owned: dict[int, Buffer], without: Switches) -> CompiledGraph:
    """A compiled graph for one that was compiled before, and initialised with these buffers."""
    found = CompiledGraph(graph, len(LEVELS) - 1, path, without)
    found._bind(owned)
    return found


def _compiled(graph: Structure, level: int, path: str | None) -> list[CompiledOperator | None]:
    """The compiled operator of each node, one for all nodes of a desc; None for a constant."""
    known: dict[OperatorDesc, CompiledOperator] = {}
    by_id: dict[int, CompiledOperator] = {}  # most nodes that are alike have one desc, and its hash takes long
    found: list[CompiledOperator | None] = []
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Constant) or id(node.desc) in by_id:
            found.append(None if isinstance(node, Constant) else by_id[id(node.desc)])
            continue
        if node.desc not in known:
            chosen: Literal["reference"] | None = "reference" if path == "reference" else None
            try:
                known[node.desc] = compile_desc(node.desc, LEVELS[level].name, path=chosen)
            except DmlError as error:
                raise_violations([of_node(one, node, number) for one in error.violations], "compile", error)
        by_id[id(node.desc)] = known[node.desc]
        found.append(known[node.desc])
    return found


def _is_one(graph: Structure, number: int) -> bool:
    """Whether the outputs of a node are one array, and no tuple of arrays."""
    node = graph.nodes[number]
    assert isinstance(node, Node)
    there = [f for f in node.desc.operator.fields if f.kind == "output" and getattr(node.desc, f.python) is not None]
    return len(there) == 1 and not type_of(there[0].type).tensors


def _refuse(taker: Taker) -> None:
    if taker.wrong:
        raise_violations(taker.wrong, FUNCTION)
