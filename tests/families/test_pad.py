"""Properties of pad: every way to copy and to fill few bytes, and the value of the older version, which is a FLOAT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from reference.pad import padding1
from strategies import MODES, any_bits

import dmlcy as dml


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("dtype", "most"), [("u1", 150), ("u2", 80), ("f4", 40), ("f8", 20)])
def test_rows_of_every_length(dtype: str, most: int, mode: str) -> None:
    """Every way to copy and to fill few bytes; steps that have loops of their own, and others."""
    for n in range(1, most):
        attributes: dict[str, Any] = {
            "start_padding": (1, n % 7),
            "end_padding": (2, n % 5),
            "padding_mode": mode,
            "padding_value": 9,
        }
        x = any_bits(n, (3, n), dtype)
        expected = padding1(x, **attributes)
        room = np.zeros(expected.size + 70, dtype)
        for step in (1, 2, 3, -1, -2):
            source = np.zeros((3, abs(step) * n + 5), dtype)[:, n % 5 :][:, :: abs(step)][:, :n][:, :: np.sign(step)]
            source[...] = x
            out = room[n % 64 :][: expected.size].reshape(expected.shape)
            assert_same_bits(dml.padding1(source, **attributes, out=out), expected)
            assert not room[: n % 64].any()
            assert not room[n % 64 + expected.size :].any()


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_wide_integers_are_exact(dtype: str) -> None:
    for value in (np.iinfo(dtype).max, np.iinfo(dtype).max - 1, 2**53 + 1, np.iinfo(dtype).min):
        result = dml.padding1(np.ones(1, dtype), start_padding=1, end_padding=0, padding_value=int(value))
        assert result.tolist() == [int(value), 1]


def test_half_values_are_rounded_once() -> None:
    x = np.zeros(1, np.float16)
    tie = 1 + 2.0**-11
    for value, expected in [(tie, 1), (tie + 2.0**-40, 1 + 2.0**-10), (3 * tie, 3), (65519.99, 65504), (2.0**-25, 0)]:
        result = dml.padding1(x, start_padding=1, end_padding=0, padding_value=value)
        assert result[0] == np.float16(value), value
        if expected != 3:
            assert result[0] == expected, value


def test_an_int_pads_every_axis_and_the_mode_is_spelled_in_three_ways() -> None:
    x = np.arange(6).reshape(2, 3)
    expected = np.pad(x, ((1, 2), (1, 2)), "reflect")
    for mode in (dml.PaddingMode.REFLECTION, "REFLECTION", "DML_PADDING_MODE_REFLECTION"):
        assert_same_bits(dml.padding1(x, start_padding=1, end_padding=2, padding_mode=mode), expected)


@pytest.mark.parametrize(("dtype", "value", "hint"), [
    ("i4", 1e10, "The data type holds -2147483648 to 2147483647."),
    ("i4", np.nan, "The data type holds -2147483648 to 2147483647."),
    ("u1", -1, "The data type holds 0 to 255."),
    ("i4", 2.5, "Pass an int."),
    ("i4", 2.0, "Write 2, not 2.0."),
    ("i8", 2.0**60, "Pass an int."),
    ("f2", 1e6, "The largest number is 65504, and inf is allowed."),
    ("f4", 1e60, "The largest number is 3.40282347e+38, and inf is allowed."),
])  # fmt: skip
def test_the_remedy_is_what_the_data_type_holds(dtype: str, value: float, hint: str) -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.padding1(np.ones(2, dtype), start_padding=1, end_padding=0, padding_value=value)
    assert raised.value.violations[0].hint == hint
