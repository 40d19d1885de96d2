"""AVERAGE_POOLING1 where its windows have gaps: its definition, any layout, and dilations beyond any input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_values, assert_within, check_everywhere
from hypothesis import given
from hypothesis import strategies as st
from strategies import Windows, any_bits, examples, half_and_single, seeds, small_integers, windows
from test_average_pooling import ULPS

import dmlcy as dml

dilated = st.integers(2, 3).flatmap(lambda spatial: windows(spatial, dilated=True))


def pooling(case: Windows, include_padding: bool) -> dict[str, Any]:
    return {**case.pooling, "dilations": case.dilations, "include_padding": include_padding}


@examples(60)
@given(dilated, half_and_single, st.booleans(), seeds)
def test_small_integers_are_exact(case: Windows, dtype: str, include: bool, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    average = reference.average_pooling1(x, **pooling(case, include))
    np.testing.assert_array_equal(dml.average_pooling1(x, **pooling(case, include)), average.rounded(dtype))


@examples(60)
@given(dilated, half_and_single, st.booleans(), seeds)
def test_accuracy(case: Windows, dtype: str, include: bool, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    attributes = pooling(case, include)
    bound = eval(ULPS[dtype], {"prod": np.prod, "min": min, "max": max, "window_size": case.window})
    assert_within(dml.average_pooling1(x, **attributes), reference.average_pooling1(x, **attributes), bound)


@examples(60)
@given(dilated, half_and_single, st.booleans(), seeds, st.data())
def test_any_layout(case: Windows, dtype: str, include: bool, seed: int, data: st.DataObject) -> None:
    x = any_bits(seed, case.sizes, dtype)
    check_everywhere(data, "average_pooling1", [x], pooling(case, include), assert_same_values)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize(("sizes", "window", "dilations", "padding"), [
    ((2, 3, 40, 2000), (3, 3), (2, 40), (2, 40)),
    ((1, 40, 30, 20), (3, 2), (9, 19), (0, 0)),
    ((1, 2, 9, 5000), (2, 9), (8, 600), (0, 0)),
    ((3, 2, 8, 7), (2, 9), (30, 7), (15, 28)),
    ((1, 1, 70000, 3), (8, 1), (9999, 1), (0, 0)),
    ((1, 2, 5, 9000), (2, 3), (1, 4001), (0, 2500)),  # gaps beyond a block
    ((2, 2, 4, 5, 6), (2, 2, 3), (3, 4, 2), (1, 0, 2)),
    ((1, 3, 19, 60), (3, 3), (2, 1), (2, 1)),  # strides of the dilation
])  # fmt: skip
def test_larger_tensors(sizes: Any, window: Any, dilations: Any, padding: Any, dtype: str) -> None:
    x = small_integers(3, sizes, dtype, 9)
    plain = {"window_size": window, "dilations": dilations, "start_padding": padding, "end_padding": padding}
    whole = plain | {"strides": (2,) * len(window), "include_padding": False}
    expected = reference.average_pooling1(x, **whole).rounded(dtype)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    for source in (x, last, np.asfortranarray(x)):
        np.testing.assert_array_equal(dml.average_pooling1(source, **whole), expected)


@pytest.mark.parametrize("dilation", [20, 70, 1000, 1024, 1025, 1500])
@pytest.mark.parametrize("window", [3, 5, 9])
def test_gaps_of_any_size_give_the_same_bits_in_any_layout(dilation: int, window: int) -> None:
    sizes = (1, 64, 2, dilation * (window - 1) + 41)
    x = np.random.default_rng(window).standard_normal(sizes).astype(np.float32)
    attributes = {"window_size": (1, window), "dilations": (1, dilation)}
    expected = dml.average_pooling1(x, **attributes)
    for source in (np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1), np.asfortranarray(x)):
        np.testing.assert_array_equal(dml.average_pooling1(source, **attributes), expected)


def test_a_dilation_beyond_the_input_costs_no_memory() -> None:
    """Of each window one element at most is inside; -0 stays what it is in every layout."""
    x = np.array([-0.0, 1.0, 2.0, -3.0, 4.0, -5.0], np.float32).reshape(1, 1, 2, 3)
    far = 2**32 - 1
    attributes = {"window_size": 2, "dilations": far, "start_padding": far, "end_padding": far, "strides": far}
    expected = dml.average_pooling1(x, **attributes)
    assert expected.shape == (1, 1, 2, 2) and (expected == x[0, 0, 0, 0]).all()
    assert expected.view("u4").tobytes() == dml.average_pooling1(np.asfortranarray(x), **attributes).tobytes()
    attributes = {"window_size": (1, 3), "dilations": (1, 3), "start_padding": (0, 3), "end_padding": (0, 3)}
    np.testing.assert_array_equal(dml.average_pooling1(x, **attributes), x)
