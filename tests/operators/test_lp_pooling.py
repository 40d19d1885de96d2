"""LP_POOLING and LP_POOLING1 against their definition, within the accuracy of their specs, PyTorch and ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from adversarial import KINDS, adversarial
from checks import (
    assert_norm,
    assert_same_bits,
    assert_same_output_on_any_processor,
    assert_same_values,
    check_everywhere,
    onnx_run,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, Windows, examples, half_and_single, seeds, small_integers, windows

import dmlcy as dml

any_windows = st.integers(2, 3).flatmap(windows)
apart = st.integers(2, 3).flatmap(lambda spatial: windows(spatial, dilated=True))
powers = st.sampled_from([1, 1, 2, 2, 3, 4, 5, 7, 8, 13, 100, 2**32 - 1])


def assert_accurate(x: Array, attributes: dict[str, Any]) -> None:
    """Every result is within the one unit in the last place that the specs state."""
    with np.errstate(all="ignore"):
        expected = reference.lp_pooling(x, **attributes)
    operator = dml.lp_pooling1 if "dilations" in attributes else dml.lp_pooling
    assert_norm(operator(x, **attributes), expected, 1)


@examples(150)
@given(any_windows, half_and_single, powers, st.sampled_from(KINDS), seeds)
def test_accuracy(case: Windows, dtype: str, p: int, kind: str, seed: int) -> None:
    assert_accurate(adversarial(seed, case.sizes, dtype, kind), {**case.pooling, "p": p})


@examples(100)
@given(apart, half_and_single, powers, st.sampled_from(KINDS), seeds)
def test_accuracy_of_windows_whose_elements_lie_apart(case: Windows, dtype: str, p: int, kind: str, seed: int) -> None:
    x = adversarial(seed, case.sizes, dtype, kind)
    assert_accurate(x, {**case.pooling, "p": p, "dilations": case.dilations})


@examples(80)
@given(apart, half_and_single, powers, st.sampled_from(KINDS), seeds, st.data())
def test_any_layout(case: Windows, dtype: str, p: int, kind: str, seed: int, data: st.DataObject) -> None:
    x = adversarial(seed, case.sizes, dtype, kind)
    given = {**case.pooling, "p": p, "dilations": case.dilations}
    check_everywhere(data, "lp_pooling1", [x], given, assert_same_values)


@examples(80)
@given(any_windows, half_and_single, powers, st.sampled_from(KINDS), seeds)
def test_without_dilations_both_are_one(case: Windows, dtype: str, p: int, kind: str, seed: int) -> None:
    x = adversarial(seed, case.sizes, dtype, kind)
    assert_same_values(dml.lp_pooling1(x, **case.pooling, p=p), dml.lp_pooling(x, **case.pooling, p=p))


# Larger tensors

LARGER = [
    Windows((2, 3, 30, 40), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 5, 1500), (2, 3), (1, 1), (1, 3), (1, 2), (0, 7)),
    Windows((2, 33, 14, 14), (3, 3), (2, 2), (2, 1), (1, 1), (1, 1)),
    Windows((1, 13, 6, 9), (2, 3), (2, 1), (1, 2), (0, 1), (1, 1)),
    Windows((1, 2, 20, 70), (3, 3), (1, 1), (1, 2), (1, 1), (1, 1)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (1, 2, 1), (2, 3, 9), (0, 6, 1)),
]


@pytest.mark.parametrize("case", LARGER, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_larger_tensors(case: Windows, dtype: str, p: int) -> None:
    x = adversarial(5, case.sizes, dtype, "normal")
    given: dict[str, Any] = {**case.pooling, "p": p, "dilations": case.dilations}
    expected = reference.lp_pooling(x, **given)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    first = dml.lp_pooling1(x, **given)
    assert_norm(first, expected, 1)
    for source in (last, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        assert_same_bits(dml.lp_pooling1(source, **given), first)


def test_same_bits_on_any_processor() -> None:
    program = """
        import hashlib, itertools, numpy as np, dmlcy as dml
        bits = hashlib.sha256()
        for dtype, p, (window, stride) in itertools.product(["f4", "f2"], [1, 2, 3, 8], [(2, 2), (3, 1), (7, 3)]):
            for sizes in (2, 5, 19, 37), (1, 40, 7, 19, 27):
                x = np.random.default_rng(0).standard_normal(sizes).astype(dtype)
                for y in x, np.asfortranarray(x):
                    bits.update(dml.lp_pooling(y, window_size=window, strides=stride, p=p).tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


# The interpretations


def test_negative_elements_count_by_their_size() -> None:
    x = np.array([[[[1, -2, 3]]]], np.float32)
    assert [dml.lp_pooling(x, window_size=(1, 3), p=p).item() for p in (1, 2)] == [6, np.float32(14**0.5)]


def test_windows_of_padding_only_give_zero() -> None:
    x = np.full((1, 1, 2, 2), 3, np.float32)
    result = dml.lp_pooling(x, window_size=1, start_padding=2, end_padding=1, p=2)
    assert_same_bits(result, np.pad(x, [(0, 0), (0, 0), (2, 1), (2, 1)]))


def test_powers_beyond_single_precision() -> None:
    x = np.array([[[[2.0**100, 2.0**100, -(2.0**-120), 0]]]], np.float32)
    for p, root in [(2, 2**0.5), (4, 2**0.25), (8, 2**0.125)]:
        result = dml.lp_pooling(x, window_size=(1, 2), strides=(1, 2), p=p)
        np.testing.assert_array_equal(result, np.array([[[[2.0**100 * root, 2.0**-120]]]], np.float32))


def test_powers_beyond_double_precision() -> None:
    x = np.array([[[[2.0**100, 2.0**-120]]]], np.float32)
    np.testing.assert_array_equal(dml.lp_pooling(x, window_size=1, p=20), [[[[np.inf, 0]]]])


def test_half_sums_beyond_half_precision() -> None:
    x = np.full((1, 1, 2, 2), 60000, np.float16)
    assert dml.lp_pooling(x, window_size=2, p=1).item() == np.inf
    assert dml.lp_pooling(x, window_size=2, p=16).item() == np.float16(60000 * 4 ** (1 / 16))


def test_infinities_and_nan() -> None:
    x = np.array([[[[np.inf, 1, np.nan, -np.inf, 2, 3]]]], np.float32)
    for p in (1, 2, 3, 2**32 - 1):
        result = dml.lp_pooling(x, window_size=(1, 2), p=p)
        np.testing.assert_array_equal(result[..., :4], [[[[np.inf, np.nan, np.nan, np.inf]]]])


# Other libraries


@examples(60)
@given(any_windows, st.integers(1, 5), seeds)
def test_torch(case: Windows, p: int, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pool = torch.nn.functional.lp_pool2d if len(case.window) == 2 else torch.nn.functional.lp_pool3d
    x = np.abs(small_integers(seed, case.sizes, "f4", 9)) + 1
    stop = [0] * len(case.window)
    fits = all(w <= n for w, n in zip(case.window, x.shape[2:], strict=True))
    window = case.window if fits else x.shape[2:]
    expected: Array = pool(torch.from_numpy(x.astype("f8")), p, window, list(case.strides)).numpy()
    given: dict[str, Any] = {"window_size": window, "strides": case.strides, "start_padding": stop, "p": p}
    np.testing.assert_allclose(dml.lp_pooling(x, **given), expected, rtol=2.0**-22)


@examples(60)
@given(apart, st.integers(1, 3), seeds)
def test_onnx_runtime(case: Windows, p: int, seed: int) -> None:
    start, end = (
        tuple(min(n, w - 1) for n, w in zip(paddings, case.window, strict=True)) for paddings in (case.start, case.end)
    )
    extents = [d * (w - 1) + 1 for d, w in zip(case.dilations, case.window, strict=True)]
    sizes = tuple(max(n, e - a - b) for n, e, a, b in zip(case.sizes[2:], extents, start, end, strict=True))
    x = small_integers(seed, (*case.sizes[:2], *sizes), "f4", 9)
    expected = onnx_run(
        "LpPool", 18, [x], p=p, kernel_shape=case.window, strides=case.strides, dilations=case.dilations,
        pads=(*start, *end),
    )  # fmt: skip
    attributes: dict[str, Any] = {**case.pooling, "start_padding": start, "end_padding": end}
    actual = dml.lp_pooling1(x, **attributes, dilations=case.dilations, p=p)
    np.testing.assert_allclose(actual, expected, rtol=2.0**-20, atol=1e-6)


# What must hold


@examples(50)
@given(any_windows, half_and_single, seeds)
def test_the_largest_power_is_the_maximum(case: Windows, dtype: str, seed: int) -> None:
    x = np.abs(small_integers(seed, case.sizes, dtype, 9))
    large = dml.lp_pooling(x, **case.pooling, p=300)
    most = np.maximum(dml.max_pooling(x, **case.pooling), 0)
    np.testing.assert_allclose(large, most, rtol=0.05)
