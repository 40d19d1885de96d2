"""Sizes that are just accepted and just refused, by formulas in whole numbers that are independent of the specs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml

UINT = 2**32 - 1


def sizes_of(function: Any, *arrays: Any, **attributes: Any) -> tuple[int, ...] | None:
    """The sizes of the result; None where the call is refused."""
    try:
        return tuple(function(*arrays, **attributes).shape)
    except dml.DmlError:
        return None


def described(desc: Any) -> tuple[int, ...] | None:
    """The sizes that follow from a desc; None where it is refused, by both checks."""
    found = dml.check(desc)
    try:
        dml.compile(desc)
    except dml.DmlError as error:
        assert list(error.violations) == found
    else:
        assert not found
    return None if found else tuple(desc.output.sizes)


def tensor(*sizes: int, dtype: str = "FLOAT32") -> Any:
    return dml.TensorDesc(dtype, sizes)


AXES = list(product((1, 2, 5), (0, 2), (0, 1), (1, 2, 3, 6), (1, 3)))


@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_the_last_window_that_fits_unfold(dilation: int) -> None:
    for n, start, end, window, stride in AXES:
        reach = (window - 1) * dilation + 1
        room = n + start + end - reach
        expected = (2, 3 * window, room // stride + 1) if room >= 0 else None
        attributes: dict[str, Any] = dict(
            window_sizes=window, strides=stride, dilations=dilation, start_padding=start, end_padding=end
        )
        assert sizes_of(dml.unfold, np.zeros((2, 3, n), np.uint8), **attributes) == expected, attributes
        assert described(dml.desc.Unfold(input=tensor(2, 3, n), **attributes)) == expected, attributes


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_last_window_that_fits_average_pooling(axis: int) -> None:
    for n, start, end, window, stride in AXES:
        room = n + start + end - window
        rest = [4, 4, 4]
        expected = (2, 3, *rest[:axis], room // stride + 1, *rest[axis + 1 :]) if room >= 0 else None

        def at(value: int, other: int, axis: int = axis) -> tuple[int, ...]:
            return tuple(value if d == axis else other for d in range(3))

        attributes: dict[str, Any] = dict(
            window_size=at(window, 1), strides=at(stride, 1), start_padding=at(start, 0), end_padding=at(end, 0)
        )
        sizes = (2, 3, *at(n, 4))
        assert sizes_of(dml.average_pooling, np.zeros(sizes, np.float32), **attributes) == expected, attributes
        assert described(dml.desc.AveragePooling(input=tensor(*sizes), **attributes)) == expected, attributes


def test_blocks_that_divide_the_channels() -> None:
    for channels, block in product((1, 2, 3, 4, 5, 8, 9, 10, 16, 18, 27), (1, 2, 3, 4)):
        expected = (2, channels // block**2, 3 * block, 5 * block) if channels % block**2 == 0 else None
        x = np.zeros((2, channels, 3, 5), np.uint8)
        assert sizes_of(dml.depth_to_space1, x, block_size=block) == expected, (channels, block)
        d = dml.desc.DepthToSpace1(input=tensor(2, channels, 3, 5), block_size=block)
        assert described(d) == expected, (channels, block)


@pytest.mark.parametrize("rank", range(1, 9))
def test_padding_adds_to_each_axis(rank: int) -> None:
    sizes = tuple(range(1, rank + 1))
    for axis, start, end in product(range(rank), (0, 1, 3), (0, 2)):
        starts = tuple(start if d == axis else 0 for d in range(rank))
        ends = tuple(end if d == axis else 0 for d in range(rank))
        expected = tuple(n + a + b for n, a, b in zip(sizes, starts, ends, strict=True))
        attributes: dict[str, Any] = dict(start_padding=starts, end_padding=ends)
        if max(sizes) < 6:
            assert sizes_of(dml.padding1, np.zeros(sizes, np.int8), **attributes) == expected
        assert described(dml.desc.Padding1(input=tensor(*sizes), **attributes)) == expected


def test_the_largest_tensors() -> None:
    """2^32-1 elements are allowed, in a size and in all; one more is not."""
    for more in (0, 1):
        wanted = (UINT,) if more == 0 else None
        for start, end in ((UINT - 1 + more, 0), (0, UINT - 1 + more), (2**31, 2**31 - 2 + more)):
            if start <= UINT and end <= UINT:
                row = dml.desc.Padding1(input=tensor(1, dtype="UINT8"), start_padding=start, end_padding=end)
                assert described(row) == wanted, (start, end)
        d: dml.desc.OperatorDesc = dml.desc.Padding1(
            input=tensor(1, 1, dtype="UINT8"), start_padding=0, end_padding=(65536 + more, 65534 + more)
        )
        assert described(d) == (None if more else (65537, 65535))  # 65537 · 65535 = 2^32 - 1
        channels, blocks = 65535, 65537 + more
        d = dml.desc.Unfold(input=tensor(1, channels, 1), window_sizes=1, end_padding=blocks - 1)
        assert described(d) == (None if more else (1, channels, blocks))
        d = dml.desc.AveragePooling(input=tensor(1, 1, 1, 65535), window_size=1, end_padding=(65536 + more, 0))
        assert described(d) == (None if more else (1, 1, 65537, 65535))
        d = dml.desc.RoiPooling(
            input=tensor(1, 3, 4, 4), roi=tensor(1, 1, 5, 5), spatial_scale=1.0, pooled_size=(1, 286331153 + more)
        )
        assert described(d) == (None if more else (5, 3, 1, 286331153))  # 3 · 5 · 286331153 = 2^32 - 1


def pooled(region: tuple[float, ...], **changed: Any) -> tuple[int, ...] | None:
    attributes: dict[str, Any] = {"spatial_scale": 1.0, "pooled_size": (2, 3), **changed}
    rows = np.array([[0, 0, 0, 1, 1], region], np.float32)
    return sizes_of(dml.roi_pooling, np.zeros((3, 4, 6, 6), np.float32), rows, **attributes)


@pytest.mark.parametrize("batch", [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0])
def test_the_batch_of_a_region(batch: float) -> None:
    expected = (2, 4, 2, 3) if batch in (0.0, 1.0, 2.0) else None
    assert pooled((batch, 0, 0, 1, 1)) == expected


@each_of("corners", [*product((0.0, 0.5, 1.0), repeat=4)])
def test_the_corners_of_a_region(corners: tuple[float, ...]) -> None:
    x1, y1, x2, y2 = corners
    assert pooled((0, *corners)) == ((2, 4, 2, 3) if x1 <= x2 and y1 <= y2 else None)


@pytest.mark.parametrize("entry", range(5))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_region_is_finite(entry: int, value: float) -> None:
    region = [0.0, 0.0, 0.0, 1.0, 1.0]
    region[entry] = value
    assert pooled(tuple(region)) is None


@pytest.mark.parametrize("scale", [-1.0, -1e-30, -0.0, 0.0, 1e-30, 1.0])
def test_the_scale_is_positive(scale: float) -> None:
    assert pooled((0, 0, 0, 1, 1), spatial_scale=scale) == ((2, 4, 2, 3) if scale > 0 else None)
    d = dml.desc.RoiPooling(input=tensor(3, 4, 6, 6), roi=tensor(1, 1, 2, 5), spatial_scale=scale, pooled_size=(2, 3))
    assert described(d) == ((2, 4, 2, 3) if scale > 0 else None)


@pytest.mark.parametrize("extra", range(5))
def test_the_dimensions_of_the_unfolded_output(extra: int) -> None:
    """As many leading ones as the input has dimensions more, and nothing but ones."""
    for rank, first in product((3, 4, 5), (1, 2)):
        attributes = {"input": tensor(1, 2, *[3] * (rank - 2)), "window_sizes": 2}
        valid = (1, 2 * 2 ** (rank - 2), 2 ** (rank - 2))
        d = dml.desc.Unfold(**attributes, output=tensor(*[first] * min(extra, 1), *[1] * (extra - 1), *valid))
        fits = extra == 0 or (3 + extra <= rank and first == 1)
        assert (dml.check(d) == []) == fits, d
        if not fits:
            with pytest.raises(dml.DmlError):
                dml.compile(d)
