"""The facts of an error's id: the rule, the field or the file that it is about."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from operator import lt
from typing import Final

import numpy as np

from dmlcy import specs
from dmlcy._check.optional import descs_for
from dmlcy._compile import function
from dmlcy._desc.check import check, check_inputs
from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import CLASSES, DmlError, Violation
from dmlcy._facts.ids import published
from dmlcy._facts.levels import LEVEL, feature_level
from dmlcy._facts.rows import ErrorText, Example, Field, Operator, Rule
from dmlcy._facts.tables import DTYPES, ERRORS, LEVEL_INDEX, LEVELS, OPERATORS
from dmlcy._field_types.tensor_array import by_field
from dmlcy._field_types.tensor_desc import changed_tensors, described
from dmlcy._show.explain import breaks
from dmlcy._show.explain.facts import Facts, brief_rule, of_field, rule_error

PROVENANCE: Final = {
    "documented": "DirectML's documentation says so",
    "header": "DirectML's header says so",
    "observed": "seen in what DirectML does",
    "inferred": "not documented; it follows from what is documented",
}
FUNCTIONS: Final = {
    "rank": ("rank(t)", "Number of dimensions of a tensor."),
    "present": ("present(t)", "Whether a tensor is given that may be left out."),
    "sizes": ("sizes(t)", "Sizes of a tensor."),
    "dtype": ("dtype(t)", "Data type of a tensor."),
    "count": ("count(t)", "Number of tensors of an array."),
    "len": ("len(v)", "Number of entries."),
    "min": ("min(…)", "The least of the values, or of the entries of an array."),
    "max": ("max(…)", "The greatest of the values, or of the entries of an array."),
    "sum": ("sum(v)", "Sum of the entries."),
    "prod": ("prod(v)", "Product of the entries."),
    "abs": ("abs(x)", "Absolute value."),
    "ceil_div": ("ceil_div(a, b)", "a divided by b, rounded up."),
    "isfinite": ("isfinite(x)", "Whether x is neither infinite nor a NaN."),
    "isnan": ("isnan(x)", "Whether x is a NaN."),
    "floor": ("floor(x)", "The greatest whole number that is not above x."),
    "round": ("round(x)", "The nearest whole number, halves away from zero, saturated to 32 bits."),
    "sqrt": ("sqrt(x)", "Square root."),
    "exp": ("exp(x)", "Exponential function."),
    "log": ("log(x)", "Natural logarithm."),
    "tanh": ("tanh(x)", "Hyperbolic tangent."),
    "erf": ("erf(x)", "Error function."),
    "pow": ("pow(x, y)", "x to the power of y."),
    "all": ("all(c for d in n)", "Whether c holds for every d from 0 to n - 1."),
    "any": ("any(c for d in n)", "Whether c holds for some d from 0 to n - 1."),
}
"""The functions of the expression language: how each is written, and its value."""


def of_id(identifier: str) -> Facts:
    """An id that is or was in force."""
    if identifier in published().retired:
        return {"kind": "retired id", "id": identifier, "reason": published().retired[identifier]}
    if identifier in ERRORS:
        return of_model_error(ERRORS[identifier])
    _, name, subject, slug = identifier.split("-", 3)
    operator = OPERATORS[name]
    for rule in operator.rules:
        if rule.id == identifier:
            return of_rule(operator, rule)
    return of_implicit(identifier, operator, subject, ERRORS[slug])


def of_rule(operator: Operator, rule: Rule) -> Facts:
    """A rule, with what its names mean."""
    return {
        "kind": "rule",
        **brief_rule(operator, rule),
        "definitions": list(definitions(operator, [rule.text, _count(rule.loop), rule.fix.text if rule.fix else ""])),
        "meaning": PROVENANCE[rule.provenance],
        "also": base_of(rule_error(rule)),
        "example": broken(operator, rule),
        "source": operator.source,
    }


def base_of(error: str) -> str:
    """The exception of Python that a class also is."""
    return next(base.__name__ for base in CLASSES[error].__mro__[1:] if not issubclass(base, DmlError))


def of_implicit(identifier: str, operator: Operator, subject: str, text: ErrorText) -> Facts:
    """An error that follows from a field itself."""
    field = next((field for field in (*operator.fields, *operator.chosen) if field.python == subject), None)
    example = breaks.broken(operator, field, text.id)
    provenance = "documented" if example is None else example.pop("provenance")
    return {
        "kind": "field error",
        "id": identifier,
        "provisional": identifier in published().provisional,
        "operator": operator.name,
        "subject": subject,
        "slug": text.id,
        "when": text.about,
        "message": text.message,
        "error": text.error,
        "also": base_of(text.error),
        "example": example,
        "provenance": provenance,
        "meaning": PROVENANCE[provenance],
        "definitions": list(definitions(operator, _formulas(field, text.id))),
        "formula": _formula_key(field, text.id),
        "field": None if field is None else of_field(operator, field),
        "fields": None if field is not None else [other.name for other in operator.fields],
        "since": operator.since,
        "source": operator.source,
    }


def of_model_error(text: ErrorText) -> Facts:
    """An error of a model file, or of a desc in JSON."""
    return {
        "kind": "model error",
        "id": text.id,
        "provisional": False,
        "when": text.about,
        "message": text.message,
        "error": text.error,
        "also": base_of(text.error),
        "breaks": specs.errors()[text.id].get("breaks", {}),
    }


def names_in(formula: str) -> Iterator[str]:
    """The names that a formula uses, functions too, in their order."""
    try:
        nodes = list(ast.walk(ast.parse(formula.strip() or "0", mode="eval")))
    except SyntaxError:
        return
    local = {
        node.target.id for node in nodes if isinstance(node, ast.comprehension) and isinstance(node.target, ast.Name)
    }
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id not in local]
    yield from dict.fromkeys(node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset)))


def _count(loop: str | None) -> str:
    """``spatial`` of ``d in spatial``, ``indices`` of ``v of indices``, and both if the rule has both."""
    first, _, rest = (loop or "").partition(", at ")
    second = rest.removesuffix(" of its last axis")
    return ", ".join(filter(None, (part.partition(" ")[2].partition(" ")[2] for part in (first, second))))


def _formulas(field: Field | None, slug: str) -> list[str]:
    """The formula of a field that an error is about."""
    formula = getattr(field, _formula_key(field, slug) or "", None)
    return [] if formula is None else [formula.text]


def _formula_key(field: Field | None, slug: str) -> str | None:
    """Which formula of a field an error is about."""
    if field is not None and slug in ("sizes", "length", "same-dtype"):
        return "value" if field.value is not None else slug if getattr(field, slug, None) is not None else None
    return None


def definitions(operator: Operator, formulas: Iterable[str]) -> Iterator[Facts]:
    """The meanings of names in formulas and in their definitions: quantities, then fields, then functions."""
    lets = {let.name: let for let in operator.lets}
    fields = {field.python: field for field in (*operator.fields, *operator.chosen)}
    waiting = list(formulas)
    found: dict[str, Facts] = {}
    for formula in waiting:
        for name in names_in(formula):
            if name in found:
                continue
            if name in lets:
                let = lets[name]
                found[name] = {
                    "name": name,
                    "is": "quantity",
                    "for": let.loop,
                    "formula": let.text,
                    "doc": operator.docs[name],
                }
                waiting += [let.text, _count(let.loop)]
            elif name in fields:
                field = fields[name]
                found[name] = {"name": name, "is": "field", "field": of_field(operator, field)}
                waiting += [part.text for part in (field.length, field.max_length, field.value) if part is not None]
            elif name in FUNCTIONS:
                written, value = FUNCTIONS[name]
                found[name] = {"name": name, "is": "function", "written": written, "doc": value}
    order = ("quantity", "field", "function")
    yield from sorted(found.values(), key=lambda facts: order.index(facts["is"]))


def broken(operator: Operator, rule: Rule) -> Facts | None:
    """The message of a documented example when it is changed to break just this rule."""
    for example, changes, found in refusals(operator, rule):
        for violation in found:
            if violation.id == rule.id:
                shown = {name: _in_json(change) for name, change in changes.items()}
                return {"title": example.title, "changes": shown, "message": violation.text}
    return None


def refusals(operator: Operator, rule: Rule) -> Iterator[tuple[Example, Facts, Sequence[Violation]]]:
    """Each example, the changes that its spec gives to break the rule, and what is wrong with it then."""
    rows = specs.operator(operator.name).get("data_rule" if rule.data else "rule", [])
    changes: Facts = next((row.get("breaks", {}) for row in rows if row["id"] == rule.id), {})
    level = LEVELS[-1 if rule.until is None else LEVEL_INDEX[rule.until] - 1].name
    for example in operator.examples if changes else ():
        given = {*example.inputs, *example.outputs}
        if any(name not in given if change == "absent" else name in given for name, change in _presence(changes)):
            continue
        with feature_level(level):
            found = _refused(operator, example, changes, rule.data)
        yield example, changes, found


def _presence(changes: Facts) -> Iterator[tuple[str, str]]:
    """The tensors that are left out, or given."""
    return ((name, change) for name, change in changes.items() if change in ("absent", "present"))


def _in_json(value: object) -> object:
    """JSON has no infinities and no NaN."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _refused(operator: Operator, example: Example, changed: Facts, data: bool) -> Sequence[Violation]:
    tensors = {field.python for field in operator.fields if field.kind != "attribute"}
    other = {name: change for name, change in changed.items() if name not in tensors}
    for field in operator.fields:
        if field.python in other and not field.fills:  # one number stands for all entries
            entries = example.attributes[field.python]
            assert isinstance(entries, Sized)
            other[field.python] = (other[field.python],) * len(entries)
    if data:
        return _refused_values(operator, example, changed, other)
    given, whole = _tensors(operator, example), described(example.inputs | example.outputs)
    for name, change in changed.items():
        if change == "absent":
            del given[name]
        elif change == "present":
            values = {**given, **example.attributes}
            given[name] = next(descs_for(operator, operator.field(name), values, LEVEL.get()))
        elif name in whole:
            given[name] = changed_tensors(whole[name], change)
    return check(desc_class(operator.name)(**given, **{**example.attributes, **other}), warnings=True)


