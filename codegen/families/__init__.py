"""The families: a folder for each, found by its name, with its contract, its loops and how a desc becomes arguments."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from .base import Family

FAMILIES: Final[dict[str, Family]] = {
    folder.name: import_module(f".{folder.name}.family", __name__).FAMILY
    for folder in iter_modules(__path__)
    if folder.ispkg
}
"""The families by name."""

__all__ = ["FAMILIES", "Family"]
