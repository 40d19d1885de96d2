"""The nodes of an expression. Immutable; ``at`` and ``length`` say where in the text a node is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

UINT_MAX = 2**32 - 1


class ExprError(Exception):
    """A fault of an expression, and its place in the text."""

    def __init__(self, message: str, at: int = 0, length: int = 1, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.length = length
        self.hint = hint


class NotCompiled(ExprError):
    """An expression is right, and no compiled code computes it yet."""


NAMES: dict[type[Node], tuple[str, ...]] = {}
"""The names of the members by class, of the classes that were asked for."""


def names_of(node: Node) -> tuple[str, ...]:
    """The names of the members of a node's class."""
    cls = type(node)
    if cls not in NAMES:
        NAMES[cls] = tuple(item.name for item in fields(cls))
    return NAMES[cls]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of all nodes; equality ignores the position."""

    at: int = field(default=0, compare=False)
    length: int = field(default=1, compare=False)

    def children(self) -> Iterator[Node]:
        """The nodes directly below this one, in order."""
        name: str
        for name in self.__match_args__:  # of a dataclass all that is not only a keyword
            value = getattr(self, name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from (part for part in value if isinstance(part, Node))

    def walk(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for child in self.children():
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Number(Node):
    """An integer or a float."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Text(Node):
    """The name of an enum member or of a dtype."""

    value: str


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A field, a let, an index or a reserved name."""

    id: str


@dataclass(frozen=True, slots=True)
class Negate(Node):
    """``-x``"""

    operand: Node


@dataclass(frozen=True, slots=True)
class Not(Node):
    """``not x``"""

    operand: Node


@dataclass(frozen=True, slots=True)
class Arith(Node):
    """``left op right`` with + - * // % /"""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """``left op right`` with == != < <= > >="""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """``a and b and …`` or ``a or b or …``"""

    op: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Within(Node):
    """``x in (a, b, …)``"""

    item: Node
    choices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """``then if test else other``"""

    test: Node
    then: Node
    other: Node


@dataclass(frozen=True, slots=True)
class Index(Node):
    """``base[i]``, or ``base[i, j, …]`` for the elements of a tensor"""

    base: Node
    indices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Member(Node):
    """``size.Width`` and ``size.Height``"""

    base: Node
    name: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """``function(a, b, …)``"""

    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Each(Node):
    """``function(body for variable in count)``: variable takes 0 … count - 1"""

    function: str
    body: Node
    variable: str
    count: Node


@dataclass(frozen=True, slots=True)
class Splat(Node):
    """``*vector`` inside a list"""

    operand: Node


@dataclass(frozen=True, slots=True)
class Sizes(Node):
    """``[a, b, *vector]``"""

    items: tuple[Node, ...]


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """``node`` with ``change`` of each of its parts in its place, from the innermost on, and of itself."""
    parts: dict[str, Any] = {}
    for each in names_of(node):
        child = getattr(node, each)
        if isinstance(child, Node):
            parts[each] = rebuilt(child, change)
        elif isinstance(child, tuple):
            parts[each] = tuple(rebuilt(part, change) for part in child)
    return change(replace(node, **parts) if parts else node)


def substitute(node: Node, name: str, value: Node) -> Node:
    """``node`` with the name ``name`` replaced by ``value``."""
    return filled(node, {name: value})


def filled(node: Node, values: Mapping[str, Node]) -> Node:
    """``node`` with these nodes in place of these names."""
    return rebuilt(node, lambda part: values.get(part.id, part) if isinstance(part, Name) else part)
