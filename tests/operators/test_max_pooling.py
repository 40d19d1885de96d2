"""MAX_POOLING against its definition, PyTorch and ONNX Runtime: exact, in every data type and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from adversarial import adversarial
from checks import (
    assert_same_bits,
    assert_same_output_on_any_processor,
    assert_same_values,
    check_everywhere,
    onnx_run,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, Windows, any_bits, examples, seeds, small_integers, windows

import dmlcy as dml

DTYPES = ("f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
dtypes = st.sampled_from(DTYPES)
any_windows = st.integers(2, 3).flatmap(windows)


def image(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Few different numbers, so that maxima tie, and among them any bits: zeros of both signs, infinities, NaN."""
    x = small_integers(seed, sizes, dtype, most=3)
    rng = np.random.default_rng(seed)
    chosen = rng.random(sizes) < rng.choice([0, 0.3, 0.9])
    bits = f"u{x.itemsize}"
    x.view(bits)[chosen] = any_bits(seed, sizes, dtype).view(bits)[chosen]
    if x.dtype.kind == "f":
        x[rng.random(sizes) < rng.choice([0, 0.7])] = np.nan
        x.view(f"i{x.itemsize}")[rng.random(sizes) < rng.choice([0, 0.7])] = -1  # the NaN whose bits are all ones
        x[rng.random(sizes) < rng.choice([0, 0.5])] = -0.0
    return x


@examples(200)
@given(any_windows, dtypes, seeds)
def test_the_definition(case: Windows, dtype: str, seed: int) -> None:
    x = image(seed, case.sizes, dtype)
    assert_same_values(dml.max_pooling(x, **case.pooling), reference.max_pooling(x, **case.pooling))


@examples(120)
@given(any_windows, dtypes, seeds, st.data())
def test_any_layout(case: Windows, dtype: str, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, "max_pooling", [image(seed, case.sizes, dtype)], case.pooling, assert_same_values)


# Larger tensors

LARGER = [
    Windows((2, 3, 30, 40), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 5, 2500), (2, 3), (1, 1), (1, 1), (1, 2), (0, 7)),
    Windows((1, 1, 3, 6000), (2, 2500), (1, 1700), (1, 1), (0, 100), (1, 300)),  # a window that is taken in parts
    Windows((1, 3, 300, 4), (150, 3), (75, 1), (1, 1), (10, 1), (20, 1)),
    Windows((2, 5, 7, 7), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (1, 1, 1), (2, 3, 9), (0, 6, 1)),
    Windows((1, 2, 3, 4), (2, 3), (1, 1), (1, 1), (30, 40), (10, 50)),
    Windows((2, 33, 14, 14), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 40, 150), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0)),
    Windows((2, 2, 60, 70), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 4, 1500), (3, 3), (1, 1), (1, 1), (2, 2), (0, 1)),
    Windows((1, 13, 6, 9), (2, 3), (2, 1), (1, 1), (0, 1), (1, 1)),
    Windows((1, 3, 8, 10, 50), (2, 2, 2), (2, 2, 2), (1, 1, 1), (0, 0, 0), (0, 0, 0)),
    Windows((2, 2, 5, 19, 40), (2, 3, 3), (3, 4, 2), (1, 1, 1), (1, 2, 1), (1, 2, 1)),
    Windows((1, 2, 7, 9, 33), (3, 2, 2), (1, 3, 2), (1, 1, 1), (1, 2, 0), (1, 2, 1)),
]
WHOLE = [(2, 5, 8, 9), (1, 4, 300, 3), (3, 2, 2, 9, 16), (1, 7, 1, 64), (2, 3, 65, 1, 2), (1, 40, 12, 11)]


