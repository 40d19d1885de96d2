"""Descs for a tensor that a desc lacks, for tests and explanations. Descs that are probably valid come first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dmlcy._check.checker import Check
from dmlcy._facts.rows import Field, Operator
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.tensor_desc import TensorDesc


def descs_for(
    operator: Operator, field: Field, values: Mapping[str, object], level: int, dtype: str | None = None
) -> Iterator[TensorDesc]:
    """Descs of a tensor beside the other values of a valid desc; ``dtype``: that where no other tensor decides it."""
    check = Check(operator, values, level, call=False)
    examples = [
        found for example in operator.examples for name, found in (example.inputs | example.outputs).items()
        if name == field.python
    ]  # fmt: skip
    tied = check.tied_to(field) if field.python in check.absent else field.same_dtype_as
    known = None if tied is None else check.tensors[tied].dtype
    dtypes = [known.name] if known is not None else [dtype] if dtype is not None else []
    dtypes = dtypes or [name for name, _, _ in examples[:1]] or dtypes_at(field, level)[:1]
    computed = check.computed(field)
    ranks = ranks_at(field, level)
    sizes = [] if computed is None else [computed]
    sizes += [found for _, found, _ in examples]
    sizes += [tensor.sizes for tensor in check.tensors.values() if len(tensor.sizes) in ranks]
    sizes += [(1,) * rank for rank in ranks]
    for name in dtypes:
        for found in dict.fromkeys(sizes):
            yield TensorDesc(name, found)
