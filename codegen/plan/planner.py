"""Plans one operator: its tensors, how a call takes its attributes, its checks and its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..diagnostics import Diagnostics
from ..expr.nodes import Name
from ..expr.text import alternatives
from ..families import Family, Loops
from ..field_types import Taken, type_of
from ..model import Enum, Facts, Field, Operator, snake
from ..names import level
from .data import CompiledPlan, OperatorPlan
from .levels import LevelTables
from .step import Step, TakeStep
from .steps import Steps, ends_of, looks_at_each
from .tables import Tables
from .taken import AttributePlan
from .unjudged import unjudged

NOT_TAKEN = Taken((), "", "")
NO_KERNEL = "no [kernel] says what the operator computes"


class Planner:
    """Plans one operator: without a family one that is described, where no loops compute it one of the reference."""

    def __init__(
        self,
        operator: Operator,
        facts: Facts,
        enums: Mapping[str, Enum],
        family: Family | None,
        loops: Loops | None,
        diagnostics: Diagnostics,
    ) -> None:
        self.operator = operator
        self.facts = facts
        self.family = family
        self.loops = loops
        self.diagnostics = diagnostics
        self.levels = LevelTables(operator, facts)
        self.steps = Steps(operator, facts, self.levels)
        self.tables = Tables(operator, facts, enums)

    def plan(self) -> OperatorPlan | None:
        """The plan of the operator, with loops where these can be generated; None, and problems reported."""
        untaken = [] if self.family is None else list(self.untaken())
        for field in untaken:
            self.diagnostics.error(field.span, f"{field.name} is optional: no call takes None for a {field.type} yet")
        if untaken:
            return None
        kernel = None if self.family is None else self.family.plan(self.operator, self.facts, self.diagnostics)
        return self.planned(kernel, self.no_loops(kernel))

    def no_loops(self, kernel: Any) -> str | None:
        """Why there are no loops for what ``[kernel]`` says, in a clause; None: nothing is known to lack."""
        if self.family is None:
            return NO_KERNEL
        without = next(self.tensors_without_loops(), None)
        if without is not None:
            return without
        if self.loops is None:
            return f"family {self.family.name} has none yet"
        rules = (
            f"the rule {rule.id} is on each element of {rule.each}, which no compiled call checks yet"
            for rule in self.operator.rules
            if rule.each is not None and ends_of(rule, self.operator) is None and not looks_at_each(rule, self.operator)
        )
        return self.loops.covers(self.operator, kernel) or next(rules, None)

    def tensors_without_loops(self) -> Iterator[str]:
        """The tensors that no loops take yet, a clause for each."""
        for field in self.operator.tensors:
            if type_of(field).several and not (self.loops is not None and self.loops.takes_arrays):
                yield f"{field.name} is an array of tensors, which no loops take yet"
            elif self.has_halves(field) and not (self.loops is not None and self.loops.takes_halves):
                yield f"{field.name} is a tensor that may have elements of 4 bits, which no loops take yet"

    def planned(self, kernel: Any, no_loops: str | None) -> OperatorPlan:
        """The plan; a call that cannot be compiled raises NotCompiled."""
        operator = self.operator
        tensors = tuple(self.levels.tensor(field) for field in operator.tensors)
        compiles = self.family is not None
        attributes = tuple(self.attribute(field, compiles) for field in operator.attributes)
        chosen = tuple(self.attribute(field, compiles) for field in operator.chosen)
        requests = tuple(self.request(field) for field in operator.outputs if operator.is_asked(field))
        requests += tuple(self.sizes(field) for field in operator.outputs if operator.sized_by(field) is not None)
        compiled = None
        if compiles:
            loops = self.loops if no_loops is None else None
            needs = () if loops is None else loops.needs(kernel)
            compiled = self.compiled(needs, (*chosen, *attributes), requests, values=loops is not None)
        fields = tuple(self.tables.field(field) for field in operator.fields)
        choices = tuple(self.tables.field(field) for field in operator.chosen)
        rules = tuple(self.tables.rule(rule) for rule in operator.rules)
        return OperatorPlan(
            operator=operator,
            name=operator.name,
            python=operator.python,
            desc=operator.desc,
            since=self.tables.since,
            level_tables=tuple(self.levels.tables.values()),
            tensors=tensors,
            attributes=attributes,
            requests=requests,
            chosen=chosen,
            fields=fields,
            choices=choices,
            rules=rules,
            independent=tuple(self.tables.independent(one) for one in operator.independent),
            lets=tuple(self.tables.let(let) for let in operator.lets),
            accuracy=tuple((row.dtype, self.tables.some(row.ulp), row.of) for row in operator.accuracy),
            pieces=None if self.family is None else self.family.pieces(kernel),
            kernel=kernel,
            compiled=compiled,
            no_loops=no_loops,
            unjudged=tuple(unjudged(operator, self.facts, self.family, self.diagnostics)),
            in_place=tuple(snake(name) for name in self.facts.catalogue[operator.name].in_place),
            prepared=() if self.loops is None or no_loops is not None else tuple(self.loops.prepared(kernel)),
            ids=self.tables.ids((*fields, *choices), rules),
        )

    def compiled(
        self,
        needs: Iterable[str],
        attributes: Iterable[AttributePlan],
        requests: Iterable[AttributePlan],
        values: bool,
    ) -> CompiledPlan:
        """The steps of a compiled call.

        ``needs``: lets that its kernel reads; ``values``: whether the call checks values of inputs.
        """
        operator, steps = self.operator, self.steps
        asked = {request.field.python: TakeStep(request) for request in requests if request.takes_type}
        outputs = [field for field in operator.outputs if not type_of(field).several]  # these get it with their sizes
        take: list[Step] = [asked.get(field.python) or steps.follow(field) for field in outputs]
        take += (TakeStep(request) for request in requests if not request.takes_type)
        for attribute in sorted(attributes, key=lambda one: one.field.length is not None):  # a length may read others
            for formula in (attribute.field.length, attribute.field.max_length):
                if formula is not None:
                    steps.require(formula.node, take)
            take.append(TakeStep(attribute))
        take_overflows, steps.cython.overflows = steps.cython.overflows, False
        checks = steps.checks()
        for needed in needs:
            steps.require(Name(needed), checks)
        data_rules = [rule for rule in operator.rules if values and rule.data and not rule.warns]
        for rule in data_rules:
            steps.require(rule.that.node, checks)
            if rule.count is not None:
                steps.require(rule.count.node, checks)
        overflows, steps.cython.overflows = steps.cython.overflows, False
        data_checks = tuple(steps.check(rule) for rule in data_rules)
        data_overflows, steps.cython.overflows = steps.cython.overflows, False
        return CompiledPlan(
            let_declarations=tuple(
                f"int64_t {let.name}" + ("" if let.index is None else "[MAX_RANK]")
                for let in operator.lets
                if let.name in steps.done
            ),
            take=tuple(take),
            take_overflows=take_overflows,
            checks=tuple(checks),
            overflows=overflows,
            data_checks=data_checks,
            data_overflows=data_overflows,
        )

    def untaken(self) -> Iterator[Field]:
        """The optional fields that no call takes yet."""
        for field in self.operator.fields:
            if field.optional and not type_of(field).may_be_nothing:
                yield field

    def has_halves(self, field: Field) -> bool:
        """Whether a tensor may have elements that share a byte."""
        rows = self.operator.types[field.types or ""]
        return any(self.facts.dtype(name).bits < 8 for row in rows for name in row.dtypes)

    def attribute(self, field: Field, compiles: bool) -> AttributePlan:
        """How a call takes an attribute; ``compiles``: a compiled call."""
        taken = type_of(field).taken(field, self) if compiles else NOT_TAKEN
        summary, takes = type_of(field).said(field, self)
        return AttributePlan(
            python=field.python,
            declarations=taken.declarations,
            take=taken.take,
            value=taken.value,
            members=taken.members,
            default=None if field.default is None and not field.may_be_none else repr(field.default),
            doc=field.doc,
            summary=summary,
            takes=takes,
            field=field,
            in_desc=None if field.kind != "chosen" else self.tables.part(field),
        )

    def count(self, field: Field) -> str:
        """The number of entries of an array in Cython."""
        assert field.length is not None
        self.steps.reading = field.length
        return self.steps.cython.expression(field.length.node)

    def most(self, field: Field) -> str:
        """The most entries of an array that is as long as it is given, in Cython."""
        assert field.max_length is not None
        return self.steps.cython.expression(field.max_length.node)

    def dtype(self, field: Field) -> str:
        """The data type of a number whose data type another field holds, in Cython."""
        holder = next(one for one in self.operator.fields if field.types in (one.name, one.python))
        return f"a.{holder.python}" if holder.value is None else self.steps.cython.expression(holder.value.node)

    def name(self) -> str:
        """The name of the operator in DirectML."""
        return self.operator.name

    def enum(self, name: str) -> Enum:
        """The enum of this DirectML name."""
        return self.tables.enum(name)

    def members(self, enum: Enum) -> str:
        """The name of the table that has the members of an enum by feature level."""
        return self.levels.members(enum)

    def first_tensor(self) -> str:
        """The Python name of the first tensor."""
        return self.operator.tensors[0].python

    def request(self, field: Field) -> AttributePlan:
        """The keyword by which a call asks for an optional output, or for the data type of one."""
        name, first = field.python, self.operator.first_of_type(field)
        if not field.optional:
            return self.data_type(field)
        dtypes = [name for row in self.operator.types[field.types or ""] for name in row.dtypes]
        if first is None:
            default, summary = self.operator.default_row(field).dtypes[0], "bool or data type"
            takes = f"True: with data type {default}. Else one of {alternatives(dtypes)}."
        else:
            default, summary, takes = self.steps.type_before(field), "bool", ""
        has_others = any(not one.optional for one in self.operator.outputs)
        return AttributePlan(
            python=name,
            declarations=(),
            take=f"take_output(<object>keywords.{name}, {default}, &a.{name}.dtype)",
            value="",
            members=None,
            default="False",
            doc=f"Whether the result has {name}{' too: a tuple then' * has_others}. {field.doc}",
            summary=summary,
            takes=takes,
            field=field,
            in_desc=(name, -1, 0),
        )

    def sizes(self, field: Field) -> AttributePlan:
        """The keyword by which a call says the sizes of an output."""
        name = self.operator.sized_by(field)
        assert name is not None
        several = type_of(field).several
        take = f"take_asked(<object>keywords.{name}, <object>keywords.out, {self.place(field)}, &a.{field.python})"
        if several:
            dtype = self.steps.follow(field).dtype
            take = f"take_each(<object>keywords.{name}, <object>keywords.out, {dtype}, &a.{field.python}.several)"
        default = "those of ``out``" if field.sizes is None else "those of ``out``, or the least"
        absent = f"a.{field.python}.dtype == 0 or " if field.optional else ""
        return AttributePlan(
            python=name,
            declarations=(),
            take=f"({absent}{take})" if absent else take,
            value="",
            members=None,
            default="None",
            doc=f"Sizes of {'each of ' if several else ''}{field.python}.",
            summary="sequence of sequences of int" if several else "sequence of int",
            takes=f"None: {default}.",
            field=field,
            in_desc=(field.python, 0, 0),
            annotation=f"{'Sequence[_Ints]' if several else '_Ints'} | None",
        )

    def place(self, output: Field) -> str:
        """Where an output is in ``out``, and how many outputs a call has, in Cython."""
        outputs = self.operator.outputs
        there = [f"(a.{one.python}.dtype != 0)" if one.optional else "1" for one in outputs]
        before = there[: outputs.index(output)]
        return f"{' + '.join(before) or '0'}, {' + '.join(there)}"

    def data_type(self, field: Field) -> AttributePlan:
        """The keyword by which a call says which data type an output has that no input fixes."""
        dtypes = [name for row in self.operator.types[field.types or ""] for name in row.dtypes]
        first = self.operator.first_of_type(field)
        row = self.operator.default_row(field)
        default = row.dtypes[0] if first is None else f"that of {first.python}, or {row.dtypes[0]} without it"
        if row.default and self.facts.level_index(row.since) > self.facts.level_index(self.operator.since):
            default += f", before feature level {row.since} {dtypes[0]}"
        if self.operator.has_limits(field):
            default = "the first of these that the call can have"
        return AttributePlan(
            python=f"{field.python}_dtype",
            declarations=(),
            take=self.open_type(field),
            value="",
            members=None,
            default="None",
            doc=f"Data type of {field.python}.",
            summary="data type",
            takes=f"One of {alternatives(dtypes)}. None: {default}.",
            field=field,
            in_desc=(field.python, -1, 0),
        )

    def open_type(self, field: Field) -> str:
        """How a compiled call takes the data type of an output that no input fixes."""
        name, row = field.python, self.operator.default_row(field)
        default = row.dtypes[0]
        if self.facts.level_index(row.since) > self.facts.level_index(self.operator.since):
            oldest = self.operator.types[field.types or ""][0].dtypes[0]
            default = f"{default} if level >= {level(row.since)} else {oldest}"
        default = self.steps.type_before(field, default)
        alone = len(self.operator.outputs) == 1
        return f"take_open(<object>keywords.{name}_dtype, <object>keywords.out, {alone}, {default}, &a.{name}.dtype)"
