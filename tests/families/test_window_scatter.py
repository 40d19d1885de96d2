"""Properties of window_scatter: sums, and the adjoint of window_gather."""

from __future__ import annotations

import numpy as np
from checks import assert_same_bits
from hypothesis import given
from hypothesis import strategies as st
from strategies import Windows, examples, seeds, small_integers, windows

import dmlcy as dml
from families.ways.window_scatter import columns


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


@examples(40)
@given(st.integers(1, 6).flatmap(lambda spatial: windows(spatial, dilated=True)), seeds)
def test_the_adjoint_of_unfold(case: Windows, seed: int) -> None:
    x, y = small_integers(seed, case.sizes, "i8"), small_integers(seed + 1, columns(case), "i8")
    folded = dml.fold(y, output_sizes=case.sizes[2:], **case.unfold)
    assert (dml.unfold(x, **case.unfold) * y).sum() == (x * folded).sum()


@examples(30)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4), seeds)
def test_windows_side_by_side_are_undone(axes: list[tuple[int, int]], seed: int) -> None:
    window = tuple(w for w, _ in axes)
    x = small_integers(seed, (2, 3, *(w * count for w, count in axes)), "f2")
    rows = dml.unfold(x, window_sizes=window, strides=window)
    assert_same_bits(dml.fold(rows, output_sizes=x.shape[2:], window_sizes=window, strides=window), x)
