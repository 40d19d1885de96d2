"""The interface of a type of fields: the faces that every type has, and the answers of most types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias, TypeVar, cast

from dmlcy._errors import Violation
from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._facts.tables import EnumInfo
from dmlcy._field_types.cpp import Source, array
from dmlcy._field_types.values import STRUCTS, Refused
from dmlcy._words.values import is_a, show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


T = TypeVar("T")

SPECIAL: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""How JSON spells the numbers that it does not have."""


def spelled_in_json(value: object) -> object:
    """A number as JSON has it; anything else as it is."""
    return repr(value) if type(value) is float and not math.isfinite(value) else value


def number_in_json(value: object) -> object:
    """The number that a spelling of JSON stands for; anything else as it is."""
    return SPECIAL.get(value, value) if type(value) is str else value


class Pass(Protocol):
    """The methods that a type asks of the pass over a desc, which takes its fields one by one."""

    level: int
    literal: bool  # the values come from JSON, which has no short forms

    def keep(self, field: Field, value: object) -> None:
        """The value of the field, in the desc and for formulas."""

    def hold(self, field: Field, value: object) -> None:
        """The value of the field in the desc; formulas do not see it."""

    def read(self, field: Field, value: object) -> None:
        """The value of the field for formulas; the desc does not have it."""

    def value_of(self, name: str) -> Any:
        """The value of another field for formulas; None where it has been refused."""

    def fail(self, *facets: str) -> None:
        """From now on no formula reads these."""

    def refused(self, field: Field, refused: Refused) -> None:
        """Notes an error of the field."""

    def inner(self, field: Field, path: str, found: Violation) -> None:
        """Notes an error of the desc that the field holds, under its path in this desc."""

    def too_new(self, field: Field, subject: str, needed: int, hint: str) -> None:
        """Notes that something of the field came at a later level."""

    def evaluated(self, formula: Formula) -> Any:
        """The value of a formula; None where it reads what has been refused."""

    def miscounted(self, formula: Formula, has: str, needs: str, actual: int, expected: int) -> Refused:
        """The refusal of a number of entries that is not the one that follows from the other fields."""


class Draws(Protocol):
    """The methods that a type asks of the search for random descs."""

    values: dict[str, Any]  # of the other fields

    level: int

    def counts(self) -> SearchStrategy[int]:
        """Counts such as windows and paddings are, many of them beside the sizes of the inputs."""

    def specials(self, dtype: str) -> list[object]:
        """Values of a data type at which errors like to show."""


class Broken(Protocol):
    """A valid desc that is being broken."""

    level: int
    operator: Operator

    @property
    def desc(self) -> object:
        """The desc itself."""

    def draw(self, strategy: SearchStrategy[T]) -> T:
        """A random value."""

    def of(self, *choices: T) -> T:
        """One of some values."""

    def old(self, field: Field) -> Any:
        """The tensor desc that is changed; of an array always the same entry."""

    def entries(self, field: Field, value: object) -> object:
        """The entries of an array with one of another value."""

    def with_(self, field: Field, value: object) -> object:
        """The desc with another value for one field."""

    def changed(self, values: Mapping[str, object]) -> object:
        """The desc with other values for some fields."""

    def tensor(self, field: Field, **members: object) -> object:
        """The desc with other members for one tensor desc: ``old``, where the field is an array."""

    def tensor_alone(self, field: Field, **members: object) -> object:
        """The desc with other members for one tensor desc, and with the outputs that it has."""

    def enlarged(self, numbers: tuple[int, ...]) -> object:
        """The desc with one or two attributes of these, which make its outputs large."""

    def json(self, field: Field | None, member: str, value: object) -> object:
        """The desc as JSON with another member of the struct, or of the tensor desc that a field is."""


Break: TypeAlias = Callable[[Broken, Field], object]
"""Breaks a desc (Broken) in one way that is about the field."""


