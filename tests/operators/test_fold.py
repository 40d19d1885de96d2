"""FOLD against its definition, whole slices in NumPy, PyTorch and ONNX; and what a caller chooses of its sizes."""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, assert_same_output_on_any_processor, assert_same_values, check_everywhere
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, Windows, any_bits, dtypes, examples, seeds, small_integers, windows

import dmlcy as dml
from dmlcy._facts.tables import OPERATORS

any_windows = st.integers(1, 6).flatmap(lambda spatial: windows(spatial, dilated=True))


def attributes(case: Windows) -> dict[str, Any]:
    return {"output_sizes": case.sizes[2:], **case.unfold}


def columns(case: Windows) -> tuple[int, ...]:
    """Sizes of the input whose output has the sizes of the case."""
    blocks = reference.positions(case.sizes[2:], case.window, case.strides, case.dilations, case.start, case.end)
    return case.sizes[0], case.sizes[1] * math.prod(case.window), math.prod(blocks)


def by_slices(x: Array, case: Windows) -> Array:
    """The definition in terms of whole slices, for larger tensors."""
    sizes = case.sizes[2:]
    counts = reference.positions(sizes, case.window, case.strides, case.dilations, case.start, case.end)
    taps = x.reshape(*case.sizes[:2], math.prod(case.window), *counts)
    wide = np.float32 if x.dtype == np.float16 else x.dtype
    padded = [n + before + after for n, before, after in zip(sizes, case.start, case.end, strict=True)]
    sums = np.zeros((*case.sizes[:2], *padded), wide)
    every = (slice(None), slice(None))
    for row, tap in enumerate(reference.grid(case.window)):
        axes = [
            slice(t * d, t * d + (count - 1) * s + 1, s)
            for t, d, s, count in zip(tap, case.dilations, case.strides, counts, strict=True)
        ]
        sums[(*every, *axes)] += taps[:, :, row]
    inner = [slice(before, before + n) for n, before in zip(sizes, case.start, strict=True)]
    return np.ascontiguousarray(sums[(*every, *inner)]).astype(x.dtype)


# The definition


@examples(150)
@given(any_windows, dtypes, seeds)
def test_the_definition_bit_for_bit(case: Windows, dtype: str, seed: int) -> None:
    """NaN as well: what is added to it is NaN, whatever its bits."""
    x = any_bits(seed, columns(case), dtype)
    assert_same_values(dml.fold(x, **attributes(case)), reference.fold(x, **attributes(case)))


@examples(120)
@given(any_windows, dtypes, seeds, st.data())
def test_any_layout(case: Windows, dtype: str, seed: int, data: st.DataObject) -> None:
    check_everywhere(data, "fold", [small_integers(seed, columns(case), dtype)], attributes(case))


def image(sizes: tuple[int, ...], window: int, stride: int = 1, dilation: int = 1, padding: int = 0) -> Windows:
    n = len(sizes) - 2
    return Windows(sizes, (window,) * n, (stride,) * n, (dilation,) * n, (padding,) * n, (padding,) * n)


