"""UNFOLD against its definition, NumPy and PyTorch."""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, check_everywhere
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, Layout, Windows, any_bits, contiguous, dtypes, examples, seeds, small_integers, windows

import dmlcy as dml
from dmlcy._runtime.stream import set_stream_limit, stream_limit

any_windows = st.integers(1, 6).flatmap(lambda spatial: windows(spatial, dilated=True))


@examples(150)
@given(any_windows, dtypes, seeds)
def test_the_definition_bit_for_bit(case: Windows, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    assert_same_bits(dml.unfold(x, **case.unfold), reference.unfold(x, **case.unfold))


@examples(120)
@given(any_windows, dtypes, seeds, st.data())
def test_any_layout(case: Windows, dtype: str, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, "unfold", [any_bits(seed, case.sizes, dtype)], case.unfold)


def by_slices(x: Array, case: Windows) -> Array:
    """The definition in terms of whole slices, for larger tensors."""
    n, channels, *sizes = x.shape
    padded = np.pad(x, [(0, 0), (0, 0), *zip(case.start, case.end, strict=True)])
    counts = reference.positions(sizes, case.window, case.strides, case.dilations, case.start, case.end)
    rows = []
    for tap in reference.grid(case.window):
        axes = [
            slice(t * d, t * d + (count - 1) * s + 1, s)
            for t, d, s, count in zip(tap, case.dilations, case.strides, counts, strict=True)
        ]
        rows.append(padded[(slice(None), slice(None), *axes)].reshape(n, channels, -1))
    return np.stack(rows, 2).reshape(n, channels * math.prod(case.window), -1)


LARGER = [
    Windows((1, 2, 70_000), (3,), (1,), (2,), (1,), (4,)),
    Windows((1, 1, 70_000), (5,), (7,), (1,), (9,), (0,)),
    Windows((2, 3, 56, 57), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 64, 64), (5, 5), (1, 1), (1, 1), (2, 2), (2, 2)),
    Windows((1, 2, 64, 64), (3, 3), (2, 2), (1, 1), (0, 1), (1, 0)),
    Windows((1, 2, 300, 9), (7, 9), (4, 1), (3, 1), (20, 4), (2, 4)),
    Windows((1, 1, 9, 400), (2, 300), (1, 3), (2, 1), (0, 50), (0, 7)),  # more taps than positions
    Windows((1, 2, 3, 5), (2, 2), (1, 1), (1, 1), (400, 500), (3, 2)),  # hardly anything but padding
    Windows((2, 2, 9, 20, 21), (3, 3, 3), (1, 2, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1)),
    Windows((1, 1, 5, 4, 6, 7), (2, 2, 2, 3), (1, 1, 1, 1), (1, 1, 2, 1), (1, 0, 1, 1), (0, 1, 1, 1)),
]


