"""What a set of specs says, as frozen data. ``load`` builds it; what cannot be valid cannot be built."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .diagnostics import Span
from .expr.nodes import Call, Index, Name, Node, Sizes, Splat
from .expr.types import INT64_MAX, INT64_MIN, Interval, Kind, Scope, Symbol
from .source import Table

PROVENANCE = ("documented", "header", "observed", "inferred")
ACCURACY_OF = ("result", "magnitudes")
LANGUAGES = ("python", "cpp")
DTYPE_ENUM = "DML_TENSOR_DATA_TYPE"


def snake(name: str) -> str:
    """A DirectML name in snake_case, without the word Tensor at its end: ROITensor -> roi."""
    stem = re.sub(r"(?<=.)Tensors?$", "", name)
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem)
    return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower()


def camel(name: str) -> str:
    """SOME_NAME1 -> SomeName1."""
    return "".join(word.capitalize() for word in name.split("_"))


@dataclass(frozen=True, slots=True)
class Level:
    """A feature level."""

    name: str
    value: int
    directml: str
    max_rank: int
    windows: str | None
    note: str | None
    dxdispatch: bool


@dataclass(frozen=True, slots=True)
class Dtype:
    """A tensor data type."""

    name: str
    value: int
    bits: int
    since: str
    numpy: str | None


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A member of an enum, and the level that brought it; ``also``: what other libraries call it."""

    name: str
    value: int
    since: str
    doc: str
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Enum:
    """A DirectML enum."""

    name: str
    prefix: str
    python: str
    flags: bool
    since: str
    source: str | None
    note: str | None
    members: tuple[EnumMember, ...]


@dataclass(frozen=True, slots=True)
class CatalogueField:
    """A member of an operator's struct, as the header declares it."""

    name: str
    kind: str
    type: str
    optional: bool


@dataclass(frozen=True, slots=True)
class CatalogueOperator:
    """An operator of DirectML, built here or not."""

    name: str
    value: int
    since: str
    struct: str
    kind: str
    in_place: bool
    source: str
    fields: tuple[CatalogueField, ...]


