"""Hypothesis strategies: arrays of every data type, layouts in memory, and the attributes of the operators."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from reference.windows import positions

from dmlcy.testing import specials

Array = np.ndarray[Any, Any]

DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]
MODES = ["CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"]
ORDERS = ["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=os.environ.get("CI", "").lower() in ("1", "true"),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# Values

seeds = st.integers(0, 2**32 - 1)


def any_bits(seed: int, shape: tuple[int, ...], dtype: Any) -> Array:
    """Random bit patterns, with specials here and there."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    values = np.frombuffer(rng.bytes(math.prod(shape) * dtype.itemsize), dtype).reshape(shape).copy()
    chosen = rng.random(shape) < 0.2
    values[chosen] = rng.choice(specials(dtype), int(chosen.sum()))
    return values


def small_integers(seed: int, shape: tuple[int, ...], dtype: Any, most: int = 30) -> Array:
    rng = np.random.default_rng(seed)
    return rng.integers(0 if np.dtype(dtype).kind == "u" else -most, most + 1, shape).astype(dtype)


dtypes = st.sampled_from(DTYPES)
half_and_single = st.sampled_from(["f4", "f2"])


# Layouts

NOISE = (np.arange(251) * 37 % 251).astype(np.uint8)


@dataclass(frozen=True)
class Layout:
    """How an array lies in its buffer."""

    order: tuple[int, ...]  # axes, slowest first
    steps: tuple[int, ...]  # of each axis; negative: backwards, 0: one element for the whole axis
    gap: int = 0  # bytes after each element
    shift: int = 0  # bytes before the first one, from an aligned address on

    def place(self, shape: tuple[int, ...], dtype: Any) -> Placed:
        dtype = np.dtype(dtype)
        extent = dtype.itemsize + self.gap
        strides, offset = [0] * len(shape), 64 + self.shift
        for axis in reversed(self.order):
            strides[axis] = extent * self.steps[axis]
            offset += max(-strides[axis] * (shape[axis] - 1), 0)
            extent *= max(abs(self.steps[axis]) * shape[axis], 1) if self.steps[axis] else 1
        buffer = np.resize(NOISE, 64 + self.shift + extent + 64)
        view: Array = np.ndarray(shape, dtype, buffer, offset, strides)
        inside = np.zeros(buffer.size, bool)
        np.ndarray((*shape, dtype.itemsize), bool, inside, offset, (*strides, 1))[...] = True
        return Placed(view, buffer, buffer.copy(), ~inside)

    def hold(self, values: Array) -> Placed:
        """An array of these values, except along axes of step 0, which repeat their first element."""
        placed = self.place(values.shape, values.dtype)
        first = tuple(slice(None) if step else slice(0, 1) for step in self.steps)
        bits = f"u{values.itemsize}"
        placed.view[first].view(bits)[...] = values[first].view(bits)
        placed.before[:] = placed.buffer
        return placed


@dataclass(frozen=True)
class Placed:
    """An array in the middle of its buffer."""

    view: Array
    buffer: Array
    before: Array  # the bytes of the buffer at first
    outside: Array  # which bytes are not of the array

    def assert_unchanged(self) -> None:
        np.testing.assert_array_equal(self.buffer, self.before)

    def assert_unchanged_outside(self) -> None:
        np.testing.assert_array_equal(self.buffer[self.outside], self.before[self.outside])


def contiguous(rank: int) -> Layout:
    return Layout(tuple(range(rank)), (1,) * rank)


def few_steps(rank: int, allowed: list[int], others: list[int]) -> st.SearchStrategy[tuple[int, ...]]:
    """At most two axes take one of `allowed`: eight axes of every third element would take gigabytes."""

    def place(drawn: tuple[list[int], list[int], list[int]]) -> tuple[int, ...]:
        steps = drawn[0]
        for axis, step in zip(drawn[1], drawn[2], strict=False):
            steps[axis] = step
        return tuple(steps)

    axes = st.lists(st.integers(0, rank - 1), max_size=2, unique=True)
    base = st.lists(st.sampled_from(others), min_size=rank, max_size=rank)
    return st.tuples(base, axes, st.lists(st.sampled_from(allowed), min_size=2, max_size=2)).map(place)


