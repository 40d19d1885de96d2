"""The fields of an operator, their data types and ranks, and the sizes that a caller chooses."""

from __future__ import annotations

from collections.abc import Mapping

from ..diagnostics import did_you_mean
from ..expr.nodes import UINT_MAX
from ..expr.types import Kind
from ..field_types import CHOSEN, FieldType, type_of
from ..model import FUSED, PROVENANCE, CatalogueField, CatalogueOperator, DtypeRow, Facts, Field, RankRow, snake
from ..source import Table
from .formulas import Formulas
from .reading import each, word

ANY = "any"
"""In place of a formula: no formula gives the sizes."""

ONES = ("call", "desc", "both")
"""Where leading dimensions of size 1 may be left out, or may be more than a formula gives."""


class Fields:
    """Reads the fields of one operator from its file, which is the last table, and from the groups that it includes."""

    def __init__(self, tables: list[Table], facts: Facts, formulas: Formulas) -> None:
        self.tables = tables
        self.facts = facts
        self.formulas = formulas
        self.levels = tuple(level.name for level in facts.levels)

    def types(self) -> dict[str, tuple[DtypeRow, ...]]:
        known = tuple(dtype.name for dtype in self.facts.dtypes)
        found: dict[str, tuple[DtypeRow, ...]] = {}
        for table in each(self.tables, "types"):
            variables = table.keys()
            for variable in variables:
                word(table, variable, variable)
                rows = []
                for row in table.tables(variable):
                    since, dtypes = row.choice("since", self.levels), row.strings("any")
                    for dtype in dtypes:
                        if dtype not in known:
                            row.error("any", f"unknown data type {dtype!r}", did_you_mean(dtype, known))
                    rows.append(DtypeRow(since, dtypes, row.bool("default", False)))
                    row.finish()
                found[variable] = tuple(rows)
            table.finish()
        return found

    def ranks(self) -> dict[str, tuple[RankRow, ...]]:
        found: dict[str, tuple[RankRow, ...]] = {}
        for table in each(self.tables, "ranks"):
            variables = table.keys()
            for variable in variables:
                word(table, variable, variable)
                rows = []
                for row in table.tables(variable):
                    low, high = row.int("min"), row.int("max")
                    if not 1 <= low <= high <= 8:
                        row.error("max", f"a rank is 1 to 8, in order: {low} to {high} is not")
                    rows.append(RankRow(row.choice("since", self.levels), low, high))
                    row.finish()
                found[variable] = tuple(rows)
            table.finish()
        return found

    def fields(
        self,
        entry: CatalogueOperator,
        types: Mapping[str, object],
        ranks: Mapping[str, object],
    ) -> tuple[Field, ...]:
        declared = {field.name: field for field in entry.fields}
        found: dict[str, Field] = {}
        for row in (row for table in self.tables for row in table.tables("field")):
            name = row.str("name")
            if name not in declared:
                row.error("name", f"{entry.struct} has no field {name!r}", did_you_mean(name, declared))
                continue
            if name in found:
                row.error("name", f"{name} is described twice")
            found[name] = self.field(row, declared[name], types, ranks, tuple(declared))
            row.finish()
        for name in declared:
            if name not in found:
                message = f"{name} of {entry.struct} is not described"
                self.tables[-1].error("operator", message, "add a [[field]] for it")
        return tuple(found[name] for name in declared if name in found)

    def field(
        self,
        row: Table,
        declared: CatalogueField,
        types: Mapping[str, object],
        ranks: Mapping[str, object],
        names: tuple[str, ...],
    ) -> Field:
        tensor, kind = declared.kind != "attribute", type_of(declared)
        variable = row.str("dtype", None)
        rank = row.str("rank", None) if tensor else None
        if tensor:
            _check_tensor(row, declared, variable, rank, types, ranks)
        elif kind.typed and variable not in names:
            why = f"{declared.name} is {kind.directml}: `dtype` names the field that holds its data type"
            row.error("dtype", why, did_you_mean(variable or "", names))
        low, high, provenance = _range(row, kind)
        any_sizes = tensor and row.has("sizes") and row.str("sizes") == ANY
        sizes_key = "sizes" if tensor and not any_sizes else None
        axes = row.strings("axes") if tensor and row.has("axes") else ()
        return Field(
            name=declared.name,
            kind=declared.kind,
            type=declared.type,
            optional=declared.optional,
            doc=with_axes(row.str("doc"), axes),
            default=row.any("default", None),
            types=variable if tensor else None if variable is None else snake(variable),
            ranks=rank,
            sizes=self.formulas.formula(row, sizes_key) if sizes_key and row.has(sizes_key) else None,
            leading_ones=row.choice("leading_ones", ONES) if tensor and row.has("leading_ones") else None,
            length=self.formulas.formula(row, "length") if row.has("length") else None,
            max_length=self.formulas.formula(row, "max_length") if row.has("max_length") else None,
            minimum=low,
            maximum=high,
            provenance=provenance,
            value=self.formulas.formula(row, "value") if row.has("value") else None,
            infinite=row.bool("infinite", False),
            mixed=row.bool("mixed", False),
            among=row.choice("among", (FUSED,)) if row.has("among") else None,
            span=row.span("name"),
            hint=row.str("hint", "") if tensor or row.has("fills") else "",
            hint_when=self.formulas.formula(row, "hint_when") if tensor and row.has("hint_when") else None,
            axes=axes,
            any_sizes=any_sizes,
            owned=row.bool("owned", True),
            unsaid=row.bool("unsaid", False),
            fills=row.bool("fills", True),
        )

    def chosen(self, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        """The sizes that a caller chooses. A desc has them in the sizes of one output."""
        found: dict[str, Field] = {}
        for row in (row for table in self.tables for row in table.tables("chosen")):
            name = row.str("name")
            word(row, "name", name)
            if name != snake(name):
                row.error("name", f"{name!r} is not in snake_case")
            if name in found or name in {field.python for field in fields}:
                row.error("name", f"{name} is already the name of something")
            found[name] = Field(
                name=name,
                kind="chosen",
                type=CHOSEN,
                optional=False,
                doc=row.str("doc"),
                default=None,
                types=None,
                ranks=None,
                sizes=None,
                leading_ones=None,
                length=self.formulas.formula(row, "length") if row.has("length") else None,
                minimum=1,
                maximum=UINT_MAX,
                infinite=False,
                provenance="documented",
                value=None,
                span=row.span("name"),
            )
            holders = [field for field in fields if field.kind == "output" and name in field.splats]
            if len(holders) != 1:
                row.error("name", f"{name} is not among the sizes of an output", f"sizes = [..., *{name}]")
            elif len(holders[0].splats) > 1 or holders[0].leading_ones is not None:
                row.error("name", f"where {name} stands in {holders[0].name} depends on more than its rank")
            row.finish()
        return tuple(found.values())

    def check_formulas(self, field: Field) -> None:
        """The formulas of a field, now that every name is known."""
        if field.sizes is not None:
            self.formulas.typed(field.sizes, self.formulas.scope, Kind.VECTOR)
        for length in (field.length, field.max_length):
            if length is not None and type_of(field).long:
                self.formulas.typed(length, self.formulas.scope, Kind.INT)
            elif length is not None:
                self.formulas.short(length)
        if field.value is not None:
            self.formulas.typed(field.value, self.formulas.scope, Kind.INT, Kind.DTYPE)


def with_axes(doc: str, axes: tuple[str, ...]) -> str:
    """A tensor, with the names of its axes."""
    return f"{doc} Its sizes are {' or '.join(f'{{{names}}}' for names in axes)}." if axes else doc


def _check_tensor(
    row: Table,
    declared: CatalogueField,
    variable: str | None,
    rank: str | None,
    types: Mapping[str, object],
    ranks: Mapping[str, object],
) -> None:
    """A tensor names a row of [types] and one of [ranks]."""
    if row.has("sizes") and row.str("sizes") == ANY and declared.kind != "output":
        row.error("sizes", "only an output says that its sizes are any", "leave sizes out")
    if row.has("rank") is False:
        row.error("name", "a tensor has a rank", 'add rank = "R" and a row R in [ranks]')
    if variable is None:
        row.error("name", "a tensor has a dtype", 'add dtype = "T" and a row T in [types]')
    elif variable not in types:
        row.error("dtype", f"[types] has no {variable!r}", did_you_mean(variable, types))
    if rank is not None and rank not in ranks:
        row.error("rank", f"[ranks] has no {rank!r}", did_you_mean(rank, ranks))


def _range(row: Table, kind: FieldType) -> tuple[int, int, str]:
    """The least and the greatest value, and the source of both; those of the type where the row says nothing."""
    least, greatest = kind.limits
    limits = row.table("range")
    if limits is None:
        return least, greatest, "documented"
    low, high = limits.int("min", least), limits.int("max", greatest)
    provenance = limits.choice("from", PROVENANCE, "documented")
    limits.finish()
    if not least <= low <= high <= greatest:
        row.error("range", f"{kind.directml} is {least} to {greatest}, in order: {low} to {high} is not")
    return low, high, provenance
