"""An operator: its file and the groups that it includes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from string import digits

from .. import names
from ..diagnostics import Span, did_you_mean
from ..expr.types import MAX_RANK, Interval, Symbol
from ..field_types import type_of
from ..model import CatalogueOperator, Facts, Field, Operator, RankRow
from ..source import Table
from .equivalents import equivalent
from .examples import Examples
from .fields import Fields
from .formulas import Formulas
from .reading import LOWER, Files, finished, word
from .rules import Rules

Named = tuple[str, Symbol]


def _newest(facts: Facts, name: str) -> str | None:
    """The Python name of the newest version of an operator; None where that is itself."""
    stem = name.rstrip(digits)
    versions = (other for other in facts.catalogue if other.rstrip(digits) == stem)
    newest = max(versions, key=lambda other: (len(other), other))
    return None if newest == name else newest.lower()


def operator(files: Files, facts: Facts, table: Table, path: Path) -> Operator | None:
    """The operator of a file; None where so much is missing that nothing else can be looked at."""
    head = table.table("operator")
    if head is None:
        table.error("operator", "a spec begins with [operator]")
        return None
    entry = _entry(head, facts)
    if entry is None:
        return None
    family = head.str("family")
    if family != path.parent.name:
        head.error("family", f"the file stands in {path.parent.name}/, not in {family}/")
    include = head.strings("include", ())
    groups = [found for found in (_group(files, head, group) for group in include) if found is not None]
    if len(groups) < len(include):
        return None  # what the group describes would be missing everywhere
    also, also_after = _also(head, facts)
    said = _Head(
        family=family,
        summary=head.str("summary"),
        python=_python(head, entry.name, family),
        include=include,
        also=also,
        also_after=also_after,
        file=path.relative_to(files.root).as_posix(),
        span=head.span("family"),
    )
    head.finish()
    return _contents(Formulas(files.diagnostics), facts, entry, said, [*groups, table])


@dataclass(frozen=True, slots=True)
class _Head:
    """The contents of the table ``[operator]``, and the place of the family."""

    family: str
    summary: str
    python: str
    include: tuple[str, ...]
    also: tuple[str, ...]
    also_after: tuple[str, ...]
    file: str
    span: Span


def _contents(formulas: Formulas, facts: Facts, entry: CatalogueOperator, said: _Head, tables: list[Table]) -> Operator:
    """The operator whose tables these are: those of its groups, then that of its file."""
    table = tables[-1]
    newest = _newest(facts, entry.name)
    reader = Fields(tables, facts, formulas)
    types, ranks = reader.types(), reader.ranks()
    fields = reader.fields(entry, types, ranks)
    chosen = reader.chosen(fields)
    formulas.scope.update(_symbols((*fields, *chosen), ranks, facts))
    lets = formulas.lets(tables)
    demands, shown = Rules(tables, facts, formulas, fields, types, newest), Examples(facts, fields)
    found = Operator(
        name=entry.name,
        python=said.python,
        family=said.family,
        since=entry.since,
        struct=entry.struct,
        value=entry.value,
        summary=said.summary,
        source=entry.source,
        include=said.include,
        also=said.also,
        also_after=said.also_after,
        types=types,
        ranks=ranks,
        fields=fields,
        lets=lets,
        rules=demands.rules(),
        chosen=chosen,
        independent=demands.all_independent(ranks),
        same=tuple(finished(row, shown.same) for row in table.tables("same")),
        interpretations=demands.interpretations(),
        accuracy=tuple(demands.accuracy()),
        device=demands.device(),
        examples=tuple(finished(row, shown.example) for row in table.tables("example")),
        equivalents=tuple(finished(row, partial(equivalent, facts)) for row in table.tables("equivalent")),
        kernel=_kernel(tables),
        scope=formulas.scope,
        file=said.file,
        family_span=said.span,
    )
    for field in (*fields, *chosen):
        reader.check_formulas(field)
    for one in tables:
        one.finish()
    return found


def _entry(head: Table, facts: Facts) -> CatalogueOperator | None:
    """The operator in the catalogue."""
    name = head.str("name")
    entry = facts.catalogue.get(name)
    if entry is None:
        head.error("name", f"{name!r} is not in DirectML's catalogue", did_you_mean(name, facts.catalogue))
    return entry


def _kernel(tables: list[Table]) -> Table | None:
    """The last table ``[kernel]``: that of the file comes after those of its groups."""
    kernels = [kernel for kernel in [one.table("kernel") for one in tables] if kernel is not None]
    return kernels[-1] if kernels else None


def _symbols(fields: Iterable[Field], ranks: Mapping[str, Sequence[RankRow]], facts: Facts) -> Iterator[Named]:
    """The names of fields in formulas, with the ranks that a tensor can have."""
    for field in fields:
        symbol = type_of(field).symbol(field, facts)
        if symbol is not None:
            rows = ranks.get(field.ranks or "", ())
            # No formula reads a tensor of another rank; what is no range of ranks has been refused.
            spans = [Interval(row.min, row.max) for row in rows if 1 <= row.min <= row.max <= MAX_RANK]
            yield field.python, replace(symbol, ranks=reduce(Interval.joined, spans)) if spans else symbol


def _python(head: Table, name: str, family: str) -> str:
    """The name of the operator in Python."""
    python = head.str("python", name.lower())
    why = names.refused(python, family, name.lower())
    if why is None and python.isidentifier() and not LOWER.fullmatch(python):
        why = "is not in snake_case"
    if why is not None:
        head.error("python", f"{python!r} {why}", "choose another name")
    word(head, "python", python)
    return python


def _also(head: Table, facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Other names of the operator, and the operators that are meant first by a name that they have too."""
    also, after = head.strings("also", ()), head.strings("also_after", ())
    for number, name in enumerate(also):
        if not name or name != " ".join(name.split()) or name in also[:number]:
            head.error("also", f"{name!r} is empty, has spaces too many, or is there twice")
    for name in after:
        if name not in facts.catalogue:
            head.error("also_after", f"{name!r} is not in DirectML's catalogue", did_you_mean(name, facts.catalogue))
    return also, after


def _group(files: Files, head: Table, name: str) -> Table | None:
    relative = f"specs/shared/{name}.toml"
    if not (files.root / relative).is_file():
        known = [path.stem for path in (files.root / "specs" / "shared").glob("*.toml")]
        head.error("include", f"there is no group {name!r}", did_you_mean(name, known))
        return None
    return files.table(relative)
