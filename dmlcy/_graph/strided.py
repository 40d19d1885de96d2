"""Views: values that are elements of other memory, and that each reader reads there with strides of its own."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from dmlcy._desc.memory import dtype_of, is_packed, resized, strides_of
from dmlcy._facts.dtypes import has_four_bits, size_in_bytes
from dmlcy._families import family_of
from dmlcy._families.base import Part
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.wiring import Wiring

LONG: Final = 256
"""Bytes in a row that loops read about as fast as if all elements followed each other."""


class Place(NamedTuple):
    """A run of axes that are one axis in memory: elements, the elements between them in the value, and in memory."""

    size: int
    packed: int
    stride: int


@dataclass(frozen=True)
class View:
    """A value whose elements are some of those of another one.

    Attributes
    ----------
    root
        The value in whose memory they are, which is no view.
    item
        Bytes of an element.
    start
        Elements from the start of this memory to the first one.
    sizes, strides
        Of the value under its own desc; strides are those in the memory, in elements.
    """

    root: Port
    item: int
    start: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The axes of the value, as few as there can be: the last one first."""
        found: list[Place] = []
        packed = 1
        for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if size == 1:
                continue
            if found and stride == found[-1].stride * found[-1].size:
                inner = found.pop()
                found.append(Place(inner.size * size, inner.packed, inner.stride))
            else:
                found.append(Place(size, packed, stride))
            packed *= size
        return tuple(found)

    @property
    def reach(self) -> tuple[int, int]:
        """Bytes of the memory before its elements, and up to the last one of them."""
        ends = [(size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True)]
        first = self.start + sum(end for end in ends if end < 0)
        last = self.start + sum(end for end in ends if end > 0)
        return first * self.item, (last + 1) * self.item

    def strides_for(self, desc: TensorDesc) -> tuple[int, ...] | None:
        """The strides with which a reader of the value finds its elements in the memory; None: no strides do."""
        if has_four_bits(dtype_of(desc)) or size_in_bytes(dtype_of(desc), 1) != self.item:
            return None
        reached = [0] * len(self.places)
        found = []
        for size, stride in zip(desc.sizes, strides_of(desc), strict=True):
            if size == 1 or stride == 0:
                found.append(0)
                continue
            at = next((k for k, one in enumerate(self.places) if stride < one.packed * one.size), None)
            if at is None or stride % self.places[at].packed:
                return None
            steps = stride // self.places[at].packed
            reached[at] += (size - 1) * steps
            found.append(steps * self.places[at].stride)
        if any(most >= one.size for most, one in zip(reached, self.places, strict=True)):
            return None
        return tuple(found)

    def seen(self, desc: TensorDesc) -> TensorDesc:
        """The desc of a reader, with the strides that find its elements in the memory."""
        strides = self.strides_for(desc)
        return resized(desc, desc.sizes, None if strides is None or is_dense(desc.sizes, strides) else strides)


Views = Mapping[Port, View]


def views_of(graph: Structure, wiring: Wiring, kept: Collection[Port | None]) -> dict[Port, View]:
    """The values of a valid graph that are views; ``kept``: outputs of the graph, which are no views."""
    found: dict[Port, View] = {}
    for number in wiring.order:
        node = graph.nodes[number]
        if isinstance(node, Node):
            found |= _views(wiring, number, node, kept, found)
    return found


def as_seen(wiring: Wiring, views: Views) -> Wiring:
    """The wiring with the descs under which the readers of views find their elements in memory."""
    if not views or not (wiring.sizes and wiring.read):
        return wiring
    found = copy(wiring)
    found.roots = {port: view.root for port, view in views.items()}
    found.inputs = [
        tuple(
            (path, desc if desc is None or port is None or port not in views else views[port].seen(desc))
            for (path, desc), port in zip(tensors, ports, strict=True)
        )
        for tensors, ports in zip(wiring.inputs, wiring.read, strict=True)
    ]
    return found


def _views(wiring: Wiring, number: int, node: Node, kept: Collection[Port | None], known: Views) -> dict[Port, View]:
    """The outputs of a node, if all of them are views."""
    parts = family_of(node.desc.operator).parts(node.desc)
    there = [(desc, port) for (_, desc), port in zip(wiring.inputs[number], wiring.read[number], strict=True) if desc]
    if parts is None or len(there) != 1:
        return {}
    (desc, source) = there[0]
    outputs = [(Port(number, index), one) for index, (_, one) in enumerate(wiring.outputs[number]) if one is not None]
    if source is None or has_four_bits(dtype_of(desc)):
        return {}
    found = {}
    for (port, output), part in zip(outputs, parts, strict=True):
        view = _view(known, source, desc, part, output)
        if port in kept or view is None or not _is_read(wiring, port, view):
            return {}
        found[port] = view
    return found


def _view(known: Views, source: Port, desc: TensorDesc, part: Part, output: TensorDesc) -> View | None:
    """An output of a node that reads a value under a desc."""
    if output.dtype != desc.dtype or not is_packed(output):
        return None
    outer = known.get(source)
    strides = strides_of(desc) if outer is None else outer.strides_for(desc)
    if strides is None:
        return None
    start = sum(first * stride for first, stride in zip(part.first, strides, strict=True))
    steps = tuple(step * stride for step, stride in zip(part.steps, strides, strict=True))
    root, before = (source, 0) if outer is None else (outer.root, outer.start)
    return View(root, size_in_bytes(dtype_of(desc), 1), before + start, tuple(output.sizes), steps)


def _is_read(wiring: Wiring, port: Port, view: View) -> bool:
    """Whether each reader finds the elements with strides, and about as fast as in a copy."""
    return all(_reads(wiring, target, view) for target in wiring.readers.get(port, ()))


def _reads(wiring: Wiring, target: Port, view: View) -> bool:
    """The same for one tensor that reads the value."""
    desc = wiring.desc_of_target(target)
    strides = None if desc is None else view.strides_for(desc)
    if desc is None or strides is None or target.node is None:
        return False
    if _run(desc.sizes, strides) * view.item >= min(LONG, _run(desc.sizes, strides_of(desc)) * view.item):
        return True
    node = wiring.graph.nodes[target.node]
    return isinstance(node, Node) and family_of(node.desc.operator).rearranges(node.desc)


def _run(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements follow each other in memory."""
    found = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size > 1 and stride != found:
            break
        found *= size
    return found


def is_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements follow each other in memory in their order."""
    return _run(sizes, strides) == math.prod(sizes)
