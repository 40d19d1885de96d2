"""The nodes that take the place of a node: those of a function of the model, or of a function that ONNX defines.

ONNX Runtime does the same for a function of ONNX of which neither the DirectML provider nor the CPU has a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from dmlcy._frontends.onnx.elements import are_numbers
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Attribute, AttributeKind, Function, Graph, Node, Tensor
from dmlcy._frontends.onnx.tables import Version
from dmlcy._frontends.onnx.use import Unconverted

KINDS: dict[type, AttributeKind] = {int: "INT", float: "FLOAT", tuple: "INTS", Tensor: "TENSOR"}
Names = Mapping[str, str]


# Functions of the model ----------------------------------------------------------------------------------------------


def expand(function: Function, node: Node) -> tuple[Node, ...]:
    """The nodes of a function for a call: with the names of its values, and its attributes."""
    given = {**function.defaults, **node.attributes}
    outer = dict(zip(function.outputs, node.outputs, strict=False))
    outer = {name: actual for name, actual in outer.items() if actual}
    outer |= dict(zip(function.inputs, (*node.inputs, *[""] * len(function.inputs)), strict=False))
    prefix = _prefix(node)
    inner = (name for one in function.nodes for name in one.outputs if name not in outer)
    names = {**outer, **_prefixed(prefix, inner)}
    nodes = _renamed(function.nodes, names, given, prefix)
    copies = ((names.get(name, ""), actual) for name, actual in zip(function.outputs, node.outputs, strict=False))
    return nodes + tuple(
        Node(len(nodes), node.name, "Identity", ONNX, (name,), (actual,), {}, byte=node.byte)
        for name, actual in copies
        if actual not in ("", name)
    )


def _renamed(nodes: Sequence[Node], names: Names, given: Mapping[str, Attribute], prefix: str) -> tuple[Node, ...]:
    """The nodes with other names of their values, and with the attributes that they refer to."""
    return tuple(
        replace(
            node,
            inputs=tuple(names.get(name, name) for name in node.inputs),
            outputs=tuple(names.get(name, name) for name in node.outputs),
            attributes={one.name: one for one in _attributes(node, names, given, prefix)},
        )
        for node in nodes
    )


def _attributes(node: Node, names: Names, given: Mapping[str, Attribute], prefix: str) -> Iterable[Attribute]:
    """The attributes of a node of a function: one that refers to an attribute that the call leaves out is left out."""
    for one in node.attributes.values():
        if not one.reference:
            yield replace(one, value=_with_graphs(one.value, names, given, prefix))
        elif one.reference in given:
            yield replace(given[one.reference], name=one.name)


def _with_graphs(value: object, names: Names, given: Mapping[str, Attribute], prefix: str) -> object:
    """The value of an attribute, whose graphs read the values around them."""
    if isinstance(value, tuple):
        return tuple(_with_graphs(one, names, given, prefix) for one in value)
    if not isinstance(value, Graph):
        return value
    own = [one.name for one in value.inputs] + [*value.initializers]
    own += [name for node in value.nodes for name in node.outputs]
    inner = {**names, **_prefixed(prefix, own)}
    return replace(
        value,
        nodes=_renamed(value.nodes, inner, given, prefix),
        initializers={inner[name]: tensor for name, tensor in value.initializers.items()},
        inputs=tuple(replace(one, name=inner[one.name]) for one in value.inputs),
        outputs=tuple(replace(one, name=inner.get(one.name, one.name)) for one in value.outputs),
        infos={inner.get(name, name): one for name, one in value.infos.items()},
    )


def _prefixed(prefix: str, names: Iterable[str]) -> dict[str, str]:
    return {name: prefix + name for name in names if name}


def _prefix(node: Node) -> str:
    """A beginning that no name of a value of the node has."""
    prefix = f"{next(filter(None, node.outputs), node.operator)}/"
    while any(name.startswith(prefix) for name in (*node.inputs, *node.outputs)):
        prefix += "/"
    return prefix


# Functions of ONNX ---------------------------------------------------------------------------------------------------


class Body:
    """The nodes that take the place of a node, while they are made."""

    def __init__(self, node: Node, version: Version, elements: Sequence[str | None]) -> None:
        self.node = node
        self.version = version
        self.elements = elements
        self.prefix = _prefix(node)
        self.nodes: list[Node] = []

    def __getitem__(self, place: int) -> str:
        """The name of an input that must be there."""
        if place >= len(self.node.inputs) or not self.node.inputs[place]:
            self.refuse("DML-ONNX-node-input", input=self.version.inputs[place].name)
        return self.node.inputs[place]

    def element(self, place: int) -> str:
        """The data type of an input."""
        found = self.elements[place] if place < len(self.elements) else None
        if found is None or not are_numbers(ELEMENTS[found], "f"):
            self.refuse("DML-ONNX-type", element=found or "unknown", name=self[place])
        return found

    def attribute(self, name: str) -> Any:
        """The value of an attribute, or its default; None where there is none."""
        row, given = self.version.attributes.get(name), self.node.attributes.get(name)
        if given is not None and row is not None and given.kind == row.kind:
            return given.value
        return None if row is None else row.default

    def number(self, name: str) -> float:
        """The value of an attribute that must be there."""
        found: float | None = self.attribute(name)
        if found is None:
            self.refuse("DML-ONNX-node-attribute", name=name)
        return found

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: object) -> str:
        """Add a node; the name of its output."""
        made = {name: Attribute(name, KINDS[type(value)], value) for name, value in attributes.items()}
        output = output or f"{self.prefix}{len(self.nodes)}"
        number = len(self.nodes)
        self.nodes.append(Node(number, self.node.name, operator, ONNX, inputs, (output,), made, byte=self.node.byte))
        return output

    def end(self, operator: str, *inputs: str, **attributes: object) -> None:
        """Add the node that gives the output."""
        self.add(operator, *inputs, output=self.node.outputs[0] if self.node.outputs else "", **attributes)

    def constant(self, value: object, element: str = "INT64") -> str:
        """Add a constant."""
        with np.errstate(over="ignore"):
            array = np.array(value, ELEMENTS[element].numpy)
        return self.add("Constant", value=Tensor("", element, array.shape, partial(np.asarray, array)))

    def cast(self, name: str, to: str) -> str:
        """Add a Cast."""
        return self.add("Cast", name, to=ELEMENTS[to].number)

    def refuse(self, identifier: str, **values: object) -> NoReturn:
        """Say why the node has no descs."""
        raise Unconverted(identifier, **values)


def inlined(name: str, node: Node, version: Version, elements: Sequence[str | None]) -> tuple[Node, ...]:
    """The nodes in place of a node; ``name``: which function makes them; ``elements``: the data types of the inputs."""
    body = Body(node, version, elements)
    FUNCTIONS[name](body)
    return tuple(body.nodes)


def hard_swish(body: Body) -> None:
    body.end("Mul", body[0], body.add("HardSigmoid", body[0], alpha=1 / 6, beta=0.5))


def mish(body: Body) -> None:
    body.end("Mul", body[0], body.add("Tanh", body.add("Softplus", body[0])))


def swish(body: Body) -> None:
    body.end("Mul", body[0], _gate(body))


def swiglu(body: Body) -> None:
    body.end("Mul", body.add("Mul", body[0], _gate(body)), body[1])


def _gate(body: Body) -> str:
    alpha = body.constant(body.number("alpha"), body.element(0))
    return body.add("Sigmoid", body.add("Mul", alpha, body[0]))


def center_crop_pad(body: Body) -> None:
    """A padding up to the larger sizes, and a slice in the middle."""
    x, wanted, two = body[0], body[1], body.constant([2])
    axes = body.attribute("axes")
    chosen = () if axes is None else (body.constant(axes),)

    def sizes(of: str) -> str:
        whole = body.add("Shape", of)
        return body.add("Gather", whole, *chosen) if chosen else whole

    own = sizes(x)
    missing = body.add("Sub", body.add("Max", own, wanted), own)
    before = body.add("Div", missing, two)
    after = body.add("Sub", missing, before)
    padded = body.add("Pad", x, body.add("Concat", before, after, axis=0), *("" for _ in chosen), *chosen)
    start = body.add("Div", body.add("Sub", sizes(padded), wanted), two)
    body.end("Slice", padded, start, body.add("Add", start, wanted), *chosen)


def group_normalization(body: Body) -> None:
    """Each group is normalized; scale and bias are those of the groups in version 18, and of the channels since 21."""
    x, own = body[0], body.element(0)
    stash = own if "stash_type" not in body.version.attributes else _stash(body)
    wide = x if stash == own else body.cast(x, stash)
    whole, flat, axes = body.add("Shape", wide), body.constant([0, 0, -1]), body.constant([2])
    groups = body.constant([body.number("num_groups")])
    channels, batch = body.add("Shape", x, start=1, end=2), body.add("Shape", x, start=0, end=1)
    rest = body.add("Shape", x, start=2)
    shape = body.add("Concat", batch, groups, body.add("Div", channels, groups), rest, axis=0)
    parts = body.add("Reshape", body.add("Reshape", wide, shape), flat)
    mean = body.add("ReduceMean", parts, axes)
    squares = body.add("ReduceMean", body.add("Mul", parts, parts), axes)
    variance = body.add("Sub", squares, body.add("Mul", mean, mean))
    epsilon = body.constant([body.number("epsilon")], stash)
    deviation = body.add("Sqrt", body.add("Add", variance, epsilon))
    normal = body.add("Div", body.add("Sub", parts, mean), deviation)
    if body.version.since >= 21:
        normal = body.add("Reshape", body.add("Reshape", normal, whole), flat)
        normal = normal if stash == own else body.cast(normal, own)
    column = body.constant([1, -1, 1])
    scale, bias = (body.add("Reshape", body[place], column) for place in (1, 2))
    body.end("Reshape", body.add("Add", body.add("Mul", scale, normal), bias), whole)


def _stash(body: Body) -> str:
    number = body.number("stash_type")
    for one in ELEMENTS.values():
        if one.number == number and are_numbers(one, "f"):
            return one.name
    body.refuse("DML-ONNX-attribute-value", name="stash_type", value=number, known=[1, 10, 11])


FUNCTIONS = {
    "center_crop_pad": center_crop_pad,
    "group_normalization": group_normalization,
    "hard_swish": hard_swish,
    "mish": mish,
    "swiglu": swiglu,
    "swish": swish,
}
