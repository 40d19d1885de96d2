"""Where the values of a graph are in memory while it runs: in the arena of the run, or in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from dmlcy._desc.memory import dtype_of, is_plain
from dmlcy._desc.whole import Switches
from dmlcy._facts.dtypes import has_four_bits, size_in_bytes
from dmlcy._families import family_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.actions import NONE, Action, actions
from dmlcy._graph.arena import Life, placed
from dmlcy._graph.model import Constant, Node, Port, Structure
from dmlcy._graph.owned import owned_inputs
from dmlcy._graph.wiring import Wiring, wiring_of

Place: TypeAlias = tuple[int, int]
"""The base of a piece of memory, and the bytes from its start."""
_ARENA: Final = 1  # the bases of a program
_ALIGNED: Final = 8  # the bytes of the largest element


@dataclass(frozen=True, slots=True)
class Places:
    """The memory of the values.

    Attributes
    ----------
    of
        The place of each value, but for those that only a chain knows.
    adjacent
        The nodes that have nothing to do: their outputs lie in the memory of their input, or their inputs in that of
        their output.
    arena
        Bytes of the arena.
    fixed
        The values that are there before a run: constants, what is computed of constants only, and inputs with the flag
        OWNED_BY_DML.
    given
        The inputs of a run.
    results
        Outputs of the graph that are arrays which a run makes, by their numbers: the value, and its desc there.
    """

    of: dict[Port, Place]
    adjacent: frozenset[int]
    arena: int
    fixed: tuple[Port, ...]
    given: tuple[Port, ...]
    results: dict[int, tuple[Port, TensorDesc]]


def places_of(graph: Structure, without: Switches = NONE) -> Places:
    """The places of the values of a valid graph; found once for the optimizations that are left out."""
    known: dict[Switches, Places] = graph.__dict__.setdefault("_places", {})
    if without not in known:
        known[without] = _places(graph, wiring_of(graph), without)
    return known[without]


def _places(graph: Structure, wiring: Wiring, without: Switches) -> Places:
    steps = actions(graph, without)
    owned = owned_inputs(graph)
    inputs = [Port(None, index) for index in range(len(graph.inputs))]
    fixed = [Port(number, 0) for number, node in enumerate(graph.nodes) if isinstance(node, Constant)]
    fixed += [one.port for action in steps if action.folded for one in action.outputs]
    fixed += [port for port in inputs if port.place in owned]
    given = [port for port in inputs if port.place not in owned]
    firsts, lives = _lives(wiring, steps)
    inside, adjacent = _nested(graph, wiring, firsts, [] if "adjacent" in without else steps)
    lives = _merged(lives, inside)
    results = _own_arrays(graph, wiring, firsts, lives)
    of: dict[Port, Place] = {}
    bases = iter(range(_ARENA + 1, _ARENA + 1 + len(fixed) + len(given) + len(results)))
    of |= {port: (base, 0) for port, base in zip((*fixed, *given), bases, strict=False)}
    own = {firsts[port]: base for (port, _), base in zip(results.values(), bases, strict=True)}
    others = [port for port in lives if port not in own]
    offsets, total = placed([lives[port] for port in others])
    places = {port: (_ARENA, offset) for port, offset in zip(others, offsets, strict=True)}
    places |= {port: (base, 0) for port, base in own.items()}
    for port, first in firsts.items():
        whole, start = _outermost(first, inside)
        base, offset = places[whole]
        of[port] = base, offset + start
    return Places(of, adjacent, total, tuple(fixed), tuple(given), results)


def _lives(wiring: Wiring, steps: list[Action]) -> tuple[dict[Port, Port], dict[Port, Life]]:
    """For each value that a node computes the first one in its memory; and how long this memory is in use.

    All nodes of a chain run at a time.
    """
    firsts: dict[Port, Port] = {}
    starts: dict[Port, int] = {}
    ends: dict[Port, int] = {}
    for step, action in enumerate(steps):
        chain = action.chain
        inner = frozenset[Port]() if chain is None else chain.inner
        for one in () if action.folded else action.outputs:
            if one.port not in inner:
                firsts[one.port] = one.port if action.over is None else firsts[action.over]
                starts.setdefault(firsts[one.port], step if chain is None else chain.places[0])
        for port in action.frees:
            ends[firsts[port]] = step
    last = len(steps)
    return firsts, {port: Life(wiring.sizes[port], start, ends.get(port, last)) for port, start in starts.items()}


def _nested(
    graph: Structure, wiring: Wiring, firsts: dict[Port, Port], steps: list[Action]
) -> tuple[dict[Port, tuple[Port, int]], frozenset[int]]:
    """Memory that is a part of other memory, which begins so many bytes before it; and the nodes that are then idle."""
    kept = {firsts.get(port) for port in (wiring.source_of(Port(None, k)) for k in range(len(graph.outputs))) if port}
    inside: dict[Port, tuple[Port, int]] = {}
    nodes: set[int] = set()
    for action in steps:
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        found = None if action.folded or action.over else family_of(node.desc.operator).adjacent(node.desc)
        if found is None:
            continue
        reads = [*action.read()]
        parts, (whole, *_) = (reads, action.outputs) if found.joined else (action.outputs, reads)
        item = size_in_bytes(dtype_of(whole.desc), 1)
        roots = [firsts.get(part.port) for part in parts]
        if (
            has_four_bits(dtype_of(whole.desc))
            or not all(start * item % _ALIGNED == 0 for start in found.starts)
            or not all(
                is_plain(part.desc, wiring.sizes[root] if root else -1) for part, root in zip(parts, roots, strict=True)
            )
            or not is_plain(whole.desc, wiring.sizes[whole.port])
            or not all(read.port in action.frees for read in reads)
            or len({*roots}) < len(roots)
            or any(root in inside or (root in kept and not found.joined) for root in roots)
            or whole.port not in firsts
        ):
            continue
        nodes.add(action.node)
        for root, start in zip(roots, found.starts, strict=True):
            assert root is not None
            inside[root] = firsts[whole.port], start * item
    return inside, frozenset(nodes)


def _outermost(port: Port, inside: dict[Port, tuple[Port, int]]) -> tuple[Port, int]:
    """The memory of which some is a part, and where it begins there."""
    start = 0
    while port in inside:
        port, more = inside[port]
        start += more
    return port, start


def _merged(lives: dict[Port, Life], inside: dict[Port, tuple[Port, int]]) -> dict[Port, Life]:
    """How long memory is in use that is no part of other memory, for its parts too."""
    found = {port: life for port, life in lives.items() if port not in inside}
    for port in inside:
        whole, _ = _outermost(port, inside)
        one, part = found[whole], lives[port]
        found[whole] = Life(one.size, min(one.first, part.first), max(one.last, part.last))
    return found


def _own_arrays(
    graph: Structure, wiring: Wiring, firsts: dict[Port, Port], lives: dict[Port, Life]
) -> dict[int, tuple[Port, TensorDesc]]:
    """The outputs of the graph whose memory is just the array that a caller gets."""
    found: dict[int, tuple[Port, TensorDesc]] = {}
    taken: set[Port] = set()
    for index, end in enumerate(graph.outputs):
        port = wiring.source_of(Port(None, index))
        if port is None or port in taken or port not in firsts or firsts[port] not in lives:
            continue
        desc = end.desc or wiring.desc_of(port)
        size = lives[firsts[port]].size
        if desc is not None and not has_four_bits(dtype_of(desc)) and is_plain(desc, size):
            found[index] = port, desc
            taken.add(port)
    return found
