"""Reads the list of a pack, and trusts nothing in it: no path leaves the folder, and each file is what was written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import Final, NoReturn

from dmlcy._facts.tables import DTYPES, LEVEL_INDEX, OPERATORS
from dmlcy._frontends.dxdispatch.files import open_regular, read_bytes, target_parts
from dmlcy._frontends.dxdispatch.json import Document, Node, decode
from dmlcy._frontends.dxdispatch.problems import Problem, make, refuse, whole
from dmlcy._frontends.dxdispatch.reader import UINT64, Reader
from dmlcy._judge.packs.pack import FORMAT, MANIFEST, NAME, OLDEST, VERSION, Entry, File, Pack, Refusals
from dmlcy._judge.versions import Versions

VERSIONS: Final = Versions(OLDEST, VERSION, "Export the pack again: python -m dmlcy.testing export.")
_HEAD: Final = ("format", "version", "dmlcy", "seed", "feature_level", "cases", "refusals")
_CASE: Final = ("name", "operator", "feature_level", "origin", "dtypes", "stock_dxdispatch", "files")


def fail(path: Path, why: str) -> NoReturn:
    """Refuse a folder that is no pack."""
    refuse([make("DML-MODEL-pack", whole(str(path)), {"why": why})])


def read(root: Path) -> Pack:
    """The list of a pack; ModelError with everything that is wrong with it."""
    path = root / NAME
    document = decode_file(path)
    reader = Reader(document)
    top = document.root
    if not reader.expect(top, "object"):
        reader.finish()
    member = top.get("format")
    if member is None or member.value != FORMAT:
        fail(path, f'its format is not "{FORMAT}"')
    if VERSIONS.of(reader, top) is None:
        reader.finish()
    found = _Parser(reader).pack(top)
    reader.finish()
    return replace(found, warnings=(*document.warnings, *reader.warnings))


def decode_file(path: Path) -> Document:
    """The JSON in a file that must be there."""
    try:
        with open_regular(path) as stream:
            data = read_bytes(stream)
    except (OSError, ValueError) as error:
        fail(path, getattr(error, "strerror", None) or str(error))
    return decode(str(path), data)


def messages(path: Path) -> dict[str, str]:
    """The messages on the descs in a file of refusals, by id."""
    reader = Reader(decode_file(path))
    top = reader.document.root
    listed = reader.required(top, "refusals", "array") if reader.expect(top, "object") else None
    found = {}
    for node in listed.value if listed else ():
        if reader.expect(node, "object"):
            id_, message = (reader.required(node, name, "string") for name in ("id", "message"))
            if id_ is not None and message is not None:
                found[str(id_.value)] = str(message.value)
    reader.finish()
    return found


def changed(root: Path, files: Iterable[tuple[str, File]]) -> list[Problem]:
    """The files below a folder that are missing or changed, each with the folder that its path is relative to."""
    found = []
    for folder, file in files:
        path = root / folder / file.path
        why = _difference(path, file)
        if why:
            found.append(make("DML-MODEL-pack-changed", whole(str(path)), {"path": file.path, "why": why}))
    return found


def _difference(path: Path, file: File) -> str:
    try:
        with open_regular(path) as stream:
            if os.fstat(stream.fileno()).st_size != file.size:
                return f"it does not have {file.size} bytes"
            digest = file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return "" if digest == file.digest else "its SHA-256 digest is another one"


class _Parser:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.taken: set[str] = set()

    def pack(self, top: Node) -> Pack:
        reader = self.reader
        reader.ignore_others(top, _HEAD)
        seed = reader.integer(reader.required(top, "seed", "number"), 0, UINT64)
        cases = tuple(self.case(node) for node in self.objects(top, "cases", _CASE))
        members = ("operator", "feature_level", "count", "file")
        refusals = tuple(self.refusals(node) for node in self.objects(top, "refusals", members))
        return Pack(seed or 0, self.level(top), cases, refusals)

    def objects(self, parent: Node, name: str, members: tuple[str, ...]) -> Iterator[Node]:
        """The objects in an array."""
        found = self.reader.required(parent, name, "array")
        for node in found.value if found else ():
            if self.reader.expect(node, "object"):
                self.reader.ignore_others(node, members)
                yield node

    def case(self, node: Node) -> Entry:
        stock = self.reader.required(node, "stock_dxdispatch", "true", "false")
        dtypes = self.reader.required(node, "dtypes", "array")
        name = self.path(node, "name")
        files = tuple(self.file(one) for one in self.objects(node, "files", ("path", "size_in_bytes", "sha256")))
        self.once(node, name)
        if all(file.path != MANIFEST for file in files):
            self.reader.report("DML-MODEL-pack-list", node, name=name, why=f'not its file "{MANIFEST}"')
        return Entry(
            name=name,
            operator=self.operator(node),
            level=self.level(node),
            origin=self.text(node, "origin"),
            dtypes=tuple(self.dtype(one) for one in (dtypes.value if dtypes else ())),
            stock=stock is not None and stock.kind == "true",
            files=files,
        )

    def refusals(self, node: Node) -> Refusals:
        reader = self.reader
        count = reader.integer(reader.required(node, "count", "number"))
        file = reader.required(node, "file", "object")
        own = File("", 0, "") if file is None else self.file(file)
        self.once(node, own.path)
        return Refusals(self.operator(node), self.level(node), count or 0, own)

    def once(self, node: Node, path: str) -> None:
        """Report a case, or a file of refusals, that the list has already."""
        if path.casefold() in self.taken:
            self.reader.report("DML-MODEL-pack-list", node, name=path, why="lists it a second time")
        self.taken.add(path.casefold())

    def file(self, node: Node) -> File:
        size = self.reader.integer(self.reader.required(node, "size_in_bytes", "number"), 0, UINT64)
        return File(self.path(node, "path"), size or 0, self.text(node, "sha256"))

    def text(self, node: Node, member: str) -> str:
        found = self.reader.required(node, member, "string")
        return "" if found is None else str(found.value)

    def path(self, node: Node, member: str) -> str:
        """A path that stays below the folder."""
        found = self.reader.required(node, member, "string")
        parts = None if found is None else target_parts(found.value)
        if found is not None and parts is None:
            self.reader.report("DML-MODEL-pack-path", found, path=found.value)
        return "/".join(parts or ())

    def operator(self, node: Node) -> str:
        found = self.reader.required(node, "operator", "string")
        return "" if found is None else self.reader.reference(found, OPERATORS, "operator") or ""

    def level(self, node: Node) -> str:
        found = self.reader.required(node, "feature_level", "string")
        return "" if found is None else self.reader.reference(found, LEVEL_INDEX, "feature level") or ""

    def dtype(self, node: Node) -> str:
        if not self.reader.expect(node, "string"):
            return ""
        return self.reader.reference(node, DTYPES, "data type") or ""
