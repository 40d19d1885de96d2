"""The output of ``dmlcy graph``: a graph as text, JSON or a picture."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from dmlcy._cli.run import read_bytes
from dmlcy._errors import Violation
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.graphs import profiles, writer
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.minimum import lowest
from dmlcy._graph.model import Node
from dmlcy._graph.optimizations import optimizations_of
from dmlcy._show.graphs import dot, memory, svg, text


def lines(graph: GraphDesc, wrong: Sequence[Violation], options: argparse.Namespace, has_level: bool) -> Iterator[str]:
    """The lines that the options ask for. A picture of the memory is of a valid graph with its constants."""
    form = options.format
    if form == "plan-svg":
        return memory.lines(graph)
    if options.profile is not None:
        return svg.lines(graph, wrong, _timings(options.profile, graph))
    if form == "json":
        return iter([json.dumps(writer.to_json(graph), indent=1)])
    if form == "text":
        shown = text.lines(graph, wrong, f"; feature level {lowest(graph)}" if has_level else "")
        return chain(shown, _optimizations(graph) if has_level else ())
    return dot.lines(graph, wrong) if form == "dot" else svg.lines(graph, wrong)


def _timings(name: str, graph: GraphDesc) -> Mapping[int, profiles.Timing]:
    """The times of the nodes in a profile in a file."""
    return profiles.read(decode(*read_bytes(name)), graph)


def _optimizations(graph: GraphDesc) -> Iterator[str]:
    """The optimizations with which compiling makes the graph faster, if it can run."""
    if all(node.desc.operator.runs for node in graph.nodes if isinstance(node, Node)):
        yield f"optimizations: {optimizations_of(graph)}"
