"""A truth value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dmlcy._facts.rows import Field
from dmlcy._field_types.base import Draws, FieldType, Pass
from dmlcy._field_types.cpp import Source
from dmlcy._field_types.values import wrong_type
from dmlcy._words.values import is_a

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
EXPECTED: Final = "True or False"


def as_bool(value: object) -> bool:
    """True or False only."""
    if type(value) is bool:
        return value
    if is_a(value, np.bool):
        return bool(value)
    raise wrong_type(value, EXPECTED)


class Bool(FieldType):
    """BOOL."""

    directml = "BOOL"
    serialized = "UInt32"

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        check.keep(field, as_bool(value))

    def in_json(self, expected: str) -> str:
        return "true or false" if expected == EXPECTED else expected

    def from_serialized(self, value: object, dtype: str | None) -> object:
        return bool(value) if value in (0, 1) else value

    def to_serialized(self, value: bool, dtype: str | None) -> int:
        return int(value)

    def cpp_number(self, value: object) -> str:
        return "TRUE" if value else "FALSE"

    def directmlx(self, name: str, value: object, source: Source) -> str:
        found = super().directmlx(name, value, source)
        return found if value is None else found.lower()

    def random(self, field: Field, draws: Draws) -> SearchStrategy[bool]:
        from hypothesis import strategies as st

        return st.booleans()


TYPE = Bool
