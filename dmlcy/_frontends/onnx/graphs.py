"""Graphs, nodes and attributes of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from dmlcy._frontends.dxdispatch.problems import Problem, at_byte, make
from dmlcy._frontends.onnx import messages
from dmlcy._frontends.onnx.infos import info_of
from dmlcy._frontends.onnx.model import ONNX, Attribute, AttributeKind, Graph, Info, Node, Tensor
from dmlcy._frontends.onnx.sparse import sparse_tensor
from dmlcy._frontends.onnx.tensors import tensor, text_or_bytes
from dmlcy._frontends.onnx.wire import Contents, Span, Wire

DEEPEST: Final = 32
"""Graphs inside of graphs."""
NODES: Final = 200_000
"""Nodes of a file."""
_SMALL: Final = 64  # bytes of an attribute that is kept once for all nodes that have it


class _Value(NamedTuple):
    kind: AttributeKind
    field: str


_VALUES: Final[Mapping[int, _Value]] = {
    1: _Value("FLOAT", "f"), 2: _Value("INT", "i"), 3: _Value("STRING", "s"), 4: _Value("TENSOR", "t"),
    5: _Value("GRAPH", "g"), 6: _Value("FLOATS", "floats"), 7: _Value("INTS", "ints"), 8: _Value("STRINGS", "strings"),
    9: _Value("TENSORS", "tensors"), 10: _Value("GRAPHS", "graphs"), 11: _Value("SPARSE_TENSOR", "sparse_tensor"),
    12: _Value("SPARSE_TENSORS", "sparse_tensors"), 13: _Value("TYPE_PROTO", "tp"),
    14: _Value("TYPE_PROTOS", "type_protos"),
}  # fmt: skip
"""The kinds of attributes by their numbers, and the fields that have their values."""
_NO_ATTRIBUTES: Final[Mapping[str, Attribute]] = MappingProxyType({})


class Graphs:
    """Reads the graphs of a file. Files of elements are in ``folder``; ``problems`` has what is given twice."""

    def __init__(self, wire: Wire, folder: Path | None) -> None:
        self.wire = wire
        self.folder = folder
        self.problems: list[Problem] = []
        self.depth = self.count = 0
        self.kept: dict[bytes, Attribute] = {}

    def graph(self, spans: Sequence[Span]) -> Graph:
        """The graph in these bytes."""
        if self.depth == DEEPEST:
            self.wire.refuse("nesting", spans[0][0], what="Graphs", limit=DEEPEST)
        self.depth += 1
        found = self.wire.message(messages.GRAPH, spans)
        graph = Graph(
            found.get("name", ""),
            self.nodes(found.get("node", ())),
            self._initializers(found),
            self._infos(found, "input"),
            self._infos(found, "output"),
            {info.name: info for info in self._infos(found, "value_info")},
        )
        self.depth -= 1
        return graph

    def nodes(self, spans: Sequence[Span]) -> tuple[Node, ...]:
        """The nodes in these spans."""
        self.count += len(spans)
        if self.count > NODES:
            self.wire.refuse("limit", spans[-1][0], limit=NODES, what="nodes")
        return tuple(self._node(number, span) for number, span in enumerate(spans))

    def _node(self, number: int, span: Span) -> Node:
        wire = self.wire
        found = wire.message(messages.NODE, (span,))
        operator = found.get("op_type")
        if not operator:
            wire.refuse("operator", span[0])
        return Node(
            number,
            found.get("name", ""),
            operator,
            found.get("domain") or ONNX,
            tuple(found.get("input", ())),
            tuple(found.get("output", ())),
            self.attributes(found["attribute"]) if "attribute" in found else _NO_ATTRIBUTES,
            found.get("overload", ""),
            span[0],
        )

    def _initializers(self, found: Contents) -> dict[str, Tensor]:
        initializers: dict[str, Tensor] = {}
        tensors = ((span, tensor(self.wire, (span,), self.folder)) for span in found.get("initializer", ()))
        sparse = ((span, sparse_tensor(self.wire, span, self.folder)) for span in found.get("sparse_initializer", ()))
        for span, one in (*tensors, *sparse):
            if one.name in initializers:
                values = {"name": one.name, "first": "an initializer", "second": "another"}
                self.problems.append(make("DML-ONNX-graph-twice", at_byte(self.wire.file, span[0]), values))
            initializers[one.name] = one
        return initializers

    def _infos(self, found: Contents, field: str) -> tuple[Info, ...]:
        return tuple(info_of(self.wire, span) for span in found.get(field, ()))

    # Attributes ------------------------------------------------------------------------------------------------------

    def attributes(self, spans: Sequence[Span]) -> Mapping[str, Attribute]:
        """The attributes in these spans, by name."""
        attributes: dict[str, Attribute] = {}
        for span in spans:
            attribute = self._attribute(span)
            if attribute.name in attributes:
                self.wire.refuse("attribute", span[0], name=attribute.name, why="appears twice")
            attributes[attribute.name] = attribute
        return attributes

    def _attribute(self, span: Span) -> Attribute:
        start, stop = span
        if stop - start > _SMALL:
            return self._read_attribute(span)
        raw = bytes(self.wire.data[start:stop])
        attribute = self.kept.get(raw)
        if attribute is None:
            attribute = self._read_attribute(span)
            if attribute.kind in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"):
                self.kept[raw] = attribute
        return attribute

    def _read_attribute(self, span: Span) -> Attribute:
        found = self.wire.message(messages.ATTRIBUTE, (span,))
        name, reference = found.get("name", ""), found.get("ref_attr_name", "")
        if not name:
            self.wire.refuse("attribute", span[0], name=name, why="does not have a name")
        kind, field = self._kind(found, name, span[0])
        if reference:
            return Attribute(name, kind, None, reference)
        if field not in found and (field in ("t", "g") or any(other.field in found for other in _VALUES.values())):
            self.wire.refuse("attribute", span[0], name=name, why=f"is of the kind {kind}, and does not have {field}")
        return Attribute(name, kind, self._value(field, found))

    def _kind(self, found: Contents, name: str, byte: int) -> _Value:
        """The kind of an attribute; the oldest files do not have it."""
        number = found.get("type", 0)
        if number in _VALUES:
            return _VALUES[number]
        there = [one for one in _VALUES.values() if one.field in found]
        if number or len(there) != 1:
            why = f"is of the kind {number}, which ONNX does not define" if number else "does not have a kind"
            self.wire.refuse("attribute", byte, name=name, why=why)
        return there[0]

    def _value(self, field: str, found: Contents) -> object:
        """The value of an attribute; programs leave out a field with the value 0, an empty text or no entry."""
        value = found.get(field, ())
        match field:
            case "s":
                return text_or_bytes(self.wire.raw(value)) if value else ""
            case "strings":
                return tuple(text_or_bytes(self.wire.raw(span)) for span in value)
            case "t":
                return tensor(self.wire, value, self.folder)
            case "tensors":
                return tuple(tensor(self.wire, (span,), self.folder) for span in value)
            case "g":
                return self.graph(value)
            case "graphs":
                return tuple(self.graph((span,)) for span in value)
            case "f":
                return found.get(field, 0.0)
            case "i":
                return found.get(field, 0)
            case "floats" | "ints":
                return tuple(value)
        return None
