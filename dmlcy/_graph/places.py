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
from dmlcy._graph.sharing import ALIGNED, Spot
from dmlcy._graph.strided import Views
from dmlcy._graph.wiring import Wiring, wiring_of

Place: TypeAlias = tuple[int, int]
"""The base of a piece of memory, and the bytes from its start."""
ARENA: Final = 1  # the bases of a program


@dataclass(frozen=True, slots=True)
class Places:
    """The memory of the values.

    Attributes
    ----------
    of
        The place of each value, except values that only a chain knows.
    views
        The values that are views: their place is that of their first element.
    adjacent
        The nodes that have nothing to do: their inputs lie in the memory of their output.
    lives
        How long each piece of memory is in use.
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
    views: Views
    adjacent: frozenset[int]
    lives: tuple[Life, ...]
    arena: int
    fixed: tuple[Port, ...]
    given: tuple[Port, ...]
    results: dict[int, tuple[Port, TensorDesc]]

    def seen(self, port: Port, desc: TensorDesc) -> TensorDesc:
        """The desc under which a reader finds the elements of a value in memory."""
        return self.views[port].seen(desc) if port in self.views else desc


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
    spots, lives = _lives(wiring, steps)
    inside, adjacent = _nested(graph, wiring, spots, [] if "adjacent" in without else steps)
    lives = _merged(lives, inside)
    results = _own_arrays(graph, wiring, spots, lives)
    of: dict[Port, Place] = {}
    bases = iter(range(ARENA + 1, ARENA + 1 + len(fixed) + len(given) + len(results)))
    of |= {port: (base, 0) for port, base in zip((*fixed, *given), bases, strict=False)}
    own = {spots[port].first: base for (port, _), base in zip(results.values(), bases, strict=True)}
    others = [port for port in lives if port not in own]
    offsets, total = placed([lives[port] for port in others])
    places = {port: (ARENA, offset) for port, offset in zip(others, offsets, strict=True)}
    places |= {port: (base, 0) for port, base in own.items()}
    for port, spot in spots.items():
        whole, start = _outermost(spot.first, inside)
        base, offset = places[whole]
        of[port] = base, offset + start + spot.offset
    views = {port: one for action in steps for port, one in action.views.items()}
    for port, one in views.items():
        base, offset = of[one.root]
        of[port] = base, offset + one.start * one.item
    return Places(of, views, adjacent, tuple(lives.values()), total, tuple(fixed), tuple(given), results)


def _lives(wiring: Wiring, steps: list[Action]) -> tuple[dict[Port, Spot], dict[Port, Life]]:
    """The memory of each value that a node computes; and how long this memory is in use.

    All nodes of a chain run at a time.
    """
    spots: dict[Port, Spot] = {}
    starts: dict[Port, int] = {}
    until: dict[Port, int] = {}
    for step, action in enumerate(steps):
        spots |= action.spots
        begin = step if action.chain is None else action.chain.places[0]
        for spot in action.spots.values():
            starts.setdefault(spot.first, begin)
        until |= {port: step for port in (*action.frees, action.over) if port is not None}
    ends = dict.fromkeys(starts, 0)
    for port, spot in spots.items():
        ends[spot.first] = max(ends[spot.first], until.get(port, len(steps)))
    return spots, {port: Life(wiring.sizes[port], start, ends[port]) for port, start in starts.items()}


def _nested(
    graph: Structure, wiring: Wiring, spots: dict[Port, Spot], steps: list[Action]
) -> tuple[dict[Port, tuple[Port, int]], frozenset[int]]:
    """Memory that is a part of other memory, which begins so many bytes before it; and the nodes that are then idle."""
    inside: dict[Port, tuple[Port, int]] = {}
    nodes: set[int] = set()
    for action in steps:
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        starts = None if action.folded or action.over else family_of(node.desc.operator).joined(node.desc)
        if starts is None:
            continue
        parts, (whole, *_) = [*action.read()], action.outputs
        item = size_in_bytes(dtype_of(whole.desc), 1)
        firsts = [spots[part.port].first for part in parts if part.port in spots]
        if (
            has_four_bits(dtype_of(whole.desc))
            or not all(start * item % ALIGNED == 0 for start in starts)
            or len({*firsts}) < len(parts)
            or not all(is_plain(part.desc, wiring.sizes[one]) for part, one in zip(parts, firsts, strict=True))
            or not is_plain(whole.desc, wiring.sizes[whole.port])
            or not all(part.port in action.frees for part in parts)
            or any(one in inside for one in firsts)
        ):
            continue
        nodes.add(action.node)
        inside |= {one: (whole.port, start * item) for one, start in zip(firsts, starts, strict=True)}
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
    graph: Structure, wiring: Wiring, spots: dict[Port, Spot], lives: dict[Port, Life]
) -> dict[int, tuple[Port, TensorDesc]]:
    """The outputs of the graph whose memory is just the array that a caller gets."""
    found: dict[int, tuple[Port, TensorDesc]] = {}
    taken: set[Port] = set()
    for index, end in enumerate(graph.outputs):
        port = wiring.source_of(Port(None, index))
        if port is None or port in taken or port not in spots or spots[port].first not in lives:
            continue
        desc = end.desc or wiring.desc_of(port)
        size = lives[spots[port].first].size
        if desc is not None and not has_four_bits(dtype_of(desc)) and is_plain(desc, size):
            found[index] = port, desc
            taken.add(port)
    return found
