"""Valid uses of an operator by chance: a walk from desc to desc, or what ``dmlcy.testing`` draws."""

from __future__ import annotations

import random
from typing import Any, Final, TypeVar

from drawing import draw_some
from example_descs import arrays_of, desc_of_example

from dmlcy import testing
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import LEVELS
from dmlcy._testing.starts import tensors_of

Drawn = TypeVar("Drawn")
Case = tuple[OperatorDesc, dict[str, Any]]
BrokenDesc = tuple[OperatorDesc, Violation]
BrokenCase = tuple[OperatorDesc, dict[str, Any], Violation]

SIZES: Final = ((60, 60), (30, 300), (10, 2000))
"""How often, and how many elements the tensors of a case have at most."""
STEPS: Final = 2500
"""Of exact arithmetic, at most, for the result of a case that is compared with it."""


def exact_steps(desc: OperatorDesc) -> int:
    """At most so many pairs of an element of the result and an element that it depends on."""
    counts = {"input": 0, "output": 0, "attribute": 0}
    for field in desc.operator.fields:
        counts[field.kind] += sum(tensor.element_count for tensor in tensors_of(getattr(desc, field.python)))
    return counts["input"] * counts["output"]


def most_elements(chance: random.Random) -> int:
    """Elements of the tensors of a case."""
    return chance.choices([most for _, most in SIZES], [often for often, _ in SIZES])[0]


def some(chance: random.Random, strategy: Any, count: int) -> list[Any]:
    """So many draws; the simplest one, with which Hypothesis begins, is not among them."""
    found: list[Any] = []
    draw_some(strategy, count + 1, found.append, chance.getrandbits(32))
    return found[1:]


def cases(chance: random.Random, operator: Operator, level: int, count: int) -> list[Case]:
    """Valid descs with arrays."""
    strategy = testing.cases(operator.name, level=LEVELS[level].name, most_elements=most_elements(chance))
    return some(chance, strategy, count)


def of_examples(chance: random.Random, operator: Operator, level: int, count: int) -> list[Case]:
    """Examples of the spec: they cost nothing to make."""
    examples = [chance.choice(operator.examples) for _ in range(count)]
    return [(desc_of_example(operator, one), arrays_of(one.inputs)) for one in examples]


def broken_descs(chance: random.Random, operator: Operator, level: int, count: int) -> list[BrokenDesc]:
    """Descs with one mistake each."""
    return some(chance, testing.broken_descs(operator.name, level=LEVELS[level].name, most_elements=300), count)


def broken_cases(chance: random.Random, operator: Operator, level: int, count: int) -> list[BrokenCase]:
    """Valid descs with arrays of which one has a value that is refused; none where no rule is about values."""
    if not any(rule.data and rule.severity == "error" for rule in operator.rules):
        return []
    return some(chance, testing.broken_inputs(operator.name, level=LEVELS[level].name, most_elements=60), count)


def flat(values: Any) -> list[Any]:
    """The parts of inputs or results, those of tuples one by one, without what is None."""
    return [one for value in values for one in (value if isinstance(value, tuple) else (value,)) if one is not None]
