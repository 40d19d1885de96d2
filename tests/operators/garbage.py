"""Values that nothing expects, and what may happen when they are given: nothing, or an error that can be shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import dmlcy as dml

ANY: Any = dml
"""The package without its types, for values that are no arguments."""
FOUR: Any = np.ones((2, 2))


class Hostile:
    """Nothing can be asked of it."""

    def __init__(self, error: type[Exception]) -> None:
        object.__setattr__(self, "_error", error)

    def _raise(self, *_: object) -> Any:
        raise object.__getattribute__(self, "_error")("\x1b[31m")

    __repr__ = __str__ = __len__ = __iter__ = __getitem__ = __bool__ = __float__ = __index__ = __int__ = _raise
    __eq__ = __hash__ = __lt__ = __getattr__ = __format__ = __array__ = __dlpack__ = __dlpack_device__ = _raise


class HostileText(str):
    __slots__ = ()

    def _raise(self, *_: object) -> Any:
        raise ZeroDivisionError

    __repr__ = __str__ = __hash__ = __eq__ = __len__ = __iter__ = __format__ = removeprefix = _raise


class HostileInt(int):
    def _raise(self, *_: object) -> Any:
        raise ZeroDivisionError

    __repr__ = __str__ = __index__ = __int__ = __float__ = __eq__ = __hash__ = __lt__ = __bool__ = _raise


class HostileFloat(float):
    def _raise(self, *_: object) -> Any:
        raise ZeroDivisionError

    __repr__ = __str__ = __float__ = __eq__ = __hash__ = __lt__ = __ne__ = as_integer_ratio = _raise


class HostileList(list[Any]):
    def _raise(self, *_: object) -> Any:
        raise ZeroDivisionError

    __repr__ = __str__ = __len__ = __iter__ = __getitem__ = __eq__ = _raise


class HostileClass(type):
    """Nothing can be asked of the class itself."""

    def __getattribute__(cls, name: str) -> Any:
        raise ZeroDivisionError


class OfHostileClass(metaclass=HostileClass):
    pass


class Liar:
    """Says that it is of another class."""

    @property
    def __class__(self) -> Any:
        return tuple

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


class LyingClass:
    @property
    def __class__(self) -> Any:
        raise ZeroDivisionError

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


class Endless:
    """An index that is no int."""

    def __index__(self) -> Any:
        return "1"


class Long(Sequence[int]):
    """Too long to be read to its end."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, index: Any) -> Any:
        assert index < 5000, "read far beyond the length of any array"
        return 1


ITSELF: list[Any] = []
ITSELF.append(ITSELF)
DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]
GARBAGE: list[Any] = [
    *map(Hostile, (TypeError, ValueError, RuntimeError, ZeroDivisionError, BufferError, RecursionError)),
    HostileText("EDGE"), HostileInt(1), HostileFloat(1.0), HostileList([1]), OfHostileClass(), Liar(), LyingClass(),
    Endless(), -1, 0, 1, 2, 3, 2**32, 2**63, 2**64, -(2**63) - 1, 10**400, -(10**400), 10**5000, True, False, None,
    0.0, 1.0, -1.5, 1e39, 1e308, 5e-324, math.nan, math.inf, -math.inf, 1j,
    Decimal("NaN"), Decimal("sNaN"), Decimal("1e999999"), Decimal("1e-999999"), Fraction(1, 3), Fraction(10**400, 3),
    "", "EDGE", "\x1b[31m\n\r\x00", "\ud800", "\u202e", "x" * 5000, "NONE", "DML_PADDING_MODE_EDGE",
    b"EDGE", bytearray(4), memoryview(b"1234"), memoryview(FOUR), {1}, {}, {"a": 1}, {"\x1b": 1j},
    [], [[]], [1], (1, 1), (2, 1.0), [None], ["1", "\x1b"], ITSELF, DEEP, range(2), (1,) * 10000, Long(),
    int, object(), NotImplemented, ..., len, np, np.float32, np.ndarray, np.dtype("f4"), slice(1), iter([1]), Hostile,
    type("\x1b[31m" * 100, (), {}), type("\x1b[31m", (), {})(),
    *(member for cls in (dml.ReduceFunction, dml.TensorDataType, dml.PaddingMode, dml.DepthSpaceOrder, dml.TensorFlags)
      for member in list(cls)[:2]),
    np.int8(-1), np.uint8(3), np.uint64(2**63), np.float16(1.5), np.float64(1), np.bool(True), np.str_("EDGE"),
    np.str_("\x1b"), np.bytes_(b"1"), np.complex64(1), np.datetime64("2020"), np.longdouble(1), np.void(b"1"),
    np.array(1), np.array(2.5), np.array([1, 1]), np.array([]), np.array([1.0, 2.0]), np.array("a"), np.array([None]),
    np.ones((1,) * 33), np.array([b"a"]), np.zeros(3, "i2,f4"), np.zeros(3, [("\x1b[31m", "f4")]),
    np.ma.masked_array([1]), np.zeros((0, 4)), np.zeros((1, 1, 0, 4), np.float32), np.array([2**32]),
    np.zeros(2, ">i4"),
    np.broadcast_to(np.int8(1), 2**59), np.array(["2020"], "M8[s]"), np.recarray(2, "i2,f4"),
    np.ones((2, 2)).view(np.matrix),
    dml.TensorDesc("FLOAT32", (1, 4, 4, 4)), ANY.TensorDesc(None, 1j), ANY.desc.DepthToSpace1(input=None, block_size=2),
]  # fmt: skip


def harmless(error: dml.DmlError) -> None:
    """Whether its text can be shown to anybody."""
    assert all(line for line in str(error).split("\n"))
    for found in error.violations:
        assert len(found.text) < 2000
        assert all(character.isprintable() for character in found.text), repr(found.text)
    assert len(error.violations) == len(str(error).split("\n"))
    error.to_json()


def wrong(function: Any) -> str:
    """The mistake of a function that is given garbage; nothing when the function works or refuses."""
    try:
        function()
    except dml.DmlError as error:
        harmless(error)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]!r}"
    return ""
