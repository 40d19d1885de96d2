"""Which operators stand for their families where each takes a while; programs of tests import this without pytest."""

from __future__ import annotations

from collections.abc import Iterable

from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import FAST, OPERATORS
from dmlcy._field_types import type_of


def has_input(operator: Operator) -> bool:
    """Whether each call of an operator has an input."""
    return any(one.kind == "input" and not one.optional for one in operator.fields)


def few_of_each_family(names: Iterable[str] = FAST, most: int = 7) -> list[str]:
    """At most so many operators of each family: in a large one, others are computed by the same loops.

    Operators with arrays of tensors, and operators without an input that each call has, are left to other tests. So are
    operators of whose output only a caller knows the sizes.
    """
    families: dict[str, list[str]] = {}
    for name in names:
        fields = OPERATORS[name].fields
        outputs = (one for one in fields if one.kind == "output")
        if (
            any(type_of(one.type).tensors for one in fields)
            or not has_input(OPERATORS[name])
            or any(one.sizes is None for one in outputs)
        ):
            continue
        families.setdefault(OPERATORS[name].family, []).append(name)
    return [one for found in families.values() for one in found[:: -(-len(found) // most)]]
