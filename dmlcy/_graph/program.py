"""The program of a graph: its steps with their loops, and where each pointer of them leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from dmlcy._desc.memory import dtype_of, is_packed, is_plain
from dmlcy._desc.whole import Switches
from dmlcy._facts.dtypes import has_four_bits, numpy_dtype, size_in_bytes
from dmlcy._graph import chains
from dmlcy._graph.actions import Action, actions, fitting
from dmlcy._graph.chains import Chain, count_of, joined, reads, steps_of, writes
from dmlcy._graph.model import Port, Structure
from dmlcy._graph.places import Place, Places, places_of
from dmlcy._graph.strided import as_seen
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._runtime.compiled import CompiledOperator
from dmlcy._runtime.program import Form, Program, form_of
from dmlcy._runtime.quantized_panels import QuantizedMatrix

Step: TypeAlias = tuple[
    Form | bool | None, list[Place | None], list[tuple[int, int, int]], "Chained | None", "Making | None"
]
Members: TypeAlias = list[tuple[Form, list[tuple[int, int, list[int]]]]]
"""The members of a chain, each with its places."""
Chained: TypeAlias = tuple[Members, list[int], list[tuple[int, int]], int, int, int, int]
"""The members of a chain; its sizes; the inputs of each member, where the head may compute it as it stores its results.
Then slots of values; bytes of a block, and of an element; elements of the shortest row that the chain takes at once.
"""
Making: TypeAlias = tuple[int, list[Place], QuantizedMatrix]
"""Which tensor of a step has no place, the places of what it is made of, and what makes it."""
_SCRATCH: Final = -1  # the base of values that only a chain has


def program_of(
    graph: Structure, operators: Sequence[CompiledOperator | None], left: set[int], without: Switches
) -> Program:
    """The program of a valid graph, for the compiled operator of each node.

    ``left``: nodes that are folded, and that each run refuses nevertheless.
    """
    wiring, places = wiring_of(graph), places_of(graph, without)
    forms = _Forms(as_seen(wiring, places.views), operators)
    steps: list[Step] = []
    for place, action in enumerate(actions(graph, without)):
        chain = action.chain
        if action.views or action.is_in_pieces or action.node in places.adjacent:
            steps.append((False, [], [], None, None))
        elif action.folded:
            steps.append((None if action.node in left else False, [], [], None, None))
        elif chain is not None and (place > chain.places[0] or not chain.headed):
            first = place == chain.places[0]
            chained = _chained(chain, forms, places) if first else None
            steps.append((None if first else False, [], [], chained, None))
        else:
            steps.append(_step(action, forms, places))
    fixed = [_aligned(wiring, port) for port in places.fixed]
    inputs = []
    for port in places.given:
        desc = wiring.desc_of(port)
        takes = desc is not None and is_plain(desc, wiring.sizes[port]) and not has_four_bits(dtype_of(desc))
        inputs.append((desc if takes else None, desc is not None, _aligned(wiring, port)))
    results = [desc for _, desc in places.results.values()]
    return Program(fixed, inputs, results, len(results) == len(graph.outputs), places.arena, steps)


class _Forms:
    """The forms of nodes, one for all nodes of a desc; None where no loops compute them."""

    def __init__(self, wiring: Wiring, operators: Sequence[CompiledOperator | None]) -> None:
        self.wiring, self.operators = wiring, operators
        self.known: dict[tuple[object, ...], Form | None] = {}

    def of(self, node: int) -> Form | None:
        operator, read = self.operators[node], reads(self.wiring, node)
        seen = (desc.strides if port in self.wiring.roots else None for port, desc in read)
        assert operator is not None  # a node is no constant
        key = id(operator), *seen
        if key not in self.known:
            every = (*self.wiring.inputs[node], *self.wiring.outputs[node])
            self.known[key] = form_of(operator, [desc for _, desc in every if desc is not None])
        return self.known[key]


def _step(action: Action, forms: _Forms, places: Places) -> Step:
    """A node that loops compute, with what follows it; or one that Python does."""
    wiring = forms.wiring
    pairs = zip(wiring.inputs[action.node], wiring.read[action.node], strict=True)
    ports = [port for (_, desc), port in pairs if desc is not None]
    joint = None if action.pieces is None else action.pieces.joint
    form = forms.of(action.node) if action.pieces is None or joint is not None else None
    gaps = _gaps(action, places.of)
    chained = None if action.chain is None else _chained(action.chain, forms, places)
    if form is None or None in ports:
        return None, [], gaps, chained, None
    making = None
    if joint is not None and action.pieces is not None:
        given = wiring.inputs[action.pieces.maker], wiring.read[action.pieces.maker]
        read = [port for (_, desc), port in zip(*given, strict=True) if desc is not None]
        made = [port for port in (read[place] for place in joint.inputs) if port is not None]
        making = joint.tensor, [places.of[port] for port in made], joint.matrix()
    spots = [
        None if making is not None and place == making[0] else places.of[port]
        for place, port in enumerate((*ports, *(one.port for one in action.outputs)))
        if port is not None
    ]
    return form, spots, gaps, chained, making


def _chained(chain: Chain, forms: _Forms, places: Places) -> Chained:
    """The members of a chain, with the places and steps of their tensors."""
    wiring = chain.wiring
    tensors = [(*reads(wiring, node), *writes(wiring, node)) for node in chain.members]
    every = dict(enumerate(pair for one in tensors for pair in one))
    steps = {place: steps_of(desc, chain.sizes) or () for place, (_, desc) in every.items()}
    sizes, found = joined(chain.sizes, steps)
    slots, count = _slots(chain)
    members, place = Members(), 0
    for node, one in zip(chain.members, tensors, strict=True):
        spots: list[tuple[int, int, list[int]]] = []
        for port, _ in one:
            base, offset = (_SCRATCH, slots[port]) if port in slots else places.of[port]
            spots.append((base, offset, found[place]))
            place += 1
        form = forms.of(node)
        assert form is not None
        members.append((form, spots))
    _, head = writes(wiring, chain.nodes[0])[0]
    bytes = chains.BLOCK if count else chains.PASS
    return members, sizes, _stores(chain, places), count, bytes, size_in_bytes(dtype_of(head), 1), chains.ROW


def _stores(chain: Chain, places: Places) -> list[tuple[int, int]]:
    """For each member, which of its inputs the node before has computed, and the other one, or -1 for none.

    Nothing, where the members do not make of each element of the head one element in its place: then the head cannot do
    it as it stores its results.
    """
    wiring = chain.wiring
    found = list[tuple[int, int]]()
    known = [port for node in chain.nodes for port, _ in writes(wiring, node)]
    if not chain.headed or len(known) != len(chain.nodes) or chain.inner & {known[0], known[-1]}:
        return []
    if places.of[known[0]] != places.of[known[-1]]:
        return []
    count = count_of(chain.sizes)
    for node, given in zip(chain.members, known, strict=False):
        every = reads(wiring, node)
        own = [place for place, (port, _) in enumerate(every) if port == given]
        others = [place for place, (port, _) in enumerate(every) if port != given]
        if len(own) != 1 or len(others) > 1:
            return []
        if not all(is_packed(desc) and desc.element_count == count for _, desc in every):
            return []
        if any(port in known or wiring.roots.get(port) in known for port, _ in (every[place] for place in others)):
            return []
        found.append((own[0], others[0] if others else -1))
    return found


def _slots(chain: Chain) -> tuple[dict[Port, int], int]:
    """For each value that only the chain has, the slot of memory in which a block of it is; and how many there are."""
    wiring = chain.wiring
    last = {port: node for node in chain.members for port, _ in reads(wiring, node)}
    found: dict[Port, int] = {}
    free: list[int] = []
    count = 0
    for node in chain.members:
        inputs = {port for port, _ in reads(wiring, node) if port in found and last[port] == node}
        made = [port for port, _ in writes(wiring, node) if port in chain.inner]
        over = _slot_over(chain, node, inputs) if made and len(writes(wiring, node)) == 1 else None
        if over is not None:
            inputs.remove(over)
            found[made.pop()] = found[over]
        for port in made:
            if not free:
                free.append(count)
                count += 1
            found[port] = free.pop()
        free += [found[port] for port in (*inputs, *(port for port in made if port not in last))]
    return found, count


def _slot_over(chain: Chain, node: int, inputs: set[Port]) -> Port | None:
    """An input of a node that only the chain has, over which its output may be written."""
    return next((port for port in fitting(chain.wiring, node) if port in inputs), None)


def _gaps(action: Action, of: dict[Port, Place]) -> list[tuple[int, int, int]]:
    """The places that are 0 before a node runs: outputs with bytes between or behind their elements."""
    if action.over is not None or all(is_plain(one.desc, one.size) for one in action.outputs):
        return []
    return [(*of[one.port], one.size) for one in action.outputs]


def _aligned(wiring: Wiring, port: Port) -> int:
    """The bytes of the largest element that is read of a value."""
    readers = (wiring.desc_of_target(target) for target in wiring.readers.get(port, ()))
    descs = [wiring.desc_of(port), *readers]
    return max((numpy_dtype(dtype_of(desc)).itemsize for desc in descs if desc is not None), default=1)
