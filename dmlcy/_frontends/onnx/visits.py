"""The facts of a value of a model, and the outcome of a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from weakref import ref

from dmlcy._frontends.onnx.model import Node, Sizes
from dmlcy._frontends.onnx.tables import OperatorRow, Version
from dmlcy._frontends.onnx.use import Unconverted
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._types import Array

Fate: TypeAlias = Literal["converted", "folded", "view", "inside", "computed", "unknown"]
Path: TypeAlias = tuple[tuple[Node, str], ...]
"""The nodes that a node is inside of, each with the name of the attribute, or of the function."""


def key_of(path: Path, name: str) -> str:
    """The name of a value in all of the model: graphs inside of two nodes may have the same names."""
    return "\0".join([*(f"{node.number} {text}" for node, text in path), name])


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The facts that a run knows of values by their keys: elements, and data types and sizes of values to be fed.

    ``replaced``: the initializers in whose place the caller gives an input. ``foreign``: what of the others another
    program has computed.
    """

    computed: Mapping[str, tuple[Array, str]] = field(default_factory=dict)
    fed: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()


NOTHING: Final = Given()


@dataclass(slots=True, eq=False, repr=False)
class Known:
    """The facts of a value: its data type, its sizes, and where both are whole the value itself."""

    element: str | None = None
    sizes: Sizes | None = None
    value: OnnxValue | None = None
    giver: ref[Visit] | None = None  # the node that gives it; None: an input, or an initializer

    @property
    def source(self) -> Visit | None:
        """The node that gives the value, which knows the value itself: its walk keeps it."""
        return None if self.giver is None else self.giver()

    @property
    def is_constant(self) -> bool:
        """Whether the elements are known before the model runs."""
        return self.value is not None and self.value.is_constant

    def take(self, value: OnnxValue) -> None:
        """The value is known."""
        self.element, self.sizes, self.value = value.element, value.sizes, value


@dataclass(eq=False, repr=False)  # without slots: values refer to it weakly
class Visit:
    """A node, and its outcome.

    ``fate``: "converted" to DirectML nodes, "folded" to constants, only a "view" of its input, "computed" by an earlier
    part of a run, or "inside". Nodes of an "inside" node are visited in its place (the branch of an If, a function).
    The last fate is "unknown", for which ``problems`` may say why.
    """

    node: Node
    path: Path
    row: OperatorRow | None
    version: Version | None
    inputs: tuple[Known | None, ...]
    outputs: tuple[Known, ...] = ()
    fate: Fate = "unknown"
    made: range = range(0)  # the numbers of the DirectML nodes
    kinds: tuple[str, ...] = ()  # and their operators
    problems: list[Unconverted] = field(default_factory=list)
    inner: list[Visit] = field(default_factory=list)  # the nodes of its graphs, or of its function

    @property
    def is_constant(self) -> bool:
        """Whether all inputs are constants."""
        return all(one is None or one.is_constant for one in self.inputs)

    @property
    def is_unmade(self) -> bool:
        """Whether the node would become nodes of DirectML, but its sizes are not known."""
        return self.fate == "unknown" and self.row is not None and bool(self.row.becomes)

    @property
    def steps(self) -> tuple[Node | str, ...]:
        """The way to the node: the nodes that it is inside of, each with the attribute, and the node."""
        return (*(step for outer in self.path for step in outer), self.node)

    def all(self) -> Iterator[Visit]:
        """The visit, and those of the nodes inside it."""
        yield self
        for one in self.inner:
            yield from one.all()
