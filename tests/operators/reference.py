"""The operators as their documentation defines them: element by element, exact, slow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def grid(sizes: Sequence[int]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, sizes))


# PADDING1


def sources(mode: str, n: int, start: int, end: int) -> list[int | None]:
    """The element of an axis of size n that each position reads; None: the padding value."""
    everywhere = range(-start, n + end)
    if mode == "CONSTANT":
        return [p if 0 <= p < n else None for p in everywhere]
    if mode == "EDGE":
        return [0 if p < 0 else n - 1 if p >= n else p for p in everywhere]
    trips = {
        "REFLECTION": [*range(n), *range(n - 2, 0, -1)],
        "SYMMETRIC": [*range(n), *range(n - 1, -1, -1)],
        "WRAP": [*range(n)],
    }
    return [trips[mode][p % len(trips[mode])] for p in everywhere]


def padding1(
    x: Array, *, start_padding: Sequence[int], end_padding: Sequence[int], padding_mode: str, padding_value: Any = 0
) -> Array:
    result, known = x, np.ones(x.shape, bool)
    for axis, (n, start, end) in enumerate(zip(x.shape, start_padding, end_padding, strict=True)):
        read = sources(padding_mode, n, start, end)
        result = result.take([p or 0 for p in read], axis)
        known = known.take([p or 0 for p in read], axis)
        known[(slice(None),) * axis + ([p is None for p in read],)] = False
    result[~known] = padding_value
    return result


def padding(x: Array, *, padding_mode: str, padding_value: float, **others: Any) -> Array:
    value = np.float32(padding_value if padding_mode == "CONSTANT" else 0)
    fill = value if x.dtype.kind == "f" else int(value)
    return padding1(x, padding_mode=padding_mode, padding_value=fill, **others)


# DEPTH_TO_SPACE and SPACE_TO_DEPTH


def depth_to_space(x: Array, *, block_size: int) -> Array:
    return depth_to_space1(x, block_size=block_size, order="DEPTH_COLUMN_ROW")


def depth_to_space1(x: Array, *, block_size: int, order: str) -> Array:
    n, channels, h, w = x.shape
    b = block_size
    out_channels = channels // (b * b)
    result = np.empty((n, out_channels, h * b, w * b), x.dtype)
    for c, row, column in grid((out_channels, b, b)):
        place = row * b + column
        source = place * out_channels + c if order == "DEPTH_COLUMN_ROW" else c * b * b + place
        result[:, c, row::b, column::b] = x[:, source]
    return result


def space_to_depth(x: Array, *, block_size: int) -> Array:
    return space_to_depth1(x, block_size=block_size, order="DEPTH_COLUMN_ROW")


def space_to_depth1(x: Array, *, block_size: int, order: str) -> Array:
    n, channels, h, w = x.shape
    b = block_size
    result = np.empty((n, channels * b * b, h // b, w // b), x.dtype)
    for c, row, column in grid((channels, b, b)):
        place = row * b + column
        target = place * channels + c if order == "DEPTH_COLUMN_ROW" else c * b * b + place
        result[:, target] = x[:, c, row::b, column::b]
    return result


# UNFOLD, FOLD and AVERAGE_POOLING


def positions(
    sizes: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    start: Sequence[int], end: Sequence[int],
) -> list[int]:  # fmt: skip
    """How many positions a window has along each axis: counted, one step at a time."""
    counts = []
    for n, w, step, dilation, before, after in zip(sizes, window, strides, dilations, start, end, strict=True):
        last = -before + dilation * (w - 1)
        count = 0
        while last < n + after:
            count, last = count + 1, last + step
        counts.append(count)
    return counts


def unfold(
    x: Array, *, window_sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    start_padding: Sequence[int], end_padding: Sequence[int],
) -> Array:  # fmt: skip
    n, channels, *sizes = x.shape
    blocks = positions(sizes, window_sizes, strides, dilations, start_padding, end_padding)
    result = np.zeros((n, channels, math.prod(window_sizes), math.prod(blocks)), x.dtype)
    for row, tap in enumerate(grid(window_sizes)):
        for column, block in enumerate(grid(blocks)):
            p = [
                b * s + t * d - before
                for b, s, t, d, before in zip(block, strides, tap, dilations, start_padding, strict=True)
            ]
            if all(0 <= q < size for q, size in zip(p, sizes, strict=True)):
                result[:, :, row, column] = x[(slice(None), slice(None), *p)]
    return result.reshape(n, channels * math.prod(window_sizes), math.prod(blocks))


def fold(
    x: Array, *, output_sizes: Sequence[int], window_sizes: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int], start_padding: Sequence[int], end_padding: Sequence[int],
) -> Array:  # fmt: skip
    """Each element is added where it belongs, those of one window element after those of the one before."""
    blocks = positions(output_sizes, window_sizes, strides, dilations, start_padding, end_padding)
    columns = x.reshape(len(x), -1, math.prod(window_sizes), math.prod(blocks))
    wide = np.float32 if x.dtype == np.float16 else x.dtype
    result = np.zeros((*columns.shape[:2], *output_sizes), wide)
    for row, tap in enumerate(grid(window_sizes)):
        for column, block in enumerate(grid(blocks)):
            p = [
                b * s + t * d - before
                for b, s, t, d, before in zip(block, strides, tap, dilations, start_padding, strict=True)
            ]
            if all(0 <= q < size for q, size in zip(p, output_sizes, strict=True)):
                with np.errstate(all="ignore"):
                    result[(slice(None), slice(None), *p)] += columns[:, :, row, column].astype(wide)
    with np.errstate(all="ignore"):
        return result.astype(x.dtype)


class Average(NamedTuple):
    """Of each window: float64 sums, correctly rounded, and the divisor (0: nothing but padding that does not count)."""

    total: Array
    magnitude: Array  # sum of the absolute values of finite elements
    divisor: Array

    def mean(self) -> Array:
        return np.where(self.divisor == 0, 0.0, self.total / np.maximum(self.divisor, 1))

    def rounded(self, dtype: Any) -> Array:
        """The mean of sums that float32 holds exactly: one float32 division, then rounded to the data type."""
        quotient = self.total.astype(np.float32) / np.maximum(self.divisor, 1).astype(np.float32)
        return quotient.astype(dtype)


def exact_sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except ValueError:  # both infinities
        return math.nan


def average_pooling(
    x: Array, *, window_size: Sequence[int], strides: Sequence[int], start_padding: Sequence[int],
    end_padding: Sequence[int], include_padding: bool,
) -> Average:  # fmt: skip
    return average_pooling1(
        x, window_size=window_size, strides=strides, start_padding=start_padding, end_padding=end_padding,
        dilations=[1] * len(window_size), include_padding=include_padding,
    )  # fmt: skip


def average_pooling1(
    x: Array, *, window_size: Sequence[int], strides: Sequence[int], start_padding: Sequence[int],
    end_padding: Sequence[int], dilations: Sequence[int], include_padding: bool,
) -> Average:  # fmt: skip
    n, channels, *sizes = x.shape
    pooled = positions(sizes, window_size, strides, dilations, start_padding, end_padding)
    result = Average(*(np.zeros((n, channels, *pooled)) for _ in range(3)))
    for o in grid(pooled):
        inside = []
        for size, w, index, step, before, apart in zip(
            sizes, window_size, o, strides, start_padding, dilations, strict=True
        ):
            begin = index * step - before
            inside.append(range(max(begin, begin % apart), min(begin + w * apart, size), apart))
        with np.errstate(invalid="ignore"):  # signalling NaN
            taps = x[:, :, *np.ix_(*inside)].astype(np.float64).reshape(n, channels, -1)
        for item, channel in grid((n, channels)):
            values = taps[item, channel].tolist()
            result.total[(item, channel, *o)] = exact_sum(values)
            result.magnitude[(item, channel, *o)] = math.fsum(abs(value) for value in values if math.isfinite(value))
        result.divisor[(slice(None), slice(None), *o)] = math.prod(window_size) if include_padding else taps.shape[2]
    return result


# LP_POOLING


class Norm(NamedTuple):
    """Of each window the norm, in float64, and its P-th power."""

    norm: Array
    power: Array

    def rounded(self, dtype: Any) -> Array:
        return self.norm.astype(dtype)


def lp_pooling(
    x: Array, *, window_size: Sequence[int], strides: Sequence[int], start_padding: Sequence[int],
    end_padding: Sequence[int], p: int, dilations: Sequence[int] | None = None,
) -> Norm:  # fmt: skip
    """Powers and roots are those of the largest element of each window as a unit, which is then put back."""
    apart = dilations or [1] * len(window_size)
    pooled = positions(x.shape[2:], window_size, strides, apart, start_padding, end_padding)
    result = Norm(*(np.zeros((*x.shape[:2], *pooled)) for _ in range(2)))
    for at in grid(result.norm.shape):
        places = []
        for i, step, before, w, d, n in zip(
            at[2:], strides, start_padding, window_size, apart, x.shape[2:], strict=True
        ):
            first = i * step - before
            places.append([first + t * d for t in range(max(0, -(first // d)), min(w, (n - 1 - first) // d + 1))])
        values = [abs(float(x[(*at[:2], *place)])) for place in itertools.product(*places)]
        most = math.nan if any(map(math.isnan, values)) else max(values, default=0.0)
        if most == 0 or not math.isfinite(most):
            result.norm[at] = result.power[at] = most
            continue
        total = math.fsum((value / most) ** p for value in values)
        result.norm[at] = most * total ** (1 / p)
        logarithm = math.log(total) + p * math.log(most)
        result.power[at] = math.exp(logarithm) if abs(logarithm) < 700 else math.inf if logarithm > 0 else 0.0
    return result


lp_pooling1 = lp_pooling


# MAX_POOLING


def max_pooling(
    x: Array, *, window_size: Sequence[int], strides: Sequence[int], start_padding: Sequence[int],
    end_padding: Sequence[int],
) -> Array:  # fmt: skip
    ones = [1] * len(window_size)
    pooled = positions(x.shape[2:], window_size, strides, ones, start_padding, end_padding)
    result = np.empty((*x.shape[:2], *pooled), x.dtype)
    for at in grid(result.shape):
        begin = [i * step - before for i, step, before in zip(at[2:], strides, start_padding, strict=True)]
        inside = [slice(max(b, 0), max(b + w, 0)) for b, w in zip(begin, window_size, strict=True)]
        values = [*x[(*at[:2], *inside)].ravel()]
        result[at] = largest(values) if values else -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return result


def max_pooling2(
    x: Array, *, window_size: Sequence[int], strides: Sequence[int], start_padding: Sequence[int],
    end_padding: Sequence[int], dilations: Sequence[int], output_indices: str = "",
) -> Array | tuple[Array, Array]:  # fmt: skip
    """Element by element in the order of the window: another one is taken where it is greater."""
    pooled = positions(x.shape[2:], window_size, strides, dilations, start_padding, end_padding)
    numbers = np.arange(x.size, dtype=np.uint64).reshape(x.shape)
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    values: Array = np.full((*x.shape[:2], *pooled), least, x.dtype)
    indices = np.full(values.shape, 2**32 - 1, np.uint64)
    for at in grid(values.shape):
        axes, best = [], None
        for size, w, i, step, before, apart in zip(
            x.shape[2:], window_size, at[2:], strides, start_padding, dilations, strict=True
        ):
            begin = i * step - before
            axes.append(range(max(begin, begin % apart), min(begin + w * apart, size), apart))
        for place in itertools.product(*axes):
            value = x[(*at[:2], *place)]
            if best is None or greater(value, best):
                best, values[at], indices[at] = value, value, numbers[(*at[:2], *place)]
    return (values, indices.astype(output_indices.lower())) if output_indices else values


def greater(value: Any, other: Any) -> bool:
    """Numbers are greater than NaN, +0 than -0."""
    if math.isnan(value) or math.isnan(other):
        return math.isnan(other) and not math.isnan(value)
    if value == other:
        return math.copysign(1, value) > math.copysign(1, other)
    return bool(value > other)


def max_pooling1(x: Array, *, window_size: Sequence[int], **others: Any) -> Array | tuple[Array, Array]:
    return max_pooling2(x, window_size=window_size, dilations=[1] * len(window_size), **others)


# ROI_POOLING


def scaled(coordinate: Any, spatial_scale: float) -> int:
    """The product in float32, ties away from zero, saturated to 32 bits."""
    with np.errstate(over="ignore", under="ignore"):
        product = float(np.float32(coordinate) * np.float32(spatial_scale))
    if math.isinf(product):
        return INT32_MAX if product > 0 else INT32_MIN
    whole = math.floor(abs(Fraction(product)) + Fraction(1, 2))
    return max(INT32_MIN, min(INT32_MAX, whole if product > 0 else -whole))


def bin_bounds(number: int, count: int, first: int, last: int, size: int) -> range:
    span = last - first + 1
    start = (number * span) // count + first
    end = ((number + 1) * span + count - 1) // count + first
    return range(min(max(start, 0), size), min(max(end, 0), size))


def largest(values: list[Any]) -> Any:
    """The maximum: 0 of nothing, numbers before NaN, +0 before -0."""
    if not values:
        return 0
    numbers = [value for value in values if not math.isnan(value)]
    return max(numbers, key=lambda value: (value, math.copysign(1, value))) if numbers else math.nan


def roi_pooling(x: Array, roi: Array, *, spatial_scale: float, pooled_size: tuple[int, int]) -> Array:
    _, channels, height, width = x.shape
    regions = roi.reshape(-1, 5)
    result = np.empty((len(regions), channels, *pooled_size), x.dtype)
    for r, (batch, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (scaled(corner, spatial_scale) for corner in corners)
        for py, px in grid(pooled_size):
            ys = bin_bounds(py, pooled_size[0], y1, y2, height)
            xs = bin_bounds(px, pooled_size[1], x1, x2, width)
            for c in range(channels):
                result[r, c, py, px] = largest([x[int(batch), c, i, j] for i in ys for j in xs])
    return result
