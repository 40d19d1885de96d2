"""Serialized graphs: from records to a graph, and from what is wrong with the graph back to the bytes of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as member
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, Violation
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.names import PREFIX, refuse_name
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import MEMBERS
from dmlcy._frontends.dxdispatch.files import open_regular, target_parts
from dmlcy._frontends.dxdispatch.problems import Place, Problem, at_byte, printable, refuse, whole
from dmlcy._frontends.graphs.found import UNREAD, Read
from dmlcy._frontends.serialized import reader
from dmlcy._frontends.serialized.records import (
    Activation,
    Attribute,
    ConstantNode,
    GraphRecord,
    OperatorNode,
    Scalar,
    Tensor,
)
from dmlcy._graph.check import counted, violations
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._graph.model import Constant, Node, inputs_of, outputs_of
from dmlcy._graph.violations import GraphViolation, made
from dmlcy._graph.wiring import wiring_of
from dmlcy._runtime.memory import require
from dmlcy._words.values import listing, quote, show

SUFFIX: Final = ".bin"
_BOOL: Final = frozenset({("LOCAL_RESPONSE_NORMALIZATION_GRAD", "CrossChannel")})
"""Fields that DirectML's schema says are of the kind Bool; the other fields of the type BOOL are UInt32."""
_EMPTY: Final = GraphDesc((), (), (), ())


@dataclass(frozen=True, slots=True)
class Serialized:
    """A file that was read as records. ``understood``: the descs of nodes by what records have of them."""

    name: str
    record: GraphRecord
    understood: dict[object, OperatorDesc] = member(default_factory=dict, repr=False, compare=False)


def decode(name: str, data: bytes) -> Serialized:
    """The records in the bytes of a file; ModelError where they are none."""
    try:
        return Serialized(name, reader.read(data))
    except DmlError as error:
        refuse([Problem(whole(name), one) for one in error.violations])


def read(found: Serialized, folder: Path, *, limit: int = MOST, fill: bool = True) -> Read:
    """The graph of a file. Files of constants lie in ``folder``; they are read last, where nothing else is wrong."""
    decoder = _Decoder(found.record, limit, found.understood)
    graph = decoder.graph()
    if fill and graph is not None and not decoder.wrong and not _errors(graph):
        graph = decoder.filled(graph, folder)
    places = _Places(found, graph)
    wrong = [Problem(places.of(one), one) for one in decoder.wrong]
    return Read(graph, wrong, (), whole(found.name), places.of)


def from_records(record: GraphRecord, folder: Path, *, limit: int = MOST) -> GraphDesc:
    """The graph of records; ModelError for records that cannot be a graph. Its violations are found by ``check``."""
    return read(Serialized("<graph>", record), folder, limit=limit).finish()


def kind_of(operator: Operator, field: Field) -> str:
    """The kind of the attribute that a field is in a file."""
    return "Bool" if (operator.name, field.name) in _BOOL else type_of(field.type).serialized


def attributes_of(operator: Operator) -> list[Field]:
    """The fields that are attributes in a file, in order."""
    return [field for field in operator.fields if field.kind == "attribute"]


def scalar_dtype(operator: Operator, field: Field) -> Field | None:
    """The field that says the data type of a scalar."""
    return next((one for one in operator.fields if one.python == field.scalar_type), None)


