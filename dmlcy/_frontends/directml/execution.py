"""How the graphs of programs are made and compiled. ``instead`` puts another way in place, such as that of a lint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dmlcy._compile import compile as compile_desc
from dmlcy._graph.build import Graph
from dmlcy._graph.graph_desc import GraphDesc


class Execution:
    """Graphs that raise their violations, and are compiled to run."""

    computes: bool = True
    """Whether the elements of arrays matter."""

    def graph(self) -> Graph:
        """A graph whose nodes the expressions of a program are."""
        return Graph()

    def compiled(self, structure: GraphDesc) -> Any:
        """An object with the methods of a compiled graph: ``initialize``, ``own``, ``plan`` and a call."""
        return compile_desc(structure)

    def is_unknown(self, data: object) -> bool:
        """Whether ``data`` stands for an array of which nothing is known: it has the sizes of the tensor it is for."""
        return False


_chosen = Execution()


def current() -> Execution:
    """The way in force, for all threads."""
    return _chosen


@contextmanager
def instead(other: Execution) -> Iterator[None]:
    """Within this context, programs run this way."""
    global _chosen
    before, _chosen = _chosen, other
    try:
        yield
    finally:
        _chosen = before
