"""Tensors beyond 2^31 elements and 2^32 bytes, against NumPy at both ends, around the borders and at random places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dmlcy as dml
from dmlcy._runtime.places import indices_of

pytestmark = pytest.mark.slow

Array = npt.NDArray[Any]
Indices = tuple[Array, ...]

MOST_ELEMENTS = 2**32 - 1
BORDERS = (2**29, 2**30, 2**31, 2**32 - 1)  # 2^32 bytes of 8, 4, 2 and 1 bytes per element
NEAR, RANDOM = 300, 20_000
PERIOD = 1_000_003  # a prime: elements that lie a power of two apart differ


def free_bytes() -> int:
    """Memory that may be used without pushing out anything; as much as needed where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 2**62
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def need(*arrays: tuple[int, str]) -> None:
    """Skip where there is no memory for so many elements of each data type."""
    needed = sum(count * np.dtype(dtype).itemsize for count, dtype in arrays) + 2**29
    if free_bytes() < needed:
        pytest.skip(f"needs {needed / 1e9:.1f} GB of free memory")


def filled(shape: tuple[int, ...], dtype: str) -> Array:
    """Small whole numbers that do not repeat at powers of two."""
    pattern = np.random.default_rng(1).integers(0, 128, PERIOD).astype(dtype)
    x: Array = np.empty(shape, dtype)
    flat = x.reshape(-1)
    whole = flat.size // PERIOD * PERIOD
    flat[:whole].reshape(-1, PERIOD)[:] = pattern
    flat[whole:] = pattern[: flat.size - whole]
    return x


def places(size: int) -> Iterator[Array]:
    """Positions of a flat tensor: both ends, around the borders, random ones."""
    for border in (0, *BORDERS, size):
        near = np.arange(max(border - NEAR, 0), min(border + NEAR, size))
        if near.size:
            yield near
    yield np.random.default_rng(2).integers(0, size, RANDOM)


def check(result: Array, expected: Callable[[Indices], Array]) -> None:
    """Compare at the places, which `expected` gets as indices of each axis."""
    for flat in places(result.size):
        at = indices_of(flat, result.shape)
        np.testing.assert_array_equal(result[at], expected(at))


def beyond(result: Array, elements: int = 0, nbytes: int = 0) -> None:
    assert result.size > elements and result.nbytes > nbytes


# The expected results of each operator at some indices.


def padded(x: Array, mode: str, start: Sequence[int], fill: Any = 0) -> Callable[[Indices], Array]:
    def expected(at: Indices) -> Array:
        known = np.ones(at[0].shape, bool)
        source = []
        for index, n, before in zip(at, x.shape, start, strict=True):
            p = index - before
            if mode == "CONSTANT":
                known &= (p >= 0) & (p < n)
            elif mode == "REFLECTION":
                p = np.abs(p)
                p = np.where(p >= n, 2 * (n - 1) - p, p)
            elif mode == "SYMMETRIC":
                p = np.where(p < 0, -1 - p, p)
                p = np.where(p >= n, 2 * n - 1 - p, p)
            elif mode == "WRAP":
                p = p % n
            source.append(np.clip(p, 0, n - 1))
        return np.where(known, x[tuple(source)], np.asarray(fill, x.dtype))

    return expected


