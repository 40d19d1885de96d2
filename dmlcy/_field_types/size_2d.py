"""A height and a width."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from dmlcy._facts.rows import Field
from dmlcy._field_types.base import Draws, Pass
from dmlcy._field_types.cpp import Source
from dmlcy._field_types.integers import Integers
from dmlcy._field_types.values import STRUCTS, Refused, as_ints, wrong_type
from dmlcy._words.values import show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class Size2D(NamedTuple):
    """Height and width, in the order of the axes."""

    height: int
    width: int

    def _json(self) -> dict[str, object]:
        return {"Width": self.width, "Height": self.height}

    def _shown(self) -> str:
        return f"height {show(self.height)}, width {show(self.width)}"


STRUCTS.add(Size2D)


def as_size(value: object, fill: bool = True) -> Size2D:
    """Height and width; the entries go through as_int later."""
    if type(value) is Size2D:
        return value
    expected = "(height, width), or an int for both" if fill else 'an object with the members "Width" and "Height"'
    if not fill:
        raise wrong_type(value, expected)
    try:
        entries = as_ints(value)
    except Refused as refused:
        raise wrong_type(value, expected) from refused.__cause__
    if isinstance(entries, int):
        return Size2D(entries, entries)
    if len(entries) != 2:
        raise wrong_type(value, expected)
    return Size2D(*entries)  # type: ignore[arg-type]


class Size2d(Integers):
    """DML_SIZE_2D; one integer gives both."""

    directml = "DML_SIZE_2D"
    serialized = "Size2D"
    several = True
    members = ("Height", "Width")

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        size = as_size(value, fill=not check.literal)
        self.take_entries(field, size, check, lambda numbers: Size2D(*numbers), (".height", ".width"))

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        if type(value) is not dict:
            return value
        whole = {*self.members} <= set(value) and (ignore_unknown or len(value) == 2)
        return Size2D(value["Height"], value["Width"]) if whole else value

    def from_serialized(self, value: tuple[int, int], dtype: str | None) -> dict[str, int]:
        width, height = value
        return {"Width": width, "Height": height}

    def to_serialized(self, value: Size2D, dtype: str | None) -> tuple[int, int]:
        return value.width, value.height

    def cpp_number(self, value: Mapping[str, int]) -> str:
        return f"{{{value['Width']}, {value['Height']}}}"

    def directmlx(self, name: str, value: object, source: Source) -> str:
        found = super().directmlx(name, value, source)
        return found if value is None else f"{self.directml}{found}"

    def random(self, field: Field, draws: Draws) -> SearchStrategy[object]:
        from hypothesis import strategies as st

        return st.tuples(draws.counts(), draws.counts())


TYPE = Size2d
