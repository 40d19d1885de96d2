"""The folder for a device: a graph with every edge as an output, its models, and the dump to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dmlcy._frontends.dxdispatch.files import distinct
from dmlcy._frontends.graphs import writer
from dmlcy._frontends.graphs.expose import MODEL, alone, chain, exposed, text
from dmlcy._frontends.graphs.value_files import names_of
from dmlcy._frontends.graphs.writer import Contents
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Node, Port
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.dumps import dump
from dmlcy._types import Array

NODES: Final = "nodes"


def contents(graph: GraphDesc, values: Mapping[Port, Array], level: str) -> Contents:
    """The files: the exposed graph and the models; and the dump, where every value is known."""
    wiring, named = wiring_of(graph), names_of(graph)
    whole = dump.contents(graph, values, level)
    complete = len(values) == len(named)
    if not complete:  # some nodes do not run: there is no dump, but inputs for a device
        whole = {path: content for path, content in whole.items() if path != (dump.MANIFEST,) and path[0] != "graph"}
    found: Contents = writer.contents(exposed(graph))
    found |= text(MODEL, chain(graph, named))
    taken: set[str] = set()
    for number in wiring.order if complete else ():
        node = graph.nodes[number]
        if isinstance(node, Node):
            file = distinct(f"{number:0{len(str(len(graph.nodes)))}}_{node.name or node.kind.lower()}", taken)
            found |= text(NODES, alone(graph, number, node, named), f"{file}.json")
    return found | whole
