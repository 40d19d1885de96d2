"""Every name, table and line that the templates lay out, decided here.

A plan is plain data: text that is ready to stand in Cython, Python or Markdown. Templates do no arithmetic and know no
operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .diagnostics import Diagnostics
from .expr.cython import Cython
from .expr.nodes import Each, ExprError, Index, Logic, Name, Node, Sizes, Splat
from .expr.python import python
from .expr.text import alternatives, formula, inside, sentence
from .expr.types import Scope, within
from .families import FAMILIES, Family, WindowRoles
from .field_types import FieldType, type_of
from .model import DTYPE_ENUM, Enum, ErrorText, Example, Facts, Field, Formula, Independent, Let, Operator, Rule, Specs

INDENT = "    "


@dataclass(frozen=True, slots=True)
class LevelTable:
    """A C table with one set of values (bit n: value n) per feature level."""

    name: str
    sets: tuple[int, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The sets in hexadecimal, as lines of C."""
        texts = [f"0x{value:x}" for value in self.sets]
        return tuple(", ".join(texts[start : start + 8]) for start in range(0, len(texts), 8))


@dataclass(frozen=True, slots=True)
class TensorPlan:
    """A tensor in the C struct of its operator."""

    python: str
    kind: str
    dtypes: str  # name of the level tables
    ranks: str
    same_as: str | None
    optional: bool  # it may be left out: its data type is 0 then
    call_rank: int | None  # a call may leave leading ones out, up to this rank
    desc_rank: int | None  # a desc may add leading ones; the kernel sees this rank
    doc: str
    takes: str  # "Rank 4; data type FLOAT32 or FLOAT16."


@dataclass(frozen=True, slots=True)
class AttributePlan:
    """An attribute that the caller gives, or whether a call asks for an optional output."""

    python: str
    declarations: tuple[str, ...]
    take: str  # the condition that takes it from Python
    value: str  # what was taken, as Python has it
    members: str | None  # name of the level table of an enum
    default: str | None  # as Python
    doc: str
    summary: str  # numpydoc type
    takes: str  # which values of the type, in a sentence
    field: Field
    of_desc: str  # where a desc has it, as Python


@dataclass(frozen=True, slots=True)
class LetStep:
    """Computes a let."""

    name: str
    index: str | None
    count: str | None
    value: str


@dataclass(frozen=True, slots=True)
class CheckStep:
    """Refuses where one of the conditions of a rule does not hold, for all values of the indices."""

    rule: str
    loops: tuple[tuple[str, str], ...]  # (index, count), the outer one first
    conditions: tuple[str, ...]

    @property
    def indent(self) -> str:
        """In front of the conditions."""
        return INDENT * (len(self.loops) + 1)


@dataclass(frozen=True, slots=True)
class SizesStep:
    """Gives an output its sizes, or compares those of an input; the data type of ``dtype_of`` too, if it has one."""

    tensor: TensorPlan
    dtype_of: str | None
    items: tuple[tuple[str, str | None], ...]  # (size, None) or (vector, count)


@dataclass(frozen=True, slots=True)
class TakeStep:
    """Takes an attribute."""

    attribute: AttributePlan


