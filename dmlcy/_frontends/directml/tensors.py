"""Tensor descs as PyDirectML spells them: the forms of both APIs, told apart by their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from inspect import Parameter, Signature
from typing import Any, ClassVar, NoReturn, overload

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import dtype_of
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import DTYPES
from dmlcy._facts.tables import TensorFlags as Flags
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._generated.directml.enums import TensorDataType, TensorFlags
from dmlcy._types import DType
from dmlcy._words.values import show

NUMPY = {np.dtype(one.numpy): one.name for one in DTYPES.values() if one.numpy is not None}
"""The data types by those of NumPy."""


class Size2D:
    """A width and a height, of the older API."""

    def __init__(self, width: int, height: int) -> None:
        self.width: int = width
        self.height: int = height


class TensorPolicy:
    """How the elements of a tensor are laid out: ``TensorPolicy.default`` or ``TensorPolicy.interleaved_channel``."""

    default: ClassVar[TensorPolicy]
    interleaved_channel: ClassVar[TensorPolicy]

    def __init__(self) -> None:
        raise TypeError("TensorPolicy has no constructor: use TensorPolicy.default or .interleaved_channel")

    def strides(self, sizes: Sequence[int]) -> list[int] | None:
        """The strides of a tensor; None where its elements are packed."""
        if self is TensorPolicy.default:
            return None
        strides = [0] * len(sizes)
        step = 1
        for axis in (1, *range(len(sizes) - 1, 1, -1), 0):  # the channels are next to each other
            if axis < len(sizes):
                strides[axis] = step
                step *= sizes[axis]
        return strides


TensorPolicy.default = object.__new__(TensorPolicy)
TensorPolicy.interleaved_channel = object.__new__(TensorPolicy)


class TensorDesc:
    """A tensor; immutable.

    Parameters
    ----------
    data_type
        A member of ``TensorDataType``, or what ``numpy.dtype`` takes.
    sizes
        The size of each axis.
    flags
        A member of ``TensorFlags``.
    strides
        In elements; left out, those of the policy.
    total_tensor_size_in_bytes, guaranteed_base_offset_alignment
        Left out, the least size that the tensor needs, and 0.
    tensor_policy
        ``TensorPolicy.default``: packed, row by row. Only without strides.

    Notes
    -----
    The older API has other forms: ``(data_type[, flags], sizes[, tensor_policy])`` and ``(data_type[, flags], sizes,
    strides[, total_tensor_size_in_bytes, guaranteed_base_offset_alignment])``.
    """

    __slots__ = ("_desc",)
    __signature__: ClassVar[Signature]

    @overload
    def __init__(
        self,
        data_type: TensorDataType | npt.DTypeLike,
        sizes: Sequence[int],
        *,
        flags: TensorFlags = ...,
        strides: Sequence[int] | None = None,
        total_tensor_size_in_bytes: int | None = None,
        guaranteed_base_offset_alignment: int = 0,
        tensor_policy: TensorPolicy | None = None,
    ) -> None: ...
    @overload
    def __init__(self, data_type: TensorDataType, sizes: Sequence[int], tensor_policy: TensorPolicy) -> None: ...
    @overload
    def __init__(
        self, data_type: TensorDataType, flags: TensorFlags, sizes: Sequence[int], tensor_policy: TensorPolicy = ...
    ) -> None: ...
    @overload
    def __init__(self, data_type: TensorDataType, sizes: Sequence[int], strides: Sequence[int] | None) -> None: ...
    @overload
    def __init__(
        self,
        data_type: TensorDataType,
        flags: TensorFlags,
        sizes: Sequence[int],
        strides: Sequence[int] | None,
        total_tensor_size_in_bytes: int | None = None,
        guaranteed_base_offset_alignment: int = 0,
    ) -> None: ...
    def __init__(self, data_type: object, *arguments: object, **named: object) -> None:
        given = _arguments(arguments, named)
        sizes, strides = given["sizes"], given.get("strides")
        policy = given.get("tensor_policy")
        if policy is not None and not isinstance(policy, TensorPolicy):
            raise TypeError(f"TensorDesc(): tensor_policy must be a TensorPolicy, not {show(policy)}")
        if policy is not None and strides is not None:
            raise ValueError("TensorDesc() takes strides or a tensor_policy, not both")
        if strides is None and policy is not None:
            strides = policy.strides(sizes)
        total = given.get("total_tensor_size_in_bytes")
        alignment = given.get("guaranteed_base_offset_alignment", 0)
        flags = name_of(given.get("flags", TensorFlags.NONE))
        self._desc = Desc(data_type_of(data_type, "TensorDesc"), sizes, strides, flags, total, alignment)

    @classmethod
    def _of(cls, desc: Desc) -> TensorDesc:
        found: TensorDesc = object.__new__(cls)
        found._desc = desc
        return found

    @property
    def data_type(self) -> TensorDataType:
        """A member of ``TensorDataType``."""
        return TensorDataType[str(name_of(self._desc.dtype))]

    @property
    def flags(self) -> TensorFlags:
        """A member of ``TensorFlags``."""
        return TensorFlags.OWNED_BY_DML if self._desc.flags == Flags.OWNED_BY_DML else TensorFlags.NONE

    @property
    def sizes(self) -> list[int]:
        """The size of each axis."""
        return [*self._desc.sizes]

    @property
    def strides(self) -> list[int] | None:
        """In elements; None where the elements are packed."""
        return None if self._desc.strides is None else [*self._desc.strides]

    @property
    def total_tensor_size_in_bytes(self) -> int:
        """The size of its buffer."""
        return self._desc.total_tensor_size_in_bytes

    @property
    def guaranteed_base_offset_alignment(self) -> int:
        """0: none is promised."""
        return self._desc.guaranteed_base_offset_alignment

    def __repr__(self) -> str:
        return (
            f"dml.TensorDesc of type {name_of(self.data_type)} and shape {self.sizes} with flags {name_of(self.flags)}"
        )


NAMES = ("sizes", "strides", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment")
DEFAULTS = {
    "flags": TensorFlags.NONE, "strides": None, "total_tensor_size_in_bytes": None,
    "guaranteed_base_offset_alignment": 0, "tensor_policy": None,
}  # fmt: skip
TensorDesc.__signature__ = Signature([
    *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("data_type", "sizes")),
    *(Parameter(name, Parameter.KEYWORD_ONLY, default=default) for name, default in DEFAULTS.items()),
])  # fmt: skip


def _arguments(arguments: tuple[object, ...], named: dict[str, object]) -> dict[str, Any]:
    """The arguments behind the data type by their names: the forms differ in the order of arguments."""
    given: dict[str, object] = {}
    rest = [*arguments]
    if rest and not _is_sequence(rest[0]):
        given["flags"] = rest.pop(0)
    if len(rest) > 1 and isinstance(rest[1], TensorPolicy):
        given["tensor_policy"] = rest.pop(1)
    if len(rest) > len(NAMES):
        _wrong(f"takes at most {len(NAMES) + 2} arguments")
    given.update(zip(NAMES, rest, strict=False))
    for name, value in named.items():
        if name in given:
            _wrong(f"got multiple values for argument {name!r}")
        if name not in (*NAMES, "flags", "tensor_policy"):
            _wrong(f"got an unexpected keyword argument {name!r}")
        given[name] = value
    if "sizes" not in given:
        _wrong("missing required argument 'sizes'")
    return given


def _wrong(what: str) -> NoReturn:
    raise TypeError(f"TensorDesc() {what}")


def _is_sequence(value: object) -> bool:
    return hasattr(value, "__len__") or hasattr(value, "__iter__")


def name_of(member: object) -> Any:
    """The name of a member; anything else as it is, for the checks to refuse."""
    return member.name if isinstance(member, Enum) else member


def data_type_of(given: Any, function: str, argument: str = "data_type") -> str:
    """The name of a data type: a member of TensorDataType, or what numpy.dtype takes; TypeError for anything else."""
    if isinstance(given, TensorDataType):
        return given.name
    try:
        known = NUMPY.get(np.dtype(given)) if given is not None and not isinstance(given, Enum | int) else None
    except (TypeError, ValueError):
        known = None
    if known is None:
        raise TypeError(
            f"{function}(): {argument} must be a member of TensorDataType or a NumPy data type, not {show(given)}"
        )
    return known


def numpy_type(desc: Desc) -> DType:
    """The NumPy data type of the elements of a tensor."""
    return numpy_dtype(dtype_of(desc)).newbyteorder("=")
