"""The desc of another operator: a fused activation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types.base import Broken, Draws, Pass
from dmlcy._field_types.cpp import Source, single_precision
from dmlcy._field_types.operators import OBJECT, Descs, Spelled, shown_in_words

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


class OperatorDesc(Descs):
    """const DML_OPERATOR_DESC*."""

    directml = "operator desc"
    serialized = "Activation"

    def shown(self, value: object) -> str | None:
        return None if value is None else shown_in_words(value)

    def resolve(self, field: Field, value: object, check: Pass) -> None:
        check.keep(field, self.take(field, value, check))

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        return self.read(field, value, ignore_unknown)

    def to_json(self, value: object) -> object:
        return self.json_of(value)

    def cpp(self, name: str, value: Spelled, dtype: str | None, source: Source) -> str:
        source.operation(name, value["Type"], value["Desc"])
        return f"&{name}"

    def directmlx(self, name: str, value: Spelled | None, source: Source) -> str:
        if value is None:
            return "dml::FusedActivation::None()"
        operator = OPERATORS[value["Type"].removeprefix(PREFIX)]
        names = [field.name for field in operator.fields if field.type == "float"]
        numbers = "".join(f", {single_precision(value['Desc'][name])}" for name in names)
        return f"dml::FusedActivation({value['Type']}{numbers})"

    def random(self, field: Field, draws: Draws) -> SearchStrategy[object]:
        from hypothesis import strategies as st

        return st.none() | self.one(field, draws) if field.optional else self.one(field, draws)

    def mistyped(self, b: Broken, field: Field, other: object) -> object:
        return b.with_(field, b.of(other, {}, {"Type": 3}, {"Desc": {}}, (), OBJECT))


TYPE = OperatorDesc
