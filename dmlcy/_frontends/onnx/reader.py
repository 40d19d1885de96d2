"""ONNX files, as they are: the wire format of protocol buffers, read with bounds and without copying weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from mmap import ACCESS_READ, mmap
from os import fstat
from pathlib import Path
from typing import Final

from dmlcy._frontends.dxdispatch.files import START, open_regular
from dmlcy._frontends.dxdispatch.problems import make, refuse, whole
from dmlcy._frontends.graphs.kinds import BINARY, CUT, Kind, kind_of
from dmlcy._frontends.graphs.kinds import ONNX as IS_ONNX
from dmlcy._frontends.onnx import messages
from dmlcy._frontends.onnx.graphs import Graphs
from dmlcy._frontends.onnx.model import ONNX, Function, Model
from dmlcy._frontends.onnx.structure import check
from dmlcy._frontends.onnx.wire import Data, Span, Wire
from dmlcy._words.values import quote

FIRST: Final = 1
NEWEST: Final = 14
"""The IR versions that are read."""
_WITHOUT_OPSETS: Final = 2  # the last IR version whose models do not name their opset version, which is 1
_IR_VERSION: Final = 8  # the first byte of what writers of ONNX models write


def read(path: str | Path) -> Model:
    """The model in a file, which stays mapped as long as a tensor of it is there."""
    name = str(path)
    try:
        with open_regular(path) as stream:
            size = fstat(stream.fileno()).st_size
            data: Data = mmap(stream.fileno(), 0, access=ACCESS_READ) if size else b""
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        refuse([make("DML-MODEL-file", whole(name), {"why": why.lower()})])
    return decode(name, data, Path(path).parent)


def decode(name: str, data: Data, folder: Path | None) -> Model:
    """The model in these bytes. ``name``: of the file; ``folder``: of the files with elements of its tensors."""
    _refuse_other(name, data)
    wire = Wire(name, data)
    found = wire.message(messages.MODEL, [(0, len(data))])
    version = found.get("ir_version")
    if version is None or not FIRST <= version <= NEWEST:
        said = "does not have an IR version" if version is None else f"has IR version {version}"
        wire.refuse("version", -1, found=said, first=FIRST, last=NEWEST)
    if "graph" not in found:
        wire.refuse("graph", -1)
    old = {ONNX: 1} if version <= _WITHOUT_OPSETS else {}
    opsets = _opsets(wire, found.get("opset_import", ()), "The model") or old
    if not opsets:
        wire.refuse("opset", -1, owner="The model", found="does not have an opset_import")
    graphs = Graphs(wire, folder)
    graph = graphs.graph(found["graph"])
    functions = [_function(graphs, span, opsets) for span in found.get("functions", ())]
    by_name = {(one.domain, one.name, one.overload): one for one in functions}
    producer = " ".join(filter(None, (found.get("producer_name"), found.get("producer_version"))))
    wire.texts.clear()  # tensors keep what reads the file
    model = Model(name, version, opsets, producer, graph, by_name)
    if problems := [*graphs.problems, *check(model, functions)]:
        refuse(problems)
    return model


def _refuse_other(name: str, data: Data) -> None:
    """Refuse a file that is no ONNX model; one that begins as a model does is read, so that its fault has a byte."""
    start = bytes(data[:START])
    kind = kind_of(name, start, graph=False, whole=len(data) <= START)
    if kind is IS_ONNX or (start[:1] == bytes([_IR_VERSION]) and kind in (None, BINARY, CUT)):
        return
    if kind in (BINARY, CUT):
        kind = Kind("a binary file that does not begin as an ONNX model does", CUT.hint)
    elif kind is None:
        kind = Kind("a text", "")
    refuse([make("DML-ONNX-file-kind", whole(name), {"what": kind.what}, hint=kind.hint)])


def _opsets(wire: Wire, spans: Sequence[Span], owner: str) -> dict[str, int]:
    """The opset version of each domain: the highest, where a domain is there twice."""
    opsets: dict[str, int] = {}
    for span in spans:
        found = wire.message(messages.OPSET, (span,))
        domain, version = found.get("domain") or ONNX, found.get("version", 0)
        if version < 1:
            said = f"names opset version {version} of the domain {quote(domain)}"
            wire.refuse("opset", span[0], owner=owner, found=said)
        opsets[domain] = max(version, opsets.get(domain, 0))
    return opsets


def _function(graphs: Graphs, span: Span, opsets: Mapping[str, int]) -> Function:
    """A function of the model. ``opsets``: of the model, for a function that does not name its own."""
    found = graphs.wire.message(messages.FUNCTION, (span,))
    name = found.get("name", "")
    own = _opsets(graphs.wire, found.get("opset_import", ()), f"The function {quote(name)}")
    return Function(
        name,
        found.get("domain") or ONNX,
        found.get("overload", ""),
        tuple(found.get("input", ())),
        tuple(found.get("output", ())),
        tuple(found.get("attribute", ())),
        graphs.attributes(found.get("attribute_proto", ())),
        graphs.nodes(found.get("node", ())),
        own or opsets,
    )
