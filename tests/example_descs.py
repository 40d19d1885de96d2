"""The desc of an example, its arrays, and what a call takes beside arrays to compute a desc."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dmlcy._check.state import keyword
from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Example, Operator
from dmlcy._field_types.tensor_desc import described


def joined(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a mapping by the paths of tensors, by field: an array's inputs[0] and inputs[1] as a tuple."""
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
    """The inputs of a call of an example, by field: ``None`` for an input that the example leaves out."""
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


def attributes(desc: OperatorDesc) -> dict[str, Any]:
    """The arguments besides tensors of a call of its operator."""
    return own_attributes(desc) | requests(desc)


def own_attributes(desc: OperatorDesc) -> dict[str, Any]:
    """The same for the first output alone."""
    return desc.operator.arguments(desc)


def requests(desc: OperatorDesc) -> dict[str, str]:
    """The arguments that ask for optional outputs of a desc, and the data types of other outputs that do not follow."""
    outputs = [field for field in desc.operator.fields if field.kind == "output"]
    asked = [field for field in outputs if field.optional or not desc.operator.has_type(field)]
    given = {keyword(field): getattr(desc, field.python) for field in asked}
    return {name: tensor.dtype.name for name, tensor in given.items() if tensor is not None}


def each_part(value: Any, take: Callable[[Any], Any]) -> Any:
    """The same of an input: of None, of an array, or of each array of a tuple."""
    return tuple(map(take, value)) if type(value) is tuple else None if value is None else take(value)
