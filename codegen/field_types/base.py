"""The faces that codegen asks of every type of fields, and the answers of most types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ..expr.nodes import UINT_MAX
from ..expr.text import formula
from ..expr.types import Interval, Kind, Symbol
from ..model import CatalogueField, Enum, Facts, Field

NOTHING = " | None"
"""After an annotation: the value may be left out."""


class Binding(Protocol):
    """The answers of an operator's plan about one of its fields."""

    def count(self, field: Field) -> str:
        """The number of entries of an array in Cython."""

    def most(self, field: Field) -> str:
        """The most entries of an array that is as long as it is given, in Cython."""

    def enum(self, name: str) -> Enum:
        """The enum of this DirectML name."""

    def members(self, enum: Enum) -> str:
        """The name of the table that has the members of an enum by feature level."""

    def first_tensor(self) -> str:
        """The Python name of the first tensor."""

    def dtype(self, field: Field) -> str:
        """The data type of a number whose data type another field holds, in Cython."""

    def name(self) -> str:
        """The name of the operator in DirectML."""


@dataclass(frozen=True, slots=True)
class Taken:
    """How a call takes an attribute: C declarations, the condition that takes it, and the value as Python has it.

    ``members`` is the level table of an enum.
    """

    declarations: tuple[str, ...]
    take: str
    value: str
    members: str | None = None


class FieldType:
    """A type of fields. A file beside this one defines one type, in ``TYPE``; the file has the name of the type."""

    directml: ClassVar[str]  # in DirectML's headers
    dumped: ClassVar[str]  # the function of dmlcy_dump.h that writes a member of this type
    toml: ClassVar[tuple[type, ...]] = ()  # values that a default, an example or `breaks` gives
    pointed: ClassVar[bool] = False  # a struct has a pointer to the value
    array: ClassVar[bool] = False  # has a length
    reals: ClassVar[bool] = False  # of an array: has entries that are real numbers
    long: ClassVar[bool] = False  # the array may have more entries than a tensor has axes
    chosen_among: ClassVar[bool] = False  # holds operators of a list, which the spec names
    several: ClassVar[bool] = False  # its value is a tuple of tensors
    ranged: ClassVar[bool] = False  # takes integers from `minimum` to `maximum`, which a spec may narrow
    limits: ClassVar[tuple[int, int]] = (0, UINT_MAX)  # of an integer, where a spec does not narrow them
    number: ClassVar[type | None] = None  # int or float: what the `fix` of a rule can give
    typed: ClassVar[bool] = False  # another field holds the data type of its value
    real: ClassVar[bool] = False  # may be infinite, where a spec says so
    errors: ClassVar[tuple[str, ...]] = ("type", "required")  # slugs of the implicit errors that a field can have
    summary: ClassVar[str]  # its type in the docstring of a call
    held: ClassVar[str]  # the annotation of the value that a desc holds
    given: ClassVar[str]  # what a desc class takes, in a few words
    argument: ClassVar[str]  # what a call and a desc class take, as the stubs say it
    variable: ClassVar[str | None] = None  # the C type, if the expressions of a kernel can read it
    scales: ClassVar[bool] = False  # is applied to each element of the first input, before anything else
    may_be_nothing: ClassVar[bool] = False  # a call can take None for an optional field
    bound: ClassVar[str]  # the kind of a parameter of PyDirectML that is for it
    of_elements: ClassVar[bool] = False  # has numbers that the reference treats as elements of tensors

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        """The meaning of the field's name in an expression; None for a type that expressions cannot read."""
        return None

    def taken(self, field: Field, binding: Binding) -> Taken:
        """How a compiled call takes the field."""
        raise NotImplementedError(f"no call takes a field of the type {field.type}")

    def said(self, field: Field, binding: Binding) -> tuple[str, str]:
        """The type that a call takes, for its docstring, and a sentence on the values; "" where there is none."""
        return self.summary, range_text(self, field) if self.ranged else ""

    def annotation(self, field: Field, enum: Callable[[str], Enum]) -> str:
        """The annotation of the value that a desc holds."""
        return self.held + NOTHING * field.may_be_none

    def accepted(self, field: Field, enum: Callable[[str], Enum]) -> str:
        """The values that a desc class takes, in a few words."""
        return self.given + NOTHING * field.may_be_none

    def argument_type(self, field: Field, enum: Callable[[str], Enum]) -> str:
        """The types that a call and a desc class take, in the stubs."""
        return self.argument + NOTHING * field.may_be_none

    def text(self, length: str) -> str:
        """The type in DirectML's words."""
        return f"{self.directml}[{length}]" if self.array else self.directml

    def declared(self, field: CatalogueField) -> str:
        """The type of the member of a struct in C."""
        return f"const {self.directml}*" if self.pointed or self.array else self.directml

    def evaluated(self, value: Any) -> Any:
        """The value of an example as the formulas of figures read it."""
        return value


