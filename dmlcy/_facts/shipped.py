"""The specs that come with the package, one TOML file per operator with its groups merged in: read when asked for."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["folder", "operator", "read"]


def folder() -> Traversable:
    """Where the files are."""
    from importlib.resources import files  # here, for the sake of the time that `import dmlcy` takes

    return files("dmlcy._generated") / "specs"


@cache
def _parsed(name: str) -> dict[str, object]:
    """The tables of a file, which is parsed once: an explanation asks for those of one operator several times."""
    import tomllib

    return tomllib.loads(folder().joinpath(name).read_text(encoding="utf-8"))


def read(name: str) -> dict[str, Any]:
    """The tables of a file, as an object of the caller's own."""
    return deepcopy(_parsed(name))


def operator(name: str) -> dict[str, Any]:
    """All facts of an operator, by its name in DirectML."""
    return read(f"operators/{name.lower()}.toml")
