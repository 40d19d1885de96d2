"""The rows of an operator in the tables of the package: its fields, rules, lets and independent axes, as Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..expr.nodes import Call, Compare, Index, Name
from ..expr.numbers import numbers
from ..expr.python import python
from ..expr.text import formula, inside, sentence, spoken
from ..expr.types import within
from ..field_types import can_have, type_of
from ..model import ELEMENT, Enum, ErrorText, Facts, Field, Formula, Independent, Let, Operator, Rule, element
from .data import FieldPlan, FormulaPlan, IndependentPlan, LetPlan, RulePlan


class Tables:
    """The tables of one operator."""

    def __init__(self, operator: Operator, facts: Facts, enums: Mapping[str, Enum]) -> None:
        self.operator = operator
        self.facts = facts
        self.enums = enums
        self.scope = operator.scope
        self.since = facts.level_index(operator.since)

    def enum(self, name: str) -> Enum:
        """The enum of this DirectML name."""
        return self.enums[name]

    def with_terms(self, value: Formula | None) -> FormulaPlan | None:
        """A formula with the parts whose values a message shows."""
        if value is None:
            return None
        terms = tuple(
            (label, words, python(node, self.scope)) for label, words, node in inside(value.node, self.scope, self.says)
        )
        return replace(self.some(value), terms=terms)

    def axis_of(self, field: Field) -> FormulaPlan | None:
        """The sizes of the tensor whose number of axes a rule says to be above the field."""
        for rule in self.operator.rules:
            match rule.that.node:
                case Compare(op="<", left=Name(id=name) | Index(base=Name(id=name)), right=Call("rank", args)):
                    if name == field.python:
                        sizes = Call("sizes", args)
                        return self.some(Formula(formula(sizes), sizes, None))
        return None

    @property
    def says(self) -> dict[str, str]:
        """The words for the lets in messages, where the spec has them."""
        return {let.name: let.says for let in self.operator.lets if let.says}

    def some(self, value: Formula) -> FormulaPlan:
        reads = tuple(sorted(self.operator.reads(value.node)))
        guarded = tuple(sorted(self.operator.guarded(value.node)))
        text, said = formula(value.node), spoken(value.node, self.scope, self.says)
        code = python(value.node, self.scope)
        return FormulaPlan(text, reads, code, guarded=guarded, said="" if said == text else said)

    def field(self, field: Field) -> FieldPlan:
        first = self.operator.first_of_type(field) if field.is_tensor else None
        ids = []
        for error in self.facts.implicit:
            if can_have(field, error) and self.occurs(error, field):
                ids.append((f"DML-{self.operator.name}-{field.python}-{error.id}", error.error, error.about))
        return FieldPlan(
            field=field,
            default="MISSING" if field.default is None and not field.may_be_none else repr(field.default),
            sizes=self.with_terms(field.sizes),
            length=self.with_terms(field.length),
            max_length=self.with_terms(field.max_length),
            value=self.with_terms(field.value),
            hint_when=None if field.hint_when is None else self.some(field.hint_when),
            axis_of=self.axis_of(field),
            same_as=None if first is None else first.python,
            annotation=type_of(field).annotation(field, self.enum),
            accepted=type_of(field).accepted(field, self.enum),
            ids=tuple(ids),
            open=field.kind == "output" and self.operator.is_open(field),
            among=tuple(self.facts.held_by(self.operator.name).items()) if field.among else (),
            is_fused=self.facts.is_fused(self.operator.name),
            part=self.part(field) if field.kind == "chosen" else None,
        )

    def part(self, field: Field) -> tuple[str, int, int]:
        output, before, after = self.operator.of_chosen(field)
        return output.python, before, after

    def occurs(self, error: ErrorText, field: Field) -> bool:
        """Whether an implicit error that applies to this kind of field can occur for this one."""
        match error.when:
            case "tied":
                return field.is_tensor or field.value is not None
            case "unowned":
                return not field.owned
            case "later":
                return any(self.facts.level_index(level) > self.since for level in self.arrivals(field))
        return True

    def arrivals(self, field: Field) -> list[str]:
        """The levels that brought something of this field."""
        if field.is_tensor:
            dtypes = [row.since for row in self.operator.types[field.types or ""]]
            return dtypes + [row.since for row in self.operator.ranks[field.ranks or ""]]
        if field.among:
            return list(self.facts.held_by(self.operator.name).values())
        return (
            [] if field.enum is None or field.value is not None else [m.since for m in self.enums[field.enum].members]
        )

    def rule(self, rule: Rule) -> RulePlan:
        scope, domain = self.scope, None
        if rule.index is not None and rule.count is not None:
            scope = within(self.scope, rule.index, rule.count.node)
            domain = python(rule.count.node, self.scope)
        each = {}
        if rule.each is not None:
            types = self.operator.types[self.operator.field(rule.each).types or ""]
            each = {ELEMENT: element(self.facts.dtype(name) for row in types for name in row.dtypes)}
            scope = {**scope, **each}
        said = sentence(rule.that.node, scope, rule.index, rule.about, self.says)
        nodes = [formula.node for formula in (rule.that, rule.count) if formula is not None]
        reads = self.operator.reads(*nodes) - ({rule.index} if rule.index else set())
        reads |= {f"{rule.each}.{facet}" for facet in ("sizes", "dtype") if rule.each is not None}
        return RulePlan(
            rule=rule,
            id=f"DML-{self.operator.name}-{rule.id}",
            text=formula(rule.that.node),
            domain_text=self.run_text(rule),
            shown=said.shown,
            terms=tuple((label, words, python(node, scope)) for label, words, node in said.terms),
            reads=tuple(sorted(reads)),
            method=rule.id.replace("-", "_"),
            holds=python(rule.that.node, scope),
            domain=domain,
            fix=None if rule.fix is None else python(rule.fix.node, scope),
            guarded=tuple(sorted(self.operator.guarded(*nodes))),
            of_all=None if rule.each is None else numbers(rule.that.node, scope),
        )

    def run_text(self, rule: Rule) -> str | None:
        """Which values the names in a rule take: ``d in spatial``, or ``v of indices``."""
        loop = self.loop_text(rule.index, rule.count)
        if rule.each is None:
            return loop
        return f"{ELEMENT} of {rule.each}" + ("" if loop is None else f", at {loop} of its last axis")

    def ids(self, fields: Iterable[FieldPlan], rules: Iterable[RulePlan]) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        for error in self.facts.implicit:
            if "operator" in error.applies and (error.when != "later" or self.since > 0):
                found[f"DML-{self.operator.name}-operator-{error.id}"] = error.about
        for field in fields:
            found.update({id_: about for id_, _, about in field.ids})
        for rule in rules:
            found[rule.id] = f"{rule.rule.about} {rule.rule.says}: {rule.text} must hold."
        return tuple(sorted(found.items()))

    def independent(self, one: Independent) -> IndependentPlan:
        scope, domain = self.scope, None
        if one.index is not None and one.count is not None:
            scope = within(self.scope, one.index, one.count.node)
            domain = python(one.count.node, self.scope)
        return IndependentPlan(
            one.doc,
            one.index,
            self.loop_text(one.index, one.count),
            domain,
            tuple((name, python(axis.node, scope)) for name, axis in one.axes.items()),
            tuple((name, python(entry.node, scope)) for name, entry in one.sized.items()),
            python(one.takes.node, scope),
            python(one.gives.node, scope),
            None if one.when is None else (formula(one.when.node), python(one.when.node, scope)),
        )

    def let(self, let: Let) -> LetPlan:
        scope = self.scope
        if let.index is not None and let.count is not None:
            scope = within(self.scope, let.index, let.count.node)
        loop = self.loop_text(let.index, let.count)
        value = let.value.node
        return LetPlan(let.name, let.index, loop, formula(value), let.doc, let.each, python(value, scope))

    def loop_text(self, index: str | None, count: Formula | None) -> str | None:
        """``d in spatial``."""
        return None if count is None else f"{index} in {formula(count.node)}"
