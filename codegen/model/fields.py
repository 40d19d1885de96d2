"""The fields of an operator, its formulas, and its rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Span
from ..expr.nodes import Node, Sizes, Splat
from .facts import snake

PROVENANCE = ("documented", "header", "observed", "inferred")
FUSED = "fused"
"""The list of operators in specs/fused.toml."""
ACCURACY_OF = ("result", "magnitudes")


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression of a spec."""

    text: str
    node: Node
    span: Span | None


@dataclass(frozen=True, slots=True)
class DtypeRow:
    """Data types that a level brought. ``default``: a call that chooses none gives the first of these."""

    since: str
    dtypes: tuple[str, ...]
    default: bool = False


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
    hint: str = ""  # of a tensor whose sizes follow, or of an array that one number does not fill: what to do
    hint_when: Formula | None = None  # the condition on the desc that the hint is for; None: it is for all
    axes: tuple[str, ...] = ()  # of a tensor: the names of its axes, for each number of them: N, C, S...
    max_length: Formula | None = None  # of an array that is as long as it is given: the most entries
    owned: bool = True  # of an input: it may have the flag OWNED_BY_DML
    any_sizes: bool = False  # of an output: no formula gives its sizes, and a desc must
    among: str | None = None  # of a field that holds operators: the list of the operators that it can hold
    mixed: bool = False  # of an array of tensors: they may have different data types
    unsaid: bool = False  # of a data type that follows: UNKNOWN is taken for it, and a rule warns of that
    fills: bool = True  # of an array: one number fills it; else one number is one entry

    @property
    def python(self) -> str:
        """The name in Python."""
        return snake(self.name)

    @property
    def is_tensor(self) -> bool:
        """Whether this is an input or an output."""
        return self.kind in ("input", "output")

    @property
    def may_be_none(self) -> bool:
        """Whether a caller may leave the attribute out, and it is None then."""
        return self.kind == "attribute" and self.optional and self.default is None

    @property
    def enum(self) -> str | None:
        """The DirectML name of its enum."""
        return self.type.partition(":")[2] or None

    @property
    def splats(self) -> tuple[str, ...]:
        """The vectors among the sizes of a tensor, by name; "" for what is no name."""
        items = self.items
        return tuple(getattr(item.operand, "id", "") for item in items if isinstance(item, Splat))

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of the formula of its sizes."""
        return self.sizes.node.items if self.sizes is not None and isinstance(self.sizes.node, Sizes) else ()

    @property
    def shape(self) -> str:
        """The kind of the field in errors: a word of `applies` in specs/errors.toml, or the name of its type."""
        if self.is_tensor:
            return self.kind
        if self.value is not None and self.enum is None:
            return "count"
        if self.kind == "chosen" and self.length is None:
            return "chosen"
        return self.type.partition(":")[0]


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
    says: str = ""  # what messages call it; else they say its name as words


@dataclass(frozen=True, slots=True)
class Independent:
    """An axis along which the operator can be cut: it gives for slices of its inputs the slices of its output.

    ``axes``: of each tensor that has it, the axis. A slice is of a multiple of ``takes`` elements of an input, each of
    which give ``gives`` elements of the output. ``sized``: of attributes with entries for axes, the entry that is
    the size of the slice of the output. With ``index``, one axis per index 0 … count - 1; ``when``: only then.
    """

    doc: str
    index: str | None
    count: Formula | None
    axes: Mapping[str, Formula]
    sized: Mapping[str, Formula]
    takes: Formula
    gives: Formula
    when: Formula | None
    span: Span | None

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All of its expressions."""
        some = (self.count, *self.axes.values(), *self.sized.values(), self.takes, self.gives, self.when)
        return tuple(formula for formula in some if formula is not None)


@dataclass(frozen=True, slots=True)
class Same:
    """An older version whose results the operator gives, bit for bit, with these values of attributes.

    ``theirs``: the values in the older version of the fields that differ there.
    """

    older: str
    given: Mapping[str, object]
    theirs: Mapping[str, object]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on fields, or on the values of a tensor (``data``).

    ``accepts``: the evidence that DirectML takes what breaks it; "" where it does not.
    """

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
    each: str | None = None  # of a data rule: the tensor whose elements are v in `that`
    accepts: str = ""

    @property
    def warns(self) -> bool:
        """Whether a desc that breaks it is valid: the rule was only observed, or DirectML takes what breaks it."""
        return self.provenance == "observed" or self.accepts != ""


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A decision where the documentation is silent or contradicts itself.

    ``not_judged`` is a condition: the elements of ``outputs`` (of none: of all) for which it holds have a value that no
    document promises, if ``when`` holds for the desc.
    """

    id: str
    question: str
    choice: str
    evidence: str
    not_judged: Formula | None
    when: Formula | None
    outputs: tuple[str, ...]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Device:
    """The tolerance of a device, where the family says otherwise.

    ``flushes``: it may take 0 in place of operands below the normal numbers. ``absolute``: what else its results may be
    off.
    """

    flushes: bool | None
    absolute: float
    reason: str


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The largest error of a data type, in units in the last place of ``of``; ``ulp`` may read fields and lets.

    ``of`` is one of ACCURACY_OF: the result, or what the operator gives for the absolute values of its inputs.
    """

    dtype: str
    ulp: Formula
    of: str
    span: Span
