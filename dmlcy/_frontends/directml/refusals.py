"""Errors for programs of PyDirectML, with the ids of graphs."""

from __future__ import annotations

from typing import NoReturn

from dmlcy._errors import raise_violations
from dmlcy._graph.model import Structure
from dmlcy._graph.violations import made

NOTHING = Structure((), (), (), ())


def refuse(function: str, slug: str, hint: str = "", **values: object) -> NoReturn:
    """Raises the violation DML-GRAPH-<slug>."""
    raise_violations([made(NOTHING, slug, "graph", None, values, hint=hint)], function)
