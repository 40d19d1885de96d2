"""Tensor descs as PyDirectML spells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from dmlcy._facts.tables import TensorFlags as Flags
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._frontends.directml.enums import TensorDataType, TensorFlags, name_of
from dmlcy._words.values import show


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
    """A tensor: ``TensorDesc(data_type[, flags], sizes[, strides or tensor_policy])``; immutable.

    Parameters
    ----------
    data_type
        A member of ``TensorDataType``.
    flags
        A member of ``TensorFlags``; left out, NONE.
    sizes
        The size of each axis.
    strides
        In elements; left out, those of the policy.
    tensor_policy
        ``TensorPolicy.default``: packed, row by row.
    total_tensor_size_in_bytes, guaranteed_base_offset_alignment
        Left out, the least size that the tensor needs, and 0.
    """

    __slots__ = ("_desc",)

    def __init__(self, data_type: Any, *arguments: Any, **named: Any) -> None:
        given = _arguments(arguments, named)
        sizes, strides = given["sizes"], given.get("strides")
        policy = given.get("tensor_policy", TensorPolicy.default)
        if not isinstance(policy, TensorPolicy):
            raise TypeError(f"TensorDesc(): tensor_policy must be a TensorPolicy, not {show(policy)}")
        strides = policy.strides(sizes) if strides is None else strides
        flags = given.get("flags", TensorFlags.NONE)
        total = given.get("total_tensor_size_in_bytes")
        alignment = given.get("guaranteed_base_offset_alignment", 0)
        self._desc = Desc(name_of(data_type), sizes, strides, name_of(flags), total, alignment)

    @classmethod
    def _of(cls, desc: Desc) -> TensorDesc:
        found: TensorDesc = object.__new__(cls)
        found._desc = desc
        return found

    @property
    def data_type(self) -> Any:
        """A member of ``TensorDataType``."""
        name = name_of(self._desc.dtype)
        return TensorDataType[name] if isinstance(name, str) and name in TensorDataType.__members__ else name

    @property
    def flags(self) -> Any:
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


def _arguments(arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments behind the data type by their names: the forms differ by what stands where."""
    given: dict[str, Any] = {}
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
