"""The enums of PyDirectML, with DirectML's names and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum, IntFlag
from typing import Any, Final, cast

from dmlcy._facts.tables import ENUMS, OPERATORS


class _Named(IntEnum):
    """Members that are printed by their names, as those of PyDirectML are."""

    __str__ = Enum.__str__


def _enum(of: str, more: Iterable[tuple[str, int]] = ()) -> Any:
    """The members of one of DirectML's enums, and those that PyDirectML has beside them."""
    known = ENUMS[of].cls
    members = [*more, *((one.name, int(one.value)) for one in known)]
    return cast(Any, _Named)(known.__name__, members, module="dmlcy.directml")


TensorDataType: Final[Any] = _enum("DML_TENSOR_DATA_TYPE", [("UNKNOWN", 0)])
TensorFlags: Final[Any] = _enum("DML_TENSOR_FLAGS", [("NONE", 0)])
MatrixTransform: Final[Any] = _enum("DML_MATRIX_TRANSFORM")
RecurrentNetworkDirection: Final[Any] = _enum("DML_RECURRENT_NETWORK_DIRECTION")
ConvolutionMode: Final[Any] = _enum("DML_CONVOLUTION_MODE")
ConvolutionDirection: Final[Any] = _enum("DML_CONVOLUTION_DIRECTION")
InterpolationMode: Final[Any] = _enum("DML_INTERPOLATION_MODE")
PaddingMode: Final[Any] = _enum("DML_PADDING_MODE")

_TYPES: Final = [(name, name) for name in ("INVALID", *OPERATORS)]
OperatorType: Final[Any] = cast(Any, Enum)("OperatorType", _TYPES, module="dmlcy.directml")
"""The operators by name, without the numbers that DirectML has for them."""


class OutputOptions(_Named):
    """Which outputs of ``gru`` there are."""

    Both = 0
    Sequence = 1
    Single = 2


class ExecutionFlags(IntFlag):
    """Flags of ``GraphBuilder.build``. The CPU has no use for them."""

    NONE = 0
    ALLOW_HALF_PRECISION_COMPUTATION = 1
    DISABLE_META_COMMANDS = 2
    DESCRIPTORS_VOLATILE = 4


def name_of(member: Any) -> Any:
    """The name of a member; anything else as it is, for the checks to refuse."""
    return member.name if isinstance(member, Enum) else member