PATHS = {
    "long lines": image((1, 2, 3, 3000), 3, padding=1),
    "short lines": image((2, 5, 9, 7), 3, padding=1),
    "no padding": image((2, 3, 40, 43), 3),
    "many windows over an element": image((1, 2, 30, 70), 7, padding=3),
    "dilated": image((1, 5, 33, 37), 3, dilation=2, padding=2),
    "dilated by the stride": image((1, 5, 33, 37), 3, stride=2, dilation=2, padding=2),
    "overlapping strides": image((2, 5, 33, 35), 3, stride=2, padding=1),
    "overlapping patches": image((1, 2, 64, 70), 16, stride=8),
    "side by side 2": image((2, 5, 64, 70), 2, stride=2),
    "side by side 3": image((2, 4, 48, 53), 3, stride=3),
    "side by side 4": image((2, 3, 64, 68), 4, stride=4),
    "patches 16": image((2, 3, 64, 16 * 18), 16, stride=16),
    "patches with padding": image((1, 2, 60, 100), 8, stride=8, padding=3),
    "patches apart": image((1, 2, 61, 103), 5, stride=7, padding=3),
    "patches of more than a line is woven of": image((1, 2, 140, 210), 70, stride=70),
    "strides beyond the image": image((1, 2, 20, 20), 17, stride=100, padding=1),
    "padding only at most places": image((1, 2, 3, 2), 2, padding=9),
    "a window of many taps": Windows((1, 2, 4, 300), (2, 70), (1, 1), (1, 1), (0, 69), (1, 69)),
    "one axis": image((2, 3, 1000), 3, padding=1),
    "one axis, strided": image((2, 3, 5001), 5, stride=3, padding=2),
    "one axis, wider than a slab": image((1, 1, 9001), 3, padding=1),
    "one axis, woven of several slabs": image((1, 2, 9001), 5, stride=3, padding=2),
    "strides longer than a slab": image((1, 1, 15002), 5003, stride=4999),
    "strides and dilations longer than a slab": image((1, 1, 15002), 3, stride=4999, dilation=5001),
    "rows of several slabs": image((1, 1, 90, 300), 3, padding=1),
    "rows apart by more than a slab": image((1, 1, 60, 900), 9, stride=7, padding=2),
    "side by side in several slabs": image((1, 1, 700, 130), 2, stride=2),
    "side by side along a row": Windows((1, 2, 21, 24), (2, 3), (3, 3), (2, 1), (1, 0), (2, 0)),
    "one column": Windows((1, 2, 5000, 1), (3, 1), (1, 1), (1, 1), (1, 0), (1, 0)),
    "one row of one plane": Windows((2, 3, 1, 1, 50), (1, 1, 4), (3, 2, 2), (2, 1, 1), (0, 0, 1), (0, 1, 0)),
    "a column in padding": Windows((1, 2, 30, 1), (3, 1), (2, 2), (1, 1), (0, 2), (0, 1)),
    "one element": Windows((2, 3, 1, 1), (1, 1), (2, 3), (1, 1), (0, 0), (0, 0)),
    "volumes": image((1, 4, 9, 10, 11), 3, padding=1),
    "volumes side by side": image((1, 2, 8, 8, 40), 2, stride=2),
    "many channels": image((1, 70, 40, 44), 3, padding=1),
    "many channels side by side": image((2, 90, 64, 68), 2, stride=2),
    "more rows of blocks than are transposed": image((1, 2, 120, 60), 5, dilation=2, padding=4),
    "rows that no window reaches": Windows((1, 3, 90, 40), (2, 3), (40, 1), (1, 1), (0, 1), (9, 1)),
}


def channels_last(x: Array) -> Array:
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)).swapaxes(1, -1)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "f4", "f8"])
@pytest.mark.parametrize("case", PATHS.values(), ids=PATHS)
def test_every_path(case: Windows, dtype: str) -> None:
    x = small_integers(4, columns(case), dtype) if dtype[0] == "f" else any_bits(4, columns(case), dtype)
    expected = by_slices(x, case)
    out = np.empty(expected.shape, dtype, "F")
    apart = channels_last(np.repeat(x, 2, 1))[:, ::2]
    some = channels_last(np.concatenate([x, x], 1))[:, x.shape[1] :]
    for source in (x, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1], channels_last(x), apart, some):
        assert_same_bits(dml.fold(source, **attributes(case)), expected)
        assert_same_bits(dml.fold(source, **attributes(case), out=out), expected)


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
@pytest.mark.parametrize("case", PATHS.values(), ids=PATHS)
def test_no_byte_is_read_outside_the_input(case: Windows) -> None:
    mprotect = ctypes.CDLL(None).mprotect
    page = mmap.PAGESIZE
    for dtype in ("u1", "f2", "f4"):
        x = small_integers(8, columns(case), dtype)
        expected = by_slices(x, case)
        pages = -(-x.nbytes // page)
        with mmap.mmap(-1, (pages + 2) * page) as store:
            begin = ctypes.addressof(ctypes.c_char.from_buffer(store))
            for guard in (begin, begin + (pages + 1) * page):
                assert mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) == 0
            for offset in (page, (pages + 1) * page - x.nbytes):
                source: Array = np.ndarray(x.shape, dtype, store, offset)
                last: Array = np.ndarray((x.shape[0], x.shape[2], x.shape[1]), dtype, store, offset).swapaxes(1, 2)
                for layout in (source, last):
                    layout[...] = x
                    assert_same_bits(dml.fold(layout, **attributes(case)), expected)
                del source, last, layout


def test_half_is_rounded_once() -> None:
    """In FLOAT16 the sum would stay at 2048."""
    x = np.zeros((1, 5, 5), np.float16)
    x[0, range(5), range(4, -1, -1)] = (2048, 1, 1, 1, 1)  # all in the middle of the image
    assert dml.fold(x, output_sizes=9, window_sizes=5)[0, 0, 4] == 2052


