"""Which values of a graph hold the items of a batch, each item apart from the others.

The items are followed by their place in memory: a reader takes the bytes of a value, under other sizes or strides. A
node keeps them apart if it can be cut along the axis that counts them, as dask arrays are cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.memory import dtype_of, strides_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import family_of
from dmlcy._families.given import Kernel
from dmlcy._families.pieces import Cut
from dmlcy._families.slices import sizes_of, slices
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array

Elements: TypeAlias = Callable[[Port, TensorDesc], Array | None]
"""The elements of a value that are known before a run; None for one that is not."""


class Items(NamedTuple):
    """Where the items of a batch are in memory: a bit belongs to the item ``place // pitch % number``."""

    pitch: int
    number: int


class Mixed(NamedTuple):
    """A value of which an element may depend on several items: the node that reads them so, and under which tensor."""

    node: int
    path: str


Of: TypeAlias = Items | Mixed | None
"""The items that a value is of; None: the value is the same for all items."""


class Axis(NamedTuple):
    """The axis of a tensor that counts the items, and its elements for each item; so ``outer`` times in a row.

    The element at an index is of the item ``index // each % number``.
    """

    axis: int
    each: int
    outer: int = 1


def axis_of(sizes: Sequence[int], strides: Sequence[int], bits: int, items: Items) -> Axis | None:
    """The axis that counts the items of a value in memory; None where the items are not apart along one axis."""
    steps = [stride * bits for stride in strides]
    for axis, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        each = items.pitch // step if step else 0
        if not each or each * step != items.pitch or size % (each * items.number):
            continue
        others = [(n, one) for k, (n, one) in enumerate(zip(sizes, steps, strict=True)) if k != axis and n > 1]
        inside = [(n - 1) * one for n, one in others if one % (items.pitch * items.number)]
        if sum(inside) + (each - 1) * step < items.pitch:
            return Axis(axis, each, size // (each * items.number))
    return None


@dataclass(frozen=True)
class Way:
    """A way in which a node can be cut: the axis of each tensor, and the attributes that say the sizes of a slice.

    ``outer``: how many times there is a slice for each item along an axis.
    """

    axes: Mapping[str, int]
    sized: frozenset[str]
    outer: int = 1


class Batch:
    """The values of a valid graph, and what each is of.

    Parameters
    ----------
    graph
        The graph.
    inputs
        The graph inputs that have items, by their places: the sizes of the array that a caller gives, and the axis of
        it that counts them.
    number
        How many items there are; at least two.
    elements
        Gives the elements of constants, and of what depends on constants only.
    """

    def __init__(
        self, graph: Structure, inputs: Mapping[int, tuple[Sequence[int], int]], number: int, elements: Elements
    ) -> None:
        self.graph, self.elements, self.count = graph, elements, number
        self.wiring = wiring_of(graph)
        self.of: dict[Port, Of] = {Port(None, place): self._given(place, *one) for place, one in inputs.items()}
        self.ways: dict[int, Way] = {}  # of nodes with a slice for each item
        for number in self.wiring.order:
            node = self.graph.nodes[number]
            if isinstance(node, Node):
                self._node(number, node.desc)

    def _given(self, place: int, sizes: Sequence[int], axis: int) -> Of:
        """The items of an input; None for one that nothing reads."""
        desc = self.wiring.desc_of(Port(None, place))
        if desc is None:
            return None
        if desc.sizes == tuple(sizes):
            return _items(desc, axis, self.count, self.count) or Mixed(-1, "")
        return Items(math.prod(sizes[axis:]) // self.count * _bits(desc), self.count)

    def of_output(self, place: int, sizes: Sequence[int]) -> Axis | Mixed | None:
        """The axis of an output that counts items; ``sizes``: under which the caller gets it. None: it is of no items.

        ``Mixed`` without a node: the items are not along an axis.
        """
        port, desc = output_of(self.graph, place)
        found = self.of.get(port)
        if not isinstance(found, Items):
            return found
        axis = _axis(desc, found)
        if axis is not None and desc.sizes != tuple(sizes):
            bits = _bits(desc)
            packed = Items(axis.each * math.prod(desc.sizes[axis.axis + 1 :]) * bits, self.count)
            axis = axis_of(sizes, packed_strides(tuple(sizes)), bits, packed)
        return Mixed(-1, "") if axis is None or axis.outer > 1 else axis

    def _node(self, number: int, desc: OperatorDesc) -> None:
        """Says of the outputs of a node what they are of."""
        read = {
            path: (tensor, self.of.get(port))
            for (path, tensor), port in zip(self.wiring.inputs[number], self.wiring.read[number], strict=True)
            if tensor is not None and port is not None
        }
        found = next((one for _, one in read.values() if isinstance(one, Mixed)), None)
        cut = {path: (tensor, one) for path, (tensor, one) in read.items() if isinstance(one, Items)}
        if found is None and not cut:
            return
        way = None
        if found is None:
            places = {path: _axis(tensor, one) for path, (tensor, one) in cut.items()}
            lost = next((path for path, place in places.items() if place is None), None)
            way = self._way(number, desc, {path: one for path, one in places.items() if one}) if lost is None else None
            found = Mixed(number, lost or next(iter(cut)))
        for place, (path, tensor) in enumerate(self.wiring.outputs[number]):
            if tensor is not None:
                axis = None if way is None else way.axes.get(path)
                items = (
                    None if axis is None or way is None else _items(tensor, axis, self.count * way.outer, self.count)
                )
                self.of[Port(number, place)] = items or found
        if way is not None:
            self.ways[number] = way

    def _way(self, number: int, desc: OperatorDesc, places: Mapping[str, Axis]) -> Way | None:
        """How a node is cut so that each slice is of one item; None where nothing says that it can be."""
        outer, *others = {place.outer for place in places.values()}
        if others:
            return None
        ways = [*_declared(desc, self.count, outer)]
        ways += _of_family(desc, self.count, places) if outer == 1 else ()
        for way in ways:
            if all(way.axes.get(path) == place.axis for path, place in places.items()) and self._are_same(
                number, way, places
            ):
                return way
        return None

    def _are_same(self, number: int, way: Way, places: Collection[str] = ()) -> bool:
        """Whether what the other tensors of a node read has the same for each item."""
        inputs = {path: place for place, (path, _) in enumerate(self.wiring.inputs[number])}
        axes = {path: axis for path, axis in way.axes.items() if path in inputs and path not in places}
        return all(self._is_same(number, inputs[path], axis, way.outer) for path, axis in axes.items())

    def _is_same(self, number: int, place: int, axis: int, outer: int) -> bool:
        (_, tensor), port = self.wiring.inputs[number][place], self.wiring.read[number][place]
        assert tensor is not None and port is not None
        if not strides_of(tensor)[axis]:
            return True
        array = self.elements(port, tensor)
        if array is not None:
            first, *others = (self._item(array, axis, outer, number) for number in range(self.count))
            return all(one == first for one in others)
        if port.node is None:
            return False
        items = _items(tensor, axis, self.count * outer, self.count)
        return items is not None and self._makes_same(port.node, port.place, items)

    def _makes_same(self, number: int, place: int, items: Items) -> bool:
        """Whether a node that reads no items makes the same for each of them."""
        node, (path, tensor) = self.graph.nodes[number], self.wiring.outputs[number][place]
        if not isinstance(node, Node) or tensor is None or Port(number, place) in self.of:
            return False
        made = _axis(tensor, items)
        for way in () if made is None else _declared(node.desc, self.count, made.outer):
            if made is not None and way.axes.get(path) == made.axis and self._are_same(number, way):
                self.ways[number] = way
                return True
        return False

    def _item(self, array: Array, axis: int, outer: int, number: int) -> bytes:
        """The elements of an item along an axis."""
        sizes = array.shape
        each = sizes[axis] // (outer * self.count)
        apart = array.reshape(*sizes[:axis], outer, self.count, each, *sizes[axis + 1 :])
        part: Array = apart.take(number, axis + 1)
        return part.tobytes()

    # For other numbers of items ---------------------------------------------------------------------------------------

    def unlike(self, other: Batch) -> int | None:
        """The first node that is not the same for another number of items, slices apart.

        -1: there are other nodes; None: all are the same.
        """
        mine, others = self.graph.nodes, other.graph.nodes
        ends = [{(edge.source, edge.target) for edge in one.graph.edges} for one in (self, other)]
        if [one.kind for one in mine] != [one.kind for one in others] or ends[0] != ends[1]:
            return -1
        return next((number for number in self.wiring.order if self._is_unlike(other, number)), None)

    def _is_unlike(self, other: Batch, number: int) -> bool:
        one, two = self.graph.nodes[number], other.graph.nodes[number]
        if not (isinstance(one, Node) and isinstance(two, Node)) or self._is_known(number):
            return False
        ways = self.ways.get(number), other.ways.get(number)
        if ways[0] != ways[1]:
            return True
        way = Way({}, frozenset()) if ways[0] is None else ways[0]
        axes, sized = way.axes, way.sized
        fields = one.desc.operator.fields
        names = [f.python for f in fields if f.kind not in ("input", "output") and f.python not in sized]
        if any(getattr(one.desc, name) != getattr(two.desc, name) for name in names if hasattr(one.desc, name)):
            return True
        tensors = [batch.wiring.inputs[number] + batch.wiring.outputs[number] for batch in (self, other)]
        return any(
            _shape(tensor, axes.get(path)) != _shape(second, axes.get(path))
            for (path, tensor), (_, second) in zip(*tensors, strict=True)
        ) or any(
            self._element_bytes(number, place, way) != other._element_bytes(number, place, way)
            for place in range(len(self.wiring.inputs[number]))
        )

    def _is_known(self, number: int) -> bool:
        """Whether a node computes constants."""
        return all(
            self.elements(Port(number, place), tensor) is not None
            for place, (_, tensor) in enumerate(self.wiring.outputs[number])
            if tensor is not None
        )

    def _element_bytes(self, number: int, place: int, way: Way) -> bytes | None:
        """The known elements that a tensor reads, of one item."""
        (path, tensor), port = self.wiring.inputs[number][place], self.wiring.read[number][place]
        array = None if tensor is None or port is None else self.elements(port, tensor)
        if array is None:
            return None
        axis = way.axes.get(path)
        return array.tobytes() if axis is None else self._item(array, axis, way.outer, 0)


def output_of(graph: Structure, place: int) -> tuple[Port, TensorDesc]:
    """The value that is an output of a valid graph, and its desc there."""
    wiring = wiring_of(graph)
    port = wiring.source_of(Port(None, place))
    assert port is not None
    desc = graph.outputs[place].desc or wiring.desc_of(port)
    assert desc is not None
    return port, desc


def _bits(tensor: TensorDesc) -> int:
    return dtype_of(tensor).bits


def _axis(tensor: TensorDesc, items: Items) -> Axis | None:
    return axis_of(tensor.sizes, strides_of(tensor), _bits(tensor), items)


def _items(tensor: TensorDesc, axis: int, slices: int, count: int) -> Items | None:
    """The items along an axis of so many slices, as they are in memory; None where they are not apart there."""
    found = Items(tensor.sizes[axis] // slices * strides_of(tensor)[axis] * _bits(tensor), count)
    return None if _axis(tensor, found) is None else found


def _shape(tensor: TensorDesc | None, axis: int | None) -> object:
    """The data type and the sizes of a tensor, without the axis that counts items."""
    return tensor and (tensor.dtype, *(size for k, size in enumerate(tensor.sizes) if k != axis))


def _declared(desc: OperatorDesc, count: int, outer: int) -> Iterator[Way]:
    """The ways that the spec declares, along axes with as many equal slices."""
    operator, values = desc.operator, desc._values()
    tensors = dict(pair for kind in ("input", "output") for pair in by_path(operator.fields, kind, values))
    for declared in operator.independent:
        for one in slices(operator, Formulas(desc).rules, values, declared):
            sizes = [tensors[path].sizes[axis] for path, axis in one.axes.items()]
            if not any(size % (count * outer) for size in sizes) and not sizes[0] // (count * outer) % one.takes:
                sized = frozenset(name for name, _ in sizes_of(operator, values, one.axes, one.sized))
                yield Way(one.axes, sized, outer)


def _of_family(desc: OperatorDesc, count: int, places: Mapping[str, Axis]) -> Iterator[Way]:
    """The ways beside the declared ones: those of which no piece reads what another one has."""
    use = _Use(desc, count, places)
    for one in family_of(desc.operator).cuts(use):
        first = next(iter(one.axes.items()))
        each = use.sizes(first[0])[first[1]] // count
        if places.get(first[0]) == Axis(first[1], each) and _are_apart(one, each, count):
            yield Way(one.axes, frozenset(one.sized))


def _are_apart(one: Cut, each: int, count: int) -> bool:
    """Whether there is a piece for each item, of its elements only, and all give as many elements."""
    found = [(piece.begin, piece.end, piece.size, piece.before, piece.after) for piece in one.pieces]
    size = found[0][2] if found else 0
    return found == [(k * each, (k + 1) * each, size, 0, 0) for k in range(count)]


class _Use:
    """A node as a call on chunked arrays: a chunk for each item."""

    def __init__(self, desc: OperatorDesc, count: int, places: Mapping[str, Axis]) -> None:
        self.kernel = Kernel(desc.operator, Formulas(desc).rules)
        values = desc._values()
        inputs, outputs = (dict(by_path(desc.operator.fields, kind, values)) for kind in ("input", "output"))
        self._tensors, self._count, self._places = {**inputs, **outputs}, count, places
        self._merged: dict[str, int] = {}
        self.input, self.output = next(iter(inputs), ""), next(iter(outputs))

    def sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor."""
        return tuple(self._tensors[name].sizes)

    def chunks(self, name: str, axis: int) -> Sequence[int]:
        """The sizes of the chunks of an input along an axis."""
        place = self._places.get(name)
        if place is None or place.axis != axis or axis > self._merged.get(name, axis):
            return (self.sizes(name)[axis],)
        return (place.each,) * self._count

    def merge_rows(self, name: str, axis: int) -> None:
        """Makes the chunks of an input whole along all axes behind this one."""
        self._merged[name] = axis
