"""Properties of window_reduce: documented corner cases, the order of sums, indices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from adversarial import adversarial
from checks import assert_defined, assert_same_bits, assert_same_values, described
from each import each
from reference.windows import grid
from strategies import Array, Windows, any_bits, small_integers

import dmlcy as dml
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import FAST
from families.ways import dtypes_of
from families.window_reduce import kind_of

FAMILY = [operator for operator in FAST.values() if operator.family == "window_reduce"]
ONE = {  # by what is made of the elements
    kind: [operator for operator in FAMILY if kind_of(operator) == kind] for kind in ("acc + x", "norm", "max")
}
INDEXED = [one for one in ONE["max"] if any(field.optional for field in one.fields)]
NONE = 2**32 - 1


def of_each(operators: Sequence[Operator]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("op", [pytest.param(operator, id=operator.python) for operator in operators])


averages, norms, maxima, indexed = (of_each(one) for one in (*ONE.values(), INDEXED))
every = of_each(FAMILY)


def call(op: Operator, x: Array, **given: Any) -> Any:
    return getattr(dml, op.python)(x, **(required(op) | given))


def required(op: Operator) -> dict[str, Any]:
    """A value for a parameter without a default."""
    return {"p": 2} if kind_of(op) == "norm" else {}


def assert_accurate(op: Operator, x: Array, window: tuple[int, ...]) -> None:
    """The results are those of the reference, within the accuracy of the spec."""
    desc = described(op.python, [x], {"window_size": window, **required(op)})
    assert_defined(dml.compile(desc)(x), desc, {"input": x})


def least(dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


@every
def test_windows_of_padding_only(op: Operator) -> None:
    """A sum of nothing is 0, a maximum of nothing the least number; padding never spreads what is beside it."""
    for dtype in dtypes_of(op):
        x = np.full((1, 1, 2, 2), np.inf if dtype[0] == "f" else 3, dtype)
        result = call(op, x, window_size=1, start_padding=2, end_padding=1)
        empty = least(dtype) if kind_of(op) == "max" else 0
        assert_same_bits(result, np.pad(x, [(0, 0), (0, 0), (2, 1), (2, 1)], constant_values=empty))


@every
def test_every_number_of_rows(op: Operator) -> None:
    """Rows are taken several at a time; what is left over by windows of any height is taken too."""

    def look(case: tuple[str, int]) -> None:
        dtype, rows = case
        x = small_integers(rows, (1, 1, rows + 2, 50), dtype, most=100)
        assert_accurate(op, x, (rows, 2))

    dtypes, first = dtypes_of(op), FAMILY.index(op)
    each([(dtypes[(first + rows) % len(dtypes)], rows) for rows in range(1, 26)], look)


@pytest.mark.deep
@every
def test_every_number_of_rows_of_every_data_type(op: Operator) -> None:
    def look(case: tuple[str, int]) -> None:
        dtype, rows = case
        x = small_integers(rows, (1, 1, rows + 2, 150), dtype, most=100)
        assert_accurate(op, x, (rows, 2))

    each([*itertools.product(dtypes_of(op), range(1, 26))], look)


GLOBAL = [(7, 7), (16, 16), (64, 64), (300, 2), (2, 300), (1, 5000), (5000, 1), (4, 30, 20), (1, 40_000)]


@of_each([*ONE["acc + x"], *ONE["norm"]])
def test_accuracy_of_large_windows(op: Operator) -> None:
    def look(case: tuple[tuple[int, ...], str, str]) -> None:
        window, dtype, kind = case
        assert_accurate(op, adversarial(7, (1, 2, *window), dtype, kind), window)

    each([*itertools.product(GLOBAL, ["f4", "f2"], ["normal", "positive", "one and many small"])], look)


# Averages. docs/families.md states the order of the sum.

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


def places(*at: int) -> tuple[Any, ...]:
    """An index of these places in each channel."""
    return slice(None), slice(None), *at


def window_sum(x: Array, case: Windows, position: tuple[int, ...]) -> Array:
    """The elements under a window in each channel: outer axes, rows, columns."""
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
            in_pairs([x[places(*first, row, column)] for first in itertools.product(*outer)]) for row in rows if inside
        ]
        columns.append(in_pairs(sums) if sums else zero)
    return in_pairs(columns)


@averages
def test_order_of_the_sum(op: Operator) -> None:
    def look(case: tuple[Windows, str]) -> None:
        windows, dtype = case
        x = adversarial(8, windows.sizes, dtype, "magnitudes")
        actual = call(op, x, **windows.pooling, include_padding=True)
        expected = np.empty(actual.shape, np.float32)
        for position in grid(actual.shape[2:]):
            expected[places(*position)] = window_sum(x.astype("f4"), windows, position)
        assert_same_bits(actual, (expected / np.float32(math.prod(windows.window))).astype(dtype))

    each([(case, ("f4", "f2")[(number + FAMILY.index(op)) % 2]) for number, case in enumerate(ORDERED)], look)


@averages
def test_order_of_the_sum_of_a_plane(op: Operator) -> None:
    """Planes of all widths that have a loop of their own, and of neighbours; the last one ends where memory may end."""

    def look(case: tuple[int, str]) -> None:
        columns, dtype = case
        for rows in (2, 3, 8, 11):
            window = Windows((2, 3, rows, columns), (rows, columns), (1, 1), (1, 1), (0, 0), (0, 0))
            x = adversarial(columns, window.sizes, dtype, "magnitudes")
            total = window_sum(x.astype("f4"), window, (0, 0))[:, :, None, None]
            expected = (total / np.float32(rows * columns)).astype(dtype)
            for planes in (
                x,
                x[::-1].copy()[::-1],
                np.repeat(x, 2, 1)[:, ::2],
                np.pad(x, ((0, 0),) * 3 + ((0, 1),))[..., :-1],
            ):
                assert_same_bits(call(op, planes, window_size=(rows, columns)), expected)

    each([(columns, dtype) for columns in (*range(3, 45), 112, 300, 1024, 1025) for dtype in ("f4", "f2")], look)


@averages
@pytest.mark.parametrize("columns", [7, 20, 41, 150])
def test_planes_that_come_from_memory(op: Operator, columns: int) -> None:
    """Where they are many their rows are taken in another order, but not their sums."""
    x = adversarial(9, (1, 3, 9, columns), "f4", "magnitudes")
    some = call(op, x, window_size=(9, columns))
    count = 9 * 2**20 // x.nbytes
    assert_same_bits(call(op, np.tile(x, (count, 1, 1, 1)), window_size=(9, columns)), np.tile(some, (count, 1, 1, 1)))


@averages
@pytest.mark.parametrize("last", [False, True])
def test_division_is_rounded_once(op: Operator, last: bool) -> None:
    for dtype in ("f4", "f2"):
        limits = np.finfo(dtype)
        special = [np.inf, -np.inf, np.nan, -0.0, limits.max, limits.smallest_normal, 3 * limits.smallest_subnormal]
        values = np.concatenate([np.array(special, dtype), any_bits(9, (997,), dtype)])
        for size in [*range(1, 40), 49, 64, 96, 121, 1000]:
            x = np.zeros((values.size, size), dtype)
            x[:, size // 2] = values
            x = x[:, None, None] if last else np.ascontiguousarray(x.T)[None, None]
            with np.errstate(all="ignore"):
                expected = ((values.astype("f4") + 0) / np.float32(size)).astype(dtype)
            assert_same_values(call(op, x, window_size=(1, size) if last else (size, 1)).ravel(), expected)


@averages
def test_sums_are_those_of_single_precision(op: Operator) -> None:
    """Of halves they neither overflow nor lose small elements; those of singles overflow."""
    x: Array = np.full((1, 1, 40, 40), 65504, np.float16)
    np.testing.assert_array_equal(call(op, x, window_size=40), np.float16(65504))
    np.testing.assert_array_equal(call(op, x, window_size=(40, 1)), np.float16(65504))
    assert call(op, np.ones((1, 1, 1, 4096), np.float16), window_size=(1, 4096)).item() == 1
    most = np.finfo(np.float32).max
    for row, expected in [([most, most], np.inf), ([-most, -most], -np.inf), ([most, most, -most, -most], np.nan)]:
        x = np.array(row, np.float32)[None, None, None]
        np.testing.assert_array_equal(call(op, x, window_size=(1, len(row))), expected)
    x = np.array([most, -most, most / 2, most / 2], np.float32)[None, None, None]
    assert call(op, x, window_size=(1, 4)).item() == most / 4


@averages
def test_padding_that_counts(op: Operator) -> None:
    """The padding is 0 under a window without elements too, and no infinity spreads."""
    x = np.full((1, 1, 1, 3), np.inf, np.float32)
    result = call(op, x, window_size=(1, 3), start_padding=(0, 2), end_padding=(0, 3), include_padding=True)
    np.testing.assert_array_equal(result.ravel(), [np.inf] * 5 + [0])
    x = np.full((1, 1, 2, 2), np.nan, np.float32)
    result = call(op, x, window_size=1, start_padding=2, end_padding=1, include_padding=True)
    assert_same_values(result, np.pad(x, [(0, 0), (0, 0), (2, 1), (2, 1)]))


DILATED = [op for op in ONE["acc + x"] if any(field.python == "dilations" for field in op.fields)]


@of_each(DILATED)
def test_a_dilation_beyond_the_input_costs_no_memory(op: Operator) -> None:
    """Of each window one element at most is inside; -0 stays what it is in every layout."""
    x = np.array([-0.0, 1.0, 2.0, -3.0, 4.0, -5.0], np.float32).reshape(1, 1, 2, 3)
    far = 2**32 - 1
    attributes: dict[str, Any] = {
        "window_size": 2,
        "dilations": far,
        "start_padding": far,
        "end_padding": far,
        "strides": far,
    }
    expected = call(op, x, **attributes)
    assert expected.shape == (1, 1, 2, 2) and (expected == x[0, 0, 0, 0]).all()
    assert_same_bits(call(op, np.asfortranarray(x), **attributes), expected)
    attributes = {"window_size": (1, 3), "dilations": (1, 3), "start_padding": (0, 3), "end_padding": (0, 3)}
    np.testing.assert_array_equal(call(op, x, **attributes), x)


# Norms


@norms
def test_powers_beyond_a_precision(op: Operator) -> None:
    x = np.array([[[[2.0**100, 2.0**100, -(2.0**-120), 0]]]], np.float32)
    for p, root in [(2, 2**0.5), (4, 2**0.25), (8, 2**0.125)]:
        result = call(op, x, window_size=(1, 2), strides=(1, 2), p=p)
        np.testing.assert_array_equal(result, np.array([[[[2.0**100 * root, 2.0**-120]]]], np.float32))
    x = np.array([[[[2.0**100, 2.0**-120]]]], np.float32)  # beyond double precision
    np.testing.assert_array_equal(call(op, x, window_size=1, p=20), [[[[np.inf, 0]]]])
    x = np.full((1, 1, 2, 2), 60000, np.float16)
    assert call(op, x, window_size=2, p=1).item() == np.inf
    assert call(op, x, window_size=2, p=16).item() == np.float16(60000 * 4 ** (1 / 16))


@norms
def test_infinities_and_nan(op: Operator) -> None:
    x = np.array([[[[np.inf, 1, np.nan, -np.inf, 2, 3]]]], np.float32)
    for p in (1, 2, 3, 2**32 - 1):
        result = call(op, x, window_size=(1, 2), p=p)
        np.testing.assert_array_equal(result[..., :4], [[[[np.inf, np.nan, np.nan, np.inf]]]])


# Maxima


@maxima
def test_threads_that_take_subnormal_numbers_for_zeros(op: Operator) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = adversarial(3, (1, 2, 40, 50), "f4", "subnormal")
    cases: list[dict[str, Any]] = [{"window_size": 3}, {"window_size": 2, "strides": 2}, {"window_size": (40, 50)}]
    expected = [call(op, x, **case) for case in cases]
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot take subnormal numbers for zeros")
    try:
        results = [call(op, x, **case) for case in cases]
    finally:
        torch.set_flush_denormal(False)
    for result, right in zip(results, expected, strict=True):
        assert_same_bits(result, right)


@maxima
def test_a_nan_loses_but_not_to_padding(op: Operator) -> None:
    for dtype, size in itertools.product(("f4", "f2"), (1, 2, 7, 40, 70)):
        nan = np.full(size, np.nan, dtype)
        ones = np.full(size, -1, f"i{nan.itemsize}").view(dtype)  # a NaN too, the least one if bits are compared
        for first, second, wanted in [
            (nan, ones, np.nan), (ones, -nan, np.nan), (ones, -np.inf, -np.inf), (nan, -np.inf, -np.inf), (nan, 1, 1),
            (-0.0, 0.0, 0.0), (0.0, -0.0, 0.0), (-0.0, nan, -0.0), (-0.0, -0.0, -0.0), (np.inf, nan, np.inf),
        ]:  # fmt: skip
            x = np.empty((1, 1, 2, size), dtype)
            x[0, 0, 0], x[0, 0, 1] = first, second
            result = call(op, x, window_size=(4, 1), start_padding=(2, 0), end_padding=(2, 0))
            for row in result[0, 0]:
                assert_same_values(row, np.full(size, wanted, dtype))


# Indices


def everywhere(sizes: tuple[int, ...]) -> Array:
    """The index of each element."""
    return np.arange(math.prod(sizes)).reshape(sizes)


@indexed
def test_an_index_counts_all_axes_of_the_packed_input(op: Operator) -> None:
    x = np.zeros((2, 3, 4, 5), np.float32)
    x[1, 2, 3, 4] = 1
    for source in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
        _, indices = call(op, source, window_size=(4, 5), output_indices=True)
        assert indices.ravel().tolist() == [0, 20, 40, 60, 80, 119]


@indexed
def test_the_first_of_equal_elements(op: Operator) -> None:
    for dtype in dtypes_of(op):
        x = np.zeros((1, 2, 6, 7), dtype)
        _, indices = call(op, x, window_size=(2, 3), strides=(2, 1), output_indices=True)
        np.testing.assert_array_equal(indices, everywhere(x.shape)[:, :, ::2, :5])


@maxima
def test_the_reference_finds_maxima_beyond_int64(op: Operator) -> None:
    assert any("UINT64" in row.dtypes for row in op.fields[0].dtypes)
    x = np.array([3, 2**64 - 1, 2**63, 2**63 + 1], np.uint64).reshape(1, 1, 2, 2)
    desc = described(op.python, [x], {"window_size": (1, 2)})
    assert dml.compile(desc, path="reference")(x).ravel().tolist() == [2**64 - 1, 2**63 + 1]


@indexed
def test_indices_of_nan_and_of_zeros_by_their_sign(op: Operator) -> None:
    for dtype in ("f4", "f2"):
        row = np.array([np.nan, np.nan, -np.inf, np.nan, -0.0, 0.0, -0.0, 0.0], dtype)
        values, indices = call(op, row.reshape(1, 1, 1, 8), window_size=(1, 2), output_indices=True)
        assert indices.ravel().tolist() == [0, 2, 2, 4, 5, 5, 7]
        assert_same_values(values.ravel(), np.array([np.nan, -np.inf, -np.inf, -0.0, 0.0, 0.0, 0.0], dtype))


@indexed
def test_a_window_of_padding_only_has_the_index_of_no_element(op: Operator) -> None:
    """The least number of a data type has an index where it is an element."""
    for dtype, index in itertools.product(dtypes_of(op), (np.uint32, np.uint64)):
        x = np.zeros((1, 1, 2, 2), dtype)
        _, indices = call(op, x, window_size=1, start_padding=2, end_padding=1, output_indices=index)
        expected = np.pad(everywhere(x.shape), [(0, 0), (0, 0), (2, 1), (2, 1)], constant_values=NONE)
        assert_same_bits(indices, expected.astype(index))
        x = np.full((1, 1, 2, 2), least(dtype), dtype)
        values, indices = call(op, x, window_size=2, start_padding=1, output_indices=True)
        assert indices.ravel().tolist() == [0, 0, 0, 0] and (values == least(dtype)).all()


@indexed
def test_indices_with_any_number_of_threads(op: Operator) -> None:
    x = small_integers(3, (4, 32, 60, 61), "f4")
    results, before = [], dml.get_num_threads()
    try:
        for threads in (1, 2, 3):
            dml.set_num_threads(threads)
            results.append(call(op, x, window_size=3, strides=2, start_padding=1, output_indices=True))
    finally:
        dml.set_num_threads(before)
    for result in results[1:]:
        assert_same_bits(result, results[0])
    assert_same_bits(call(op, x, window_size=3, strides=2, start_padding=1), results[0][0])
