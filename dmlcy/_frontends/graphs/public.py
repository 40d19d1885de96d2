"""Graphs in JSON, for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.graphs import writer
from dmlcy._frontends.graphs.reader import read, values_of
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import MOST

__all__ = ["from_json", "save", "to_json"]


def from_json(
    text: str | bytes | Mapping[str, Any], *, folder: str | os.PathLike[str] = ".", limit: int = MOST
) -> GraphDesc:
    """The graph in JSON, in the form of DML_GRAPH_DESC.

    Parameters
    ----------
    text
        JSON text, or what json.loads gives for it.
    folder
        Where the files of constants are.
    limit
        The most nodes.

    Raises
    ------
    ModelError
        The text is not a graph. What is wrong with the graph itself, ``dmlcy.check`` says.
    """
    whole = text if isinstance(text, str | bytes) else json.dumps(text)
    data = whole if isinstance(whole, bytes) else whole.encode()
    found = read(decode("<graph>", data, values_of(limit)), Path(folder), limit=limit)
    found.reader.finish()
    assert found.graph is not None
    return found.graph


def to_json(graph: GraphDesc) -> dict[str, Any]:
    """The graph in the form of DML_GRAPH_DESC, as json.dumps takes it, with the elements of its constants."""
    return writer.to_json(graph)


def save(graph: GraphDesc, folder: str | os.PathLike[str]) -> Path:
    """Write a graph to a folder: ``graph.json``, whose path is returned, and larger constants in ``.npy`` files."""
    return writer.save(graph, Path(folder))