def test_whole_numbers_wrap_around() -> None:
    for dtype in ("u1", "i1", "u8", "i8"):
        x = np.full((1, 2, 2), np.iinfo(dtype).max, dtype)
        result = dml.fold(x, output_sizes=3, window_sizes=2)
        with np.errstate(over="ignore"):
            assert result.tolist() == [[[x[0, 0, 0], x[0, 0, 0] + x[0, 0, 0], x[0, 0, 0]]]]


def test_what_no_window_covers_is_zero_and_minus_zero_is_added_to_zero() -> None:
    x = np.full((1, 2, 3), -0.0, np.float32)
    for stride, size in ((1, 4), (2, 6), (2, 7), (3, 9)):
        for dtype in ("f2", "f4", "f8"):
            result = dml.fold(x.astype(dtype), output_sizes=size, window_sizes=2, strides=stride)
            assert not np.signbit(result).any() and not result.any()


def test_any_processor() -> None:
    assert_same_output_on_any_processor("""
        import sys, numpy as np, dmlcy as dml
        x = np.random.default_rng(1).standard_normal((2, 27, 900))
        for dtype in ("f2", "f4", "f8", "i4"):
            y = dml.fold((x * 99).astype(dtype), output_sizes=(32, 32), window_sizes=3)
            sys.stdout.buffer.write(y.tobytes())
        y = dml.fold(x.astype("f2")[..., :225], output_sizes=(31, 31), window_sizes=3, strides=2)
        sys.stdout.buffer.write(y.tobytes())
    """)


# Other libraries


