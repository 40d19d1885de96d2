"""The members of a graph in JSON, by which a document is known as one."""

from __future__ import annotations

from typing import Final

from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._graph.limits import MOST

LISTS: Final = {
    "Nodes": "NodeCount",
    "InputEdges": "InputEdgeCount",
    "OutputEdges": "OutputEdgeCount",
    "IntermediateEdges": "IntermediateEdgeCount",
}
"""The lists of a graph, each with its count."""
ENDS: Final = {"Inputs": "InputCount", "Outputs": "OutputCount"}
MEMBERS_OF_GRAPH: Final = ("$schema", *LISTS, *LISTS.values(), *ENDS, *ENDS.values())
_VALUES: Final = 40
"""Values of a node with its edges."""


def is_graph(document: Document) -> bool:
    """Whether a document is a graph in place of a model."""
    root = document.root
    return root.kind == "object" and any(name in root.value for name in LISTS) and "dispatchables" not in root.value


def values_of(data: bytes, limit: int) -> int:
    """The most values of a document, which has a graph of so many nodes if it has the name of their list."""
    return 0 if b'"Nodes"' not in data else _VALUES * limit if limit <= MOST else 100 * limit
