"""Values of a model by their names, from the files of other programs: .npz, a folder of .npy, polygraphy's JSON."""

from __future__ import annotations

import base64
import binascii
import json
from io import BytesIO
from pathlib import Path
from typing import Final, NoReturn
from zipfile import BadZipFile, ZipFile

import numpy as np

from dmlcy._errors import ModelError
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.problems import make, whole
from dmlcy._runtime.memory import require
from dmlcy._types import Array

SUFFIX: Final = ".npy"
_DEEPEST: Final = 32


def read_values(path: Path) -> dict[str, Array]:
    """The values in a file or a folder; ModelError for what has none."""
    if path.is_dir():
        found = {}
        for file in sorted(path.rglob(f"*{SUFFIX}")):
            name = file.relative_to(path).as_posix().removesuffix(SUFFIX)
            found[name] = _array(str(file), file.read_bytes())
        return found
    try:
        with open_regular(path) as stream:
            start = stream.read(4)
    except (OSError, ValueError) as error:
        _refuse(str(path), getattr(error, "strerror", None) or str(error))
    return _of_json(path) if start.lstrip()[:1] in (b"{", b"[") else _of_archive(path)


def _of_archive(path: Path) -> dict[str, Array]:
    found = {}
    try:
        with ZipFile(path) as archive:
            members = [one for one in archive.infolist() if one.filename.endswith(SUFFIX)]
            require(sum(one.file_size for one in members))
            for one in members:
                found[one.filename.removesuffix(SUFFIX)] = _array(f"{path}: {one.filename}", archive.read(one))
    except (BadZipFile, OSError, ValueError, RuntimeError, EOFError, NotImplementedError) as error:
        if isinstance(error, ModelError):
            raise
        _refuse(str(path), str(error) or type(error).__name__)
    return found


def _array(name: str, data: bytes) -> Array:
    try:
        found: Array = np.load(BytesIO(data), allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TypeError, MemoryError, OverflowError) as error:
        _refuse(name, str(error).splitlines()[0] if str(error) else type(error).__name__)
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def _of_json(path: Path) -> dict[str, Array]:
    """The arrays that polygraphy saves in base 64, by name, of the first runner and the first iteration."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        _refuse(str(path), str(error))
    named = _named(document, 0)
    if named is None:
        _refuse(str(path), "it has no arrays by names, as polygraphy saves them")
    return named


def _named(value: object, depth: int) -> dict[str, Array] | None:
    """The first object whose members are arrays."""
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return None
    if isinstance(value, dict):
        arrays = {name: data for name, one in value.items() if (data := _encoded(one, depth)) is not None}
        if arrays:
            return {name: _array(name, data) for name, data in arrays.items()}
    for one in value.values() if isinstance(value, dict) else value:
        found = _named(one, depth + 1)
        if found is not None:
            return found
    return None


def _encoded(value: object, depth: int) -> bytes | None:
    """The bytes of an array, which polygraphy may put into an object of its own."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None
    text = value.get("array")
    if isinstance(text, str):
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return None
    inner = value.get("values", text)
    return _encoded(inner, depth + 1) if isinstance(inner, dict) else None


def _refuse(path: str, why: str) -> NoReturn:
    raise ModelError([make("DML-MODEL-actual", whole(path), {"path": path, "why": why}).violation]) from None
