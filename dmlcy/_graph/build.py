"""Graphs from Python: a method for each operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._field_types.values import as_dtype
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import MOST, Constant, Edge, End, Node, Port, inputs_of, outputs_of
from dmlcy._graph.operators import Operators
from dmlcy._graph.use import Method
from dmlcy._graph.values import Value
from dmlcy._runtime.tensor import to_array
from dmlcy._words.values import show


class Graph(Operators):
    """A graph that is being built: inputs, constants, and a method for each operator, with the name of its function.

    A method takes values where the function takes arrays, infers the desc of each output as the function does, and
    gives the output as a value; several outputs are a tuple. A wrong argument raises what the function raises.
    ``name=`` names the node.

    Parameters
    ----------
    limit
        The most nodes that a check of the graph looks at.

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

    def __init__(self, *, limit: int = MOST) -> None:
        self._nodes: list[Node | Constant] = []
        self._inputs: list[End] = []
        self._edges: list[Edge] = []
        self._limit = limit

    def input(self, desc: TensorDesc, *, name: str = "") -> Value:
        """An input of the graph; with the flag OWNED_BY_DML it is given once, when the graph is initialised."""
        if not isinstance(desc, TensorDesc):
            raise TypeError(f"input() takes a TensorDesc, not {show(desc)}.{_from_array(desc)}")
        self._inputs.append(End(_name(name, "input"), desc))
        return Value(self, Port(None, len(self._inputs) - 1), desc)

    def constant(self, array: Any, *, name: str = "") -> Value:
        """The elements of an array as a part of the graph; they are copied."""
        found = to_array(array)
        if found is None or as_dtype(found.dtype) is None:
            raise TypeError(f"constant() takes an array of a tensor data type, not {show(array)}.")
        constant = Constant.of(np.asarray(found), _name(name, "constant"))
        assert constant.desc is not None
        self._nodes.append(constant)
        return Value(self, Port(len(self._nodes) - 1, 0), constant.desc)

    def reinterpret(self, value: Value, desc: TensorDesc) -> Value:
        """The same bytes under another tensor desc, of the same data type and total size in bytes."""
        if not isinstance(desc, TensorDesc):
            raise TypeError(f"reinterpret() takes a TensorDesc, not {show(desc)}.{_from_array(desc)}")
        return Value(self, self._port(value, "reinterpret"), desc)

    def add(self, desc: OperatorDesc, *inputs: Value | Sequence[Value] | None, name: str = "") -> Any:
        """A node of a desc; values for its inputs in the order of the struct, None for one that is left out.

        The value of each input is read under the desc of the input. Nothing is checked before ``check`` or ``compile``.
        """
        if not isinstance(desc, OperatorDesc):
            raise TypeError(f"add() takes an object of a class of dmlcy.desc, not {show(desc)}.")
        given: list[Value | None] = []
        for one in inputs:
            given += [one] if one is None or isinstance(one, Value) else [*one]
        number, node = len(self._nodes), Node(desc, _name(name, "add"))
        edges = [
            Edge(self._port(value, "add"), Port(number, index))
            for index, value in enumerate(given)
            if value is not None
        ]
        if len(given) > len(inputs_of(node)):
            raise TypeError(f"add() was given {len(given)} inputs, and the desc has {len(inputs_of(node))}.")
        self._nodes.append(node)
        self._edges += edges
        values = [
            Value(self, Port(number, index), tensor)
            for index, (_, tensor) in enumerate(outputs_of(node))
            if tensor is not None
        ]
        several = any(type_of(f.type).tensors for f in desc.operator.fields if f.kind == "output")
        return values[0] if len(values) == 1 and not several else tuple(values)

    def build(self, *outputs: Value, **named: Value) -> GraphDesc:
        """The graph, with these outputs in order; those that are given by keyword have the keyword as their name."""
        if not outputs and not named:
            raise TypeError("build() needs at least one output.")
        given = [*(("", value) for value in outputs), *named.items()]
        edges, ends = [], []
        for index, (name, value) in enumerate(given):
            edges.append(Edge(self._port(value, "build"), Port(None, index)))
            ends.append(End(name, value.desc))
        whole = (*self._edges, *edges)
        names = tuple((Port(number, 0), node.name) for number, node in enumerate(self._nodes) if _names_value(node))
        return GraphDesc(tuple(self._nodes), tuple(self._inputs), tuple(ends), whole, names, self._limit)

    def _use(self, method: Method, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        given = method.bind(arguments, named)
        python = method.faces.operator.python
        _name(given["name"], python)
        tensors: dict[str, Any] = {}
        values: list[Any] = []
        for one, several in method.faces.inputs:
            value = given[one]
            values.append(value)
            if value is None:
                continue
            if several:
                entries = self._several(value, python, one)
                values[-1] = entries
                tensors[one] = tuple(entry.desc for entry in entries)
            else:
                self._port(value, python, one)
                tensors[one] = value.desc
        desc = method.desc(given, tensors)
        return self.add(desc, *values, name=given["name"])

    def _several(self, value: Any, function: str, argument: str) -> tuple[Value, ...]:
        if isinstance(value, Value) or not isinstance(value, Sequence):
            raise TypeError(f"{function}() takes a sequence of values for {argument}, not {show(value)}.")
        for entry in value:
            self._port(entry, function, argument)
        return tuple(value)

    def _port(self, value: Any, function: str, argument: str = "") -> Port:
        """Where a value comes from; TypeError for what is no value of this graph."""
        of = f" for {argument}" if argument else ""
        if not isinstance(value, Value):
            hint = " Make it a graph input, or a constant with constant(...)." if to_array(value) is not None else ""
            raise TypeError(f"{function}() takes a value of the graph{of}, not {show(value)}.{hint}")
        if value._graph is not self:
            raise ValueError(f"{function}() was given a value of another graph{of}.")
        return value._port


def _names_value(node: Node | Constant) -> bool:
    """Whether the name of a node is that of its value."""
    return bool(node.name) and sum(tensor is not None for _, tensor in outputs_of(node)) == 1


def _name(name: Any, function: str) -> str:
    """The name itself; TypeError for what is no str."""
    if not isinstance(name, str):
        raise TypeError(f"{function}() takes a str as name, not {show(name)}.")
    return name


def _from_array(value: object) -> str:
    return " Pass TensorDesc.from_array(x)." if isinstance(value, np.ndarray) else ""
