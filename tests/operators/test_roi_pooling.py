"""ROI_POOLING against its definition and ONNX Runtime."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, assert_same_values, check_everywhere, onnx_run
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, examples, half_and_single, regions, seeds, small_integers, specials

import dmlcy as dml


@dataclass(frozen=True)
class Case:
    sizes: tuple[int, int, int, int]
    dtype: str
    roi: Array
    spatial_scale: float
    pooled_size: tuple[int, int]

    @property
    def attributes(self) -> dict[str, Any]:
        return {"spatial_scale": self.spatial_scale, "pooled_size": self.pooled_size}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dtype = draw(half_and_single)
    batch, channels = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    height, width = draw(st.integers(1, 12)), draw(st.integers(1, 20))
    scale = draw(st.sampled_from([1.0, 1 / 16, 0.5, 2.0, 0.3, 1e-3, 3e38]))
    roi = draw(regions(batch, height, width, scale, dtype))
    pooled = draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    return Case((batch, channels, height, width), dtype, roi, scale, pooled)


def feature_map(seed: int, case: Case) -> Array:
    """Numbers, zeros of both signs, infinities, NaN with payloads; few different ones, so that maxima tie."""
    x = small_integers(seed, case.sizes, case.dtype, most=3)
    rng = np.random.default_rng(seed)
    chosen = rng.random(case.sizes) < rng.choice([0, 0.3, 0.9])
    x[chosen] = rng.choice(specials(case.dtype), int(chosen.sum()))
    return x


@examples(150)
@given(cases(), seeds)
def test_the_definition(case: Case, seed: int) -> None:
    x = feature_map(seed, case)
    actual = dml.roi_pooling(x, case.roi, **case.attributes)
    assert_same_values(actual, reference.roi_pooling(x, case.roi, **case.attributes))


@examples(80)
@given(cases(), seeds, st.data())
def test_any_layout(case: Case, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, "roi_pooling", [feature_map(seed, case), case.roi[None, None]], case.attributes)


@examples(60)
@given(cases(), seeds)
def test_regions_one_by_one(case: Case, seed: int) -> None:
    x = feature_map(seed, case)
    result = dml.roi_pooling(x, case.roi, **case.attributes)
    rows = [dml.roi_pooling(x, row[None], **case.attributes) for row in case.roi]
    assert_same_bits(result, np.concatenate(rows))
    assert_same_bits(dml.roi_pooling(x, case.roi[None, None], **case.attributes), result)
    for channel in range(x.shape[1]):
        apart = dml.roi_pooling(x[:, channel : channel + 1], case.roi, **case.attributes)
        assert_same_bits(np.ascontiguousarray(result[:, channel : channel + 1]), apart)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize(
    ("sizes", "pooled"), [((2, 3, 70, 300), (7, 7)), ((1, 2, 5, 2000), (2, 3)), ((1, 40, 33, 65), (3, 40))]
)
def test_larger_tensors(sizes: tuple[int, ...], pooled: tuple[int, int], dtype: str) -> None:
    x = small_integers(8, sizes, dtype, most=2000)
    batch, _, height, width = sizes
    corners = [(0, 0, width, height), (-5, 3, width - 9, height + 4), (3, 1, 90, 4), (width - 1, 0, width - 1, height)]
    roi = np.array([(r % batch, *corner) for r, corner in enumerate(corners)], dtype)
    expected = reference.roi_pooling(x, roi, spatial_scale=1, pooled_size=pooled)
    out = np.empty(expected.shape, dtype, "F")
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    for source in (x, last, x[..., ::-1].copy()[..., ::-1]):
        assert_same_bits(dml.roi_pooling(source, roi, spatial_scale=1.0, pooled_size=pooled), expected)
        assert_same_bits(dml.roi_pooling(source, roi, spatial_scale=1.0, pooled_size=pooled, out=out), expected)


# What the loops tell apart: columns and channels in blocks of 8, rows of few columns, bins wider than 256 columns, more
# than 64 bins, layouts.
SIZES = [(1, 8, 9, 8), (2, 8, 5, 7), (2, 9, 6, 33), (1, 16, 40, 9), (1, 17, 20, 300), (1, 3, 4, 700), (3, 1, 12, 16)]
GRIDS = [(7, 7), (1, 1), (3, 20), (70, 2), (2, 70), (1, 7), (8, 8), (4, 2)]


def corners(sizes: tuple[int, ...], dtype: str) -> Array:
    """Regions inside, as wide as the input, beyond it, of one column, of one row, narrow at the end, and outside."""
    batch, _, height, width = sizes
    rows = [
        (0, 0, width - 1, height - 1),
        (1, 1, width // 2, height - 2),
        (-5, -3, width + 9, height + 4),
        (width - 1, 0, width - 1, height - 1),
        (0, height - 1, width - 1, height - 1),
        (width - 3, 2, width - 1, height // 2),
        (width, 0, width + 5, height),
        (-9, 0, 3, height + 20),
        (3, 0, 11, 3),
    ]
    return np.array([(r % batch, *row) for r, row in enumerate(rows)], dtype)


def in_layouts(x: Array) -> Iterator[Array]:
    """The same elements, contiguous, channels last, spread out and backwards."""
    yield x
    for axis in (1, 2):
        last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, axis, -1)), -1, axis)
        yield last
        yield last[..., ::-1].copy("K")[..., ::-1]
    spread = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    spread[..., ::2] = x
    yield spread[..., ::2]
    for axis in range(4):
        yield np.flip(np.flip(x, axis).copy(), axis)


def results(dtype: str) -> Iterator[tuple[Array, Array, tuple[int, int], Array]]:
    """Input, regions, grid and result of every combination."""
    for seed, sizes in enumerate(SIZES):
        roi = corners(sizes, dtype)
        x = small_integers(seed, sizes, dtype, most=2000)
        rng = np.random.default_rng(seed)
        for part in (0.02, 0.9):
            chosen = rng.random(sizes) < part
            x[chosen] = rng.choice(specials(dtype), int(chosen.sum()))
            for grid in GRIDS:
                yield x, roi, grid, dml.roi_pooling(x, roi, spatial_scale=1.0, pooled_size=grid)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_every_path_follows_the_definition(dtype: str) -> None:
    for x, roi, grid, actual in results(dtype):
        assert_same_values(actual, reference.roi_pooling(x, roi, spatial_scale=1, pooled_size=grid))


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_every_path_in_any_layout(dtype: str) -> None:
    for x, roi, grid, expected in results(dtype):
        for source in in_layouts(x):
            assert_same_bits(dml.roi_pooling(source, roi, spatial_scale=1.0, pooled_size=grid), expected)
        for out in in_layouts(np.full_like(expected, 77)):
            assert_same_bits(dml.roi_pooling(x, roi, spatial_scale=1.0, pooled_size=grid, out=out), expected)


def digest() -> str:
    """Of all bits of all results, the layouts read in each way."""
    found = hashlib.sha256()
    for dtype in ("f4", "f2"):
        for x, roi, grid, result in results(dtype):
            found.update(result.tobytes())
            for source in in_layouts(x):
                found.update(dml.roi_pooling(source, roi, spatial_scale=1.0, pooled_size=grid).tobytes())
    return found.hexdigest()


def test_the_same_bits_without_wide_instructions(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", "import test_roi_pooling; print(test_roi_pooling.digest())"],
        env=os.environ | {"DMLCY_ISA": "baseline", "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [digest()], done.stderr


# The interpretations


def pool(x: Any, roi: list[float], pooled: tuple[int, int] = (1, 1), scale: float = 1.0, dtype: str = "f4") -> Array:
    """One region [x1, y1, x2, y2] of one plane."""
    result: Array = dml.roi_pooling(
        np.array(x, dtype)[None, None], np.array([[0, *roi]], dtype), spatial_scale=scale, pooled_size=pooled
    )
    return result[0, 0]


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
            column = reference.scaled(np.float32(coordinate), scale)
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
            expected = reference.roi_pooling(
                x[None, None].astype("f4"), np.array([[0, *roi]], "f4"), spatial_scale=scale, pooled_size=pooled
            )[0, 0]
            np.testing.assert_array_equal(pool(x, roi, pooled, scale), expected)


def test_many_bins() -> None:
    x = np.arange(20).reshape(1, 20)
    roi = np.array([[0, -3.4e38, 0, 3.4e38, 0]], "f4")
    expected = reference.roi_pooling(x[None, None].astype("f4"), roi, spatial_scale=1, pooled_size=(1, 5000))
    actual = dml.roi_pooling(x[None, None].astype("f4"), roi, spatial_scale=1, pooled_size=(1, 5000))
    np.testing.assert_array_equal(actual, expected)


REFUSED = {
    "batch beyond": ([2, 0, 0, 1, 1], "batch"),
    "batch negative": ([-1, 0, 0, 1, 1], "batch"),
    "batch fractional": ([0.5, 0, 0, 1, 1], "batch"),
    "nan": ([0, np.nan, 0, 1, 1], "finite"),
    "infinite": ([0, 0, 0, np.inf, 1], "finite"),
    "nan batch": ([np.nan, 0, 0, 1, 1], "finite"),
    "x": ([0, 2, 0, 1, 1], "ordered"),
    "y": ([0, 0, 2, 1, 1], "ordered"),
}


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize(("row", "rule"), REFUSED.values(), ids=REFUSED)
def test_wrong_regions_are_refused_before_anything_is_written(row: list[float], rule: str, dtype: str) -> None:
    x = np.ones((2, 1, 4, 4), dtype)
    roi = np.array([[1, 0, 0, 1, 1], row, [0, 0, 0, 1, 1]], dtype)
    out = np.full((3, 1, 2, 2), 77, dtype)
    with pytest.raises(dml.InvalidDataError) as caught:
        dml.roi_pooling(x, roi, spatial_scale=1.0, pooled_size=(2, 2), out=out)
    assert caught.value.id == f"DML-ROI_POOLING-roi-{rule}"
    np.testing.assert_array_equal(out, 77)


# Other libraries


@examples(60)
@given(st.integers(1, 3), st.integers(1, 9), st.integers(1, 9), st.data(), seeds)
def test_onnx_runtime(batch: int, height: int, width: int, data: st.DataObject, seed: int) -> None:
    x = small_integers(seed, (batch, 2, height, width), "f4", most=1000)
    scale = data.draw(st.sampled_from([1.0, 0.5, 0.25]))
    coordinates = st.integers(-20, 60).map(lambda k: k / 2)
    rows = []
    for _ in range(data.draw(st.integers(1, 4))):
        x1, x2 = sorted(data.draw(st.tuples(coordinates, coordinates)))
        y1, y2 = sorted(data.draw(st.tuples(coordinates, coordinates)))
        rows.append([data.draw(st.integers(0, batch - 1)), x1, y1, x2, y2])
    roi = np.array(rows, "f4")
    # ONNX Runtime divides in float32, which is exact for powers of two.
    pooled = data.draw(st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4])))
    expected = onnx_run("MaxRoiPool", 1, [x, roi], pooled_shape=pooled, spatial_scale=scale)
    reference_result = reference.roi_pooling(x, roi, spatial_scale=scale, pooled_size=pooled)
    np.testing.assert_array_equal(reference_result, expected)
    np.testing.assert_array_equal(dml.roi_pooling(x, roi, spatial_scale=scale, pooled_size=pooled), expected)
