"""AVERAGE_POOLING against its definition, within the accuracy that its spec states, PyTorch and ONNX Runtime."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import reference
from adversarial import KINDS, adversarial
from checks import (
    assert_same_bits,
    assert_same_output_on_any_processor,
    assert_same_values,
    assert_within,
    check_everywhere,
    onnx_run,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, Windows, any_bits, examples, half_and_single, seeds, small_integers, windows

import dmlcy as dml

ACCURACY = dml.specs.operator("AVERAGE_POOLING")["accuracy"]
assert {row["of"] for row in ACCURACY.values()} == {"magnitudes"}
ULPS = {np.dtype(name.lower()).str[1:]: row["ulp"] for name, row in ACCURACY.items()}
any_windows = st.integers(2, 3).flatmap(windows)


def pooling(case: Windows, include_padding: bool) -> dict[str, Any]:
    return {**case.pooling, "include_padding": include_padding}


def assert_accurate(x: Array, attributes: dict[str, Any]) -> None:
    """Every result is within the stated number of units in the last place of sum(abs(x)) / divisor."""
    names = {"prod": math.prod, "min": min, "max": max, "window_size": window_of(x, attributes)}
    bound = eval(ULPS[x.dtype.str[1:]], names)
    assert_within(dml.average_pooling(x, **attributes), reference.average_pooling(x, **attributes), bound)


def window_of(x: Array, attributes: dict[str, Any]) -> tuple[int, ...]:
    window = attributes["window_size"]
    return (window,) * (x.ndim - 2) if isinstance(window, int) else tuple(window)


@examples(120)
@given(any_windows, half_and_single, st.booleans(), seeds)
def test_small_integers_are_exact(case: Windows, dtype: str, include: bool, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    average = reference.average_pooling(x, **pooling(case, include))
    np.testing.assert_array_equal(dml.average_pooling(x, **pooling(case, include)), average.rounded(dtype))


@examples(150)
@given(any_windows, half_and_single, st.booleans(), st.sampled_from(KINDS), seeds)
def test_accuracy(case: Windows, dtype: str, include: bool, kind: str, seed: int) -> None:
    assert_accurate(adversarial(seed, case.sizes, dtype, kind), pooling(case, include))


@examples(120)
@given(any_windows, half_and_single, st.booleans(), st.sampled_from(KINDS), seeds, st.data())
def test_any_layout(case: Windows, dtype: str, include: bool, kind: str, seed: int, data: st.DataObject) -> None:
    x = adversarial(seed, case.sizes, dtype, kind)
    # IEEE 754 leaves open which of two NaN a sum is.
    check_everywhere(data, "average_pooling", [x], pooling(case, include), assert_same_values)


# Larger tensors

LARGER = [
    Windows((2, 3, 30, 40), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 5, 2500), (2, 3), (1, 1), (1, 1), (1, 2), (0, 7)),
    Windows((1, 1, 3, 6000), (2, 2500), (1, 1700), (1, 1), (0, 100), (1, 300)),  # a window that is taken in parts
    Windows((1, 1, 2, 9000), (1, 1), (2, 1100), (1, 1), (3, 5), (0, 0)),
    Windows((1, 3, 300, 4), (150, 3), (75, 1), (1, 1), (10, 1), (20, 1)),
    Windows((3, 700, 2, 3), (2, 3), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((2, 5, 7, 7), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((1, 2, 1, 50), (1, 9), (1, 1), (1, 1), (0, 4), (0, 4)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (1, 1, 1), (2, 3, 9), (0, 6, 1)),
    Windows((1, 2, 3, 4), (2, 3), (1, 1), (1, 1), (30, 40), (10, 50)),
    # Few columns: channels are taken side by side, in blocks of 4, 8 and 32 and what is left.
    *(
        Windows((channels, 1, 6, columns), (2, 3), (2, 1), (1, 1), (0, 1), (1, 1))
        for channels in (7, 8, 13, 33)
        for columns in (1, 2, 3, 5, 9, 17, 20, 21)
    ),
    Windows((2, 33, 14, 14), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    # Windows of 3 rows, which slide from row to row, and of 3 columns, which are combined last.
    Windows((2, 2, 60, 70), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 4, 1500), (3, 3), (1, 1), (1, 1), (2, 2), (0, 1)),
    Windows((1, 2, 4, 9, 45), (2, 3, 3), (1, 1, 1), (1, 1, 1), (0, 0, 2), (1, 2, 0)),
    Windows((3, 11, 7, 7), (7, 7), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((2, 9, 3, 8, 10), (2, 3, 4), (1, 2, 1), (1, 1, 2), (1, 0, 2), (0, 1, 1)),
]


@pytest.mark.parametrize("case", LARGER, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("include", [False, True])
def test_larger_tensors(case: Windows, dtype: str, include: bool) -> None:
    x = small_integers(5, case.sizes, dtype, most=9)
    expected = reference.average_pooling(x, **pooling(case, include)).rounded(dtype)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    out = np.empty(expected.shape, dtype, "F")
    for source in (x, last, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        np.testing.assert_array_equal(dml.average_pooling(source, **pooling(case, include)), expected)
        np.testing.assert_array_equal(dml.average_pooling(source, **pooling(case, include), out=out), expected)


@pytest.mark.parametrize("case", LARGER, ids=str)
def test_larger_floats_have_the_same_bits_in_any_layout(case: Windows) -> None:
    x = adversarial(6, case.sizes, "f4", "magnitudes")
    expected = dml.average_pooling(x, **case.pooling)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    out = np.empty(expected.shape, "f4", "F")
    for source in (last, np.asfortranarray(x), x[:, ::-1].copy()[:, ::-1]):
        assert_same_bits(dml.average_pooling(source, **case.pooling), expected)
        assert_same_bits(dml.average_pooling(source, **case.pooling, out=out), expected)


GLOBAL = [(7, 7), (16, 16), (64, 64), (300, 2), (2, 300), (1, 5000), (5000, 1), (4, 30, 20), (1, 40_000)]


@pytest.mark.parametrize("window", GLOBAL, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("kind", ["normal", "positive", "one and many small"])
def test_accuracy_of_large_windows(window: tuple[int, ...], dtype: str, kind: str) -> None:
    x = adversarial(7, (1, 2, *window), dtype, "normal")
    if kind == "positive":
        x = np.abs(x)
    if kind == "one and many small":  # each of them is lost in a float32 sum
        x[...] = 2.0**-25 if dtype == "f4" else 2.0**-24
        x.reshape(2, -1)[:, 0] = 1
    assert_accurate(x, {"window_size": window, "strides": (1,) * len(window), "start_padding": (0,) * len(window),
                        "end_padding": (0,) * len(window), "include_padding": False})  # fmt: skip


# The order of the sum, which docs/families.md states, and the division

ORDERED = [
    Windows((2, 3, 9, 12), (3, 5), (2, 1), (1, 1), (1, 2), (1, 2)),
    Windows((1, 2, 30, 40), (20, 17), (3, 2), (1, 1), (5, 4), (2, 3)),
    Windows((1, 9, 8, 300), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0)),
    Windows((2, 3, 14, 50), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    Windows((9, 2, 40, 11), (40, 11), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((1, 2, 6, 7, 9), (3, 3, 4), (1, 2, 1), (1, 1, 1), (1, 1, 2), (1, 0, 2)),
    Windows((2, 3, 9, 5), (6, 1), (1, 1), (1, 1), (3, 0), (3, 0)),
    Windows((2, 3, 9, 1), (6, 1), (1, 1), (1, 1), (3, 0), (3, 0)),  # the last axis makes no difference
    Windows((2, 3, 7, 9, 1), (3, 6, 1), (1, 1, 1), (1, 1, 1), (1, 3, 0), (1, 3, 0)),
    Windows((2, 3, 7, 4, 9), (6, 1, 4), (1, 1, 1), (1, 1, 1), (3, 0, 1), (3, 0, 1)),
]


def in_pairs(terms: list[Array]) -> Array:
    pairs = [sum(terms[i + 1 : i + 2], terms[i]) for i in range(0, len(terms), 2)]
    return sum(pairs[1:], pairs[0])


def window_sum(x: Array, case: Windows, position: tuple[int, ...]) -> Array:
    """What is under a window in each channel: outer axes, rows, columns."""
    zero = np.zeros(x.shape[:2], x.dtype)
    taps = [
        range(i * stride - before, i * stride - before + window)
        for i, stride, before, window in zip(position, case.strides, case.start, case.window, strict=True)
    ]
    if x.shape[-1] == case.window[-1] == 1:  # left out: the axis before it is the last one
        x, taps = np.moveaxis(x, -1, 2), [taps[-1], *taps[:-1]]
    *outer, rows, _ = [[tap for tap in axis if 0 <= tap < n] for axis, n in zip(taps, x.shape[2:], strict=True)]
    columns = []
    for column in taps[-1]:
        inside = 0 <= column < x.shape[-1]
        sums = [
            in_pairs([x[(slice(None), slice(None), *first, row, column)] for first in itertools.product(*outer)])
            for row in rows
            if inside
        ]
        columns.append(in_pairs(sums) if sums else zero)
    return in_pairs(columns)


@pytest.mark.parametrize("case", ORDERED, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_order_of_the_sum(case: Windows, dtype: str) -> None:
    x = adversarial(8, case.sizes, dtype, "magnitudes")
    actual = dml.average_pooling(x, **pooling(case, True))
    expected = np.empty(actual.shape, np.float32)
    for position in reference.grid(actual.shape[2:]):
        expected[(slice(None), slice(None), *position)] = window_sum(x.astype("f4"), case, position)
    assert_same_bits(actual, (expected / np.float32(math.prod(case.window))).astype(dtype))


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("last", [False, True])
def test_division_is_rounded_once(dtype: str, last: bool) -> None:
    limits = np.finfo(dtype)
    special = [np.inf, -np.inf, np.nan, -0.0, limits.max, limits.smallest_normal, 3 * limits.smallest_subnormal]
    values = np.concatenate([np.array(special, dtype), any_bits(9, (997,), dtype)])
    for size in [*range(1, 40), 49, 64, 96, 121, 1000]:
        x = np.zeros((values.size, size), dtype)
        x[:, size // 2] = values
        x = x[:, None, None] if last else np.ascontiguousarray(x.T)[None, None]
        with np.errstate(all="ignore"):
            expected = ((values.astype("f4") + 0) / np.float32(size)).astype(dtype)
        actual = dml.average_pooling(x, window_size=(1, size) if last else (size, 1))
        assert_same_values(actual.ravel(), expected)


def test_same_bits_on_any_processor() -> None:
    program = """
        import hashlib, itertools, numpy as np, dmlcy as dml
        bits = hashlib.sha256()
        for dtype, (window, stride, padding) in itertools.product(
            ["f4", "f2"], [(2, 2, 0), (3, 1, 1), (3, 2, 1), (7, 1, 3), (13, 5, 6), ((19, 37), 1, 0)]
        ):
            for sizes in (2, 5, 19, 37), (1, 40, 3, 19, 37):
                x = np.random.default_rng(0).standard_normal(sizes).astype(dtype)
                attributes = dict(strides=stride, start_padding=padding, end_padding=padding)
                shape = window if isinstance(window, tuple) else (window, window)
                attributes["window_size"] = (3,) * (len(sizes) - 4) + shape
                for y in x, np.asfortranarray(x):
                    bits.update(dml.average_pooling(y, **attributes).tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


# The interpretations


def test_half_sums_do_not_overflow() -> None:
    x = np.full((1, 1, 40, 40), 65504, np.float16)
    np.testing.assert_array_equal(dml.average_pooling(x, window_size=40), np.float16(65504))
    np.testing.assert_array_equal(dml.average_pooling(x, window_size=(40, 1)), np.float16(65504))


def test_single_sums_overflow() -> None:
    most = np.finfo(np.float32).max
    for row, expected in [([most, most], np.inf), ([-most, -most], -np.inf), ([most, most, -most, -most], np.nan)]:
        x = np.array(row, np.float32)[None, None, None]
        np.testing.assert_array_equal(dml.average_pooling(x, window_size=(1, len(row))), expected)
    x = np.array([most, -most, most / 2, most / 2], np.float32)[None, None, None]
    assert dml.average_pooling(x, window_size=(1, 4)).item() == most / 4


def test_half_sums_keep_small_elements() -> None:
    x = np.ones((1, 1, 1, 4096), np.float16)
    assert dml.average_pooling(x, window_size=(1, 4096)).item() == 1


def test_windows_of_padding_only_give_zero() -> None:
    x = np.full((1, 1, 2, 2), np.nan, np.float32)
    result = dml.average_pooling(x, window_size=1, start_padding=2, end_padding=1)
    np.testing.assert_array_equal(np.isnan(result), np.pad(np.ones((2, 2), bool), (2, 1))[None, None])
    np.testing.assert_array_equal(result[0, 0, :2], 0)
    result = dml.average_pooling(x, window_size=1, start_padding=2, end_padding=1, include_padding=True)
    np.testing.assert_array_equal(result[0, 0, :2], 0)


def test_padding_does_not_spread_infinities() -> None:
    x = np.full((1, 1, 1, 3), np.inf, np.float32)
    result = dml.average_pooling(x, window_size=(1, 3), start_padding=(0, 2), end_padding=(0, 3), include_padding=True)
    np.testing.assert_array_equal(result.ravel(), [np.inf] * 5 + [0])


@examples(60)
@given(any_windows, half_and_single, st.booleans(), seeds)
def test_elements_that_no_window_reaches_are_not_read(case: Windows, dtype: str, include: bool, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    counts = reference.positions(case.sizes[2:], case.window, case.strides, case.dilations, case.start, case.end)
    read = np.zeros(case.sizes[2:], bool)
    for o in reference.grid(counts):
        begins = [i * s - before for i, s, before in zip(o, case.strides, case.start, strict=True)]
        read[tuple(slice(max(b, 0), max(b + w, 0)) for b, w in zip(begins, case.window, strict=True))] = True
    spoilt = np.where(read, x, np.array(np.nan, dtype))
    assert_same_bits(
        dml.average_pooling(spoilt, **pooling(case, include)), dml.average_pooling(x, **pooling(case, include))
    )


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("rows", range(1, 26))
def test_every_number_of_rows(dtype: str, rows: int) -> None:
    """Rows are added several at a time; what is left over by windows of any height is added too."""
    x = small_integers(rows, (1, 1, rows + 2, 150), dtype)
    expected = np.lib.stride_tricks.sliding_window_view(x.astype("f8"), (rows, 2), axis=(2, 3)).sum((4, 5)) / (2 * rows)
    actual = dml.average_pooling(x, window_size=(rows, 2))
    np.testing.assert_allclose(actual, expected, rtol=2.0 ** -(22 if dtype == "f4" else 10), atol=0)


# Other libraries


@examples(80)
@given(any_windows, st.booleans(), seeds)
def test_torch(case: Windows, include: bool, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pool = torch.nn.functional.avg_pool2d if len(case.window) == 2 else torch.nn.functional.avg_pool3d
    widths = [width for pair in zip(case.start[::-1], case.end[::-1], strict=True) for width in pair]

    def sums(x: Array) -> Array:
        padded = torch.nn.functional.pad(torch.from_numpy(x), widths)
        result: Array = pool(padded, case.window, case.strides, divisor_override=1).numpy()
        return result

    x = small_integers(seed, case.sizes, "f4")
    divisor = np.float32(math.prod(case.window)) if include else np.maximum(sums(np.ones_like(x)), 1)
    assert_same_bits(dml.average_pooling(x, **pooling(case, include)) + 0, sums(x) / divisor + 0)


@examples(60)
@given(any_windows, st.booleans(), seeds)
def test_onnx_runtime(case: Windows, include: bool, seed: int) -> None:
    start, end = (
        tuple(min(p, w - 1) for p, w in zip(paddings, case.window, strict=True)) for paddings in (case.start, case.end)
    )
    sizes = tuple(
        max(n, w - before - after) for n, w, before, after in zip(case.sizes[2:], case.window, start, end, strict=True)
    )
    x = small_integers(seed, (*case.sizes[:2], *sizes), "f4")
    options = {"kernel_shape": case.window, "strides": case.strides, "pads": (*start, *end)}
    expected = onnx_run("AveragePool", 11, [x], count_include_pad=int(include), **options)
    attributes: dict[str, Any] = {**pooling(case, include), "start_padding": start, "end_padding": end}
    actual = dml.average_pooling(x, **attributes)
    np.testing.assert_allclose(actual, expected, rtol=2**-22, atol=0)


# What must hold


@examples(50)
@given(any_windows, half_and_single, seeds)
def test_padding_first_or_within(case: Windows, dtype: str, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    padded = dml.padding1(x, start_padding=(0, 0, *case.start), end_padding=(0, 0, *case.end))
    without: dict[str, Any] = {**case.pooling, "start_padding": 0, "end_padding": 0}
    np.testing.assert_array_equal(
        dml.average_pooling(padded, **without), dml.average_pooling(x, **case.pooling, include_padding=True)
    )


@examples(50)
@given(any_windows, half_and_single, st.booleans(), seeds)
def test_a_batch_is_its_items_and_channels_are_apart(case: Windows, dtype: str, include: bool, seed: int) -> None:
    x = adversarial(seed, case.sizes, dtype, "magnitudes")
    attributes = pooling(case, include)
    result = dml.average_pooling(x, **attributes)
    items = [dml.average_pooling(x[i : i + 1], **attributes) for i in range(x.shape[0])]
    assert_same_bits(result, np.concatenate(items))
    channels = [dml.average_pooling(x[:, i : i + 1], **attributes) for i in range(x.shape[1])]
    assert_same_bits(result, np.concatenate(channels, 1))


@examples(40)
@given(windows(2), half_and_single, st.booleans(), seeds)
def test_a_depth_of_one_makes_no_difference(case: Windows, dtype: str, include: bool, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    deep = {name: (0 if name.endswith("padding") else 1, *value) for name, value in case.pooling.items()}
    result = dml.average_pooling(x[:, :, None], **deep, include_padding=include)
    assert_same_bits(result[:, :, 0], dml.average_pooling(x, **pooling(case, include)))


@examples(40)
@given(any_windows, st.booleans(), st.sampled_from([-1.0, 0.5, 8.0]), seeds)
def test_powers_of_two_and_signs_scale_exactly(case: Windows, include: bool, factor: float, seed: int) -> None:
    x = adversarial(seed, case.sizes, "f4", "magnitudes")
    scaled = dml.average_pooling(x * np.float32(factor), **pooling(case, include))
    np.testing.assert_array_equal(scaled, dml.average_pooling(x, **pooling(case, include)) * np.float32(factor))
