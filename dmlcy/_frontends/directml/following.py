"""Arguments that follow from others in some functions: sizes, scales, axes, and the tensors of attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmlcy._desc.memory import resized
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._frontends.directml.calling import LEFT_OUT, Call, LeftOut
from dmlcy._frontends.directml.expressions import Expression, is_number, viewed
from dmlcy._frontends.directml.tensors import name_of
from dmlcy._generated.directml.enums import TensorDataType

__all__ = [
    "batches_back", "batches_first", "every_axis", "given_or", "is_flag", "is_list", "is_number",
    "left_out", "ratios", "result", "with_size",
]  # fmt: skip


def left_out(given: object) -> bool:
    """Whether an argument was left out."""
    return given is LEFT_OUT


def given_or(given: object, other: object) -> object:
    """The argument, or another value where it was left out."""
    return other if given is LEFT_OUT else given


def every_axis(shape: tuple[int, ...]) -> tuple[int, ...]:
    """All axes of a tensor."""
    return tuple(range(len(shape)))


def with_size(shape: tuple[int, ...], axis: object, size: object) -> tuple[object, ...]:
    """The sizes with another one along an axis; as they are for what is no axis, which the operator refuses."""
    known = isinstance(axis, int | np.integer) and 0 <= axis < len(shape)
    return tuple(size if known and place == axis else one for place, one in enumerate(shape))


def ratios(sizes: Sequence[object], of: Sequence[object]) -> tuple[float, ...]:
    """Sizes over other sizes; 1 for what are no sizes, which the operator refuses."""
    count = len(of)
    known = [one for one in (*sizes, *of) if is_number(one) and one > 0]
    if len(sizes) != count or len(known) != 2 * count:
        return (1.0,) * count
    return tuple(float(np.float32(one / other)) for one, other in zip(known[:count], known[count:], strict=True))


def result(dtype: str | TensorDataType, sizes: Sequence[int] | LeftOut) -> Desc | LeftOut:
    """The desc of a result of this data type; left out without sizes."""
    return LEFT_OUT if sizes is LEFT_OUT else Desc(name_of(dtype), sizes)


def is_list(given: object) -> bool:
    """Whether an argument is a list, and no number in its place."""
    return hasattr(given, "__len__")


def is_flag(given: object) -> bool:
    """Whether an argument is a bool, also one that is spelled 0 or 1, and no number in its place."""
    return isinstance(given, bool | np.bool_) or (isinstance(given, int) and given in (0, 1))


def batches_first(tensor: Expression) -> Expression:
    """A tensor [batch, 1, tokens, width] as the operator takes it: [1, batch, tokens, width]."""
    desc = tensor._value.desc
    if len(desc.sizes) != 4 or desc.sizes[1] != 1:
        return tensor
    batch, one, *rest = desc.sizes
    strides = desc.strides and (desc.strides[1], desc.strides[0], *desc.strides[2:])
    return viewed(tensor, resized(desc, (one, batch, *rest), strides))


def batches_back(found: Expression, call: Call) -> Expression:
    """The result for tensors [batch, 1, tokens, width] with these sizes again."""
    query = call.tensors["query"]
    assert isinstance(query, Expression)
    if len(query.shape) != 4 or query.shape[1] != 1:
        return found
    *_, batch, tokens, width = found.shape
    return viewed(found, resized(found._value.desc, (batch, 1, tokens, width), None))