def rearranged(x: Array, block: int, order: str) -> Callable[[Indices], Array]:
    channels = x.shape[1] // block**2

    def expected(at: Indices) -> Array:
        n, c, h, w = at
        place = h % block * block + w % block
        source = place * channels + c if order == "DEPTH_COLUMN_ROW" else c * block**2 + place
        return np.asarray(x[n, source, h // block, w // block])

    return expected


def windows(x: Array, index: Sequence[Array], window: Sequence[int], stride: int, start: int) -> Iterator[Array]:
    """The elements of each tap, zeros outside; ``index``: batch, channel, then the window's along each axis."""
    for tap in itertools.product(*map(range, window)):
        source, known = [index[0], index[1]], np.ones(index[0].shape, bool)
        for position, t, n in zip(index[2:], tap, x.shape[2:], strict=True):
            p = position * stride + t - start
            known &= (p >= 0) & (p < n)
            source.append(np.clip(p, 0, n - 1))
        yield np.where(known, x[tuple(source)], np.asarray(0, x.dtype))


def unfolded(x: Array, window: Sequence[int], blocks: Sequence[int], stride: int, start: int) -> Callable[..., Array]:
    def expected(at: Indices) -> Array:
        n, row, column = at
        volume = math.prod(window)
        taps = np.stack(list(windows(x, [n, row // volume, *indices_of(column, blocks)], window, stride, start)))
        return np.asarray(np.take_along_axis(taps, (row % volume)[None], 0)[0])

    return expected


def averaged(x: Array, window: Sequence[int], stride: int, start: int) -> Callable[[Indices], Array]:
    """Padding counts; sums of small whole numbers are exact."""

    def expected(at: Indices) -> Array:
        total = sum(tap.astype(np.float32) for tap in windows(x, at, window, stride, start))
        return np.asarray(total / np.float32(math.prod(window))).astype(x.dtype)

    return expected


# PADDING1

MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")


@pytest.mark.parametrize("mode", MODES)
def test_padding_of_a_plane(mode: Any) -> None:
    shape = (46_341, 46_349)
    need((2 * math.prod(shape), "u1"))
    x = filled(shape, "u1")
    y = dml.padding1(x, start_padding=(2, 1), end_padding=(1, 3), padding_mode=mode, padding_value=7)
    beyond(x, 2**31)
    check(y, padded(x, mode, (2, 1), 7))


@pytest.mark.parametrize("mode", MODES)
def test_padding_of_a_row(mode: Any) -> None:
    n = 2**31 + 1_000_000
    need((2 * n, "u1"))
    x = filled((n,), "u1")
    y = dml.padding1(x, start_padding=500, end_padding=700, padding_mode=mode, padding_value=7)
    check(y, padded(x, mode, (500,), 7))


@pytest.mark.parametrize("layout", ["reversed", "columns first"])
def test_padding_of_other_layouts(layout: str) -> None:
    shape = (46_341, 46_349)
    need((2 * math.prod(shape), "u1"))
    x = filled(shape, "u1")
    x = x[::-1, ::-1] if layout == "reversed" else x.T
    y = dml.padding1(x, start_padding=1, end_padding=1, padding_mode="REFLECTION")
    check(y, padded(x, "REFLECTION", (1, 1)))


@pytest.mark.parametrize("mode", MODES)
def test_padding_to_the_most_elements(mode: Any) -> None:
    need((MOST_ELEMENTS, "u1"))
    x = np.broadcast_to(filled((65_532,), "u1"), (65_533, 65_532))
    y = dml.padding1(x, start_padding=(1, 3), end_padding=(1, 2), padding_mode=mode, padding_value=7)
    assert y.size == MOST_ELEMENTS
    check(y, padded(x, mode, (1, 3), 7))


@pytest.mark.parametrize(("dtype", "rows"), [("f2", 30_000), ("u2", 30_000), ("f4", 15_000), ("u8", 8_000)])
def test_padding_beyond_bytes(dtype: str, rows: int) -> None:
    shape = (4, rows, 20_000)
    need((math.prod(shape) + 2**24, dtype))
    x = np.broadcast_to(filled((20_000,), dtype), shape)
    y = dml.padding1(x, start_padding=(0, 1, 2), end_padding=(1, 1, 3), padding_mode="WRAP")
    beyond(y, nbytes=2**32)
    check(y, padded(x, "WRAP", (0, 1, 2)))


def test_padding_from_and_to_many_bytes() -> None:
    shape = (3, 19_000, 19_500)
    need((2 * math.prod(shape), "f4"))
    x = filled(shape, "f4")
    y = np.empty((3, 19_002, 19_503), "f4")
    beyond(x, nbytes=2**32)
    for mode in ("CONSTANT", "SYMMETRIC"):
        assert dml.padding1(x, start_padding=(0, 1, 2), end_padding=(0, 1, 1), padding_mode=mode, out=y) is y
        check(y, padded(x, mode, (0, 1, 2)))


def test_padding_beyond_elements_of_four_bytes() -> None:
    need((2**31 + 2**26, "f4"))
    x = np.broadcast_to(filled((46_000,), "f4"), (47_000, 46_000))
    y = dml.padding1(x, start_padding=4, end_padding=5, padding_mode="SYMMETRIC")
    beyond(y, 2**31, 2**32)
    check(y, padded(x, "SYMMETRIC", (4, 4)))


# DEPTH_TO_SPACE1

ORDERS = ("DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("block", "side"), [(2, 16_387), (3, 10_925), (4, 8_195)])
def test_depth_to_space(order: Any, block: int, side: int) -> None:
    shape = (1, 2 * block**2, side, side + 10)
    need((2 * math.prod(shape), "u1"))
    x = filled(shape, "u1")
    y = dml.depth_to_space1(x, block_size=block, order=order)
    beyond(y, 2**31)
    check(y, rearranged(x, block, order))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("dtype", "width"), [("u2", 16_500), ("f4", 8_300), ("f8", 4_150)])
def test_depth_to_space_of_many_bytes(order: Any, dtype: str, width: int) -> None:
    shape = (1, 8, 16_400, width)
    need((2 * math.prod(shape), dtype))
    x = filled(shape, dtype)
    y = dml.depth_to_space1(x, block_size=2, order=order)
    beyond(y, nbytes=2**32)
    check(y, rearranged(x, 2, order))


def test_depth_to_space_of_other_layouts() -> None:
    shape = (1, 16_500, 16_400, 8)
    need((2 * math.prod(shape), "u1"))
    x = filled(shape, "u1").transpose(0, 3, 1, 2)  # channels last
    check(dml.depth_to_space1(x, block_size=2), rearranged(x, 2, ORDERS[0]))
    x = filled((1, 8, 16_500, 16_400), "u1")[:, ::-1, ::-1, ::-1]
    check(dml.depth_to_space1(x, block_size=2), rearranged(x, 2, ORDERS[0]))


def test_depth_to_space_of_the_most_elements() -> None:
    need((MOST_ELEMENTS, "u1"))
    image = np.broadcast_to(filled((1, 9, 1, 21_845), "u1"), (1, 9, 21_845, 21_845))
    y = dml.depth_to_space1(image, block_size=3)
    assert y.size > MOST_ELEMENTS - 500_000
    check(y, rearranged(image, 3, ORDERS[0]))


@pytest.mark.parametrize("order", ORDERS)
def test_depth_to_space_beyond_elements_of_four_bytes(order: Any) -> None:
    need((2**31 + 2**26, "f4"))
    x = np.broadcast_to(filled((1, 16, 1, 11_600), "f4"), (1, 16, 11_600, 11_600))
    y = dml.depth_to_space1(x, block_size=4, order=order)
    beyond(y, 2**31, 2**32)
    check(y, rearranged(x, 4, order))


# UNFOLD


@pytest.mark.parametrize(
    ("dtype", "side", "elements", "nbytes"),
    [
        ("u1", 15_600, 2**31, 0),
        ("u1", 21_840, 2**32 - 2**23, 0),
        ("u2", 15_600, 2**31, 2**32),
        ("f4", 11_000, 0, 2**32),
        ("f4", 15_600, 2**31, 2**32),
        ("f8", 7_800, 0, 2**32),
    ],
)
def test_unfold_to(dtype: str, side: int, elements: int, nbytes: int) -> None:
    need((10 * side * side, dtype))
    x = filled((1, 1, side, side), dtype)
    y = dml.unfold(x, window_sizes=3, start_padding=1, end_padding=1)
    beyond(y, elements, nbytes)
    check(y, unfolded(x, (3, 3), (side, side), 1, 1))


@pytest.mark.parametrize("window", [2, 3])
@pytest.mark.parametrize("layout", ["contiguous", "channels last"])
def test_unfold_from(window: int, layout: str) -> None:
    shape = (1, 8, 16_500, 16_400)
    need((2 * math.prod(shape), "u1"))
    x = filled(shape, "u1")
    if layout != "contiguous":
        x = x.reshape(1, 16_500, 16_400, 8).transpose(0, 3, 1, 2)
    stride = 2 if window == 2 else 4
    y = dml.unfold(x, window_sizes=window, strides=stride)
    beyond(x, 2**31)
    blocks = [(n - window) // stride + 1 for n in shape[2:]]
    check(y, unfolded(x, (window, window), blocks, stride, 0))


def test_unfold_of_an_axis() -> None:
    n = 2**31 + 1_000_000
    need((2 * n, "u1"))
    x = filled((1, 1, n), "u1")
    y = dml.unfold(x, window_sizes=4, strides=4)
    check(y, unfolded(x, (4,), (n // 4,), 4, 0))


# AVERAGE_POOLING


@pytest.mark.parametrize(("window", "stride", "start"), [(2, 2, 0), (3, 2, 1), (7, 4, 3)])
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "reversed"])
def test_average_pooling_from(window: int, stride: int, start: int, layout: str) -> None:
    shape = (1, 8, 16_500, 16_400)
    need((math.prod(shape) * 3 // 2, "f2"))
    x = filled(shape, "f2")
    if layout == "channels last":
        x = x.reshape(1, 16_500, 16_400, 8).transpose(0, 3, 1, 2)
    elif layout == "reversed":
        x = x[:, ::-1, ::-1, ::-1]
    y = dml.average_pooling(
        x, window_size=window, strides=stride, start_padding=start, end_padding=start, include_padding=True
    )
    beyond(x, 2**31, 2**32)
    check(y, averaged(x, (window, window), stride, start))


@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize(("dtype", "rows"), [("f2", 47_000), ("f4", 24_000), ("f4", 47_000)])
def test_average_pooling_to(dtype: str, rows: int, window: int) -> None:
    need((rows * 46_000 + 2**24, dtype))
    x = np.broadcast_to(filled((46_000,), dtype), (1, 1, rows, 46_000))
    y = dml.average_pooling(x, window_size=window, start_padding=1, end_padding=1, include_padding=True)
    beyond(y, 2**31 if rows > 40_000 else 0, 2**32)
    check(y, averaged(x, (window, window), 1, 1))


def test_average_pooling_of_a_row() -> None:
    n = 2**31 + 1_000_000
    need((n * 3 // 2, "f2"))
    x = filled((1, 1, 1, n), "f2")
    y = dml.average_pooling(x, window_size=(1, 4), strides=(1, 4))
    beyond(x, 2**31)
    for at in places(y.size):
        taps = x.reshape(-1)[at[:, None] * 4 + np.arange(4)]
        np.testing.assert_array_equal(y.reshape(-1)[at], (taps.astype("f4").sum(1) / 4).astype("f2"))


def test_average_pooling_of_everything() -> None:
    """Of more than 2^31 ones, 2^16 in a column: every sum is exact."""
    x = np.broadcast_to(np.ones(1, "f4"), (1, 1, 2**16, 3 * 2**14))
    assert dml.average_pooling(x, window_size=x.shape[2:]).tolist() == [[[[1.0]]]]


# ROI_POOLING


@pytest.mark.parametrize(("dtype", "width"), [("f2", 16_400), ("f4", 8_200)])
@pytest.mark.parametrize("layout", ["contiguous", "channels last"])
def test_roi_pooling_from(dtype: str, width: int, layout: str) -> None:
    shape = (2, 4, 16_500, width)
    need((math.prod(shape), dtype))
    x = filled(shape, dtype)
    if layout != "contiguous":
        x = x.reshape(2, 16_500, width, 4).transpose(0, 3, 1, 2)
    beyond(x, nbytes=2**32)
    # float16 coordinates are whole numbers up to 2048 and even ones up to 4096: the scale does the rest.
    last = (width // 8 - 2, 16_500 // 8 - 2)
    corners = [(0, 0, 1, 1), (*last, last[0] + 1, last[1] + 1), (0, last[1], 1, last[1] + 1), (500, 600, 502, 603)]
    regions = np.array([[batch, *corner] for batch in (0, 1) for corner in corners], dtype)
    y = dml.roi_pooling(x, regions, spatial_scale=8, pooled_size=(3, 2))
    for region, result in zip(regions.astype(int), y, strict=True):
        batch, x1, y1, x2, y2 = region * [1, 8, 8, 8, 8]
        for py, px in itertools.product(range(3), range(2)):
            rows = slice(y1 + py * (y2 - y1 + 1) // 3, y1 + ((py + 1) * (y2 - y1 + 1) + 2) // 3)
            columns = slice(x1 + px * (x2 - x1 + 1) // 2, x1 + ((px + 1) * (x2 - x1 + 1) + 1) // 2)
            np.testing.assert_array_equal(result[:, py, px], x[batch, :, rows, columns].max((1, 2)))


@pytest.mark.parametrize(("dtype", "side"), [("f2", 8_200), ("f4", 5_900), ("f4", 8_200)])
def test_roi_pooling_to(dtype: str, side: int) -> None:
    need((32 * side * side, dtype))
    x = filled((1, 32, 1, 2048), dtype)
    x = np.broadcast_to(x, (1, 32, 2048, 2048))
    regions = np.array([[0, 0, 0, 2047, 2047]], dtype)
    y = dml.roi_pooling(x, regions, spatial_scale=1, pooled_size=(side, side))
    beyond(y, 2**31 if side > 8_000 else 0, 2**32)

    def expected(at: Indices) -> Array:
        start, end = at[3] * 2048 // side, -(-(at[3] + 1) * 2048 // side)
        return np.asarray(np.maximum(x[0, at[1], 0, start], x[0, at[1], 0, end - 1]))

    check(y, expected)


def test_roi_pooling_of_many_regions() -> None:
    count = 2**31 // 49 + 1_000_000
    need((count * 49, "f2"), (count * 5, "f4"))
    x = filled((1, 1, 64, 64), "f2")
    kinds = np.random.default_rng(3).integers(0, 32, (PERIOD, 2)).astype("f2")
    kinds = np.column_stack([np.zeros(PERIOD), kinds, kinds + 6]).astype("f2")
    regions = np.resize(kinds, (count, 5))
    y = dml.roi_pooling(x, regions, spatial_scale=1, pooled_size=7)
    beyond(y, 2**31)

    def expected(at: Indices) -> Array:
        corner = kinds[at[0] % PERIOD].astype(int)
        return np.asarray(x[0, 0, corner[:, 2] + at[2], corner[:, 1] + at[3]])

    check(y, expected)
