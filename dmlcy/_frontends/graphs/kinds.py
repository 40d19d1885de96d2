"""Files that are neither models nor graphs: what their bytes, or their names, say they are, and the page that helps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from dmlcy._frontends.dxdispatch.files import START, open_regular
from dmlcy._frontends.dxdispatch.json import is_binary, is_flatbuffer


class Kind(NamedTuple):
    """The kind of a file, and a hint about it."""

    what: str
    hint: str


_MODELS: Final = "dmlcy reads models in JSON (docs/models.md) and graphs (docs/graphs.md)."
_DESC: Final = "docs/e-invalidarg.md says how to check a desc that is written in it."
_OTHER: Final = f"{_MODELS} To check one operator of it, write its desc: docs/e-invalidarg.md."
_VALUES: Final = "A model can name it as the values of a resource: docs/models.md#resources."
_IMAGE: Final = Kind("an image", "A model can name it as the values of a resource: docs/models.md#images.")
_NUMPY: Final = Kind("a NumPy array", f"{_VALUES} `dmlcy compare` takes it beside expected values: docs/exchange.md.")

ONNX: Final = Kind(
    "an ONNX model",
    "`dmlcy onnx` says where its nodes go, and `dmlcy lint` what DirectML refuses: docs/onnx.md. This command takes "
    "the graphs that ONNX Runtime writes: docs/onnx.md#write-the-graphs-to-files.",
)
TENSORFLOW: Final = Kind("a protocol buffer, as TensorFlow writes its graphs", _OTHER)
CUT: Final = Kind(
    "not a whole ONNX model, though the name of the file ends in .onnx",
    "Was the file cut off? Copy it again.",
)
CPP: Final = Kind(
    "source code in C or C++",
    "Let the program write its descs: `dmlcy cpp-header` prints a header for it, docs/cpp.md says how. "
    "docs/e-invalidarg.md writes a struct of C++ in Python and in JSON.",
)
SOURCE: Final = Kind("source code", f"{_DESC} {_MODELS}")
PYTHON: Final = Kind(
    "a Python program",
    "`dmlcy lint --directml PROGRAM.py` checks a program of PyDirectML, `python -m dmlcy.directml PROGRAM.py` runs it: "
    "docs/directml.md.",
)
EMPTY: Final = Kind("an empty file", f"{_MODELS} `dmlcy example OPERATOR` prints a model to begin with.")
ARCHIVE: Final = Kind("a zip archive", f"Take the files out of it. {_MODELS}")
UTF16: Final = Kind(
    "a text in UTF-16, as Windows PowerShell writes with >",
    "Save it as UTF-8: in PowerShell, `Get-Content FILE | Set-Content -Encoding utf8 OTHER` writes it.",
)
BINARY: Final = Kind(
    "a binary file that does not begin as a serialized graph does",
    f"If it has the elements of a tensor, a model can name it: docs/models.md#resources. {_MODELS}",
)
_MAGIC: Final = (
    (rb"\x89PNG\r\n\x1a\n", _IMAGE),
    (rb"\xff\xd8\xff", _IMAGE),
    (rb"GIF8[79]a", _IMAGE),
    (rb"BM....\0\0\0\0", _IMAGE),
    (rb"II\*\0|MM\0\*", _IMAGE),
    (rb"RIFF....WEBP", _IMAGE),
    (rb"DDS ", _IMAGE),
    (rb"\x93NUMPY", _NUMPY),
    (rb"PK\x03\x04.{26}[^\0]{0,200}\.npy", Kind("an archive of NumPy arrays (.npz)", f"Save each array. {_VALUES}")),
    (rb"PK\x03\x04.{26}[^\0]{0,200}data\.pkl", Kind("a file of PyTorch", _OTHER)),
    (rb"PK(\x03\x04|\x05\x06)", ARCHIVE),
    (rb"\x1f\x8b", Kind("a gzip archive", f"Unpack it. {_MODELS}")),
    (rb"....TFL3", Kind("a TensorFlow Lite model", _OTHER)),
    (rb"....ORTM", Kind("a model of ONNX Runtime (.ort)", f"Take the .onnx file: docs/onnx.md. {_MODELS}")),
    (rb"GGUF", Kind("a GGUF model", _OTHER)),
    (rb"\x89HDF\r\n\x1a\n", Kind("an HDF5 file, as Keras writes its models", _OTHER)),
    (rb"\x80[\x02-\x05][\x8a\x95c}\]]", Kind("a pickle, as PyTorch writes", _OTHER)),
    (rb"MZ.{58}|\x7fELF", Kind("a program or a library", _MODELS)),
    (rb"\xff\xfe|\xfe\xff|[\[{]\0[\s\[{}\"]\0|\0[\[{]\0[\s\[{}\"]", UTF16),
    (rb"%PDF-", Kind("a PDF document", _MODELS)),
    (rb"version https://git-lfs", Kind("a pointer of Git LFS, in place of a file", "Fetch the file: git lfs pull.")),
    (rb"\s*<(!|\?xml|html)", Kind("HTML or XML", f"Was a web page saved in place of the file? {_MODELS}")),
)
"""The first bytes of files, and what the files are."""

_JSON: Final = re.compile(r"\ufeff?(\s|//[^\n]*(\n|\Z)|/\*.*?\*/)*[\[{\"]", re.DOTALL)
_CPP: Final = re.compile(
    r"^\s*#\s*(include|pragma|define|ifn?def)\b|\bDML_\w+_DESC\b|\bID?ML(Device|Operator)\b", re.MULTILINE
)
_PYTHON: Final = re.compile(r"^(import \w+|from [\w.]+ import )", re.MULTILINE)
_SUFFIXES: Final = {
    **dict.fromkeys(("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inl", "idl"), CPP),
    **dict.fromkeys(("cs", "rs", "java", "go", "js", "ts"), SOURCE),
    "py": PYTHON,
    "onnx": CUT,
}  # fmt: skip
_LOOKED: Final = 2**16
"""Bytes at the beginning that are looked at."""


def kind_of(name: str, data: bytes, *, graph: bool, whole: bool = True) -> Kind | None:
    """The kind of a file that is neither a model nor a graph; None for a file that may be.

    ``graph``: it begins as a graph. Without ``whole``, ``data`` are the first bytes of the file.
    """
    start = data[:_LOOKED]
    if not start.strip():
        return EMPTY
    for magic, kind in _MAGIC:
        if re.match(magic, start, re.DOTALL):
            return kind
    if graph:
        return None
    brackets = start[:1] in (b"{", b"[")  # as no member of a protocol buffer begins
    found, suffix = None if brackets else _protocol_buffer(data, whole), name.rpartition(".")[2].lower()
    if found is not None or is_binary(data):
        return found or (CUT if suffix == "onnx" else BINARY)
    text = start.decode("utf-8", "replace")
    if _JSON.match(text):
        return None
    return _SUFFIXES.get(suffix) or (CPP if _CPP.search(text) else PYTHON if _PYTHON.search(text) else None)


def is_onnx(path: str) -> bool:
    """Whether a file begins as an ONNX model does."""
    try:
        with open_regular(path) as stream:
            start = stream.read(START)
    except (OSError, ValueError):
        return False
    if start[:1] not in _FIRST:
        return False
    return kind_of(path, start, graph=is_flatbuffer(start), whole=len(start) < START) is ONNX


# The members of ONNX's ModelProto and of TensorFlow's GraphDef and SavedModel: numbers and types on the wire.
_ONNX: Final = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
_FIRST: Final = {bytes([number << 3 | wire if number < 16 else number << 3 & 0x7F | 0x80 | wire])
                 for number, wire in _ONNX.items()}  # fmt: skip
"""The bytes that such a file may begin with."""
_GRAPH_DEF: Final = {1: 2, 2: 2, 3: 0, 4: 2}
_SAVED_MODEL: Final = {1: 0, 2: 2}
_MOST: Final = 10_000
"""Members of a protocol buffer that are looked at."""


def _protocol_buffer(data: bytes, whole: bool) -> Kind | None:
    members = list(_members(data, whole))
    if not members or members[-1] is None:
        return None
    found = {member for member in members if member is not None}
    if (7, 2) in found and all(_ONNX.get(number) == wire for number, wire in found):
        return ONNX
    graph_def = (1, 2) in found and all(_GRAPH_DEF.get(number) == wire for number, wire in found)
    saved = found == {*_SAVED_MODEL.items()}
    return TENSORFLOW if saved or (graph_def and b"\0" in data[:4096]) else None


def _members(data: bytes, whole: bool) -> Iterator[tuple[int, int] | None]:
    """The number and the wire type of each member at the top of a protocol buffer; None at the end of what is none."""
    from dmlcy._frontends.onnx.wire import Damage, varint  # here: of files that are no text

    at = 0
    for _ in range(_MOST):
        if at == len(data):
            return
        try:
            tag, at = varint(data, at, len(data))
            number, wire = tag >> 3, tag & 7
            size, at = varint(data, at, len(data)) if wire in (0, 2) else (0, at)
        except Damage as damage:
            if whole or str(damage) != "end":
                yield None
            return
        at += size if wire == 2 else 0
        if not whole and wire == 2 and at > len(data):  # the member goes on behind the first bytes
            yield number, wire
            return
        if wire not in (0, 2) or not number or at > len(data):
            yield None
            return
        yield number, wire
