"""The cases of an operator: its documented examples, then drawn ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dmlcy._conformance.drawing import chosen
from dmlcy._conformance.values import ordinary, takes, values_for
from dmlcy._desc.minimum import minimum_feature_level
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import of_numbers
from dmlcy._facts.rows import Example, Operator
from dmlcy._facts.tables import DTYPES, LEVEL_INDEX, FeatureLevelName
from dmlcy._testing.descs import desc_of
from dmlcy._types import Array

EXAMPLE = "example"
DRAWN = "drawn"


@dataclass(frozen=True, slots=True)
class Case:
    """A use of an operator, with values for its inputs by path. ``origin``: example or drawn."""

    desc: OperatorDesc
    arrays: Mapping[str, Array]
    origin: str
    number: int

    @property
    def level(self) -> FeatureLevelName:
        """The lowest feature level at which the desc is valid."""
        return minimum_feature_level(self.desc).level

    @property
    def name(self) -> str:
        """The folder of the case."""
        return f"{self.desc.operator.name}/{self.level}/{self.origin}-{self.number:02}"


def cases_of(operator: Operator, level: int, count: int, seed: int) -> Iterator[Case]:
    """The examples of an operator that are valid at a level, and at most so many drawn cases."""
    for number, example in enumerate(operator.examples, 1):
        case = _of_example(operator, example, number)
        if case is not None and LEVEL_INDEX[case.level] <= level:
            yield case
    if count and LEVEL_INDEX[operator.since] <= level:
        for number, desc in enumerate(chosen(operator, level, count, seed), 1):
            special = number % 2 == 0
            taken = desc if special else ordinary(desc)
            arrays = values_for(taken, special, seed + number)
            if arrays is not None:
                yield Case(taken, arrays, DRAWN, number)


def _of_example(operator: Operator, example: Example, number: int) -> Case | None:
    """An example as a case; None where the operator refuses its values."""
    desc = desc_of(operator, example)
    arrays = {
        name: of_numbers(data, DTYPES[dtype]).reshape(sizes) for name, (dtype, sizes, data) in example.inputs.items()
    }
    return Case(desc, arrays, EXAMPLE, number) if takes(desc, arrays) else None
