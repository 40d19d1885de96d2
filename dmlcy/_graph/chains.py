"""Chains: nodes in a row whose elements depend on elements at the same place only, computed block by block.

A chain may begin with a product, a convolution or a normalization: the other nodes then run on each block that this one
has just computed. The other nodes are its epilogue.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dmlcy._desc.memory import dtype_of, is_packed, strides_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._desc.whole import Switches
from dmlcy._facts.dtypes import has_four_bits, size_in_bytes
from dmlcy._families import family_of
from dmlcy._families.base import of_floats
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.wiring import Wiring

LEAST: Final = 262144
"""Bytes of a value that does not stay in the nearest cache: smaller ones gain nothing."""
MOST: Final = 32
"""Nodes of a chain."""
BLOCK: Final = 16384
"""Bytes of a block of the largest elements of a chain, if it has values that only it knows."""
PASS: Final = 262144
"""The same of a chain whose values are all in memory."""
SINGLE: Final = 4
"""Bytes of an element of FLOAT32."""
ROW: Final = 2048
"""Elements of a row that an epilogue takes at once: a pass over all elements takes less time than shorter rows do."""


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
    """The sources that a node reads, each with the desc of the reading tensor."""
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
    idle: Collection[int],
    alone: Collection[int],
    kept: Collection[Port | None],
    without: Switches,
) -> dict[int, Chain]:
    """The chains of a valid graph whose nodes run in this order, by the places of their steps.

    ``idle``: nodes that take no step; ``alone``: nodes that run in a way of their own; ``kept``: the graph's outputs.
    """
    if {"chains", "epilogues"} <= without:
        return {}
    finder = _Finder(graph, wiring, kept, without)
    for place, number in enumerate(order):
        if number in alone:
            finder.end()
        elif number not in idle:
            finder.add(place, number)
    finder.end()
    return finder.found


@dataclass(frozen=True, slots=True)
class _Kind:
    """The facts of nodes with a desc: whether they may begin a chain or be a member; elements, and bytes of an output.

    ``spread``: the sizes that matter to it; None where all its inputs are read in the order of memory. ``items``: bytes
    of an element of each output. ``inputs``: of each input that is there, if it is read so, else 0. ``large``: a pass
    over the output reads it from far. ``stores``: its loops may let others change each result as they store it, so that
    it begins a chain however small it is; ``stored``: it may be such another one.
    """

    heads: bool
    joins: bool
    count: int = 0
    spread: tuple[int, ...] | None = None
    items: tuple[int, ...] = ()
    inputs: tuple[int, ...] = ()
    large: bool = True
    stores: bool = False
    stored: bool = False


_NONE: Final = _Kind(False, False)


class _Finder:
    """Goes over the steps, and joins steps that follow each other."""

    def __init__(self, graph: Structure, wiring: Wiring, kept: Collection[Port | None], without: Switches) -> None:
        self.graph, self.wiring, self.kept, self.without = graph, wiring, kept, without
        self.found: dict[int, Chain] = {}
        self.kinds: dict[int, _Kind] = {}  # by the id of a desc, which many nodes share
        self.nodes: list[int] = []
        self.places: list[int] = []
        self.own: dict[Port, int] = {}  # what the chain computes, each with the bytes of an element
        self.headed = self.small = False
        self.count = 0  # elements
        self.sizes: tuple[int, ...] | None = None  # None: all nodes take the elements in the order of memory

    def add(self, place: int, number: int) -> None:
        """Takes the next step."""
        kind = self._kind(number)
        if not self.nodes or not self._joins(number, kind):
            self.end()
            self.headed = kind.heads and (kind.large or kind.stores) and "epilogues" not in self.without
            if not self.headed and (not kind.joins or not kind.large or "chains" in self.without):
                return
            self.sizes, self.count, self.small = kind.spread, kind.count, not kind.large
        self.nodes.append(number)
        self.places.append(place)
        self.own |= {port: item for (port, _), item in zip(writes(self.wiring, number), kind.items, strict=True)}

    def end(self) -> None:
        """Keeps the chain, if it is one."""
        if len(self.nodes) > 1:
            inner = self._inner(self.nodes[int(self.headed) :])
            sizes = (self.count,) if self.sizes is None else self.sizes
            chain = Chain(self.wiring, tuple(self.places), tuple(self.nodes), self.headed, sizes, inner)
            self.found |= dict.fromkeys(self.places, chain)
        self.nodes, self.places, self.own = [], [], {}

    def _joins(self, number: int, kind: _Kind) -> bool:
        """Whether a node runs with those before it; the chain then has its sizes."""
        if not kind.joins or len(self.nodes) == MOST or kind.count != self.count or self.small > kind.stored:
            return False
        if None not in (self.sizes, kind.spread) and self.sizes != kind.spread:
            return False
        if self.small and not self._is_only_reader(number):
            return False
        roots = self.wiring.roots
        items = [
            (self.own[port], item)
            for (port, _), item in zip(reads(self.wiring, number), kind.inputs, strict=True)
            if port in self.own
        ]
        if not items or any(one != other for one, other in items):
            return False
        if any(roots.get(port) in self.own for port, _ in reads(self.wiring, number)):
            return False
        self.sizes = self.sizes or kind.spread
        return True

    def _is_only_reader(self, number: int) -> bool:
        """Whether nothing else reads the last value."""
        last = Port(self.nodes[-1], 0)
        return last not in self.kept and all(one.node == number for one in self.wiring.readers.get(last, ()))

    def _kind(self, number: int) -> _Kind:
        """The facts of a node; none where an output of it is not just the bytes of a buffer."""
        node = self.graph.nodes[number]
        assert isinstance(node, Node)
        key = id(node.desc)
        if key not in self.kinds:
            self.kinds[key] = _kind_of(node.desc)
        kind, roots = self.kinds[key], self.wiring.roots
        if kind.joins and any(port in roots and desc.strides for port, desc in reads(self.wiring, number)):
            return _NONE
        if kind is not _NONE:
            for (port, _), item in zip(writes(self.wiring, number), kind.items, strict=True):
                if self.wiring.sizes[port] != kind.count * item:
                    return _NONE
        return kind

    def _inner(self, nodes: Sequence[int]) -> frozenset[Port]:
        """The values that nothing else reads."""
        own = {*nodes}
        return frozenset(
            port
            for node in nodes
            for port, _ in writes(self.wiring, node)
            if port not in self.kept and all(reader.node in own for reader in self.wiring.readers.get(port, ()))
        )


def _kind_of(desc: OperatorDesc) -> _Kind:
    values = desc._values()
    inputs, outputs = ([one for _, one in by_path(desc.operator.fields, kind, values)] for kind in ("input", "output"))
    if not outputs or any(has_four_bits(dtype_of(one)) for one in (*inputs, *outputs)):
        return _NONE
    sizes, count = outputs[0].sizes, outputs[0].element_count
    items = tuple(size_in_bytes(dtype_of(one), 1) for one in outputs)
    if not all(one.sizes == sizes and is_packed(one) for one in outputs):
        return _NONE
    large = count * max(items) >= LEAST
    operator = desc.operator
    if operator.state != "fast" or any(rule.data for rule in operator.rules):
        return _NONE
    family = family_of(operator)
    if not family.pointwise(desc):
        heads = len(outputs) == 1 and family.precedes(desc)
        stores = heads and items == (SINGLE,) and family.stores(desc)
        return _Kind(True, False, count, None, items, large=large, stores=stores) if heads else _NONE
    wide = _without_ones(sizes)
    if any(steps_of(one, wide) is None for one in inputs):
        return _NONE
    flat = [is_packed(one) and one.element_count == count for one in inputs]
    read = tuple(size_in_bytes(dtype_of(one), 1) if same else 0 for one, same in zip(inputs, flat, strict=True))
    stored = items == (SINGLE,) and all(flat) and len(flat) <= 2 and of_floats(desc)
    return _Kind(False, True, count, None if all(flat) else wide, items, read, large=large, stored=stored)


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
