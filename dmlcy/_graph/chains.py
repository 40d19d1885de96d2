"""Chains: nodes in a row whose elements depend on elements at the same place only, computed block by block.

A chain may begin with a product, a convolution or a normalization: the other nodes then run on each block that this one
has just computed. They are its epilogue.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dmlcy._desc.memory import dtype_of, is_packed, is_plain, strides_of
from dmlcy._desc.whole import Switches
from dmlcy._facts.dtypes import has_four_bits, size_in_bytes
from dmlcy._families import family_of
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.wiring import Wiring

LEAST: Final = 262144
"""Bytes of a value that does not stay in the nearest cache: smaller ones gain nothing."""
MOST: Final = 32
"""Nodes of a chain."""
BLOCK: Final = 32768
"""Bytes of a block of the largest elements of a chain, if it has values that only it knows."""
PASS: Final = 262144
"""The same of a chain whose values are all in memory."""


@dataclass(frozen=True)
class Chain:
    """Nodes that run as one step.

    Attributes
    ----------
    places
        Of its steps among those of the run, in order.
    nodes
        The nodes, in order; where ``headed``, the others are the epilogue of the first one.
    sizes
        Of its elements: the axes along which the nodes read, leading ones left out.
    inner
        The values that only its nodes read: they are never in memory as a whole.
    """

    wiring: Wiring
    places: tuple[int, ...]
    nodes: tuple[int, ...]
    headed: bool
    sizes: tuple[int, ...]
    inner: frozenset[Port]

    @property
    def members(self) -> tuple[int, ...]:
        """The nodes that run block by block."""
        return self.nodes[1:] if self.headed else self.nodes

    @cached_property
    def flat(self) -> frozenset[Port]:
        """The values that its nodes read at the place of each element, and in no other way."""
        count = count_of(self.sizes)
        every = [pair for node in self.members for pair in reads(self.wiring, node)]
        other = {port for port, desc in every if not (is_packed(desc) and desc.element_count == count)}
        if self.headed:
            other |= {port for port, _ in reads(self.wiring, self.nodes[0])}
        roots, read = self.wiring.roots, (port for node in self.nodes for port, _ in reads(self.wiring, node))
        other |= {roots[port] for port in read if port in roots}
        return frozenset(port for port, _ in every) - other


def reads(wiring: Wiring, node: int) -> list[tuple[Port, TensorDesc]]:
    """What a node reads, each with the desc under which it does."""
    pairs = zip(wiring.inputs[node], wiring.read[node], strict=True)
    return [(port, desc) for (_, desc), port in pairs if desc is not None and port is not None]


def writes(wiring: Wiring, node: int) -> list[tuple[Port, TensorDesc]]:
    """The outputs of a node that are there."""
    return [(Port(node, place), desc) for place, (_, desc) in enumerate(wiring.outputs[node]) if desc is not None]


def count_of(sizes: Sequence[int]) -> int:
    """Elements of a tensor of these sizes."""
    found = 1
    for size in sizes:
        found *= size
    return found


def chains_of(
    graph: Structure,
    wiring: Wiring,
    order: Sequence[int],
    folded: Collection[int],
    kept: Collection[Port | None],
    without: Switches,
) -> dict[int, Chain]:
    """The chains of a valid graph whose nodes run in this order, by the places of their steps.

    ``kept``: the outputs of the graph.
    """
    if {"chains", "epilogues"} <= without:
        return {}
    finder = _Finder(graph, wiring, kept, without)
    for place, number in enumerate(order):
        if number not in folded:
            finder.add(place, number)
    finder.end()
    return finder.found


class _Finder:
    """Goes over the steps, and joins those that follow each other."""

    def __init__(self, graph: Structure, wiring: Wiring, kept: Collection[Port | None], without: Switches) -> None:
        self.graph, self.wiring, self.kept, self.without = graph, wiring, kept, without
        self.found: dict[int, Chain] = {}
        self.nodes: list[int] = []
        self.places: list[int] = []
        self.headed = False
        self.count = 0  # elements
        self.sizes: tuple[int, ...] | None = None  # None: all nodes take the elements in the order of memory

    def add(self, place: int, number: int) -> None:
        """Takes the next step."""
        if self.nodes and self._joins(number):
            self.nodes.append(number)
            self.places.append(place)
            return
        self.end()
        sizes = self._sizes(number)
        if sizes is None:
            return
        node = self.graph.nodes[number]
        assert isinstance(node, Node)
        pointwise = is_pointwise(node)
        if "chains" not in self.without and pointwise and self._takes(number, sizes):
            self.nodes, self.headed, self.sizes = [number], False, self._spread(number, sizes)
        elif "epilogues" not in self.without and not pointwise and is_head(node):
            self.nodes, self.headed, self.sizes = [number], True, None
        self.places, self.count = [place], count_of(sizes)

    def end(self) -> None:
        """Keeps the chain, if it is one."""
        if len(self.nodes) > 1:
            inner = self._inner(self.nodes[int(self.headed) :])
            sizes = (self.count,) if self.sizes is None else self.sizes
            chain = Chain(self.wiring, tuple(self.places), tuple(self.nodes), self.headed, sizes, inner)
            self.found |= dict.fromkeys(self.places, chain)
        self.nodes = []

    def _joins(self, number: int) -> bool:
        """Whether a node runs with those before it; the chain then has its sizes."""
        node, sizes = self.graph.nodes[number], self._sizes(number)
        assert isinstance(node, Node)
        if sizes is None or len(self.nodes) == MOST or count_of(sizes) != self.count:
            return False
        if not is_pointwise(node) or not self._takes(number, sizes):
            return False
        own = {port for one in self.nodes for port, _ in writes(self.wiring, one)}
        inputs = reads(self.wiring, number)
        roots = self.wiring.roots
        if own.isdisjoint(port for port, _ in inputs) or any(roots.get(port) in own for port, _ in inputs):
            return False
        spread = self._spread(number, sizes)
        if None not in (self.sizes, spread) and self.sizes != spread:
            return False
        if any(port in own and not self._is_flat(port, desc) for port, desc in inputs):
            return False
        self.sizes = self.sizes or spread
        return True

    def _is_flat(self, port: Port, desc: TensorDesc) -> bool:
        """Whether a value of the chain is read as it is written."""
        made = dict(writes(self.wiring, port.node or 0))[port]
        return (
            is_packed(desc)
            and desc.element_count == made.element_count
            and size_in_bytes(dtype_of(desc), 1) == size_in_bytes(dtype_of(made), 1)
        )

    def _sizes(self, number: int) -> tuple[int, ...] | None:
        """The sizes of the outputs of a node; None where they differ, are small, or are not the bytes of a buffer."""
        outputs = writes(self.wiring, number)
        if not outputs:
            return None
        sizes = outputs[0][1].sizes
        bytes = max(desc.element_count * size_in_bytes(dtype_of(desc), 1) for _, desc in outputs)
        if bytes < LEAST or any(desc.sizes != sizes for _, desc in outputs):
            return None
        plain = all(is_plain(desc, self.wiring.sizes[port]) for port, desc in outputs)
        return sizes if plain and not any(has_four_bits(dtype_of(desc)) for _, desc in outputs) else None

    def _takes(self, number: int, sizes: tuple[int, ...]) -> bool:
        """Whether each input of a node has an element for each place, or repeats some along whole axes."""
        read = self.wiring.inputs[number]
        return all(
            desc is None or (not has_four_bits(dtype_of(desc)) and steps_of(desc, _without_ones(sizes)) is not None)
            for _, desc in read
        )

    def _spread(self, number: int, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
        """The sizes that matter to a node; None where all its inputs are read in the order of memory."""
        count = count_of(sizes)
        flat = all(is_packed(desc) and desc.element_count == count for _, desc in reads(self.wiring, number))
        return None if flat else _without_ones(sizes)

    def _inner(self, nodes: Sequence[int]) -> frozenset[Port]:
        """The values that nothing else reads."""
        own = {*nodes}
        return frozenset(
            port
            for node in nodes
            for port, _ in writes(self.wiring, node)
            if port not in self.kept and all(reader.node in own for reader in self.wiring.readers.get(port, ()))
        )


def is_pointwise(node: Node) -> bool:
    """Whether loops compute any part of the outputs of a node from the same part of its inputs, whatever they hold."""
    operator = node.desc.operator
    if operator.state != "fast" or any(rule.data for rule in operator.rules):
        return False
    return family_of(operator).pointwise(node.desc)


def is_head(node: Node) -> bool:
    """Whether loops compute the output of a node, the only one, and other nodes may run on each part of it."""
    operator = node.desc.operator
    if operator.state != "fast" or any(rule.data for rule in operator.rules):
        return False
    return family_of(operator).precedes(node.desc)


def _without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes without leading ones."""
    start = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes))
    return sizes[start:]


