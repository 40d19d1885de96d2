"""Graphs in JSON and as bytes, for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal, ParamSpec, TypeVar

from dmlcy._errors import ModelError
from dmlcy._frontends.dxdispatch.files import Content, Contents, open_regular, read_bytes
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.problems import Refusal, make, refuse, whole
from dmlcy._frontends.graphs import files, serialized, writer
from dmlcy._frontends.graphs.form import values_of
from dmlcy._frontends.graphs.reader import read
from dmlcy._frontends.graphs.to_records import PARTITION, constant_files, to_records
from dmlcy._frontends.serialized.writer import write
from dmlcy._graph.build import Graph
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._graph.model import Constant, Port
from dmlcy._graph.owned import LEAST, as_inputs, data_of, large_constants
from dmlcy._words.values import show

_BROKEN: Final = "surrogatepass"  # what is no text is refused as no UTF-8
__all__ = ["from_bytes", "from_json", "load", "save", "to_bytes", "to_json"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _refused(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, which raises the error of a file as the class that users know."""

    @wraps(function)
    def known(*arguments: Given.args, **named: Given.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except Refusal as error:
            raise ModelError(error.violations) from None

    return known


@_refused
def from_json(
    text: str | bytes | Mapping[str, object], *, folder: str | os.PathLike[str] = ".", limit: int = MOST
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
        The text is not a graph. The violations of the graph itself are found by ``dmlcy.check``.
    """
    data = text if isinstance(text, bytes) else (text if isinstance(text, str) else _text(text)).encode(errors=_BROKEN)
    found = read(decode("<graph>", data, values_of(data, limit)), Path(folder), limit=limit)
    return found.finish()


def _text(content: Mapping[str, object]) -> str:
    """The JSON text of an object."""
    if not isinstance(content, Mapping):
        raise TypeError(f"from_json() takes JSON text, or the dict that json.loads gives for it, not {show(content)}.")
    try:
        return json.dumps(content)
    except (RecursionError, ValueError):
        why = "it is nested too deep, or contains itself"
        refuse([make("DML-MODEL-json", whole("<graph>"), {"what": why})])


def _known(graph: GraphDesc, function: str) -> GraphDesc:
    """The graph itself; TypeError for what is none."""
    if isinstance(graph, GraphDesc):
        return graph
    hint = " Call its method build(...)." if isinstance(graph, Graph) else ""
    raise TypeError(f"{function}() takes a dmlcy.graph.GraphDesc, not {show(graph)}.{hint}")


def to_json(graph: GraphDesc) -> dict[str, Any]:
    """The graph in the form of DML_GRAPH_DESC, as json.dumps takes it, with the elements of its constants.

    Raises
    ------
    DmlError
        The graph has what the form does not hold: an edge without an end, a violation of an argument that no desc has.
    """
    return writer.to_json(_known(graph, "to_json"))


@_refused
def save(graph: GraphDesc, folder: str | os.PathLike[str], *, form: Literal["json", "serialized"] = "json") -> Path:
    """Write a graph to a folder, and return the path of its file.

    Parameters
    ----------
    graph
        The graph.
    folder
        A new folder, or one whose files may be written over.
    form
        ``"json"``: ``graph.json``, and larger constants in ``.npy`` files. ``"serialized"``: ``Partition_0.bin``, with
        the constants of fewer than 8 bytes, and each other one in a ``.bin`` file, as ONNX Runtime writes them.

    Raises
    ------
    ModelError
        The files cannot be written, or the graph has what the form does not hold.
    """
    known = _known(graph, "save")
    if form not in ("json", "serialized"):
        raise ValueError(f"save() takes the form 'json' or 'serialized', not {show(form)}.")
    return writer.save(known, Path(folder)) if form == "json" else _save_serialized(known, Path(folder))


def _save_serialized(graph: GraphDesc, folder: Path) -> Path:
    graph._valid("save")
    numbers = large_constants(graph, LEAST)
    owned = as_inputs(graph, numbers)
    names = constant_files(owned)
    contents: Contents = {}
    for place, number in enumerate(numbers, len(graph.inputs)):
        file = f"{names[Port(None, place)]}{serialized.SUFFIX}"
        contents[(file,)] = _bytes_writer(data_of(graph, number).tobytes())
    contents[(f"{PARTITION}{serialized.SUFFIX}",)] = _bytes_writer(write(to_records(owned)))
    return writer.write(folder, contents)[-1]


def _bytes_writer(data: bytes) -> Content:
    return lambda stream: stream.write(data)


@_refused
def from_bytes(
    data: bytes, *, folder: str | os.PathLike[str] = ".", limit: int = MOST, owned: bool = False
) -> GraphDesc:
    """The graph in the bytes of a serialized graph, as ONNX Runtime writes them (``Partition_0.bin``).

    Parameters
    ----------
    data
        The bytes of the file.
    folder
        Where the files of constants are, each with the suffix ``.bin``. The files are read if nothing else is wrong.
    limit
        The most nodes.
    owned
        The constants that are in files become inputs, with the flag OWNED_BY_DML where the tensors that read them may
        have the flag; no file is read.

    Raises
    ------
    ModelError
        The bytes are not a serialized graph, or a node is not understood. The violations of the graph itself are found
        by ``dmlcy.check``.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"from_bytes() takes the bytes of a serialized graph, not {show(data)}.")
    found = serialized.decode("<graph>", bytes(data))
    graph = serialized.read(found, Path(folder), limit=limit, fill=not owned).finish()
    if not owned:
        return graph
    return as_inputs(
        graph, [at for at, node in enumerate(graph.nodes) if isinstance(node, Constant) and node.data is None]
    )


@_refused
def to_bytes(graph: GraphDesc) -> bytes:
    """The bytes of a serialized graph, laid out as ONNX Runtime lays them out, with the bytes of its constants.

    A graph input with the flag OWNED_BY_DML becomes a constant whose bytes are in a file. The name of the file is the
    name of the input, with ``_`` for characters that not every file system takes, and the suffix ``.bin``.
    ``constants_as_inputs`` makes such inputs.

    The format has no data types, sizes and strides of graph inputs and outputs. The graph that is read from it has
    those of the tensors of its nodes, with the axes of an input in the order of memory. Each node and each value gets a
    name, and nodes come after the nodes that they read.

    Raises
    ------
    ModelError
        The graph has what the format does not hold, such as an alignment of a tensor.
    InvalidDescError
        The graph is not valid.
    """
    return write(to_records(_known(graph, "to_bytes")))


@_refused
def load(path: str | os.PathLike[str], *, limit: int = MOST) -> GraphDesc:
    """The graph in a file: JSON, or a serialized graph. Files of its constants are in its folder.

    Parameters
    ----------
    path
        Such as ``graph.json`` or ``Partition_0.bin``.
    limit
        The most nodes.

    Raises
    ------
    ModelError
        The file cannot be read, or has no graph. The violations of the graph itself are found by ``dmlcy.check``.
    """
    name = os.fspath(path)
    try:
        with open_regular(name) as stream:
            data = read_bytes(stream)
    except (OSError, ValueError) as error:
        refuse([make("DML-MODEL-file", whole(name), {"why": getattr(error, "strerror", None) or str(error)})])
    return files.read(files.decode(name, data, limit), Path(name).parent, limit=limit).finish()