@dataclass(frozen=True, slots=True)
class ErrorText:
    """An implicit error of fields (``id`` is its slug), or an error of a model file.

    ``breaks`` of the latter: what to change in a valid model to get it, by path; the empty path is the whole text.
    """

    id: str
    error: str
    message: str
    about: str
    applies: tuple[str, ...]
    when: str | None
    breaks: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of DirectML that is neither an operator nor a field of one; ``errors`` are slugs of implicit errors."""

    name: str
    also: tuple[str, ...]
    is_: str
    doc: str
    source: str
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """Another library that has equivalents; ``prelude`` is what their code imports, where it is Python."""

    name: str
    language: str
    needs: tuple[str, ...]
    tested: str | None
    prelude: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is true of all operators."""

    levels: tuple[Level, ...]
    dtypes: tuple[Dtype, ...]
    enums: Mapping[str, Enum]
    catalogue: Mapping[str, CatalogueOperator]
    implicit: tuple[ErrorText, ...]
    model_errors: tuple[ErrorText, ...]
    terms: tuple[Term, ...] = ()
    libraries: tuple[Library, ...] = ()

    def library(self, name: str) -> Library:
        """The library of this name."""
        return next(library for library in self.libraries if library.name == name)

    def level_index(self, name: str) -> int:
        """Position of a level: 0 for 1_0."""
        return next(number for number, level in enumerate(self.levels) if level.name == name)

    def dtype(self, name: str) -> Dtype:
        """The data type of this name."""
        return next(dtype for dtype in self.dtypes if dtype.name == name)


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression of a spec."""

    text: str
    node: Node
    span: Span | None


@dataclass(frozen=True, slots=True)
class DtypeRow:
    """Data types that a level brought."""

    since: str
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankRow:
    """Ranks that a level brought."""

    since: str
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class Field:
    """A member of an operator's struct, with what the spec adds to the catalogue."""

    name: str
    kind: str
    type: str
    optional: bool
    doc: str
    default: Any  # None: the caller gives it
    types: str | None  # tensor: its type variable; scalar union: the field that holds its type
    ranks: str | None
    sizes: Formula | None
    leading_ones: str | None
    length: Formula | None
    minimum: int
    maximum: int
    provenance: str
    value: Formula | None
    infinite: bool  # of a FLOAT: it may be infinite, or not a number
    span: Span | None
    hint: str = ""  # of a tensor whose sizes follow: what to do about others
    axes: tuple[str, ...] = ()  # of a tensor: the names of its axes, for each number of them: N, C, S...

    @property
    def python(self) -> str:
        """The name in Python."""
        return snake(self.name)

    @property
    def is_tensor(self) -> bool:
        """Whether this is an input or an output."""
        return self.kind in ("input", "output")

    @property
    def enum(self) -> str | None:
        """The DirectML name of its enum."""
        return self.type.removeprefix("enum:") if self.type.startswith("enum:") else None

    @property
    def splats(self) -> tuple[str, ...]:
        """The vectors that stand among the sizes of a tensor, by name; "" for what is no name."""
        items = self.items
        return tuple(getattr(item.operand, "id", "") for item in items if isinstance(item, Splat))

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of the formula of its sizes."""
        return self.sizes.node.items if self.sizes is not None and isinstance(self.sizes.node, Sizes) else ()

    @property
    def shape(self) -> str:
        """The word by which specs/errors.toml says what the field is."""
        if self.is_tensor:
            return self.kind
        if self.value is not None and self.enum is None:
            return "count"
        if self.kind == "chosen" and self.length is None:
            return "chosen"
        return "enum" if self.enum else self.type


@dataclass(frozen=True, slots=True)
class Let:
    """A named quantity; with ``index``, one value per index 0 … count - 1."""

    name: str
    index: str | None
    count: Formula | None
    value: Formula
    doc: str
    span: Span | None
    each: str = ""  # of a count: what there is one of, in the singular: axis of input


@dataclass(frozen=True, slots=True)
class Independent:
    """An axis along which the operator can be cut: it gives for slices of its inputs the slices of its output.

    ``axes``: of each tensor that has it, the axis. A slice is of a multiple of ``takes`` elements of an input, each of
    which give ``gives`` elements of the output. With ``index``, one axis per index 0 … count - 1; ``when``: only then.
    """

    doc: str
    index: str | None
    count: Formula | None
    axes: Mapping[str, Formula]
    takes: Formula
    gives: Formula
    when: Formula | None
    span: Span | None

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All of its expressions."""
        some = (self.count, *self.axes.values(), self.takes, self.gives, self.when)
        return tuple(formula for formula in some if formula is not None)


@dataclass(frozen=True, slots=True)
class Same:
    """An older version whose results the operator gives, bit for bit, with these values of attributes."""

    older: str
    given: Mapping[str, object]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on fields, or on the values of a tensor (``data``)."""

    id: str
    about: str
    says: str
    index: str | None
    count: Formula | None
    that: Formula
    hint: str
    fix: Formula | None
    provenance: str
    since: str | None
    until: str | None
    data: bool
    breaks: Mapping[str, Any]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A decision where the documentation is silent or contradicts itself."""

    id: str
    question: str
    choice: str
    evidence: str


