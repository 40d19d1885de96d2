"""Which data types, ranks and members of enums each feature level knows: the tables of an operator."""

from __future__ import annotations

from ..expr.nodes import Sizes
from ..expr.text import alternatives
from ..field_types import type_of
from ..model import Enum, Facts, Field, Operator
from .data import LevelTable
from .taken import TensorPlan


class LevelTables:
    """Collects the tables of one operator, each under a name of its own."""

    def __init__(self, operator: Operator, facts: Facts) -> None:
        self.operator = operator
        self.facts = facts
        self.tables: dict[str, LevelTable] = {}

    def table(self, name: str, sets: list[int]) -> str:
        self.tables[name] = LevelTable(name, tuple(sets))
        return name

    def dtype_table(self, variable: str) -> str:
        sets = []
        for index in range(len(self.facts.levels)):
            known = {
                name
                for row in self.operator.types[variable]
                if self.facts.level_index(row.since) <= index
                for name in row.dtypes
            }
            sets.append(sum(1 << self.facts.dtype(name).value for name in known))
        return self.table(f"{self.operator.name}_{variable}", sets)

    def rank_table(self, variable: str) -> str:
        sets = []
        for index, level in enumerate(self.facts.levels):
            known = {
                rank
                for row in self.operator.ranks[variable]
                if self.facts.level_index(row.since) <= index
                for rank in range(row.min, row.max + 1)
                if rank <= level.max_rank
            }
            sets.append(sum(1 << rank for rank in known))
        return self.table(f"{self.operator.name}_{variable}_RANKS", sets)

    def tensor(self, field: Field) -> TensorPlan:
        assert field.types is not None and field.ranks is not None
        first = self.operator.first_of_type(field)
        rows = self.operator.ranks[field.ranks]
        rank = len(field.sizes.node.items) if field.sizes is not None and isinstance(field.sizes.node, Sizes) else None
        low, high = min(row.min for row in rows), max(row.max for row in rows)
        if field.leading_ones == "desc" and field.kind == "input" and rank is not None:
            low = high = rank
        dtypes = [name for row in self.operator.types[field.types] for name in row.dtypes]
        return TensorPlan(
            python=field.python,
            kind=field.kind,
            dtypes=self.dtype_table(field.types),
            ranks=self.rank_table(field.ranks),
            same_as=None if first is None else first.python,
            optional=field.optional,
            several=type_of(field).several,
            mixed=field.mixed,
            call_rank=rank if field.leading_ones == "call" else None,
            desc_rank=rank if field.leading_ones == "desc" else None,
            more_ones=field.leading_ones == "both",
            doc=field.doc,
            takes=f"Rank {low}{f' to {high}' if high > low else ''}; data type {alternatives(dtypes)}.",
        )

    def members(self, enum: Enum) -> str:
        sets = []
        for index in range(len(self.facts.levels)):
            sets.append(sum(1 << m.value for m in enum.members if self.facts.level_index(m.since) <= index))
        own = enum.name.removeprefix("DML_").removeprefix(f"{self.operator.name}_")
        return self.table(f"{self.operator.name}_{own}", sets)
