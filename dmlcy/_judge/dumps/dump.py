"""Dumps: every value of a run of a graph as a ``.npy`` file, the graph, and a manifest that lists the values."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import numpy as np

from dmlcy._desc.memory import dtype_of, extent, view
from dmlcy._errors import ModelError
from dmlcy._facts.dtypes import has_four_bits, in_files, numpy_dtype
from dmlcy._facts.tables import LEVEL_INDEX, FeatureLevelName
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.files import open_regular, read_bytes
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.npy import NpyError, read_elements, read_header, writer
from dmlcy._frontends.dxdispatch.problems import Problem, make, printable, whole
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.write import layout
from dmlcy._frontends.graphs import writer as graph_writer
from dmlcy._frontends.graphs.form import values_of
from dmlcy._frontends.graphs.reader import read
from dmlcy._frontends.graphs.value_files import laid_out, names_of
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Constant, Port, Structure
from dmlcy._graph.violations import made
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.versions import Versions
from dmlcy._types import Array
from dmlcy._version import __version__

MANIFEST: Final = "manifest.json"
FORMAT: Final = "dmlcy-dump"
VERSION: Final = 1
OLDEST: Final = 1
"""The oldest version that is read."""
VERSIONS: Final = Versions(OLDEST, VERSION, "Write the dump again: dmlcy run --dump.")
GRAPH: Final = ("graph", graph_writer.NAME)


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump that was read: the graph, and where its values are."""

    folder: Path
    graph: GraphDesc
    level: FeatureLevelName
    files: Mapping[Port, str]
    warnings: tuple[Problem, ...] = ()

    def value(self, port: Port) -> Array:
        """A value in the sizes of its desc."""
        return load(self.folder / self.files[port], self.desc(port))

    def value_in(self, folder: Path, port: Port) -> Array | None:
        """The value in a folder of the same graph; None where there is no file."""
        path = folder / self.files[port]
        return load(path, self.desc(port)) if os.path.lexists(path) else None

    def desc(self, port: Port) -> TensorDesc:
        """The desc of a value that has a file."""
        found = wiring_of(self.graph).desc_of(port)
        assert found is not None
        return found


def load(path: Path, desc: TensorDesc) -> Array:
    """The elements of a tensor, in its sizes, from a file that has them so or as they lie in the buffer."""
    stored, shown = in_files(dtype_of(desc)), str(path)
    try:
        with open_regular(path) as stream:
            header = read_header(stream)
            if header.dtype is not stored:
                found = printable(str(header.kind))
                _refuse("DML-MODEL-npy-type", shown, found=found, wanted=stored.name)
            values = read_elements(stream, header).astype(numpy_dtype(stored), order="C", copy=False)
    except NpyError as error:
        _refuse("DML-MODEL-npy", shown, why=str(error))
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        _refuse("DML-MODEL-source", shown, why=getattr(error, "strerror", None) or str(error))
    flat = values.reshape(-1)
    if has_four_bits(dtype_of(desc)):
        if flat.size != extent(desc):
            _refuse("DML-MODEL-npy-sizes", shown, found=f"{flat.size} bytes", wanted=f"{extent(desc)} bytes")
        return view(flat, desc, 0)
    if values.shape == desc.sizes:
        return values
    if desc.strides is not None and values.ndim == 1 and flat.nbytes >= extent(desc):
        return np.array(view(flat.view(np.uint8), desc, 0))
    if flat.size != desc.element_count:
        _refuse("DML-MODEL-npy-sizes", shown, found=f"sizes {values.shape}", wanted=f"sizes {desc.sizes}")
    return flat.reshape(desc.sizes)


def contents(graph: Structure, values: Mapping[Port, Array], level: str) -> graph_writer.Contents:
    """The files of a dump: the manifest last."""
    files = names_of(graph)
    found = graph_writer.contents(graph, GRAPH[:1])
    found |= {(files[port],): writer(laid_out(graph, port, value)) for port, value in values.items()}
    text = manifest(graph, values, level, files).encode()
    found[(MANIFEST,)] = lambda stream: stream.write(text)
    return found


def save(graph: Structure, values: Mapping[Port, Array], level: str, folder: Path) -> Path:
    """Write a dump: all of its files, or none. A folder with other files is refused."""
    may_write(folder)
    return graph_writer.write(folder, contents(graph, values, level))[-1]


