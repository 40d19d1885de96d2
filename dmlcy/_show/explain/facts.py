"""The facts of an operator, a field, an enum, a level or a data type, as plain data that JSON can hold."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from dmlcy import specs
from dmlcy._compile import function
from dmlcy._facts.ids import published
from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import MISSING, Dtype, Field, Interpretation, Let, Level, Operator, Rule
from dmlcy._facts.tables import (
    DTYPES,
    ENUMS,
    ERRORS,
    LEVEL_INDEX,
    LEVELS,
    OPERATORS,
    EnumInfo,
    FeatureLevel,
    TensorDataType,
    names_elsewhere,
    onnx_names,
    state_of,
)
from dmlcy._facts.words import versions
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._show.explain.codes import PAGE as CODES

Facts = dict[str, Any]


@cache
def catalogue() -> dict[str, Facts]:
    """The catalogue, read once."""
    return specs.catalogue()


def ids_of(operator: Operator, subject: str) -> list[str]:
    """The ids about a field, or about the operator itself."""
    return list(published().about(operator.name, subject))


# Operators and fields


def of_operator(name: str) -> Facts:
    """An operator, whatever its state."""
    entry = catalogue()[name]
    facts = {
        "kind": "operator",
        "name": name,
        "type": f"{PREFIX}{name}",
        "value": entry["value"],
        "struct": entry["struct"],
        "since": entry["since"],
        "directml": directml(entry["since"]),
        "in_place": entry["in_place"],
        "state": state_of(name),
        "source": entry.get("source"),
    }
    if name not in OPERATORS:
        return {**facts, "group": entry["kind"], "fields": [of_declared(field) for field in entry["fields"]]}
    operator = OPERATORS[name]
    return {
        **facts,
        "source": operator.source,
        "family": operator.family,
        "python": operator.python,
        "desc": operator.desc,
        "signature": list(signature(operator)),
        "summary": operator.summary,
        "also": list(names_elsewhere().ALSO.get(name, ())),
        "onnx": list(onnx_names().BECOME.get(name, ())),
        "fields": [of_field(operator, field) for field in operator.fields],
        "chosen": [of_field(operator, field) for field in operator.chosen],
        "quantities": [
            {"name": let.name, "for": let.loop, "formula": let.text, "doc": operator.docs[let.name]}
            for let in operator.lets
        ],
        "rules": [brief_rule(operator, rule) for rule in operator.rules],
        "interpretations": [of_interpretation(operator, one) for one in operator.interpretations],
        "same": [{"with": {}, "older": {}, **row} for row in specs.operator(name).get("same", ())],
        "accuracy": {dtype: {"ulp": bound.ulp.text, "of": bound.of} for dtype, bound in operator.accuracy.items()},
        "exact": [dtype for dtype in _result_dtypes(operator) if dtype not in operator.accuracy],
        "levels": list(history(operator)),
        "examples": [example.title for example in operator.examples],
    }


def of_interpretation(operator: Operator, one: Interpretation) -> Facts:
    """A decision that was taken for an operator."""
    return {**asdict(one), "id": f"{operator.name}-{one.id}"}


def brief_rule(operator: Operator, rule: Rule) -> Facts:
    """A rule by itself."""
    return {
        "id": rule.id,
        "provisional": rule.id in published().provisional,
        "operator": operator.name,
        "about": rule.about,
        "says": rule.says,
        "formula": rule.text,
        "for": rule.loop,
        "data": rule.data,
        "error": rule_error(rule),
        "severity": rule.severity,
        "since": rule.since,
        "until": rule.until,
        "provenance": rule.provenance,
        "hint": rule.hint,
        "fix": None if rule.fix is None else rule.fix.text,
        "accepts": rule.accepts or None,
    }


def rule_error(rule: Rule) -> str:
    """The class of the exception."""
    return "InvalidDataError" if rule.data else "InvalidDescError"


def _result_dtypes(operator: Operator) -> list[str]:
    outputs = [field for field in operator.fields if field.kind == "output"]
    return list(dict.fromkeys(dtype for field in outputs for dtype in dtypes_at(field, len(LEVELS) - 1)))


def signature(operator: Operator) -> Iterator[Facts]:
    """The parameters of the function, in order."""
    for one in inspect.signature(function(operator.name)).parameters.values():
        required = one.default is one.empty
        default = {} if required else {"default": one.default}
        positional = one.kind is one.POSITIONAL_OR_KEYWORD
        yield {"name": one.name, "positional": positional, "required": required, **default}


def of_declared(field: Facts) -> Facts:
    """A field as the catalogue declares it."""
    return {
        "name": field["name"],
        "role": field["kind"],
        "type": field["type"],
        "optional": field.get("optional", False),
    }


def of_field(operator: Operator, field: Field) -> Facts:
    """A field of an operator that has a spec."""
    facts: Facts = {
        "operator": operator.name,
        "name": field.name,
        "python": field.python,
        "role": field.kind,
        "type": field.type,
        "optional": field.optional,
        "doc": operator.docs[field.python],
        "required": required(operator, field),
        **_default(field),
    }
    if field.kind == "input":
        facts["owned"] = field.owned
    if field.part is not None:
        facts["part_of"] = field.part.tensor
    for key in ("value", "length", "max_length", "sizes"):
        formula = getattr(field, key)
        if formula is not None:
            facts[key] = formula.text
    if field.minimum is not None and field.value is None:
        facts["range"] = {"min": field.minimum, "max": field.maximum, "from": field.provenance}
    if field.scalar_type is not None:
        facts["dtype_field"] = field.scalar_type
    info = type_of(field.type).info
    if info is not None and field.value is None:
        facts["members"] = [
            {"name": name, "since": _later(operator.since, since)} for name, (_, since) in info.members.items()
        ]
    if field.among:
        facts["among"] = [{"name": name, "since": since} for name, since in field.among]
    if field.kind in ("input", "output"):
        facts["support"] = list(support(operator, field))
        facts["same_dtype_as"] = field.same_dtype_as
        facts["leading_ones"] = field.leading_ones
    facts["rules"] = [rule.id for rule in operator.rules if rule.about == field.python]
    facts["ids"] = [name for name in ids_of(operator, field.python) if name not in facts["rules"]]
    facts["since"] = operator.since
    facts["source"] = operator.source
    return facts


def _later(level: str, other: str) -> str:
    return max(level, other, key=LEVEL_INDEX.__getitem__)


def required(operator: Operator, field: Field) -> bool:
    """Whether a desc must be given it."""
    inferred = field.kind == "output" and field.sizes is not None and not operator.is_open(field)
    follows = field.value is not None or inferred
    return field.default is MISSING and not follows and not field.optional


def _default(field: Field) -> Facts:
    return {} if field.default is MISSING or field.default is None else {"default": field.default}


def support(operator: Operator, field: Field) -> Iterator[Facts]:
    """The levels that widened a tensor: data types added, and the numbers of dimensions then allowed."""
    for since, added, reach in _steps(operator, field):
        yield {"since": since, "data_types": list(added), "dimensions": list(reach)}


@cache
def _steps(operator: Operator, field: Field) -> tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...]:
    """The same, kept: a page about a level or a data type asks for those of all operators."""
    found: list[tuple[str, tuple[str, ...], tuple[int, ...]]] = []
    dtypes: list[str] = []
    ranks: list[int] = []
    for level in range(LEVEL_INDEX[operator.since], len(LEVELS)):
        now, reach = dtypes_at(field, level), ranks_at(field, level)
        added = tuple(dtype for dtype in now if dtype not in dtypes)
        if added or reach != ranks:
            found.append((LEVELS[level].name, added, tuple(reach)))
        dtypes, ranks = now, reach
    return tuple(found)


def history(operator: Operator) -> Iterator[Facts]:
    """The changes of an operator by level."""
    for level in LEVELS[LEVEL_INDEX[operator.since] :]:
        brought: list[Facts] = []
        if level.name == operator.since:
            brought.append({"operator": operator.name})
        brought += widened(operator, level.name) if level.name != operator.since else []
        brought += [{"rule": rule.id} for rule in operator.rules if rule.since == level.name != operator.since]
        brought += [{"ends": rule.id} for rule in operator.rules if rule.until == level.name]
        if brought:
            yield {"level": level.name, "directml": level.directml, "brought": brought}


def widened(operator: Operator, level: str) -> list[Facts]:
    """The data types, dimensions (all of them, where there are more) and members that a level brought to the fields."""
    groups: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    members: list[Facts] = []
    for field in operator.fields:
        if field.kind != "attribute":
            before: tuple[int, ...] = ()
            for since, added, reach in _steps(operator, field):
                if since == level:
                    groups.setdefault((added, reach if reach != before else ()), []).append(field.python)
                before = reach
        elif (info := type_of(field.type).info) is not None and field.value is None:
            fresh = [name for name, (_, since) in info.members.items() if since == level]
            members += [{"fields": [field.python], "members": fresh}] if fresh else []
    tensors = [
        {"fields": fields, "data_types": list(added), "dimensions": list(wider)}
        for (added, wider), fields in groups.items()
    ]
    return tensors + members


def of_fields(found: list[tuple[Operator, Field]], only_listed: list[tuple[str, Facts]]) -> Facts:
    """The fields of one name."""
    names = [field.name for _, field in found] + [field["name"] for _, field in only_listed]
    return {
        "kind": "field",
        "names": list(dict.fromkeys(names)),
        "operators": [of_field(operator, field) for operator, field in found],
        "listed": [
            {"operator": name, **of_declared(field), "source": catalogue()[name]["source"]}
            for name, field in only_listed
        ],
    }


# Enums, levels, data types


def users_of(enum: str) -> tuple[list[Facts], list[str]]:
    """The fields of that enum, and the operators without a spec that have one."""
    fields = [
        {"operator": operator.name, "field": field.python}
        for operator in OPERATORS.values()
        for field in operator.fields
        if type_of(field.type).enum == enum
    ]
    others = [
        name
        for name, entry in catalogue().items()
        if name not in OPERATORS and any(type_of(field["type"]).enum == enum for field in entry["fields"])
    ]
    return fields, others


def of_enum(info: EnumInfo) -> Facts:
    """An enum."""
    fields, others = users_of(info.name)
    return {
        "kind": "enum",
        "name": info.name,
        "python": info.cls.__name__,
        "prefix": info.prefix,
        "since": info.since,
        "note": info.note,
        "members": [_member(info, name) for name in info.members],
        "fields": fields,
        "listed": others,
        "source": info.source,
    }


def of_member(info: EnumInfo, name: str) -> Facts:
    """A member of an enum."""
    fields, others = users_of(info.name)
    return {
        "kind": "member",
        "enum": info.name,
        "full": f"{info.prefix}{name}",
        "python": f"{info.cls.__name__}.{info.members[name][0].name}",
        **_member(info, name),
        "directml": directml(info.members[name][1]),
        "also": [other for other, member in info.also.items() if member == name],
        "note": info.note,
        "fields": fields,
        "listed": others,
        "source": info.source,
    }


def _member(info: EnumInfo, name: str) -> Facts:
    member, since = info.members[name]
    return {"name": name, "value": int(member), "since": since, "doc": info.doc.get(name, "")}


def of_level(level: Level) -> Facts:
    """A feature level, and what it brought."""
    declared = specs.levels()[level.name]
    new = [name for name, entry in catalogue().items() if entry["since"] == level.name]
    enums = {
        info.name: [name for name, (_, since) in info.members.items() if since == level.name]
        for info in ENUMS.values()
        if info.cls not in (FeatureLevel, TensorDataType)
    }
    return {
        "kind": "level",
        "name": level.name,
        "value": level.value,
        "directml": level.directml,
        "windows": declared.get("windows"),
        "note": declared.get("note"),
        "max_rank": level.max_rank,
        "dxdispatch": level.dxdispatch,
        "operators": [{"name": name, "state": state_of(name)} for name in new],
        "data_types": [dtype.name for dtype in DTYPES.values() if dtype.since == level.name],
        "members": {name: fresh for name, fresh in enums.items() if fresh},
        "widened": [
            {"operator": operator.name, **change}
            for operator in OPERATORS.values()
            if LEVEL_INDEX[operator.since] < LEVEL_INDEX[level.name]
            for change in widened(operator, level.name)
        ],
        "source": ENUMS["DML_FEATURE_LEVEL"].source,
    }


def of_dtype(dtype: Dtype) -> Facts:
    """A data type, and the tensors that can have it."""
    info = ENUMS["DML_TENSOR_DATA_TYPE"]
    uses = []
    for operator in OPERATORS.values():
        for field in operator.fields:
            for since, added, _ in _steps(operator, field) if field.kind != "attribute" else ():
                if dtype.name in added:
                    uses.append({"operator": operator.name, "field": field.python, "since": since})
    return {
        "kind": "data type",
        "name": dtype.name,
        "full": f"{info.prefix}{dtype.name}",
        "value": dtype.value,
        "bits": dtype.bits,
        "numpy": dtype.numpy,
        "since": dtype.since,
        "directml": directml(dtype.since),
        "fields": uses,
        "source": info.source,
    }


# Words


def of_term(term: Facts) -> Facts:
    """A word of DirectML that is neither an operator nor a field of one."""
    return {
        "kind": "term",
        "name": term["name"],
        "also": term.get("also", []),
        "is": term["is"],
        "doc": term["doc"],
        "errors": [{"slug": slug, "when": ERRORS[slug].about} for slug in term.get("errors", [])],
        "source": term.get("source"),
        "page": term.get("page") or (CODES if "value" in term else None),
        "value": term.get("value"),
        "returned": term.get("returned", []),
        "command": term.get("command"),
    }


def of_word(word: str, operators: Sequence[str]) -> Facts:
    """A name that other libraries or everyday language have for operators, the one to take first."""
    return {
        "kind": "word",
        "word": word,
        "operators": [
            {"operator": one.name, "python": one.python, "summary": one.summary, "versions": versions(one.name)}
            for one in map(OPERATORS.__getitem__, operators)
        ],
    }


def of_quantity(name: str, found: list[tuple[Operator, Let]]) -> Facts:
    """A name in formulas, with its meaning in each operator; operators that agree are together."""
    groups: dict[tuple[str, str | None, str], list[str]] = {}
    for operator, let in found:
        groups.setdefault((let.text, let.loop, operator.docs[let.name]), []).append(operator.name)
    return {
        "kind": "quantity",
        "name": name,
        "meanings": [
            {"name": name, "for": loop, "formula": text, "doc": doc, "operators": operators}
            for (text, loop, doc), operators in groups.items()
        ],
    }


def of_slug(slug: str) -> Facts:
    """An error that fields have without a rule of their own, and the fields that can have it."""
    rules = {rule.id for operator in OPERATORS.values() for rule in operator.rules}
    where: dict[str, list[str]] = {}
    for identifier in published().in_force:
        _, operator, *rest = identifier.split("-", 3)
        if operator in OPERATORS and rest[1] == slug and identifier not in rules:
            where.setdefault(operator, []).append(rest[0])
    return {
        "kind": "slug",
        "slug": slug,
        "when": ERRORS[slug].about,
        "message": ERRORS[slug].message,
        "error": ERRORS[slug].error,
        "operators": [{"operator": operator, "fields": fields} for operator, fields in where.items()],
    }


def of_family(family: str) -> Facts:
    """The operators that share kernels."""
    members = [operator for operator in OPERATORS.values() if operator.family == family]
    return {
        "kind": "family",
        "name": family,
        "operators": [
            {"operator": operator.name, "state": operator.state, "summary": operator.summary} for operator in members
        ],
    }


def directml(level: str) -> str:
    """The DirectML version that brought a level."""
    version: str = LEVELS[LEVEL_INDEX[level]].directml
    return version
