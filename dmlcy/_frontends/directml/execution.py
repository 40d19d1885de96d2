"""How the graphs of programs are made and compiled. ``instead`` puts another way in place, such as that of a lint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from dmlcy._compile import compile as compile_desc
from dmlcy._graph.build import Graph
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.plan import Plan
from dmlcy._types import Array


class Compiled(Protocol):
    """The part of a compiled graph that programs use."""

    @property
    def owned(self) -> tuple[str, ...]:
        """The names of the inputs that are given once."""

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the inputs of a call."""

    def initialize(self, /, *arrays: object, **by_name: object) -> None:
        """Takes the inputs that are given once."""

    def own(self, given: Mapping[str, object], copy: bool) -> None:
        """Takes the inputs that are given once, without a check."""

    def plan(self) -> Plan:
        """The memory of a call."""

    def __call__(self, /, *arrays: object, **by_name: object) -> Array | tuple[Array, ...]:
        """The output, or the outputs."""


class Execution:
    """Graphs that raise their violations, and are compiled to run."""

    computes: bool = True
    """Whether the elements of arrays matter."""

    def graph(self) -> Graph:
        """A graph whose nodes the expressions of a program are."""
        return Graph()

    def compiled(self, structure: GraphDesc) -> Compiled:
        """A compiled graph, or an object in its place."""
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
