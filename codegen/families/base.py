"""The methods that every family offers to ``plan``, and the reader of ``[kernel]`` that they share."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from ..diagnostics import Diagnostics, did_you_mean
from ..expr.composed import written_out
from ..expr.cython import Cython
from ..expr.nodes import ExprError, Node, NotCompiled
from ..expr.numbers import numbers
from ..expr.parse import parse
from ..expr.python import python
from ..expr.text import formula
from ..expr.types import Interval, Kind, Scope, Symbol, kind_of
from ..field_types import type_of
from ..model import DTYPE_ENUM, Facts, Operator
from ..names import constant
from ..source import Table

C_TYPES = {"FLOAT32": "float", "FLOAT16": "uint16_t", "FLOAT64": "double"}

OUTPUT_NAMES: Mapping[str, tuple[Kind, str]] = {
    "integers": (Kind.BOOL, "whether the elements of the output are integers"),
    "least": (Kind.FLOAT, "the least number of the data type of the output"),
    "bits": (Kind.INT, "the number of bits of an element of the output"),
}
"""Names of the output's data type that every condition of an interpretation may read, with their meaning."""

Place = tuple[int, ...]  # of an element of a tensor, one index per axis


@dataclass(frozen=True, slots=True)
class KernelFormula:
    """An expression of ``[kernel]``: its text, and what its names mean.

    ``node`` has formulas in place of the functions that are formulas of others, ``loops`` these functions.
    """

    text: str
    node: Node
    scope: Scope
    loops: Node

    @property
    def python(self) -> str:
        """The expression over Python's numbers."""
        return python(self.node, self.scope)

    @property
    def numbers(self) -> str:
        """The expression over an arithmetic of the package."""
        return numbers(self.node, self.scope)


@dataclass(frozen=True, slots=True)
class Definition:
    """The content of ``[kernel]``, for the package: the reference is made of it.

    ``roles`` maps roles to fields and lets, ``words`` keys to what is no expression (patterns, data types), and
    ``formulas`` keys to expressions; the keys are those of ``[kernel]``, dotted. ``lacks`` has what keeps the loops of
    the family from computing it, a clause each.
    """

    roles: dict[str, str]
    words: dict[str, str]
    formulas: dict[str, KernelFormula]
    lacks: list[str] = field(default_factory=list)


class Use(Protocol):
    """One use of an operator, an example: what its names stand for."""

    input: str  # the first tensors
    output: str

    def sizes(self, tensor: str) -> Place:
        """The sizes of a tensor."""

    def element(self, tensor: str, place: Place) -> Any:
        """An element of a tensor."""

    def has(self, name: str) -> bool:
        """Whether a field has a value."""

    def value(self, name: str) -> Any:
        """The value of a field, or of a let without an index."""

    def values(self, name: str, count: int) -> Sequence[int]:
        """The entries of an array, or the values of a let that has an index."""

    def of(self, key: str, **names: Any) -> Any:
        """The value of an expression of ``[kernel]``, over the names that the family reserves."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of some tensors that a picture frames: the first and the last place of it in each; its label may be ""."""

    label: str
    parts: Mapping[str, tuple[Place, Place]]


@dataclass(frozen=True, slots=True)
class Picture:
    """The moves of elements in one use of an operator.

    ``sources`` has, for each element of the output, the elements of the input that it is made of; those outside it are
    padding, which holds ``padding`` (None: nothing). Elements of the output with the same ``key`` are shown together;
    those in ``outside`` are padding. ``worked`` says how an element is computed, ``caption`` how to read the picture,
    in sentences. ``tensor`` is the input, and ``output`` the output, whose elements these are: by default the first.
    ``beside`` has, for other inputs that choose what happens, their elements by the key of those for which they do.
    Other outputs in it are drawn too, with their elements by the key of the elements that are shown with them.
    """

    caption: tuple[str, ...]
    sources: Mapping[Place, tuple[Place, ...]]
    keys: Mapping[Place, Hashable]
    padding: Any = None
    outside: frozenset[Place] = frozenset()
    regions: tuple[Region, ...] = ()
    worked: Mapping[Place, str] = field(default_factory=dict)
    tensor: str = ""
    output: str = ""
    beside: Mapping[str, Mapping[Hashable, tuple[Place, ...]]] = field(default_factory=dict)


class Family(Protocol):
    """Operators that are computed alike. ``name`` is that of its folder beside this file."""

    name: str
    told: ClassVar[Mapping[str, tuple[Kind, str]]]

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> Any:
        """The content of ``[kernel]`` of one operator: an object with a Definition, for the run template if there is
        one.
        """

    def names_of_conditions(self, operator: Operator, facts: Facts) -> Mapping[str, Symbol]:
        """The names that conditions of interpretations may read beside attributes and the data type of the output."""

    def pieces(self, kernel: Any) -> str | None:
        """Along which axes other than the independent ones a call can be cut, into pieces that read over their ends."""

    def picture(self, kernel: Any, use: Use) -> Picture | None:
        """The moves of elements in one use of an operator of the family; None: each element is by itself."""


