"""The sums of products: how far they are off at worst, on what their bits depend, and how much memory they take."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from depth import deep
from each import each_of
from instruction_levels import assert_same_lines

import dmlcy as dml
from benchmarks.memory import peak
from dmlcy._check.checker import Check
from dmlcy._facts.levels import NEWEST
from dmlcy._runtime import isa

Array = np.ndarray[Any, Any]
TESTS = Path(__file__).parents[1]
random = np.random.default_rng(46)

COLUMNS = 64  # sums that are computed at once, each of one chain
RUNS = 3  # of terms with one sign, one exponent and one mantissa
ROOM = 4 << 20  # bytes that a thread may take
COUNTED = 1 << 19  # bytes by which Linux's count may be off


def normal(*sizes: int) -> Array:
    return random.standard_normal(sizes).astype(np.float32)


@contextmanager
def threads(number: int) -> Iterator[None]:
    before = dml.get_num_threads()
    dml.set_num_threads(number)
    yield
    dml.set_num_threads(before)


def sums(name: str, terms: Array) -> Array:
    """The sum of each column: a product with ones."""
    ones = np.ones((1, len(terms)), np.float32)
    if name == "gemm":
        return dml.gemm(ones, terms).ravel()
    return dml.convolution(terms.reshape(1, len(terms), 8, 8), ones.reshape(1, len(terms), 1, 1)).ravel()


def bound(name: str, terms: Array) -> float:
    """The bound of the spec, in units in the last place of the sum of the magnitudes."""
    ones = np.ones((1, len(terms)), np.float32)
    tensors = [dml.TensorDesc.from_array(x) for x in (ones, terms)]
    desc: Any = dml.desc.Gemm(a=tensors[0], b=tensors[1])
    if name == "convolution":
        sizes = (1, len(terms), 8, 8), (1, len(terms), 1, 1)
        tensors = [dml.TensorDesc("FLOAT32", one) for one in sizes]
        desc = dml.desc.Convolution(input=tensors[0], filter=tensors[1])
    rules = Check(desc.operator, desc._values(), NEWEST, call=False).rules
    return float(desc.operator.accuracy["FLOAT32"].ulp.function(rules))


@each_of("name, terms", [("gemm", 30), ("gemm", 500), ("convolution", 30), ("convolution", 500)])
def test_a_search_finds_an_error_of_an_eighth_of_the_bound(name: str, terms: int) -> None:
    """Greedy, over the signs and exponents of some runs of terms; and none is beyond the bound."""
    chance = np.random.default_rng(terms)
    promised, best, worst = bound(name, np.ones((terms, COLUMNS), np.float32)), np.zeros((3, RUNS)), 0.0
    for step in range(24):
        # Signs and mantissas, exponents, and the first term of each run, of each column.
        found = np.repeat(best[..., None], COLUMNS, 2)
        fresh = chance.random(found.shape) < (1 if step < 8 else 0.3)
        drawn = np.stack([
            chance.uniform(1, 2, (RUNS, COLUMNS)) * chance.choice([-1, 1], (RUNS, COLUMNS)),
            chance.integers(-27, 1, (RUNS, COLUMNS)),
            np.floor(terms * chance.random((RUNS, COLUMNS)) ** 4),
        ])  # fmt: skip
        found = np.where(fresh, drawn, found)
        found[:, :, 0] = best
        found[2, 0] = 0
        starts = np.sort(found[2], 0)
        run = (starts[:, None] <= np.arange(terms)[:, None]).sum(0) - 1
        values = np.take_along_axis(found[0] * 2.0 ** found[1], run, 0).astype(np.float32)
        magnitudes = np.abs(values).sum(0, dtype=np.float64).astype(np.float32)
        errors = np.abs(sums(name, values) - values.sum(0, dtype=np.float64)) / np.spacing(magnitudes)
        assert errors.max() <= promised
        if errors.max() > worst:
            worst, best = errors.max(), found[..., errors.argmax()]
    assert worst >= promised / 8


@each_of("rows, depth, columns", [(7, 70, 9), (8, 70, 8), (1, 300, 70), (3, 100, 40), (20, 270, 33), (1, 65, 63)])
def test_bits_of_a_product_depend_on_sizes_only(rows: int, depth: int, columns: int) -> None:
    """Not on threads, layouts, transpositions that are said, and products beside it; on both sides of 64 sums."""
    a, b = normal(2, 9, rows, depth), normal(2, 9, depth, columns)
    a[0, 0, 0, 0], b[1, 1, -1, -1] = np.inf, -np.inf
    expected = dml.gemm(a, b)
    for number in (1, 3):
        with threads(number):
            assert_same_bits(dml.gemm(a, b), expected)
            assert_same_bits(dml.gemm(np.asfortranarray(a), np.asfortranarray(b)), expected)
    turned = np.swapaxes(a, 2, 3), np.swapaxes(b, 2, 3)
    said: dict[str, Any] = {"trans_a": "TRANSPOSE", "trans_b": "TRANSPOSE"}
    assert_same_bits(dml.gemm(turned[0].copy(), turned[1].copy(), **said), expected)
    assert_same_bits(dml.gemm(*turned, **said), expected)
    apart = np.repeat(np.repeat(a, 2, 3), 2, 2)[:, :, ::2, ::2], np.repeat(b, 3, 3)[..., ::3]
    assert_same_bits(dml.gemm(*apart), expected)
    assert_same_bits(dml.gemm(a[1:, 3:4], b[1:, 3:4]), expected[1:, 3:4])
    target = np.zeros((2, 9, columns, rows), np.float32).swapaxes(2, 3)
    dml.gemm(a, b, out=target)
    assert_same_bits(np.ascontiguousarray(target), expected)


def test_rows_of_halves_that_lie_along_columns_change_no_bit() -> None:
    for rows in (3, 257, 400):
        a, b = (one.astype(np.float16) for one in (normal(1, 1, rows, 300), normal(1, 1, 300, 33)))
        assert_same_bits(dml.gemm(np.asfortranarray(a), b), dml.gemm(a, b))


FILTERS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 70, 1, 1), (63, 70, 1, 1), {}),
    ((2, 70, 1, 1), (64, 70, 1, 1), {}),
    ((1, 70, 1, 1), (200, 70, 1, 1), {}),
    ((1, 70, 3, 3), (7, 70, 1, 1), {}),
    ((1, 70, 3, 3), (70, 70, 1, 1), {}),
    ((1, 530, 7, 7), (150, 530, 1, 1), {}),
    ((3, 70, 7, 8), (65, 70, 3, 3), {"start_padding": 1, "end_padding": (1, 2), "strides": (1, 2)}),
    ((2, 140, 5, 9), (140, 70, 1, 3), {"group_count": 2, "dilations": 2, "start_padding": (0, 2), "end_padding": 1}),
    ((1, 9, 20, 40), (20, 9, 3, 3), {"start_padding": 1, "end_padding": 1, "mode": "CONVOLUTION"}),
    ((2, 9, 15, 14), (9, 1, 3, 3), {"group_count": 9, "start_padding": 1, "end_padding": 1}),
    ((2, 10, 30, 63), (10, 1, 3, 3), {"group_count": 10, "start_padding": 1, "strides": 2, "mode": "CONVOLUTION"}),
    ((1, 8, 9, 43), (8, 1, 3, 3), {"group_count": 8, "start_padding": (3, 2), "end_padding": (0, 4)}),
    ((1, 70, 6, 6), (70, 64, 3, 3), {"direction": "BACKWARD", "start_padding": 1, "end_padding": 1}),
    ((1, 70, 9, 30), (70, 20, 3, 3), {"direction": "BACKWARD"}),
    ((2, 40, 6, 5), (40, 30, 4, 4), {"direction": "BACKWARD", "strides": 2, "start_padding": 1}),
    ((1, 70, 4, 4), (70, 64, 3, 1), {"direction": "BACKWARD", "strides": (2, 1), "dilations": 2}),
]
"""Sizes of the input and the filter, and attributes: each way that filters are packed, and 63 and 64 sums."""


def convolutions(dtype: str) -> Iterator[tuple[Array, Array, Array, dict[str, Any]]]:
    """The input, the filter with an infinity, which may lie over the padding, the bias, and attributes."""
    drawn = np.random.default_rng(64)
    for sizes, taps, given in FILTERS:
        filters = taps[1] * given.get("group_count", 1) if "direction" in given else taps[0]
        x, w, b = (drawn.standard_normal(one).astype(dtype) for one in (sizes, taps, (1, filters, 1, 1)))
        w[-1, -1, 0, 0] = np.inf
        yield x, w, b, given


def once(x: Array, w: Array, b: Array | None, given: dict[str, Any], out: Array) -> Any:
    """A compiled convolution that has its filter."""
    tensors = [None if one is None else dml.TensorDesc(one.dtype.name.upper(), one.shape) for one in (x, w, b, out)]
    several: dict[str, Any] = {
        name: value if isinstance(value, str) or name == "group_count" else np.broadcast_to(value, 2).tolist()
        for name, value in given.items()
    }
    named: dict[str, Any] = dict(zip(("input", "filter", "bias", "output"), tensors, strict=True))
    op = dml.compile(dml.desc.Convolution(**named, **several))
    op.initialize(filter=w)
    return op


@each_of("dtype", ["float32", "float16"])
def test_a_filter_that_is_packed_once_changes_no_bit(dtype: str) -> None:
    """Nor do threads, the layouts of the tensors, and the absence of a bias."""
    for x, w, b, given in convolutions(dtype):
        for bias in (b, None):
            expected = dml.convolution(x, w, bias, **given)
            assert np.isfinite(expected).any() and not np.isfinite(expected).all()
            op = once(x, w, bias, given, expected)
            rest = (x,) if bias is None else (x, bias)
            for number in (1, 3):
                with threads(number):
                    assert_same_bits(op(*rest), expected)
            last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
            assert_same_bits(op(np.moveaxis(last, -1, 1), *rest[1:]), expected)
            target = np.zeros((*expected.shape[:-1], 2 * expected.shape[-1]), dtype)[..., ::2]
            op(np.repeat(x, 2, -1)[..., ::2], *rest[1:], out=target)
            assert_same_bits(np.ascontiguousarray(target), expected)
            apart = np.asfortranarray(np.repeat(w, 2, 1))[:, ::2]
            assert_same_bits(dml.convolution(x, apart, bias, **given), expected)


def digest() -> None:
    """Print what identifies the results of each convolution, with the filter packed once and in the call."""
    for dtype in ("float32", "float16"):
        for number, (x, w, b, given) in enumerate(convolutions(dtype)):
            direct = dml.convolution(x, w, b, **given)
            for result in (direct, once(x, w, b, given, direct)(x, b)):
                bits = np.where(np.isnan(result), 0, result).tobytes()
                print(f"CONVOLUTION {dtype} {number} {hashlib.sha256(bits).hexdigest()}")


@deep
@pytest.mark.parametrize("level", isa.LEVELS)
def test_levels_give_packed_filters_the_same_bits(level: str) -> None:
    folders = [str(TESTS), str(TESTS / "operators")]
    program = f"import sys; sys.path[:0] = {folders}; from families import test_sums_of_products as own; own.digest()"
    assert_same_lines(level, "-P", "-c", program)


def calls() -> Iterator[tuple[str, Any, list[Array], dict[str, Any]]]:
    """A function, its tensors and attributes: each way that takes memory."""
    a = normal(1, 1, 400, 700)
    yield "rows that are packed", dml.gemm, [a.swapaxes(2, 3), normal(1, 1, 400, 600)], {}
    yield "halves", dml.gemm, [a.astype(np.float16), normal(1, 1, 700, 600).astype(np.float16)], {}
    edge: dict[str, Any] = {"start_padding": 1, "end_padding": 1}
    yield "a copy of the input", dml.convolution, [normal(1, 64, 60, 120), normal(64, 64, 3, 3)], edge
    yield "filters apart", dml.convolution, [normal(1, 64, 40, 90), np.asfortranarray(normal(40, 64, 3, 3))], edge
    yield "packed columns", dml.convolution, [normal(2, 160, 14, 14), normal(300, 160, 3, 3)], edge
    x, w = normal(2, 300, 11, 11), normal(320, 300, 3, 3)
    yield "packed filters", once(x, w, None, edge, dml.convolution(x, w, **edge)), [x], {}
    back = {"direction": "BACKWARD", "strides": 4}
    yield "all remainders", dml.convolution, [normal(1, 250, 6, 40), normal(250, 100, 5, 6)], back
    yield (
        "channels side by side",
        dml.convolution,
        [normal(2, 64, 90, 90), normal(64, 1, 3, 3)],
        edge | {"group_count": 64},
    )


@pytest.mark.skipif(
    peak(lambda: None) is None or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="this system does not say how much memory a call takes, or the sanitizers hold what is freed",
)
def test_a_call_takes_little_memory() -> None:
    """Besides its tensors, 4 MB a thread at most."""
    for number in (1, 2):
        with threads(number):
            for name, function, tensors, given in calls():
                out = function(*tensors, **given)
                most = peak(partial(function, *tensors, **given, out=out))
                assert most is not None and most <= number * ROOM + COUNTED, f"{name}: {most} bytes"


def test_rows_and_columns_of_the_left_matrix_may_overlap() -> None:
    """Neighbours in a row and in a column are one element apart: each anti-diagonal is one number."""
    for dtype in (np.float32, np.float16):
        flat = np.random.default_rng(5).integers(-4, 5, 900).astype(dtype)
        a = np.lib.stride_tricks.as_strided(
            flat, (1, 1, 800, 33), (0, 0, flat.itemsize, flat.itemsize), writeable=False
        )
        b = np.random.default_rng(6).integers(-4, 5, (1, 1, 33, 3)).astype(dtype)
        np.testing.assert_array_equal(np.asarray(dml.gemm(a, b)), np.asarray(dml.gemm(a.copy(), b)))
