"""One operator as one TOML text: its groups merged in, its ids in full, its fields with what the catalogue says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .field_types import type_of
from .model import (
    CatalogueOperator,
    Equivalent,
    Example,
    Field,
    Formula,
    Independent,
    Interpretation,
    Operator,
    Outcome,
    Rule,
    TensorData,
)


def value(data: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, str):
        return json.dumps(data, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(data, Mapping):
        return f"{{ {', '.join(f'{key(name)} = {value(item)}' for name, item in data.items())} }}" if data else "{}"
    if isinstance(data, Sequence):
        return f"[{', '.join(value(item) for item in data)}]"
    return repr(data)


def key(name: str) -> str:
    """A key as TOML."""
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else value(name)


def table(header: str, rows: Mapping[str, Any]) -> str:
    """A table of the rows that have a value, their signs of equality in one column."""
    given = {key(name): item for name, item in rows.items() if item is not None}
    width = max((len(name) for name in given), default=0)
    return "\n".join([header, *(f"{name.ljust(width)} = {value(item)}" for name, item in given.items())]) + "\n"


def show(operator: Operator, entry: CatalogueOperator, lacks: Sequence[str] = ()) -> str:
    """The whole text: what its spec says, its entry in the catalogue, and in front what it lacks, as comments."""
    comments = "".join(f"# {lack}\n" for lack in lacks)
    return f"{comments}\n" * bool(lacks) + "\n".join(_parts(operator, entry))


def _parts(operator: Operator, entry: CatalogueOperator) -> Iterator[str]:
    yield _head(operator, entry)
    types = {
        name: [
            {"since": row.since, "any": list(row.dtypes), **({"default": True} if row.default else {})} for row in rows
        ]
        for name, rows in operator.types.items()
    }
    yield table("[types]", types)
    ranks = {
        name: [{"since": row.since, "min": row.min, "max": row.max} for row in rows]
        for name, rows in operator.ranks.items()
    }
    yield table("[ranks]", ranks)
    for field in operator.fields:
        yield table("[[field]]", _field(field))
    for field in operator.chosen:
        yield table("[[chosen]]", {"name": field.name, "length": _text(field.length), "doc": field.doc})
    for let in operator.lets:
        loop = _loop(let.index, let.count)
        named = {"name": let.name, "for": loop, "value": let.value.text, "doc": let.doc, "each": let.each or None}
        named["says"] = let.says or None
        yield table("[[let]]", named)
    for rule in operator.rules:
        yield table("[[data_rule]]" if rule.data else "[[rule]]", _rule(operator, rule))
    for one in operator.independent:
        yield _independent(one)
    for version in operator.same:
        yield table("[[same]]", {"as": version.older, "with": version.given, "older": version.theirs or None})
    for item in operator.interpretations:
        yield _interpretation(item)
    for example in operator.examples:
        yield from _example(example)
    for same in operator.equivalents:
        yield from _equivalent(same)
    if operator.kernel is not None:
        yield table("[kernel]", operator.kernel.data)
    if operator.device is not None:
        said = {"flushes": operator.device.flushes, "absolute": operator.device.absolute or None}
        yield table("[device]", {**said, "reason": operator.device.reason})
    if operator.accuracy:
        yield table("[accuracy]", {row.dtype: {"ulp": row.ulp.text, "of": row.of} for row in operator.accuracy})


def _head(operator: Operator, entry: CatalogueOperator) -> str:
    rows = {
        "name": operator.name,
        "value": entry.value,
        "python": operator.python,
        "desc": operator.desc,
        "struct": entry.struct,
        "family": operator.family,
        "kind": entry.kind,
        "since": entry.since,
        "in_place": list(entry.in_place),
        "directmlx": entry.directmlx,
        "include": list(operator.include) or None,
        "summary": operator.summary,
        "also": list(operator.also) or None,
        "also_after": list(operator.also_after) or None,
        "source": operator.source,
    }
    return table("[operator]", rows)


def _independent(one: Independent) -> str:
    rows = {
        "doc": one.doc,
        "for": _loop(one.index, one.count),
        "axes": {name: formula.text for name, formula in one.axes.items()},
        "sized": {name: formula.text for name, formula in one.sized.items()} or None,
        "takes": one.takes.text,
        "gives": one.gives.text,
        "when": _text(one.when),
    }
    return table("[[independent]]", rows)


def _interpretation(item: Interpretation) -> str:
    texts = {"id": item.id, "question": item.question, "choice": item.choice, "evidence": item.evidence}
    conditions = {"not_judged": _text(item.not_judged), "when": _text(item.when), "outputs": item.outputs or None}
    return table("[[interpretation]]", {**texts, **conditions})


def _example(example: Example) -> Iterator[str]:
    rows = {
        "title": example.title,
        "source": example.source,
        "calculation": example.calculation,
        "contradicts": example.contradicts or None,
        "sized": example.sized or None,
        "figure": example.figure,
    }
    yield table("[[example]]", rows)
    yield table("[example.inputs]", _tensors(example.inputs))
    yield table("[example.attributes]", example.attributes)
    yield table("[example.outputs]", _tensors(example.outputs))


def _equivalent(same: Equivalent) -> Iterator[str]:
    head = {"library": same.library, "call": same.call, "source": same.source, "note": same.note or None}
    shown = dict(zip(("ours", "theirs"), (outcome.code for outcome in same.shown), strict=False))
    gives = {"gives": same.shown[0].gives} if same.shown else {}
    yield table("[[equivalent]]", {**head, "setup": same.setup or None, **shown, **gives})
    for one in same.differs:
        rows = {"says": one.says, "setup": one.setup, "ours": _outcome(one.ours), "theirs": _outcome(one.theirs)}
        yield table("[[equivalent.differs]]", rows)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    if outcome.raises is not None:
        return {"code": outcome.code, "raises": outcome.raises}
    return {"code": outcome.code, "gives": outcome.gives}


def _field(field: Field) -> dict[str, Any]:
    limits = {"min": field.minimum, "max": field.maximum, "from": field.provenance}
    ranged = type_of(field).ranged and field.value is None
    return {
        "name": field.name,
        "python": field.python,
        "kind": field.kind,
        "type": field.type,
        "optional": field.optional or None,
        "dtype": field.types,
        "rank": field.ranks,
        "sizes": "any" if field.any_sizes else _text(field.sizes),
        "leading_ones": field.leading_ones,
        "owned": None if field.owned else False,
        "infinite": field.infinite or None,
        "mixed": field.mixed or None,
        "unsaid": field.unsaid or None,
        "among": field.among,
        "length": _text(field.length),
        "max_length": _text(field.max_length),
        "range": limits if ranged else None,
        "fills": None if field.fills else False,
        "default": field.default,
        "value": _text(field.value),
        "hint": field.hint or None,
        "hint_when": _text(field.hint_when),
        "doc": field.doc,
    }


def _rule(operator: Operator, rule: Rule) -> dict[str, Any]:
    return {
        "id": f"DML-{operator.name}-{rule.id}",
        "for": _loop(rule.index, rule.count),
        "each": rule.each,
        "that": rule.that.text,
        "about": rule.about,
        "says": rule.says,
        "from": rule.provenance,
        "since": rule.since,
        "until": rule.until,
        "hint": rule.hint or None,
        "fix": _text(rule.fix),
        "accepts": rule.accepts or None,
        "breaks": rule.breaks or None,
    }


def _tensors(tensors: Mapping[str, TensorData]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, x in tensors.items():
        row = {"dtype": x.dtype, "sizes": list(x.sizes), "data": x.data}
        name, entry, _ = path.partition("[")
        if entry:
            found.setdefault(name, []).append(row)
        else:
            found[name] = row
    return found


def _text(formula: Formula | None) -> str | None:
    return None if formula is None else formula.text


def _loop(index: str | None, count: Formula | None) -> str | None:
    return None if index is None or count is None else f"{index} in {count.text}"
