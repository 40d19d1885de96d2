"""The page of an operator: what its template lays out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..expr.latex import latex
from ..expr.nodes import UINT_MAX
from ..expr.text import alternatives, formula
from ..field_types import type_of
from ..model import DTYPE_ENUM, ELEMENT, Example, Field, snake
from ..plan import FieldPlan, OperatorPlan, RulePlan, Surroundings
from ..plan.data import STATES
from .catalogue import state_link
from .described import described_example
from .enums import members
from .equivalents import sections
from .errors import implicit_table, rule_error
from .independent import independent_table
from .levels import kinds, support
from .markdown import anchor, block, code, escape, heading, level_link, link, page_link, prose, table, wrapped
from .shapes import Shapes, joined, last
from .speed import Speed
from .unjudged import left_out
from .values import array_code, array_text, call, listed, literal, prompt
from .versions import versions

POWERS = {-(2**31): "-2^31", 2**31 - 1: "2^31 - 1", UINT_MAX: "2^32 - 1"}
ACCURACY_OF = {
    "result": "the result",
    "magnitudes": "the result that the operator would give for the absolute values of its inputs",
}


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A rule as its page shows it."""

    plan: RulePlan
    anchor: str
    condition: str
    facts: tuple[str, ...]


class OperatorPage:
    """The parts of an operator's page that the template lays out."""

    def __init__(self, plan: Surroundings, operator: OperatorPlan, speed: Speed | None) -> None:
        self.plan = plan
        self.speed = speed
        self.facts = plan.facts
        self.op = operator
        self.spec = operator.operator
        self.level = plan.facts.levels[operator.since]
        self.others = {*plan.names} - {operator.name}

    @property
    def summary(self) -> str:
        """The summary of the operator."""
        return wrapped(self.linked(self.spec.summary))

    def linked(self, text: str) -> str:
        """Text of the spec, in which the names of other operators lead to their pages."""
        return re.sub(r"\w+", lambda name: page_link(name[0]) if name[0] in self.others else name[0], escape(text))

    def cell(self, text: str) -> str:
        """The same in a table."""
        return self.linked(text).replace("|", "\\|")

    @property
    def state(self) -> str:
        """How far dmlcy has it, and what that means; "" for the best state."""
        if self.op.state == [*STATES][-1]:
            return ""
        return wrapped(f"{state_link(self.op.state)}. {escape(STATES[self.op.state])}", 2)

    @property
    def also(self) -> str:
        """The names in NumPy, PyTorch and everyday language; a name with a dot is code."""
        return wrapped(", ".join(code(name) if "." in name else escape(name) for name in self.spec.also), 2)

    @property
    def signature(self) -> str:
        """The functional call."""
        inputs = self.spec.inputs
        names = [one.python + "=None" * self.spec.is_omissible(one) for one in inputs]
        names += [f"{a.python}={literal(a.field.default)}" if a.default else a.python for a in self.op.parameters]
        names += [f"{request.python}={request.default}" for request in self.op.requests]
        at = len(inputs)
        return block(call(f"dmlcy.{self.op.python}", [*names[:at], "*", *names[at:], "out=None"]), "python")

    @property
    def glance(self) -> tuple[str, str, str] | None:
        """Title, source, and code of the smallest example, with the imports."""
        smallest = self.smallest
        return None if smallest is None else self.told(smallest, self.smallest_example or "")

    @property
    def smallest(self) -> Example | None:
        """The example with the most outputs and, of those, the smallest result at the prompt."""
        examples = [example for example in self.spec.examples if example.outputs]
        return min(
            examples,
            key=lambda one: (-len(one.outputs), sum(math.prod(t.sizes) for t in one.outputs.values())),
            default=None,
        )

    @property
    def smallest_example(self) -> str | None:
        """The lines of this example, with the imports."""
        if self.smallest is None:
            return None
        lines = [">>> import numpy as np", ">>> import dmlcy as dml", *self.example_lines(self.smallest)]
        return "\n".join(lines)

    @property
    def examples(self) -> Iterator[tuple[str, str, str]]:
        """Title, source, and code of each example that is not shown at a glance."""
        for example in self.spec.examples:
            if not self.op.runs:
                title, origin, _ = self.told(example, "")
                yield title, origin, "\n\n".join(described_example(self.op, example, self.facts.dtypes))
            elif example is not self.smallest:
                yield self.told(example, "\n".join(self.example_lines(example)))

    def told(self, example: Example, lines: str) -> tuple[str, str, str]:
        """Title, source, and these lines of an example."""
        origin = "Source: " + link("DirectML's documentation", example.source) + "."
        if example.contradicts:
            origin = prose(example.contradicts, first=f"{origin} Correction:")
        if example.source is None:
            origin = prose(example.calculation or "", first="Calculation:")
        return heading(example.title), origin, block(lines, "pycon")

    def example_lines(self, example: Example) -> Iterator[str]:
        """An example at the prompt, with what is printed."""
        dtypes = {dtype.name: dtype for dtype in self.facts.dtypes}
        taken: list[str] = []
        omitted = False
        for field in self.spec.inputs:
            tensors = example.tensors_of(field.python)
            if not tensors:
                taken += [] if self.spec.is_omissible(field) else ["None"]
                omitted = self.spec.is_omissible(field)
                continue
            variable = "x" if field.python == "input" else field.python
            taken.append(f"{field.python}={variable}" if omitted else variable)
            parts = [f"{variable}_{number}" for number in range(len(tensors))]
            for name, tensor in zip(parts if type_of(field).several else [variable], tensors, strict=True):
                made = array_code(tensor, dtypes[tensor.dtype]).replace("\n", "\n" + " " * (len(name) - 1))
                yield prompt(f"{name} = {made}")
            if type_of(field).several:
                yield prompt(f"{variable} = [{', '.join(parts)}]")
        arguments = {**self.op.chosen_in(example), **example.attributes}
        given = [f"{a.python}={literal(arguments[a.python])}" for a in self.op.parameters if a.python in arguments]
        asked = [one for one in self.spec.outputs if self.spec.is_asked(one) and one.python in example.outputs]
        given += [said for field in asked if (said := self.request(field, example))]
        given += [said for field in self.spec.outputs if (said := self.said_sizes(field, example))]
        several = any(one.several for one in map(type_of, self.spec.outputs)) or len(example.outputs) > 1
        results = dict.fromkeys(path.partition("[")[0] for path in example.outputs)
        names = f"{', '.join(results)} = " if several else ""
        typed = call(f"{names}dml.{self.op.python}", [*taken, *given])
        if several:
            yield prompt(typed)
        for name, output in example.outputs.items():
            result = name if several else typed
            shown = array_text(output, dtypes[output.dtype])
            yield prompt(result if shown is not None else f"{result}.tolist()")
            yield listed(output.data, dtypes[output.dtype]) if shown is None else shown

    def request(self, field: Field, example: Example) -> str:
        """How the call of an example asks for an optional output, or for the data type of one."""
        dtype = example.outputs[field.python].dtype
        first = self.spec.default_row(field).dtypes[0]
        if not field.optional:
            like = self.spec.first_of_type(field)
            follows = dtype == first if like is None or like.python not in example.inputs else True
            return "" if follows else f"{field.python}_dtype={literal(dtype)}"
        usual = dtype == first or self.spec.first_of_type(field) is not None
        return f"{field.python}={True if usual else literal(dtype)}"

    def said_sizes(self, field: Field, example: Example) -> str:
        """How the call of an example says the sizes of an output that the caller chooses."""
        parts = [tensor.sizes for path, tensor in example.outputs.items() if path.partition("[")[0] == field.python]
        if (field.sizes is not None and not example.sized) or self.spec.sized_by(field) is None or not parts:
            return ""
        return f"{self.spec.sized_by(field)}={literal(tuple(parts) if type_of(field).several else parts[0])}"

    @property
    def in_place(self) -> str:
        """Which memory DirectML lets an output share."""
        shared = [snake(name) for name in self.facts.catalogue[self.op.name].in_place]
        if not self.spec.inputs:
            return ""
        if not shared:
            return "in DirectML, no output may share the memory of an input"
        return f"in DirectML, an output may share the memory of {alternatives([code(name) for name in shared])}"

    @property
    def fields(self) -> str:
        """The table of fields."""
        rows = []
        for item in self.op.fields:
            field = item.field
            names = f"{code(field.name)}<br>{code(field.python)}"
            about = " ".join(part for part in (self.cell(field.doc), _range_text(field)) if part)
            rows.append((names, f"{self.type_text(item)}<br>{self.default_text(item)}", about))
        for item in self.op.choices:
            about = f"{self.cell(item.field.doc)} {_range_text(item.field)}"
            rows.append((f"only in a call<br>{code(item.field.python)}", f"{self.type_text(item)}<br>required", about))
        return table(("Field, and name in Python", "Type and default", "Meaning"), rows)

    def type_text(self, item: FieldPlan) -> str:
        """The DirectML type of a field."""
        field = item.field
        if field.is_tensor:
            what = f"array of {field.kind} tensors" if type_of(field).several else f"{field.kind} tensor"
            return f"{what}{', optional' if field.optional else ''}"
        if field.enum is not None:
            return f"[{field.enum.removeprefix('DML_')}](enums.md#{field.enum})"
        kind = type_of(field)
        most = f"up to {item.max_length.text}" if item.max_length else ""
        text = kind.text(item.length.text if item.length else most)
        return code(text, in_table=True) if kind.array else text

    def default_text(self, item: FieldPlan) -> str:
        """The value of a field when nothing is given."""
        if item.value is not None:
            return f"always {code(item.value.text, in_table=True)}"
        if item.field.optional:
            return "default: left out"
        if item.field.kind == "output":
            return "required in a desc" if item.open else "follows from the other fields"
        return (
            "required" if item.field.default is None else f"default: {code(literal(item.field.default), in_table=True)}"
        )

    @property
    def notes(self) -> str:
        """The remarks on the fields."""
        notes = [*self._derived(), *self._required(), *self._arrays(), *self._others()]
        return wrapped(" ".join(notes))

    def _derived(self) -> Iterator[str]:
        """Fields that follow from others, and outputs on request."""
        follow = [code(item.field.name) for item in self.op.fields if item.value is not None]
        if follow:
            verb, them = ("follows", "it") if len(follow) == 1 else ("follow", "them")
            yield (
                f"{' and '.join(follow)} {verb} from the other fields: a call does not have {them}, and a desc "
                f"may leave {them} out."
            )
        optional = [field for field in self.spec.outputs if field.optional]
        if optional:
            names = [code(field.python) for field in optional]
            yield (
                f"A call computes {alternatives(names)} only on request: give "
                f"{code(f'{optional[0].python}=True')}, or a data type in place of True. A call with several outputs "
                f"returns a tuple. In a desc, an optional output is a tensor desc or {code('None')} ({code('null')} in "
                f"JSON)."
            )
        for field in optional:
            if sizes := self.spec.sized_by(field):
                chosen = f"This argument chooses the sizes of {code(field.python)}."
                yield f"{code(sizes)} is an argument of a call only. {chosen}"

    def _required(self) -> Iterator[str]:
        """The fields that JSON must have."""
        optional = any(field.optional for field in self.spec.fields)
        every = "every field that is not optional" if optional else "every field"
        yield f"A desc in JSON, such as in a model file, must have {every}: the defaults apply in Python only."

    def _arrays(self) -> Iterator[str]:
        """Short forms of arrays."""
        arrays = [field for field in self.spec.attributes if type_of(field).array and field.among is None]
        alone = [field for field in arrays if field.max_length is not None or not field.fills]
        if len(alone) < len(arrays):
            yield "If an array is given as one number, every entry has this number."
        for field in alone:
            yield f"For {code(field.python)}, one number means an array with this one entry."

    def _others(self) -> Iterator[str]:
        """The arguments that only a call has, and the fields that a desc must have."""
        for item in self.op.choices:
            output, before, after = item.part or ("", 0, 0)
            output = code(output)
            sizes = "a part of the sizes" if before or after else "the sizes"
            yield (
                f"{code(item.field.python)} is an argument of a call only. This argument chooses {sizes} of "
                f"{output}. A desc must have {output} instead."
            )
            if item.length is None:
                yield "One size may be given as an int."
        unowned = [code(field.python) for field in self.spec.inputs if not field.owned]
        if unowned:
            flag = "[OWNED_BY_DML](../bindings.md#the-initializer-and-the-flag-owned_by_dml)"
            yield f"The flag {flag} is not allowed for {alternatives(unowned)}."
        for field in (item.field for item in self.op.fields if item.open):
            if field.sizes is None:
                yield (
                    f"The sizes of {code(field.python)} do not follow from other fields. So a desc must have this "
                    f"output, and a call must have {code(self.spec.sized_by(field) or '')} or {code('out')}."
                )
            elif not self.spec.has_type(field):
                untyped = f"The data type of {code(field.python)} does not follow from a required tensor"
                yield f"{untyped}, so a desc must have this output."
        if any(field.enum for field in self.spec.attributes):
            yield "A member of an enum can be given by its name."

    @property
    def shapes(self) -> Shapes:
        """The formulas of sizes."""
        return Shapes(self.spec)

    @property
    def independent(self) -> str | None:
        """The axes along which the operator can be cut."""
        return independent_table(self.spec.independent)

    @property
    def pieces(self) -> str:
        """Which other axes of dask arrays are cut."""
        return prose(self.op.pieces or "")

    @property
    def drawn(self) -> str | None:
        """The version whose figure shows this operator too."""
        drawn = (newer.name for newer in self.plan.newer.get(self.spec.name, ()) if newer.drawn)
        return next(map(page_link, drawn), None)

    @property
    def versions(self) -> list[str]:
        """Which older and newer versions give the same."""
        return [wrapped(one, 2) for one in versions(self.spec, self.plan.newer.get(self.spec.name, ()))]

    @property
    def reading(self) -> str:
        """How the conditions of the rules are to be read."""
        texts = " ".join(rule.text for rule in self.op.rules)
        language = "[the expression language](../expression-language.md)"
        parts = ["The heading of a rule says what is wrong."]
        parts += [f"The code is the condition that must be true, in {language}."]
        parts += ["The section [Shapes](#shapes) defines the quantities in the conditions."] if self.spec.lets else []
        if "//" in texts:
            parts.append(f"{code('//')} divides and rounds down.")
        if " for " in texts:
            parts.append(f"In {code('for k in n')}, {code('k')} runs from 0 to {code('n - 1')}.")
        return wrapped(" ".join(parts))

    @property
    def supports(self) -> Iterator[tuple[str, str, list[str]]]:
        """Tensors that share a table; the table; how they hang together."""
        groups: dict[tuple[str | None, str | None], list[Field]] = {}
        for field in self.spec.tensors:
            groups.setdefault((field.types, field.ranks), []).append(field)
        for (types, ranks), fields in groups.items():
            rows = []
            for level, added, dimensions in support(self.op, self.facts, types or "", ranks or ""):
                rows.append((level_link(level.name), "<br>".join(kinds(added)) or "none", dimensions))
            first = self.spec.first_of_type(fields[0])
            like = first or fields[0]
            alike = [code(field.python) for field in fields if field is not like]
            verb = "has" if len(alike) == 1 else "have"
            notes = [wrapped(f"{joined(alike)} {verb} the same data type as {code(like.python)}.")] if alike else []
            notes += [_leading(field) for field in fields if field.leading_ones is not None]
            names = ", ".join(code(field.python) for field in fields)
            yield names, table(("From level", "Data types added", "Dimensions"), rows), notes

    @property
    def enums(self) -> Iterator[tuple[str, str]]:
        """The enum attributes, and a table of their members."""
        for field in self.spec.attributes:
            if field.enum is not None and field.enum != DTYPE_ENUM:
                enum = self.plan.enum(field.enum)
                yield f"[{code(field.python)}](enums.md#{enum.name})", members(enum, self.facts, self.op.since)

    @property
    def fused(self) -> Iterator[tuple[str, str]]:
        """The fields that hold operators, and a table of the operators that they can hold."""
        for item in self.op.fields:
            levels = {level: [page_link(n) if n in self.others else n for n, since in item.among if since == level]
                      for level in dict.fromkeys(since for _, since in item.among)}  # fmt: skip
            order = sorted(levels, key=self.facts.level_index)
            if levels:
                rows = [(level_link(level), ", ".join(levels[level])) for level in order]
                yield code(item.field.python), table(("From level", "Operators"), rows)

    @property
    def rules(self) -> Iterator[RuleSection]:
        """The rules in declared order, data rules last."""
        for plan in sorted(self.op.rules, key=lambda rule: rule.rule.data):
            rule = plan.rule
            condition = plan.text
            if rule.index is not None and rule.count is not None:
                condition += f"\nfor each {rule.index} from 0 to {last(formula(rule.count.node))}"
            if rule.each is not None:
                condition += f"\nfor each element {ELEMENT} of {rule.each}"
            facts = []
            if rule.hint:
                facts.append(escape(rule.hint))
            if rule.fix is not None:
                facts.append(f"Nearest valid value: {code(formula(rule.fix.node))}.")
            when = "the elements when the operator runs" if rule.data else "the desc before the operator runs"
            facts.append(f"dmlcy checks {when}{_between(rule.since, rule.until)}.")
            facts.append(f"[Provenance](../glossary.md#provenance) of the rule: {rule.provenance}.")
            shown = f"{code('dmlcy lint')} and {code('check(desc, warnings=True)')} show it"
            warning = f"A violation is a warning, not an error: {shown}."
            if rule.accepts:
                seen, _, evidence = rule.accepts.partition(": ")
                facts.append(f"DirectML accepts descs that break this rule ({seen}). {self.linked(evidence)}")
            facts.append(warning if rule.warns else f"A violation raises {code(rule_error(plan))}.")
            yield RuleSection(
                plan, anchor(plan.id), block(condition, "text"), tuple(wrapped(fact, 2) for fact in facts)
            )

    @property
    def implicit(self) -> str:
        """The errors that follow from the fields."""
        return implicit_table(self.facts, self.op)

    @property
    def interpretations(self) -> Iterator[str]:
        """Decisions where the documentation is silent."""
        unjudged = {one.id: one for one in self.op.unjudged}
        for item in self.spec.interpretations:
            plan = unjudged.get(f"{self.spec.name}-{item.id}")
            notes = [] if plan is None else left_out(plan)
            said = [self.linked(item.choice), f"*Evidence:* {self.linked(item.evidence)}", *notes]
            yield "\n  ".join([f"**{escape(item.question)}**", *(wrapped(text, 2) for text in said)])

    @property
    def measured(self) -> str:
        """The meaning of the benchmark's figures."""
        where = f"[the benchmark](../benchmarks/moving.md#{self.op.python})"
        machine = escape(self.speed.machine if self.speed else "")
        return wrapped(
            "The table shows the time of another library divided by the time of dmlcy. Above 1, dmlcy is faster. "
            f"Each number is the geometric mean over the [cells](../glossary.md#cell) of {where}. dmlcy writes into an "
            f"array that is given as {code('out')}. "
            f"Measured with {machine}."
        )

    @property
    def equivalents(self) -> Iterator[tuple[str, list[str]]]:
        """The same in other libraries."""
        return sections(self.spec.equivalents, self.facts, self.linked)

    @property
    def accuracy(self) -> Iterator[tuple[str, str]]:
        """The declared bounds: what is bounded, and by what."""
        for row in self.spec.accuracy:
            ulp = "[ULP](../glossary.md#ulp)"
            bounded = f"For {row.dtype}, the error is at most this number of {ulp} of {ACCURACY_OF[row.of]}:"
            yield bounded, block(latex(row.ulp.node), "math")


def _range_text(field: Field) -> str:
    """A sentence on the values that a field takes."""
    kind = type_of(field)
    if not kind.ranged or field.value is not None:
        return "The value must be finite." if kind.real and not field.infinite else ""
    low, high = (POWERS.get(number, f"{number}") for number in (field.minimum, field.maximum))
    note = "" if field.provenance == "documented" else f" ({field.provenance})"
    return f"Range: {low} to {high}{note}."


def _leading(field: Field) -> str:
    if field.leading_ones == "call":
        return f"In a call, leading dimensions of size 1 of {code(field.python)} may be left out."
    where = "In a desc" if field.leading_ones == "desc" else "In a desc and in a call"
    return f"{where}, {code(field.python)} may have additional leading dimensions of size 1."


def _between(since: str | None, until: str | None) -> str:
    """The feature levels of a rule; "" for all."""
    parts = [f" from {since} on" if since else "", f" before {until}" if until else ""]
    return f", at feature levels{''.join(parts)}" if since or until else ""
