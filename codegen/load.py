"""TOML to model: reads every spec, reports every problem with its place, and builds nothing that is not valid."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from . import names, source
from .diagnostics import Diagnostics, Span, did_you_mean
from .expr.nodes import UINT_MAX, ExprError, Name
from .expr.parse import parse
from .expr.types import MAX_RANK, Kind, Scope, Symbol, interval_of, kind_of, within
from .field_types import PLAIN, type_of
from .model import (
    ACCURACY_OF,
    DTYPE_ENUM,
    LANGUAGES,
    PROVENANCE,
    Accuracy,
    CatalogueField,
    CatalogueOperator,
    Difference,
    Dtype,
    DtypeRow,
    Enum,
    EnumMember,
    Equivalent,
    ErrorText,
    Example,
    Facts,
    Field,
    Formula,
    Independent,
    Interpretation,
    Let,
    Level,
    Library,
    Operator,
    Outcome,
    RankRow,
    Rule,
    Same,
    Specs,
    TensorData,
    Term,
    let_symbol,
    snake,
)
from .source import Table

T = TypeVar("T")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
URL = re.compile(r"https://[\w.-]+\.\w+/\S*")
RULE_ID = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)+")
# The names in files of facts: generated code has them in quotes, and bare.
LEVEL = re.compile(r"\d+_\d+")
VERSION = re.compile(r"\d+(\.\d+)+")
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*")
MEMBER = re.compile(r"[A-Z0-9][A-Z0-9_]*")
CLASS = re.compile(r"[A-Z][A-Za-z0-9]*")
LOWER = re.compile(r"[a-z][a-z0-9_]*")
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MODEL_ID = re.compile(r"DML-MODEL-[a-z0-9]+(-[a-z0-9]+)*")
LIBRARY = re.compile(r"[A-Za-z][A-Za-z0-9 ._+-]*")
MODULE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def load(root: Path) -> Specs:
    """Every spec below ``root``/specs; raises SpecError with all problems."""
    diagnostics = Diagnostics()
    reader = _Files(root, diagnostics)
    facts = _facts(reader)
    diagnostics.raise_if_any()
    operators: dict[str, Operator] = {}
    for path in sorted((root / "specs" / "operators").glob("*/*.toml")):
        table = reader.table(path.relative_to(root).as_posix())
        operator = None if table is None else _OperatorReader(reader, facts, table, path).read()
        if operator is None:
            continue
        if operator.name in operators and table is not None:
            table.error("operator", f"{operator.name} is described twice", f"also in {operators[operator.name].file}")
        for other in operators.values():
            if table is not None and other.name != operator.name and other.python == operator.python:
                table.error("operator", f"{operator.python} is also the name of {other.name} in Python")
        operators[operator.name] = operator
    diagnostics.raise_if_any()
    ordered = sorted(operators.values(), key=lambda operator: operator.name)
    return Specs(facts, {operator.name: operator for operator in ordered})


class _Files:
    """Opens spec files, each once."""

    def __init__(self, root: Path, diagnostics: Diagnostics) -> None:
        self.root = root
        self.diagnostics = diagnostics
        self.documents: dict[str, source.Document | None] = {}

    def table(self, relative: str) -> Table | None:
        """A fresh cursor over the file, or None where it cannot be read."""
        if relative not in self.documents:
            self.documents[relative] = source.load(self.root / relative, self.root / "specs", self.diagnostics)
        document = self.documents[relative]
        return None if document is None else document.table()


def _rows(table: Table | None, key: str) -> tuple[Table, ...]:
    return () if table is None else table.tables(key)


def _facts(files: _Files) -> Facts:
    levels_table, dtypes_table = files.table("specs/levels.toml"), files.table("specs/dtypes.toml")
    enums_table, catalogue_table = files.table("specs/enums.toml"), files.table("specs/catalogue.toml")
    errors_table, model_table = files.table("specs/errors.toml"), files.table("specs/model_errors.toml")
    levels = tuple(_finished(row, _level) for row in _rows(levels_table, "level"))
    level_names = tuple(level.name for level in levels)
    dtypes = tuple(_finished(row, lambda r: _dtype(r, level_names)) for row in _rows(dtypes_table, "dtype"))
    enums = [_finished(row, lambda r: _enum(r, level_names)) for row in _rows(enums_table, "enum")]
    enum_names = (*(enum.name for enum in enums), DTYPE_ENUM)
    catalogue = [
        _finished(row, lambda r: _catalogue(r, level_names, enum_names)) for row in _rows(catalogue_table, "operator")
    ]
    _classes(catalogue, enums, _rows(enums_table, "enum"))
    implicit = tuple(_finished(row, lambda r: _error(r, "slug")) for row in _rows(errors_table, "implicit"))
    model_rows = (*_rows(errors_table, "model"), *_rows(model_table, "model"))
    model_errors = tuple(_finished(row, lambda r: _error(r, "id")) for row in model_rows)
    slugs = tuple(error.id for error in implicit)
    terms_table = files.table("specs/terms.toml")
    terms = tuple(_finished(row, lambda r: _term(r, slugs)) for row in _rows(terms_table, "term"))
    libraries_table = files.table("specs/libraries.toml")
    libraries = tuple(_finished(row, _library) for row in _rows(libraries_table, "library"))
    for table in (
        levels_table, dtypes_table, enums_table, catalogue_table, errors_table, model_table, terms_table,
        libraries_table,
    ):  # fmt: skip
        if table is not None:
            table.finish()
    return Facts(
        levels,
        dtypes,
        {enum.name: enum for enum in enums},
        {operator.name: operator for operator in catalogue},
        implicit,
        model_errors,
        terms,
        libraries,
    )


def _finished(row: Table, read: Callable[[Table], T]) -> T:
    result = read(row)
    row.finish()
    return result


def _named(row: Table, key: str, pattern: re.Pattern[str]) -> str:
    """A name that stands in generated code."""
    text = row.str(key)
    if row.has(key) and not pattern.fullmatch(text):
        row.error(key, f"the {key} {text!r} of {row.what} is not of the form {pattern.pattern}")
    return text


def _level(row: Table) -> Level:
    return Level(
        _named(row, "name", LEVEL),
        row.int("value"),
        _named(row, "directml", VERSION),
        row.int("max_rank"),
        row.str("windows", None),
        row.str("note", None),
        row.bool("dxdispatch", True),
    )


def _dtype(row: Table, levels: tuple[str, ...]) -> Dtype:
    since = row.choice("since", levels)
    numpy = _named(row, "numpy", LOWER) if row.has("numpy") else None
    return Dtype(_named(row, "name", CAPITALS), row.int("value"), row.int("bits"), since, numpy)


def _enum(row: Table, levels: tuple[str, ...]) -> Enum:
    members: list[EnumMember] = []
    for member in row.tables("members"):
        since = member.choice("since", levels)
        name, value, doc = _named(member, "name", MEMBER), member.int("value"), member.str("doc", "")
        if name in {known.name for known in members}:
            member.error("name", f"{name!r} is the name of another member")
        members.append(EnumMember(name, value, since, doc, member.strings("also", ())))
        member.finish()
    python = _named(row, "python", CLASS)
    why = names.refused(python)
    if why is not None:
        row.error("python", f"{python!r} {why}")
    return Enum(
        _named(row, "name", CAPITALS),
        _named(row, "prefix", CAPITALS),
        python,
        row.bool("flags", False),
        row.choice("since", levels),
        row.str("source", None),
        row.str("note", None),
        tuple(members),
    )


def _classes(catalogue: list[CatalogueOperator], enums: list[Enum], rows: tuple[Table, ...]) -> None:
    """No class of an enum is one of another enum or of an operator."""
    taken = {name: operator.name for operator in catalogue for name in names.classes(operator.name)}
    for enum, row in zip(enums, rows, strict=True):
        if enum.python in taken:
            row.error("python", f"{enum.python!r} is also a class of {taken[enum.python]}")
        taken[enum.python] = enum.name


def _catalogue(row: Table, levels: tuple[str, ...], enums: tuple[str, ...]) -> CatalogueOperator:
    fields = []
    types = (*PLAIN, *(f"enum:{name}" for name in enums))
    for field in row.tables("fields"):
        kind = field.choice("kind", ("input", "output", "attribute"))
        type_ = field.choice("type", types)
        fields.append(CatalogueField(_named(field, "name", CLASS), kind, type_, field.bool("optional", False)))
        field.finish()
    in_place = row.bool("in_place")
    if in_place and all(field.kind != "input" for field in fields):
        row.error("in_place", "an operator without an input has no memory to share")
    return CatalogueOperator(
        _named(row, "name", CAPITALS),
        row.int("value"),
        row.choice("since", levels),
        _named(row, "struct", CAPITALS),
        _named(row, "kind", LOWER),
        in_place,
        _source(row),
        tuple(fields),
    )


def _source(row: Table) -> str:
    text = row.str("source")
    if row.has("source") and not URL.fullmatch(text):
        row.error("source", "a source is an https URL")
    return text


def _error(row: Table, key: str) -> ErrorText:
    implicit = key == "slug"
    breaks = row.any("breaks", {}) if not implicit else {}
    if not isinstance(breaks, dict):
        row.error("breaks", "breaks is a table: { path = value }")
    error = row.str("error")
    errors = tuple(name for name in names.public() if name.endswith("Error"))
    if row.has("error") and error not in errors:
        row.error("error", f"{error!r} is no error of dmlcy", did_you_mean(error, errors) or ", ".join(errors))
    return ErrorText(
        _named(row, key, SLUG if implicit else MODEL_ID),
        error,
        row.str("message"),
        row.str("about"),
        row.strings("applies") if implicit else (),
        row.choice("when", ("later", "tied")) if implicit and row.has("when") else None,
        breaks if isinstance(breaks, dict) else {},
    )


def _term(row: Table, slugs: tuple[str, ...]) -> Term:
    errors = row.strings("errors") if row.has("errors") else ()
    for slug in errors:
        if slug not in slugs:
            row.error("errors", f"{slug!r} is no slug of errors.toml", did_you_mean(slug, slugs))
    also = row.strings("also") if row.has("also") else ()
    return Term(row.str("name"), also, row.str("is"), row.str("doc"), _source(row), errors)


def _library(row: Table) -> Library:
    language = row.choice("language", LANGUAGES)
    python = language == "python"
    needs = row.strings("needs") if python else ()
    for name in needs:
        if not MODULE.fullmatch(name):
            row.error("needs", f"the module {name!r} is not of the form {MODULE.pattern}")
    return Library(
        _named(row, "name", LIBRARY),
        language,
        needs,
        row.str("tested") if python else None,
        _python(row, "prelude") if python else "",
    )


def _python(row: Table, key: str, mode: str = "exec") -> str:
    """Python as text: it is parsed, and never run."""
    text = row.str(key)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        row.error(key, f"{key} is {'not Python' if mode == 'exec' else 'no expression of Python'}")
    return text


class _OperatorReader:
    """Reads one operator file and the groups that it includes."""

    def __init__(self, files: _Files, facts: Facts, table: Table, path: Path) -> None:
        self.files = files
        self.facts = facts
        self.table = table
        self.path = path
        self.levels = tuple(level.name for level in facts.levels)
        self.scope: dict[str, Symbol] = {}
        self.broken: set[str] = set()  # lets that are wrong: what uses them is not looked at

    def read(self) -> Operator | None:
        head = self.table.table("operator")
        if head is None:
            self.table.error("operator", "a spec begins with [operator]")
            return None
        name = head.str("name")
        entry = self.facts.catalogue.get(name)
        if entry is None:
            head.error("name", f"{name!r} is not in DirectML's catalogue", did_you_mean(name, self.facts.catalogue))
            return None
        family = head.str("family")
        if family != self.path.parent.name:
            head.error("family", f"the file stands in {self.path.parent.name}/, not in {family}/")
        include = head.strings("include", ())
        groups = [group for group in (self.group(head, name) for name in include) if group is not None]
        if len(groups) < len(include):
            return None  # what the group describes would be missing everywhere
        summary = head.str("summary")
        python = head.str("python", name.lower())
        why = names.refused(python, family, name.lower())
        if why is None and python.isidentifier() and not LOWER.fullmatch(python):
            why = "is not in snake_case"
        if why is not None:
            head.error("python", f"{python!r} {why}", "choose another name")
        self.word(head, "python", python)
        head.finish()

        tables = [*groups, self.table]
        types, ranks = self.types(tables), self.ranks(tables)
        fields = self.fields(tables, entry, types, ranks)
        chosen = self.chosen(tables, fields)
        for field in (*fields, *chosen):
            symbol = type_of(field).symbol(field, self.facts)
            if symbol is not None:
                self.scope[field.python] = symbol
        lets = self.lets(tables)
        rules = self.rules(tables, fields)
        independent = tuple(
            _finished(row, lambda r: self.independent(r, fields, ranks))
            for table in tables
            for row in table.tables("independent")
        )
        same = tuple(_finished(row, lambda r: self.same(r, fields)) for row in self.table.tables("same"))
        interpretations = tuple(
            _finished(row, self.interpretation) for table in tables for row in table.tables("interpretation")
        )
        accuracy = tuple(self.accuracy(tables))
        examples = tuple(_finished(row, lambda r: self.example(r, fields)) for row in self.table.tables("example"))
        equivalents = tuple(_finished(row, self.equivalent) for row in self.table.tables("equivalent"))
        kernels = [kernel for kernel in [table.table("kernel") for table in tables] if kernel is not None]
        for field in (*fields, *chosen):
            self.check_formulas(field)
        for table in tables:
            table.finish()
        return Operator(
            name=name,
            python=python,
            family=family,
            since=entry.since,
            struct=entry.struct,
            value=entry.value,
            summary=summary,
            source=entry.source,
            include=include,
            types=types,
            ranks=ranks,
            fields=fields,
            lets=lets,
            rules=rules,
            chosen=chosen,
            independent=independent,
            same=same,
            interpretations=interpretations,
            examples=examples,
            equivalents=equivalents,
            accuracy=accuracy,
            kernel=kernels[-1] if kernels else None,
            scope=self.scope,
            file=self.path.relative_to(self.files.root).as_posix(),
            family_span=head.span("family"),
        )

    def word(self, table: Table, key: str, name: str) -> None:
        """Refuses what is no name in generated code."""
        if not WORD.fullmatch(name):
            table.error(key, f"{name!r} is no name: a letter, then letters, digits and _")

    def group(self, head: Table, name: str) -> Table | None:
        relative = f"specs/shared/{name}.toml"
        if not (self.files.root / relative).is_file():
            known = [path.stem for path in (self.files.root / "specs" / "shared").glob("*.toml")]
            head.error("include", f"there is no group {name!r}", did_you_mean(name, known))
            return None
        return self.files.table(relative)

    def types(self, tables: list[Table]) -> dict[str, tuple[DtypeRow, ...]]:
        known = tuple(dtype.name for dtype in self.facts.dtypes)
        found: dict[str, tuple[DtypeRow, ...]] = {}
        for table in _each(tables, "types"):
            variables = table.keys()
            for variable in variables:
                self.word(table, variable, variable)
                rows = []
                for row in table.tables(variable):
                    since, dtypes = row.choice("since", self.levels), row.strings("any")
                    for dtype in dtypes:
                        if dtype not in known:
                            row.error("any", f"unknown data type {dtype!r}", did_you_mean(dtype, known))
                    rows.append(DtypeRow(since, dtypes))
                    row.finish()
                found[variable] = tuple(rows)
            table.finish()
        return found

    def ranks(self, tables: list[Table]) -> dict[str, tuple[RankRow, ...]]:
        found: dict[str, tuple[RankRow, ...]] = {}
        for table in _each(tables, "ranks"):
            variables = table.keys()
            for variable in variables:
                self.word(table, variable, variable)
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
        tables: list[Table],
        entry: CatalogueOperator,
        types: Mapping[str, Any],
        ranks: Mapping[str, Any],
    ) -> tuple[Field, ...]:
        declared = {field.name: field for field in entry.fields}
        found: dict[str, Field] = {}
        for row in (row for table in tables for row in table.tables("field")):
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
                self.table.error("operator", f"{name} of {entry.struct} is not described", "add a [[field]] for it")
        return tuple(found[name] for name in declared if name in found)

    def field(
        self,
        row: Table,
        declared: CatalogueField,
        types: Mapping[str, Any],
        ranks: Mapping[str, Any],
        names: tuple[str, ...],
    ) -> Field:
        tensor, kind = declared.kind != "attribute", type_of(declared)
        if tensor and row.has("rank") is False:
            row.error("name", "a tensor has a rank", 'add rank = "R" and a row R in [ranks]')
        variable = row.str("dtype", None)
        rank = row.str("rank", None) if tensor else None
        if tensor:
            if variable is None:
                row.error("name", "a tensor has a dtype", 'add dtype = "T" and a row T in [types]')
            elif variable not in types:
                row.error("dtype", f"[types] has no {variable!r}", did_you_mean(variable, types))
            if rank is not None and rank not in ranks:
                row.error("rank", f"[ranks] has no {rank!r}", did_you_mean(rank, ranks))
        elif kind.typed and variable not in names:
            why = f"{declared.name} is {kind.directml}: `dtype` names the field that holds its data type"
            row.error("dtype", why, did_you_mean(variable or "", names))
        limits = row.table("range")
        least, greatest = kind.limits
        low, high, provenance = least, greatest, "documented"
        if limits is not None:
            low, high = limits.int("min", low), limits.int("max", high)
            provenance = limits.choice("from", PROVENANCE, "documented")
            limits.finish()
            if not least <= low <= high <= greatest:
                row.error("range", f"{kind.directml} is {least} to {greatest}, in order: {low} to {high} is not")
        sizes_key = "sizes" if tensor else None
        axes = row.strings("axes") if tensor and row.has("axes") else ()
        return Field(
            name=declared.name,
            kind=declared.kind,
            type=declared.type,
            optional=declared.optional,
            doc=_with_axes(row.str("doc"), axes),
            default=row.any("default", None),
            types=variable if tensor else None if variable is None else snake(variable),
            ranks=rank,
            sizes=self.formula(row, sizes_key) if sizes_key and row.has(sizes_key) else None,
            leading_ones=row.choice("leading_ones", ("call", "desc")) if tensor and row.has("leading_ones") else None,
            length=self.formula(row, "length") if row.has("length") else None,
            minimum=low,
            maximum=high,
            provenance=provenance,
            value=self.formula(row, "value") if row.has("value") else None,
            infinite=row.bool("infinite", False),
            span=row.span("name"),
            hint=row.str("hint", "") if tensor else "",
            axes=axes,
        )

    def chosen(self, tables: list[Table], fields: tuple[Field, ...]) -> tuple[Field, ...]:
        """The sizes that a caller chooses; they stand in the sizes of one output, which is where a desc has them."""
        found: dict[str, Field] = {}
        for row in (row for table in tables for row in table.tables("chosen")):
            name = row.str("name")
            self.word(row, "name", name)
            if name != snake(name):
                row.error("name", f"{name!r} is not in snake_case")
            if name in found or name in {field.python for field in fields}:
                row.error("name", f"{name} is already the name of something")
            found[name] = Field(
                name=name,
                kind="chosen",
                type="uint_array",
                optional=False,
                doc=row.str("doc"),
                default=None,
                types=None,
                ranks=None,
                sizes=None,
                leading_ones=None,
                length=self.formula(row, "length") if row.has("length") else None,
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

    def formula(self, row: Table, key: str) -> Formula:
        """The expression at ``key``, parsed; its names are looked up later."""
        text, span = row.str(key), row.span(key)
        if not text and (not row.has(key) or row.any(key) != ""):  # reported already
            return Formula(text, parse("0"), None)
        try:
            return Formula(text, parse(text), span)
        except ExprError as error:
            self.report(span, text, error)
            return Formula(text, parse("0"), None)

    def report(self, span: Span | None, text: str, error: ExprError) -> None:
        """An error of an expression, at its place inside the string."""
        if span is not None:
            span = span.inside(text, error.at, error.length)
            self.files.diagnostics.error(span, error.message, error.hint)

    def typed(self, formula: Formula, scope: Scope, *kinds: Kind) -> Kind | None:
        """Checks a formula; None where it is wrong (and reported)."""
        names = {node.id for node in formula.node.walk() if isinstance(node, Name)}
        if formula.span is None or names & self.broken:
            return None
        try:
            kind = kind_of(formula.node, scope)
            if kinds and kind not in kinds:
                raise ExprError(f"expected {kinds[0].value}, found {kind.value}", 0, len(formula.text))
            return kind
        except ExprError as error:
            self.report(formula.span, formula.text, error)
            return None

    def loop(self, row: Table) -> tuple[str | None, Formula | None]:
        """``for = "d in spatial"`` as the index and its count; an index without count is wrong, and reported."""
        if not row.has("for"):
            return None, None
        text, span = row.str("for"), row.span("for")
        index, word, count = text.partition(" in ")
        if not word or not index.isidentifier():
            self.report(span, text, ExprError("write it as: d in count", 0, len(text)))
            return "", None
        try:
            return index, Formula(count, parse(count), span)
        except ExprError as error:
            self.report(span, text, ExprError(error.message, error.at + len(index) + 4, error.length, error.hint))
            return "", None

    def inner(self, index: str | None, count: Formula | None) -> Scope | None:
        """The scope inside a ``for``; None where the ``for`` is wrong."""
        if index is None:
            return self.scope
        if count is None or self.typed(count, self.scope, Kind.INT) is None:
            return None
        try:
            return within(self.scope, index, count.node)
        except ExprError as error:
            self.report(count.span, count.text, error)
            return None

    def lets(self, tables: list[Table]) -> tuple[Let, ...]:
        """The lets, each after those that it uses."""
        read: dict[str, Let] = {}
        for row in (row for table in tables for row in table.tables("let")):
            index, count = self.loop(row)
            name, value, doc = row.str("name"), self.formula(row, "value"), row.str("doc")
            self.word(row, "name", name)
            if name in read or name in self.scope:
                row.error("name", f"{name} is already the name of something")
                row.finish()
                continue
            read[name] = Let(name, index, count, value, doc, row.span("name"), row.str("each", ""))
            row.finish()
        ordered: list[Let] = []
        state: dict[str, str] = {}

        def visit(let: Let) -> None:
            state[let.name] = "open"
            for formula in (let.count, let.value):
                for node in () if formula is None else formula.node.walk():
                    used = read.get(getattr(node, "id", ""))
                    if used is None or state.get(used.name) == "done":
                        continue
                    if state.get(used.name) == "open":
                        self.report(
                            let.value.span,
                            let.value.text,
                            ExprError(f"{let.name} depends on itself through {used.name}", node.at, node.length),
                        )
                        self.broken |= {let.name, used.name}
                        continue
                    visit(used)
            state[let.name] = "done"
            scope = self.inner(let.index, let.count)
            if let.count is not None and not self.short(let.count):
                scope = None
            kind = None if scope is None else self.typed(let.value, scope, Kind.INT, Kind.FLOAT)
            if kind is None or scope is None:
                self.broken.add(let.name)
            else:
                interval = interval_of(let.value.node, scope)
                self.scope[let.name] = let_symbol(let, kind, interval)
                ordered.append(let)

        for let in read.values():
            if let.name not in state:
                visit(let)
        return tuple(ordered)

    def short(self, count: Formula) -> bool:
        """Refuses more entries than a vector has room for."""
        if self.typed(count, self.scope, Kind.INT) is None:
            return False
        high = interval_of(count.node, self.scope).hi
        if high is None or high > MAX_RANK:
            problem = f"a vector has at most {MAX_RANK} entries: this may be more"
            self.report(count.span, count.text, ExprError(problem, 0, len(count.text)))
        return high is not None and high <= MAX_RANK

    def rules(self, tables: list[Table], fields: tuple[Field, ...]) -> tuple[Rule, ...]:
        """All rules, the data rules last."""
        found: dict[str, Rule] = {}
        for key in ("rule", "data_rule"):
            for row in (row for table in tables for row in table.tables(key)):
                rule = self.rule(row, fields, key == "data_rule")
                same = {id_.replace("-", "_"): id_ for id_ in found}.get(rule.id.replace("-", "_"))
                if same is not None:
                    row.error("id", f"{same} is the id of another rule")
                found[rule.id] = rule
                row.finish()
        return tuple(found.values())

    def rule(self, row: Table, fields: tuple[Field, ...], data: bool) -> Rule:
        names = tuple(field.python for field in fields)
        id_, about = row.str("id"), row.str("about")
        if about not in names:
            row.error("about", f"{about!r} is no field", did_you_mean(about, names))
        if not id_.startswith(f"{about}-"):
            row.error("id", f"an id begins with the field it is about: {about}-…")
        elif not RULE_ID.fullmatch(id_):
            row.error("id", f"{id_!r} is no id: small letters, digits, _ and -")
        elif id_.replace("-", "_") in self.scope:
            row.error("id", f"{id_.replace('-', '_')} is already the name of something", "choose another id")
        index, count = self.loop(row)
        scope = self.inner(index, count)
        that = self.formula(row, "that")
        fix = self.formula(row, "fix") if row.has("fix") else None
        if scope is not None:
            self.typed(that, scope, Kind.BOOL)
        if fix is not None and scope is not None:
            self.typed(fix, scope, Kind.INT, Kind.FLOAT)
        breaks = row.any("breaks", {})
        if not isinstance(breaks, dict):
            row.error("breaks", "breaks are a table: { field = value }")
        return Rule(
            id=id_,
            about=about,
            says=row.str("says"),
            index=index,
            count=count,
            that=that,
            hint=row.str("hint", ""),
            fix=fix,
            provenance=row.choice("from", PROVENANCE),
            since=row.choice("since", self.levels) if row.has("since") else None,
            until=row.choice("until", self.levels) if row.has("until") else None,
            data=data,
            breaks=breaks if isinstance(breaks, dict) else {},
            span=row.span("id"),
        )

    def independent(
        self, row: Table, fields: tuple[Field, ...], ranks: Mapping[str, tuple[RankRow, ...]]
    ) -> Independent:
        index, count = self.loop(row)
        scope = self.inner(index, count)
        tensors = {field.python: field for field in fields if field.is_tensor}
        table = row.table("axes", required=True)
        names = () if table is None else table.keys()
        axes = {}
        if table is not None:
            for name in names:
                if name not in tensors:
                    table.error(name, f"{name!r} is no tensor", did_you_mean(name, tensors))
                axes[name] = self.formula(table, name)
            table.finish()
            if {tensors[name].kind if name in tensors else "input" for name in names} != {"input", "output"}:
                row.error("axes", "an independent axis is one of an input and of an output")
        takes, gives = (
            self.formula(row, key) if row.has(key) else Formula("1", parse("1"), None) for key in ("takes", "gives")
        )
        when = self.formula(row, "when") if row.has("when") else None
        if scope is not None:
            if count is not None:
                self.least(count, self.scope, 0)
            for name, axis in axes.items():
                low = self.least(axis, scope, 0)
                rows = ranks.get(tensors[name].ranks or "", ()) if name in tensors else ()
                rank = min((one.min for one in rows), default=None)
                if low is not None and rank is not None and low >= rank:
                    problem = f"{name} of rank {rank} has no axis {low}"
                    self.report(axis.span, axis.text, ExprError(problem, 0, len(axis.text)))
            for size in (takes, gives):
                self.least(size, scope, 1)
            if when is not None:
                self.typed(when, scope, Kind.BOOL)
        return Independent(row.str("doc"), index, count, axes, takes, gives, when, row.span("doc"))

    def least(self, formula: Formula, scope: Scope, bound: int) -> int | None:
        """Refuses what is no integer, or may be less than the bound; gives the least value of what is neither."""
        if self.typed(formula, scope, Kind.INT) is None:
            return None
        low = interval_of(formula.node, scope).lo
        if low is not None and low >= bound:
            return low
        self.report(formula.span, formula.text, ExprError(f"this may be less than {bound}", 0, len(formula.text)))
        return None

    def interpretation(self, row: Table) -> Interpretation:
        return Interpretation(row.str("id"), row.str("question"), row.str("choice"), row.str("evidence"))

    def accuracy(self, tables: list[Table]) -> Iterator[Accuracy]:
        for table in _each(tables, "accuracy"):
            dtypes = table.keys()
            for dtype in dtypes:
                row = table.table(dtype)
                if row is not None:
                    ulp = self.formula(row, "ulp")
                    self.typed(ulp, self.scope, Kind.INT, Kind.FLOAT)
                    yield Accuracy(dtype, ulp, row.choice("of", ACCURACY_OF, "result"), table.key_span(dtype))
                    row.finish()
            table.finish()

    def example(self, row: Table, fields: tuple[Field, ...]) -> Example:
        source_url = _source(row) if row.has("source") else None
        calculation = row.str("calculation", None)
        if (source_url is None) == (calculation is None):
            row.error("title", "an example has either a source (documented) or a calculation (derived)")
        inputs = self.tensors(row, "inputs", [field for field in fields if field.kind == "input"])
        outputs = self.tensors(row, "outputs", [field for field in fields if field.kind == "output"])
        attributes = self.attributes(row, "attributes", fields)
        figure = self.followed(row, outputs) if row.has("figure") else None
        title, span = row.str("title"), row.span("title")
        return Example(title, source_url, calculation, inputs, attributes, outputs, figure, span)

    def attributes(self, row: Table, key: str, fields: tuple[Field, ...]) -> dict[str, Any]:
        """Values by the names of attributes."""
        found = row.any(key, {})
        if not isinstance(found, dict):
            row.error(key, "attributes are a table: { field = value }")
            return {}
        known = [field.python for field in fields if field.kind == "attribute"]
        for name in found:
            if name not in known:
                row.error(key, f"{name!r} is no attribute", did_you_mean(name, known))
        return found

    def same(self, row: Table, fields: tuple[Field, ...]) -> Same:
        return Same(row.str("as"), self.attributes(row, "with", fields), row.span("as"))

    def followed(self, row: Table, outputs: dict[str, TensorData]) -> tuple[tuple[int, ...], ...]:
        """The elements of the first output that the figure follows; none: it chooses them."""
        sizes = next(iter(outputs.values())).sizes if outputs else ()
        places = row.any("figure")
        for place in places if isinstance(places, list) else [None]:
            if not isinstance(place, list) or any(type(index) is not int for index in place):
                row.error("figure", "figure is an array of elements of the output: arrays of indices")
            elif len(place) != len(sizes) or not all(0 <= i < size for i, size in zip(place, sizes, strict=True)):
                row.error("figure", f"the output has no element {place}: its sizes are {list(sizes)}")
            else:
                continue
            return ()
        return tuple(map(tuple, places))

    def equivalent(self, row: Table) -> Equivalent:
        name = row.choice("library", tuple(library.name for library in self.facts.libraries))
        languages = {library.name: library.language for library in self.facts.libraries}
        setup, shown, differs = "", [], []
        if languages.get(name) == "python":
            setup, gives = _python(row, "setup"), row.any("gives")
            shown = [Outcome(_python(row, key, "eval"), gives, None) for key in ("ours", "theirs")]
            differs = [_finished(inner, self.difference) for inner in row.tables("differs")]
        return Equivalent(name, row.str("call"), _source(row), row.str("note", ""), setup, tuple(shown), tuple(differs))

    def difference(self, row: Table) -> Difference:
        found = []
        for key in ("ours", "theirs"):
            inner = row.table(key, required=True)
            found.append(Outcome("", None, None) if inner is None else _finished(inner, self.outcome))
        if found[0].gives == found[1].gives and found[0].raises == found[1].raises:
            row.error("says", "both give the same")
        return Difference(row.str("says"), _python(row, "setup"), *found)

    def outcome(self, row: Table) -> Outcome:
        if row.has("gives") == row.has("raises"):
            row.error("code", "code gives values or raises an exception: one of both")
        return Outcome(_python(row, "code", "eval"), row.any("gives", None), row.str("raises", None))

    def tensors(self, row: Table, key: str, fields: list[Field]) -> dict[str, TensorData]:
        table = row.table(key)
        if table is None:
            row.error(key, f"an example has {key}")
            return {}
        found: dict[str, TensorData] = {}
        dtypes = tuple(dtype.name for dtype in self.facts.dtypes)
        for field in fields:
            tensor = table.table(field.python) if table.has(field.python) else None
            if tensor is None:
                if not field.optional:
                    row.error(key, f"{key} has no {field.python}")
                continue
            given, data = tensor.any("sizes"), tensor.any("data")
            sizes = tuple(given) if isinstance(given, list) else ()
            if not sizes or any(type(size) is not int for size in sizes):
                tensor.error("sizes", "sizes are an array of integers")
            elif _sizes_of(data) != sizes:
                tensor.error("data", f"the data has the sizes {list(_sizes_of(data))}, not {list(sizes)}")
            found[field.python] = TensorData(tensor.choice("dtype", dtypes), sizes, data)
            tensor.finish()
        table.finish()
        return found

    def check_formulas(self, field: Field) -> None:
        """The formulas of a field, now that every name is known."""
        if field.sizes is not None:
            self.typed(field.sizes, self.scope, Kind.VECTOR)
        if field.length is not None:
            self.short(field.length)
        if field.value is not None:
            self.typed(field.value, self.scope, Kind.INT, Kind.DTYPE)


def _with_axes(doc: str, axes: tuple[str, ...]) -> str:
    """What a tensor is, with the names of its axes."""
    return f"{doc} Its sizes are {' or '.join(f'{{{names}}}' for names in axes)}." if axes else doc


def _each(tables: list[Table], key: str) -> Iterator[Table]:
    for table in tables:
        inner = table.table(key)
        if inner is not None:
            yield inner


def _sizes_of(data: Any) -> tuple[int, ...]:
    """Sizes of nested lists; a ragged one gives sizes that no tensor has."""
    if not isinstance(data, list):
        return ()
    inner = {_sizes_of(item) for item in data}
    return (len(data), *(inner.pop() if len(inner) == 1 else (-1,)))
