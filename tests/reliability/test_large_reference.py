"""Long axes of the reference, along which slices are not independent: places beyond 2^31, counts and sums of all."""

from __future__ import annotations

import numpy as np
import pytest
from test_large import check, filled, need

import dmlcy as dml

pytestmark = pytest.mark.slow

LONG = 2**31 + 1_000_003


def test_joined_tensors_are_split_again() -> None:
    """The second tensor begins before 2^31 elements, and ends behind them."""
    first, second = (np.broadcast_to(filled((2**11,), "u1"), (2**20 - 5, 2**11))[: 2**20 - n] for n in (5, 9))
    need((2 * (first.size + second.size), "u1"))
    whole = dml.join([first, second], axis=0)
    assert whole.size < 2**32 and whole.size > 2**31
    check(whole, lambda at: filled((2**11,), "u1")[at[1]])
    parts = dml.split(whole, output_sizes=(first.shape, second.shape), axis=0)
    assert [part.shape for part in parts] == [first.shape, second.shape]
    check(parts[1], lambda at: filled((2**11,), "u1")[at[1]])


def test_indices_beyond_an_int() -> None:
    need((LONG, "u1"))
    x = filled((LONG,), "u1")
    places = np.array([0, 1, 2**31 - 1, 2**31, 2**31 + 1, LONG - 1, 5], np.uint32)
    assert dml.gather(x, places, axis=0, index_dimensions=1).tolist() == x[places.astype(int)].tolist()
    assert dml.gather_elements(x, places.astype(np.int64) - LONG, axis=0).tolist() == x[places.astype(int)].tolist()


def test_the_place_of_the_greatest_is_beyond_an_int() -> None:
    need((LONG, "u1"))
    x = filled((LONG,), "u1")
    x[2**31 + 7] = x[2**31 + 70] = 200
    assert dml.argmax(x, axes=[0]).item() == 2**31 + 7
    assert dml.argmax(x, axes=[0], axis_direction="DECREASING").item() == 2**31 + 70
    values, indices = dml.top_k1(x, axis=0, k=3, axis_direction="DECREASING")
    assert values.tolist()[:2] == [200, 200] and indices.tolist()[:2] == [2**31 + 7, 2**31 + 70]


def test_the_coordinates_of_elements_beyond_an_int() -> None:
    need((LONG, "u1"), (LONG, "u4"))
    x = np.zeros(LONG, np.uint8)
    places = [0, 2**31 - 1, 2**31, LONG - 1]
    x[places] = 1
    count, coordinates = dml.nonzero_coordinates(x)
    assert count.item() == 4 and coordinates[:4, 0].tolist() == places


def test_sums_of_more_elements_than_an_int_has() -> None:
    """Of ones: a sum in FLOAT32, or a count in an int32, would end at 2^24 or 2^31."""
    x = np.broadcast_to(np.ones(1, np.uint32), (2**16, 2**15 + 3))
    assert dml.reduce(x, axes=[0, 1], function="SUM").item() == x.size > 2**31
    large = np.broadcast_to(np.ones(1, np.float32), x.shape)
    assert dml.reduce(large, axes=[0, 1], function="SUM").item() == np.float32(x.size)
    assert dml.reduce(large, axes=[0, 1], function="AVERAGE").item() == 1


def test_a_sum_goes_on_beyond_an_int() -> None:
    need((LONG, "u4"))
    found = dml.cumulative_summation(np.broadcast_to(np.ones(1, np.uint32), (LONG,)), axis=0)
    check(found, lambda at: (at[0] + 1).astype(np.uint32))


def test_numbers_of_elements_beyond_an_int() -> None:
    need((LONG, "u1"))
    found = dml.fill_value_sequence(
        output_sizes=(LONG,), output_dtype="UINT8", value_start=3, value_delta=1,
    )  # fmt: skip
    check(found, lambda at: ((at[0] + 3) % 256).astype(np.uint8))


def test_attention_beyond_an_int() -> None:
    """One key: its value is the result of each query."""
    rows, columns = 2**15 + 1, 2**16
    need((2 * rows * columns, "f2"))
    value = filled((1, 1, columns), "f2")
    query = np.broadcast_to(filled((1, 1, columns), "f2"), (1, rows, columns))
    key = np.zeros((1, 1, columns), np.float16)
    found = dml.multihead_attention(query, key, value, scale=1.0, head_count=16)
    assert found.size > 2**31
    check(found, lambda at: value[0, 0, at[2]])
