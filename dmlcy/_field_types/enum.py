"""A member of one of DirectML's enums: the type ``enum:NAME``."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Final

from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import DTYPES, ENUMS, LEVEL_INDEX, NO_DTYPE, EnumInfo, TensorDataType
from dmlcy._field_types.base import Break, Draws, FieldType, Pass
from dmlcy._field_types.values import STRUCTS, Refused, as_dtype, wrong_type
from dmlcy._words.alike import closest, did_you_mean, without
from dmlcy._words.values import article, is_a, listing

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

BOGUS: Final = ("BOGUS", "")
"""Names that no enum has."""
UNKNOWN: Final = NO_DTYPE[0]
"""The member of DML_TENSOR_DATA_TYPE that says no data type. No tensor may have it."""
_DTYPES: Final = ENUMS["DML_TENSOR_DATA_TYPE"]


def as_enum(value: object, info: EnumInfo) -> IntEnum | IntFlag:
    """A member, or its short or full DirectML spelling."""
    if type(value) is info.cls and value.name in info.members:
        return value
    if not is_a(value, str):
        raise wrong_type(value, _expected(info))
    name = str.__str__(value).removeprefix(info.prefix)
    if name in info.members:
        return info.members[name][0]
    meant = without(info.prefix, name)
    meant = info.also.get(meant.upper(), meant)
    raise Refused(
        "member",
        values={"actual": value},
        words={"allowed": ", ".join(info.members)},
        hint=did_you_mean(meant, list(info.members)),
        fix=closest(meant, list(info.members)),
    )


def _expected(info: EnumInfo) -> str:
    return f"{article(info.cls.__name__)} or its name"


def in_json(expected: str, info: EnumInfo) -> str:
    """The value that ``as_enum`` expects, in the words of JSON."""
    return f"the name of a member of {info.name}" if expected == _expected(info) else expected


def is_unsaid(value: object) -> bool:
    """Whether a value is the data type that says nothing."""
    return is_a(value, str) and str.__str__(value).removeprefix(_DTYPES.prefix) == UNKNOWN


def spelling(value: object, info: EnumInfo) -> object:
    """The full DirectML spelling of a member; anything else as it is."""
    if info is _DTYPES and is_unsaid(value):
        return f"{info.prefix}{UNKNOWN}"
    return f"{info.prefix}{value.name}" if type(value) is info.cls else value


class Enum(FieldType):
    """A member of an enum. DML_TENSOR_DATA_TYPE is an enum too, whose members have names in NumPy."""

    serialized = "UInt32"

    @property
    def info(self) -> EnumInfo:
        return ENUMS[self.enum]

    def words(self, role: str, length: str | None) -> str:
        return self.enum

    def counted(self, value: object, literal: bool) -> IntEnum | IntFlag:
        info = self.info
        dtype = as_dtype(value, numpy=not literal) if info.cls is TensorDataType else None
        return as_enum(value if dtype is None else dtype, info)

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        """A member that came later than the level is refused, and kept."""
        info, member = self.info, self.counted(value, check.literal)
        level = LEVEL_INDEX[info.members[str(member.name)][1]]
        if level > check.level:
            check.fail(field.python)
            known = [name for name, (_, since) in info.members.items() if LEVEL_INDEX[since] <= check.level]
            check.too_new(field, f"{field.python} {member.name}", level, f"That level allows {listing(known)}.")
        check.keep(field, member)

    def contradicted(self, field: Field, given: object, expected: object, check: Pass) -> Refused:
        formula = field.value
        assert formula is not None
        owners = [facet.removesuffix(".dtype") for facet in formula.reads if facet.endswith(".dtype")]
        words = {"has": "is", "must": "must be", "other": owners[0] if len(owners) == 1 else formula.text}
        return Refused("same-dtype", values={"actual": given, "expected": expected}, words=words, fix=expected)

    def in_json(self, expected: str) -> str:
        return in_json(expected, self.info)

    def to_json(self, value: object) -> object:
        return super().to_json(value) if type(value) in STRUCTS else spelling(value, self.info)

    def from_serialized(self, value: object, dtype: str | None) -> object:
        """The name of a member; a number that none has stays as it is."""
        known = (member for member, _ in self.info.members.values() if member == value)
        unsaid = UNKNOWN if self.info is _DTYPES and value == NO_DTYPE[1] else value
        return spelling(next(known, unsaid), self.info)

    def to_serialized(self, value: IntEnum | str, dtype: str | None) -> int:
        return NO_DTYPE[1] if is_unsaid(value) else int(value)

    def random(self, field: Field, draws: Draws) -> SearchStrategy[IntEnum | IntFlag]:
        from hypothesis import strategies as st

        return st.sampled_from(list(self.info.cls))

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield "member", lambda b, field: b.with_(field, b.of(*BOGUS, "constant"))
        later = [name for name, (_, since) in self.info.members.items() if LEVEL_INDEX[since] > level]
        if later:
            yield "level", lambda b, field: b.with_(field, b.of(*later))

    def contradictions(self, field: Field) -> Iterator[tuple[str, Break]]:
        yield "member", lambda b, field: b.with_(field, b.of(*BOGUS))
        yield "same-dtype", lambda b, field: b.with_(field, b.of(*(name for name in DTYPES if DTYPES[name].numpy)))


TYPE = Enum
