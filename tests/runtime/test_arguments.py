"""Attribute arguments: exact, or refused."""

import array
import enum
import math
import struct
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import case_name

DTYPES = dict(zip(["f4", "f2", "u4", "u2", "u1", "i4", "i2", "i1", "f8", "u8", "i8"], range(1, 12), strict=True))
NO_NUMBERS: list[Any] = [None, True, False, np.True_, "1", b"1", np.str_("1"), [1], 1j, np.complex64(1),
                         np.timedelta64(1, "s"), object(), {}, float]  # fmt: skip


class Index:
    """Something with __index__ only."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> int:
        if isinstance(self.value, Exception):
            raise self.value
        return int(self.value)


class Size2D(NamedTuple):
    """As descs have it."""

    height: int
    width: int


class Mode(enum.IntEnum):
    """An enum as the generated ones are."""

    CONSTANT = 0
    EDGE = 1


class OtherMode(enum.IntEnum):
    """Another enum with the same member."""

    EDGE = 1


NAMES = {"EDGE": 1, "DML_PADDING_MODE_EDGE": 1, "CONSTANT": 0}


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3), Index(3), Mode.EDGE], ids=case_name)
def test_ints(probe: ModuleType, value: Any) -> None:
    assert probe.take_uint(value) == int(value)


@pytest.mark.parametrize(
    "value", [*NO_NUMBERS, 3.0, np.float32(3), Decimal(3), -1, 2**32, 2**64, -(2**70), np.array([3]), np.array(True),
              Index(2**80), Index(ValueError())], ids=case_name)  # fmt: skip
def test_no_ints(probe: ModuleType, value: Any) -> None:
    assert probe.take_uint(value) is None


def test_int_range(probe: ModuleType) -> None:
    assert [probe.take_uint(value, -2, 2) for value in range(-3, 4)] == [None, -2, -1, 0, 1, 2, None]
    assert probe.take_uint(2**32 - 1) == 2**32 - 1


def test_what_an_index_raises_is_a_refusal(probe: ModuleType) -> None:
    assert probe.take_uint(Index(ZeroDivisionError())) is None
    assert probe.take_uints([1, Index(ZeroDivisionError())], 2) is None


@pytest.mark.parametrize(
    "value", [(1, 2), [1, 2], range(1, 3), np.array([1, 2]), np.array([1, 2], "u1"), array.array("i", [1, 2]),
              (np.int64(1), Index(2)), Size2D(1, 2), np.array([9, 2, 9, 1])[::-2]], ids=case_name)  # fmt: skip
def test_int_arrays(probe: ModuleType, value: Any) -> None:
    assert probe.take_uints(value, 2) == (1, 2)
    assert probe.take_uints(value, 3) is None
    assert probe.take_uints(value, 2, 1, 1) is None


def test_an_int_fills_an_array(probe: ModuleType) -> None:
    for value in (7, np.int16(7), np.array(7), Index(7)):
        assert probe.take_uints(value, 3) == (7, 7, 7)
        assert probe.take_uints(value, 0) == ()
    assert probe.take_uints((), 0) == ()


@pytest.mark.parametrize(
    "value", [*NO_NUMBERS[:7], 1.0, "12", b"12", bytearray(b"12"), {1, 2}, {1: 2, 2: 3}, iter([1, 2]), (1, True),
              (1, 2.0), (1, -1), np.array([1.0, 2.0]), np.array([[1], [2]]), np.array([True, False]),
              np.array(["a", "b"])], ids=case_name)  # fmt: skip
def test_no_int_arrays(probe: ModuleType, value: Any) -> None:
    assert probe.take_uints(value, 2) is None


def test_torch_int_arrays(probe: ModuleType) -> None:
    torch = pytest.importorskip("torch")
    assert probe.take_uints(torch.Size((1, 2)), 2) == (1, 2)
    assert probe.take_uints(torch.tensor([1, 2]), 2) == (1, 2)
    assert probe.take_uints(torch.tensor([1]), 2) is None


def test_bools(probe: ModuleType) -> None:
    for value in (True, False, np.True_, np.False_):
        assert probe.take_bool(value) is bool(value)
    others: list[Any] = [0, 1, None, "True", np.int8(1), np.array(True), []]
    for other in others:
        assert probe.take_bool(other) is None


def test_size_2d(probe: ModuleType) -> None:
    assert probe.take_size_2d(3) == (3, 3)
    assert probe.take_size_2d(Size2D(3, 4)) == (3, 4)
    for value in ((3,), (3, 4, 5), (0, 1), (1, 101), True, "34", None):
        assert probe.take_size_2d(value) is None


def test_enums(probe: ModuleType) -> None:
    for value in (Mode.EDGE, "EDGE", "DML_PADDING_MODE_EDGE", np.str_("EDGE")):
        assert probe.take_enum(value, Mode, NAMES) == 1
    assert probe.take_enum("CONSTANT", Mode, NAMES) == 0
    others: list[Any] = [1, "edge", "", None, OtherMode.EDGE, b"EDGE", [], True]
    for other in others:
        assert probe.take_enum(other, Mode, NAMES) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("FLOAT32", 1), ("DML_TENSOR_DATA_TYPE_INT64", 11), ("float16", 2), ("<u2" if np.little_endian else ">u2", 4),
     (np.float64, 9), (np.dtype("i1"), 8), (np.dtype("q"), 11), (np.dtype("l"), DTYPES[np.dtype("l").str[1:]]),
     (float, 9)])  # fmt: skip
def test_data_types(probe: ModuleType, value: Any, expected: int) -> None:
    assert probe.take_dtype(value) == expected


@pytest.mark.parametrize(
    "value", [None, "FLOAT", "bool", bool, complex, "O", "S3", "(1", "f4,,", "f4,f4", np.dtype("f4").newbyteorder(), [],
              {}, object(), "DML_TENSOR_DATA_TYPE_UNKNOWN", "M8[s]"], ids=case_name)  # fmt: skip
def test_no_data_types(probe: ModuleType, value: Any) -> None:
    assert probe.take_dtype(value) is None


# Numbers

# Between two float32 (and float16) values; rounding to double first would make each a tie.
TIE = 1 + Fraction(1, 2**24) + Fraction(1, 2**80)
FLOAT32_MAX = 2**128 - 2**104


@pytest.mark.parametrize("value", [0.1, 3, np.float16(0.1), np.float64(0.1), np.int64(3), Decimal("0.1"),
                                   Fraction(1, 10), -0.0, 1e-46, np.longdouble("0.1"), np.uint64(2**64 - 1),
                                   FLOAT32_MAX], ids=case_name)  # fmt: skip
def test_floats(probe: ModuleType, value: Any) -> None:
    taken, expected = probe.take_float(value), np.float32(float(value))
    assert taken.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "value", [*NO_NUMBERS, math.nan, math.inf, -math.inf, np.float32("inf"), 1e39, FLOAT32_MAX + 2**103, 10**400,
              Decimal("1e400"), Decimal("nan"), Decimal("snan"), np.array(1.0), np.array([1.0]), "0.5"],
    ids=case_name)  # fmt: skip
def test_no_floats(probe: ModuleType, value: Any) -> None:
    assert probe.take_float(value) is None


@pytest.mark.parametrize(
    "value", [math.inf, -math.inf, np.float64("inf"), math.nan, Decimal("nan"), 1.5], ids=case_name
)
def test_floats_that_may_be_infinite(probe: ModuleType, value: Any) -> None:
    np.testing.assert_equal(probe.take_float(value, True), np.float32(float(value)))


@pytest.mark.parametrize("value", [1e39, -1e39, FLOAT32_MAX + 2**103, 10**400, Decimal("1e400"), "inf"], ids=case_name)
def test_floats_that_only_become_infinite(probe: ModuleType, value: Any) -> None:
    assert probe.take_float(value, True) is None


def test_numbers_are_rounded_once(probe: ModuleType) -> None:
    up = np.nextafter(np.float32(1), np.float32(2))
    assert probe.take_float(TIE) == up
    assert probe.take_float(-TIE) == -up
    assert probe.take_float(int(TIE * 2**80)) == np.ldexp(up, 80)
    assert probe.take_float(FLOAT32_MAX + 2**103 - 1) == FLOAT32_MAX
    assert probe.take_float(Decimal("1e-999999999")) == 0
    half = 1 + Fraction(1, 2**11)
    assert scalar(probe, half, "f2") == 1
    assert scalar(probe, half + Fraction(1, 2**80), "f2") == np.nextafter(np.float16(1), np.float16(2))
    if np.finfo(np.longdouble).nmant > 60:
        assert probe.take_float(1 + np.longdouble(2) ** -24 + np.longdouble(2) ** -60) == up


def scalar(probe: ModuleType, value: Any, name: str) -> Any:
    taken = probe.take_scalar(value, DTYPES[name])
    return None if taken is None else np.frombuffer(taken, name)[0]


@pytest.mark.parametrize("name", [name for name in DTYPES if name[0] != "f"])
def test_int_scalars(probe: ModuleType, name: str) -> None:
    info = np.iinfo(name)
    for value in (info.min, info.max, 1, np.int8(5), np.array(6)):
        assert scalar(probe, value, name) == int(value)
    for value in (info.min - 1, info.max + 1, 2**70, 9.0, np.float32(9), Decimal(9), Fraction(9), *NO_NUMBERS):
        assert scalar(probe, value, name) is None


@pytest.mark.parametrize("name", ["f2", "f4", "f8"])
def test_float_scalars(probe: ModuleType, name: str) -> None:
    biggest = int(np.finfo(name).max)
    for value in (0.1, -3, biggest, -biggest, np.float16(0.3), np.int32(7), Decimal("0.5"), Fraction(1, 4), -0.0):
        assert scalar(probe, value, name).tobytes() == np.dtype(name).type(float(value)).tobytes()
    for infinite in (math.inf, -math.inf, np.float16("-inf"), Decimal("inf")):
        assert scalar(probe, infinite, name) == infinite
    for nan in (math.nan, np.float32("nan"), Decimal("nan")):
        assert np.isnan(scalar(probe, nan, name))
    for other in (biggest * 2, -biggest * 2, Decimal("-1e400"), Fraction(-biggest * 2), *NO_NUMBERS):
        assert scalar(probe, other, name) is None
    if np.finfo(np.longdouble).maxexp > 1024:
        assert scalar(probe, np.longdouble(biggest) * 2, name) is None


def nearest(value: Fraction, name: str) -> Fraction | None:
    """Return the value rounded to nearest even in float16 or float32, by the definition; None: it overflows."""
    digits, least, limit = {"f2": (11, -24, 16), "f4": (24, -149, 128)}[name]
    if value == 0:
        return value
    exponent = max(math.floor(math.log2(abs(value))) - digits + 1, least)
    while abs(value) / Fraction(2) ** exponent >= 2**digits:
        exponent += 1
    while exponent > least and abs(value) / Fraction(2) ** exponent < 2 ** (digits - 1):
        exponent -= 1
    rounded = round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent
    return rounded if abs(rounded) < Fraction(2) ** limit else None


@settings(max_examples=examples(500), deadline=None)
@given(st.integers(-(2**70), 2**70), st.integers(-180, 140), st.integers(-3, 3), st.integers(11, 60))
def test_rounding(probe: ModuleType, number: int, exponent: int, beside: int, digits: int) -> None:
    # Ties and their neighbours, and any numbers.
    tie = Fraction((abs(number) >> (70 - min(digits, 25))) * 2 + 1) * Fraction(2) ** exponent
    for value in (Fraction(number) * Fraction(2) ** exponent, tie + Fraction(beside, 2**250)):
        for name in ("f2", "f4"):
            taken = scalar(probe, value, name)
            assert (None if taken is None else Fraction(float(taken))) == nearest(value, name)


def test_float16_from_every_double_near_a_tie(probe: ModuleType) -> None:
    for bits in range(0, 0x7C00, 37):
        low, high = np.array([bits, bits + 1], np.uint16).view(np.float16)
        middle = (float(low) + float(high)) / 2
        if math.isfinite(middle):
            for value in (middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf)):
                assert probe.take_scalar(value, DTYPES["f2"]) == struct.pack("=e", value)
