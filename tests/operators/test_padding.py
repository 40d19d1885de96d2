"""PADDING1 against its definition, NumPy, PyTorch and ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, check_everywhere, onnx_run
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, MODES, Array, Padding, any_bits, dtypes, examples, paddings, seeds

import dmlcy as dml
from dmlcy._runtime.stream import set_stream_limit, stream_limit

NUMPY_MODES = {
    "CONSTANT": "constant",
    "EDGE": "edge",
    "REFLECTION": "reflect",
    "SYMMETRIC": "symmetric",
    "WRAP": "wrap",
}
modes = st.sampled_from(MODES)


def values_of(dtype: Any) -> st.SearchStrategy[Any]:
    """Padding values: exact integers, any float that does not overflow."""
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        ends = [int(limits.min), int(limits.max), int(limits.max) - 1]
        return st.one_of(st.sampled_from(ends), st.integers(ends[0], ends[1]))
    most = float(np.finfo(dtype).max)
    ends = [np.nan, np.inf, -np.inf, -0.0, most, -most, float(np.finfo(dtype).smallest_subnormal)]
    return st.one_of(st.sampled_from(ends), st.floats(-most, most))


def attributes_of(padding: Padding, mode: str, value: Any = 0) -> dict[str, Any]:
    return {
        "start_padding": padding.start,
        "end_padding": padding.end,
        "padding_mode": mode,
        "padding_value": value,
    }


@examples(150)
@given(paddings(), dtypes, modes, seeds, st.data())
def test_the_definition_bit_for_bit(padding: Padding, dtype: str, mode: str, seed: int, data: st.DataObject) -> None:
    x = any_bits(seed, padding.sizes, dtype)
    attributes = attributes_of(padding, mode, data.draw(values_of(dtype)))
    assert_same_bits(dml.padding1(x, **attributes), reference.padding1(x, **attributes))


@examples(120)
@given(paddings(budget=3000), dtypes, modes, seeds, st.data())
def test_any_layout(padding: Padding, dtype: str, mode: str, seed: int, data: st.DataObject) -> None:
    attributes = attributes_of(padding, mode, 3)
    check_everywhere(data, "padding1", [any_bits(seed, padding.sizes, dtype)], attributes)


LONG = [
    ((3,), (2000,), (3000,)),  # the mirror continues for longer than any table
    ((5000,), (1,), (1500,)),
    ((70_000,), (1100,), (3,)),
    ((2, 40_000), (1, 0), (2, 5)),
    ((300, 2, 3), (200, 0, 0), (10, 0, 0)),  # whole cells move
    ((40, 130), (3, 2), (1, 4)),
    ((2, 3, 33, 65), (0, 0, 3, 2), (0, 0, 4, 1)),
    ((1, 1, 1), (5, 1500, 2), (0, 7, 2)),
    ((2, 3, 5, 6), (1, 0, 12, 3), (0, 1, 4, 7)),  # planes that are mostly padding
    ((3, 32, 8), (0, 16, 12), (0, 16, 12)),  # of doubles: as large as a buffer for planes
    ((3, 32, 8), (0, 16, 12), (0, 17, 12)),  # a line more
    ((3, 2, 8), (0, 2, 600), (0, 3, 700)),  # rows of several pieces
    ((3, 2, 8, 5), (0, 2, 6, 0), (0, 3, 1, 0)),  # cells
]


@pytest.mark.parametrize(("sizes", "start", "end"), LONG)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
def test_long_axes(sizes: tuple[int, ...], start: tuple[int, ...], end: tuple[int, ...], mode: str, dtype: str) -> None:
    x = any_bits(1, sizes, dtype)
    attributes = attributes_of(Padding(sizes, start, end), mode, 7)
    expected = reference.padding1(x, **attributes)
    assert_same_bits(dml.padding1(x, **attributes), expected)
    out = np.empty(expected.shape, dtype, "F")
    for source in (np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        assert_same_bits(dml.padding1(source, **attributes), expected)
        assert_same_bits(dml.padding1(source, **attributes, out=out), expected)
        assert_same_bits(dml.padding1(source, **attributes, out=out[..., ::-1]), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("dtype", "most"), [("u1", 150), ("u2", 80), ("f4", 40), ("f8", 20)])
def test_rows_of_every_length(dtype: str, most: int, mode: str) -> None:
    """Every way to copy and to fill few bytes; steps that have loops of their own, and others."""
    for n in range(1, most):
        attributes = attributes_of(Padding((3, n), (1, n % 7), (2, n % 5)), mode, 9)
        x = any_bits(n, (3, n), dtype)
        expected = reference.padding1(x, **attributes)
        room = np.zeros(expected.size + 70, dtype)
        for step in (1, 2, 3, -1, -2):
            source = np.zeros((3, abs(step) * n + 5), dtype)[:, n % 5 :][:, :: abs(step)][:, :n][:, :: np.sign(step)]
            source[...] = x
            out = room[n % 64 :][: expected.size].reshape(expected.shape)
            assert_same_bits(dml.padding1(source, **attributes, out=out), expected)
            assert not room[: n % 64].any()
            assert not room[n % 64 + expected.size :].any()


@contextmanager
def streamed() -> Iterator[None]:
    """Every output is streamed."""
    before = stream_limit()
    set_stream_limit(0)
    try:
        yield
    finally:
        set_stream_limit(before)


@examples(100)
@given(paddings(budget=3000), dtypes, modes, seeds, st.data())
def test_streamed_in_any_layout(padding: Padding, dtype: str, mode: str, seed: int, data: st.DataObject) -> None:
    attributes = attributes_of(padding, mode, 3)
    x = any_bits(seed, padding.sizes, dtype)
    expected = dml.padding1(x, **attributes)
    with streamed():
        assert_same_bits(dml.padding1(x, **attributes), expected)
        check_everywhere(data, "padding1", [x], attributes)


@pytest.mark.parametrize(("sizes", "start", "end"), LONG)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
def test_streamed_long_axes(
    sizes: tuple[int, ...], start: tuple[int, ...], end: tuple[int, ...], mode: str, dtype: str
) -> None:
    x = any_bits(1, sizes, dtype)
    attributes = attributes_of(Padding(sizes, start, end), mode, 7)
    expected = dml.padding1(x, **attributes)
    count = expected.size
    room = np.zeros(count + 128, dtype)
    with streamed():
        for first in (0, 1, 13, 64):
            out = room[first : first + count].reshape(expected.shape)
            for source in (x, np.repeat(x, 2, -1)[..., ::2], x[..., ::-1].copy()[..., ::-1]):
                room[:] = 0
                assert_same_bits(dml.padding1(source, **attributes, out=out), expected)
                assert not room[:first].any()
                assert not room[first + count :].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["CF", "FC"])
def test_turned_tensors(dtype: str, order: str) -> None:
    """Input and output contiguous along different axes."""
    for sizes in [(20, 70), (70, 20), (64, 64), (3, 130, 67), (130, 3, 67)]:
        x = np.array(any_bits(2, sizes, dtype), order=order[0])  # type: ignore[call-overload]
        for mode in MODES:
            attributes = attributes_of(Padding(sizes, (2,) * len(sizes), (3,) * (len(sizes))), mode, 1)
            expected = reference.padding1(x, **attributes)
            out = np.empty(expected.shape, dtype, order=order[1])  # type: ignore[call-overload]
            assert_same_bits(dml.padding1(x, **attributes, out=out), expected)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_wide_integers_are_exact(dtype: str) -> None:
    for value in (np.iinfo(dtype).max, np.iinfo(dtype).max - 1, 2**53 + 1, np.iinfo(dtype).min):
        result = dml.padding1(np.ones(1, dtype), start_padding=1, end_padding=0, padding_value=int(value))
        assert result.tolist() == [int(value), 1]


def test_half_values_are_rounded_once() -> None:
    x = np.zeros(1, np.float16)
    tie = 1 + 2.0**-11
    for value, expected in [(tie, 1), (tie + 2.0**-40, 1 + 2.0**-10), (3 * tie, 3), (65519.99, 65504), (2.0**-25, 0)]:
        result = dml.padding1(x, start_padding=1, end_padding=0, padding_value=value)
        assert result[0] == np.float16(value), value
        if expected != 3:
            assert result[0] == expected, value


# Other libraries


@examples(100)
@given(paddings(), dtypes, modes, seeds)
def test_numpy(padding: Padding, dtype: str, mode: str, seed: int) -> None:
    x = any_bits(seed, padding.sizes, dtype)
    widths = list(zip(padding.start, padding.end, strict=True))
    constant: dict[str, Any] = {"constant_values": 5} if mode == "CONSTANT" else {}
    expected = np.pad(x, widths, NUMPY_MODES[mode], **constant)  # type: ignore[call-overload]
    assert_same_bits(dml.padding1(x, **attributes_of(padding, mode, 5)), expected)


@examples(80)
@given(st.integers(1, 3), st.data(), st.sampled_from(["CONSTANT", "EDGE", "REFLECTION", "WRAP"]), seeds)
def test_torch(spatial: int, data: st.DataObject, mode: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=spatial, max_size=spatial))
    most = {"CONSTANT": 9, "EDGE": 9, "REFLECTION": -1, "WRAP": 0}[mode]
    start, end = ([data.draw(st.integers(0, most if most > 0 else n + most)) for n in sizes] for _ in range(2))
    x = any_bits(seed, (2, 3, *sizes), "f4")
    flat = [width for pair in zip(start[::-1], end[::-1], strict=True) for width in pair]
    name = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "WRAP": "circular"}[mode]
    value = 1.5 if mode == "CONSTANT" else None
    expected = torch.nn.functional.pad(torch.from_numpy(x), flat, name, value).numpy()
    attributes = {"start_padding": (0, 0, *start), "end_padding": (0, 0, *end), "padding_value": 1.5}
    assert_same_bits(dml.padding1(x, padding_mode=mode, **attributes), expected)


@examples(60)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.data(), seeds)
def test_onnx_runtime(sizes: list[int], data: st.DataObject, seed: int) -> None:
    mode = data.draw(st.sampled_from(["CONSTANT", "EDGE", "REFLECTION", "WRAP"]))
    dtype = data.draw(st.sampled_from(["f4", "f8", "i4", "i8", "u4", "u8", "i1", "u1"]))
    most = {"CONSTANT": 9, "EDGE": 9, "REFLECTION": -1, "WRAP": 0}[mode]
    start, end = ([data.draw(st.integers(0, most if most > 0 else n + most)) for n in sizes] for _ in range(2))
    x = any_bits(seed, tuple(sizes), dtype)
    inputs = [x, np.array(start + end, np.int64)]
    if mode == "CONSTANT":
        inputs.append(np.array(9, dtype))
    expected = onnx_run("Pad", 19, inputs, mode=NUMPY_MODES[mode])
    attributes = attributes_of(Padding(tuple(sizes), tuple(start), tuple(end)), mode, 9)
    assert_same_bits(dml.padding1(x, **attributes), expected)


# What must hold


@examples(60)
@given(paddings(), dtypes, modes, seeds)
def test_cropping_gives_the_input(padding: Padding, dtype: str, mode: str, seed: int) -> None:
    x = any_bits(seed, padding.sizes, dtype)
    result = dml.padding1(x, **attributes_of(padding, mode))
    crop = tuple(slice(start, start + n) for start, n in zip(padding.start, padding.sizes, strict=True))
    assert_same_bits(np.ascontiguousarray(result[crop]), x)


@examples(60)
@given(paddings(), dtypes, st.sampled_from(["REFLECTION", "SYMMETRIC", "WRAP"]), seeds)
def test_periods(padding: Padding, dtype: str, mode: str, seed: int) -> None:
    result = dml.padding1(any_bits(seed, padding.sizes, dtype), **attributes_of(padding, mode))
    for axis, n in enumerate(padding.sizes):
        period = {"REFLECTION": max(2 * n - 2, 1), "SYMMETRIC": 2 * n, "WRAP": n}[mode]
        lines = np.moveaxis(result, axis, 0)
        assert_same_bits(np.ascontiguousarray(lines[period:]), np.ascontiguousarray(lines[:-period]))


@examples(60)
@given(paddings(), dtypes, modes, seeds)
def test_axis_by_axis(padding: Padding, dtype: str, mode: str, seed: int) -> None:
    x = any_bits(seed, padding.sizes, dtype)
    steps: Array = x
    for axis in reversed(range(x.ndim)):
        only = [[widths[axis] if d == axis else 0 for d in range(x.ndim)] for widths in (padding.start, padding.end)]
        steps = dml.padding1(steps, start_padding=only[0], end_padding=only[1], padding_mode=mode)
    assert_same_bits(dml.padding1(x, **attributes_of(padding, mode)), steps)


def test_an_int_pads_every_axis_and_the_mode_is_spelled_in_three_ways() -> None:
    x = np.arange(6).reshape(2, 3)
    expected = np.pad(x, ((1, 2), (1, 2)), "reflect")
    for mode in (dml.PaddingMode.REFLECTION, "REFLECTION", "DML_PADDING_MODE_REFLECTION"):
        assert_same_bits(dml.padding1(x, start_padding=1, end_padding=2, padding_mode=mode), expected)


@pytest.mark.parametrize(("dtype", "value", "hint"), [
    ("i4", 1e10, "The data type holds -2147483648 to 2147483647."),
    ("i4", np.nan, "The data type holds -2147483648 to 2147483647."),
    ("u1", -1, "The data type holds 0 to 255."),
    ("i4", 2.5, "Pass an int."),
    ("i4", 2.0, "Write 2."),
    ("i8", 2.0**60, "Pass an int."),
    ("f2", 1e6, "The largest number is 65504, and inf is allowed."),
    ("f4", 1e60, "The largest number is 3.40282347e+38, and inf is allowed."),
])  # fmt: skip
def test_the_remedy_is_what_the_data_type_holds(dtype: str, value: float, hint: str) -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.padding1(np.ones(2, dtype), start_padding=1, end_padding=0, padding_value=value)
    assert raised.value.violations[0].hint == hint
