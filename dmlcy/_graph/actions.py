"""The actions of a run of a graph for each node, in order: the values that it reads and writes, and the values that
end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from dmlcy._desc.memory import dtype_of, is_plain, strides_of
from dmlcy._desc.whole import Switches
from dmlcy._facts.dtypes import size_in_bytes
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.chains import Chain, chains_of, reads, writes
from dmlcy._graph.model import Constant, Node, Port, Structure
from dmlcy._graph.pieces import Pieces, pieces_of
from dmlcy._graph.sharing import Sharing, Spot
from dmlcy._graph.strided import View, Views, as_seen, views_of
from dmlcy._graph.wiring import Wiring, wiring_of

NONE: Final[Switches] = frozenset()
"""No optimization is left out."""
FEW_BYTES: Final = 65536
"""Values of constants that take no more are computed when a graph is compiled."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A value as a node reads or writes it. ``size``: the bytes of its buffer."""

    port: Port
    desc: TensorDesc
    size: int


Read: TypeAlias = Tensor | tuple[Tensor, ...] | None
"""The tensor that a node reads for an input field, the tensors of an array, or None."""


@dataclass(frozen=True, slots=True)
class Action:
    """The action of a run for a node: its inputs by field, its outputs, and the values that are freed after it.

    ``inputs``: for each input field a tensor, a tuple of them, or None; ``over``: the port of the value that the output
    is written over; ``folded``: it reads constants only, and its outputs are known before a run; ``spots``: the
    memory of the outputs; ``views``: the outputs, where they are views, and it has nothing to do; ``chain``: the nodes
    with which it runs as one step, whose last one frees what the others need no more; ``pieces``: how one node makes
    what another one reads.
    """

    node: int
    inputs: tuple[Read, ...]
    outputs: tuple[Tensor, ...]
    over: Port | None
    frees: tuple[Port, ...]
    spots: dict[Port, Spot] = field(default_factory=dict)
    folded: bool = False
    views: dict[Port, View] = field(default_factory=dict)
    chain: Chain | None = None
    pieces: Pieces | None = None

    @property
    def is_in_pieces(self) -> bool:
        """Whether another node makes its output, piece by piece."""
        return self.pieces is not None and self.pieces.maker == self.node

    def read(self) -> Iterator[Tensor]:
        """The tensors that the node reads."""
        for one in self.inputs:
            if one is not None:
                yield from one if isinstance(one, tuple) else (one,)


def actions(graph: Structure, without: Switches = NONE) -> list[Action]:
    """The actions of a run of a valid graph, in order; found once for the optimizations that are left out."""
    known: dict[Switches, list[Action]] = graph.__dict__.setdefault("_actions", {})
    if without not in known:
        known[without] = _actions(graph, without)
    return known[without]


