"""The JSON schema of the spec files, for editors: the keys that ``load`` takes, with the names that the facts give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .field_types import MEMBER_OF, PLAIN
from .model import ACCURACY_OF, FUSED, LANGUAGES, PLACES, PROVENANCE, Facts
from .notice import notice

PATH = "specs/schema.json"
JSON = dict[str, Any]

TEXT: JSON = {"type": "string"}
INT: JSON = {"type": "integer"}
BOOL: JSON = {"type": "boolean"}
ANY: JSON = {}
FORMULA: JSON = {"type": "string", "description": "An expression; see docs/expression-language.md."}
PYTHON: JSON = {"type": "string", "description": "Python, which the tests run."}
LOOP: JSON = {"type": "string", "pattern": "^[b-z] in .+$", "description": "One per index, as in: d in count."}
LEVEL: JSON = {"$ref": "#/$defs/level"}
DTYPE: JSON = {"$ref": "#/$defs/dtype"}
FIGURE: JSON = {
    "type": "array",
    "items": {"type": "array", "items": INT},
    "description": "Puts the example into the figure, which follows these elements of the output; [] lets it choose.",
}
WORDS: JSON = {"type": "array", "items": TEXT}


def _table(keys: Mapping[str, JSON], required: Iterable[str] = ()) -> JSON:
    """A table that takes these keys only."""
    return {
        "type": "object",
        "properties": dict(keys),
        "required": sorted(required),
        "additionalProperties": False,
    }


def _tables(row: JSON) -> JSON:
    return {"type": "array", "items": row}


def _map(values: JSON) -> JSON:
    return {"type": "object", "additionalProperties": values}


def _enum(names: Iterable[str]) -> JSON:
    return {"enum": list(names)}


def _rule(more: Mapping[str, JSON] | None = None) -> JSON:
    accepts = {"that": FORMULA, "says": TEXT, "from": _enum(PROVENANCE), "evidence": TEXT, "breaks": _map(ANY)}
    keys = {
        "id": TEXT, "about": TEXT, "says": TEXT, "for": LOOP, "that": FORMULA, "hint": TEXT, "fix": FORMULA,
        "from": _enum(PROVENANCE), "since": LEVEL, "until": LEVEL, "breaks": _map(ANY),
        "accepts": _table(accepts, ("from", "evidence")),
    }  # fmt: skip
    return _table({**keys, **(more or {})}, ("id", "about", "says", "that", "from"))


def _group() -> dict[str, JSON]:
    """The keys of a group, and of an operator too."""
    limits = _table({"min": INT, "max": INT, "from": _enum(PROVENANCE)})
    field = {
        "name": TEXT, "doc": TEXT, "dtype": TEXT, "rank": TEXT, "sizes": FORMULA,
        "leading_ones": _enum(("call", "desc", "both")), "length": FORMULA, "max_length": FORMULA, "range": limits,
        "default": ANY, "value": FORMULA, "fills": BOOL,
        "infinite": BOOL, "owned": BOOL, "mixed": BOOL, "unsaid": BOOL, "among": _enum((FUSED,)),
        "hint": TEXT, "hint_when": FORMULA, "axes": WORDS,
    }  # fmt: skip
    tensor = _table({"dtype": DTYPE, "sizes": {"type": "array", "items": INT}, "data": ANY}, ("dtype", "sizes", "data"))
    tensors = {"anyOf": [tensor, {"type": "array", "items": tensor}]}
    example = {
        "title": TEXT, "source": TEXT, "calculation": TEXT, "contradicts": TEXT,
        "sized": BOOL, "inputs": _map(tensors), "attributes": _map(ANY),
        "outputs": _map(tensors), "figure": FIGURE,
    }  # fmt: skip
    texts = ("id", "question", "choice", "evidence")
    interpretation = {**dict.fromkeys(texts, TEXT), "not_judged": FORMULA, "when": FORMULA, "outputs": WORDS}
    dtypes = _table({"since": LEVEL, "any": {"type": "array", "items": DTYPE}, "default": BOOL}, ("since", "any"))
    ranks = _table({"since": LEVEL, "min": INT, "max": INT}, ("since", "min", "max"))
    let = {"name": TEXT, "for": LOOP, "value": FORMULA, "doc": TEXT, "each": TEXT, "says": TEXT}
    accuracy = _table({"ulp": FORMULA, "of": _enum(ACCURACY_OF)}, ("ulp",))
    independent = {
        "doc": TEXT, "for": LOOP, "axes": _map(FORMULA), "takes": FORMULA, "gives": FORMULA, "when": FORMULA,
        "sized": _map(FORMULA),
    }  # fmt: skip
    return {
        "types": _map(_tables(dtypes)),
        "ranks": _map(_tables(ranks)),
        "field": _tables(_table(field, ("name", "doc"))),
        "chosen": _tables(_table({"name": TEXT, "length": FORMULA, "doc": TEXT}, ("name", "doc"))),
        "let": _tables(_table(let, ("name", "value", "doc"))),
        "rule": _tables(_rule()),
        "data_rule": _tables(_rule({"each": TEXT})),
        "independent": _tables(_table(independent, ("doc", "axes"))),
        "interpretation": _tables(_table(interpretation, texts)),
        "example": _tables(_table(example, ("title", "inputs", "outputs"))),
        "accuracy": _map(accuracy),
        "device": _table({"flushes": BOOL, "absolute": {"type": "number"}, "reason": TEXT}, ("reason",)),
        "kernel": {"type": "object", "description": "The contract of the family; its keys are the family's."},
    }


def _equivalent(facts: Facts) -> JSON:
    outcome = _table({"code": PYTHON, "gives": ANY, "raises": TEXT}, ("code",))
    difference = {"says": TEXT, "setup": PYTHON, "ours": outcome, "theirs": outcome}
    keys = {
        "library": _enum(library.name for library in facts.libraries), "call": TEXT, "source": TEXT, "note": TEXT,
        "setup": PYTHON, "ours": PYTHON, "theirs": PYTHON, "gives": ANY,
        "differs": _tables(_table(difference, difference)),
    }  # fmt: skip
    return _table(keys, ("library", "call", "source"))


def _operator(facts: Facts, families: Iterable[str]) -> JSON:
    head = {
        "name": _enum(sorted(facts.catalogue)), "python": TEXT, "family": TEXT, "include": WORDS,
        "summary": TEXT, "also": WORDS, "also_after": WORDS,
    }  # fmt: skip
    own = {
        "operator": _table(head, ("name", "family", "summary")),
        "equivalent": _tables(_equivalent(facts)),
        "same": _tables(_table({"as": TEXT, "with": _map(ANY), "older": _map(ANY)}, ("as",))),
    }  # fmt: skip
    runs = {"properties": {"operator": {"properties": {"family": _enum(families)}}}}
    return _table({**own, **_group()}, ("operator",)) | {"if": {"required": ["kernel"]}, "then": runs}


def _facts() -> dict[str, JSON]:
    """The files of facts, by the key that tells them apart."""
    level = {
        "name": TEXT, "value": INT, "directml": TEXT, "max_rank": INT, "windows": TEXT, "note": TEXT,
        "dxdispatch": BOOL,
    }  # fmt: skip
    dtype = {"name": TEXT, "value": INT, "bits": INT, "since": LEVEL, "numpy": TEXT}
    member = {"name": TEXT, "value": INT, "since": LEVEL, "doc": TEXT, "also": WORDS}
    enum = {
        "name": TEXT, "prefix": TEXT, "python": TEXT, "flags": BOOL, "since": LEVEL, "source": TEXT, "note": TEXT,
        "tensors": BOOL, "members": _tables(_table(member, ("name", "value", "since"))),
    }  # fmt: skip
    types = {"anyOf": [_enum(PLAIN), {"type": "string", "pattern": f"^{MEMBER_OF}"}]}
    kinds = _enum(("input", "output", "attribute"))
    field = {"name": TEXT, "kind": kinds, "type": types, "optional": BOOL, "count": TEXT}
    entry = {
        "name": TEXT, "value": INT, "since": LEVEL, "struct": TEXT, "kind": TEXT, "in_place": WORDS,
        "source": TEXT, "fields": _tables(_table(field, ("name", "kind", "type"))), "directmlx": TEXT,
    }  # fmt: skip
    text = {"error": TEXT, "message": TEXT, "about": TEXT}
    when = _enum(("later", "tied", "unowned"))
    implicit = _table({"slug": TEXT, **text, "applies": WORDS, "when": when}, ("slug", *text, "applies"))
    model = _table({"id": TEXT, **text, "breaks": _map(ANY)}, ("id", *text))
    returned = dict.fromkeys(("call", "when", "source"), TEXT)
    term = {
        "name": TEXT, "also": WORDS, "is": TEXT, "doc": TEXT, "source": TEXT, "page": TEXT, "errors": WORDS,
        "value": INT, "command": TEXT, "returned": _tables(_table(returned, returned)),
    }  # fmt: skip
    fused = {"operator": TEXT, "hosts": WORDS, "since": LEVEL, "source": TEXT}
    library = {"name": TEXT, "language": _enum(LANGUAGES), "needs": WORDS, "tested": TEXT, "prelude": PYTHON}
    return {
        **_onnx(),
        **_bindings(),
        "level": _table({"level": _tables(_table(level, ("name", "value", "directml", "max_rank")))}),
        "dtype": _table(
            {
                "dtype": _tables(_table(dtype, ("name", "value", "bits", "since"))),
                "no_dtype": _table(member, ("name", "value", "since")),
            }
        ),
        "enum": _table({"enum": _tables(_table(enum, ("name", "prefix", "python", "since", "members")))}),
        "operator": _table({"operator": _tables(_table(entry, {*entry} - {"fields", "directmlx"}))}),
        "implicit": _table({"implicit": _tables(implicit), "model": _tables(model)}),
        "model": _table({"implicit": _tables(implicit), "model": _tables(model)}),
        "graph": _table({"graph": _tables(model)}),
        "onnx": _table({"onnx": _tables(model)}),
        "fused": _table({"fused": _tables(_table(fused, ("operator", "source")))}),
        "library": _table({"library": _tables(_table(library, ("name", "language")))}),
        "term": _table({"term": _tables(_table(term, ("name", "is", "doc")))}),
    }


def _onnx() -> dict[str, JSON]:
    """The files in specs/onnx, by the key that tells them apart."""
    numbers = {"type": "array", "items": INT}
    version = {
        "since": INT, "inputs": WORDS, "outputs": WORDS, "attributes": WORDS, "deprecated": BOOL, "function": BOOL,
    }  # fmt: skip
    operator = {
        "name": TEXT, "domain": TEXT, "kernels": numbers, "becomes": _tables(WORDS), "sometimes": WORDS,
        "place": _enum(PLACES), "graph": _enum(("never", "two inputs")), "constants": numbers, "types": _map(WORDS),
        "query": TEXT, "fused": WORDS, "about": TEXT, "conversion": TEXT, "fold": TEXT, "element": TEXT,
        "otherwise": TEXT, "inlined": TEXT, "sizes": _enum(("first",)), "source": TEXT,
        "version": _tables(_table(version, ("since",))),
    }  # fmt: skip
    runtime = {"version": TEXT, "opset": INT, "minimum": LEVEL, "source": TEXT}
    shared = {
        "onnx_runtime": runtime, "onnx_domain": {"name": TEXT, "source": TEXT},
        "onnx_types": {"name": TEXT, "elements": WORDS}, "onnx_activations": {"name": TEXT, "operators": WORDS},
        "onnx_query": {"name": TEXT, "says": TEXT},
    }  # fmt: skip
    return {
        "onnx_operator": _table({"onnx_operator": _tables(_table(operator, ("name",)))}),
        "onnx_runtime": _table({key: _tables(_table(row, row)) for key, row in shared.items()}),
    }  # fmt: skip


def _bindings() -> dict[str, JSON]:
    """The file of the functions of PyDirectML."""
    function = {
        "name": TEXT, "operator": TEXT, "parameters": WORDS, "outputs": TEXT, "values": _map(PYTHON), "result": TEXT,
        "alike": WORDS, "same_sizes": WORDS, "older": BOOL,
        "instead": _table({"operator": TEXT, "when": PYTHON}, ("operator", "when")),
        "also": _map(TEXT), "lacks": _table({"parameter": TEXT, "fits": PYTHON}, ("parameter", "fits")),
        "takes": _map(TEXT),
    }  # fmt: skip
    outputs = {"name": TEXT, "fields": WORDS, "doc": TEXT}
    activation = {"name": TEXT, "operator": TEXT, "parameters": WORDS}
    enum = {
        "name": TEXT, "enum": TEXT, "more": _map(INT), "members": _map(INT), "without": WORDS, "operators": BOOL,
        "flags": BOOL, "doc": TEXT, "also": TEXT,
    }  # fmt: skip
    tables = {
        "directml_function": _tables(_table(function, ("name", "operator", "parameters"))),
        "directml_outputs": _tables(_table(outputs, outputs)),
        "directml_activation": _tables(_table(activation, ("name",))),
        "directml_enum": _tables(_table(enum, ("name",))),
    }
    return {"directml_function": _table(tables)}


def schema(facts: Facts, families: Iterable[str]) -> JSON:
    """The schema of every file below specs: which kind a file is follows from its keys."""
    kinds = _facts()
    definitions: dict[str, JSON] = {
        "level": _enum(level.name for level in facts.levels),
        "dtype": _enum(dtype.name for dtype in facts.dtypes),
        "an_operator": _operator(facts, families),
        "a_group": _table(_group()),
        **{f"facts_{key}": kind for key, kind in kinds.items()},
    }
    rules: list[JSON] = []
    for key in kinds:
        has: JSON = {"required": [key], "properties": {key: {"type": "array"}}}
        rules.append({"if": has, "then": {"$ref": f"#/$defs/facts_{key}"}})
    one: JSON = {"required": ["operator"], "properties": {"operator": {"type": "object"}}}
    rules.append({"if": one, "then": {"$ref": "#/$defs/an_operator"}})
    group: JSON = {"not": {"anyOf": [{"required": [key]} for key in kinds]}}
    rules.append({"if": group, "then": {"$ref": "#/$defs/a_group"}})
    return {
        "$comment": notice("specs"),
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A file below specs",
        "type": "object",
        "allOf": rules,
        "$defs": definitions,
    }


def render(facts: Facts, families: Iterable[str]) -> str:
    """The text of specs/schema.json."""
    return json.dumps(schema(facts, families), indent=1) + "\n"