def steps_of(desc: TensorDesc, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Elements from one place along each axis of a chain to the next one; None where the axes are not those."""
    count = count_of(sizes)
    if is_packed(desc) and desc.element_count == count:
        return packed_strides(sizes)
    own = _without_ones(desc.sizes)
    extra = len(sizes) - len(own)
    if extra < 0:
        return None
    found = [0] * extra
    for size, wide, stride in zip(own, sizes[extra:], strides_of(desc)[desc.rank - len(own) :], strict=True):
        if size not in (1, wide):
            return None
        found.append(0 if size == 1 else stride)
    return tuple(found)


def joined(sizes: Sequence[int], steps: Mapping[int, tuple[int, ...]]) -> tuple[list[int], dict[int, list[int]]]:
    """Axes that follow one another in all tensors, as one: the sizes, and the steps of each tensor."""
    made: list[int] = []
    found: dict[int, list[int]] = {key: [] for key in steps}
    for axis, size in enumerate(sizes):
        if size == 1:
            continue
        if made and all(found[key][-1] == size * one[axis] for key, one in steps.items()):
            made[-1] *= size
            for key, one in steps.items():
                found[key][-1] = one[axis]
            continue
        made.append(size)
        for key, one in steps.items():
            found[key].append(one[axis])
    return (made, found) if made else ([1], {key: [0] for key in steps})