def _actions(graph: Structure, without: Switches) -> list[Action]:
    wiring = wiring_of(graph)
    order = [number for number in wiring.order if isinstance(graph.nodes[number], Node)]
    kept = {graph.edges[place].source for place in wiring.good if graph.edges[place].target.node is None}
    views = {} if "views" in without else views_of(graph, wiring, kept)
    folded = set() if "folded" in without else _folded(graph, wiring, views)
    last = _last(wiring, order, kept)
    sharing = Sharing(views, last, wiring.sizes)
    seen = as_seen(wiring, views)
    idle = {number for number in order if any(Port(number, k) in views for k in range(len(wiring.outputs[number])))}
    pieces = {}
    if "pieces" not in without:
        pieces = pieces_of(graph, wiring, lambda port: _is_known(graph, port, folded, views), kept, folded | idle)
    makers = {one.maker: one for one in pieces.values()}
    chains = chains_of(graph, seen, order, folded | idle | {*makers}, {*pieces}, kept, without)
    ends: dict[int, list[Port]] = {}
    for port in last:
        there = is_computed(graph, port) and port.node not in folded and port.node not in makers
        if there and port not in views and port not in kept:
            ends.setdefault(sharing.until(port), []).append(port)
    found = []
    for step, number in enumerate(order):
        outputs = tuple(
            Tensor(port := Port(number, index), desc, wiring.sizes[port])
            for index, (_, desc) in enumerate(wiring.outputs[number])
            if desc is not None
        )
        tensors = _grouped(graph, wiring, number)
        if number in folded:
            found.append(Action(number, tensors, outputs, None, (), folded=True))
            continue
        if number in makers:
            found.append(Action(number, tensors, outputs, None, (), pieces=makers[number]))
            continue
        chain = chains.get(step)
        if chain is not None:
            found.append(Action(number, tensors, outputs, None, (), chain=chain))
            if step == chain.places[-1]:
                _end_chain(found, chain, ends, sharing, "in_place" not in without)
            continue
        own = {one.port: views[one.port] for one in outputs if one.port in views}
        over = None if own or "in_place" in without else _over(seen, number, outputs, partial(sharing.may_write, step))
        spots = {} if own else {one.port: sharing.computed(one.port, over, step) for one in outputs}
        gone = tuple(port for port in ends.get(step, ()) if port != over)
        found.append(Action(number, tensors, outputs, over, gone, spots, views=own, pieces=pieces.get(number)))
    return found


def _last(wiring: Wiring, order: list[int], kept: set[Port | None]) -> dict[Port, int]:
    """The last step that reads each value, or computes it; one behind all steps, for an output of the graph."""
    found: dict[Port, int] = {}
    for step, number in enumerate(order):
        found |= {Port(number, index): step for index, (_, desc) in enumerate(wiring.outputs[number]) if desc}
        found |= {port: step for port in wiring.read[number] if port is not None}
    return found | {port: len(order) for port in kept if port is not None}


def _end_chain(
    found: list[Action], chain: Chain, ends: dict[int, list[Port]], sharing: Sharing, in_place: bool
) -> None:
    """Says what the nodes of a chain write over, and lets the last one free what they read.

    An epilogue writes over the output that it follows, where it can: that is in memory anyway.
    """
    frees: list[Port] = []
    over: dict[int, Port] = {}
    flat = chain.flat
    for place in chain.places:
        action = found[place]
        frees += ends.get(place, [])
        if not in_place:
            continue
        taken = {*over.values()}
        left = [port for port in frees if port not in taken and port not in chain.inner]
        if not chain.headed or place != chain.places[0]:
            left = [port for port in left if port in flat]  # no other block reads what a block writes
        port = _over_in_chain(action, chain, left)
        if port is not None:
            over[place] = port
            chain = replace(chain, inner=chain.inner.difference(one.port for one in action.outputs))
    gone = tuple(port for port in frees if port not in over.values() and port not in chain.inner)
    for place in chain.places:
        freed = gone if place == chain.places[-1] else ()
        made = [one.port for one in found[place].outputs if one.port not in chain.inner]
        spots = {port: sharing.computed(port, over.get(place), chain.places[-1]) for port in made}
        found[place] = replace(found[place], over=over.get(place), frees=freed, spots=spots, chain=chain)


def _over_in_chain(action: Action, chain: Chain, left: list[Port]) -> Port | None:
    """The value that a node of a chain writes over, among the values that nothing reads later."""
    inner = not chain.inner.isdisjoint(one.port for one in action.outputs)
    if inner and not chain.headed:
        return None
    found = _over(chain.wiring, action.node, action.outputs, lambda port: port in left)
    beside = not inner and action.node in chain.members and len(action.outputs) == 1
    return _beside(chain.wiring, action, chain, left) if found is None and beside else found


def _beside(wiring: Wiring, action: Action, chain: Chain, ports: list[Port]) -> Port | None:
    """A value that nodes of a chain before this one were the last to read, which its output fits."""
    (output,) = action.outputs
    item = size_in_bytes(dtype_of(output.desc), 1)
    own = {port for port, _ in reads(wiring, action.node)}
    for port in ports:
        items = {
            size_in_bytes(dtype_of(desc), 1)
            for node in chain.members
            for read, desc in reads(wiring, node)
            if read == port
        }
        if port not in own and items == {item} and wiring.sizes[port] >= output.size:
            return port
    return None


