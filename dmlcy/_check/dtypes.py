"""The steps of a pass that take the data types of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

import numpy as np

from dmlcy._check.state import State, keyword
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import LEVELS, TensorDataType
from dmlcy._field_types.tensor import dtypes_at, has_dtype
from dmlcy._field_types.values import NUMPY
from dmlcy._field_types.wording import nearest_dtype
from dmlcy._types import DType
from dmlcy._words.alike import did_you_mean, without
from dmlcy._words.values import is_a, listing

FOUR_BITS: Final = ("UINT4", "INT4")


def agree(state: State, field: Field) -> None:
    """Takes the data type of a tensor, or the one of the tensor with which it must agree."""
    tensor, facet = state.tensors[field.python], f"{field.python}.dtype"
    tied = state.tied_to(field)
    source = None if tied is None else f"{tied}.dtype"
    other = state.chosen.get(field.python) if tied is None else state.tensors[tied].dtype
    if tensor.dtype is None:
        if facet not in state.bad and source is not None and source not in state.bad:
            tensor.dtype = other
        elif facet not in state.bad and source is None and field.only_dtype is not None:
            tensor.dtype = TensorDataType[field.only_dtype]
        if tensor.dtype is None:
            state.fail(facet)
        return
    if tensor.dtype is other and source is not None:
        if source in state.bad:
            state.fail(facet)
        return
    name = tensor.dtype.name
    if not has_dtype(field, name, state.level):
        state.fail(facet)
        needed = next((level for level in range(len(LEVELS)) if has_dtype(field, name, level)), None)
        if needed is None:
            allowed, values = dtypes_at(field, state.level), {"actual": tensor.dtype}
            hint = _conversion(state, field, tensor.dtype, allowed)
            if state.call and field.kind == "output" and other is not None and source is not None:
                hint = f"The output has the data type of {tied}: {other.name}."
            state.add(field, "dtype", member="dtype", values=values, words={"allowed": listing(allowed)}, hint=hint)
        else:
            hint = f"That level allows {listing(dtypes_at(field, state.level))}."
            state.too_new(field, f"{state.label(field)} of data type {name}", needed, hint, "dtype")
    elif other is not None and tensor.dtype is not other and source not in state.bad:
        state.fail(facet)
        other_name = tied or field.python
        words = {"has": "has data type", "must": "must have", "other": other_name}
        values = {"actual": tensor.dtype, "expected": other}
        hint = packing(state, (tensor.dtype, other)) if field.kind == "input" else ""
        if source is None:  # the call chose the other one
            hint = f'Pass {keyword(field)}="{name}".'
        state.add(field, "same-dtype", member="dtype", values=values, words=words, hint=hint, fix=other)


def packing(state: State, dtypes: Iterable[object]) -> str:
    """How a call gives elements of 4 bits, where of these data types some have such elements, and others a byte."""
    names = [one.name for one in dtypes if isinstance(one, TensorDataType)]
    wanted = next((name for name in names if name in FOUR_BITS), None)
    if not state.call or wanted is None or not {"UINT8", "INT8"} & set(names):
        return ""
    return f'dmlcy.packed(array, "{wanted}", sizes) makes a tensor of {wanted}.'


def refuse_dtype(state: State, field: Field, dtype: object) -> None:
    """Notes that this is no data type that a tensor can have."""
    if dtype is None:
        state.add(field, "required", part=".dtype")
        return
    if is_a(dtype, np.dtype) and not cast("DType", dtype).isnative:
        native = cast("DType", dtype).newbyteorder("=")
        if native in NUMPY:
            hint = f'Pass {state.label(field)}.astype("{native}").' if state.call else ""
            state.add(field, "byteorder", member="dtype", values={"actual": dtype}, hint=hint)
            return
    allowed = dtypes_at(field, state.level)
    name = str.__str__(cast(str, dtype)) if is_a(dtype, str) else ""
    meant = did_you_mean(without("DML_TENSOR_DATA_TYPE_", name), allowed) if name else ""
    state.add(
        field,
        "dtype",
        member="dtype",
        values={"actual": dtype},
        words={"allowed": listing(allowed)},
        hint=meant or _conversion(state, field, dtype, allowed),
    )


def _conversion(state: State, field: Field, dtype: object, allowed: Sequence[str]) -> str:
    """The values that a call can be given in place of an input of a data type that is not allowed."""
    nearest = nearest_dtype(dtype, allowed) if state.call and field.kind == "input" else None
    return f"Pass {state.label(field)}.astype(numpy.{nearest})." if nearest else ""