class Loops(Family, Protocol):
    """A family with loops in Cython: its folder has ``run.pyx.j2``, and its name is that of an extension module.

    ``takes_arrays``: its loops take arrays of tensors; ``takes_halves``: and elements of 4 bits.
    """

    takes_arrays: bool
    takes_halves: bool

    def covers(self, operator: Operator, kernel: Any) -> str | None:
        """Why no loops for the kernel can be generated, in a clause; None: they can be."""

    def needs(self, kernel: Any) -> Sequence[str]:
        """Lets that the kernel reads."""

    def prepared(self, kernel: Any) -> Sequence[str]:
        """The inputs of which the loops can make something once, for many calls; its run template has a function."""

    def module(self, kernels: Sequence[Any]) -> Mapping[str, Any]:
        """The values that the kernel template of the module gets."""


@dataclass(frozen=True, slots=True)
class Told:
    """The content of ``[kernel]`` of an operator, for a family that has no loops."""

    definition: Definition


class Conditioned:
    """The names that conditions of interpretations read in most families: the elements of inputs in any(), all(),
    idle().

    ``told`` has names of numbers and conditions that the family of the package tells of each element of an output,
    with their meaning.
    """

    told: ClassVar[Mapping[str, tuple[Kind, str]]] = {}

    def names_of_conditions(self, operator: Operator, facts: Facts) -> Mapping[str, Symbol]:
        """The elements of each input by its name, and what the family tells."""
        elements = {field.python: local(Kind.ELEMENTS) for field in operator.inputs if not type_of(field).several}
        return {**elements, **{name: local(kind) for name, (kind, _) in self.told.items()}}


class Looped(Conditioned):
    """The answers of most families with loops."""

    takes_arrays = takes_halves = False

    def covers(self, operator: Operator, kernel: Any) -> str | None:
        """The problems that were found when ``[kernel]`` was read."""
        lacks: Sequence[str] = kernel.definition.lacks
        return lacks[0] if lacks else None

    def prepared(self, kernel: Any) -> Sequence[str]:
        """None."""
        return ()


class Evaluated(Conditioned):
    """The answers of most families without loops."""

    def pieces(self, kernel: Any) -> str | None:
        """No axis."""
        return None

    def picture(self, kernel: Any, use: Use) -> Picture | None:
        """No figure."""
        return None


class Moved(Looped):
    """The answers of families that only move elements: all of their loops are in the runtime."""

    def module(self, kernels: Sequence[Any]) -> Mapping[str, Any]:
        """Nothing."""
        return {}


