"""Plan to the generated files that people read: the reference in Markdown, and the stubs.

Templates lay out text; what stands in a table, a code block or an example is made here. Text of a spec goes through
``prose``, ``cell`` or ``code``, so that it cannot break out of its place.
"""

from __future__ import annotations

import html
import math
import re
import struct
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import jinja2

from .expr.nodes import UINT_MAX
from .expr.text import formula
from .model import DTYPE_ENUM, Dtype, Enum, Example, Facts, Field, Level, TensorData
from .plan import FieldPlan, OperatorPlan, Plan, RulePlan

WIDTH = 100
BLOCK_OR_BLANK = re.compile(r"(^(`{3,}).*?^\2$)|\n{3,}", re.M | re.S)
SCALARS = {
    "uint": "UINT", "int": "INT", "float": "FLOAT", "bool": "BOOL", "size_2d": "DML_SIZE_2D",
    "scalar_union": "DML_SCALAR_UNION",
}  # fmt: skip
ARRAYS = {"uint_array": "UINT", "int_array": "INT", "float_array": "FLOAT"}
# What dmlcy/__init__.py exports beside operators and enums.
PUBLIC = (
    "DmlError", "Export", "FeatureLevelError", "InvalidDataError", "InvalidDataTypeError", "InvalidDescError",
    "LevelReason", "MinimumLevel", "ModelError", "RecordedCall", "Recording", "SupportRow", "TensorDesc", "Violation",
    "__version__", "check", "compile", "current_level", "desc", "feature_level", "get_num_threads",
    "minimum_feature_level", "record", "set_num_threads", "specs", "support_table", "supports",
)  # fmt: skip
ACCURACY_OF = {
    "result": "the result",
    "magnitudes": "the result for the absolute values of the inputs",
}
EXCEPTIONS = (
    ("InvalidDescError", "ValueError", "A field has a value that its operator does not take."),
    (
        "InvalidDataTypeError",
        "TypeError",
        "A value is of the wrong kind, or a tensor has a data type that is not taken.",
    ),
    ("FeatureLevelError", "ValueError", "What was asked for came with a later feature level."),
    ("InvalidDataError", "ValueError", "A value inside a tensor, found when the operator runs, is not acceptable."),
    ("ModelError", "ValueError", "A model file, or an operator desc in JSON, cannot be understood."),
)


def pages(env: jinja2.Environment, plan: Plan) -> Iterator[tuple[str, str]]:
    """The committed pages and stubs: path relative to the checkout, and text."""
    helpers = {"plan": plan, "prose": prose, "cell": cell, "code": code, "table": table, "link": link, "one": heading}

    def render(template: str, **context: Any) -> str:
        text = env.get_template(template).render(**helpers, **context)
        text = re.sub(r"[ \t]+\n", "\n", text)
        return re.sub(BLOCK_OR_BLANK, lambda found: found[1] or "\n\n", text).strip() + "\n"

    for operator in plan.operators:
        text = render("docs/operator.md.j2", page=OperatorPage(plan, operator))
        yield f"docs/reference/{operator.python}.md", text
    yield "docs/reference/index.md", render("docs/index.md.j2", families=families(plan), unbuilt=unbuilt(plan))
    yield "docs/reference/enums.md", render("docs/enums.md.j2", enums=enum_sections(plan))
    yield "docs/reference/levels.md", render("docs/levels.md.j2", levels=levels(plan), summary=level_summary(plan))
    yield "docs/reference/errors.md", render("docs/errors.md.j2", groups=errors(plan), **error_tables(plan))
    stubs = Stubs(env, plan)
    for name in ("__init__", "desc"):
        text = env.get_template(f"stubs/{name}.pyi.j2").render(plan=plan, stubs=stubs)
        yield f"dmlcy/{name}.pyi", re.sub(r"[ \t]+\n", "\n", text).strip() + "\n"


# Markdown -----------------------------------------------------------------------------------------------------------


