"""The operators measured: their cells, and how each library does their work. A family is a module of its name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from benchmarks.cells import Cell
from benchmarks.families.base import Operator

_MODULES = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__) if found.name != "base"]
OPERATORS: dict[str, Operator] = {  # in the order of the page
    operator.name: operator
    for module in sorted(_MODULES, key=lambda module: (module.PAGE, module.__name__))
    for operator in module.OPERATORS
}


def all_cells() -> list[Cell]:
    """The grid."""
    return [cell for operator in OPERATORS.values() for cell in operator.cells]
