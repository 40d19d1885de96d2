"""The changes that each optimization made to a compiled graph."""

from __future__ import annotations

from dataclasses import dataclass

from dmlcy._desc.whole import OPTIMIZATIONS, Optimization, Switches
from dmlcy._graph.actions import NONE, actions
from dmlcy._graph.check import counted
from dmlcy._graph.model import Structure
from dmlcy._graph.places import places_of


@dataclass(frozen=True, slots=True)
class Optimizations:
    """The numbers of the nodes that each optimization reached.

    Attributes
    ----------
    folded
        Nodes that read constants only, and are computed when the graph is compiled.
    in_place
        Nodes whose output is written over an input that nothing reads later.
    adjacent
        Nodes that have nothing to do: their inputs lie in the memory of their output.
    views
        Nodes that have nothing to do: their outputs are elements of their input, read there with other strides.
    pieces
        Nodes whose output is made piece by piece, as its only reader needs it.
    chains
        Nodes that run together, block by block in the cache.
    epilogues
        A product, convolution or normalization, and behind it the nodes that run on each block that it has computed.
    """

    folded: tuple[int, ...] = ()
    in_place: tuple[int, ...] = ()
    adjacent: tuple[int, ...] = ()
    views: tuple[int, ...] = ()
    pieces: tuple[int, ...] = ()
    chains: tuple[tuple[int, ...], ...] = ()
    epilogues: tuple[tuple[int, ...], ...] = ()

    @property
    def counts(self) -> dict[Optimization, int]:
        """How many nodes, chains and epilogues there are, by the name of the optimization."""
        return {name: len(getattr(self, name)) for name in OPTIMIZATIONS}

    def __str__(self) -> str:
        found = {name: str(count) for name, count in self.counts.items() if count}
        for name in ("chains", "epilogues"):
            if name in found:
                found[name] += f" of {counted(sum(map(len, getattr(self, name))), 'node')}"
        return ", ".join(f"{name} {said}" for name, said in found.items()) or "none"


def optimizations_of(graph: Structure, without: Switches = NONE) -> Optimizations:
    """The changes that the optimizations that are not left out make to a valid graph."""
    steps, places = actions(graph, without), places_of(graph, without)
    chains = [one.chain for place, one in enumerate(steps) if one.chain is not None and place == one.chain.places[0]]
    return Optimizations(
        folded=tuple(one.node for one in steps if one.folded),
        in_place=tuple(one.node for one in steps if one.over is not None),
        adjacent=tuple(one.node for one in steps if one.node in places.adjacent),
        views=tuple(one.node for one in steps if one.views),
        pieces=tuple(one.node for one in steps if one.is_in_pieces),
        chains=tuple(one.nodes for one in chains if not one.headed),
        epilogues=tuple(one.nodes for one in chains if one.headed),
    )
