"""Files of weights that are not there: their arrays have the sizes of the tensors that they are for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, NoReturn

import numpy as np

from dmlcy._types import Array

_SAME: Final = ("astype", "copy", "flatten", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "view")
"""Methods whose result holds elements of the same file."""
_READERS: Final = {
    "load": ("file",),
    "loadtxt": ("fname",),
    "genfromtxt": ("fname",),
    "fromfile": ("file", "dtype", "count"),
}
"""The readers of NumPy, and the names of their first parameters."""


class MissingFileError(FileNotFoundError):
    """A program asks for what only a missing file says. ``path``: the file; ``what``: what was asked for."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path} is missing, and the program asks for {what}")
        self.path, self.what = path, what


class Missing:
    """The array of a missing file, or the arrays: a tensor takes it, and nothing else knows what it is."""

    __array_ufunc__ = None

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def T(self) -> Missing:
        """The same elements in another order."""
        return self

    def __getitem__(self, key: object) -> Missing:
        return self

    def __getattr__(self, name: str) -> Callable[..., Missing]:
        if name in _SAME:
            return lambda *_, **__: self
        if name.startswith("__"):
            raise AttributeError(name)
        self._ask(f"its {name}")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        self._ask("its elements")

    def __len__(self) -> int:
        self._ask("its length")

    def __iter__(self) -> Iterator[object]:
        self._ask("its elements")

    def _ask(self, what: str) -> NoReturn:
        raise MissingFileError(self._path, what)


@contextmanager
def replaced() -> Iterator[None]:
    """Within this context, NumPy's readers give something for missing files."""
    known = {name: getattr(np, name) for name in _READERS}
    for name, parameters in _READERS.items():
        setattr(np, name, _reader(known[name], parameters))
    try:
        yield
    finally:
        for name, function in known.items():
            setattr(np, name, function)


def _reader(known: Callable[..., object], parameters: tuple[str, ...]) -> Callable[..., object]:
    @wraps(known, updated=())
    def read(*arguments: object, **named: object) -> object:
        given = {**dict(zip(parameters, arguments, strict=False)), **named}
        path = given.get(parameters[0])
        if isinstance(path, str | os.PathLike) and not os.path.exists(path):
            return _stand_in(os.fspath(path), given)
        return known(*arguments, **named)

    return read


def _stand_in(path: str, given: Mapping[str, Any]) -> Missing | Array:
    """Zeros where the call says how many elements it reads."""
    count = given.get("count", -1)
    return Missing(path) if count < 0 else np.zeros(count, given.get("dtype", float))
