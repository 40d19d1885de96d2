"""Graphs from Python: a method for each operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dmlcy._desc.classes import desc_class
from dmlcy._desc.memory import resized
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation, Violations, raise_violations
from dmlcy._facts.levels import LEVEL
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import Described, TensorDesc, minimum_size
from dmlcy._field_types.values import as_dtype
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._graph.loose import is_unknown, own
from dmlcy._graph.model import Constant, Edge, End, Node, Origin, Port, inputs_of, outputs_of
from dmlcy._graph.names import Names
from dmlcy._graph.operators import Operators
from dmlcy._graph.use import Method
from dmlcy._graph.values import Value
from dmlcy._graph.views import broadcast, reshaped, transposed
from dmlcy._graph.violations import GraphViolation, of_node
from dmlcy._runtime.tensor import to_array
from dmlcy._words.values import show

_NO_ATTRIBUTES: Final = ("name", "outputs")
_PLAIN: Final = (bool, int, float, str, tuple, list)
"""Types of attributes that are the same where their texts are."""


class Graph(Operators):
    """A graph that is being built: inputs, constants, and a method for each operator, with the name of its function.

    A method takes values where the function takes arrays, and infers the desc of each output as the function does. The
    result is the output as a value, or a tuple of several outputs. A wrong argument raises what the function raises.
    ``name=`` names the node.

    Parameters
    ----------
    limit
        The most nodes that a check of the graph looks at.
    collect
        Violations are not raised: ``violations`` lists them, and so does a check of the graph. The node is added, and
        its outputs have the descs that ``outputs=`` gives, or the sizes that follow from the fields. An output of
        which nothing is known has a desc without sizes; what only follows from this is no violation.
    unique_names
        A name of an input, a node or a value that is taken gets a number: relu, relu-2. Else a check of the graph
        refuses the second use.

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> g = dml.Graph()
    >>> x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 2, 2)), name="x")
    >>> one = g.constant(np.ones((1, 1, 2, 2), np.float32))
    >>> graph = g.build(g.activation_relu(g.element_wise_subtract(x, one)))
    >>> dml.check(graph)
    []
    >>> dml.compile(graph)(np.array([[[[0, 1], [2, 3]]]], np.float32))
    array([[[[0., 0.],
             [1., 2.]]]], dtype=float32)
    """

    def __init__(self, *, limit: int = MOST, collect: bool = False, unique_names: bool = False) -> None:
        self._nodes: list[Node | Constant] = []
        self._inputs: list[End] = []
        self._edges: list[Edge] = []
        self._names: dict[Port, str] = {}
        self._limit = limit
        self._collect = collect
        self._taken = Names() if unique_names else None
        self._origin: Origin | None = None
        self._violations: list[GraphViolation] = []
        self._descs: dict[tuple[object, ...], tuple[OperatorDesc, Sequence[Violation]]] = {}

    @property
    def violations(self) -> Violations:
        """The violations that the methods of a collecting graph have refused so far, with the node and its origin."""
        return Violations(self._violations)

    @contextmanager
    def origin(self, file: str = "", name: str = "", operator: str = "") -> Iterator[None]:
        """Within this context, each node and each constant is made for that node of a foreign file.

        Errors, plans, dumps, comparisons and pictures name the origin.

        Parameters
        ----------
        file, name, operator
            The file, and the name and the operator of the node in it.
        """
        outer = self._origin
        self._origin = Origin(*(_name(one, "origin") for one in (file, name, operator)))
        try:
            yield
        finally:
            self._origin = outer

    def name(self, value: Value, name: str) -> Value:
        """Give a value a name, such as one of several outputs of a node; the value itself.

        The name of a node with one output is the name of the value already.
        """
        port = self._port(value, "name")
        if port.node is None:
            end = self._inputs[port.place]
            self._inputs[port.place] = replace(end, name=self._named(name, "name", end.name))
        else:
            known = self._names.get(port) or self._nodes[port.node].name
            self._names[port] = self._named(name, "name", known)
        return value

    def input(self, desc: TensorDesc, *, name: str = "") -> Value:
        """An input of the graph; with the flag OWNED_BY_DML it is given once, when the graph is initialised.

        A desc without sizes, of a single number, has the size 1: DirectML has no tensors without dimensions.
        """
        if not isinstance(desc, TensorDesc):
            raise TypeError(f"input() takes a TensorDesc, not {show(desc)}.{_from_array(desc)}")
        known = desc if desc.sizes != () else resized(desc, (1,), None)
        self._inputs.append(End(self._named(name, "input"), known))
        return Value(self, Port(None, len(self._inputs) - 1), known)

    def constant(self, array: object, *, name: str = "") -> Value:
        """The elements of an array as a part of the graph; they are copied.

        The elements of a bool array are UINT8, and an array without dimensions has the size 1.
        """
        found = to_array(array)
        if found is None or as_dtype(found.dtype) is None:
            other = found is not None and as_dtype(found.dtype.newbyteorder("=")) is not None
            hint = ' Its bytes are in the order of other machines: pass array.astype(array.dtype.newbyteorder("=")).'
            raise TypeError(f"constant() takes an array of a tensor data type, not {show(array)}.{hint * other}")
        constant = Constant.of(np.asarray(found), self._named(name, "constant"), self._origin)
        assert constant.desc is not None
        self._nodes.append(constant)
        return Value(self, Port(len(self._nodes) - 1, 0), constant.desc)

    def reinterpret(self, value: Value, desc: TensorDesc) -> Value:
        """The same bytes under another tensor desc of the same total size in bytes; no element is converted."""
        if not isinstance(desc, TensorDesc):
            raise TypeError(f"reinterpret() takes a TensorDesc, not {show(desc)}.{_from_array(desc)}")
        return Value(self, self._port(value, "reinterpret"), desc)

    def transpose(self, value: Value, axes: Sequence[int]) -> Value:
        """The value with its axes in another order: axis k of the result is axis ``axes[k]``. No node is needed."""
        return self._viewed(value, "transpose", lambda desc: transposed(desc, axes))

    def broadcast(self, value: Value, sizes: Sequence[int]) -> Value:
        """The value repeated along axes of size 1 and axes in front, as by numpy.broadcast_to. No node is needed."""
        return self._viewed(value, "broadcast", lambda desc: broadcast(desc, sizes), sizes)

    def reshape(self, value: Value, sizes: Sequence[int]) -> Value:
        """The elements of the value in other sizes. A value whose elements are not adjacent is copied by a node."""
        self._port(value, "reshape")
        if not self._is_unknown(value.desc) and reshaped(value.desc, sizes) is None:
            value = self.element_wise_identity(value)
        return self._viewed(value, "reshape", lambda desc: reshaped(desc, sizes) or desc, sizes)

    def _viewed(
        self, value: Value, function: str, view: Callable[[TensorDesc], TensorDesc], sizes: Sequence[int] = ()
    ) -> Value:
        """The value under another desc; ``sizes``: those of the result, where nothing is known of the value."""
        port, desc = self._port(value, function), value.desc
        return Value(self, port, TensorDesc(desc.dtype, sizes) if self._is_unknown(desc) else view(desc))

    def _is_unknown(self, desc: TensorDesc) -> bool:
        """Whether nothing is known of a value; of a graph that collects, also where its desc is wrong."""
        return is_unknown(desc) or (self._collect and minimum_size(desc) is None)

    def add(self, desc: OperatorDesc, *inputs: Value | Sequence[Value] | None, name: str = "") -> Any:
        """A node of a desc; values for its inputs in the order of the struct, None for one that is left out.

        The value of each input is read under the desc of the input. Nothing is checked before ``check`` or ``compile``.
        """
        if not isinstance(desc, OperatorDesc):
            raise TypeError(f"add() takes an object of a class of dmlcy.desc, not {show(desc)}.")
        given: list[Value | None] = []
        for one in inputs:
            given += [one] if one is None or isinstance(one, Value) else [*one]
        number, node = len(self._nodes), Node(desc)
        edges = [
            Edge(self._port(value, "add"), Port(number, index))
            for index, value in enumerate(given)
            if value is not None
        ]
        if len(given) > len(inputs_of(node)):
            raise TypeError(f"add() was given {len(given)} inputs, and the desc has {len(inputs_of(node))}.")
        self._nodes.append(Node(desc, self._named(name, "add"), self._origin))
        self._edges += edges
        values = [
            Value(self, Port(number, index), tensor)
            for index, (_, tensor) in enumerate(outputs_of(node))
            if tensor is not None
        ]
        several = any(type_of(f.type).tensors for f in desc.operator.fields if f.kind == "output")
        return values[0] if len(values) == 1 and not several else tuple(values)

    def build(self, *outputs: Value, **named: Value) -> GraphDesc:
        """The graph, with these outputs in order; outputs that are given by keyword have the keyword as their name.

        A graph input, a constant, and a value that is read with strides are copied by a node: DirectML has no edge from
        a graph input to a graph output, and the buffer of an output has no strides.
        """
        if not outputs and not named:
            raise TypeError("build() needs at least one output.")
        given = [*(("", value) for value in outputs), *named.items()]
        nodes, edges, ends = [*self._nodes], [*self._edges], []
        for index, (name, value) in enumerate(given):
            port, desc = self._port(value, "build"), value.desc
            if self._is_copied(port, desc):
                edges.append(Edge(port, Port(len(nodes), 0)))
                port, copied = Port(len(nodes), 0), TensorDesc(desc.dtype, desc.sizes)
                nodes.append(Node(desc_class("ELEMENT_WISE_IDENTITY")(input=desc, output=copied)))
                desc = copied
            edges.append(Edge(port, Port(None, index)))
            ends.append(End(name, None if is_unknown(desc) else desc))
        names = dict(found for number, node in enumerate(nodes) if (found := _named_value(node, number)))
        names |= self._names
        return GraphDesc(
            tuple(nodes), tuple(self._inputs), tuple(ends), tuple(edges), tuple(names.items()), self._limit
        )  # fmt: skip

    def _is_copied(self, port: Port, desc: TensorDesc) -> bool:
        """Whether an output of the graph cannot be this value itself."""
        node = None if port.node is None else self._nodes[port.node]
        if node is None or isinstance(node, Constant):
            return True
        return desc.strides is not None and desc != outputs_of(node)[port.place][1]

    def _use(self, method: Method, arguments: tuple[object, ...], named: dict[str, object]) -> object:
        given = method.bind(arguments, named)
        python = method.faces.operator.python
        name = _name(given["name"], python)
        tensors: dict[str, Described] = {}
        values: list[Value | Sequence[Value] | None] = []
        for one, several in method.faces.inputs:
            if given[one] is None:
                values.append(None)
            elif several:
                entries = self._several(given[one], python, one)
                values.append(entries)
                tensors[one] = tuple(entry.desc for entry in entries)
            else:
                value = self._value(given[one], python, one)
                values.append(value)
                tensors[one] = value.desc
        desc, found = self._desc(method, given, tensors | method.outputs(given))
        if found and not self._collect:
            raise_violations(found, python)
        result: object = self.add(desc, *values, name=name)
        if found:
            self._refuse(found)
        return result

    def _desc(
        self, method: Method, given: dict[str, object], tensors: dict[str, Described]
    ) -> tuple[OperatorDesc, Sequence[Violation]]:
        """The desc of a use, and what is wrong with it: made once for the same tensors and the same attributes."""
        inputs = {one for one, _ in method.faces.inputs}
        attributes = [(one, value) for one, value in given.items() if one not in inputs and one not in _NO_ATTRIBUTES]
        if not all(value is None or type(value) in _PLAIN for _, value in attributes):
            return method.desc(given, tensors)
        key = (method.faces.operator.name, LEVEL.get(), *tensors.items(), repr(attributes))
        try:
            known = self._descs.get(key)
        except TypeError:  # a tensor desc with values that are no sizes
            return method.desc(given, tensors)
        if known is None:
            known = self._descs[key] = method.desc(given, tensors)
        return known

    def _refuse(self, found: Sequence[Violation]) -> None:
        """Notes what is wrong with the last node, except for what follows from values of which nothing is known."""
        number = len(self._nodes) - 1
        node = self._nodes[number]
        assert isinstance(node, Node)
        unread = {path for path, desc in inputs_of(node) if is_unknown(desc)}
        refused = tuple(own(found, unread, frozenset()))
        self._nodes[number] = replace(node, refused=refused)
        self._violations += (of_node(one, node, number) for one in refused)

    def _named(self, name: object, function: str, known: str = "") -> str:
        """A name, with a number where names are made unique; ``known``: the name so far. TypeError for no str."""
        given = _name(name, function)
        return given if self._taken is None or given in ("", known) else self._taken.distinct(given)

    def _several(self, value: object, function: str, argument: str) -> tuple[Value, ...]:
        if isinstance(value, Value) or not isinstance(value, Sequence):
            raise TypeError(f"{function}() takes a sequence of values for {argument}, not {show(value)}.")
        return tuple(self._value(entry, function, argument) for entry in value)

    def _port(self, value: object, function: str) -> Port:
        """Where a value comes from; TypeError for what is no value of this graph."""
        return self._value(value, function)._port

    def _value(self, value: object, function: str, argument: str = "") -> Value:
        """The value itself; TypeError for what is no value of this graph."""
        of = f" for {argument}" if argument else ""
        if not isinstance(value, Value):
            hint = " Make it a graph input, or a constant with constant(...)." if to_array(value) is not None else ""
            raise TypeError(f"{function}() takes a value of the graph{of}, not {show(value)}.{hint}")
        if value._graph is not self:
            raise ValueError(f"{function}() was given a value of another graph{of}.")
        return value


def _named_value(node: Node | Constant, number: int) -> tuple[Port, str] | None:
    """The only value of a node, which has the name of the node; None for several, and for no name."""
    there = [index for index, (_, tensor) in enumerate(outputs_of(node)) if tensor is not None]
    return (Port(number, there[0]), node.name) if node.name and len(there) == 1 else None


def _name(name: object, function: str) -> str:
    """The name itself; TypeError for what is no str."""
    if not isinstance(name, str):
        raise TypeError(f"{function}() takes a str as name, not {show(name)}.")
    return name


def _from_array(value: object) -> str:
    return " Pass TensorDesc.from_array(x)." if isinstance(value, np.ndarray) else ""