def interval(field: Field) -> Interval:
    """The integers that a field takes."""
    return Interval(field.minimum, field.maximum)


def range_text(kind: FieldType, field: Field) -> str:
    """A sentence on the integers that a field takes; none where it takes all of its type."""
    low, high = kind.limits
    if field.maximum != high:
        return f"From {field.minimum} to {field.maximum}."
    return f"At least {field.minimum}." if field.minimum != low else ""


class Tensors(FieldType):
    """Tensors: inputs or outputs. How a call takes them is the plan of the operator, not that of a field."""

    directml = "DML_TENSOR_DESC"
    pointed = True
    kind: ClassVar[Kind]  # of the name of the field in an expression

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(self.kind, "field")

    def annotation(self, field: Field, enum: Callable[[str], Enum]) -> str:
        return self.held + NOTHING * field.optional


class Descs(FieldType):
    """The desc of another operator, or several of them, without tensors. Expressions ask only whether there is one."""

    directml = "DML_OPERATOR_DESC"
    pointed = True
    toml = (dict,)
    errors = (*FieldType.errors, "level", "member", "tensors")
    chosen_among = True
    kind: ClassVar[Kind]  # of the name of the field in an expression

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(self.kind, "field", count=None if field.length is None else field.length.node)


class Integer(FieldType):
    """One integer."""

    bound = "integer"
    dumped = "number"
    toml = (int,)
    errors = (*FieldType.errors, "range")
    ranged = True
    number = int
    summary = held = given = "int"
    argument = "_Int"
    variable = "int64_t"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        return Symbol(Kind.INT, "field", interval(field))

    def taken(self, field: Field, binding: Binding) -> Taken:
        name = field.python
        take = f"take_uint(<object>keywords.{name}, {field.minimum}, {field.maximum}, &a.{name})"
        return Taken((f"int64_t {name}",), take, f"a.{name}")


class IntegerArray(FieldType):
    """An array of integers, with a length that the spec states; one integer fills it."""

    bound = "integers"
    dumped = "numbers"
    toml = (int,)
    errors = (*FieldType.errors, "range", "length")
    array = ranged = True
    number = int
    summary = "int or sequence of ints"
    held = "tuple[int, ...]"
    given = "int | Sequence[int]"
    argument = "_Int | _Ints"

    def symbol(self, field: Field, facts: Facts) -> Symbol | None:
        count = None if field.length is None else field.length.node
        return Symbol(Kind.VECTOR, "field", interval(field), count=count)

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, low, high = field.python, field.minimum, field.maximum
        if field.max_length is not None:
            most = binding.most(field)
            return Taken(
                (f"int64_t {name}[MAX_RANK]", f"int64_t {name}_count"),
                f"take_some(<object>keywords.{name}, {most}, {low}, {high}, a.{name}, &a.{name}_count)",
                f"tuple_of(a.{name}_count, a.{name})",
            )
        if field.length is None:
            return Taken(
                (f"int64_t {name}[MAX_RANK]", f"int64_t {name}_count"),
                f"take_sizes(<object>keywords.{name}, a.{name}, &a.{name}_count)",
                f"tuple_of(a.{name}_count, a.{name})",
            )
        count = binding.count(field)
        return Taken(
            (f"int64_t {name}[MAX_RANK]",),
            f"take_uints(<object>keywords.{name}, {count}, {low}, {high}, a.{name})",
            f"tuple_of({count}, a.{name})",
        )

    def said(self, field: Field, binding: Binding) -> tuple[str, str]:
        entries = "An int is a sequence of one."
        if field.max_length is not None:
            entries = f"A sequence has at most ``{formula(field.max_length.node)}`` entries; an int is one of them."
        if field.length is not None:
            entries = f"A sequence has ``{formula(field.length.node)}`` entries."
        return self.summary, f"{range_text(self, field)} {entries}".strip()
