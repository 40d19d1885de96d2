"""DML_GRAPH_DESC in JSON: from a document to a graph, and from what is wrong with the graph back to the document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, Violation
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import Dtype
from dmlcy._facts.tables import NAMES
from dmlcy._field_types.tensor_desc import MEMBERS, TensorDesc
from dmlcy._frontends.dxdispatch import operators, resources
from dmlcy._frontends.dxdispatch.json import Document, Node
from dmlcy._frontends.dxdispatch.problems import Mender, Place
from dmlcy._frontends.dxdispatch.reader import MOST as REPORTED
from dmlcy._frontends.dxdispatch.reader import UINT32, Reader
from dmlcy._frontends.graphs.form import ENDS, LISTS, MEMBERS_OF_GRAPH
from dmlcy._frontends.graphs.found import Read
from dmlcy._frontends.graphs.writer import ORIGIN
from dmlcy._graph.check import counted
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._graph.model import Constant, Edge, End, Origin, Port
from dmlcy._graph.model import Node as OperatorNode
from dmlcy._graph.violations import GraphViolation, made

NODE_TYPES: Final = ("OPERATOR", "CONSTANT")
_PREFIX: Final = "DML_GRAPH_NODE_TYPE_"
_EDGES: Final = {
    "InputEdges": (("GraphInputIndex",), ("ToNodeIndex", "ToNodeInputIndex")),
    "OutputEdges": (("FromNodeIndex", "FromNodeOutputIndex"), ("GraphOutputIndex",)),
    "IntermediateEdges": (("FromNodeIndex", "FromNodeOutputIndex"), ("ToNodeIndex", "ToNodeInputIndex")),
}
_INDICES: Final = {
    "node-missing": ("FromNodeIndex", "ToNodeIndex"),
    "tensor-missing": ("ToNodeInputIndex", "FromNodeOutputIndex"),
    "input-missing": ("GraphInputIndex",),
    "output-missing": ("GraphOutputIndex",),
}
"""The members of an edge that a violation is about."""


@dataclass(frozen=True, slots=True)
class _Places:
    """The places of the parts of a graph in its document."""

    document: Document
    descs: tuple[operators.Desc | None, ...]
    places: dict[tuple[str, int], Node]

    def of(self, violation: Violation) -> Place:
        """The place of what a violation is about."""
        return self.document.place(self._place(violation))

    def mender(self, violation: Violation) -> Mender | None:
        """A function that makes a repair of the desc of a node a change of the document."""
        if not isinstance(violation, GraphViolation) or violation.part != "nodes" or violation.entry is None:
            return None
        desc = self.descs[violation.entry]
        return None if desc is None else desc.mender(self.document.text)

    def _place(self, violation: Violation) -> Node:
        root = self.document.root
        if not isinstance(violation, GraphViolation) or violation.entry is None:
            return root
        node = self.places.get((violation.part, violation.entry), root)
        slug = violation.id.removeprefix("DML-GRAPH-")
        for member in _INDICES.get(slug, ()):
            named = _body(node).get(member)
            if named is not None and named.value == violation.values.get("number"):
                return named
        desc = self.descs[violation.entry] if violation.part == "nodes" else None
        if desc is not None and (not violation.id.startswith("DML-GRAPH-") or violation.field is not None):
            return desc.place(violation)
        return node


def read(document: Document, folder: Path, *, limit: int = MOST, fill: bool = True) -> Read:
    """Read a graph. Files of constants lie in ``folder``; they are opened where the graph is to be ``fill``ed."""
    reader = Reader(document)
    parser = _Parser(reader, folder, limit, fill)
    graph = parser.read(document.root) if reader.expect(document.root, "object") else None
    warnings = (*document.warnings, *reader.warnings)
    places = _Places(document, tuple(parser.descs), parser.places)
    file = document.place(document.root)
    return Read(graph, reader.problems, warnings, file, places.of, document.text, places.mender)


class _Parser:
    def __init__(self, reader: Reader, folder: Path, limit: int, fill: bool) -> None:
        self.reader = reader
        self.folder = folder
        self.limit = limit
        self.fill = fill
        self.descs: list[operators.Desc | None] = []
        self.places: dict[tuple[str, int], Node] = {}
        self.nodes: list[OperatorNode | Constant | None] = []
        self.edges: list[Edge] = []
        self.names: dict[tuple[Port, str], None] = {}
        self.end = 0  # of the node that is read, in the text
        self._known = reader.document.understood  # descs in which nothing is wrong

    def read(self, root: Node) -> GraphDesc | None:
        reader = self.reader
        reader.ignore_others(root, MEMBERS_OF_GRAPH)
        self._counts(root)
        ends = {name: self._ends(root, name, count) for name, count in ENDS.items()}
        nodes = reader.required(root, "Nodes", "array")
        entries = nodes.value if nodes else ()
        if len(entries) > self.limit:
            words: dict[str, object] = {"nodes": len(entries), "limit": self.limit}
            reader.add(nodes or root, made(GraphDesc((), (), (), ()), "limit", "graph", None, words))
            return None
        for number, node in enumerate(entries):
            self.end = entries[number + 1].at if number + 1 < len(entries) else len(reader.document.text)
            self.places["nodes", number] = node
            self.descs.append(None)
            self.nodes.append(self._node(number, node) if reader.expect(node, "object") else None)
        for name in _EDGES:
            edges = reader.optional(root, name, "array")
            for node in edges.value if edges else ():
                if reader.expect(node, "object"):
                    self._edge(name, node)
        whole = [node for node in self.nodes if node is not None]
        if reader.problems and (len(whole) < len(self.nodes) or any(one is None for one in ends.values())):
            return None
        inputs, outputs = self._named(ends["Inputs"] or ()), ends["Outputs"] or ()
        return GraphDesc(tuple(whole), inputs, outputs, tuple(self.edges), tuple(self.names), self.limit)

    def _counts(self, root: Node) -> None:
        for name, count in (*LISTS.items(), *ENDS.items()):
            entries, given = root.get(name), root.get(count)
            number = self.reader.integer(given)
            if number is None or given is None or entries is None or entries.kind != "array":
                continue
            if number != len(entries.value):
                shown = counted(len(entries.value), "entry").replace("entrys", "entries")
                words: dict[str, object] = {"count": count, "actual": number, "members": name, "entries": shown}
                self.reader.add(given, made(GraphDesc((), (), (), ()), "count", "graph", None, words))

    def _ends(self, root: Node, name: str, count: str) -> tuple[End, ...] | None:
        """The inputs or outputs: as many as are described, or as the count says."""
        reader, part = self.reader, name.lower()
        described = reader.optional(root, name, "array")
        if root.get(name) is None:
            given = reader.required(root, count, "number")
            number = reader.integer(given, 0, REPORTED * 1000)
            if number is None:
                return None
            self.places |= {(part, index): given for index in range(number) if given is not None}
            return tuple(End("") for _ in range(number))
        found = []
        for index, node in enumerate(described.value if described else ()):
            self.places[part, index] = node
            if reader.expect(node, "object"):
                reader.ignore_others(node, ("Name", "Desc"))
                label = reader.optional(node, "Name", "string")
                found.append(End(label.value if label else "", self._tensor(node.get("Desc"))))
        return tuple(found)

    def _tensor(self, node: Node | None) -> TensorDesc | None:
        """A tensor desc; what is wrong with it, the tensors show that it is joined to."""
        if node is None or not self.reader.expect(node, "object"):
            return None
        body = node.get("Desc") or node
        self.reader.ignore_others(body, ("Type", *MEMBERS))
        desc = TensorDesc.from_dict(node.plain(), ignore_unknown=True)
        return desc if self._sound(body, desc) else None

    def _sound(self, node: Node, desc: TensorDesc) -> bool:
        """Whether data type and sizes are there; problems where they are not."""
        kind, sizes = self.reader.required(node, "DataType", "string"), self.reader.required(node, "Sizes", "array")
        known = kind is not None and self.reader.dtype(kind) is not None
        entries = [self.reader.integer(entry, 1) for entry in (sizes.value if sizes else ())]
        strides = self.reader.optional(node, "Strides", "array", "null")
        steps = [self.reader.integer(entry) for entry in (strides.value if strides and strides.kind == "array" else ())]
        if not known or not entries or None in entries or None in steps:
            return False
        if steps and len(steps) != len(entries):
            assert strides is not None
            self.reader.report("DML-MODEL-type", strides, wanted=f"{len(entries)} strides", found=f"{len(steps)}")
            return False
        return type(desc.total_tensor_size_in_bytes) is int

    def _node(self, number: int, node: Node) -> OperatorNode | Constant | None:
        reader = self.reader
        reader.ignore_others(node, ("Type", "Desc", "Origin"))
        origin = self._origin(reader.optional(node, "Origin", "object"))
        kind = reader.required(node, "Type", "string")
        body = reader.required(node, "Desc", "object")
        if kind is None or body is None:
            return None
        name = kind.value.removeprefix(_PREFIX)
        if name not in NODE_TYPES:
            reader.report("DML-MODEL-choice", kind, value=kind.value, known=" or ".join(NODE_TYPES))
            return None
        label = reader.optional(body, "Name", "string")
        text = label.value if label else ""
        if name == "CONSTANT":
            reader.ignore_others(body, ("Name", "Data", "DataSize", "Tensor"))
            return self._constant(body, text, origin)
        reader.ignore_others(body, ("Name", "Operator"))
        operator = reader.required(body, "Operator", "object")
        of = reader.required(operator, "type", "string") if operator else None
        if operator is None or of is None:
            return None
        desc = self._desc(operator, of)
        self.descs[number] = desc
        return None if desc is None else OperatorNode(desc.value, text, origin)

    def _origin(self, node: Node | None) -> Origin | None:
        if node is None:
            return None
        self.reader.ignore_others(node, ORIGIN)
        members = (self.reader.optional(node, name, "string") for name in ORIGIN)
        return Origin(*(member.value if member else "" for member in members))

    def _desc(self, node: Node, kind: Node) -> operators.Desc | None:
        """The desc of a node. Many nodes of a graph are alike: one that was understood is not read again."""
        text = self.reader.document.text[node.at : self.end]  # up to the next node
        known = self._known.get(text)
        if isinstance(known, operators.Desc):
            return replace(known, type_node=kind, node=_body_of(node))
        before = len(self.reader.problems), len(self.reader.warnings)
        found = _right(node, kind) or operators.parse(self.reader, node, kind)
        if found is not None and before == (len(self.reader.problems), len(self.reader.warnings)):
            self._known[text] = found
        return found

    def _constant(self, body: Node, name: str, origin: Origin | None) -> Constant | None:
        data = self.reader.required(body, "Data", "object")
        buffer = resources.parse(self.reader, name, data) if data else None
        if buffer is None or data is None:
            return None
        size = self.reader.integer(self.reader.optional(body, "DataSize", "number"), 0, 2**64 - 1)
        values, dtype = self._values(buffer)
        if values is not None and size is not None and size != values.size:
            shown = f"{values.size} bytes"
            words: dict[str, object] = {"count": "DataSize", "actual": size, "members": "Data", "entries": shown}
            self.reader.add(body, made(GraphDesc((), (), (), ()), "count", "graph", None, words))
        desc = self._tensor(body.get("Tensor"))
        raw = size is not None and dtype is not None and dtype.name == "UINT8"  # bytes of any elements, as in C++
        if desc is None and not raw and dtype is not None and values is not None and dtype.bits % 8 == 0:
            item = numpy_dtype(dtype).itemsize
            desc = TensorDesc(dtype.name, (values.size // item,)) if values.size % item == 0 else None
        return Constant(values, name, desc, origin)

    def _values(self, buffer: resources.Buffer) -> tuple[npt.NDArray[np.uint8] | None, Dtype | None]:
        """The bytes of a constant, as many zeros where it is not to be filled; None where a file has them."""
        if self.fill:
            storage = resources.fill(self.reader, buffer, self.folder)
            if storage is None:
                return None, buffer.dtype
            data = storage.data[: storage.size]
            data.flags.writeable = False
            return data, storage.dtype
        size = resources.size_of(buffer)
        return None if size is None else np.broadcast_to(np.uint8(0), (size,)), buffer.dtype

    def _edge(self, name: str, node: Node) -> None:
        body = _body(node)
        source, target = _EDGES[name]
        members = (*source, *target)
        self.reader.ignore_others(body, (*members, "Name", *(("Type", "Desc") if body is not node else ())))
        indices = {one: index for one in members if (index := self._index(body, one)) is not None}
        label = self.reader.optional(body, "Name", "string")
        if len(indices) < len(members):
            return
        self.places["edges", len(self.edges)] = node
        begin = _port(indices, source)
        self.edges.append(Edge(begin, _port(indices, target)))
        if label is not None and label.value:
            self.names[begin, label.value] = None

    def _index(self, edge: Node, name: str) -> int | None:
        node = edge.get(name)
        if node is not None and type(node.value) is int and 0 <= node.value <= UINT32:
            return node.value
        return self.reader.integer(self.reader.required(edge, name, "number"))

    def _named(self, inputs: tuple[End, ...]) -> tuple[End, ...]:
        """Inputs without a name have that of their first edge."""
        names: dict[int, str] = {}
        for port, name in self.names:
            if port.node is None:
                names.setdefault(port.place, name)
        return tuple(end if end.name else End(names.get(index, ""), end.desc) for index, end in enumerate(inputs))


def _right(node: Node, kind: Node) -> operators.Desc | None:
    """The desc of a node where nothing is wrong with it, which takes less time to see than what is wrong."""
    body = node.get("desc")
    if body is None or node.value.keys() != {"type", "desc"} or _operator(kind) is None:
        return None
    try:
        desc = OperatorDesc.from_dict(node.plain())
    except DmlError:
        return None
    return None if desc._violations(NEWEST) else operators.Desc(desc.operator, desc, kind, body, {})


def _operator(kind: Node) -> str | None:
    """The name of an operator that has a spec."""
    name = str(kind.value).removeprefix(PREFIX)
    return name if name in NAMES else None


def _port(indices: dict[str, int], members: tuple[str, ...]) -> Port:
    found = [indices[one] for one in members]
    return Port(found[0], found[1]) if len(found) == 2 else Port(None, found[0])


def _body(edge: Node) -> Node:
    """The struct of an edge: in a member Desc beside its type, or by itself."""
    body = edge.get("Desc")
    return body if body is not None and body.kind == "object" else edge


def _body_of(operator: Node) -> Node:
    """The members of the struct of an operator."""
    return operator.get("Desc") or operator.get("desc") or operator
