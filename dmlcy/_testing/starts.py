"""The valid descs of an operator that walks begin with: its examples."""

from __future__ import annotations

from functools import cache
from typing import Any

from dmlcy._check.checker import Check
from dmlcy._facts.rows import MISSING
from dmlcy._facts.tables import LEVELS, OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc, described

Values = dict[str, Any]


@cache
def starts(name: str, level: int) -> list[Values]:
    """The smallest of the spec's examples that are valid at the level, with defaults where there are any.

    One start for each set of optional tensors and of enum members that an example has; optional outputs only where they
    must be there.
    """
    operator = OPERATORS[name]
    optional = [field for field in operator.fields if field.kind != "attribute" and field.optional]
    defaults = {field.python: field.default for field in operator.fields if field.default is not MISSING}
    found = []
    for example in operator.examples:
        tensors = described(operator.example_tensors(example))
        outputs = described(
            {
                name: one
                for name, one in example.outputs.items()
                if name not in tensors and operator.field(name).optional
            }
        )
        for more in ({}, defaults):
            for these in ({}, outputs):
                check = Check(operator, {**tensors, **these, **example.attributes, **more}, level, call=False)
                if not check.violations:
                    found.append(check.resolved)
                    break
    if not found:
        raise ValueError(f"no example of {operator.name} is valid at feature level {LEVELS[level].name}")
    attributes = [field for field in operator.fields if field.kind == "attribute"]
    enums = [field.python for field in attributes if type_of(field.type).info is not None]
    least: dict[object, Values] = {}
    for values in sorted(reversed(found), key=elements):
        members = [values[name] for name in enums]
        least.setdefault((*(values[field.python] is None for field in optional), *members), values)
    return [*least.values()]


def elements(values: Values) -> int:
    """The elements of all tensors together."""
    return sum(tensor.element_count for value in values.values() for tensor in tensors_of(value))


def tensors_of(value: object) -> tuple[TensorDesc, ...]:
    """The tensor descs that a value is or has."""
    entries = value if isinstance(value, tuple) else (value,)
    return tuple(entry for entry in entries if isinstance(entry, TensorDesc))
