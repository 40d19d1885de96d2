"""Values of a graph that is being built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.model import Port

OutputDescs: TypeAlias = TensorDesc | Sequence[TensorDesc | None] | None
"""The descs of the outputs of a node; None: what follows from the other fields."""


class Value:
    """The value of a graph input, a constant or a node, under a tensor desc: an argument of the nodes that read it.

    Attributes
    ----------
    desc
        The tensor as the nodes that read this value see it; without sizes where nothing says them.
    """

    __slots__ = ("_graph", "_port", "desc")
    desc: TensorDesc

    def __init__(self, graph: object, port: Port, desc: TensorDesc) -> None:
        self._graph = graph
        self._port = port
        self.desc = desc

    def __array__(self, *args: object, **named: object) -> NoReturn:
        """Refused: NumPy would take a value as an array of one object, and give it back as its own sum."""
        raise TypeError("A value of a graph has no elements yet: use the methods of the graph, not functions of NumPy.")

    def __repr__(self) -> str:
        return f"Value({self.desc!r})"