@examples(80)
@given(windows(2, dilated=True), st.sampled_from(["f4", "f8"]), seeds)
def test_torch(case: Windows, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    padded = replace(case, end=case.start)
    extents = [d * (w - 1) + 1 for d, w in zip(case.dilations, case.window, strict=True)]
    sizes = tuple(max(n, e - 2 * p) for n, e, p in zip(case.sizes[2:], extents, case.start, strict=True))
    padded = replace(padded, sizes=(*case.sizes[:2], *sizes))
    x = small_integers(seed, columns(padded), dtype)
    expected = torch.nn.functional.fold(
        torch.from_numpy(x), sizes, case.window, case.dilations, case.start, case.strides
    ).numpy()
    assert_same_bits(dml.fold(x, **attributes(padded)), expected)


@examples(60)
@given(st.integers(1, 3).flatmap(lambda n: windows(n, dilated=True)), seeds)
def test_onnx_reference(case: Windows, seed: int) -> None:
    """``Col2Im``, as the onnx package itself evaluates it."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    from onnx.reference.ops.op_col2im import col2im_naive_implementation

    assert onnx
    x = small_integers(seed, columns(case), "f4")
    blocks = columns(case)[2]
    rows = x.reshape(*case.sizes[:2], math.prod(case.window), blocks)
    pads = [*case.start, *case.end]
    for item in range(len(x)):
        for channel in range(case.sizes[1]):
            expected = col2im_naive_implementation(
                rows[item, channel], list(case.sizes[2:]), list(case.window), list(case.dilations), pads,
                list(case.strides),
            )  # fmt: skip
            np.testing.assert_array_equal(dml.fold(x, **attributes(case))[item, channel], expected)


# What must hold


@examples(80)
@given(any_windows, seeds)
def test_folding_what_was_unfolded_counts_the_windows(case: Windows, seed: int) -> None:
    x = small_integers(seed, case.sizes, "i8")
    back = dml.fold(dml.unfold(x, **case.unfold), **attributes(case))
    counts = dml.fold(dml.unfold(np.ones_like(x), **case.unfold), **attributes(case))
    assert_same_bits(back, x * counts)


@examples(80)
@given(any_windows, seeds)
def test_the_adjoint_of_unfold(case: Windows, seed: int) -> None:
    x, y = small_integers(seed, case.sizes, "i8"), small_integers(seed + 1, columns(case), "i8")
    assert (dml.unfold(x, **case.unfold) * y).sum() == (x * dml.fold(y, **attributes(case))).sum()


@examples(50)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4), dtypes, seeds)
def test_windows_side_by_side_are_undone(axes: list[tuple[int, int]], dtype: str, seed: int) -> None:
    window = tuple(w for w, _ in axes)
    x = small_integers(seed, (2, 3, *(w * count for w, count in axes)), dtype)
    rows = dml.unfold(x, window_sizes=window, strides=window)
    assert_same_bits(dml.fold(rows, output_sizes=x.shape[2:], window_sizes=window, strides=window), x)


# Sizes that the caller chooses

X = np.ones((1, 9, 4), np.float32)


def test_ways_to_give_the_sizes() -> None:
    whole = dml.fold(X, output_sizes=(4, 4), window_sizes=3)
    for sizes in ([4, 4], np.array([4, 4]), (np.int64(4), 4)):
        assert_same_bits(dml.fold(X, output_sizes=sizes, window_sizes=3), whole)
    line = np.ones((1, 3, 2), np.float32)
    assert_same_bits(dml.fold(line, output_sizes=4, window_sizes=3), dml.fold(line, output_sizes=(4,), window_sizes=3))


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"output_sizes": (4, 5)}, "input-sizes", "fix 6"),
    ({"output_sizes": (4, 4), "window_sizes": 2}, "input-sizes", "fix (1, 8, 9)"),
    ({"output_sizes": (4, 4), "input": np.ones((1, 10, 4), np.float32)}, "input-sizes", "fix 9"),
    ({"output_sizes": (4, 4), "input": np.ones((1, 3, 4), np.float32)}, "input-sizes", "fix 9"),
    ({"output_sizes": (4, 4), "input": X[None]}, "input-sizes", "fix (1, 9, 4)"),
    ({"output_sizes": (2, 4)}, "window_sizes-fits", "fix 2"),
    ({"output_sizes": (4, 0)}, "output_sizes-range", "fix 1"),
    ({"output_sizes": (4, -1)}, "output_sizes-range", "fix 1"),
    ({"output_sizes": (4, 2**32)}, "output_sizes-range", f"fix {2**32 - 1}"),
    ({"output_sizes": (4, 2.0)}, "output_sizes-type", "fix None"),
    ({"output_sizes": "44"}, "output_sizes-type", "fix None"),
    ({"output_sizes": None}, "output_sizes-required", "fix None"),
    ({"output_sizes": ()}, "output-rank", "fix None"),
    ({"output_sizes": (1,) * 7, "window_sizes": 1}, "output-rank", "fix None"),
    ({"output_sizes": (1,) * 20, "window_sizes": 1}, "output-rank", "fix None"),
    ({"output_sizes": 4, "window_sizes": (3, 3)}, "window_sizes-length", "fix None"),
    ({"output_sizes": (2**16, 2**16), "window_sizes": 1}, "input-sizes", "fix None"),
]


@pytest.mark.parametrize(
    ("changes", "slug", "fix"), REFUSED, ids=[f"{slug} {n}" for n, (_, slug, _) in enumerate(REFUSED)]
)
def test_a_refused_call(changes: dict[str, Any], slug: str, fix: str) -> None:
    given: dict[str, Any] = {"input": X, "window_sizes": 3, **changes}
    with pytest.raises(dml.DmlError) as raised:
        dml.fold(**given)
    first = raised.value.violations[0]
    assert first.id == f"DML-FOLD-{slug}", raised.value
    found = tuple(first.fix) if isinstance(first.fix, list) else first.fix
    assert f"fix {found}" == fix


def test_the_message_says_what_the_sizes_must_be() -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.fold(X, output_sizes=(4, 5), window_sizes=3)
    assert str(raised.value).startswith(
        "fold(): input has sizes (1, 9, 4), and must have [N, C * volume, prod(blocks)] = (1, 9, 6), where C = 1, "
        "volume = 9, blocks = [2, 3], output_sizes = (4, 5)."
    )
    assert "one column per position of the window" in str(raised.value)
    with pytest.raises(dml.InvalidDescError, match="rows is a multiple of volume, the product of window_sizes"):
        dml.fold(X, output_sizes=(3, 3), window_sizes=2)
    with pytest.raises(dml.InvalidDescError, match=r"input has 2 dimensions, and must have 3\."):
        dml.fold(X[0], output_sizes=(4, 4), window_sizes=3)
    with pytest.raises(TypeError, match="output_sizes"):
        dml.fold(X, window_sizes=3)  # type: ignore[call-overload]


@pytest.mark.parametrize(("sizes", "window", "message"), [
    ((1, 1, 4, 4), (3, 3), "needs 4, one for each spatial axis of output. output_sizes is (1, 1, 4, 4)."),
    (4, (3, 3), "needs 1, one for each spatial axis of output. output_sizes is (4,)."),
    ((), 3, "output has 2 dimensions, and must have 3 to 8. output_sizes gives 0 of these dimensions."),
    ((2,) * 7, 3, "output has 9 dimensions, and must have 3 to 8. output_sizes gives 7 of these dimensions."),
])  # fmt: skip
def test_the_message_says_what_the_number_of_sizes_decides(sizes: Any, window: Any, message: str) -> None:
    with pytest.raises(dml.InvalidDescError) as raised:
        dml.fold(X, output_sizes=sizes, window_sizes=window)
    assert message in str(raised.value)


def test_no_message_about_a_desc_names_what_only_a_call_has() -> None:
    x, image = dml.TensorDesc("FLOAT32", (1, 9, 4)), dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    (violation,) = dml.check(dml.desc.Fold(input=x, output=image, window_sizes=(3, 3, 3)))
    assert (violation.id, violation.hint) == ("DML-FOLD-window_sizes-length", "")
    wide = dml.TensorDesc("FLOAT32", (1, 1, 4, 5))
    (violation,) = dml.check(dml.desc.Fold(input=x, output=wide, window_sizes=3))
    assert violation.id == "DML-FOLD-input-sizes"
    assert violation.values["blocks"] == (2, 3)
    assert "output_sizes" not in violation.text


def test_a_desc_has_the_sizes_in_its_output() -> None:
    x, image = dml.TensorDesc("FLOAT32", (1, 9, 4)), dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    desc = dml.desc.Fold(input=x, output=image, window_sizes=(3, 3))
    assert dml.check(desc) == [] and desc.dimension_count == 2
    assert "output_sizes" not in desc.to_dict()["desc"]
    assert_same_bits(dml.compile(desc)(X), dml.fold(X, output_sizes=(4, 4), window_sizes=3))
    missing = dml.desc.Fold(input=x, output=None, window_sizes=(3, 3))  # type: ignore[arg-type]
    (violation,) = dml.check(missing)
    assert violation.id == "DML-FOLD-output-required"
    assert violation.hint == "The sizes of this tensor hold what a call takes as output_sizes."
    with pytest.raises(TypeError, match="output_sizes"):
        dml.desc.Fold(input=x, output=image, output_sizes=(4, 4), window_sizes=3)  # type: ignore[call-arg]
    other = dml.desc.Fold(input=x, output=dml.TensorDesc("FLOAT32", (1, 2, 4, 4)), window_sizes=(3, 3))
    assert [(one.id, one.index, one.fix) for one in dml.check(other)] == [("DML-FOLD-output-sizes", 1, 1)]


def test_a_desc_may_put_ones_in_front_of_the_input() -> None:
    image = dml.TensorDesc("FLOAT32", (2, 1, 4, 4))
    x = np.arange(72, dtype=np.float32).reshape(2, 9, 4)
    desc = dml.desc.Fold(input=dml.TensorDesc("FLOAT32", (1, 2, 9, 4)), output=image, window_sizes=(3, 3))
    assert dml.check(desc) == []
    assert_same_bits(dml.compile(desc)(x[None]), dml.fold(x, output_sizes=(4, 4), window_sizes=3))
    two = dml.desc.Fold(input=dml.TensorDesc("FLOAT32", (1, 1, 2, 9, 4)), output=image, window_sizes=(3, 3))
    assert [one.id for one in dml.check(two)] == ["DML-FOLD-input-dimensions"]
    with pytest.raises(dml.InvalidDescError, match="input-sizes"):
        dml.fold(x[None], output_sizes=(4, 4), window_sizes=3)


def test_the_spec_says_what_is_chosen() -> None:
    (row,) = dml.specs.operator("FOLD")["chosen"]
    assert row["name"] == "output_sizes"
    (field,) = OPERATORS["FOLD"].chosen
    assert field.part is not None and field.part.of((7, 8, 9, 10)) == (9, 10)


def test_a_recorded_call_is_a_desc() -> None:
    with dml.record() as recording:
        result = dml.fold(X, output_sizes=(4, 4), window_sizes=3)
    (call,) = recording.calls
    assert dml.check(call.desc) == []
    assert_same_bits(dml.compile(call.desc)(call.inputs["input"]), result)