def _errors(graph: GraphDesc) -> bool:
    return any(one.severity == "error" and one.id != UNREAD for one in violations(graph, NEWEST))


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the parts of a graph are in its file."""

    found: Serialized
    graph: GraphDesc | None

    def of(self, violation: Violation) -> Place:
        """The place of what a violation is about."""
        return at_byte(self.found.name, self._byte(violation))

    def _byte(self, violation: Violation) -> int:
        record = self.found.record
        if not isinstance(violation, GraphViolation) or violation.entry is None:
            return record.at
        if isinstance(byte := violation.values.get("byte"), int):
            return byte
        number: int | None = violation.entry
        if violation.part == "edges" and self.graph is not None:
            number = self.graph.edges[violation.entry].target.node
        if number is None or violation.part not in ("nodes", "edges"):
            return record.at
        node = record.nodes[number]
        if self.graph is None or violation.field is None or not isinstance(node, OperatorNode):
            return node.at
        return self._part(node, self.graph.nodes[number], violation.field)

    def _part(self, record: OperatorNode, node: Node | Constant, field: str) -> int:
        """The byte of a tensor or of an attribute of a node."""
        assert isinstance(node, Node)
        for tensors, entries in ((inputs_of(node), record.inputs), (outputs_of(node), record.outputs)):
            paths = [path for path, desc in tensors if desc is not None]
            if field in paths:
                return entries[paths.index(field)].at
        root = field.partition(".")[0].partition("[")[0]
        names = [one.python for one in attributes_of(node.desc.operator)]
        return record.attributes[names.index(root)].at if root in names else record.at


class _Wrong(Exception):
    """The reason why a node is no desc: the slug, the byte, the words of the message."""

    def __init__(self, slug: str, byte: int, **words: object) -> None:
        super().__init__(slug)
        self.slug, self.byte, self.words = slug, byte, words


class _Decoder:
    def __init__(self, record: GraphRecord, limit: int, understood: dict[object, OperatorDesc]) -> None:
        self.record = record
        self.limit = limit
        self.wrong: list[GraphViolation] = []
        self._known = understood  # many nodes of a graph are alike

    def graph(self) -> GraphDesc | None:
        """The graph, whose constants in files are not read; None where a node is not understood."""
        record = self.record
        if len(record.nodes) > self.limit:
            words: dict[str, object] = {"nodes": len(record.nodes), "limit": self.limit}
            self.wrong.append(made(_EMPTY, "limit", "graph", None, words))
            return None
        nodes = [self._node(number, node) for number, node in enumerate(record.nodes)]
        whole_ = [
            (node, one.input_names, one.output_names)
            for node, one in zip(nodes, record.nodes, strict=True)
            if node is not None
        ]
        if len(whole_) < len(nodes):
            return None
        graph = GraphDesc.from_names(whole_, record.input_names, record.output_names, limit=self.limit)
        self._in_order(graph)
        return graph

    def filled(self, graph: GraphDesc, folder: Path) -> GraphDesc:
        """The graph with the bytes of the constants that are in files."""
        nodes = [*graph.nodes]
        for number, (node, record) in enumerate(zip(nodes, self.record.nodes, strict=True)):
            if isinstance(node, Constant) and isinstance(record, ConstantNode) and isinstance(record.data, str):
                data = self._file(number, record, folder)
                nodes[number] = node if data is None else replace(node, data=data)
        return replace(graph, nodes=tuple(nodes))

    def _node(self, number: int, record: OperatorNode | ConstantNode) -> Node | Constant | None:
        if not record.name:
            self._refuse(number, "unnamed", record.at)
        try:
            if isinstance(record, ConstantNode):
                return self._constant(record)
            return Node(self._desc(record), record.name)
        except _Wrong as wrong:
            self._refuse(number, wrong.slug, wrong.byte, **wrong.words)
        except DmlError as error:
            for one in error.violations:
                self._add(number, one, record.at)
        return None

    def _constant(self, record: ConstantNode) -> Constant:
        for kind, names, expected in (("input", record.input_names, 0), ("output", record.output_names, 1)):
            if len(names) != expected or "" in names:
                _names(record, kind, names, expected)
        if isinstance(record.data, bytes):
            return Constant(np.frombuffer(record.data, np.uint8), record.name)
        if not record.data or target_parts(record.data + SUFFIX) is None:
            raise _Wrong("constant-name", record.at, file=show(record.data + SUFFIX))
        return Constant(None, record.name)

    def _desc(self, record: OperatorNode) -> OperatorDesc:
        """The desc of a node; that of a node whose record is the same, except for names."""
        there = tuple(tuple(map(bool, names)) for names in (record.input_names, record.output_names))
        key = record.type, there, record.inputs, record.outputs, record.attributes
        found = self._known.get(key)
        if found is None:
            operator = _operator(record.type)
            tensors = _tensors(record, operator)
            members = tensors | _members(record.attributes, operator, "", record.at, tensors)
            found = self._known[key] = OperatorDesc.from_dict({"type": record.type, "desc": members})
        return found

    def _in_order(self, graph: GraphDesc) -> None:
        """Nodes that read what a later node gives; those of a cycle have no order."""
        if wiring_of(graph).cycle():
            return
        for edge in graph.edges:
            source, target = edge.source, edge.target
            if source is None or source.node is None or target.node is None or source.node <= target.node:
                continue
            words = {"name": quote(edge.name), "source": graph.label(source.node)}
            self._refuse(target.node, "order", self.record.nodes[target.node].at, **words)

    def _file(self, number: int, record: ConstantNode, folder: Path) -> npt.NDArray[np.uint8] | None:
        """The bytes in the file of a constant; None, with a problem, where it cannot be read."""
        parts = target_parts(f"{record.data!s}{SUFFIX}")
        assert parts is not None
        path = folder.joinpath(*parts)
        try:
            with open_regular(path) as stream:
                size = os.fstat(stream.fileno()).st_size
                require(size)
                data: npt.NDArray[np.uint8] = np.fromfile(stream, np.uint8, size)
        except (OSError, ValueError, MemoryError) as error:
            why = "there is not enough memory" if isinstance(error, MemoryError) else ""
            words = {"file": show("/".join(parts)), "why": why or getattr(error, "strerror", None) or str(error)}
            self._refuse(number, "constant", record.at, **words)
            return None
        data.flags.writeable = False
        return data

    def _refuse(self, number: int, slug: str, byte: int, **words: object) -> None:
        found = made(_EMPTY, f"file-{slug}", "nodes", number, {"node": self._label(number), **words})
        self._add(number, found, byte)

    def _add(self, number: int, found: Violation, byte: int) -> None:
        """Notes what is wrong with a node, with its byte."""
        record = self.record.nodes[number]
        named = found if isinstance(found, GraphViolation) else _of_graph(found, self._label(number))
        kind = record.type.removeprefix(PREFIX) if isinstance(record, OperatorNode) else Constant.kind
        self.wrong.append(
            replace(
                named,
                operator=printable(kind),
                node=number,
                node_name=record.name or None,
                part="nodes",
                entry=number,
                values={**named.values, "byte": byte},
            )
        )

    def _label(self, number: int) -> str:
        """A node in a sentence, as a graph says it."""
        record = self.record.nodes[number]
        name = f" {quote(record.name)}" if record.name else ""
        if isinstance(record, ConstantNode):
            return f"constant {number}{name}"
        return f"node {number}{name} ({printable(record.type.removeprefix(PREFIX))})"


def _of_graph(found: Violation, label: str) -> GraphViolation:
    """A violation of a node, whose message says which."""
    values = {name: getattr(found, name) for name in Violation.__dataclass_fields__}
    return GraphViolation(**{**values, "message": f"{label}: {found.message}"})


def _operator(kind: str) -> Operator:
    """The operator of that full name; ModelError for what is none."""
    name = kind.removeprefix(PREFIX)
    if not kind.startswith(PREFIX) or name not in OPERATORS:
        refuse_name(kind, name if kind.startswith(PREFIX) else None)
    return OPERATORS[name]


def _names(record: OperatorNode | ConstantNode, kind: str, names: Sequence[str], expected: int | str) -> None:
    """Refuses the names of the inputs or outputs of a node."""
    empty = f", {sum(not name for name in names)} of them empty" if "" in names else ""
    words = {"actual": f"{counted(len(names), 'name')}{empty}", "expected": expected, "kind": kind}
    raise _Wrong("names", record.at, **words)


def _tensors(record: OperatorNode, operator: Operator) -> dict[str, object]:
    """The tensors as members of the struct: a name for each, and a desc for each name that is not empty."""
    found: dict[str, object] = {}
    for kind, names, tensors in (
        ("input", record.input_names, record.inputs),
        ("output", record.output_names, record.outputs),
    ):
        fields = [field for field in operator.fields if field.kind == kind]
        several = bool(fields) and type_of(fields[-1].type).tensors
        alone = fields[:-1] if several else fields
        if len(names) < len(fields) or (len(names) > len(fields) and not several):
            _names(record, kind, names, f"{len(fields)}{' or more' if several else ''}")
        if several and "" in names[len(alone) :]:
            _names(record, kind, names, f"no empty name for {fields[-1].name}")
        if len(tensors) != sum(map(bool, names)):
            words = {"actual": counted(len(tensors), "tensor"), "expected": sum(map(bool, names)), "kind": kind}
            raise _Wrong("tensors", record.at, **words)
        left: Iterator[Tensor] = iter(tensors)
        found |= {field.name: _tensor(next(left)) if name else None for field, name in zip(alone, names, strict=False)}
        if several:
            found[fields[-1].name] = [_tensor(one) for one in left]
    return found


def _tensor(record: Tensor) -> dict[str, object]:
    strides = None if record.strides is None else list(record.strides)
    given = {
        "DataType": record.data_type,
        "Sizes": list(record.sizes),
        "Strides": strides,
        "TotalTensorSizeInBytes": record.total_size_in_bytes,
    }
    return {name: given[name] for name in MEMBERS if name in given}


def _members(
    records: Sequence[Attribute], operator: Operator, of: str, byte: int, tensors: Mapping[str, object]
) -> dict[str, object]:
    """The attributes as members of the struct; ``of``: the activation that has them, in words."""
    fields = attributes_of(operator)
    if len(records) != len(fields):
        words = {"actual": counted(len(records), "attribute"), "expected": f"{len(fields)}", "of": of}
        if fields:
            words["expected"] += f": {listing([field.name for field in fields])}"
        raise _Wrong("attributes", byte, **words)
    found: dict[str, object] = {}
    given = {field.name: one for field, one in zip(fields, records, strict=True)}
    for place, (field, record) in enumerate(zip(fields, records, strict=True)):
        absent = field.optional and record.value is None
        if record.name != field.name and not (absent and record.name is None):
            name = "without a name" if record.name is None else show(record.name)
            words = {"place": f"{place}", "actual": name, "expected": quote(field.name), "of": of}
            raise _Wrong("attribute-name", record.at, **words)
        found[field.name] = _value(record, field, operator, of, given, tensors)
    return found


def _value(
    record: Attribute,
    field: Field,
    operator: Operator,
    of: str,
    given: Mapping[str, Attribute],
    tensors: Mapping[str, object],
) -> object:
    """The value of an attribute as JSON has it."""
    kind, value = kind_of(operator, field), record.value
    actual = record.kind
    if isinstance(value, Scalar):
        kind, actual = f"{kind} of ByteArray", f"{actual} of {value.kind}"
    if actual != kind or (value is None and not field.optional):
        shown = f"{actual}, left out" if value is None else actual
        raise _Wrong("attribute-kind", record.at, attribute=field.name, actual=shown, expected=kind, of=of)
    if value is None:
        return None
    if isinstance(value, Activation):
        return _activation(value, field, of)
    if type(value) is tuple and type_of(field.type).holds_operators:
        return [_activation(one, field, of) for one in value if isinstance(one, Activation)]
    if isinstance(value, Scalar):
        return type_of(field.type).from_serialized(value.value, _dtype(operator, field, given, tensors))
    return type_of(field.type).from_serialized(value, None)


def _activation(record: Activation, field: Field, of: str) -> dict[str, object]:
    operator = _operator(record.type)
    inner = f" of {field.name}{of}"
    return {"Type": record.type, "Desc": _members(record.attributes, operator, inner, record.at, {})}


def _dtype(
    operator: Operator, field: Field, given: Mapping[str, Attribute], tensors: Mapping[str, object]
) -> str | None:
    """The data type of a scalar, which another attribute says by its number; where it says none, that of a tensor."""
    other = scalar_dtype(operator, field)
    record = None if other is None else given.get(other.name)
    if other is None or record is None or type(record.value) is not int:
        return None
    info = type_of(other.type).info
    assert info is not None
    if other.unsaid and record.value == 0 and other.value is not None:
        (source,) = (operator.field(facet.removesuffix(".dtype")).name for facet in other.value.reads)
        tensor = tensors[source]
        assert isinstance(tensor, dict)
        return str(tensor["DataType"]).removeprefix(info.prefix)
    return next((name for name, (member, _) in info.members.items() if member == record.value), None)