def _folded(graph: Structure, wiring: Wiring, views: Views) -> set[int]:
    """The nodes that read constants only, and whose outputs take no more memory than these, or little.

    All outputs together take no more than all constants, or little.
    """
    found: set[int] = set()
    constants = (Port(number, 0) for number, node in enumerate(graph.nodes) if isinstance(node, Constant))
    left = max(sum(wiring.sizes.get(port, 0) for port in constants), FEW_BYTES)
    for number in wiring.order:
        node = graph.nodes[number]
        if isinstance(node, Constant) or any(Port(number, k) in views for k in range(len(wiring.outputs[number]))):
            continue
        there = [port for (_, desc), port in zip(wiring.inputs[number], wiring.read[number], strict=True) if desc]
        if all(_is_known(graph, port, found, views) for port in there):
            taken = sum(wiring.sizes[port] for port in there if port is not None)
            made = sum(wiring.sizes[Port(number, k)] for k, (_, desc) in enumerate(wiring.outputs[number]) if desc)
            if made <= min(max(taken, FEW_BYTES), left):
                left -= made
                found.add(number)
    return found


def _is_known(graph: Structure, port: Port | None, folded: set[int], views: Views) -> bool:
    """Whether a value is there before the first run."""
    if port is not None and port in views:
        port = views[port].root
    if port is None or port.node is None:
        return False
    node = graph.nodes[port.node]
    return isinstance(node, Constant) or port.node in folded


def is_computed(graph: Structure, port: Port) -> bool:
    """Whether a node computes the value."""
    return port.node is not None and not isinstance(graph.nodes[port.node], Constant)


def _grouped(graph: Structure, wiring: Wiring, number: int) -> tuple[Read, ...]:
    """The tensors that a node reads, by its input fields."""
    node = graph.nodes[number]
    assert isinstance(node, Node)
    found: dict[str, Read] = {f.python: None for f in node.desc.operator.fields if f.kind == "input"}
    for (path, desc), port in zip(wiring.inputs[number], wiring.read[number], strict=True):
        if desc is None or port is None:
            continue
        name, entry, _ = path.partition("[")
        tensor = Tensor(port, desc, wiring.sizes[port])
        before = found[name]
        found[name] = (*(before if isinstance(before, tuple) else ()), tensor) if entry else tensor
    return tuple(found.values())


def _over(wiring: Wiring, number: int, outputs: tuple[Tensor, ...], may_write: Callable[[Port], bool]) -> Port | None:
    """The value over which the output of a node is written: an input that nothing reads again, laid out like it.

    The output covers all bytes that a reader can see of it: what is between its elements would be that of the input.
    """
    if len(outputs) != 1 or not is_plain(outputs[0].desc, outputs[0].size):
        return None
    return next((port for port in fitting(wiring, number) if may_write(port)), None)


def fitting(wiring: Wiring, number: int) -> Iterator[Port]:
    """The inputs over which a node may write its only output, if nothing reads them later."""
    node = wiring.graph.nodes[number]
    assert isinstance(node, Node)
    ((output, made),) = writes(wiring, number)
    ports = wiring.read[number]
    for (path, desc), port in zip(wiring.inputs[number], ports, strict=True):
        allowed = path in node.desc.operator.in_place and ports.count(port) == 1
        if allowed and desc and port and _alike(desc, made) and wiring.sizes[output] <= wiring.sizes[port]:
            yield port


def _alike(desc: TensorDesc, other: TensorDesc) -> bool:
    if desc is other:
        return True
    if desc.strides is None is other.strides:
        return bool(desc.dtype == other.dtype and desc.sizes == other.sizes)
    return (desc.dtype, desc.sizes, strides_of(desc)) == (other.dtype, other.sizes, strides_of(other))
