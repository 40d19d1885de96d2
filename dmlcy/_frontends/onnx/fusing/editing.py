"""A graph whose nodes an optimiser joins and removes, with what is known of its values before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from dmlcy._frontends.onnx.elements import element_of
from dmlcy._frontends.onnx.model import ONNX, Attribute, Info, Model, Node, Sizes, Tensor
from dmlcy._frontends.onnx.structure import ordered, reads
from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._types import Array

LARGEST: Final = 2**26
"""Elements of a constant up to which it is read, and computed anew."""


class Gone(NamedTuple):
    """A node that the optimiser took away. ``into``: the node that does its work; None: it did nothing."""

    node: Node
    into: Node | None
    by: str


class Editing:
    """The graph of a model while it is edited.

    Parameters
    ----------
    walk
        The model before: it says which values are constants, and the data types and sizes of values.
    nodes
        The nodes that passes may take; None: all.

    Attributes
    ----------
    gone
        The nodes that are away.
    changes
        How many times something was changed.
    """

    def __init__(self, walk: Walk, nodes: Collection[Node] | None = None) -> None:
        self.walk, self.model = walk, walk.model
        graph = self.model.graph
        self.nodes: dict[Node, None] = dict.fromkeys(ordered(graph, self.model.file))
        self.allowed = None if nodes is None else {*nodes}
        self.gone: list[Gone] = []
        self.changes = 0
        self.outputs = {one.name for one in graph.outputs}
        self._made: dict[Node, Node] = {}  # by a node that is away, the one in its place
        self._new: dict[str, Tensor] = {}
        self._infos: dict[str, Info] = {}
        self._givers = {name: node for node in self.nodes for name in node.outputs if name}
        self._readers: dict[str, Counter[Node]] = {}
        for node in self.nodes:
            self._count(node)
        self._taken = {*self._givers, *graph.initializers, *(one.name for one in graph.inputs)}

    def _count(self, node: Node, step: int = 1) -> None:
        for name in reads(node):
            if name:
                readers = self._readers.setdefault(name, Counter())
                readers[node] += step
                if not readers[node]:
                    del readers[node]

    # The nodes and values ---------------------------------------------------------------------------------------------

    def each(self, *kinds: str) -> Iterator[Node]:
        """The nodes of these operators, or of all, that a pass may take, in their order. A node may go meanwhile."""
        for node in [*self.nodes]:
            if node in self.nodes and self.is_kind(node, *kinds):
                yield node

    def is_kind(self, node: Node | None, *kinds: str) -> bool:
        """Whether a node is there, is of one of these operators, if any are named, and may be taken."""
        wanted = {one if "." in one else f"{ONNX}.{one}" for one in kinds}
        if node is None or (wanted and f"{node.domain}.{node.operator}" not in wanted):
            return False
        return self.allowed is None or node in self.allowed

    def giver(self, name: str, *kinds: str) -> Node | None:
        """The node of one of these operators that gives a value, if no other one reads it and it is no output."""
        node = self._givers.get(name)
        return node if self.is_kind(node, *kinds) and self.is_inner(name) else None

    def source(self, name: str, *kinds: str) -> Node | None:
        """The node of one of these operators that gives a value, whoever reads it."""
        node = self._givers.get(name)
        return node if self.is_kind(node, *kinds) else None

    def reader(self, node: Node, *kinds: str) -> Node | None:
        """The node of one of these operators that alone reads the only output of a node, and reads it once."""
        names = [name for name in node.outputs if name]
        if len(names) != 1 or not self.is_inner(names[0]):
            return None
        (reader,) = self._readers[names[0]]
        return reader if self.is_kind(reader, *kinds) else None

    def readers(self, name: str) -> list[Node]:
        """The nodes that read a value, those with a graph that reads it included."""
        return [*self._readers.get(name, ())]

    def is_inner(self, name: str) -> bool:
        """Whether a value is read once, and is no output of the model."""
        return self._readers.get(name, Counter()).total() == 1 and name not in self.outputs

    def other(self, node: Node, name: str) -> str:
        """The other one of the two inputs of a node."""
        return node.inputs[1 if node.inputs[0] == name else 0]

    def sizes(self, name: str) -> tuple[int, ...] | None:
        """The sizes of a value, if all of them are known."""
        sizes = self.shape(name)
        whole = tuple(one for one in sizes or () if isinstance(one, int))
        return whole if sizes is not None and len(whole) == len(sizes) else None

    def shape(self, name: str) -> Sizes | None:
        """The sizes of a value, of which some may be free; None where not even their number is known."""
        tensor = self._new.get(name)
        if tensor is not None or name in self._infos:
            return tensor.sizes if tensor is not None else self._infos[name].sizes
        known = self.walk.scope.get(name)
        return None if known is None else known.sizes

    def element(self, name: str) -> str | None:
        """ONNX's name of the data type of a value."""
        tensor = self._new.get(name)
        known = self.walk.scope.get(name)
        if tensor is not None or name in self._infos:
            return tensor.element if tensor is not None else self._infos[name].element
        return None if known is None else known.element

    def constant(self, name: str) -> Array | None:
        """The elements of a value that is a constant, and not too large to be read."""
        tensor = self._new.get(name)
        if tensor is not None:
            return tensor.array()
        known = self.walk.scope.get(name) if name else None
        value = None if known is None else known.value
        if value is None or value.read is None or prod(value.sizes) > LARGEST:
            return None
        return value.read()

    def is_number(self, name: str, number: float) -> bool:
        """Whether a value is a constant of one element near a number, as ONNX Runtime's optimiser compares them."""
        found = self.constant(name)
        if found is None or found.size != 1 or found.dtype.kind != "f":
            return False
        step = 1e-2 if found.dtype == np.float16 else 1e-4
        return bool(abs(float(found.reshape(-1)[0]) - number) <= step * max(abs(number), 1.0))

    def since(self, node: Node) -> int:
        """The version of the operator of a node."""
        row = operator(node.domain, node.operator)
        version = None if row is None else row.version(self.model.opsets.get(node.domain, 1))
        return 0 if version is None else version.since

    def attribute(self, node: Node, name: str) -> Any:
        """The value of an attribute of a node, or its default."""
        given = node.attributes.get(name)
        if given is not None:
            return given.value
        row = operator(node.domain, node.operator)
        version = None if row is None else row.version(self.model.opsets.get(node.domain, 1))
        declared = None if version is None else version.attributes.get(name)
        return None if declared is None else declared.default

    # Changes ---------------------------------------------------------------------------------------------------------

    def new_constant(self, array: Array, base: str) -> str:
        """The name of a new constant."""
        name = self._unused(base)
        element = element_of(array)
        assert element is not None
        self._new[name] = Tensor(name, element, array.shape, lambda: array)
        return name

    def new_value(self, base: str, element: str | None, sizes: tuple[int, ...]) -> str:
        """The name of a new value."""
        name = self._unused(base)
        self._infos[name] = Info(name, element, sizes)
        return name

    def _unused(self, base: str) -> str:
        number, name = 0, base
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def join(self, nodes: Sequence[Node], made: Node, by: str, *more: Node) -> None:
        """Put a node in the place of others, the first of which it is called by; ``more``: nodes around it."""
        for node in nodes:
            self._drop(node)
            self._made[node] = made
        self.gone += [Gone(node, made, by) for node in nodes[1:]]
        for one in (made, *more):
            self._add(one)
        if self.allowed is not None:
            self.allowed |= {made, *more}
        self.changes += 1

    def replace(self, node: Node, other: Node, by: str) -> None:
        """Let the readers of a node read the outputs of another one, which has as many; no graph inside reads them."""
        names = dict(zip(node.outputs, other.outputs, strict=True))
        if any(name in reads_inside(reader) for name in names for reader in self.readers(name)):
            return
        self._drop(node)
        self._rename(names)
        self._made[node] = other
        self.gone.append(Gone(node, other, by))
        self.changes += 1

    def absorb(self, node: Node, into: Node, by: str) -> None:
        """Take away a node that nothing reads any more, because another one does its work."""
        self._drop(node)
        self._made[node] = into
        self.gone.append(Gone(node, into, by))

    def _rename(self, names: Mapping[str, str]) -> None:
        for reader in {reader: None for name in names for reader in self.readers(name)}:
            self._swap(reader, replace(reader, inputs=tuple(names.get(one, one) for one in reader.inputs)))

    def remove(self, node: Node, by: str) -> bool:
        """Whether a node that only passes on its first input can go: its readers read the input then."""
        given, output = node.inputs[0], node.outputs[0]
        inside = any(output in reads_inside(reader) for reader in self.readers(output))
        source = self._givers.get(given)
        if inside or (output in self.outputs and (source is None or not self.is_inner(given))):
            return False
        self._drop(node)
        if output in self.outputs and source is not None:  # the node before gives the output of the model
            renamed = replace(source, outputs=tuple(output if one == given else one for one in source.outputs))
            self._swap(source, renamed)
        elif given != output:
            self._rename({output: given})
        self.gone.append(Gone(node, None, by))
        self.changes += 1
        return True

    def _swap(self, node: Node, other: Node) -> None:
        """Put a node with other names in the place of one."""
        self._drop(node)
        self._made[node] = other
        self._add(other)
        if self.allowed is not None and node in self.allowed:
            self.allowed.add(other)

    def _drop(self, node: Node) -> None:
        del self.nodes[node]
        self._count(node, -1)
        for name in node.outputs:
            self._givers.pop(name, None)

    def _add(self, node: Node) -> None:
        self.nodes[node] = None
        self._count(node)
        self._givers.update({name: node for name in node.outputs if name})

    def place(self, node: Node) -> Node:
        """The node that is in the place of one now."""
        while node in self._made:
            node = self._made[node]
        return node

    def model_now(self) -> Model:
        """The model with the nodes as they are now."""
        graph = self.model.graph
        nodes = tuple(sorted(self.nodes, key=lambda one: one.number))
        domains = {one.domain: 1 for one in nodes if one.domain not in self.model.opsets}
        infos = {**graph.infos, **self._infos}
        now = replace(graph, nodes=nodes, initializers={**graph.initializers, **self._new}, infos=infos)
        return replace(self.model, graph=now, opsets={**self.model.opsets, **domains})


def reads_inside(node: Node) -> set[str]:
    """The names that the graphs inside a node read."""
    return {*islice(reads(node), len(node.inputs), None)}


def made(base: Node, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object) -> Node:
    """A node in the place of others, with the name and the place of one of them. ``kind``: with its domain."""
    domain, _, name = kind.rpartition(".")
    return Node(
        base.number,
        base.name,
        name,
        domain or ONNX,
        tuple(inputs),
        tuple(outputs),
        {name: _attribute(name, value) for name, value in attributes.items() if value is not None},
        byte=base.byte,
    )


def _attribute(name: str, value: object) -> Attribute:
    if isinstance(value, Attribute):
        return value
    if isinstance(value, tuple):
        return Attribute(name, "INTS", value)
    return Attribute(
        name, "FLOAT" if isinstance(value, float) else "INT" if isinstance(value, int) else "STRING", value
    )