class KernelTable:
    """The ``[kernel]`` table of one operator; every role is a field or a let, named by default like the role."""

    def __init__(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> None:
        self.operator = operator
        self.facts = facts
        self.diagnostics = diagnostics
        self.table: Table | None = operator.kernel
        self.definition = Definition({}, {}, {})
        if self.table is not None:  # the problems of loading are reported already
            self.table.document.diagnostics = diagnostics

    def role(self, key: str, default: str, *kinds: Kind) -> str:
        """The field or let that plays a role."""
        name = default if self.table is None else self.table.str(key, default)
        symbol = self.operator.scope.get(name)
        if symbol is None or symbol.kind not in kinds:
            self.error(
                key,
                f"the role {key} of family {self.operator.family} takes {kinds[0].value}: {name!r} is none",
                did_you_mean(name, self.operator.scope),
            )
        self.definition.roles[key] = name
        return name

    def padding(self) -> str:
        """The field that is the padding before each axis; the one after it is of use to the package only."""
        self.role("end", "end_padding", Kind.VECTOR)
        return self.role("start", "start_padding", Kind.VECTOR)

    def word(self, key: str, value: str) -> str:
        """Notes what a key of ``[kernel]`` says that is no expression."""
        self.definition.words[key] = value
        return value

    def error(self, key: str, message: str, hint: str | None = None) -> None:
        """A problem of ``[kernel]``."""
        if self.table is not None and self.table.has(key):
            self.table.error(key, message, hint)
        else:
            self.diagnostics.error(self.operator.fields[0].span, f"{self.operator.name}: {message}", hint)

    def lack(self, clause: str) -> None:
        """Notes what keeps the loops of the family from computing the operator."""
        self.definition.lacks.append(clause)

    def table_of(self, key: str) -> Table | None:
        """A sub-table of ``[kernel]``."""
        return None if self.table is None else self.table.table(key)

    def members(self, field: str) -> Mapping[str, str]:
        """The Cython constants of the members of the enum that types a field, by their names."""
        enum = next((known.enum for known in self.operator.fields if known.python == field), None)
        if enum is None or enum == DTYPE_ENUM:
            return {}
        return {member.name: constant(self.facts.enums[enum], member.name) for member in self.facts.enums[enum].members}

    def accumulators(
        self, table: Table, choices: Collection[str], known: Collection[str] = tuple(C_TYPES)
    ) -> Iterator[tuple[str, str]]:
        """``acc``: for each data type of the tensors the one in which its elements are reduced."""
        acc = table.table("acc", required=True)
        if acc is None:
            return
        given = acc.keys()
        every = [dtype.name for dtype in self.facts.dtypes]
        dtypes = {dtype for rows in self.operator.types.values() for row in rows for dtype in row.dtypes}
        for dtype in given:
            found = acc.choice(dtype, choices)
            if dtype not in every:
                acc.error(dtype, f"there is no data type {dtype}", did_you_mean(dtype, every))
            elif dtype in dtypes:
                self.word(f"acc.{dtype}", found)
                if dtype in known:
                    yield dtype, found
                else:
                    self.lack(f"family {self.operator.family} has none for {dtype}")
        for dtype in sorted(dtypes - {*given}):
            self.error("acc", f"acc has no {dtype}, which [types] has")

    def expression(
        self, table: Table, key: str, locals_: Mapping[str, Symbol], kind: Kind, cython: Cython | None = None
    ) -> tuple[Node, str]:
        """An expression of ``[kernel]`` over local names and attributes, as Cython."""
        found = self.formula(table, key, locals_, kind)
        if found is None:
            return parse("0"), "0"
        node, scope = found
        renderer = cython or Cython(scope, place="")
        renderer.scope = scope
        try:
            return node, renderer.expression(node)
        except NotCompiled as error:
            self.lack(f"in {key}, {error.message}")
            return parse("0"), "0"
        except ExprError as error:
            self.wrong(table, key, error)
            return parse("0"), "0"

    def wrong(self, table: Table, key: str, error: ExprError) -> None:
        """An error of an expression, at its place inside the string."""
        span = table.span(key).inside(table.str(key), error.at, error.length)
        self.diagnostics.error(span, error.message, error.hint)

    def formula(
        self, table: Table, key: str, locals_: Mapping[str, Symbol], *kinds: Kind
    ) -> tuple[Node, dict[str, Symbol]] | None:
        """An expression of ``[kernel]`` over local names and attributes, which the reference evaluates; its names."""
        text = table.str(key)
        if not table.has(key):
            return None
        scalars = (Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.TENSOR, Kind.ENUM)
        fields = {
            name: symbol for name, symbol in self.operator.scope.items()
            if symbol.role == "field" and symbol.kind in scalars
        }  # fmt: skip
        scope = {**fields, **locals_}
        try:
            node = parse(text)
            found = kind_of(node, scope)
            if found not in kinds and not (kinds[0] is Kind.FLOAT and found is Kind.INT):
                raise ExprError(f"expected {kinds[0].value}, found {found.value}", 0, len(text))
            # An element of a tensor is one of the numbers that the reference is given, not one of an array.
            given = {n: local(Kind.VECTOR) if s.kind is Kind.TENSOR else s for n, s in scope.items()}
            path = ".".join(str(step) for step in (*table.path[1:], key))
            plain = written_out(node)
            self.definition.formulas[path] = KernelFormula(formula(plain), plain, given, node)
            return node, scope
        except ExprError as error:
            self.wrong(table, key, error)
            return None

    def fused(self) -> None:
        """``fused``: the field of the activation of the results, if there is one."""
        if self.table is not None and self.table.has("fused"):
            self.role("fused", "", Kind.OPERATOR)

    def absent(self, *kinds: Kind) -> None:
        """``absent``: what stands for the elements of each input that may be left out."""
        inner = self.table.table("absent") if self.table is not None and self.table.has("absent") else None
        if inner is not None:
            for name in inner.keys():
                self.formula(inner, name, {}, *kinds)
            inner.finish()

    def finish(self) -> None:
        """Reports keys that the family does not know."""
        if self.table is not None:
            self.table.finish()


def local(kind: Kind, low: int | None = None, high: int | None = None) -> Symbol:
    """A reserved name of a kernel expression."""
    return Symbol(kind, "local", Interval(low, high))


def attribute_locals(operator: Operator) -> tuple[tuple[str, str], ...]:
    """The scalar attributes that kernel expressions may read, as (C type, name)."""
    found = [(type_of(field).variable, field.python) for field in operator.attributes]
    return tuple((ctype, name) for ctype, name in found if ctype is not None)


def grid(sizes: Sequence[int]) -> Iterator[Place]:
    """Every place of a tensor, in row-major order."""
    return itertools.product(*map(range, sizes))


def inside(place: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether a place is one of a tensor of these sizes."""
    return all(0 <= index < size for index, size in zip(place, sizes, strict=True))


def spread(number: int, sizes: Sequence[int]) -> Place:
    """The place of the element of that number, in row-major order."""
    place: list[int] = []
    for size in reversed(sizes):
        number, index = divmod(number, size)
        place.insert(0, index)
    return tuple(place)


def joined(place: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of the element at a place, in row-major order."""
    number = 0
    for index, size in zip(place, sizes, strict=True):
        number = number * size + index
    return number


def lines(places: Iterable[Place], axes: Collection[int]) -> dict[Place, list[Place]]:
    """Places by the line that they are on: those of a line differ along these axes only."""
    found: dict[Place, list[Place]] = {}
    for place in places:
        found.setdefault(tuple(0 if axis in axes else at for axis, at in enumerate(place)), []).append(place)
    return found


def shown(value: Any) -> str:
    """A number as a picture has it: short."""
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
