"""The desc of an example, and its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import desc_class
from dmlcy._field_types.tensor_desc import described


def joined(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given by the paths of tensors, by field: those of an array, inputs[0] and inputs[1], as a tuple."""
    found: dict[str, Any] = {}
    for path, one in given.items():
        name, entry, _ = path.partition("[")
        found[name] = (*found.get(name, ()), one) if entry else one
    return found


def arrays_of(tensors: Mapping[str, tuple[str, tuple[int, ...], Any]]) -> dict[str, Any]:
    """The arrays of the inputs or the outputs of an example, by field."""
    return joined(
        {path: np.array(data, dtype.lower()).reshape(sizes) for path, (dtype, sizes, data) in tensors.items()}
    )


def inputs_of(operator: Operator, example: Example) -> dict[str, Any]:
    """The inputs that a call of an example is given, by field: None for those that it leaves out."""
    return {field.python: None for field in operator.fields if field.kind == "input"} | arrays_of(example.inputs)


def desc_of(operator: Operator, **changes: Any) -> Any:
    """The desc of the first example, with its optional tensors and other values of some fields."""
    return desc_of_example(operator, operator.examples[0], **changes)


def desc_of_example(operator: Operator, example: Example, **changes: Any) -> Any:
    """The same of any example."""
    whole = described(example.inputs | example.outputs)
    optional = {
        field.python: whole[field.python] for field in operator.fields if field.python in whole and field.optional
    }
    tensors = {**described(operator.example_tensors(example)), **optional}
    return desc_class(operator.name)(**{**tensors, **example.attributes, **changes})
