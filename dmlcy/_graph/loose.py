"""Outputs of a node with violations: their sizes where they follow from the fields, else a desc without sizes.

A tensor desc without sizes says that nothing is known of a value. A node that reads the value is checked without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final

from dmlcy._check.checker import Check
from dmlcy._errors import Violation
from dmlcy._facts.rows import Field
from dmlcy._field_types import type_of
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.tensor_desc import TensorDesc

_UNREAD: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of a formula that reads a field with a violation."""


def is_unknown(desc: TensorDesc | None) -> bool:
    """Whether a desc stands for a value of which nothing is known."""
    return desc is not None and type(desc.sizes) is tuple and not desc.sizes


def outputs_of_wrong(check: Check) -> dict[str, object]:
    """The outputs that a pass which found violations could not fill in, by their names."""
    found: dict[str, object] = {}
    for field in check.operator.fields:
        value = check.resolved.get(field.python)
        if field.kind != "output" or not check.there(field):
            continue
        if type_of(field.type).tensors:
            entries = value if type(value) is tuple else ()
            found[field.python] = tuple(one if type(one) is TensorDesc else _unknown(check, field) for one in entries)
        elif type(value) is not TensorDesc:
            found[field.python] = _inferred(check, field)
    return found


def own(found: Iterable[Violation], inputs: Set[str], outputs: Set[str]) -> list[Violation]:
    """The violations of a node, without violations that only follow from others.

    ``inputs``, ``outputs``: the tensors of which nothing is known. Without another violation, those of outputs stay.
    """
    known = [one for one in found if one.field not in inputs]
    return [one for one in known if one.field not in outputs] or ([] if inputs else known)


def _inferred(check: Check, field: Field) -> TensorDesc:
    """The output as its formula has it, also where a rule on the fields that the formula reads is broken."""
    tied = check.tied_to(field)
    dtype = check.tensors[field.python].dtype or (None if tied is None else check.tensors[tied].dtype)
    try:
        sizes = () if field.sizes is None else tuple(int(size) for size in field.sizes.function(check.rules))
    except _UNREAD:
        sizes = ()
    known = len(sizes) in ranks_at(field, check.level) and all(0 < size <= UINT_MAX for size in sizes)
    return _unknown(check, field) if dtype is None or not known else TensorDesc(dtype, sizes)


def _unknown(check: Check, field: Field) -> TensorDesc:
    return TensorDesc(dtypes_at(field, check.level)[0], ())
