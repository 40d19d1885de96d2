"""Reads the manifest of a folder of expected values, and trusts nothing in it: no path may leave the folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Final, NoReturn

from dmlcy._desc.memory import dtype_of, extent, of_file, rounded, sizes_in_file
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import in_files, numpy_dtype
from dmlcy._facts.levels import NEWEST, level_hint
from dmlcy._facts.rows import Dtype, Field
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch import npy, operators
from dmlcy._frontends.dxdispatch.files import open_regular, read_bytes, target_parts
from dmlcy._frontends.dxdispatch.json import Document, Node, decode
from dmlcy._frontends.dxdispatch.observer import WrittenFile
from dmlcy._frontends.dxdispatch.operators import tensor_of, tensors_of
from dmlcy._frontends.dxdispatch.problems import Problem, did_you_mean, make, refuse, whole
from dmlcy._frontends.dxdispatch.reader import UINT32, UINT64, Reader
from dmlcy._judge.expected.manifest import FORMAT, NAME, OLD, OLDEST, VERSION, Buffer, Input, Manifest, Old, Output
from dmlcy._judge.versions import Versions
from dmlcy._reference.accuracy import MAGNITUDES, RESULT, Bound
from dmlcy._reference.unjudged import ids_of
from dmlcy._types import Array
from dmlcy._words.values import show

_LARGEST: Final = 64 * 2**20
VERSIONS: Final = Versions(OLDEST, VERSION, "Write the expected values again: dmlcy run --expect.")


@dataclass(frozen=True, slots=True)
class Expected:
    """A folder of expected values: what its manifest says, where, and what in it is ignored."""

    folder: Path
    manifest: Manifest
    document: Document
    warnings: tuple[Problem, ...]

    def complete(self, outputs: Iterable[Output]) -> None:
        """Refuse a folder that lacks a file which the manifest lists for one of these outputs."""
        reader = Reader(self.document)
        for output in outputs:
            for node in _file_nodes(output):
                if not os.path.lexists(self.folder / node.value):
                    reader.report("DML-MODEL-manifest-file", node, path=node.value)
        reader.finish()

    def array(self, node: Node, dtype: Dtype, sizes: tuple[int, ...]) -> Array:
        """The values in the file that a member names; ModelError where they are not those of such a tensor."""
        reader = Reader(self.document)
        path = self.folder / node.value
        found = None
        try:
            with open_regular(path) as stream:
                header = npy.read_header(stream)
                stored, held = in_files(dtype), sizes_in_file(dtype, sizes)
                if header.dtype is not stored:
                    kind = show(header.kind)
                    reader.report("DML-MODEL-npy-type", node, path=str(path), found=kind, wanted=stored.name)
                elif header.shape != held:
                    shape, wanted = f"the sizes {header.shape}", f"the sizes {held}"
                    reader.report("DML-MODEL-npy-sizes", node, path=str(path), found=shape, wanted=wanted)
                else:
                    elements = npy.read_elements(stream, header).astype(numpy_dtype(stored), copy=False)
                    found = of_file(dtype, sizes, elements)
        except npy.NpyError as error:
            reader.report("DML-MODEL-npy", node, path=str(path), why=str(error))
        except OSError as error:
            reader.report("DML-MODEL-source", node, path=str(path), why=error.strerror or str(error))
        reader.finish()
        assert found is not None
        return found


def fail(path: Path, why: str) -> NoReturn:
    """Refuse a file that is no manifest."""
    refuse([make("DML-MODEL-manifest", whole(str(path)), {"why": why})])


def decode_file(path: Path) -> Document:
    """The JSON in a file that should be a manifest."""
    try:
        with open_regular(path) as stream:
            data = read_bytes(stream, _LARGEST)
    except (OSError, ValueError) as error:
        fail(path, getattr(error, "strerror", None) or str(error))
    return decode(str(path), data)


def _file_nodes(output: Output) -> Iterator[Node]:
    """The members that name the files of an output and of its inputs."""
    node = output.node
    assert node is not None
    tolerance = None if output.old is None else output.old.tolerance
    given = {
        ("file",): output.file,
        ("standing",): output.standing,
        ("accuracy", "allowed"): output.allowed,
        ("accuracy", "typical"): output.typical,
        ("accuracy", "tolerance"): tolerance,
        ("flushed", "file"): output.flushed,
        ("flushed", "allowed"): output.flushed,
    }
    for members, there in given.items():
        if there is not None:
            yield reduce(lambda parent, member: parent.value[member], members, node)
    yield from (mark.value["file"] for mark in (node.value["not_judged"].value if output.not_judged else ()))
    yield from (node.value["inputs"].value[name].value["file"] for name in output.inputs)


def files(outputs: Iterable[Output]) -> frozenset[str]:
    """The files that a manifest lists for some of its outputs, all of them .npy below its folder."""
    found: set[str | None] = set()
    for output in outputs:
        found |= {output.file, output.allowed, output.typical, output.standing, *(output.flushed or ())}
        found |= {file for _, file in output.not_judged}
        found |= set() if output.old is None else {output.old.tolerance}
        found |= {source.file for source in output.inputs.values()}
    steps = (target_parts(path) for path in found if path is not None)
    return frozenset("/".join(parts) for parts in steps if parts is not None)


def read(folder: Path) -> Expected:
    """The manifest of a folder; ModelError with everything that is wrong with it."""
    document = decode_file(folder / NAME)
    reader = Reader(document)
    root = document.root
    manifest = None
    if reader.expect(root, "object"):
        if not is_ours(root):
            fail(folder / NAME, f'its format is not "{FORMAT}"')
        manifest = _Parser(reader).manifest(root)
    reader.finish()
    assert manifest is not None
    return Expected(folder, manifest, document, (*document.warnings, *reader.warnings))


def is_ours(root: Node) -> bool:
    """Whether the root of a document says that it is a manifest of expected values."""
    member = root.get("format")
    return member is not None and member.value == FORMAT


class _Parser:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.written: dict[str, WrittenFile] = {}
        self.version: int | None = None

    def manifest(self, root: Node) -> Manifest | None:
        reader = self.reader
        self.version = VERSIONS.of(reader, root)
        members = ("format", "version", "dmlcy", "model", "feature_level", "comparison", "written", "outputs")
        reader.ignore_others(root, members)
        if self.version is None:
            return None
        for name in ("dmlcy", "comparison"):
            reader.optional(root, name, "string")
        model = reader.required(root, "model", "string")
        level = reader.required(root, "feature_level", "string")
        if level is not None and level.value not in LEVEL_INDEX:
            hint = level_hint(level.value)
            reader.report("DML-MODEL-choice", level, hint=hint, value=level.value, known="a feature level")
        self.files(reader.required(root, "written", "array"))
        outputs = reader.required(root, "outputs", "array")
        found = [self.output(node) for node in (outputs.value if outputs else ()) if reader.expect(node, "object")]
        if outputs is not None and not outputs.value:
            reader.report("DML-MODEL-no-output", outputs)
        if model is None or level is None:
            return None
        written = tuple(self.written.values())
        given = tuple(output for output in found if output is not None)
        return Manifest(model.value, level.value, given, written, self.version)

    def output(self, node: Node) -> Output | None:
        reader = self.reader
        members = (
            "file", "written_to", "resource", "dispatchable", "operator", "field", "dtype", "sizes", "buffer", "inputs",
            "accuracy", "standing", *(() if self.version == OLD else ("flushed", "not_judged")),
        )  # fmt: skip
        reader.ignore_others(node, members)
        file = self.path(node, "file")
        resource = reader.required(node, "resource", "string")
        dispatchable = reader.required(node, "dispatchable", "string")
        allowed, typical, old = self.old_accuracy(node) if self.version == OLD else self.accuracy(node)
        standing = self.path(node, "standing") if "standing" in node.value else None
        desc = self.desc(node)
        flushed = None if self.version == OLD else self.flushed(node)
        not_judged = () if self.version == OLD else self.not_judged(node, desc)
        name = reader.required(node, "field", "string")
        if desc is None or name is None:
            return None
        outputs = tensors_of(desc, "output")
        if reader.reference(name, outputs, f"output of {desc.operator.name}") is None:
            return None
        field, entry = outputs[name.value]
        tensor = tensor_of(desc, field, entry)
        self.tensor(node, field, tensor)
        buffer = self.buffer(node, field, tensor)
        inputs = self.inputs(node, desc)
        if file is None or resource is None or dispatchable is None or buffer is None:
            return None
        written_to = self.written_to(node, resource.value, buffer.offset + extent(tensor), field)
        return Output(
            file, resource.value, dispatchable.value, desc, field, entry, buffer, inputs, allowed, typical, flushed,
            not_judged, written_to, standing, old, node,
        )  # fmt: skip

    def files(self, node: Node | None) -> None:
        """The files that the model writes; none of them leads out of the folder of the actual ones."""
        reader = self.reader
        for item in node.value if node else ():
            if not reader.expect(item, "object"):
                continue
            reader.ignore_others(item, ("path", "resource", "dimensions", "size_in_bytes"))
            path = reader.required(item, "path", "string")
            resource = reader.required(item, "resource", "string")
            sizes = reader.required(item, "dimensions", "array")
            dimensions = [reader.integer(size, 1, UINT32) for size in (sizes.value if sizes else ())]
            size = reader.integer(reader.required(item, "size_in_bytes", "number"), 0, UINT64)
            parts = target_parts(path.value) if path else None
            if path is not None and parts is None:
                reader.report("DML-MODEL-target", path, path=path.value)
            if parts is not None and resource is not None and size is not None:
                given = tuple(size for size in dimensions if size is not None)
                file = WrittenFile("/".join(parts), resource.value, given, size)
                self.written[file.key] = file

    def written_to(self, node: Node, resource: str, needed: int, field: Field) -> tuple[WrittenFile, ...]:
        """The files that hold all of an output: of its resource, and as long as it needs."""
        reader = self.reader
        files = {file.path: file for file in self.written.values() if file.resource == resource and file.size >= needed}
        what = f"file in $.written that holds all of {field.name} in {show(resource)}:"
        found = reader.required(node, "written_to", "array")
        items = [item for item in (found.value if found else ()) if reader.expect(item, "string")]
        names = [reader.reference(item, files, what) for item in items]
        return tuple(files[name] for name in names if name is not None)

    def path(self, node: Node, member: str) -> str | None:
        found = self.reader.required(node, member, "string")
        if found is None:
            return None
        parts = target_parts(found.value)
        if parts is None or not parts[-1].lower().endswith(".npy"):
            self.reader.report("DML-MODEL-manifest-path", found, path=found.value)
            return None
        return str(found.value)

    def desc(self, node: Node) -> OperatorDesc | None:
        reader = self.reader
        operator = reader.required(node, "operator", "object")
        kind = reader.required(operator, "type", "string") if operator else None
        found = operators.parse(reader, operator, kind) if operator and kind else None
        if found is None:
            return None
        problems = found.problems(reader, LEVELS[NEWEST].name)
        reader.problems += problems
        return found.value if found.must_run(reader) and not problems else None

    def tensor(self, node: Node, field: Field, tensor: TensorDesc) -> None:
        """Data type and sizes are those of the desc."""
        reader = self.reader
        dtype = reader.required(node, "dtype", "string")
        if dtype is not None and dtype.value != dtype_of(tensor).name:
            wanted = dtype_of(tensor).name
            reader.report("DML-MODEL-manifest-desc", dtype, value=dtype.value, field=field.name, wanted=wanted)
        sizes = reader.required(node, "sizes", "array")
        given = sizes.plain() if sizes else None
        if sizes is not None and (given != list(tensor.sizes) or any(type(size) is not int for size in given)):
            wanted = str(list(tensor.sizes))
            reader.report("DML-MODEL-manifest-desc", sizes, value=given, field=field.name, wanted=wanted)

    def buffer(self, node: Node, field: Field, tensor: TensorDesc) -> Buffer | None:
        reader = self.reader
        buffer = reader.required(node, "buffer", "object")
        if buffer is None:
            return None
        reader.ignore_others(buffer, ("dtype", "size_in_bytes", "offset_in_bytes"))
        kind = reader.required(buffer, "dtype", "string", "null")
        dtype = reader.dtype(kind) if kind is not None and kind.kind == "string" else None
        size = reader.integer(reader.required(buffer, "size_in_bytes", "number"), 0, UINT64)
        offset = reader.integer(reader.required(buffer, "offset_in_bytes", "number"), 0, UINT64)
        if size is None or offset is None:
            return None
        needed = offset + extent(tensor)
        if needed > rounded(size):
            name = node.value["resource"].plain() if "resource" in node.value else ""
            reader.report("DML-MODEL-buffer-size", buffer, name=name, size=size, field=field.name, needed=needed)
            return None
        return Buffer(dtype, size, offset)

    def inputs(self, node: Node, desc: OperatorDesc) -> Mapping[str, Input]:
        reader = self.reader
        found = {}
        known = tensors_of(desc, "input")
        for name, source in reader.members(reader.required(node, "inputs", "object")):
            if name not in known:
                what = f"input of {desc.operator.name}"
                reader.report("DML-MODEL-reference", source, what=what, name=name, hint=did_you_mean(name, known))
                continue
            reader.ignore_others(source, ("file", "resource", "computed_by"))
            file = self.path(source, "file")
            resource = reader.required(source, "resource", "string")
            computed_by = reader.optional(source, "computed_by", "string", "null")
            if file is not None and resource is not None:
                found[name] = Input(file, resource.value, computed_by.value if computed_by else None)
        return MappingProxyType(found)

    def accuracy(self, node: Node) -> tuple[str | None, str | None, None]:
        """The files of the differences that pass, and of the differences that are not suspect."""
        accuracy = self.stated(node)
        if accuracy is None:
            return None, None, None
        self.reader.ignore_others(accuracy, ("allowed", "typical"))
        typical = self.path(accuracy, "typical") if "typical" in accuracy.value else None
        return self.path(accuracy, "allowed"), typical, None

    def stated(self, node: Node) -> Node | None:
        """The object that says how exact an output is; None: each element must be equal."""
        reader = self.reader
        accuracy = reader.required(node, "accuracy", "string", "object")
        if accuracy is None or accuracy.kind != "string":
            return accuracy
        if accuracy.value != "exact":
            reader.report("DML-MODEL-choice", accuracy, value=accuracy.value, known='"exact" or an object')
        return None

    def flushed(self, node: Node) -> tuple[str, str] | None:
        """The files of other values that pass, and of the differences from them that do."""
        found = self.reader.optional(node, "flushed", "object")
        if found is None:
            return None
        self.reader.ignore_others(found, ("file", "allowed"))
        file, allowed = self.path(found, "file"), self.path(found, "allowed")
        return None if file is None or allowed is None else (file, allowed)

    def not_judged(self, node: Node, desc: OperatorDesc | None) -> tuple[tuple[str, str], ...]:
        """The ids of interpretations of the operator, and the files that mark their elements."""
        found: list[tuple[str, str]] = []
        several = self.reader.optional(node, "not_judged", "array")
        for item in several.value if several else ():
            if not self.reader.expect(item, "object"):
                continue
            self.reader.ignore_others(item, ("id", "file"))
            name, file = self.reader.required(item, "id", "string"), self.path(item, "file")
            if name is not None and desc is not None:
                what = f"interpretation of {desc.operator.name} that leaves out elements:"
                self.reader.reference(name, ids_of(desc), what)
            if name is not None and file is not None:
                found.append((name.value, file))
        return tuple(found)

    def old_accuracy(self, node: Node) -> tuple[str | None, None, Old | None]:
        """The file of differences that pass, or the bound and the file of tolerances, of the version before."""
        reader = self.reader
        accuracy = self.stated(node)
        if accuracy is None:
            return None, None, None
        reader.ignore_others(accuracy, ("ulp", "formula", "of", "tolerance", "allowed"))
        ulp = reader.required(accuracy, "ulp", "number")
        if ulp is not None and not 0 < ulp.value <= UINT64:
            reader.report("DML-MODEL-choice", ulp, value=ulp.value, known=f"more than 0 and at most {UINT64}")
        formula = reader.required(accuracy, "formula", "string")
        of = reader.required(accuracy, "of", "string")
        if of is not None and of.value not in (RESULT, MAGNITUDES):
            reader.report("DML-MODEL-choice", of, value=of.value, known=f'"{RESULT}" or "{MAGNITUDES}"')
        allowed = self.path(accuracy, "allowed") if "allowed" in accuracy.value else None
        needed = of is not None and of.value == MAGNITUDES and allowed is None
        tolerance = self.path(accuracy, "tolerance") if needed or "tolerance" in accuracy.value else None
        if ulp is None or formula is None or of is None:
            return None, None, None
        return allowed, None, Old(Bound(ulp.value, formula.value, of.value), tolerance)
