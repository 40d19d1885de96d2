"""The checks of the arrays of a call: their values, their memory, and whether they are those of a desc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from dmlcy._check.dtypes import refuse_dtype
from dmlcy._check.rules import look, look_at_each
from dmlcy._check.state import State
from dmlcy._check.tensors import no_tensor
from dmlcy._facts.rows import Field
from dmlcy._field_types import type_of
from dmlcy._field_types.bad import BAD
from dmlcy._field_types.tensor_array import as_tensors
from dmlcy._field_types.values import NUMPY, Refused, as_dtype
from dmlcy._field_types.wording import entries as counted
from dmlcy._runtime.tensor import may_overlap, self_overlaps
from dmlcy._types import Array


class Data:
    """The values of a tensor as rules see them: exact Python numbers, with leading ones up to the rank of the desc."""

    __slots__ = ("_array",)

    def __init__(self, array: Array, rank: int) -> None:
        self._array = array[(None,) * (rank - array.ndim)]

    def __getitem__(self, index: int | tuple[int, ...]) -> object:
        return self._array.item(*index) if isinstance(index, tuple) else self._array.item(index)


def data(state: State, arrays: Mapping[str, Array], first: int = 0) -> None:
    """Looks at the values of the input tensors, from the index at which a rule is broken."""
    for name, array in arrays.items():
        if name not in state.fields or type_of(state.fields[name].type).tensors:
            continue  # no rule is on the values of the tensors of an array
        if any(size is BAD for size in state.tensors[name].sizes):
            state.fail(f"{name}.sizes")
        state.readable[f"{name}_data"] = Data(array, max(array.ndim, len(state.tensors[name].sizes)))
    for rule in state.operator.rules:
        if rule.data and rule.each is None:
            look(state, rule, first)
        elif rule.each is not None and rule.each in arrays:
            look_at_each(state, rule, arrays[rule.each])


def bind(state: State, field: Field, value: object, arrays: Mapping[str, Array | None]) -> None:
    """Compares the tensors given to a compiled operator, by their paths, with its desc."""
    state.call = True
    if field.kind == "output" and value is None and field.python not in state.labels:
        return  # a new array has what the desc says, which rules may read
    if not type_of(field.type).tensors:
        _bind_one(state, field, value, arrays.get(field.python))
        return
    name = field.python
    try:
        entries = as_tensors(value, literal=False, call=True) if value is not None or name in state.labels else None
    except Refused as refused:
        state.fail(f"{name}.count")
        state.refused(field, refused)
        return
    if entries is None:
        state.fail(f"{name}.count")
        state.add(field, "required")
        return
    expected = cast("tuple[object, ...]", state.resolved[name])
    if len(entries) != len(expected):
        state.fail(f"{name}.count")
        values: dict[str, object] = {"actual": len(entries), "expected": len(expected)}
        words = {"has": f"has {counted(len(entries))}", "needs": "needs", "each": "one for each tensor of the desc"}
        state.add(field, "length", values=values, words=words)
        return
    for place, entry in enumerate(entries):
        path = f"{name}[{place}]"
        _bind_one(state, replace(field, python=path), entry, arrays.get(path))


def _bind_one(state: State, field: Field, value: object, array: Array | None) -> None:
    """Compares one tensor."""
    tensor, name = state.tensors[field.python], field.python
    if array is None:
        state.fail(f"{name}.dtype", f"{name}.sizes")
        if value is not None or name in state.labels:
            state.refused(field, no_tensor(state, field, value))
        else:
            state.add(field, "required")
        return
    dtype = as_dtype(array.dtype)
    if dtype is None:
        state.fail(f"{name}.dtype")
        refuse_dtype(state, field, array.dtype)
    elif dtype is not tensor.dtype:
        state.fail(f"{name}.dtype")
        state.add(
            field,
            "same-dtype",
            member="dtype",
            values={"actual": dtype, "expected": tensor.dtype},
            words={"has": "has data type", "must": "must have", "other": "the desc"},
            fix=tensor.dtype,
        )
    if array.shape != tensor.sizes:
        state.fail(f"{name}.sizes")
        values = {"actual": array.shape, "expected": tensor.sizes}
        words = {"formula": "the sizes of the desc"}
        state.add(field, "sizes", member="sizes", values=values, words=words, fix=tensor.sizes)


def memory(state: State, field: Field, out: Array, arrays: Mapping[str, Array]) -> None:
    """Looks at the memory of an array given for an output, beside that of ``arrays``."""
    if not out.flags.writeable:
        state.add(field, "readonly")
    if out.dtype in NUMPY and self_overlaps(out):
        state.add(
            field, "overlap", words={"other": "itself"}, hint="Two elements of the array share one place in memory."
        )
    for name, array in arrays.items():
        if name.partition("[")[0] in state.operator.in_place and same_place(out, array):
            continue
        if out.dtype in NUMPY and array.dtype in NUMPY and may_overlap(out, array):
            state.add(field, "overlap", words={"other": state.labels.get(name, name)})


def same_place(a: Array, b: Array) -> bool:
    """Whether two arrays are the same elements of memory in the same order."""
    first, second = a.__array_interface__, b.__array_interface__
    return (first["data"][0], a.shape, a.strides, a.dtype) == (second["data"][0], b.shape, b.strides, b.dtype)
