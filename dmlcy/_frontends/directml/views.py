"""Expressions that are the bytes of other expressions under another tensor desc: no operator computes them."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any, overload

import numpy.typing as npt

from dmlcy._desc.memory import extent
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._field_types.tensor_desc import minimum_size
from dmlcy._frontends.directml.execution import current
from dmlcy._frontends.directml.expressions import Expression, value_of, viewed
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._frontends.directml.tensors import data_type_of, name_of
from dmlcy._generated.directml.enums import TensorDataType

NEWER = ("input", "sizes", "strides", "dtype")
OLDER = ("input", "new_type", "new_size", "new_strides")


@overload
def reinterpret(
    input: Expression,
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
    dtype: TensorDataType | npt.DTypeLike | None = None,
) -> Expression: ...
@overload
def reinterpret(
    input: Expression, new_type: TensorDataType, new_size: Sequence[int], new_strides: Sequence[int] | None = None
) -> Expression: ...
def reinterpret(*arguments: object, **named: object) -> Expression:
    """The same bytes under other sizes and strides, and another data type.

    The older API has other parameters: input, new_type, new_size, new_strides=None.

    Parameters
    ----------
    input : Expression
        The tensor.
    sizes : sequence of int
        The size of each axis.
    strides : sequence of int, optional
        In elements; left out, packed.
    dtype : TensorDataType or NumPy data type, optional
        Left out, that of the input.

    Returns
    -------
    Expression
        A view of the input: no operator computes it.

    Raises
    ------
    InvalidDescError
        The view reaches beyond the bytes of the input (DML-GRAPH-view-size).
    """
    given = _given(arguments, named)
    source = given["input"]
    old = value_of(source, "reinterpret").desc
    dtype = old.dtype if given["dtype"] is None else data_type_of(given["dtype"], "reinterpret", "dtype")
    total, alignment = old.total_tensor_size_in_bytes, old.guaranteed_base_offset_alignment
    desc = Desc(name_of(dtype), given["sizes"], given["strides"], old.flags, total, alignment)
    if current().computes and minimum_size(desc) is not None and extent(desc) > total:
        refuse("reinterpret", "view-size", needed=extent(desc), sizes=[*desc.sizes], actual=total)
    return viewed(source, desc)


reinterpret.__signature__ = Signature([  # type: ignore[attr-defined]
    *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in NEWER[:2]),
    *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in NEWER[2:]),
])  # fmt: skip


def _given(arguments: tuple[object, ...], named: dict[str, object]) -> dict[str, Any]:
    """The arguments by the newer names: the forms differ by the second one, a list or a data type."""
    is_older = "new_type" in named or (len(arguments) > 1 and not _is_list(arguments[1]))
    names = OLDER if is_older else NEWER
    given: dict[str, object] = dict(zip(names, arguments, strict=False))
    if len(arguments) > len(names):
        raise TypeError(f"reinterpret() takes at most {len(names)} arguments, not {len(arguments)}")
    for name, value in named.items():
        if name in given:
            raise TypeError(f"reinterpret() got multiple values for argument {name!r}")
        if name not in names:
            raise TypeError(f"reinterpret() got an unexpected keyword argument {name!r}")
        given[name] = value
    for name in names[: 3 if is_older else 2]:
        if name not in given:
            raise TypeError(f"reinterpret() missing required argument {name!r}")
    if not is_older:
        return {"strides": None, "dtype": None, **given}
    found = {"new_type": "dtype", "new_size": "sizes", "new_strides": "strides"}
    return {"strides": None, **{found.get(name, name): value for name, value in given.items()}}


def _is_list(value: object) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def broadcast(input: Expression, shape: Sequence[int]) -> Expression:
    """A view with other sizes: axes of size 1, and axes in front, are repeated, as by ``numpy.broadcast_to``.

    Parameters
    ----------
    input : Expression
        The tensor. Strides that it has are kept.
    shape : sequence of int
        The sizes of the result.

    Returns
    -------
    Expression
        A view of the input with strides of 0, which no operator computes; the input itself for its own sizes.

    Raises
    ------
    ValueError
        The sizes cannot become this shape.
    TypeError
        The shape is no sequence of int.
    """
    value = value_of(input, "broadcast")
    found = input._builder._graph.broadcast(value, shape)
    return input if found.desc.sizes == value.desc.sizes else Expression(input._builder, found)
