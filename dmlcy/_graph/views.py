"""Tensor descs under which the bytes of a value are another arrangement of its elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dmlcy._desc.memory import is_packed, resized, strides_of
from dmlcy._field_types.tensor_desc import TensorDesc, packed_strides
from dmlcy._field_types.values import Refused, as_entries, as_int
from dmlcy._words.values import show


def transposed(desc: TensorDesc, axes: Sequence[int]) -> TensorDesc:
    """The axes in another order: axis k of the result is axis ``axes[k]``."""
    known = _ints(axes, "transpose")
    if sorted(known) != [*range(desc.rank)]:
        raise ValueError(f"transpose() takes each of the axes 0 to {desc.rank - 1} once, not {known}.")
    strides = strides_of(desc)
    return _laid_out(desc, tuple(desc.sizes[axis] for axis in known), tuple(strides[axis] for axis in known))


def broadcast(desc: TensorDesc, sizes: Sequence[int]) -> TensorDesc:
    """Axes of size 1, and axes in front, repeated: as numpy.broadcast_to."""
    wanted = _ints(sizes, "broadcast")
    extra = len(wanted) - desc.rank
    wrong = extra < 0 or min(wanted, default=1) < 1
    if wrong or any(size not in (1, wide) for size, wide in zip(desc.sizes, wanted[extra:], strict=True)):
        raise ValueError(f"broadcast() cannot repeat a value of sizes {desc.sizes} to sizes {wanted}.")
    pairs = zip(desc.sizes, wanted[extra:], strides_of(desc), strict=True)
    strides = (0,) * extra + tuple(0 if size != wide else stride for size, wide, stride in pairs)
    return _laid_out(desc, wanted, strides)


def reshaped(desc: TensorDesc, sizes: Sequence[int]) -> TensorDesc | None:
    """The elements in other sizes, a single one without sizes in the size 1; None where they must be copied."""
    wanted = _ints(sizes, "reshape") or (1,)
    if min(wanted) < 1 or math.prod(wanted) != desc.element_count:
        raise ValueError(f"reshape() cannot give {desc.element_count} elements the sizes {wanted}.")
    if is_packed(desc):
        return resized(desc, wanted, None)
    known = [(size, stride) for size, stride in zip(desc.sizes, strides_of(desc), strict=True) if size != 1]
    if [size for size, _ in known] != [size for size in wanted if size != 1]:
        return None
    strides = iter(stride for _, stride in known)
    return resized(desc, wanted, tuple(0 if size == 1 else next(strides) for size in wanted))


def _ints(values: Sequence[int], function: str) -> tuple[int, ...]:
    """The entries of a sequence; TypeError for what is no sequence of ints."""
    try:
        return tuple(map(as_int, as_entries(values, "a sequence of ints")))
    except Refused:
        raise TypeError(f"{function}() takes a sequence of ints, not {show(values)}.") from None


def _laid_out(desc: TensorDesc, sizes: tuple[int, ...], strides: tuple[int, ...]) -> TensorDesc:
    """The same bytes under these sizes and strides; strides are left out where they are packed."""
    return resized(desc, sizes, None if strides == packed_strides(sizes) else strides)
