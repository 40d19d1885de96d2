"""Elements of tensors in files beside the model. Nothing is opened before the elements are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from mmap import ACCESS_READ, mmap
from os import fstat
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from dmlcy._frontends.dxdispatch.files import open_regular, target_parts
from dmlcy._frontends.dxdispatch.problems import Refusal
from dmlcy._frontends.onnx.messages import ENTRY
from dmlcy._frontends.onnx.wire import Span, Wire
from dmlcy._types import Array
from dmlcy._words.values import quote

FIELD: Final = "external_data"
_DIGITS: Final = 20


class External(NamedTuple):
    """Where the elements are: the file, the first byte, and the number of bytes where it is said."""

    location: str
    offset: int
    length: int | None


def entries(wire: Wire, spans: Sequence[Span], what: str, byte: int) -> External:
    """The contents of the entries of external_data."""
    found: dict[str, str] = {}
    for span in spans:
        entry = wire.message(ENTRY, [span])
        found[entry.get("key", "")] = entry.get("value", "")
    numbers: dict[str, int] = {}
    for key in ("offset", "length"):
        text = found.get(key, "")
        if text and not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
            wire.refuse("external", byte, name=key, what=what, why=f"is {quote(text)}, and must be a number of bytes")
        if text:
            numbers[key] = int(text)
    if not found.get("location"):
        wire.refuse("external", byte, name="location", what=what, why="is missing, or is empty")
    return External(found["location"], numbers.get("offset", 0), numbers.get("length"))


def elements(wire: Wire, one: External, size: int, folder: Path | None, what: str, byte: int) -> Array | bytes:
    """The bytes of a tensor in its file, which is mapped."""
    words = {"what": what, "path": one.location}
    if folder is None:
        wire.refuse("external-missing", byte, why="the model is not in a folder", **words)
    data: mmap | bytes | None = wire.mapped.get(one.location)
    if data is None:
        data = _mapped(wire, one.location, folder, words, byte)
    stop = one.offset + size
    if stop > len(data):
        wire.refuse("external-range", byte, start=one.offset, stop=stop, actual=f"{len(data)} bytes", **words)
    return np.frombuffer(data, np.uint8, size, one.offset) if size else b""


def _mapped(wire: Wire, location: str, folder: Path, words: Mapping[str, str], byte: int) -> mmap | bytes:
    parts = target_parts(location)
    if parts is None:
        wire.refuse("external-path", byte, **words)
    try:
        path = folder.joinpath(*parts).resolve()
        if not path.is_relative_to(folder.resolve()):
            wire.refuse("external-path", byte, **words)
        with open_regular(path) as stream:
            if not fstat(stream.fileno()).st_size:
                return b""
            wire.mapped[location] = mmap(stream.fileno(), 0, access=ACCESS_READ)
            return wire.mapped[location]
    except Refusal:
        raise
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        wire.refuse("external-missing", byte, why=why.lower(), **words)
