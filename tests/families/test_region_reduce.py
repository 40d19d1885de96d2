"""Properties of region_reduce: how coordinates are rounded, and which bins and values win."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from reference.region_reduce import roi_pooling, scaled
from strategies import Array

import dmlcy as dml


def pool(
    x: Any, roi: Sequence[float], pooled: tuple[int, int] = (1, 1), scale: float = 1.0, dtype: str = "f4"
) -> Array:
    """One region [x1, y1, x2, y2] of one plane."""
    result: Array = dml.roi_pooling(
        np.array(x, dtype)[None, None], np.array([[0, *roi]], dtype), spatial_scale=scale, pooled_size=pooled
    )
    plane: Array = result[0, 0]
    return plane


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_numbers_win_over_nan_and_plus_zero_over_minus_zero(dtype: str) -> None:
    def row(*values: float) -> float:
        for order in (values, values[::-1]):
            (result,) = pool([order], [0, 0, len(values) - 1, 0], dtype=dtype).ravel().tolist()
        return float(result)

    assert row(np.nan, 1) == 1
    assert row(np.nan, -np.inf, np.nan) == -np.inf
    assert np.isnan(row(np.nan, np.nan))
    assert np.isnan(row(*[np.nan] * 40))
    assert row(*[np.nan] * 40, -5) == -5
    for zeros in [(0.0, -0.0), (-0.0, 0.0), (-0.0, np.nan, 0.0), (-1, -0.0, 0.0)]:
        assert np.copysign(1, row(*zeros)) == 1, zeros
    assert np.copysign(1, row(-0.0, -0.0, -1)) == -1


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_ties_round_away_from_zero(dtype: str) -> None:
    ramp = [[*range(10)]]
    for coordinate, column in [(0.5, 1), (1.5, 2), (2.5, 3), (2.49, 2), (-0.49, 0)]:
        assert pool(ramp, [coordinate, 0, coordinate, 0], dtype=dtype).item() == column, coordinate
    # -0.5 is column -1, which is outside: two bins from -1 to 0 are an empty one and column 0.
    assert pool(np.array(ramp) + 1, [-0.5, 0, 0, 0], (1, 2), dtype=dtype).tolist() == [[0, 1]]
    below = float(np.nextafter(np.float32(0.5), np.float32(0)))
    assert pool(ramp, [below, 0, below, 0]).item() == 0  # floor(x + 0.5) would give 1
    assert pool(ramp, [4, 0, 4, 0], scale=0.625, dtype=dtype).item() == 3


def test_the_product_is_single_precision() -> None:
    ramp = np.arange(100).reshape(1, 100)
    for scale in (0.1, 0.3, 1 / 3, 0.7):
        for coordinate in np.arange(0, 40, 0.5):
            column = scaled(np.float32(coordinate), scale)
            assert pool(ramp, [coordinate, 0, coordinate, 0], scale=scale).item() == column, (scale, coordinate)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_regions_outside_give_zero(dtype: str) -> None:
    x = -np.ones((4, 5))
    for roi in [[5, 0, 9, 3], [-9, 0, -1, 3], [0, 4, 4, 9], [0, -9, 4, -1], [-9, -9, -5, -5], [90, 90, 99, 99]]:
        np.testing.assert_array_equal(pool(x, roi, (3, 2), dtype=dtype), 0)
    assert pool(x, [3, 0, 6, 0], (1, 4), dtype=dtype).tolist() == [[-1, -1, 0, 0]]
    assert pool(x, [-2, 0, 1, 0], (1, 4), dtype=dtype).tolist() == [[0, 0, -1, -1]]


def test_more_bins_than_elements() -> None:
    assert pool([[1, 2]], [0, 0, 1, 0], (1, 4)).tolist() == [[1, 1, 2, 2]]
    assert pool([[1, 2, 3]], [0, 0, 2, 0], (1, 2)).tolist() == [[2, 3]]


@pytest.mark.parametrize("scale", [1.0, 1e-3, 3.4e38])
@pytest.mark.parametrize("coordinate", [3e9, 2.0**31, 2.0**31 - 128, 1e30, 3.4028235e38])
def test_huge_coordinates_saturate(coordinate: float, scale: float) -> None:
    x = np.arange(1, 13).reshape(3, 4)
    for roi in (
        [-coordinate, -coordinate, coordinate, coordinate],
        [0, 0, coordinate, coordinate],
        [-coordinate, 0, -coordinate, 0],
        [coordinate, coordinate, coordinate, coordinate],
    ):
        for pooled in [(1, 1), (2, 3), (5, 5)]:
            expected = roi_pooling(
                x[None, None].astype("f4"), np.array([[0, *roi]], "f4"), spatial_scale=scale, pooled_size=pooled
            )[0, 0]
            np.testing.assert_array_equal(pool(x, roi, pooled, scale), expected)


def test_many_bins() -> None:
    x = np.arange(20).reshape(1, 20)
    roi = np.array([[0, -3.4e38, 0, 3.4e38, 0]], "f4")
    expected = roi_pooling(x[None, None].astype("f4"), roi, spatial_scale=1, pooled_size=(1, 5000))
    actual = dml.roi_pooling(x[None, None].astype("f4"), roi, spatial_scale=1, pooled_size=(1, 5000))
    np.testing.assert_array_equal(actual, expected)
