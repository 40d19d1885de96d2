"""The ways of window_reduce."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from adversarial import adversarial
from checks import assert_norm, assert_same_values
from reference import Average, Norm
from strategies import Array, Windows, any_bits, small_integers

from dmlcy._facts.rows import Operator
from families.window_reduce import kind_of

from . import Kind, Way

DTYPES = ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WINDOWS = [
    Windows((2, 3, 30, 40), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((2, 3, 30, 40), (3, 3), (2, 2), (2, 3), (1, 1), (1, 1)),
    Windows((1, 2, 5, 2500), (2, 3), (1, 1), (1, 1), (1, 2), (0, 7)),
    Windows((1, 2, 5, 1500), (2, 3), (1, 1), (1, 3), (1, 2), (0, 7)),
    Windows((1, 2, 5, 2500), (2, 3), (1, 1), (3, 700), (1, 2), (0, 7)),
    Windows((1, 1, 3, 6000), (2, 2500), (1, 1700), (1, 1), (0, 100), (1, 300)),  # a window that is taken in parts
    Windows((1, 1, 2, 9000), (1, 1), (2, 1100), (1, 1), (3, 5), (0, 0)),
    Windows((1, 3, 300, 4), (150, 3), (75, 1), (1, 1), (10, 1), (20, 1)),
    Windows((1, 3, 300, 4), (50, 3), (75, 1), (3, 1), (10, 1), (20, 1)),
    Windows((3, 700, 2, 3), (2, 3), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((2, 5, 7, 7), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((1, 2, 1, 50), (1, 9), (1, 1), (1, 1), (0, 4), (0, 4)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (1, 1, 1), (2, 3, 9), (0, 6, 1)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (2, 3, 5), (2, 3, 9), (0, 6, 1)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (1, 2, 1), (2, 3, 9), (0, 6, 1)),
    Windows((1, 2, 3, 4), (2, 3), (1, 1), (1, 1), (30, 40), (10, 50)),
    Windows((2, 33, 14, 14), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((2, 33, 14, 14), (3, 3), (2, 2), (2, 1), (1, 1), (1, 1)),
    Windows((2, 33, 14, 14), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2)),
    # Windows of 2 and 3 rows, which slide from row to row, and of as many columns, which are combined last.
    Windows((1, 2, 40, 150), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0)),
    Windows((2, 2, 60, 70), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    Windows((1, 2, 20, 70), (3, 3), (1, 1), (1, 2), (1, 1), (1, 1)),
    Windows((2, 3, 20, 70), (3, 3), (2, 1), (2, 2), (2, 2), (2, 2)),
    Windows((1, 3, 19, 60), (3, 3), (2, 2), (2, 1), (2, 1), (2, 1)),  # strides of the dilation
    Windows((1, 2, 4, 1500), (3, 3), (1, 1), (1, 1), (2, 2), (0, 1)),
    Windows((1, 2, 4, 9, 45), (2, 3, 3), (1, 1, 1), (1, 1, 1), (0, 0, 2), (1, 2, 0)),
    Windows((1, 3, 8, 10, 50), (2, 2, 2), (2, 2, 2), (1, 1, 1), (0, 0, 0), (0, 0, 0)),
    Windows((2, 2, 5, 19, 40), (2, 3, 3), (3, 4, 2), (1, 1, 1), (1, 2, 1), (1, 2, 1)),
    Windows((1, 2, 7, 9, 33), (3, 2, 2), (1, 3, 2), (1, 1, 1), (1, 2, 0), (1, 2, 1)),
    Windows((3, 11, 7, 7), (7, 7), (1, 1), (1, 1), (0, 0), (0, 0)),
    Windows((2, 9, 3, 8, 10), (2, 3, 4), (1, 2, 1), (1, 1, 2), (1, 0, 2), (0, 1, 1)),
    Windows((1, 13, 6, 9), (2, 3), (2, 1), (1, 1), (0, 1), (1, 1)),
    Windows((1, 13, 6, 9), (2, 3), (2, 1), (1, 2), (0, 1), (1, 1)),
    # Gaps, also beyond a block.
    Windows((2, 3, 40, 2000), (3, 3), (2, 2), (2, 40), (2, 40), (2, 40)),
    Windows((1, 40, 30, 20), (3, 2), (2, 2), (9, 19), (0, 0), (0, 0)),
    Windows((1, 2, 9, 5000), (2, 9), (2, 2), (8, 600), (0, 0), (0, 0)),
    Windows((3, 2, 8, 7), (2, 9), (2, 2), (30, 7), (15, 28), (15, 28)),
    Windows((1, 1, 70000, 3), (8, 1), (2, 2), (9999, 1), (0, 0), (0, 0)),
    Windows((1, 2, 5, 9000), (2, 3), (2, 2), (1, 4001), (0, 2500), (0, 2500)),
    Windows((2, 2, 4, 5, 6), (2, 2, 3), (2, 2, 2), (3, 4, 2), (1, 0, 2), (1, 0, 2)),
    Windows((1, 1, 2, 6000), (1, 3), (1, 1), (1, 2500), (0, 10), (0, 700)),
    *(
        Windows((1, 64, 2, gap * (window - 1) + 41), (1, window), (1, 1), (1, gap), (0, 0), (0, 0))
        for gap in (20, 70, 1000, 1024, 1025, 1500)
        for window in (3, 5, 9)
    ),
    # Channels that are neighbours in all tensors.
    Windows((2, 70, 9, 11), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0)),
    Windows((1, 33, 12, 14), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((2, 40, 9, 10), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2)),
    Windows((2, 37, 5, 6, 7), (2, 3, 2), (2, 2, 1), (1, 2, 1), (1, 1, 0), (0, 2, 1)),
    Windows((1, 32, 7, 8), (2, 3), (2, 1), (1, 1), (3, 0), (0, 4)),  # windows of padding only
    Windows((2, 8, 7, 8), (2, 3), (2, 1), (1, 1), (0, 0), (0, 0)),
    # Few columns: channels are taken side by side, in blocks of 4, 8 and 32 and what is left.
    *(
        Windows((channels, 1, 6, columns), (2, 3), (2, 1), (1, 1), (0, 1), (1, 1))
        for channels in (7, 8, 13, 33)
        for columns in (1, 2, 3, 5, 9, 17, 20, 21)
    ),
]
WHOLE = [(2, 5, 8, 9), (1, 4, 300, 3), (3, 2, 2, 9, 16), (1, 7, 1, 64), (2, 3, 65, 1, 2), (1, 40, 12, 11)]


def over_everything() -> list[Windows]:
    """One window, with and without padding, and where one axis is not under it as a whole."""
    found = []
    for sizes, padding in itertools.product(WHOLE, (0, 1)):
        whole = [size + 2 * padding for size in sizes[2:]]
        ones, pads = (1,) * len(whole), (padding,) * len(whole)
        for height in {whole[0], -(-whole[0] // 2)}:
            found.append(Windows(sizes, (height, *whole[1:]), ones, ones, pads, pads))
    return found


def ways(operator: Operator) -> list[Way]:
    """Other parameters take their values in turn."""
    parameters = {field.python for field in operator.fields}
    choices: dict[str, list[Any]] = {
        "include_padding": [False, True],
        "p": [1, 2, 3],
        "output_indices": ["UINT32", "UINT64", False],
    }
    found = []
    for number, case in enumerate([*WINDOWS, *over_everything()]):
        given = dict(case.pooling)
        if "dilations" in parameters:
            given["dilations"] = case.dilations
        elif max(case.dilations) > 1:
            continue
        given |= {name: some[number % len(some)] for name, some in choices.items() if name in parameters}
        found.append(Way(case.sizes, given, large=max(case.sizes) >= 1000))
    return found


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


def plain(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    return small_integers(seed, sizes, dtype, most=50)


def last_channel(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Floats are compared as they are until a result is -0 or -infinity; from the first such result on, exactly."""
    x = plain(seed, sizes, dtype)
    x[:, -1:] = image(seed, sizes, dtype)[:, -1:]
    return x


def whole(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    return small_integers(seed, sizes, dtype, most=9)


def magnitudes(seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Numbers whose sum depends on the order."""
    return adversarial(seed, sizes, dtype, "magnitudes")


def kinds(operator: Operator) -> list[Kind]:
    return [plain, last_channel, image] if kind_of(operator) == "max" else [whole, magnitudes]


def same(result: Any, expected: Any) -> None:
    """Sums of whole numbers are exact."""
    if isinstance(expected, Norm):
        assert_norm(result, expected, 1)
    elif isinstance(expected, Average):
        if (expected.total == np.rint(expected.total)).all():
            assert_same_values(result, expected.rounded(result.dtype))
    else:
        assert_same_values(result, expected)
