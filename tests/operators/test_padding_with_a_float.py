"""PADDING where it differs from PADDING1: its value is a FLOAT, truncated for integers, of any size for floats."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from hypothesis import given
from hypothesis import strategies as st
from reference.pad import padding
from strategies import DTYPES, MODES, Padding, any_bits, dtypes, examples, paddings, seeds

import dmlcy as dml

INTEGERS = [dtype for dtype in DTYPES if dtype[0] in "iu"]
ENDS = ("no-integer", "too-large", "too-small", "overflows")
singles = st.floats(width=32) | st.sampled_from([10.6, -10.6, -0.5, 127.9, 255.5, -128.9, 2.0**31, 2.0**63, 65519.0])


def padded(case: Padding, mode: str, value: float) -> dict[str, Any]:
    return {"start_padding": case.start, "end_padding": case.end, "padding_mode": mode, "padding_value": value}


def holds(dtype: str, value: float) -> bool:
    """Whether a single, truncated for integers, is a number of the data type."""
    if dtype[0] == "f":
        return dtype != "f2" or not math.isfinite(value) or abs(value) < 65520
    return math.isfinite(value) and np.iinfo(dtype).min <= math.trunc(Fraction(value)) <= np.iinfo(dtype).max


@examples(60)
@given(paddings(budget=400), st.sampled_from(MODES), dtypes, singles, seeds)
def test_the_definition_or_a_refusal(case: Padding, mode: str, dtype: str, value: float, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    value = float(np.float32(value))
    attributes = padded(case, mode, value)
    if mode != "CONSTANT" or holds(dtype, value):
        assert_same_bits(dml.padding(x, **attributes), padding(x, **attributes))
        return
    out = np.ones([n + a + b for n, a, b in zip(case.sizes, case.start, case.end, strict=True)], dtype)
    with pytest.raises(dml.InvalidDescError, match="padding_value") as caught:
        dml.padding(x, **attributes, out=out)
    assert caught.value.id.removeprefix("DML-PADDING-padding_value-") in ENDS
    assert (out == 1).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_ends_of_integers(dtype: str) -> None:
    """Every single beside an end is taken or refused as it should be."""
    x = np.zeros(1, dtype)
    limits = np.iinfo(dtype)
    for end in (limits.min - 1, limits.min, limits.max, limits.max + 1, 0, -1):
        value = np.float32(end)
        for single in (np.nextafter(value, np.float32(-np.inf)), value, np.nextafter(value, np.float32(np.inf))):
            if holds(dtype, float(single)):
                expected = math.trunc(Fraction(float(single)))
                assert dml.padding(x, start_padding=1, end_padding=0, padding_value=float(single))[0] == expected
            else:
                with pytest.raises(dml.InvalidDescError):
                    dml.padding(x, start_padding=1, end_padding=0, padding_value=float(single))


def test_what_a_refusal_says_is_so() -> None:
    """The hint names what becomes of values with a fraction."""
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.padding(np.zeros(1, "u1"), start_padding=1, end_padding=0, padding_value=256)
    hint = caught.value.hint
    becomes = re.findall(r"(-?[\d.]+\d) becomes (\d+)", hint)
    assert becomes
    for value, whole in becomes:
        padded = dml.padding(np.zeros(1, "u1"), start_padding=1, end_padding=0, padding_value=float(value))
        assert padded[0] == int(whole)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_infinities_and_nan(value: float) -> None:
    for dtype in ("f2", "f4", "f8"):
        found = dml.padding(np.ones(1, dtype), start_padding=1, end_padding=0, padding_value=value)
        np.testing.assert_array_equal(found, [value, 1])
    for dtype in INTEGERS:
        with pytest.raises(dml.InvalidDescError, match=r"\[DML-PADDING-padding_value-no-integer\]"):
            dml.padding(np.ones(1, dtype), start_padding=1, end_padding=0, padding_value=value)
    for beyond in (1e39, -(10**400)):
        with pytest.raises(dml.InvalidDescError, match=r"\[DML-PADDING-padding_value-finite\]"):
            dml.padding(np.ones(1, np.float64), start_padding=1, end_padding=0, padding_value=beyond)


@pytest.mark.parametrize(("dtype", "value", "message"), [
    ("u1", 300, "padding_value = 300.0 must be < pow(2.0, bits) = 256.0, where bits = 8."),
    ("i4", 1e10, "padding_value = 10000000000.0 must be < pow(2.0, bits) = 2147483648.0, where bits = 31."),
    ("i1", -129, "-floor(-padding_value) = -129 must be >= -signs * pow(2.0, bits) = -128.0, where "),
    ("f2", 1e6, "The largest number of FLOAT16 is 65504"),
])  # fmt: skip
def test_the_message_says_what_the_data_type_holds(dtype: str, value: float, message: str) -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.padding(np.ones(2, dtype), start_padding=1, end_padding=0, padding_value=value)
    assert message in str(raised.value)


def test_a_value_is_rounded_to_a_float_for_every_data_type() -> None:
    assert dml.padding(np.ones(1), start_padding=1, end_padding=0, padding_value=0.1)[0] == 0.10000000149011612
    whole = np.ones(1, np.int32)
    assert dml.padding(whole, start_padding=1, end_padding=0, padding_value=16777217)[0] == 16777216
    assert dml.padding1(whole, start_padding=1, end_padding=0, padding_value=16777217)[0] == 16777217