Step = LetStep | CheckStep | SizesStep | TakeStep


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A rule as the tables of the package hold it."""

    rule: Rule
    id: str
    text: str
    domain_text: str | None
    shown: str
    labels: tuple[str, ...]
    terms: tuple[str, ...]  # Python
    reads: tuple[str, ...]
    method: str
    holds: str  # Python
    domain: str | None
    fix: str | None


@dataclass(frozen=True, slots=True)
class IndependentPlan:
    """An independent axis as the tables of the package hold it: its expressions as Python."""

    doc: str
    index: str | None
    loop: str | None  # d in axes
    domain: str | None
    axes: tuple[tuple[str, str], ...]
    takes: str
    gives: str
    when: tuple[str, str] | None  # text, Python


@dataclass(frozen=True, slots=True)
class FormulaPlan:
    """A formula of a field as the tables of the package hold it."""

    text: str
    reads: tuple[str, ...]
    python: str
    terms: tuple[tuple[str, str], ...] = ()  # what a message shows the values of: label, Python


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """A field as the tables of the package and the docs show it."""

    field: Field
    default: str
    sizes: FormulaPlan | None
    length: FormulaPlan | None
    value: FormulaPlan | None
    same_as: str | None
    annotation: str  # in the desc class
    accepted: str  # by the constructor of the desc class, in a few words
    ids: tuple[tuple[str, str, str], ...]  # (id, error class, about) of its implicit errors
    open: bool  # an output whose sizes are in part the caller's choice
    part: tuple[str, int, int] | None  # of a choice: the output, and how many of its sizes are before and after it

    @property
    def type(self) -> FieldType:
        """What codegen knows of its type."""
        return type_of(self.field)

    @property
    def required(self) -> bool:
        """Whether a desc must be given it: it has no default and does not follow from other fields."""
        inferred = self.field.value is not None or (
            self.field.kind == "output" and self.sizes is not None and not self.open
        )
        return self.field.default is None and not inferred


@dataclass(frozen=True, slots=True)
class OperatorPlan:
    """Everything the templates need of one operator."""

    operator: Operator
    name: str
    python: str
    desc: str
    since: int
    level_tables: tuple[LevelTable, ...]
    tensors: tuple[TensorPlan, ...]
    attributes: tuple[AttributePlan, ...]
    requests: tuple[AttributePlan, ...]  # for optional outputs
    chosen: tuple[AttributePlan, ...]
    let_declarations: tuple[str, ...]
    take: tuple[Step, ...]
    take_overflows: bool
    checks: tuple[Step, ...]
    overflows: bool
    data_checks: tuple[CheckStep, ...]
    fields: tuple[FieldPlan, ...]
    choices: tuple[FieldPlan, ...]
    rules: tuple[RulePlan, ...]
    independent: tuple[IndependentPlan, ...]
    lets: tuple[tuple[str, str | None, str | None, str, str, str, str], ...]  # name, index, loop, text, doc, each, code
    accuracy: tuple[tuple[str, FormulaPlan, str], ...]  # data type, ULP, of what
    window: WindowRoles | None
    pieces: str | None  # along which other axes than the independent ones a call can be cut
    kernel: Any

    def chosen_in(self, example: Example) -> dict[str, tuple[int, ...]]:
        """The sizes that the caller of an example chose."""
        found = {}
        for item in self.choices:
            assert item.part is not None
            output, before, after = item.part
            sizes = example.outputs[output].sizes
            found[item.field.python] = sizes[before : len(sizes) - after]
        return found

    def indices(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """The loop indices of some steps."""
        names: dict[str, None] = {}
        for step in steps:
            if isinstance(step, LetStep) and step.index is not None:
                names[step.index] = None
            elif isinstance(step, CheckStep):
                names.update(dict.fromkeys(index for index, _ in step.loops))
        return tuple(names)

    @property
    def inputs(self) -> tuple[TensorPlan, ...]:
        """The input tensors."""
        return tuple(tensor for tensor in self.tensors if tensor.kind == "input")

    @property
    def outputs(self) -> tuple[TensorPlan, ...]:
        """The output tensors."""
        return tuple(tensor for tensor in self.tensors if tensor.kind == "output")

    @property
    def output(self) -> TensorPlan:
        """The output tensor."""
        return self.outputs[0]

    @property
    def enums(self) -> tuple[str, ...]:
        """DirectML names of the enums that its attributes take."""
        names = (attribute.field.enum for attribute in self.attributes)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def taken(self) -> tuple[AttributePlan, ...]:
        """What a caller gives beside tensors, in the order in which it is taken."""
        return (*self.chosen, *self.attributes)

    @property
    def parameters(self) -> tuple[AttributePlan, ...]:
        """The same in the order of a signature: first what has no default."""
        return tuple(sorted(self.taken, key=lambda attribute: attribute.default is not None))

    @property
    def keywords(self) -> tuple[AttributePlan, ...]:
        """What a call takes by name, in the order of a signature."""
        return (*self.parameters, *self.requests)


@dataclass(frozen=True, slots=True)
class FamilyPlan:
    """One generated extension module."""

    family: Family
    operators: tuple[OperatorPlan, ...]
    kernels: Mapping[str, Any]

    @property
    def enums(self) -> tuple[str, ...]:
        """DirectML names of the enums that the module reads."""
        return tuple(dict.fromkeys(name for operator in self.operators for name in operator.enums))


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is generated."""

    specs: Specs
    facts: Facts
    enums: tuple[Enum, ...]
    operators: tuple[OperatorPlan, ...]
    families: tuple[FamilyPlan, ...]
    ids: tuple[tuple[str, str], ...]  # (id, what it means), sorted

    def enum(self, name: str) -> Enum:
        """The enum of that DirectML name."""
        return next(enum for enum in self.enums if enum.name == name)