def layouts(rank: int, *, repeats: bool) -> st.SearchStrategy[Layout]:
    """Layouts of `rank` axes; `repeats`: also those where elements share memory, for inputs."""
    straight, ones = tuple(range(rank)), (1,) * rank
    orders = st.permutations(straight).map(tuple)
    kinds = {
        "contiguous": st.just(contiguous(rank)),
        "fortran": st.just(Layout(straight[::-1], ones)),
        "transposed": st.builds(Layout, orders, st.just(ones)),
        "backwards": st.builds(Layout, st.just(straight), few_steps(rank, [-1], [1, -1])),
        "steps": st.builds(Layout, st.just(straight), few_steps(rank, [2, 3], [1])),
        "offset": st.builds(Layout, st.just(straight), st.just(ones), shift=st.sampled_from([8, 16, 24])),
        "misaligned": st.builds(Layout, st.just(straight), st.just(ones), shift=st.integers(1, 7)),
        "gaps": st.builds(Layout, orders, st.just(ones), gap=st.integers(1, 9)),
        "mixed": st.builds(Layout, orders, few_steps(rank, [2, -2, 3], [1, -1]), st.integers(0, 8), st.integers(0, 8)),
    }
    if repeats:
        kinds["repeated"] = st.builds(Layout, orders, few_steps(rank, [2, -1, 0], [0, 1]))
        kinds["one element"] = st.just(Layout(straight, (0,) * rank))
    return st.sampled_from(list(kinds)).flatmap(kinds.__getitem__)


# Sizes and attributes


@dataclass(frozen=True)
class Padding:
    sizes: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]


@st.composite
def paddings(draw: st.DrawFn, budget: int = 6000) -> Padding:
    """Ranks 1 to 8; paddings from none to several times the axis. The output has at most `budget` elements."""
    rank = draw(st.integers(1, 8))
    axes = []
    for _ in range(rank):
        n = draw(st.integers(1, max(1, min(budget, 24 if rank < 4 else 6))))
        start = draw(st.integers(0, max(0, min(budget // n, 4 * n + 2) - n)))
        end = draw(st.integers(0, max(0, min(budget // n, 4 * n + 2) - n - start)))
        budget //= n + start + end
        axes.append((n, start, end))
    axes = draw(st.permutations(axes))
    return Padding(*zip(*axes, strict=True))


@dataclass(frozen=True)
class Windows:
    """Sizes N, C and spatial ones, and a window that fits."""

    sizes: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def unfold(self) -> dict[str, Any]:
        return {
            "window_sizes": self.window,
            "strides": self.strides,
            "dilations": self.dilations,
            "start_padding": self.start,
            "end_padding": self.end,
        }

    @property
    def pooling(self) -> dict[str, Any]:
        return {
            "window_size": self.window,
            "strides": self.strides,
            "start_padding": self.start,
            "end_padding": self.end,
        }


@st.composite
def windows(
    draw: st.DrawFn, spatial: int, *, dilated: bool = False, padded: bool = True, budget: int = 2000
) -> Windows:
    """Taps times positions are at most about `budget`; paddings may be larger than axis and window."""
    axes = []
    most = {1: 40, 2: 14, 3: 7}.get(spatial, 4)
    for _ in range(spatial):
        n = draw(st.integers(1, most))
        window = draw(st.integers(1, min(5, most, budget)))
        dilation = draw(st.integers(1, 4)) if dilated else 1
        extent = dilation * (window - 1) + 1
        if not padded and extent > n:
            n = extent
        missing = max(extent - n, 0)
        padding = missing + draw(st.sampled_from([0, 0, 1, 2, n + 1, 2 * extent]) if padded else st.just(0))
        start = draw(st.integers(0, padding))
        stride = draw(st.sampled_from([1, 1, 2, 3, extent, extent + 2]))
        axis = (n, window, stride, dilation, start, padding - start)
        (count,) = positions(*zip(axis, strict=True))
        if window * count > budget:
            stride = n + padding
            axis = (n, window, stride, dilation, start, padding - start)
            count = 1
        budget = max(budget // (window * count), 1)
        axes.append(axis)
    axes = draw(st.permutations(axes))
    columns = list(zip(*axes, strict=True))
    batch, channels = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    return Windows((batch, channels, *columns[0]), *columns[1:])


@st.composite
def regions(draw: st.DrawFn, batch: int, height: int, width: int, scale: float, dtype: str) -> Array:
    """1 to 6 regions in and around the image, in units of 1 / scale, with halves, huge and tiny coordinates."""
    huge = [float(np.finfo(dtype).max), 2.0**31, 2.0**31 - 128, 2.0**15, float(np.finfo(dtype).tiny)]
    ordinary = st.integers(-2 * max(height, width), 3 * max(height, width)).map(lambda k: k / 2 / scale)
    coordinates = st.one_of(ordinary, ordinary, ordinary, st.sampled_from(huge + [-value for value in huge]))
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        x1, x2 = sorted(draw(st.tuples(coordinates, coordinates)))
        y1, y2 = sorted(draw(st.tuples(coordinates, coordinates)))
        rows.append([draw(st.integers(0, batch - 1)), x1, y1, x2, y2])
    most = np.finfo(dtype).max
    return np.clip(np.array(rows, np.float64), -most, most).astype(dtype)