@pytest.mark.parametrize("case", LARGER, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("special", ["all", "last", "none"])
def test_larger_tensors(case: Windows, dtype: str, special: str) -> None:
    """Where no result is -0 or -infinity, floats are compared as they are; from the first such result on, exactly."""
    x = small_integers(5, case.sizes, dtype, most=50)
    first = {"all": 0, "last": case.sizes[1] - 1, "none": case.sizes[1]}[special]
    x[:, first:] = image(5, case.sizes, dtype)[:, first:]
    expected = reference.max_pooling(x, **case.pooling)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    out = np.empty(expected.shape, dtype, "F")
    for source in (x, last, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        assert_same_values(dml.max_pooling(source, **case.pooling), expected)
        dml.max_pooling(source, **case.pooling, out=out)
        assert_same_values(np.ascontiguousarray(out), expected)


def test_threads_that_take_subnormal_numbers_for_zeros() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = adversarial(3, (1, 2, 40, 50), "f4", "subnormal")
    cases: list[dict[str, Any]] = [{"window_size": 3}, {"window_size": 2, "strides": 2}, {"window_size": (40, 50)}]
    expected = [dml.max_pooling(x, **case) for case in cases]
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot take subnormal numbers for zeros")
    try:
        results = [dml.max_pooling(x, **case) for case in cases]
    finally:
        torch.set_flush_denormal(False)
    for result, right in zip(results, expected, strict=True):
        assert_same_bits(result, right)


@pytest.mark.parametrize("sizes", WHOLE, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_window_over_everything(sizes: tuple[int, ...], dtype: str) -> None:
    """With and without padding, and where one axis is not under it as a whole."""
    for seed in range(4):
        x = image(seed, sizes, dtype)
        last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
        for padding in (0, 1):
            window = tuple(size + 2 * padding for size in sizes[2:])
            for height in {window[0], -(-window[0] // 2)}:
                ones, pads = (1,) * len(window), (padding,) * len(window)
                case = Windows(sizes, (height, *window[1:]), ones, ones, pads, pads).pooling
                expected = reference.max_pooling(x, **case)
                for source in (x, last, x[..., ::-1].copy()[..., ::-1]):
                    assert_same_values(dml.max_pooling(source, **case), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", range(1, 26))
def test_every_number_of_rows(dtype: str, rows: int) -> None:
    """Rows are taken several at a time; what is left over by windows of any height is taken too."""
    x = small_integers(rows, (1, 1, rows + 2, 150), dtype, most=100)
    expected = np.lib.stride_tricks.sliding_window_view(x, (rows, 2), axis=(2, 3)).max((4, 5))
    assert_same_bits(dml.max_pooling(x, window_size=(rows, 2)), expected)


def test_same_bits_on_any_processor() -> None:
    program = """
        import hashlib, itertools, numpy as np, dmlcy as dml
        bits = hashlib.sha256()
        for dtype, (window, stride, padding) in itertools.product(
            ["f4", "f2", "i1", "u2", "u4", "i8", "u8"], [(2, 2, 0), (3, 1, 1), (3, 2, 1), (13, 5, 6)]
        ):
            for sizes in (2, 5, 19, 37), (1, 40, 3, 19, 70):
                x = (np.random.default_rng(0).standard_normal(sizes) * 99).astype("i8").astype(dtype)
                x[..., :3, :4] = -x[..., :3, :4] * 0 if dtype[0] == "f" else 7
                for y in x, np.asfortranarray(x):
                    bits.update(dml.max_pooling(
                        y, window_size=(3, window, window)[5 - len(sizes):], strides=stride,
                        start_padding=padding, end_padding=padding).tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


# The interpretations


@pytest.mark.parametrize("dtype", DTYPES)
def test_windows_of_padding_only_give_the_least_number(dtype: str) -> None:
    x = np.zeros((1, 1, 2, 2), dtype)
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(dtype).min
    result = dml.max_pooling(x, window_size=1, start_padding=2, end_padding=1)
    assert_same_bits(result, np.pad(x, [(0, 0), (0, 0), (2, 1), (2, 1)], constant_values=least))


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("size", [1, 2, 7, 40, 70])
def test_a_nan_loses_but_not_to_padding(dtype: str, size: int) -> None:
    nan = np.full(size, np.nan, dtype)
    ones = np.full(size, -1, f"i{nan.itemsize}").view(dtype)  # a NaN too, the least one if bits are compared
    for first, second, wanted in [
        (nan, ones, np.nan), (ones, -nan, np.nan), (ones, -np.inf, -np.inf), (nan, -np.inf, -np.inf), (nan, 1, 1),
        (-0.0, 0.0, 0.0), (0.0, -0.0, 0.0), (-0.0, nan, -0.0), (-0.0, -0.0, -0.0), (np.inf, nan, np.inf),
    ]:  # fmt: skip
        x = np.empty((1, 1, 2, size), dtype)
        x[0, 0, 0], x[0, 0, 1] = first, second
        result = dml.max_pooling(x, window_size=(4, 1), start_padding=(2, 0), end_padding=(2, 0))
        for row in result[0, 0]:
            assert_same_values(row, np.full(size, wanted, dtype))


# Other libraries


@examples(80)
@given(any_windows, st.sampled_from(["f4", "f2", "i1", "i2", "i4", "i8", "u1"]), seeds)
def test_torch(case: Windows, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pool = torch.nn.functional.max_pool2d if len(case.window) == 2 else torch.nn.functional.max_pool3d
    x = small_integers(seed, case.sizes, dtype)
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(dtype).min
    padded = np.pad(x, [(0, 0), (0, 0), *zip(case.start, case.end, strict=True)], constant_values=least)
    expected: Array = pool(torch.from_numpy(padded), case.window, case.strides).numpy()
    assert_same_bits(dml.max_pooling(x, **case.pooling), expected)


@examples(60)
@given(any_windows, st.sampled_from(["f4", "f2", "i1", "u1"]), seeds)
def test_onnx_runtime(case: Windows, dtype: str, seed: int) -> None:
    start, end = (
        tuple(min(p, w - 1) for p, w in zip(paddings, case.window, strict=True)) for paddings in (case.start, case.end)
    )
    sizes = tuple(
        max(n, w - before - after) for n, w, before, after in zip(case.sizes[2:], case.window, start, end, strict=True)
    )
    x = small_integers(seed, (*case.sizes[:2], *sizes), dtype)
    expected = onnx_run("MaxPool", 12, [x], kernel_shape=case.window, strides=case.strides, pads=(*start, *end))
    attributes: dict[str, Any] = {**case.pooling, "start_padding": start, "end_padding": end}
    assert_same_bits(dml.max_pooling(x, **attributes), expected)


# What must hold


@examples(50)
@given(any_windows, dtypes, seeds)
def test_the_maximum_of_negated_elements_is_the_least_one(case: Windows, dtype: str, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    turned = ~x if x.dtype.kind != "f" else -x
    least = dml.max_pooling(turned, **case.pooling)
    least = ~least if x.dtype.kind != "f" else -least
    most = dml.max_pooling(x, **case.pooling)
    covered = dml.max_pooling(np.ones(case.sizes, "i1"), **case.pooling) == 1
    assert (least <= most)[covered].all() and (least > most)[~covered].all()


@examples(50)
@given(any_windows, dtypes, seeds)
def test_axis_after_axis(case: Windows, dtype: str, seed: int) -> None:
    x = small_integers(seed, case.sizes, dtype)
    result = x
    for axis in range(len(case.window)):
        here = {
            name: tuple(value[d] if d == axis else int(name in ("window_size", "strides")) for d in range(len(value)))
            for name, value in case.pooling.items()
        }
        result = dml.max_pooling(result, **here)
    assert_same_bits(result, dml.max_pooling(x, **case.pooling))