def _refused_values(operator: Operator, example: Example, changed: Facts, other: Facts) -> Sequence[Violation]:
    """The violations of other values of the inputs; none for an example that does not have the elements."""
    arrays = {name: np.array(values, DTYPES[dtype].numpy) for name, (dtype, _, values) in example.inputs.items()}
    for name, changes in changed.items():
        for index, value in changes.items() if name in arrays else ():
            place = tuple(map(int, index.split(",")))
            if len(place) > arrays[name].ndim or not all(map(lt, place, arrays[name].shape)):
                return ()
            arrays[name][place] = float(value)
    try:
        if operator.runs:
            asked = breaks.asked_of(operator, example)
            given = by_field(operator.fields, "input", arrays)
            function(operator.name)(*given, **{**operator.example_arguments(example), **asked, **other})
        return check_inputs(_desc_of(operator, example, other), arrays)
    except DmlError as error:
        return error.violations


def _desc_of(operator: Operator, example: Example, changes: Facts) -> OperatorDesc:
    """The desc of an example with other attributes."""
    tensors = _tensors(operator, example)
    return desc_class(operator.name)(**tensors, **{**example.attributes, **changes})


def _tensors(operator: Operator, example: Example) -> dict[str, object]:
    """The tensors of an example's desc: tensors that do not follow from others, and each optional one."""
    whole = described(example.inputs | example.outputs)
    optional = [field.python for field in operator.fields if field.optional and field.python in whole]
    return {**described(operator.example_tensors(example)), **{name: whole[name] for name in optional}}