class FieldType:
    """A type of fields. A file beside this one defines one type, in ``TYPE``; the file has the name of the type.

    ``enum`` is the name of the enum whose member such a field is; of the other types it is empty.
    """

    directml: ClassVar[str]  # as an explanation names it
    array: ClassVar[bool] = False  # has a length
    several: ClassVar[bool] = False  # its value is a tuple of numbers
    tensors: ClassVar[bool] = False  # its value is a tuple of tensors
    holds_operators: ClassVar[bool] = False  # its value is the desc of another operator, or a tuple of them
    members: ClassVar[tuple[str, ...]] = ()  # of a struct in JSON
    element: ClassVar[str]  # of an array, as DirectMLX has it
    serialized: ClassVar[str] = ""  # the kind of an attribute that it is in serialized graphs; none: it is a tensor

    def __init__(self, enum: str = "") -> None:
        self.enum = enum

    # Words

    def words(self, role: str, length: str | None) -> str:
        """The type in an explanation of a field; ``length`` is the formula of that of an array."""
        if not self.array:
            return self.directml
        return f"array of {self.directml}" if length is None else f"{self.directml}[{length}]"

    def entry_more(self, field: Field, entries: tuple[object, ...]) -> object:
        """An entry that an array may have after these."""
        return max(field.minimum or 0, 0)

    def shown(self, value: object) -> str | None:
        """The entries of a value, in a table of a desc; None: the value has no entries."""
        if type(value) in STRUCTS:
            return str(value._shown())  # type: ignore[attr-defined]
        if type(value) is tuple:
            return ", ".join(show(entry) for entry in value[:16]) + (", ..." if len(value) > 16 else "")
        return None

    # Check

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        """Takes the value of an attribute, or refuses it."""
        raise NotImplementedError(f"no desc takes a field of the type {field.type}")

    def counted(self, value: object, literal: bool) -> object:
        """The value of a field that follows from the others, to be compared."""
        raise NotImplementedError

    def contradicted(self, field: Field, given: object, expected: object, check: Pass) -> Refused:
        """The refusal of a value that is not the one that follows from the others."""
        raise NotImplementedError

    @property
    def info(self) -> EnumInfo | None:
        """The enum whose member such a field is."""
        return None

    # JSON

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        """The value of a field from that of the member of a struct; what is not understood stays as it is."""
        return value

    def to_json(self, value: object) -> object:
        """DirectML's JSON spelling of any value."""
        if type(value) in STRUCTS:
            return value._json()  # type: ignore[attr-defined]
        return list(cast("tuple[object, ...]", value)) if is_a(value, tuple) else spelled_in_json(value)

    def in_json(self, expected: str) -> str:
        """The kind of value that is expected, in the words of JSON."""
        return expected

    def json_member(self, member: str) -> str | None:
        """The name in JSON of the part of the value that a violation is about."""
        return next((name for name in self.members if name.lower() == member), None)

    def recorded(self, value: Any) -> object:
        """The value for a desc, from the one that a call worked with."""
        return value

    def infinite_in_json(self, value: object) -> object:
        """In place of a value in JSON, one that is not finite in FLOAT32."""
        return [1e39, *value[1:]] if isinstance(value, list) else 1e39

    def unknown_in_json(self, name: str) -> object:
        """A value in JSON that names what the field does not know."""
        return name

    def tensors_in_json(self, field: Field) -> object:
        """A value in JSON that has tensors where it must have none."""
        return None

    def later_in_json(self, field: Field) -> Iterator[tuple[object, int]]:
        """Values in JSON that came later, each with the position of a level that does not have it."""
        return iter(())

    # Serialized graphs

    def from_serialized(self, value: Any, dtype: str | None) -> object:
        """The value in JSON of one that a serialized graph has; ``dtype``: what the field holds that says its type."""
        return list(value) if type(value) is tuple else value

    def to_serialized(self, value: Any, dtype: str | None) -> Any:
        """The form of a value of a valid desc in a serialized graph."""
        return value

    # C++

    def cpp(self, name: str, value: Any, dtype: str | None, source: Source) -> str:
        """The value of a member of a struct, from that in JSON, which is not null. A pointer's target becomes a
        variable of this name in front. ``dtype``: the value of the field that gives the type."""
        if not self.array:
            return self.cpp_number(value)
        source.lines.append(array(self.directml, name, list(map(self.cpp_number, value))))
        return name

    def cpp_number(self, value: Any) -> str:
        """The value in C++, or an entry of an array."""
        return str(value)

    def directmlx(self, name: str, value: Any, source: Source) -> str:
        """The argument of a function of DirectMLX for the value in JSON. The tensor of an input has this name; an array
        becomes a variable of it in front."""
        if value is None:
            return "dml::NullOpt"
        if not self.array:
            return self.cpp_number(value)
        if not value:
            return f"dml::Span<const {self.element}>()"
        source.lines.append(array(self.element, name, list(map(self.cpp_number, value))))
        return name

    # Tests

    def random(self, field: Field, draws: Draws) -> SearchStrategy[object]:
        """Values of an attribute, most of them valid; of an array, values of an entry."""
        raise NotImplementedError

    def mistyped(self, b: Broken, field: Field, other: object) -> object:
        """The desc with a value of the wrong type: ``other``, or a value with such a part."""
        if self.several and b.of(False, True):
            other = b.entries(field, b.of(1j, "2", None, True))
        return b.with_(field, other)

    def some(self, b: Broken, field: Field) -> object:
        """A value of an optional attribute."""
        return None

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        """The changes of a desc that give each error of the field, by slug, beside the errors of any field."""
        return iter(())

    def contradictions(self, field: Field) -> Iterator[tuple[str, Break]]:
        """How a desc can contradict a field that follows from the others, by slug."""
        return iter(())