def plan(specs: Specs, diagnostics: Diagnostics) -> Plan:
    """Decides everything; problems of kernels go to ``diagnostics``."""
    facts = specs.facts
    enums = (_dtype_enum(facts), *facts.enums.values())
    planned: list[OperatorPlan] = []
    for operator in specs.operators.values():
        family = FAMILIES.get(operator.family)
        if family is None:
            diagnostics.error(
                operator.family_span, f"there is no family {operator.family!r}", f"families: {', '.join(FAMILIES)}"
            )
            continue
        planner = _Planner(operator, facts, enums, family, diagnostics)
        known = len(diagnostics.errors)
        for field in operator.fields:
            planner.supported(field)
        if len(diagnostics.errors) > known:
            continue
        try:
            planned.append(planner.plan())
        except ExprError as error:
            reading = planner.reading
            if reading is None or reading.span is None:
                diagnostics.error(operator.fields[0].span, f"{operator.name}: {error.message}", error.hint)
            else:
                span = reading.span.inside(reading.text, error.at, error.length)
                diagnostics.error(span, error.message, error.hint)
    diagnostics.raise_if_any()
    families = []
    for name, family in FAMILIES.items():
        members = tuple(operator for operator in planned if operator.operator.family == name)
        if members:
            families.append(FamilyPlan(family, members, family.module([operator.kernel for operator in members])))
    return Plan(specs, facts, enums, tuple(planned), tuple(families), _ids(facts, planned))


def constants(facts: Facts) -> dict[str, int]:
    """Values of the short names that an expression may compare with: the data types."""
    return {dtype.name: dtype.value for dtype in facts.dtypes}


def _dtype_enum(facts: Facts) -> Enum:
    from .model import EnumMember

    members = tuple(
        EnumMember(dtype.name, dtype.value, dtype.since, f"{dtype.bits} bits", ()) for dtype in facts.dtypes
    )
    source = "https://learn.microsoft.com/windows/win32/api/directml/ne-directml-dml_tensor_data_type"
    return Enum(DTYPE_ENUM, f"{DTYPE_ENUM}_", "TensorDataType", False, "1_0", source, None, members)


def _ids(facts: Facts, operators: Sequence[OperatorPlan]) -> tuple[tuple[str, str], ...]:
    ids = {error.id: error.about for error in facts.model_errors}
    for operator in operators:
        for error in facts.implicit:
            if "operator" in error.applies and (error.when != "later" or operator.since > 0):
                ids[f"DML-{operator.name}-operator-{error.id}"] = error.about
        for field in (*operator.fields, *operator.choices):
            ids.update({id_: about for id_, _, about in field.ids})
        for rule in operator.rules:
            ids[rule.id] = f"{rule.rule.about} {rule.rule.says}: {rule.text} must hold."
    return tuple(sorted(ids.items()))