def may_write(folder: Path) -> None:
    """Refuse a folder that has files and no dump."""
    try:
        strange = folder.is_dir() and any(folder.iterdir()) and not is_dump(folder)
    except OSError as error:
        _refuse("DML-MODEL-write", str(folder), why=error.strerror or str(error))
    if strange:
        _refuse("DML-MODEL-write", str(folder), why="the folder has files, and no dump")


def manifest(graph: Structure, values: Mapping[Port, Array], level: str, files: Mapping[Port, str]) -> str:
    """The text of the manifest."""
    wiring = wiring_of(graph)
    rows = []
    for port in values:
        desc = wiring.desc_of(port)
        assert desc is not None
        rows.append(
            {
                "name": wiring.value_names[port],
                "file": files[port],
                **_source(graph, port),
                "dtype": dtype_of(desc).name,
                "sizes": list(desc.sizes),
                "strides": None if desc.strides is None else list(desc.strides),
            }
        )
    whole_ = {
        "format": FORMAT, "version": VERSION, "dmlcy": __version__, "feature_level": level, "graph": "/".join(GRAPH)
    }  # fmt: skip
    return layout({**whole_, "values": rows}) + "\n"


def _source(graph: Structure, port: Port) -> dict[str, object]:
    if port.node is None:
        return {"input": port.place}
    node = graph.nodes[port.node]
    origin = {} if node.origin is None else {"origin": node.origin.to_json()}
    kind = None if isinstance(node, Constant) else node.kind
    return {"node": port.node, "output": port.place, "operator": kind, **origin}


def is_dump(path: Path) -> bool:
    """Whether a folder has the manifest of a dump."""
    try:
        with open_regular(path / MANIFEST) as stream:
            found = json.loads(read_bytes(stream))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def read_dump(folder: Path) -> Dump:
    """The dump in a folder; ModelError for what is none, and for one that lacks a file that it lists."""
    reader = Reader(decode(str(folder / MANIFEST), _bytes(folder / MANIFEST)))
    root = reader.document.root
    if not reader.expect(root, "object") or VERSIONS.of(reader, root) is None:
        reader.finish()
    named = root.get("graph")
    if named is None or named.kind != "string" or named.value != "/".join(GRAPH):
        _broken("it names no graph")
    path = folder.joinpath(*GRAPH)
    data = _bytes(path)
    document = decode(str(path), data, values_of(data, 2**31))
    found = read(document, path.parent, limit=2**31)
    graph = found.finish()
    level = root.get("feature_level")
    if level is None or level.kind != "string" or level.value not in LEVEL_INDEX:
        _broken("its feature level is not known")
    wrong = graph._violations(LEVEL_INDEX[level.value])
    if wrong:
        raise ModelError(wrong, "compare")
    files = _files(reader, graph, folder)
    reader.finish()
    return Dump(folder, graph, level.value, files, tuple(reader.warnings))


def _files(reader: Reader, graph: GraphDesc, folder: Path) -> dict[Port, str]:
    """The file of each value that the manifest lists; a problem for each that the folder lacks."""
    rows = reader.document.root.get("values")
    known = {*wiring_of(graph).sources}
    found: dict[Port, str] = {}
    for row in rows.value if rows is not None and rows.kind == "array" else ():
        file, of, node, output = (row.get(name) for name in ("file", "input", "node", "output"))
        port = Port(None, -1)
        if of is not None and type(of.value) is int:
            port = Port(None, of.value)
        elif node is not None and output is not None and type(node.value) is type(output.value) is int:
            port = Port(node.value, output.value)
        if port not in known or file is None or file.kind != "string" or file.value != Path(file.value).name:
            _broken("a value is not of its graph, or its file is elsewhere")
        if not os.path.lexists(folder / file.value):
            reader.report("DML-MODEL-manifest-file", file, path=file.value)
        found[port] = file.value
    if {*found} != {port for port in known if wiring_of(graph).desc_of(port) is not None}:
        _broken("it does not list every value of its graph")
    return found


def _bytes(path: Path) -> bytes:
    try:
        with open_regular(path) as stream:
            return read_bytes(stream)
    except (OSError, ValueError) as error:
        _broken(f"{path}: {getattr(error, 'strerror', None) or error}")


def _broken(why: str) -> NoReturn:
    raise ModelError([made(Structure((), (), (), ()), "dump", "graph", None, {"why": printable(why)})], "compare")


def _refuse(identifier: str, path: str, **values: object) -> NoReturn:
    raise ModelError([make(identifier, whole(path), {"path": path, **values}).violation])
