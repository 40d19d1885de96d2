"""The rules of an operator, the axes along which it can be cut, and its accuracy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..diagnostics import did_you_mean
from ..expr.nodes import ExprError
from ..expr.parse import parse
from ..expr.types import Kind, Scope
from ..model import (
    ACCURACY_OF,
    ELEMENT,
    PROVENANCE,
    Accuracy,
    Device,
    DtypeRow,
    Facts,
    Field,
    Formula,
    Independent,
    Interpretation,
    RankRow,
    Rule,
    element,
)
from ..source import Table
from .formulas import Formulas, in_conditions
from .reading import each, finished

RULE_ID = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)+")


class Rules:
    """Reads what an operator demands of its fields and what it promises of its results."""

    def __init__(
        self,
        tables: list[Table],
        facts: Facts,
        formulas: Formulas,
        fields: tuple[Field, ...],
        types: Mapping[str, tuple[DtypeRow, ...]],
        newest: str | None,
    ) -> None:
        self.tables = tables
        self.formulas = formulas
        self.fields = fields
        self.levels = tuple(level.name for level in facts.levels)
        self.dtypes = {dtype.name: dtype for dtype in facts.dtypes}
        self.types = types
        self.newest = newest  # the Python name of the newest version of the operator, if that is another one

    def rules(self) -> tuple[Rule, ...]:
        """All rules, the data rules last."""
        found: dict[str, Rule] = {}
        for key in ("rule", "data_rule"):
            for row in (row for table in self.tables for row in table.tables(key)):
                for rule in self.accepted(row, self.rule(row, key == "data_rule")):
                    same = {id_.replace("-", "_"): id_ for id_ in found}.get(rule.id.replace("-", "_"))
                    if same is not None:
                        row.error("id", f"{same} is the id of another rule")
                    found[rule.id] = rule
                row.finish()
        return tuple(found.values())

    def rule(self, row: Table, data: bool) -> Rule:
        names = tuple(field.python for field in self.fields)
        id_, about = row.str("id"), row.str("about")
        if about not in names:
            row.error("about", f"{about!r} is no field", did_you_mean(about, names))
        if not id_.startswith(f"{about}-"):
            row.error("id", f"an id begins with the field it is about: {about}-…")
        elif not RULE_ID.fullmatch(id_):
            row.error("id", f"{id_!r} is no id: small letters, digits, _ and -")
        elif id_.replace("-", "_") in self.formulas.scope:
            row.error("id", f"{id_.replace('-', '_')} is already the name of something", "choose another id")
        index, count = self.formulas.loop(row)
        each = row.str("each") if data and row.has("each") else None
        scope = self.formulas.inner(index, count)
        scope = scope if each is None or scope is None else self.elements(row, each, scope)
        that = self.formulas.formula(row, "that")
        fix = self.formulas.formula(row, "fix") if row.has("fix") else None
        if scope is not None:
            self.formulas.typed(that, scope, Kind.BOOL)
        if fix is not None and scope is not None:
            self.formulas.typed(fix, scope, Kind.INT, Kind.FLOAT)
        return Rule(
            id=id_,
            about=about,
            says=row.str("says"),
            index=index,
            count=count,
            that=that,
            hint=self.hint(row),
            fix=fix,
            provenance=row.choice("from", PROVENANCE),
            since=row.choice("since", self.levels) if row.has("since") else None,
            until=row.choice("until", self.levels) if row.has("until") else None,
            data=data,
            breaks=_breaks(row),
            span=row.span("id"),
            each=each,
        )

    def hint(self, row: Table) -> str:
        """The repair; ``{newest}`` stands for the newest version of the operator."""
        text = row.str("hint", "")
        if "{newest}" in text and self.newest is None:
            row.error("hint", "the operator has no newer version")
        return text.replace("{newest}", str(self.newest))

    def accepted(self, row: Table, rule: Rule) -> tuple[Rule, ...]:
        """The rule, or, with ``accepts``, what is left of it and the warning of what breaks it and is accepted."""
        table = row.table("accepts")
        if table is None:
            return (rule,)
        taken = self.formulas.formula(table, "that") if table.has("that") else None
        seen, evidence = table.choice("from", PROVENANCE), table.str("evidence")
        breaks = _breaks(table) if taken is not None else {}
        says = table.str("says", rule.says) if taken is not None else rule.says
        table.finish()
        accepts = f"{seen}: {evidence}"
        if taken is None:
            return (replace(rule, accepts=accepts),)
        scope = self.formulas.inner(rule.index, rule.count)
        if scope is not None:
            self.formulas.typed(taken, scope, Kind.BOOL)
        left, warned = (f"({rule.that.text}) or {word}({taken.text})" for word in ("", "not "))
        return (
            replace(rule, that=Formula(left, parse(left), rule.that.span)),
            replace(
                rule,
                id=f"{rule.id}-accepted",
                says=says,
                that=Formula(warned, parse(warned), rule.that.span),
                breaks=breaks,
                accepts=accepts,
            ),
        )

    def elements(self, row: Table, tensor: str, scope: Scope) -> Scope | None:
        """The scope of a rule on each element of a tensor, in another scope; None where there is no such tensor."""
        inputs = {field.python: field for field in self.fields if field.kind == "input"}
        if tensor not in inputs:
            row.error("each", f"{tensor!r} is no input tensor", did_you_mean(tensor, inputs))
        elif ELEMENT in scope:
            row.error("each", f"{ELEMENT} is the name of an element, and of something else")
        else:
            dtypes = {name for type_row in self.types.get(inputs[tensor].types or "", ()) for name in type_row.dtypes}
            known = [self.dtypes[name] for name in dtypes if name in self.dtypes]
            return {**scope, ELEMENT: element(known)}
        return None

    def all_independent(self, ranks: Mapping[str, tuple[RankRow, ...]]) -> tuple[Independent, ...]:
        """The axes along which the operator can be cut."""
        rows = [row for table in self.tables for row in table.tables("independent")]
        return tuple(finished(row, lambda row: self.independent(row, ranks)) for row in rows)

    def independent(self, row: Table, ranks: Mapping[str, tuple[RankRow, ...]]) -> Independent:
        index, count = self.formulas.loop(row)
        scope = self.formulas.inner(index, count)
        tensors = {field.python: field for field in self.fields if field.is_tensor}
        table = row.table("axes", required=True)
        names = () if table is None else table.keys()
        axes = {}
        if table is not None:
            for name in names:
                if name not in tensors:
                    table.error(name, f"{name!r} is no tensor", did_you_mean(name, tensors))
                axes[name] = self.formulas.formula(table, name)
            table.finish()
            if {tensors[name].kind if name in tensors else "input" for name in names} != {"input", "output"}:
                row.error("axes", "an independent axis is one of an input and of an output")
            else:
                self.every_output(row, names)
        one = Formula("1", parse("1"), None)
        takes, gives = (self.formulas.formula(row, key) if row.has(key) else one for key in ("takes", "gives"))
        when = self.formulas.formula(row, "when") if row.has("when") else None
        sized = self.sized(row)
        if scope is not None:
            if count is not None:
                self.formulas.least(count, self.formulas.scope, 0)
            for name, axis in axes.items():
                low = self.formulas.least(axis, scope, 0)
                rows = ranks.get(tensors[name].ranks or "", ()) if name in tensors else ()
                rank = min((one.min for one in rows), default=None)
                if low is not None and rank is not None and low >= rank:
                    problem = f"{name} of rank {rank} has no axis {low}"
                    self.formulas.report(axis.span, axis.text, ExprError(problem, 0, len(axis.text)))
            for entry in sized.values():
                self.formulas.least(entry, scope, 0)
            for size in (takes, gives):
                self.formulas.least(size, scope, 1)
            if when is not None:
                self.formulas.typed(when, scope, Kind.BOOL)
        return Independent(row.str("doc"), index, count, axes, sized, takes, gives, when, row.span("doc"))

    def every_output(self, row: Table, names: Iterable[str]) -> None:
        """Reports an output that has no such axis: it would not be cut."""
        for field in self.fields:
            if field.kind == "output" and not field.optional and field.python not in names:
                row.error("axes", f"{field.python!r} has no such axis", "every output that is not optional is cut")

    def sized(self, row: Table) -> dict[str, Formula]:
        """The attributes of which an entry is the size of a slice of the output, with this entry."""
        table = row.table("sized")
        if table is None:
            return {}
        arrays = [field.python for field in self.fields if field.kind == "attribute" and field.length is not None]
        found = {}
        for name in table.keys():
            if name not in arrays:
                table.error(name, f"{name!r} is no attribute with an entry for each axis", did_you_mean(name, arrays))
            found[name] = self.formulas.formula(table, name)
        table.finish()
        return found

    def interpretations(self) -> tuple[Interpretation, ...]:
        """The decisions of the operator; its family says later what the conditions of elements may read."""
        rows = [row for table in self.tables for row in table.tables("interpretation")]
        return tuple(finished(row, self.interpretation) for row in rows)

    def interpretation(self, row: Table) -> Interpretation:
        outputs = {field.python: field for field in self.fields if field.kind == "output"}
        given = row.strings("outputs", ())
        for name in given:
            if name not in outputs:
                row.error("outputs", f"{name!r} is no output", did_you_mean(name, outputs))
        for key in ("outputs", "when"):
            if row.has(key) and not row.has("not_judged"):
                row.error(key, f"{key} is of a condition: there is no not_judged")
        when = self.formulas.formula(row, "when") if row.has("when") else None
        if when is not None:
            self.formulas.typed(when, self.formulas.scope, Kind.BOOL)
        return Interpretation(
            row.str("id"),
            row.str("question"),
            row.str("choice"),
            row.str("evidence"),
            self.formulas.formula(row, "not_judged", in_conditions) if row.has("not_judged") else None,
            when,
            given,
            row.span("id"),
        )

    def device(self) -> Device | None:
        """The tolerance of devices in the spec; the last of several tables counts."""
        found = None
        for table in each(self.tables, "device"):
            found = Device(table.bool("flushes", None), table.number("absolute", 0.0), table.str("reason"))
            table.finish()
        return found

    def accuracy(self) -> Iterator[Accuracy]:
        for table in each(self.tables, "accuracy"):
            dtypes = table.keys()
            for dtype in dtypes:
                row = table.table(dtype)
                if row is not None:
                    ulp = self.formulas.formula(row, "ulp")
                    self.formulas.typed(ulp, self.formulas.scope, Kind.INT, Kind.FLOAT)
                    yield Accuracy(dtype, ulp, row.choice("of", ACCURACY_OF, "result"), table.key_span(dtype))
                    row.finish()
            table.finish()


def _breaks(row: Table) -> dict[str, Any]:
    """The changes of an example that break a rule."""
    breaks = row.any("breaks", {})
    if not isinstance(breaks, dict):
        row.error("breaks", "breaks are a table: { field = value }")
        return {}
    return breaks
