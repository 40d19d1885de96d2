"""An operator: its file and the groups that it includes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from string import digits

from .. import names
from ..diagnostics import did_you_mean
from ..expr.types import MAX_RANK, Interval
from ..field_types import type_of
from ..model import Facts, Operator
from ..source import Table
from .equivalents import equivalent
from .examples import Examples
from .fields import Fields
from .formulas import Formulas
from .reading import LOWER, Files, finished, word
from .rules import Rules


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
    name = head.str("name")
    entry = facts.catalogue.get(name)
    if entry is None:
        head.error("name", f"{name!r} is not in DirectML's catalogue", did_you_mean(name, facts.catalogue))
        return None
    family = head.str("family")
    if family != path.parent.name:
        head.error("family", f"the file stands in {path.parent.name}/, not in {family}/")
    include = head.strings("include", ())
    groups = [found for found in (_group(files, head, group) for group in include) if found is not None]
    if len(groups) < len(include):
        return None  # what the group describes would be missing everywhere
    summary, python = head.str("summary"), _python(head, name, family)
    also, also_after = _also(head, facts)
    head.finish()

    tables = [*groups, table]
    formulas = Formulas(files.diagnostics)
    reader = Fields(tables, facts, formulas)
    types, ranks = reader.types(), reader.ranks()
    fields = reader.fields(entry, types, ranks)
    chosen = reader.chosen(fields)
    for field in (*fields, *chosen):
        symbol = type_of(field).symbol(field, facts)
        if symbol is not None:
            rows = ranks.get(field.ranks or "", ())
            # No formula reads a tensor of another rank; what is no range of ranks has been refused.
            spans = [Interval(row.min, row.max) for row in rows if 1 <= row.min <= row.max <= MAX_RANK]
            formulas.scope[field.python] = replace(symbol, ranks=reduce(Interval.joined, spans)) if spans else symbol
    lets = formulas.lets(tables)
    demands, shown = Rules(tables, facts, formulas, fields, types, _newest(facts, name)), Examples(facts, fields)
    rules = demands.rules()
    independent = demands.all_independent(ranks)
    same = tuple(finished(row, shown.same) for row in table.tables("same"))
    interpretations = demands.interpretations()
    accuracy = tuple(demands.accuracy())
    device = demands.device()
    examples = tuple(finished(row, shown.example) for row in table.tables("example"))
    equivalents = tuple(finished(row, partial(equivalent, facts)) for row in table.tables("equivalent"))
    kernels = [kernel for kernel in [one.table("kernel") for one in tables] if kernel is not None]
    for field in (*fields, *chosen):
        reader.check_formulas(field)
    for one in tables:
        one.finish()
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
        also=also,
        also_after=also_after,
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
        device=device,
        kernel=kernels[-1] if kernels else None,
        scope=formulas.scope,
        file=path.relative_to(files.root).as_posix(),
        family_span=head.span("family"),
    )


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
