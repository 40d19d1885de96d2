"""Graphs as DML_GRAPH_DESC in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from dmlcy._desc.memory import dtype_of
from dmlcy._errors import ModelError, raise_violations
from dmlcy._facts.dtypes import has_four_bits, numpy_dtype
from dmlcy._facts.levels import NEWEST
from dmlcy._field_types.base import spelled_in_json
from dmlcy._field_types.tensor_desc import TensorDesc, minimum_size
from dmlcy._frontends.dxdispatch import files
from dmlcy._frontends.dxdispatch.files import Content, distinct
from dmlcy._frontends.dxdispatch.files import Contents as Contents
from dmlcy._frontends.dxdispatch.npy import writer
from dmlcy._frontends.dxdispatch.problems import make, whole
from dmlcy._frontends.dxdispatch.write import brief, layout
from dmlcy._frontends.serialized.problems import refuse
from dmlcy._graph.check import violations
from dmlcy._graph.model import Constant, Edge, End, Node, Origin, Port, Structure, dtype_name
from dmlcy._graph.violations import of_node
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array
from dmlcy._words.values import show

NAME: Final = "graph.json"
BESIDE: Final = 256
"""Bytes of a constant that is written to a file of its own, where files are written."""

ORIGIN: Final = ("File", "Name", "Operator")
"""The members of the origin of a node, in the order of an Origin."""

_FORMLESS: Final = frozenset({"DML-GRAPH-passed-through", "DML-GRAPH-name-unbound"})

Stored: TypeAlias = Callable[[int, Constant], dict[str, object]]


def to_json(graph: Structure, stored: Stored | None = None) -> dict[str, object]:
    """The graph as json.dumps takes it; ``stored`` says of a constant where its bytes are: in it, where None.

    Raises the violations of edges that have no indices, or that lead from a graph input to a graph output. Raises also
    those of arguments that no desc has, and DML-GRAPH-file-value for a name that no file can have.
    """
    if not all(map(_has_a_form, graph.edges)):
        wrong = violations(graph, NEWEST)
        raise_violations([one for one in wrong if one.id in _FORMLESS] or wrong, "to_json")
    unsaid = [
        of_node(one, node, number)
        for number, node in enumerate(graph.nodes)
        if isinstance(node, Node) and node.refused and not node.desc._violations(NEWEST)
        for one in node.refused_at(NEWEST)
    ]
    if unsaid:
        raise_violations(unsaid, "to_json")
    names: dict[Port, str] = {}
    for port, name in graph.names:
        names.setdefault(port, name)
    lists: dict[str, list[dict[str, object]]] = {"InputEdges": [], "OutputEdges": [], "IntermediateEdges": []}
    for edge in graph.edges:
        kind, members = _edge(edge)
        name = edge.name or (names.get(edge.source, "") if edge.source is not None else "")
        lists[kind].append({**members, **_named(name)})
    nodes = [_node(number, described(graph, number), stored or _inline) for number in range(len(graph.nodes))]
    found: dict[str, object] = {}
    for name, entries in (
        ("Inputs", [_end(end) for end in graph.inputs]),
        ("Outputs", [_end(end) for end in graph.outputs]),
        ("Nodes", nodes),
        *lists.items(),
    ):
        found[f"{name.removesuffix('s')}Count"] = len(entries)
        found[name] = entries
    return found


def described(graph: Structure, number: int) -> Node | Constant:
    """A node; a constant without a desc has that of its first reader, where this can be a tensor."""
    node = graph.nodes[number]
    if isinstance(node, Node) or node.desc is not None:
        return node
    desc = wiring_of(graph).desc_of(Port(number, 0))
    known = desc is not None and dtype_name(desc) is not None and minimum_size(desc) is not None
    return replace(node, desc=desc) if known else node


def text_of(graph: Structure, stored: Stored | None = None) -> str:
    """The graph as JSON text."""
    return layout(to_json(graph, stored)) + "\n"


def contents(graph: Structure, folder: tuple[str, ...] = ()) -> Contents:
    """The files of a graph below a folder: the graph, and each larger constant beside it."""
    found: Contents = {}
    taken = {NAME}
    names = wiring_of(graph).value_names

    def stored(number: int, constant: Constant) -> dict[str, object]:
        if constant.size is None or constant.size <= BESIDE or constant.desc is None:
            return _inline(number, constant)
        file = f"{distinct(names[Port(number, 0)], taken)}.npy"
        found[(*folder, file)] = writer(_elements(constant))
        return {"initialValues": {"sourcePath": file}}

    text = text_of(graph, stored).encode()
    found[(*folder, NAME)] = lambda stream: stream.write(text)
    return found


def save(graph: Structure, folder: Path) -> Path:
    """Write a graph: all of its files, or none; the path of the graph."""
    return write(folder, contents(graph))[-1]


def write(folder: Path, files_: Mapping[tuple[str, ...], Content]) -> list[Path]:
    """Write files below a folder: all of them, or none."""
    try:
        return files.write_all(folder, files_)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or str(error)
        problem = make("DML-MODEL-write", whole(str(folder)), {"path": str(folder), "why": why})
        raise ModelError([problem.violation], "write") from None


def _has_a_form(edge: Edge) -> bool:
    return edge.source is not None and (edge.source.node is not None or edge.target.node is not None)


def _edge(edge: Edge) -> tuple[str, dict[str, object]]:
    source, target = edge.source, edge.target
    assert source is not None
    if source.node is None:
        return "InputEdges", {
            "GraphInputIndex": source.place, "ToNodeIndex": target.node, "ToNodeInputIndex": target.place
        }  # fmt: skip
    start = {"FromNodeIndex": source.node, "FromNodeOutputIndex": source.place}
    if target.node is None:
        return "OutputEdges", {**start, "GraphOutputIndex": target.place}
    return "IntermediateEdges", {**start, "ToNodeIndex": target.node, "ToNodeInputIndex": target.place}


def _end(end: End) -> dict[str, object]:
    described = {} if end.desc is None else {"Desc": brief(end.desc)}
    return {**_named(end.name), **described}


def _named(name: str) -> dict[str, str]:
    """The member of a name; none for an empty one."""
    return {"Name": _encodable(name)} if name else {}


def _encodable(name: str) -> str:
    """The name itself, where a file can hold it."""
    try:
        name.encode()
    except (AttributeError, UnicodeEncodeError):  # no text, or with half of a surrogate pair
        refuse("value", None, what="a name", found=show(name), expected="a text that UTF-8 can hold")
    return name


def _origin(origin: Origin | None) -> dict[str, object]:
    """The member of an origin; none where there is none."""
    if origin is None:
        return {}
    return {"Origin": {member: _encodable(text) for member, text in zip(ORIGIN, astuple(origin), strict=True) if text}}


def _node(number: int, node: Node | Constant, stored: Stored) -> dict[str, object]:
    named, origin = _named(node.name), _origin(node.origin)
    if isinstance(node, Constant):
        tensor = {} if node.desc is None else {"Tensor": brief(node.desc)}
        body = {**named, **tensor, "Data": stored(number, node)}
        return {"Type": "DML_GRAPH_NODE_TYPE_CONSTANT", "Desc": body, **origin}
    described = node.desc.to_dict()
    values = node.desc._values()
    for field in node.desc.operator.fields:
        value = values[field.python]
        if type(value) is TensorDesc:
            described["desc"][field.name] = brief(value)
        elif type(value) is tuple and value and all(type(one) is TensorDesc for one in value):
            described["desc"][field.name] = [brief(one) for one in value if type(one) is TensorDesc]
    described["desc"] = {name: member for name, member in described["desc"].items() if member is not None}
    return {"Type": "DML_GRAPH_NODE_TYPE_OPERATOR", "Desc": {**named, "Operator": described}, **origin}


def _elements(constant: Constant) -> Array:
    """The elements of a constant that has a desc; of 4 bits the bytes."""
    assert constant.data is not None and constant.desc is not None
    if has_four_bits(dtype_of(constant.desc)):
        return constant.data
    dtype = numpy_dtype(dtype_of(constant.desc))
    count = constant.data.size // dtype.itemsize
    elements = np.frombuffer(constant.data.tobytes(), dtype, count)
    return elements.reshape(constant.desc.sizes) if count == constant.desc.element_count else elements


def _inline(number: int, constant: Constant) -> dict[str, object]:
    """The bytes of a constant as initial values: elements of its data type, or bytes where elements lose bits."""
    data = np.zeros(0, np.uint8) if constant.data is None else constant.data
    kind, elements = "UINT8", data
    dtype = None if constant.desc is None else dtype_of(constant.desc)
    if dtype is not None and not has_four_bits(dtype) and data.size % numpy_dtype(dtype).itemsize == 0:
        typed = np.frombuffer(data.tobytes(), numpy_dtype(dtype))
        if not _has_other_nan(typed):
            kind, elements = dtype.name, typed
    return {"initialValuesDataType": kind, "initialValues": [spelled_in_json(value) for value in elements.tolist()]}


def _has_other_nan(values: Array) -> bool:
    """Whether there is a NaN with other bits than the one that "nan" in JSON stands for: a sign, a payload."""
    if values.dtype.kind != "f":
        return False
    bits = f"u{values.itemsize}"
    plain = np.array(np.nan).astype(values.dtype).view(bits)
    return bool((np.isnan(values) & (values.view(bits) != plain)).any())
