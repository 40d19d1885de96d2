"""A model: resources, dispatchables and commands as typed data, with everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from dmlcy._facts.tables import CATALOGUE
from dmlcy._frontends.dxdispatch import images, operators, resources
from dmlcy._frontends.dxdispatch.files import target_parts
from dmlcy._frontends.dxdispatch.json import Document, Node
from dmlcy._frontends.dxdispatch.problems import Problem, did_you_mean
from dmlcy._frontends.dxdispatch.reader import UINT32, UINT64, Reader
from dmlcy._words.records import record
from dmlcy._words.values import quote

_FOREIGN: Final = {
    "hlsl": "an HLSL shader",
    "onnx": "an ONNX model",
}
_GRAPH: Final = "dmlSerializedGraph"
_MEMBERS: Final = ("resources", "dispatchables", "commands")
_ONE_DESC: Final = (
    "This is the desc of one operator, not a model: `dmlcy lint` checks it, and `dmlcy export` makes a model of it."
)
_BINDING_MEMBERS: Final = frozenset(
    {
        "name",
        "elementOffset",
        "elementSizeInBytes",
        "elementStride",
        "elementCount",
        "format",
        "counter",
        "counterOffsetBytes",
        "shape",
    }
)


@record(frozen=True, slots=True, eq=False)
class Binding:
    """A resource, seen from an offset in elements; an element is as large as one of the initial values unless said."""

    resource: str
    offset: int
    element_size: int | None
    node: Node


@record(frozen=True, slots=True, eq=False)
class Dispatchable:
    """An operator and what is bound to it when it is initialised."""

    name: str
    desc: operators.Desc
    bindings: Mapping[str, Binding]


@record(frozen=True, slots=True, eq=False)
class GraphDispatchable:
    """A serialized graph; ``source`` is the path of its file, relative to the model."""

    name: str
    source: Node


@record(frozen=True, slots=True, eq=False)
class Dispatch:
    """Run a dispatchable; ``bindings`` by field name (InputTensor)."""

    dispatchable: str
    bindings: Mapping[str, Binding]
    node: Node


@record(frozen=True, slots=True, eq=False)
class DispatchGraph:
    """Run a serialized graph; ``bindings`` by the name of its input or output. ``bound``: the node of the bindings."""

    dispatchable: str
    bindings: Mapping[str, Binding]
    bound: Node
    node: Node


@record(frozen=True, slots=True, eq=False)
class Print:
    """Print a resource."""

    resource: str
    verbose: bool
    node: Node


@record(frozen=True, slots=True, eq=False)
class WriteFile:
    """Write a resource to a file below the output folder."""

    resource: str
    target: tuple[str, ...]
    dimensions: tuple[int, ...]
    node: Node

    @property
    def is_typed(self) -> bool:
        """Whether the file has values, not bytes."""
        return images.suffix(self.target[-1]) == ".npy" or images.is_image(self.target[-1])


Command: TypeAlias = Dispatch | DispatchGraph | Print | WriteFile


@record(frozen=True, slots=True, eq=False)
class Model:
    """The understood parts of a model file, and the problems of the rest."""

    document: Document
    folder: Path
    resources: Mapping[str, resources.Buffer]
    dispatchables: Mapping[str, Dispatchable]
    graphs: Mapping[str, GraphDispatchable]
    commands: tuple[Command, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read(document: Document, folder: Path) -> Model:
    """Read a model. Files that it names lie in ``folder``; they are not opened here."""
    reader = Reader(document)
    parser = _Parser(reader)
    if reader.expect(document.root, "object"):
        parser.read(document.root)
    return Model(
        document,
        folder,
        MappingProxyType(parser.resources),
        MappingProxyType(parser.dispatchables),
        MappingProxyType(parser.graphs),
        tuple(parser.commands),
        tuple(reader.problems),
        (*document.warnings, *reader.warnings),
    )


def is_desc(root: Node) -> bool:
    """Whether this is the desc of one operator in place of a model."""
    kind = root.value.get("type", root.value.get("Type"))  # parse_alone says to rename the second one
    if kind is None or not root.value.keys().isdisjoint(_MEMBERS):
        return False
    named = kind.kind == "string" and kind.value.removeprefix("DML_OPERATOR_") in CATALOGUE
    return named or not root.value.keys().isdisjoint(("desc", "Desc"))


class _Parser:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.resources: dict[str, resources.Buffer] = {}
        self.dispatchables: dict[str, Dispatchable] = {}
        self.graphs: dict[str, GraphDispatchable] = {}
        self.commands: list[Command] = []
        self.resource_names: Collection[str] = ()
        self.dispatchable_names: Collection[str] = ()

    def read(self, root: Node) -> None:
        reader = self.reader
        if is_desc(root):
            reader.report("DML-MODEL-missing", root, name="dispatchables", hint=_ONE_DESC)
            return
        reader.ignore_others(root, ("$schema", *_MEMBERS))
        buffers = reader.required(root, "resources", "object")
        dispatchables = reader.required(root, "dispatchables", "object")
        commands = reader.required(root, "commands", "array")
        self.resource_names = buffers.value if buffers else ()
        self.dispatchable_names = dispatchables.value if dispatchables else ()
        for name, node in reader.members(buffers):
            buffer = resources.parse(reader, name, node)
            if buffer is not None:
                self.resources[name] = buffer
        for name, node in reader.members(dispatchables):
            self.dispatchable(name, node)
        for node in commands.value if commands else ():
            if reader.expect(node, "object"):
                self.command(node)

    def dispatchable(self, name: str, node: Node) -> None:
        reader = self.reader
        owner = self.owner(node)
        kind = reader.required(owner, "type", "string") if owner else None
        if owner is None or kind is None:
            return
        foreign = _FOREIGN.get(kind.value.lower())
        if foreign:
            reader.report("DML-MODEL-dispatchable", kind, what=foreign)
            return
        if kind.value.lower() == _GRAPH.lower():
            self.graph(name, node)
            return
        meant = did_you_mean(kind.value, [_GRAPH]) if kind.value.lower().startswith("dmls") else ""
        if meant:
            reader.report("DML-MODEL-operator-unknown", kind, actual=quote(kind.value), hint=meant)
            return
        for one in (node,) if owner is node else (node, owner):
            if one.get("desc") is not None or one.get("Desc") is not None:
                reader.ignore_others(one, ("type", "desc", "Desc", "dmlCompileType", "executionFlags", "bindings"))
        compile_type = reader.optional(node, "dmlCompileType", "string")
        if compile_type and compile_type.value not in ("DmlCompileOp", "DmlCompileGraph"):
            reader.report(
                "DML-MODEL-choice", compile_type, value=compile_type.value, known="DmlCompileOp or DmlCompileGraph"
            )
        desc = operators.parse(reader, owner, kind)
        bindings = reader.optional(node, "bindings", "object")
        bound = self.bindings(bindings, desc) if bindings else {}
        if desc is not None:
            self.dispatchables[name] = Dispatchable(name, desc, bound)

    def graph(self, name: str, node: Node) -> None:
        """A serialized graph. The bindings at initialisation follow from the graph."""
        self.reader.ignore_others(node, ("type", "sourcePath", "executionFlags"))
        source = self.reader.required(node, "sourcePath", "string")
        if source is not None:
            self.graphs[name] = GraphDispatchable(name, source)

    def owner(self, node: Node) -> Node | None:
        """The node with type and desc: the dispatchable, or by mistake its desc; None where that has the type only."""
        inner = node.get("desc") or node.get("Desc")
        kind = inner.get("type") if inner else None
        if inner is None or kind is None or kind.kind != "string":
            return node
        names = [name for name in ("type", "desc", "Desc") if name in inner.value]
        if node.get("type") is not None and len(names) == 1:
            return node
        operators.nesting(self.reader, inner, node, names, inner.value[names[0]])
        return inner if len(inner.value) > 1 else None

    def command(self, node: Node) -> None:
        kind = self.reader.required(node, "type", "string")
        if kind is None:
            return
        commands: dict[str, tuple[str, Callable[[Node], Command | None]]] = {
            "dispatch": ("dispatch", self.dispatch),
            "print": ("print", self.print),
            "writefile": ("writeFile", self.write_file),
        }
        found = commands.get(kind.value.lower())
        if found is None:
            names = [name for name, _ in commands.values()]
            self.reader.report("DML-MODEL-command", kind, name=kind.value, hint=did_you_mean(kind.value, names))
            return
        command = found[1](node)
        if command is not None:
            self.commands.append(command)

    def dispatch(self, node: Node) -> Dispatch | DispatchGraph | None:
        reader = self.reader
        reader.ignore_others(node, ("type", "dispatchable", "bindings", "threadGroupCount"))
        target = reader.required(node, "dispatchable", "string")
        name = reader.reference(target, self.dispatchable_names, "dispatchable") if target else None
        if name in self.graphs:
            given = reader.required(node, "bindings", "object")
            return None if given is None else DispatchGraph(name, self.graph_bindings(given), given, node)
        dispatchable = None if name is None else self.dispatchables.get(name)
        desc = dispatchable.desc if dispatchable else None
        bindings = reader.required(node, "bindings", "object")
        bound = self.bindings(bindings, desc) if bindings else {}
        if dispatchable is None or bindings is None:
            return None
        for field in dispatchable.desc.operator.fields:
            needed = field.kind != "attribute" and not dispatchable.desc.leaves_out(field)
            names = dispatchable.desc.bound(field.name) if needed else None
            if names and bindings.get(field.name) is None and not dispatchable.bindings.keys() >= {*names}:
                reader.missing("DML-MODEL-unbound", bindings, field.name, field=field.name, name=dispatchable.name)
        return Dispatch(dispatchable.name, bound, node)

    def bindings(self, node: Node, desc: operators.Desc | None) -> dict[str, Binding]:
        """Bindings by field name. The bindings of an operator that is not understood are looked at all the same."""
        tensors = [f.name for f in desc.operator.fields if f.kind != "attribute"] if desc else []
        if desc is not None:
            self.reader.ignore_others(node, tensors)
            for field in desc.operator.fields:
                if field.name in node.value and desc.leaves_out(field):
                    self.reader.ignore(node, field.name, f"The desc has no {field.name}: nothing is read or written.")
        bound: dict[str, Binding] = {}
        for name, value in node.value.items():
            sources = [self.binding(item) for item in (value.value if value.kind == "array" else [value])]
            if name not in tensors:
                continue
            paths = [name] if desc is None else desc.bound(name)
            if paths is None:
                continue
            if len(sources) != len(paths):
                expected = "one resource" if len(paths) == 1 else f"{len(paths)} resources"
                self.reader.report("DML-MODEL-bind-count", value, field=name, count=len(sources), expected=expected)
                continue
            bound |= {path: one for path, one in zip(paths, sources, strict=True) if one is not None}
        return bound

    def graph_bindings(self, node: Node) -> dict[str, Binding]:
        """Bindings by the names of values; each takes one resource."""
        bound = {}
        for name, value in node.value.items():
            sources = value.value if value.kind == "array" else [value]
            if len(sources) != 1:
                self.reader.report(
                    "DML-MODEL-bind-count", value, field=name, count=len(sources), expected="one resource"
                )
                continue
            found = self.binding(sources[0])
            if found is not None:
                bound[name] = found
        return bound

    def binding(self, node: Node) -> Binding | None:
        reader = self.reader
        if not reader.expect(node, "string", "object"):
            return None
        name: Node | None = node
        size = None
        offset = 0
        if node.kind == "object":
            reader.ignore_others(node, _BINDING_MEMBERS)
            name = reader.required(node, "name", "string")
            sizes = node.get("elementSizeInBytes") or node.get("elementStride")
            size = reader.integer(sizes, 0, UINT32) or None
            offset = reader.integer(node.get("elementOffset"), 0, UINT64) or 0
        resource = reader.reference(name, self.resource_names, "resource") if name else None
        return None if resource is None else Binding(resource, offset, size, node)

    def print(self, node: Node) -> Print | None:
        self.reader.ignore_others(node, ("type", "resource", "verbose"))
        resource = self.resource(node)
        verbose = self.reader.optional(node, "verbose", "true", "false")
        return None if resource is None else Print(resource, verbose is not None and verbose.value, node)

    def write_file(self, node: Node) -> WriteFile | None:
        reader = self.reader
        reader.ignore_others(node, ("type", "resource", "targetPath", "dimensions"))
        resource = self.resource(node)
        target = reader.required(node, "targetPath", "string")
        parts = target_parts(target.value) if target else None
        if target and parts is None:
            reader.report("DML-MODEL-target", target, path=target.value)
        elif target and images.refused(reader, target):
            return None
        elif target and parts and images.is_image(target.value):
            return self.write_image(node, resource, parts)
        dimensions = reader.optional(node, "dimensions", "array")
        sizes = [reader.integer(item, 1, UINT32) for item in (dimensions.value if dimensions else ())]
        if resource is None or parts is None or None in sizes:
            return None
        return WriteFile(resource, parts, tuple(size for size in sizes if size is not None), node)

    def write_image(self, node: Node, resource: str | None, parts: tuple[str, ...]) -> WriteFile | None:
        """A command that writes an image, whose sizes and data type must be those of one."""
        sizes = images.sizes(self.reader, self.reader.required(node, "dimensions", "array"), (1, 3, 4))
        buffer = self.resources.get(resource) if resource is not None else None
        if buffer is not None and buffer.dtype is not None:
            images.has_type(self.reader, node, buffer.dtype)
        return None if resource is None or sizes is None else WriteFile(resource, parts, sizes, node)

    def resource(self, node: Node) -> str | None:
        name = self.reader.required(node, "resource", "string")
        return self.reader.reference(name, self.resource_names, "resource") if name else None
