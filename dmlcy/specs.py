"""The specs as plain data: what DirectML's levels, data types, enums and operators are, for bindings and back ends.

The facts are TOML files that come with the package. Each function reads them anew, so that what it returns is the
caller's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dmlcy._names import known_operator
from dmlcy._tables import OPERATORS

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["catalogue", "dtypes", "enums", "errors", "files", "levels", "operator", "operators"]


def operators() -> tuple[str, ...]:
    """Names of the operators that are built, such as ``"PADDING1"``."""
    return tuple(OPERATORS)


def operator(name: str) -> dict[str, Any]:
    """All facts of an operator that is built: its file ``operators/<name>.toml``.

    Parameters
    ----------
    name
        ``"PADDING1"``, ``"DML_OPERATOR_PADDING1"``, ``"padding1"`` or ``"Padding1"``.

    Raises
    ------
    ModelError
        No operator has that name, or the one that has it is not built yet.
    """
    return _read(f"operators/{known_operator(name).name.lower()}.toml")


def levels() -> dict[str, dict[str, Any]]:
    """The feature levels by name (``"5_0"``), oldest first."""
    return _by("name", _read("levels.toml")["level"])


def dtypes() -> dict[str, dict[str, Any]]:
    """The tensor data types by name (``"FLOAT32"``)."""
    return _by("name", _read("dtypes.toml")["dtype"])


def enums() -> dict[str, dict[str, Any]]:
    """The enums by DirectML's name (``"DML_PADDING_MODE"``), with their members."""
    return _by("name", _read("enums.toml")["enum"])


def catalogue() -> dict[str, dict[str, Any]]:
    """Every operator of DirectML by name, built here or not, with the fields of its struct."""
    return _by("name", _read("catalogue.toml")["operator"])


def errors() -> dict[str, dict[str, Any]]:
    """The errors that no rule declares: by slug (``"dtype"``) those of a field, by id those of a model file."""
    fields = _read("errors.toml")
    models = [*fields.get("model", []), *_read("model_errors.toml")["model"]]
    return _by("slug", fields["implicit"]) | _by("id", models)


def files() -> dict[str, Traversable]:
    """The files by relative name (``"operators/padding1.toml"``, ``"ids.lock"``), for their text."""
    return dict(sorted(_walk("", _root())))


def _root() -> Traversable:
    from importlib.resources import files  # here, for the sake of the time that `import dmlcy` takes

    return files("dmlcy._generated") / "specs"


def _walk(prefix: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(f"{prefix}{entry.name}/", entry)
        else:
            yield f"{prefix}{entry.name}", entry


def _read(name: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(_root().joinpath(name).read_text(encoding="utf-8"))


def _by(key: str, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in rows}