def escape(text: str) -> str:
    """Text on one line in which nothing is Markdown or HTML; underscores inside words and lone stars stay."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text).split())
    line = re.sub(r"[\\`~$]", r"\\\g<0>", line)
    line = re.sub(r"(?<!\s)\*|\*(?!\s)", r"\\*", line)
    line = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", line)
    line = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", line)
    line = re.sub(r"\](?=[(\[:])|^\[|!(?=\[)", r"\\\g<0>", line)
    line = re.sub(r"&(?=#|[A-Za-z])", r"\\&", line)
    return re.sub(r"(?<!\S)#", r"\\#", line)


def heading(text: str) -> str:
    """Text of a spec as one line."""
    return _line_start(escape(text))


def prose(text: str, indent: int = 0, first: str = "") -> str:
    """Text of a spec as a paragraph; ``first`` is Markdown that stands before it."""
    return wrapped(" ".join(part for part in (first, escape(text)) if part), indent)


def wrapped(markdown: str, indent: int = 0) -> str:
    """Markdown as lines of at most WIDTH characters; the first one is not indented."""
    lines = textwrap.wrap(markdown, WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(_line_start(line) for line in lines)


def _line_start(line: str) -> str:
    """A line that does not begin a list, a quotation, a heading or a table."""
    line = re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)
    return re.sub(r"^(?=[-+*](\s|$)|[>|:]|[=-]+$)", r"\\", line)


def cell(text: str) -> str:
    """Text of a spec in a table."""
    return escape(text).replace("|", "\\|")


def code(text: object, in_table: bool = False) -> str:
    """Text as a code span."""
    line = " ".join(str(text).split())
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line.replace('|', chr(92) + '|') if in_table else line}{pad}{ticks}"


def link(text: str, address: str | None) -> str:
    """Markdown ``text`` with its address, if that is one of the web."""
    if address is None or not re.match(r"https?://", address):
        return text
    safe = "".join(c if c.isascii() and c.isprintable() and c not in ' <>()[]\\"`' else _percent(c) for c in address)
    return f"[{text}]({safe})"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def anchor(name: str) -> str:
    """A place to link to."""
    return f'<a id="{html.escape(name, quote=True)}"></a>'


def level_link(level: str) -> str:
    """A feature level, linked from another page."""
    return f"[{level}](levels.md#level-{level})"


def block(text: str, language: str = "") -> str:
    """A code block."""
    ticks = "`" * (1 + max([2, *map(len, re.findall("`+", text))]))
    return f"{ticks}{language}\n{text}\n{ticks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An aligned table of Markdown cells; the last column is left ragged where it is wide."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(head))]
    if widths[-1] > 40:
        widths[-1] = len(head[-1])
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        f"| {' | '.join(text.ljust(width) for text, width in zip(line, widths, strict=True))} |" for line in lines
    )


# Arrays and calls ---------------------------------------------------------------------------------------------------


def array_text(tensor: TensorData, dtype: Dtype) -> str | None:
    """What NumPy 2 prints for an array; None where it would shorten it or use exponents."""
    values = list(_flat(tensor.data))
    if len(values) > 1000 or dtype.numpy is None:
        return None
    texts = _floats(values, dtype) if dtype.name.startswith("FLOAT") else [str(value) for value in values]
    if texts is None:
        return None
    width = max(map(len, texts))
    supply = iter([text.rjust(width) for text in texts])
    text = f"array({_nested(_shaped(supply, tensor.sizes), ' ' * 7, 74)}"
    if dtype.numpy in ("float64", "int64"):
        return f"{text})"
    end = f"dtype={dtype.numpy})"
    last = len(text) + 1 - (text.rfind("\n") + 1)
    return f"{text},{' ' if last + len(end) + 1 <= 75 else chr(10) + ' ' * 6}{end}"


def _floats(values: Sequence[Any], dtype: Dtype) -> list[str] | None:
    numbers = [float(value) for value in values]
    sizes = [abs(number) for number in numbers if math.isfinite(number) and number != 0]
    limit = 1e3 if dtype.name == "FLOAT16" else 1e6
    if sizes and (max(sizes) >= limit or min(sizes) < 1e-4 or max(sizes) / min(sizes) > 1000):
        return None
    parts = [_shortest(number, dtype).partition(".") if math.isfinite(number) else None for number in numbers]
    right = max((len(part[2]) for part in parts if part), default=0)
    texts = []
    for number, part in zip(numbers, parts, strict=True):
        texts.append(f"{number}" if part is None else f"{part[0]}.{part[2].ljust(right)}")
    return texts


def _shortest(number: float, dtype: Dtype) -> str:
    """The fewest digits that stand for the number in its data type, at most 8 of them after the point."""
    form = {"FLOAT16": "<e", "FLOAT32": "<f"}.get(dtype.name, "<d")
    stored = struct.unpack(form, struct.pack(form, number))[0]
    tries = (f"{stored:.{digits}g}" for digits in range(1, 18))
    text = next(text for text in tries if struct.unpack(form, struct.pack(form, float(text)))[0] == stored)
    whole, _, fraction = f"{round(Decimal(text), 8):f}".partition(".")
    return f"{whole}.{fraction.rstrip('0')}"


def _flat(data: Any) -> Iterator[Any]:
    if isinstance(data, Sequence) and not isinstance(data, str):
        for entry in data:
            yield from _flat(entry)
    else:
        yield data


def _shaped(supply: Iterator[str], sizes: Sequence[int]) -> Any:
    return [_shaped(supply, sizes[1:]) for _ in range(sizes[0])] if sizes else next(supply)


def _nested(data: Any, indent: str, width: int) -> str:
    """Texts in nested brackets, laid out as NumPy does it."""
    if not isinstance(data[0], list):
        done, line = "", indent
        for number, word in enumerate(data):
            if len(line) + len(word) > width - 1 and len(line) > len(indent):
                done, line = f"{done}{line.rstrip()}\n", indent
            line += word + (", " if number < len(data) - 1 else "")
        return f"[{(done + line)[len(indent) :]}]"
    depth, first = 0, data
    while isinstance(first, list):
        depth, first = depth + 1, first[0]
    rows = [_nested(row, f"{indent} ", width - 1) for row in data]
    return f"[{(',' + chr(10) * (depth - 1) + indent).join(rows)}]"


def literal(value: Any) -> str:
    """A value of an example as Python."""
    if isinstance(value, list | tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return '"' + repr('"' + value)[2:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    return repr(value)


def array_code(tensor: TensorData, dtype: Dtype) -> str:
    """Python that makes an array."""
    values = list(_flat(tensor.data))
    first = int(values[0]) if math.isfinite(values[0]) else 0
    if len(values) > 4 and values == list(range(first, first + len(values))):
        span = f"{first}, {first + len(values)}" if first else f"{len(values)}"
        shape = f".reshape{literal(tensor.sizes)}" if len(tensor.sizes) > 1 else ""
        return f"np.arange({span}, dtype=np.{dtype.numpy}){shape}"
    texts = [re.sub("inf|nan", r"np.\g<0>", repr(value)) for value in values]
    width = max(map(len, texts))
    supply = iter([text.rjust(width) for text in texts])
    rows = re.sub("\n+", "\n", _nested(_shaped(supply, tensor.sizes), " " * 14, WIDTH))
    return f"np.array({rows}, dtype=np.{dtype.numpy})"


def prompt(python: str) -> str:
    """Python as it is typed at a prompt."""
    return "\n".join(("... " if number else ">>> ") + line for number, line in enumerate(python.split("\n")))


def arguments(names: Sequence[str]) -> str:
    """Arguments in parentheses, one per line where one line is too long."""
    if sum(len(name) + 2 for name in names) < 72:
        return f"({', '.join(names)})"
    return "(\n" + "".join(f"    {name},\n" for name in names) + ")"


# The page of an operator --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A rule as its page shows it."""

    plan: RulePlan
    anchor: str
    condition: str
    facts: tuple[str, ...]