class _Planner:
    """Plans one operator."""

    def __init__(
        self, operator: Operator, facts: Facts, enums: Sequence[Enum], family: Family, diagnostics: Diagnostics
    ) -> None:
        self.operator = operator
        self.facts = facts
        self.enums = {enum.name: enum for enum in enums}
        self.family = family
        self.diagnostics = diagnostics
        self.scope = operator.scope
        self.cython = Cython(self.scope, constants=self.constants(), data=self.data)
        self.upper = operator.name
        self.since = facts.level_index(operator.since)
        self.reading: Formula | None = None  # the formula being rendered, for the place of an error
        self.done: set[str] = set()  # lets and sizes already computed
        self.tables: dict[str, LevelTable] = {}

    def constants(self) -> dict[str, int]:
        known = constants(self.facts)
        for field in self.operator.attributes:
            if field.enum is not None and field.enum != DTYPE_ENUM:
                known.update({member.name: member.value for member in self.enums[field.enum].members})
        return known

    def data(self, node: Index) -> str:
        """How an element of a tensor is read."""
        assert isinstance(node.base, Name)
        indices = ", ".join(self.cython.expression(i) if not isinstance(i, Name) else i.id for i in node.indices)
        return f"element{len(node.indices)}(&a.{node.base.id}, {indices})"

    def plan(self) -> OperatorPlan:
        operator = self.operator
        tensors = tuple(self.tensor(field) for field in operator.tensors)
        attributes = tuple(self.attribute(field) for field in operator.attributes)
        chosen = tuple(self.attribute(field) for field in operator.chosen)
        take: list[Step] = []
        for attribute in (*chosen, *attributes):
            if attribute.field.length is not None:
                self.require(attribute.field.length.node, take)
            take.append(TakeStep(attribute))
        requests = tuple(self.request(field) for field in operator.outputs if field.optional)
        take += map(TakeStep, requests)
        take_overflows, self.cython.overflows = self.cython.overflows, False
        checks = self.checks(tensors)
        kernel = self.family.plan(operator, self.facts, self.diagnostics)
        for needed in self.family.needs(kernel):
            self.require(Name(needed), checks)
        for rule in operator.rules:
            if rule.data:
                self.require(rule.that.node, checks)
                if rule.count is not None:
                    self.require(rule.count.node, checks)
        overflows, self.cython.overflows = self.cython.overflows, False
        data = tuple(self.check(rule) for rule in operator.rules if rule.data)
        return OperatorPlan(
            operator=operator,
            name=operator.name,
            python=operator.python,
            desc=operator.desc,
            since=self.since,
            level_tables=tuple(self.tables.values()),
            tensors=tensors,
            attributes=attributes,
            requests=requests,
            chosen=chosen,
            let_declarations=tuple(
                f"int64_t {let.name}" + ("" if let.index is None else "[MAX_RANK]")
                for let in operator.lets
                if let.name in self.done
            ),
            take=tuple(take),
            take_overflows=take_overflows,
            checks=tuple(checks),
            overflows=overflows,
            data_checks=data,
            fields=tuple(self.field(field) for field in operator.fields),
            choices=tuple(self.field(field) for field in operator.chosen),
            rules=tuple(self.rule(rule) for rule in operator.rules),
            independent=tuple(self.independent(one) for one in operator.independent),
            lets=tuple(self.let(let) for let in operator.lets),
            accuracy=tuple((row.dtype, self.some(row.ulp), row.of) for row in operator.accuracy),
            window=self.family.window(operator, kernel),
            pieces=self.family.pieces(kernel),
            kernel=kernel,
        )

    def supported(self, field: Field) -> None:
        """Fields that no family emits yet are refused by name."""
        outputs = self.operator.outputs
        if not field.is_tensor and not type_of(field).is_taken:
            what = field.type
        elif field.optional and (field.kind != "output" or field is outputs[0]):
            what = f"an optional {field.kind}" if field is not outputs[0] else "an optional first output"
        elif field.kind == "output" and not field.optional and self.operator.first_of_type(field) is None:
            what = "an output whose data type is that of no tensor before it"
        else:
            return
        self.diagnostics.error(field.span, f"{field.name} is {what}: no family emits such a field yet")

    # Tensors

    def table(self, name: str, sets: list[int]) -> str:
        self.tables[name] = LevelTable(name, tuple(sets))
        return name

    def dtype_table(self, variable: str) -> str:
        values = constants(self.facts)
        sets = []
        for index in range(len(self.facts.levels)):
            known = {
                name
                for row in self.operator.types[variable]
                if self.facts.level_index(row.since) <= index
                for name in row.dtypes
            }
            sets.append(sum(1 << values[name] for name in known))
        return self.table(f"{self.upper}_{variable}", sets)

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
        return self.table(f"{self.upper}_{variable}_RANKS", sets)

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
            call_rank=rank if field.leading_ones == "call" else None,
            desc_rank=rank if field.leading_ones == "desc" else None,
            doc=field.doc,
            takes=f"Rank {low}{f' to {high}' if high > low else ''}; data type {alternatives(dtypes)}.",
        )

    # Attributes

    def attribute(self, field: Field) -> AttributePlan:
        taken = type_of(field).taken(field, self)
        return AttributePlan(
            python=field.python,
            declarations=taken.declarations,
            take=taken.take,
            value=taken.value,
            members=taken.members,
            default=None if field.default is None else repr(field.default),
            doc=field.doc,
            summary=taken.summary,
            takes=taken.takes,
            field=field,
            of_desc=self.of_desc(field),
        )

    def count(self, field: Field) -> str:
        """The number of entries of an array in Cython."""
        assert field.length is not None
        return self.cython.expression(field.length.node)

    def enum(self, name: str) -> Enum:
        """The enum of this DirectML name."""
        return self.enums[name]

    def first_tensor(self) -> str:
        """The Python name of the first tensor."""
        return self.operator.tensors[0].python

    def of_desc(self, field: Field) -> str:
        if field.kind != "chosen":
            return f"desc.{field.python}"
        output, before, after = self.part(field)
        return f"desc.{output}.sizes[{before}:{-after if after else ''}]"

    def request(self, field: Field) -> AttributePlan:
        """The keyword by which a call asks for an optional output."""
        name, first = field.python, self.operator.first_of_type(field)
        dtypes = [name for row in self.operator.types[field.types or ""] for name in row.dtypes]
        if first is None:
            default, summary = str(constants(self.facts)[dtypes[0]]), "bool or data type"
            takes = f"True: with data type {dtypes[0]}. Else one of {alternatives(dtypes)}."
        else:
            default, summary, takes = f"a.{first.python}.dtype", "bool", ""
        return AttributePlan(
            python=name,
            declarations=(),
            take=f"take_output({name}, {default}, &a.{name}.dtype)",
            value="",
            members=None,
            default="False",
            doc=f"Whether the result has {name} too: a tuple then. {field.doc}",
            summary=summary,
            takes=takes,
            field=field,
            of_desc=f"None if desc.{name} is None else desc.{name}.dtype",
        )

    def members(self, enum: Enum) -> str:
        sets = []
        for index in range(len(self.facts.levels)):
            sets.append(sum(1 << m.value for m in enum.members if self.facts.level_index(m.since) <= index))
        return self.table(f"{self.upper}_{enum.name.removeprefix('DML_')}", sets)

    # Lets, rules and sizes, each after what it reads

    def require(self, node: Node, steps: list[Step]) -> None:
        """Adds the steps that compute what ``node`` reads and is not computed yet."""
        lets = {let.name: let for let in self.operator.lets}
        for part in node.walk():
            if isinstance(part, Name) and part.id in self.scope:
                count = self.scope[part.id].count
                if count is not None and part.id not in lets:
                    self.require(count, steps)
            if not isinstance(part, Name):
                continue
            if part.id in lets and part.id not in self.done:
                let = lets[part.id]
                scope = self.scope
                if let.count is not None and let.index is not None:
                    self.require(let.count.node, steps)
                    scope = within(self.scope, let.index, let.count.node)
                self.require(let.value.node, steps)
                self.done.add(let.name)
                self.reading = let.value
                count_text = None if let.count is None else self.cython.expression(let.count.node)
                steps.append(LetStep(let.name, let.index, count_text, self.render(let.value.node, scope)))
            elif part.id in {field.python for field in self.operator.outputs} and part.id not in self.done:
                self.output(self.operator.field(part.id), steps)

    def render(self, node: Node, scope: Scope) -> str:
        inner = Cython(scope, constants=self.cython.constants, data=self.data)
        text = inner.expression(node)
        self.cython.overflows = self.cython.overflows or inner.overflows
        return text

    def output(self, field: Field, steps: list[Step]) -> None:
        """The sizes of a tensor from its formula."""
        self.done.add(field.python)
        if field.sizes is None:
            raise ExprError(f"{field.name} has no sizes: no family can run an operator whose output sizes are open yet")
        node = field.sizes.node
        self.require(node, steps)
        self.reading = field.sizes
        items: list[tuple[str, str | None]] = []
        for item in node.items if isinstance(node, Sizes) else (Splat(node),):
            if isinstance(item, Splat):
                items.append(self.cython.vector(item.operand))
            else:
                items.append((self.render(item, self.scope), None))
        first = self.operator.first_of_type(field)
        steps.append(SizesStep(self.tensor(field), None if first is None else first.python, tuple(items)))

    def checks(self, tensors: tuple[TensorPlan, ...]) -> list[Step]:
        steps: list[Step] = []
        for rule in self.operator.rules:
            if not rule.data:
                self.require(rule.that.node, steps)
                if rule.count is not None:
                    self.require(rule.count.node, steps)
                steps.append(self.check(rule))
        for field in self.operator.tensors:
            if field.sizes is not None and field.python not in self.done:
                self.output(field, steps)
        return steps

    def check(self, rule: Rule) -> CheckStep:
        scope, node, self.reading = self.scope, rule.that.node, rule.that
        loops: list[tuple[str, str]] = []
        if rule.index is not None and rule.count is not None:
            scope = self.loop(rule.index, rule.count.node, scope, loops)
        while isinstance(node, Each) and node.function == "all":
            scope = self.loop(node.variable, node.count, scope, loops)
            node = node.body
        items = node.items if isinstance(node, Logic) and node.op == "and" else (node,)
        conditions = [self.render(item, scope) for item in items]
        if rule.since is not None:
            conditions = [f"level < {self.facts.level_index(rule.since)} or ({text})" for text in conditions]
        if rule.until is not None:
            conditions = [f"level >= {self.facts.level_index(rule.until)} or ({text})" for text in conditions]
        return CheckStep(rule.id, tuple(loops), tuple(conditions))

    def loop(self, index: str, count: Node, scope: Scope, loops: list[tuple[str, str]]) -> Scope:
        """Adds a loop; the scope inside it."""
        loops.append((index, self.render(count, scope)))
        return within(scope, index, count)

    # Tables of the package

    def formula(self, value: Formula | None) -> FormulaPlan | None:
        return None if value is None else self.some(value)

    def sizes(self, field: Field) -> FormulaPlan | None:
        if field.sizes is None:
            return None
        terms = inside(field.sizes.node, self.scope)
        return replace(self.some(field.sizes), terms=tuple((label, python(node, self.scope)) for label, node in terms))

    def some(self, value: Formula) -> FormulaPlan:
        reads = tuple(sorted(self.operator.reads(value.node)))
        return FormulaPlan(formula(value.node), reads, python(value.node, self.scope))

    def field(self, field: Field) -> FieldPlan:
        first = self.operator.first_of_type(field) if field.is_tensor else None
        ids = []
        for error in self.facts.implicit:
            applies = field.shape in error.applies or (field.is_tensor and "tensor" in error.applies)
            if applies and self.occurs(error, field):
                ids.append((f"DML-{self.operator.name}-{field.python}-{error.id}", error.error, error.about))
        return FieldPlan(
            field=field,
            default="MISSING" if field.default is None else repr(field.default),
            sizes=self.sizes(field),
            length=self.formula(field.length),
            value=self.formula(field.value),
            same_as=None if first is None else first.python,
            annotation=type_of(field).annotation(field, self.enum),
            accepted=type_of(field).accepted(field, self.enum),
            ids=tuple(ids),
            open=field.kind == "output" and self.operator.is_chosen(field),
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
            case "later":
                return any(self.facts.level_index(level) > self.since for level in self.arrivals(field))
        return True

    def arrivals(self, field: Field) -> list[str]:
        """The levels that brought something of this field."""
        if field.is_tensor:
            dtypes = [row.since for row in self.operator.types[field.types or ""]]
            return dtypes + [row.since for row in self.operator.ranks[field.ranks or ""]]
        return (
            [] if field.enum is None or field.value is not None else [m.since for m in self.enums[field.enum].members]
        )

    def rule(self, rule: Rule) -> RulePlan:
        scope, domain = self.scope, None
        if rule.index is not None and rule.count is not None:
            scope = within(self.scope, rule.index, rule.count.node)
            domain = python(rule.count.node, self.scope)
        said = sentence(rule.that.node, scope, rule.index, rule.about)
        reads = self.operator.reads(rule.that.node)
        if rule.count is not None:
            reads |= self.operator.reads(rule.count.node)
        reads -= {rule.index} if rule.index else set()
        return RulePlan(
            rule=rule,
            id=f"DML-{self.operator.name}-{rule.id}",
            text=formula(rule.that.node),
            domain_text=self.loop_text(rule.index, rule.count),
            shown=said.shown,
            labels=tuple(label for label, _ in said.terms),
            terms=tuple(python(node, scope) for _, node in said.terms),
            reads=tuple(sorted(reads)),
            method=rule.id.replace("-", "_"),
            holds=python(rule.that.node, scope),
            domain=domain,
            fix=None if rule.fix is None else python(rule.fix.node, scope),
        )

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
            python(one.takes.node, scope),
            python(one.gives.node, scope),
            None if one.when is None else (formula(one.when.node), python(one.when.node, scope)),
        )

    def let(self, let: Let) -> tuple[str, str | None, str | None, str, str, str, str]:
        scope = self.scope
        if let.index is not None and let.count is not None:
            scope = within(self.scope, let.index, let.count.node)
        loop = self.loop_text(let.index, let.count)
        return let.name, let.index, loop, formula(let.value.node), let.doc, let.each, python(let.value.node, scope)

    def loop_text(self, index: str | None, count: Formula | None) -> str | None:
        """``d in spatial``."""
        return None if count is None else f"{index} in {formula(count.node)}"
