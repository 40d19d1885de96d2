"""Faults of specs that load: parts that are missing, unused, contradictory or badly said.

``required`` finds what stops generation (a skeleton has plenty of it), ``lint`` all the rest.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import source
from .diagnostics import Diagnostics, Span, did_you_mean
from .expr.nodes import Call, ExprError, Name
from .expr.parse import EACH, FUNCTIONS
from .expr.types import Kind, kind_of, within
from .field_types import can_have, type_of
from .model import DTYPE_ENUM, Example, Facts, Field, Formula, Operator, Rule, Specs
from .names import RESERVED, is_taken

SENTENCES = {
    "operator": ("summary",),
    "field": ("doc", "hint"),
    "chosen": ("doc",),
    "let": ("doc",),
    "rule": ("hint",),
    "data_rule": ("hint",),
    "independent": ("doc",),
    "interpretation": ("question", "choice", "evidence"),
    "example": ("calculation", "contradicts"),
    "equivalent": ("note",),
}


def required(specs: Specs, diagnostics: Diagnostics) -> None:
    """The parts that must be there before anything can be generated."""
    for operator in specs.operators.values():
        _Linter(specs, operator, diagnostics).required()


def lint(specs: Specs, diagnostics: Diagnostics) -> None:
    """Every problem that does not stop generation."""
    linters = [_Linter(specs, operator, diagnostics) for operator in specs.operators.values()]
    for linter in linters:
        linter.lint()
    _unused(linters, diagnostics)
    for text in (*specs.facts.implicit, *specs.facts.model_errors):
        for what, said in (("message", text.message), ("about", text.about)):
            if not said.endswith("."):
                diagnostics.error(None, f"the {what} of error {text.id!r} does not end with a period")
    about = [(f"about of {one.shown}", one.about) for one in specs.onnx.operators if one.about]
    for what, sentences in (*about, *((f"sentence of {name}", says) for name, says in specs.onnx.queries.items())):
        if not sentences.endswith("."):
            diagnostics.error(None, f"the {what} does not end with a period")


class _Linter:
    """Looks at one operator, with the files it was read from at hand for places."""

    def __init__(self, specs: Specs, operator: Operator, diagnostics: Diagnostics) -> None:
        self.facts: Facts = specs.facts
        self.operators = specs.operators
        self.operator = operator
        self.diagnostics = diagnostics
        paths = [*(f"specs/shared/{name}.toml" for name in operator.include), operator.file]
        self.documents = [specs.documents[path] for path in paths]
        self.own = self.documents[-1]
        self.levels = [level.name for level in specs.facts.levels]
        self.enums = specs.facts.enums

    def error(self, span: Span | None, message: str, hint: str | None = None) -> None:
        self.diagnostics.error(span, message, hint)

    def rows(self, key: str) -> Iterator[tuple[source.Document, int, dict[str, Any]]]:
        """The rows of an array of tables, in the groups and in the operator's file."""
        for document in self.documents:
            for number, row in enumerate(document.data.get(key, ())):
                yield document, number, row

    def required(self) -> None:
        operator = self.operator
        for key, table in (("types", operator.types), ("ranks", operator.ranks)):
            for variable, rows in table.items():
                if not rows:
                    span = self.variable(key, variable)
                    self.error(span, f"[{key}] {variable} has no row", f"{variable} = [{{ since = … }}]")
        for document in self.documents:
            self.characters(document, document.data, ())
            self.texts(document, "operator", (document.data.get("operator", {}),), ("summary",))
            for key in ("field", "chosen"):
                self.texts(document, key, document.data.get(key, ()), ("doc",))
        for field in operator.fields:
            lengths = [length for length in (field.length, field.max_length) if length is not None]
            if type_of(field).array and not lengths:
                hint = 'add length = "…", a formula, or max_length = "…"'
                self.error(field.span, f"the array {field.name} has no length", hint)
            elif len(lengths) > 1:
                self.error(field.span, f"{field.name} has a length, so that it has no max_length")
            if type_of(field).chosen_among and field.among is None:
                hint = 'add among = "fused", the list in specs/fused.toml'
                self.error(field.span, f"{field.name} does not say which operators it holds", hint)
            open_sizes = field.any_sizes or type_of(field).several
            if field.kind == "output" and field.sizes is None and not open_sizes:
                hint = 'add sizes = "[…]", a formula, or sizes = "any"'
                self.error(field.span, f"the output {field.name} has no sizes", hint)

    def texts(self, document: source.Document, table: str, rows: Iterable[Any], keys: tuple[str, ...]) -> None:
        for number, row in enumerate(rows):
            for key in keys:
                if row.get(key) == "":
                    path = (table, key) if table == "operator" else (table, number, key)
                    self.error(document.value_span(path), f"{key} is empty")

    def characters(self, document: source.Document, value: Any, path: source.KeyPath) -> None:
        """Control characters have no place in generated files."""
        if isinstance(value, str) and any((c < " " and c not in "\n\t") or c == "\x7f" for c in value):
            self.error(document.value_span(path), "the text has a control character")
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, item in items:
            self.characters(document, item, (*path, step))

    def variable(self, key: str, variable: str) -> Span | None:
        for document in reversed(self.documents):
            if variable in document.data.get(key, {}):
                return document.key_span((key, variable))
        return None

    def lint(self) -> None:
        self.level_rows()
        self.names()
        self.presence()
        for field in self.operator.fields:
            self.default(field)
            self.useless(field)
        for rule in self.operator.rules:
            self.rule(rule)
        self.same()
        self.interpretations()
        self.sentences()
        self.examples()
        self.accuracy()

    def level_rows(self) -> None:
        """Rows of [types] and [ranks]: in ascending order, none before its operator or its type, no type twice."""
        born = {dtype.name: dtype.since for dtype in self.facts.dtypes}
        for document in self.documents:
            for key in ("types", "ranks"):
                for variable, rows in document.data.get(key, {}).items():
                    last, seen = -1, set()
                    for number, row in enumerate(rows):
                        path = (key, variable, number)
                        since, span = row["since"], document.value_span((*path, "since"))
                        if document is self.own and self.earlier(since, self.operator.since):
                            self.before_the_operator(since, span)
                        if self.levels.index(since) <= last:
                            hint = "one row per level, the oldest first"
                            self.error(span, "the rows are not in ascending order", hint)
                        last = self.levels.index(since)
                        for place, dtype in enumerate(row.get("any", ())):
                            span = document.value_span((*path, "any", place))
                            if dtype in seen:
                                self.error(span, f"{dtype} stands here a second time")
                            seen.add(dtype)
                            if self.earlier(since, born[dtype]):
                                self.error(span, f"{dtype} came with {born[dtype]}, after {since}")

    def earlier(self, level: str, other: str) -> bool:
        return self.levels.index(level) < self.levels.index(other)

    def before_the_operator(self, since: str, span: Span | None) -> None:
        self.error(span, f"{since} is before {self.operator.since}, which brought {self.operator.name}")

    def names(self) -> None:
        """Python names that mean something else in generated code, or that two fields share."""
        seen: dict[str, Field] = {}
        for field in (*self.operator.fields, *self.operator.chosen):
            if is_taken(field.python, field.is_tensor):
                self.error(field.span, f"{field.name} is {field.python!r} in Python, which is taken there")
            if field.python in seen:
                other = seen[field.python].name
                self.error(field.span, f"{field.name} and {other} are both {field.python!r} in Python")
            seen[field.python] = field
        for let in self.operator.lets:
            data = {f"{field.python}_data" for field in self.operator.inputs}
            if let.name in data or let.name in RESERVED or keyword.iskeyword(let.name):
                self.error(let.span, f"{let.name!r} is taken in generated code", "choose another name")
            elif let.name in FUNCTIONS or let.name in EACH:
                self.error(let.span, f"{let.name!r} is the name of a function", "choose another name")

    def optional(self) -> list[str]:
        """The tensors that a desc may lack."""
        return [field.python for field in self.operator.tensors if field.optional]

    def presence(self) -> None:
        """Only an optional field may be present or not."""
        optional = [*self.optional(), *(field.python for field in self.operator.attributes if field.may_be_none)]
        for formula in self.formulas():
            for node in formula.node.walk():
                if isinstance(node, Call) and node.function == "present" and formula.span is not None:
                    name = getattr(node.args[0], "id", "")
                    if name not in optional:
                        span = formula.span.inside(formula.text, node.at, node.length)
                        self.error(span, f"{name} is always there: it is not optional")

    def default(self, field: Field) -> None:
        """The default of a field is a value that the field takes."""
        if field.default is None:
            return
        span = self.place_of("field", "name", field.name, "default")
        if field.is_tensor or field.value is not None:
            why = "is a tensor" if field.is_tensor else "follows from other fields"
            self.error(span, f"{field.name} {why}: it has no default")
            return
        several = type_of(field).array and isinstance(field.default, list)
        values = field.default if several else [field.default]
        for value in values:
            self.taken(field, value, f"the default of {field.name}", span)

    def taken(self, field: Field, value: object, called: str, span: Span | None) -> None:
        """A value is one that the field takes."""
        kind = type_of(field)
        if type(value) not in kind.toml:
            self.error(span, f"{called}, {field.type}, is {value!r}")
        elif field.enum is not None and field.enum != DTYPE_ENUM:
            members = [member.name for member in self.enums[field.enum].members]
            if value not in members:
                self.error(span, f"{field.enum} has no member {value!r}", did_you_mean(str(value), members))
        elif kind.ranged and not _within(value, field):
            self.error(span, f"{called}, {value}, is not in {field.minimum} to {field.maximum}")

    def same(self) -> None:
        """An older version is there, and every field of one of the two is a field of the other, or is given."""
        for same in self.operator.same:
            older = self.operators.get(same.older)
            if older is None:
                others = self.operators.keys() - {self.operator.name}
                self.error(same.span, f"no spec describes {same.older!r}", did_you_mean(same.older, others))
                continue
            if self.levels.index(older.since) >= self.levels.index(self.operator.since):
                self.error(same.span, f"{older.name}, of level {older.since}, is not older")
            theirs, ours = (
                {field.python for field in one.fields if field.value is None} for one in (older, self.operator)
            )
            for name in sorted(theirs - ours):
                self.error(same.span, f"{older.name} has {name}, and {self.operator.name} has not")
            left_out = {field.python for field in self.operator.outputs if field.optional}
            for name in sorted(ours - theirs - left_out - {*same.given}):
                self.error(same.span, f"{older.name} has no {name}", f"with = {{ {name} = … }}")
            for name, value in same.given.items():
                self.taken(self.operator.field(name), value, name, same.span)
            for name, value in same.theirs.items():
                if name not in theirs & same.given.keys():
                    self.error(same.span, f"older has {name}, which is no attribute of both versions in with")
                else:
                    self.taken(older.field(name), value, name, same.span)

    def useless(self, field: Field) -> None:
        """Keys that say nothing about a field of this type."""
        kind = type_of(field)
        takes = {
            "length": kind.array,
            "max_length": kind.array,
            "range": kind.ranged and field.value is None,
            "dtype": field.is_tensor or kind.typed,
            "infinite": kind.real,
            "sizes": field.is_tensor and not kind.several,
            "leading_ones": field.is_tensor and not kind.several,
            "mixed": kind.several,
            "among": kind.chosen_among,
            "owned": field.kind == "input",
            "fills": kind.reals and field.length is not None,
            "hint": (field.is_tensor and field.sizes is not None) or not field.fills,
            "hint_when": bool(field.hint),
        }
        for document, number, row in self.rows("field"):
            for key, taken in takes.items():
                if row.get("name") == field.name and key in row and not taken:
                    self.error(document.key_span(("field", number, key)), f"{field.name} is {field.type}: no {key}")

    def rule(self, rule: Rule) -> None:
        """A rule can be broken by a test, mended by its fix, and told from the errors of the fields themselves."""
        if not rule.breaks:
            self.error(rule.span, f"{rule.id} has no breaks", "add breaks = { field = value }, for this rule only")
        names = [field.python for field in self.operator.fields]
        for name in rule.breaks:
            if name not in names:
                self.error(self.rule_place(rule, "breaks"), f"{name!r} is no field", did_you_mean(name, names))
            elif rule.breaks[name] in ("absent", "present") and name not in self.optional():
                self.error(self.rule_place(rule, "breaks"), f"{name} is always there: it is not optional")
        about = self.operator.field(rule.about)
        own = {f"{rule.about}-{error.id}" for error in self.facts.implicit if can_have(about, error)}
        if rule.id in own:
            self.error(rule.span, f"{rule.id} is also the id of an error that {rule.about} has by itself")
        if rule.fix is not None:
            self.fix(rule, rule.fix, about)
        if rule.says.endswith(".") or not rule.says or rule.says[0].isupper():
            self.error(self.rule_place(rule, "says"), "says goes on after the name of the field, and has no period")
        if rule.hint and rule.hint.rstrip(".") == rule.says:
            self.error(self.rule_place(rule, "hint"), "the hint says what says says", "say what to do")
        since, until = rule.since or self.operator.since, rule.until
        if self.earlier(since, self.operator.since):
            self.before_the_operator(since, self.rule_place(rule, "since"))
        if until and not self.earlier(since, until):
            self.error(self.rule_place(rule, "until"), f"{rule.id} holds from {since} and until {until}: never")

    def fix(self, rule: Rule, fix: Formula, about: Field) -> None:
        number = type_of(about).number
        if number is None:
            self.error(fix.span, f"{about.name} is {about.type}: a fix gives a number")
            return
        if type_of(about).array and rule.index is None:
            self.error(fix.span, f"{about.name} is an array: a fix needs a rule with `for`")
        scope = self.operator.scope
        try:
            if rule.index is not None and rule.count is not None:
                scope = within(scope, rule.index, rule.count.node)
            kind = kind_of(fix.node, scope)
        except ExprError:  # load has said so
            return
        if kind is Kind.FLOAT and number is not float:
            self.error(fix.span, f"{about.name} is {about.type}: the fix is a float")

    def interpretations(self) -> None:
        seen: set[str] = set()
        for document, number, row in self.rows("interpretation"):
            if row["id"] in seen:
                span = document.value_span(("interpretation", number, "id"))
                self.error(span, f"{row['id']} is the id of another interpretation")
            seen.add(row["id"])

    def sentences(self) -> None:
        for table, keys in SENTENCES.items():
            for document in self.documents:
                found = document.data.get(table, ())
                for number, row in enumerate([found] if isinstance(found, dict) else found):
                    path: source.KeyPath = (table,) if isinstance(found, dict) else (table, number)
                    for key in keys:
                        self.sentence(document, row.get(key), (*path, key))
                    for place, inner in enumerate(row.get("differs", ())):
                        self.sentence(document, inner["says"], (*path, "differs", place, "says"))

    def sentence(self, document: source.Document, text: str | None, path: source.KeyPath) -> None:
        if text and not text.endswith((".", "?")):
            self.error(document.value_span(path), f"{path[-1]} does not end with a period")

    def examples(self) -> None:
        if not self.operator.examples:
            self.error(
                self.own.value_span(("operator",)),
                f"{self.operator.name} has no example",
                "add [[example]]: one of the documentation, or one with its calculation",
            )
        for example in self.operator.examples:
            self.example(example)

    def example(self, example: Example) -> None:
        for field in self.operator.attributes:
            if field.default is None and not field.optional and field.python not in example.attributes:
                self.error(example.span, f"the example does not give {field.python}, which has no default")
        for name, tensor in (*example.inputs.items(), *example.outputs.items()):
            field = self.operator.field(name)
            dtypes = {dtype for row in self.operator.types[field.types or ""] for dtype in row.dtypes}
            ranks = {rank for row in self.operator.ranks[field.ranks or ""] for rank in range(row.min, row.max + 1)}
            if dtypes and tensor.dtype not in dtypes:
                self.error(example.span, f"{name} is never {tensor.dtype}")
            if ranks and field.leading_ones is None and len(tensor.sizes) not in ranks:
                self.error(example.span, f"{name} never has rank {len(tensor.sizes)}")

    def accuracy(self) -> None:
        known = {dtype for rows in self.operator.types.values() for row in rows for dtype in row.dtypes}
        for row in self.operator.accuracy:
            if row.dtype not in known:
                self.error(
                    row.span,
                    f"no tensor is {row.dtype}",
                    did_you_mean(row.dtype, known),
                )

    def place_of(self, table: str, key: str, value: str, inner: str) -> Span | None:
        """The place of a key of the row whose ``key`` is ``value``."""
        for document, number, row in self.rows(table):
            if row.get(key) == value:
                return document.value_span((table, number, inner))
        return None

    def rule_place(self, rule: Rule, inner: str) -> Span | None:
        return self.place_of("data_rule" if rule.data else "rule", "id", rule.id, inner)

    def used_names(self) -> set[str]:
        """Names in formulas, and words in the strings of [kernel]."""
        operator = self.operator
        found = {node.id for formula in self.formulas() for node in formula.node.walk() if isinstance(node, Name)}
        if operator.kernel is not None:
            found.update(_words(operator.kernel.data))
        return found

    def formulas(self) -> list[Formula]:
        """All formulas but those of [kernel]."""
        operator = self.operator
        formulas: list[Formula | None] = []
        for field in (*operator.fields, *operator.chosen):
            formulas += [field.sizes, field.length, field.max_length, field.value, field.hint_when]
        for let in operator.lets:
            formulas += [let.count, let.value]
        for rule in operator.rules:
            formulas += [rule.count, rule.that, rule.fix]
        for independent in operator.independent:
            formulas += independent.formulas
        formulas += [row.ulp for row in operator.accuracy]
        formulas += [formula for item in operator.interpretations for formula in (item.when, item.not_judged)]
        return [formula for formula in formulas if formula is not None]