class OperatorPage:
    """What the template of an operator's page lays out."""

    def __init__(self, plan: Plan, operator: OperatorPlan) -> None:
        self.plan = plan
        self.facts = plan.facts
        self.op = operator
        self.spec = operator.operator
        self.level = plan.facts.levels[operator.since]

    @property
    def signature(self) -> str:
        """The functional call."""
        names = [tensor.python for tensor in self.op.inputs]
        names += [f"{a.python}={literal(a.field.default)}" if a.default else a.python for a in self.op.parameters]
        at = len(self.op.inputs)
        return block(f"dmlcy.{self.op.python}{arguments([*names[:at], '*', *names[at:], 'out=None'])}", "python")

    @property
    def glance(self) -> str | None:
        """The example with the smallest result."""
        examples = [example for example in self.spec.examples if example.outputs]
        if not examples:
            return None
        smallest = min(examples, key=lambda example: sum(math.prod(t.sizes) for t in example.outputs.values()))
        lines = [">>> import numpy as np", ">>> import dmlcy as dml", *self.example_lines(smallest)]
        return block("\n".join(lines), "pycon")

    @property
    def examples(self) -> Iterator[tuple[str, str, str]]:
        """Title, where it comes from, and code of each example."""
        for example in self.spec.examples:
            origin = "Source: " + link("DirectML's documentation", example.source) + "."
            if example.source is None:
                origin = prose(example.calculation or "", first="Derived:")
            yield heading(example.title), origin, block("\n".join(self.example_lines(example)), "pycon")

    def example_lines(self, example: Example) -> Iterator[str]:
        """An example at the prompt, with what is printed."""
        dtypes = {dtype.name: dtype for dtype in self.facts.dtypes}
        names = []
        for field in self.spec.inputs:
            if field.python in example.inputs:
                names.append("x" if field.python == "input" else field.python)
                tensor = example.inputs[field.python]
                made = array_code(tensor, dtypes[tensor.dtype]).replace("\n", "\n" + " " * (len(names[-1]) - 1))
                yield prompt(f"{names[-1]} = {made}")
        given = [
            f"{a.python}={literal(example.attributes[a.python])}"
            for a in self.op.parameters
            if a.python in example.attributes
        ]
        call = f"dml.{self.op.python}{arguments([*names, *given])}"
        output = example.outputs[self.op.output.python]
        shown = array_text(output, dtypes[output.dtype])
        if shown is None:
            yield prompt(f"{call}.tolist()")
            yield repr(output.data)
        else:
            yield prompt(call)
            yield shown

    @property
    def fields(self) -> str:
        """The table of fields."""
        rows = []
        for item in self.op.fields:
            field = item.field
            rows.append((
                code(field.name), code(field.python), self.type_text(item), self.default_text(item), _range_text(field),
                cell(field.doc),
            ))  # fmt: skip
        return table(("Field", "Python", "Type", "Default", "Range", "What it is"), rows)

    def type_text(self, item: FieldPlan) -> str:
        """The DirectML type of a field."""
        field = item.field
        if field.is_tensor:
            return f"{field.kind} tensor"
        if field.enum is not None:
            return f"[{field.enum.removeprefix('DML_')}](enums.md#{field.enum})"
        if field.type in ARRAYS:
            return code(f"{ARRAYS[field.type]}[{item.length.text if item.length else ''}]", in_table=True)
        return SCALARS.get(field.type, field.type)

    def default_text(self, item: FieldPlan) -> str:
        """What a field is when nothing is given."""
        if item.value is not None:
            return code(item.value.text, in_table=True)
        if item.field.kind == "output" and item.sizes is not None:
            return "follows"
        return "required" if item.field.default is None else code(literal(item.field.default), in_table=True)

    @property
    def notes(self) -> str:
        """What is to be said of the fields."""
        follow = [code(item.field.name) for item in self.op.fields if item.value is not None]
        them = "it" if len(follow) == 1 else "them"
        notes = []
        if follow:
            verb = "follows" if len(follow) == 1 else "follow"
            notes.append(
                f"{' and '.join(follow)} {verb} from the other fields: a call does not have {them}, and a desc "
                f"may leave {them} out."
            )
        notes.append("A desc in JSON, as in a model file, gives every field: defaults are those of Python.")
        if any(field.type in ARRAYS for field in self.spec.attributes):
            notes.append("An int fills every entry of an array.")
        if any(field.enum for field in self.spec.attributes):
            notes.append("A member of an enum can be given by its name.")
        return wrapped(" ".join(notes))

    @property
    def sizes(self) -> str:
        """The sizes of the tensors that have a formula."""
        rows = [(item.field.python, item.sizes.text, "") for item in self.op.fields if item.sizes is not None]
        return block("\n".join(_equations(rows))) if rows else ""

    @property
    def lets(self) -> str:
        """The named quantities."""
        rows = []
        for let in self.spec.lets:
            name = let.name if let.index is None else f"{let.name}[{let.index}]"
            rows.append((name, formula(let.value.node), let.doc))
        return block("\n".join(_equations(rows))) if rows else ""

    @property
    def reading(self) -> str:
        """How the formulas are to be read."""
        runs = {(let.index, formula(let.count.node)) for let in self.spec.lets if let.index and let.count is not None}
        parts = [f"{code(index)} runs from 0 to {code(_last(count))}" for index, count in sorted(runs)]
        if "//" in self.sizes + self.lets:
            parts.append(f"{code('//')} rounds down")
        texts = [rule.text for rule in self.op.rules]
        if " for " in " ".join([self.sizes, self.lets, *texts]):
            parts.append(f"the index of {code('for k in n')} runs from 0 to {code('n - 1')}")
        return wrapped(f"Here {', '.join(parts)}.") if parts else ""

    @property
    def supports(self) -> Iterator[tuple[str, str, list[str]]]:
        """Tensors that share a table; the table; how they hang together."""
        groups: dict[tuple[str | None, str | None], list[Field]] = {}
        for field in self.spec.tensors:
            groups.setdefault((field.types, field.ranks), []).append(field)
        for (types, ranks), fields in groups.items():
            rows = []
            for level, added, dimensions in support(self.op, self.facts, types or "", ranks or ""):
                lines = _kinds(added) or [""]
                rows.append((level_link(level.name), lines[0], dimensions))
                rows += [("", line, "") for line in lines[1:]]
            notes = [
                f"{code(other.python)} has the same data type as {code(fields[0].python)}." for other in fields[1:]
            ]
            first = self.spec.first_of_type(fields[0])
            notes += [f"{code(fields[0].python)} has the same data type as {code(first.python)}."] if first else []
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
    def rules(self) -> Iterator[RuleSection]:
        """The rules in declared order, data rules last."""
        for plan in sorted(self.op.rules, key=lambda rule: rule.rule.data):
            rule = plan.rule
            condition = plan.text
            if rule.index is not None and rule.count is not None:
                condition += f"\nfor each {rule.index} from 0 to {_last(formula(rule.count.node))}"
            facts = []
            if rule.hint:
                facts.append(escape(rule.hint))
            if rule.fix is not None:
                facts.append(f"Nearest valid value: {code(formula(rule.fix.node))}.")
            when = "on the values, when the operator runs" if rule.data else "on the desc, and before anything runs"
            facts.append(f"Checked {when}, at {_between(rule.since, rule.until)}; {rule.provenance}.")
            facts.append(f"Raises {code(rule_error(plan))}.")
            yield RuleSection(plan, anchor(plan.id), block(condition), tuple(wrapped(fact, 2) for fact in facts))

    @property
    def implicit(self) -> str:
        """The errors that follow from the fields."""
        rules = {rule.id for rule in self.op.rules}
        rows = []
        for error in self.facts.implicit:
            prefix, end = f"DML-{self.op.name}-", f"-{error.id}"
            ids = {id_ for item in self.op.fields for id_, _, _ in item.ids} - rules
            fields = [item.field for item in self.op.fields if f"{prefix}{item.field.python}{end}" in ids]
            names = _field_names(fields, self.spec.fields)
            if f"{prefix}operator{end}" in dict(self.plan.ids):
                names.insert(0, code("operator"))
            if names:
                rows.append((code(error.id), ", ".join(names), code(error.error), cell(error.about)))
        return table(("Slug", "Subject", "Error", "When"), rows)

    @property
    def interpretations(self) -> Iterator[str]:
        """What was decided where the documentation is silent."""
        for item in self.spec.interpretations:
            evidence = prose(item.evidence, 2, "*Evidence:*")
            yield f"**{escape(item.question)}**\n  {prose(item.choice, 2)}\n  {evidence}"

    @property
    def accuracy(self) -> str:
        """The declared bounds."""
        rows = [(row.dtype, code(row.ulp.text, in_table=True), cell(ACCURACY_OF[row.of])) for row in self.spec.accuracy]
        return table(("Data type", "Largest error in ULP", "ULP of"), rows) if rows else ""