@pytest.mark.parametrize("case", LARGER, ids=str)
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
def test_larger_tensors(case: Windows, dtype: str) -> None:
    x = any_bits(4, case.sizes, dtype)
    expected = by_slices(x, case)
    out = np.empty(expected.shape, dtype, "F")
    for source in (x, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        assert_same_bits(dml.unfold(source, **case.unfold), expected)
        assert_same_bits(dml.unfold(source, **case.unfold, out=out), expected)


# Every path of the loops


@pytest.fixture(params=["kept", "streamed"])
def _streams(request: pytest.FixtureRequest) -> Iterator[None]:
    before = stream_limit()
    set_stream_limit(1 if request.param == "streamed" else 2**62)
    yield
    set_stream_limit(before)


def image(sizes: tuple[int, ...], window: int, stride: int = 1, dilation: int = 1, padding: int = 0) -> Windows:
    n = len(sizes) - 2
    return Windows(sizes, (window,) * n, (stride,) * n, (dilation,) * n, (padding,) * n, (padding,) * n)


PATHS = {
    "joined lines": image((2, 3, 40, 43), 3, padding=1),
    "short lines": image((2, 5, 9, 7), 3, padding=1),
    "long lines": image((1, 2, 3, 3000), 3, padding=1),
    "many channels": image((2, 70, 12, 11), 3, padding=1),
    "many channels side by side": image((1, 70, 40, 44), 2, stride=2),
    "windows apart, many channels": image((1, 70, 9, 17), 1, stride=8),
    "dilated": image((1, 5, 33, 37), 3, dilation=2, padding=2),
    "dilated by the stride": image((1, 5, 33, 37), 3, stride=2, dilation=2, padding=2),
    "overlapping strides": image((2, 5, 33, 35), 3, stride=2, padding=1),
    "side by side 2": image((2, 5, 64, 70), 2, stride=2),
    "side by side 3": image((2, 4, 48, 51), 3, stride=3),
    "side by side 4": image((2, 3, 64, 68), 4, stride=4),
    "one block short": image((1, 3, 15 * 4, 15 * 4), 4, stride=4),
    "one block more": image((1, 3, 17 * 4, 17 * 4), 4, stride=4),
    "patches 16": image((2, 3, 64, 16 * 18), 16, stride=16),
    "patches 14": image((1, 3, 56, 14 * 17), 14, stride=14),
    "patches with padding": image((1, 2, 60, 100), 8, stride=8, padding=3),
    "patches apart": image((1, 2, 61, 103), 5, stride=7, padding=3),
    "windows larger than the line": image((1, 2, 20, 20), 17, padding=1),
    "padding only at most places": image((1, 2, 3, 2), 2, padding=9),
    "more taps than slots": Windows((1, 2, 4, 300), (2, 70), (1, 1), (1, 1), (0, 69), (1, 69)),
    "one axis": image((2, 3, 1000), 3, padding=1),
    "one axis, strided": image((2, 3, 1001), 5, stride=3, padding=2),
    "volumes": image((1, 4, 9, 10, 11), 3, padding=1),
    "volumes side by side": image((1, 2, 8, 8, 40), 2, stride=2),
}


def layouts_of(rank: int, item: int) -> list[Layout]:
    straight, ones = tuple(range(rank)), (1,) * rank
    last = (0, *straight[2:], 1)
    return [
        contiguous(rank),
        Layout(straight, ones, shift=item),
        Layout(straight, ones, shift=1),
        Layout(straight, (*ones[1:], 2)),
        Layout(straight, (*ones[1:], 7)),
        Layout(straight, (*ones[1:], -1)),
        Layout(straight, (*ones[1:-1], -2, 1)),
        Layout(last, ones),
        Layout(last, (1, 2, *ones[2:])),
        Layout(last, (1, -1, *ones[2:])),
        Layout(last, (*ones[1:], -1)),
        Layout(straight[::-1], ones),
    ]


@pytest.mark.usefixtures("_streams")
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
@pytest.mark.parametrize("case", PATHS.values(), ids=PATHS)
def test_every_path(case: Windows, dtype: str) -> None:
    x = any_bits(7, case.sizes, dtype)
    expected = by_slices(x, case)
    for layout in layouts_of(x.ndim, x.itemsize):
        source = layout.hold(x)
        assert_same_bits(dml.unfold(source.view, **case.unfold), expected)
        source.assert_unchanged()
    for layout in layouts_of(3, x.itemsize):
        out = layout.place(expected.shape, x.dtype)
        dml.unfold(x, **case.unfold, out=out.view)
        assert_same_bits(out.view, expected)
        out.assert_unchanged_outside()


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.usefixtures("_streams")
@pytest.mark.parametrize("case", PATHS.values(), ids=PATHS)
def test_no_byte_is_read_outside_the_input(case: Windows) -> None:
    mprotect = ctypes.CDLL(None).mprotect
    page = mmap.PAGESIZE
    for dtype in ("u1", "f2", "i4", "f8"):
        x = any_bits(8, case.sizes, dtype)
        pages = -(-x.nbytes // page)
        with mmap.mmap(-1, (pages + 2) * page) as store:
            begin = ctypes.addressof(ctypes.c_char.from_buffer(store))
            for guard in (begin, begin + (pages + 1) * page):
                assert mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) == 0
            for offset in (page, (pages + 1) * page - x.nbytes):
                for axes in (range(x.ndim), (0, *range(2, x.ndim), 1)):
                    held: Array = np.ndarray([x.shape[d] for d in axes], dtype, store, offset)
                    source = held.transpose(np.argsort(list(axes)))
                    source[...] = x
                    assert_same_bits(dml.unfold(source, **case.unfold), by_slices(x, case))
                    del held, source


# Other libraries


@examples(80)
@given(st.integers(1, 6).flatmap(lambda n: windows(n, dilated=True, padded=False)), dtypes, seeds)
def test_numpy(case: Windows, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    spatial = len(case.window)
    extents = tuple(d * (w - 1) + 1 for d, w in zip(case.dilations, case.window, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, extents, tuple(range(2, x.ndim)))
    every = [slice(None, None, step) for step in (*case.strides, *case.dilations)]
    taps = view[(slice(None), slice(None), *every)]
    ordered = np.moveaxis(taps, range(2 + spatial, 2 + 2 * spatial), range(2, 2 + spatial))
    rows = x.shape[1] * math.prod(case.window)
    assert_same_bits(dml.unfold(x, **case.unfold), np.ascontiguousarray(ordered).reshape(x.shape[0], rows, -1))


@examples(80)
@given(windows(2, dilated=True), st.sampled_from(["f4", "f8", "f2"]), seeds)
def test_torch(case: Windows, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = any_bits(seed, case.sizes, dtype)
    (top, left), (bottom, right) = case.start, case.end
    padded = torch.nn.functional.pad(torch.from_numpy(x), (left, right, top, bottom))
    expected = torch.nn.functional.unfold(padded, case.window, case.dilations, 0, case.strides).numpy()
    assert_same_bits(dml.unfold(x, **case.unfold), expected)


# What must hold


@examples(50)
@given(any_windows, dtypes, seeds)
def test_padding_first_or_within(case: Windows, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    padded = dml.padding1(x, start_padding=(0, 0, *case.start), end_padding=(0, 0, *case.end))
    without: dict[str, Any] = {**case.unfold, "start_padding": 0, "end_padding": 0}
    assert_same_bits(dml.unfold(padded, **without), dml.unfold(x, **case.unfold))


@examples(50)
@given(any_windows, dtypes, seeds)
def test_a_batch_is_its_items_and_channels_are_apart(case: Windows, dtype: str, seed: int) -> None:
    x = any_bits(seed, case.sizes, dtype)
    result = dml.unfold(x, **case.unfold)
    items = [dml.unfold(x[i : i + 1], **case.unfold) for i in range(x.shape[0])]
    assert_same_bits(result, np.concatenate(items))
    channels = [dml.unfold(x[:, i : i + 1], **case.unfold) for i in range(x.shape[1])]
    assert_same_bits(result, np.concatenate(channels, 1))


@examples(50)
@given(st.integers(2, 3).flatmap(windows), seeds)
def test_sums_of_columns_are_the_average_pooling(case: Windows, seed: int) -> None:
    x = small_integers(seed, case.sizes, "f4")
    volume = math.prod(case.window)
    columns = dml.unfold(x, **case.unfold).reshape(*x.shape[:2], volume, -1)
    pooled = dml.average_pooling(x, **case.pooling, include_padding=True)
    np.testing.assert_array_equal(columns.sum(2) / np.float32(volume), pooled.reshape(*x.shape[:2], -1))


@examples(50)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4), dtypes, seeds)
def test_windows_side_by_side_hold_every_element_once(axes: list[tuple[int, int]], dtype: str, seed: int) -> None:
    window = tuple(w for w, _ in axes)
    x = any_bits(seed, (2, 3, *(w * count for w, count in axes)), dtype)
    columns = dml.unfold(x, window_sizes=window, strides=window)
    bits = f"u{x.itemsize}"
    np.testing.assert_array_equal(np.sort(columns.view(bits), axis=None), np.sort(x.view(bits), axis=None))


def test_an_int_fills_every_axis() -> None:
    x = np.arange(50).reshape(1, 2, 5, 5)
    arrays = dml.unfold(
        x, window_sizes=(2, 2), strides=(2, 2), dilations=(3, 3), start_padding=(1, 1), end_padding=(2, 2)
    )
    ints = dml.unfold(x, window_sizes=2, strides=2, dilations=3, start_padding=1, end_padding=2)
    assert_same_bits(ints, arrays)
