"""The families: a folder for each, found by its name, with its contract, its loops and how a desc becomes arguments."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from ..names import has_loops
from .base import Family, Loops

FAMILIES: Final[dict[str, Any]] = {
    folder.name: import_module(f".{folder.name}.family", __name__).FAMILY
    for folder in iter_modules(__path__)
    if folder.ispkg
}
"""The families by name."""

LOOPS: Final[dict[str, Loops]] = {name: family for name, family in FAMILIES.items() if has_loops(name)}
"""The families that have loops in Cython; the operators of the others run by the reference."""

__all__ = ["FAMILIES", "LOOPS", "Family", "Loops"]