def rule_error(rule: RulePlan) -> str:
    """The class of a broken rule."""
    return "InvalidDataError" if rule.rule.data else "InvalidDescError"


def _range_text(field: Field) -> str:
    if field.type not in ("uint", "int", "uint_array", "int_array", "size_2d") or field.value is not None:
        return "finite" if field.type == "float" else ""
    high = "2^32 - 1" if field.maximum == UINT_MAX else "2^31 - 1" if field.maximum == 2**31 - 1 else f"{field.maximum}"
    note = "" if field.provenance == "documented" else f" ({field.provenance})"
    return f"{field.minimum} to {high}{note}"


def _last(count: str) -> str:
    """The index before a count."""
    return str(int(count) - 1) if count.isdigit() else f"{count} - 1" if " if " not in count else f"({count}) - 1"


def _equations(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Name, formula and meaning in columns; a meaning that has no room goes on below."""
    left = max(len(name) for name, _, _ in rows)
    middle = max(len(value) for _, value, _ in rows)
    room = max(WIDTH - left - middle - 7, 32)
    for name, value, doc in rows:
        first, *more = textwrap.wrap(doc, room) or [""]
        yield f"{name.ljust(left)} = {value.ljust(middle)}  {first}".rstrip()
        yield from (f"{' ' * (left + middle + 5)}{line}" for line in more)


def support(op: OperatorPlan, facts: Facts, types: str, ranks: str) -> Iterator[tuple[Level, list[str], str]]:
    """The levels that widened a tensor, from the operator's own on: data types added, all ranks then allowed."""
    dtypes: list[str] = []
    dimensions: list[int] = []
    for index in range(op.since, len(facts.levels)):
        level = facts.levels[index]
        rows = [row for row in op.operator.types[types] if facts.level_index(row.since) <= index]
        known = [name for row in rows for name in row.dtypes]
        spans = [row for row in op.operator.ranks[ranks] if facts.level_index(row.since) <= index]
        reach = sorted({r for row in spans for r in range(row.min, row.max + 1) if r <= level.max_rank})
        added = [name for name in known if name not in dtypes]
        if added or reach != dimensions:
            yield level, added, _ranks(reach)
        dtypes, dimensions = known, reach


def _ranks(ranks: Sequence[int]) -> str:
    if len(ranks) > 2 and list(ranks) == list(range(ranks[0], ranks[-1] + 1)):
        return f"{ranks[0]} to {ranks[-1]}"
    return " or ".join(map(str, ranks))


def _kinds(dtypes: Sequence[str]) -> list[str]:
    """Data types, one line per kind, the widest first."""
    kinds: dict[str, list[str]] = {}
    for dtype in dtypes:
        kinds.setdefault(dtype.rstrip("0123456789"), []).append(dtype)
    return [", ".join(sorted(names, key=lambda name: -int(re.sub(r"\D", "", name) or 0))) for names in kinds.values()]


def _leading(field: Field) -> str:
    if field.leading_ones == "call":
        return f"A call may leave leading dimensions of size 1 of {code(field.python)} out."
    return f"In a desc, {code(field.python)} may have more dimensions than its formula gives, of size 1, in front."


def _between(since: str | None, until: str | None) -> str:
    if since is None and until is None:
        return "every level"
    parts = [f"levels from {since} on" if since else "levels", f"before {until}" if until else ""]
    return " ".join(part for part in parts if part)


def _field_names(fields: Sequence[Field], known: Sequence[Field]) -> list[str]:
    if len(fields) == len(known):
        return ["every field"]
    tensors = [field for field in known if field.is_tensor]
    if len(tensors) > 1 and all(field in fields for field in tensors):
        return ["every tensor", *(code(field.python) for field in fields if not field.is_tensor)]
    return [code(field.python) for field in fields]


def members(enum: Enum, facts: Facts, since: int = 0) -> str:
    """The members of an enum; none is there before the level of index ``since``."""
    renamed = any(member.name[0].isdigit() for member in enum.members)
    rows = []
    for member in enum.members:
        level = facts.levels[max(since, facts.level_index(member.since))].name
        python = [code(_member(member.name))] if renamed else []
        rows.append((code(member.name), *python, str(member.value), level_link(level), cell(member.doc)))
    return table(("Member", *(["Python"] if renamed else []), "Value", "From level", "Meaning"), rows)


def _member(name: str) -> str:
    return f"LEVEL_{name}" if name[0].isdigit() else name


# The other pages ----------------------------------------------------------------------------------------------------


def families(plan: Plan) -> Iterator[tuple[str, str]]:
    """The operators that are built, in a table per family."""
    for family in plan.families:
        rows = [
            (f"[{op.name}]({op.python}.md)", code(op.python), level_link(op.operator.since), cell(op.operator.summary))
            for op in family.operators
        ]
        yield family.family.name, table(("Operator", "In Python", "From level", "What it does"), rows)


def unbuilt(plan: Plan) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
    """The operators that are not, per kind: how many, and their names by level."""
    built = {operator.name for operator in plan.operators}
    rest = [entry for entry in plan.facts.catalogue.values() if entry.name not in built]
    for kind in sorted({entry.kind for entry in rest}):
        those = [entry for entry in rest if entry.kind == kind]
        rows = []
        for level in plan.facts.levels:
            names = sorted(entry.name for entry in those if entry.since == level.name)
            if names:
                rows.append((level.name, wrapped(f"{level.name}: {', '.join(names)}", 2)))
        yield kind.replace("_", " ").capitalize(), len(those), rows


def enum_sections(plan: Plan) -> Iterator[tuple[Enum, str, list[str], str]]:
    """Each enum, its anchor, the operators built that take it, and its members."""
    for enum in sorted(plan.enums, key=lambda enum: enum.python):
        users = [
            f"[{op.name}]({op.python}.md)"
            for op in plan.operators
            if any(field.enum == enum.name for field in op.operator.fields)
        ]
        yield enum, anchor(enum.name), users, members(enum, plan.facts)


def level_summary(plan: Plan) -> str:
    """All levels in one table."""
    rows = []
    for level in plan.facts.levels:
        count = sum(entry.since == level.name for entry in plan.facts.catalogue.values())
        name = f"[{level.name}](#level-{level.name})"
        rows.append((name, level.directml, str(count), str(level.max_rank), cell(level.windows or "")))
    return table(("Level", "DirectML", "New operators", "Most dimensions", "Part of"), rows)


def levels(plan: Plan) -> Iterator[tuple[Level, str, list[str]]]:
    """Each level, its anchor, and what it brought."""
    built = {operator.name: operator for operator in plan.operators}
    for level in plan.facts.levels:
        brought = []
        new = sorted(entry.name for entry in plan.facts.catalogue.values() if entry.since == level.name)
        names = [f"[{name}]({built[name].python}.md)" if name in built else name for name in new]
        brought += [f"Operators ({len(new)}): {', '.join(names)}."] if new else []
        dtypes = [dtype.name for dtype in plan.facts.dtypes if dtype.since == level.name]
        brought += [f"Data types: {', '.join(dtypes)}."] if dtypes else []
        for enum in sorted(plan.facts.enums.values(), key=lambda enum: enum.python):
            if enum.python == "FeatureLevel":
                continue
            fresh = [member.name for member in enum.members if member.since == level.name]
            if fresh:
                brought.append(f"Members of [{enum.python}](enums.md#{enum.name}): {', '.join(fresh)}.")
        brought += _widened(plan, level)
        yield level, anchor(f"level-{level.name}"), [wrapped(text, 2) for text in brought]


def _widened(plan: Plan, level: Level) -> Iterator[str]:
    for op in plan.operators:
        groups: dict[tuple[list[str], str] | Any, list[str]] = {}
        for field in op.operator.tensors:
            for found, added, dimensions in support(op, plan.facts, field.types or "", field.ranks or ""):
                if found is level and level.name != op.operator.since:
                    groups.setdefault((tuple(added), dimensions), []).append(code(field.python))
        for (added, dimensions), names in groups.items():
            what = f"also {', '.join(added)}" if added else f"{dimensions} dimensions"
            yield f"[{op.name}]({op.python}.md), {' and '.join(names)}: {what}."


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """The ids of one operator."""

    title: str
    anchor: str
    rows: str


def errors(plan: Plan) -> Iterator[ErrorGroup]:
    """Every id of an operator, with its class and meaning."""
    implicit = {error.id: error for error in plan.facts.implicit}
    known = dict(plan.ids)
    for op in plan.operators:
        found: dict[str, tuple[str, str, str]] = {}
        for slug, error in implicit.items():
            if f"DML-{op.name}-operator-{slug}" in known:
                id_ = f"DML-{op.name}-operator-{slug}"
                found[id_] = (code(id_), code(error.error), cell(error.about))
        for item in op.fields:
            found.update({id_: (code(id_), code(error), cell(about)) for id_, error, about in item.ids})
        for rule in op.rules:
            linked = f"[{cell(f'{rule.rule.about} {rule.rule.says}')}]({op.python}.md#{rule.id})"
            meaning = f"{linked}: {code(rule.text, in_table=True)} must hold."
            found[rule.id] = (code(rule.id), code(rule_error(rule)), meaning)
        rows = [found[id_] for id_ in known if id_ in found]
        title = f"[{op.name}]({op.python}.md)"
        yield ErrorGroup(title, anchor(op.name), table(("Id", "Error", "When"), rows))


def error_tables(plan: Plan) -> Mapping[str, str]:
    """The tables that belong to no operator."""
    model = sorted(plan.facts.model_errors, key=lambda error: error.id)
    return {
        "classes": table(
            ("Class", "Also a", "When"), [(code(name), code(base), about) for name, base, about in EXCEPTIONS]
        ),
        "slugs": table(
            ("Slug", "Error", "Message"),
            [(code(e.id), code(e.error), code(e.message, in_table=True)) for e in plan.facts.implicit],
        ),
        "model": table(
            ("Id", "Error", "When"), [(code(e.id), code(e.error), cell(e.about)) for e in model]
        ),
    }  # fmt: skip


# Stubs --------------------------------------------------------------------------------------------------------------


class Stubs:
    """What both stub files need."""

    def __init__(self, env: jinja2.Environment, plan: Plan) -> None:
        self.plan = plan
        self.operators = [StubOperator(env, plan, operator) for operator in plan.operators]

    @property
    def names(self) -> list[str]:
        """The public names."""
        return sorted([*PUBLIC, *(enum.python for enum in self.plan.enums), *(op.python for op in self.plan.operators)])

    @property
    def desc_names(self) -> list[str]:
        """The public names of ``dmlcy.desc``."""
        return sorted(["OperatorDesc", "Size2D", *(op.desc for op in self.plan.operators)])

    @property
    def desc_imports(self) -> list[str]:
        """What ``dmlcy.desc`` takes from ``dmlcy``."""
        used = " ".join(text for stub in self.operators for text in stub.types)
        known = ["TensorDesc", "_Bool", "_Int", "_Ints", "_Number"]
        known += [name for alias in self.aliases for name in (alias[0], f"_{alias[0]}")]
        return sorted(name for name in known if re.search(rf"\b{name}\b", used))

    @property
    def aliases(self) -> list[tuple[str, list[str], list[str]]]:
        """The enums that an argument can be of, and the short and full names of their members."""
        used = {field.enum for op in self.plan.operators for field in op.operator.fields}
        found = []
        for enum in sorted(self.plan.enums, key=lambda enum: enum.python):
            if enum.name in used or enum.python == "FeatureLevel":
                names = [member.name for member in enum.members]
                found.append((enum.python, names, [f"{enum.prefix}{name}" for name in names]))
        return found


class StubOperator:
    """An operator as the stubs declare it."""

    def __init__(self, env: jinja2.Environment, plan: Plan, operator: OperatorPlan) -> None:
        self.plan = plan
        self.op = operator
        escaped: Callable[[str], str] = env.filters["docstring"]
        self.docstring = escaped(env.get_template("docstring.txt.j2").render(op=operator).strip())
        self.summary = escaped(f"{operator.operator.struct}: {operator.operator.summary}")

    @property
    def types(self) -> list[str]:
        """What the declaration of the desc class mentions."""
        return [*self.fields, *(item.annotation for item in self.op.fields)]

    @property
    def parameters(self) -> Iterator[str]:
        """The attributes of the call."""
        for attribute in self.op.parameters:
            default = "" if attribute.default is None else f" = {literal(attribute.field.default)}"
            yield f"{attribute.python}: {accepted(self.plan, attribute.field)}{default}"

    @property
    def fields(self) -> Iterator[str]:
        """The parameters of the desc class; those that must be given come first."""
        for item in sorted(self.op.fields, key=lambda item: not item.required):
            field = item.field
            taken = accepted(self.plan, field)
            if item.required:
                yield f"{field.python}: {taken}"
            elif field.default is None:
                yield f"{field.python}: {taken} | None = None"
            else:
                yield f"{field.python}: {taken} = {literal(field.default)}"


def accepted(plan: Plan, field: Field) -> str:
    """What the type of an argument is."""
    if field.is_tensor:
        return "TensorDesc"
    if field.enum is not None:
        return f"_{plan.enum(field.enum).python}"
    return {
        "uint": "_Int",
        "uint_array": "_Int | _Ints",
        "float": "_Number",
        "bool": "_Bool",
        "size_2d": "_Int | tuple[_Int, _Int]",
        "scalar_union": "_Number",
    }[field.type]