@dataclass(frozen=True, slots=True)
class TensorData:
    """A tensor of an example."""

    dtype: str
    sizes: tuple[int, ...]
    data: Any


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: documented (``source``) or derived (``calculation``)."""

    title: str
    source: str | None
    calculation: str | None
    inputs: Mapping[str, TensorData]
    attributes: Mapping[str, Any]
    outputs: Mapping[str, TensorData]
    figure: tuple[tuple[int, ...], ...] | None  # the output elements that the figure follows; None: not in it
    span: Span | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """An expression of Python, and the values that it gives or the exception that it raises."""

    code: str
    gives: Any
    raises: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What another library does otherwise: after ``setup``, the outcome here and there."""

    says: str
    setup: str
    ours: Outcome
    theirs: Outcome


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The same in another library; ``shown`` is a call here and there, after ``setup``, with equal results."""

    library: str
    call: str
    source: str
    note: str
    setup: str
    shown: tuple[Outcome, ...]
    differs: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The largest error of a data type, in units in the last place of ``of``; ``ulp`` may read fields and lets.

    ``of`` is one of ACCURACY_OF: the result, or what the operator gives for the absolute values of its inputs.
    """

    dtype: str
    ulp: Formula
    of: str
    span: Span


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator, its groups included."""

    name: str
    python: str
    family: str
    since: str
    struct: str
    value: int
    summary: str
    source: str
    include: tuple[str, ...]
    types: Mapping[str, tuple[DtypeRow, ...]]
    ranks: Mapping[str, tuple[RankRow, ...]]
    fields: tuple[Field, ...]
    lets: tuple[Let, ...]
    rules: tuple[Rule, ...]
    chosen: tuple[Field, ...]
    independent: tuple[Independent, ...]
    same: tuple[Same, ...]
    interpretations: tuple[Interpretation, ...]
    examples: tuple[Example, ...]
    equivalents: tuple[Equivalent, ...]
    accuracy: tuple[Accuracy, ...]
    kernel: Table | None
    scope: Scope
    file: str
    family_span: Span

    @property
    def desc(self) -> str:
        """Name of its desc class."""
        return camel(self.name)

    def field(self, python: str) -> Field:
        """The field of that Python name."""
        return next(field for field in self.fields if field.python == python)

    @property
    def tensors(self) -> tuple[Field, ...]:
        """Inputs and outputs, in the order of the struct."""
        return tuple(field for field in self.fields if field.is_tensor)

    @property
    def inputs(self) -> tuple[Field, ...]:
        """Input tensors."""
        return tuple(field for field in self.fields if field.kind == "input")

    @property
    def outputs(self) -> tuple[Field, ...]:
        """Output tensors."""
        return tuple(field for field in self.fields if field.kind == "output")

    @property
    def attributes(self) -> tuple[Field, ...]:
        """Attributes that a caller gives: those whose value does not follow from other fields."""
        return tuple(field for field in self.fields if field.kind == "attribute" and field.value is None)

    def of_chosen(self, field: Field) -> tuple[Field, int, int]:
        """The output in whose sizes the caller's choice stands, and how many sizes are before it and after it."""
        output = next(output for output in self.outputs if field.python in output.splats)
        before = next(number for number, item in enumerate(output.items) if isinstance(item, Splat))
        return output, before, len(output.items) - before - 1

    def is_chosen(self, output: Field) -> bool:
        """Whether sizes of an output are the caller's choice."""
        return any(field.python in output.splats for field in self.chosen)

    def first_of_type(self, field: Field) -> Field | None:
        """The tensor whose data type this tensor shares; None for the first of its type variable."""
        first = next(other for other in self.tensors if other.types == field.types)
        return None if first is field else first

    def reads(self, node: Node) -> frozenset[str]:
        """The facets that an expression reads, through lets too: ``input.sizes``, ``input.rank``, ``strides``."""
        return frozenset(self._facets(node))

    def _facets(self, node: Node) -> Iterator[str]:
        lets = {let.name: let for let in self.lets}
        if isinstance(node, Call) and node.function in ("rank", "sizes", "dtype") and isinstance(node.args[0], Name):
            yield f"{node.args[0].id}.{node.function}"
            return
        if isinstance(node, Index) and isinstance(node.base, Name) and self._is_tensor(node.base.id):
            yield f"{node.base.id}.sizes"
            yield f"{node.base.id}.dtype"
        elif isinstance(node, Name) and node.id in lets:
            let = lets[node.id]
            yield from self._facets(let.value.node)
            if let.count is not None:
                yield from self._facets(let.count.node)
            return
        elif isinstance(node, Name) and node.id in self.scope and not self._is_tensor(node.id):
            yield node.id
        for child in node.children():
            yield from self._facets(child)

    def _is_tensor(self, name: str) -> bool:
        symbol = self.scope.get(name)
        return symbol is not None and symbol.kind is Kind.TENSOR


@dataclass(frozen=True, slots=True)
class Specs:
    """All facts and all operators, by name."""

    facts: Facts
    operators: Mapping[str, Operator]


def let_symbol(let: Let, kind: Kind, interval: Interval) -> Symbol:
    """What the name of a let means: its interval is cut to int64, for a check refuses what leaves it."""
    low = INT64_MIN if interval.lo is None else min(max(interval.lo, INT64_MIN), INT64_MAX)
    high = INT64_MAX if interval.hi is None else max(min(interval.hi, INT64_MAX), INT64_MIN)
    cut = Interval(low, high) if kind is Kind.INT else Interval()
    if let.index is None:
        return Symbol(kind, "let", cut)
    return Symbol(Kind.VECTOR, "let", cut, count=None if let.count is None else let.count.node)
