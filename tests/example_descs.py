"""The desc of an example."""

from __future__ import annotations

from typing import Any

from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import desc_class
from dmlcy._field_types.tensor_desc import described


def desc_of(operator: Operator, **changes: Any) -> Any:
    """The desc of the first example, with its optional tensors and other values of some fields."""
    example = operator.examples[0]
    whole = described(example.inputs | example.outputs)
    optional = {
        field.python: whole[field.python] for field in operator.fields if field.python in whole and field.optional
    }
    tensors = {**described(operator.example_tensors(example)), **optional}
    return desc_class(operator.name)(**{**tensors, **example.attributes, **changes})