def _within(value: object, field: Field) -> bool:
    return isinstance(value, int) and field.minimum <= value <= field.maximum


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from re.findall(r"\w+", value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _words(item)


def _unused(linters: list[_Linter], diagnostics: Diagnostics) -> None:
    """Type variables, ranks and lets that no operator uses; a group's are those of all operators that include it."""
    used: dict[tuple[str, str, str], bool] = {}
    spans: dict[tuple[str, str, str], Span] = {}
    for linter in linters:
        fields = linter.operator.fields
        names: dict[str, set[str | None]] = {
            "types": {field.types for field in fields if field.is_tensor},
            "ranks": {field.ranks for field in fields},
            "let": {*linter.used_names()},
        }
        for document in linter.documents:
            rows = document.data.get("let", ())
            places: list[tuple[str, str, source.KeyPath]] = []
            places += [("let", row["name"], ("let", number, "name")) for number, row in enumerate(rows)]
            places += [(key, name, (key, name)) for key in ("types", "ranks") for name in document.data.get(key, {})]
            for key, name, path in places:
                place = (document.file, key, name)
                used[place] = used.get(place, False) or name in names[key]
                spans[place] = document.value_span(path) if key == "let" else document.key_span(path)
    for (file, key, name), found in used.items():
        if not found:
            what = {"types": "type variable", "ranks": "rank", "let": "let"}[key]
            diagnostics.error(spans[file, key, name], f"the {what} {name} is not used")
