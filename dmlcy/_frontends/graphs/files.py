"""Files of graphs, whatever their form: JSON, or the bytes of a serialized graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dmlcy._frontends.dxdispatch import json
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.problems import make, refuse
from dmlcy._frontends.dxdispatch.problems import whole as whole_file
from dmlcy._frontends.graphs.form import is_graph, values_of
from dmlcy._frontends.graphs.kinds import kind_of
from dmlcy._graph.limits import MOST

if TYPE_CHECKING:
    from dmlcy._frontends.graphs.found import Read
    from dmlcy._frontends.graphs.serialized import Serialized

__all__ = ["decode", "is_graph", "read", "refuse_other"]


def decode(name: str, data: bytes, limit: int = MOST) -> Document | Serialized:
    """The content of a file; ModelError where it is neither JSON nor a serialized graph."""
    graph = json.is_flatbuffer(data)
    refuse_other(name, data, graph=graph)
    if graph:
        from dmlcy._frontends.graphs import serialized  # here: a model needs none of it

        return serialized.decode(name, data)
    return json.decode(name, data, values_of(data, limit))


def refuse_other(name: str, data: bytes, *, graph: bool, whole: bool = True) -> None:
    """Raises ModelError for a file that is neither a model nor a graph; without ``whole``, of its first bytes only."""
    kind = kind_of(name, data, graph=graph, whole=whole)
    if kind is not None:
        refuse([make("DML-MODEL-kind", whole_file(name), {"what": kind.what}, hint=kind.hint)])


def read(found: Document | Serialized, folder: Path, *, limit: int = MOST, fill: bool = True) -> Read:
    """The graph in a file. Files of constants lie in ``folder``; they are opened where the graph is ``fill``ed."""
    if isinstance(found, Document):
        from dmlcy._frontends.graphs import reader

        return reader.read(found, folder, limit=limit, fill=fill)
    from dmlcy._frontends.graphs import serialized

    return serialized.read(found, folder, limit=limit, fill=fill)
