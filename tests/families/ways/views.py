"""The ways of views."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checks import assert_same_bits as same
from strategies import Array, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("uint8", "float16", "float32", "uint64")
Sizes = tuple[int, ...]

PARTS: list[tuple[Sizes, int, Sizes]] = [
    ((5, 700), 1, (300, 1, 399)),
    ((3, 40, 64), 2, (16, 16, 32)),
    ((70, 3, 65), 0, (1, 64, 5)),
    ((2, 600, 3), 1, (599, 1)),
    ((2, 90, 40), 1, (30, 20, 40)),
    ((200_000,), 0, (5, 199_995)),
    ((300, 4), 1, (1, 1, 2)),
]
"""Sizes, an axis, and the lengths of parts of it."""
REPEATS: list[tuple[Sizes, Sizes]] = [
    ((3, 5), (2, 40)),
    ((200, 1), (1, 70)),  # lines of one element each
    ((1, 300), (50, 1)),
    ((4, 3, 2), (1, 30, 7)),
    ((20, 300), (3, 4)),
    ((1, 1), (3, 30_000)),
    ((2, 3, 4, 5, 2), (2, 1, 3, 1, 4)),
    ((130, 130), (1, 3)),
]
SLICES: list[tuple[Sizes, Sizes, Sizes, Sizes]] = [
    ((70, 140), (1, 3), (60, 130), (1, 1)),
    ((70, 140), (0, 1), (35, 46), (2, 3)),
    ((3, 500), (0, 499), (3, 500), (1, -1)),
    ((3, 500), (2, 499), (3, 250), (-1, -2)),
    ((40, 6, 300), (39, 0, 0), (40, 3, 75), (-1, 2, 4)),
    ((9, 200, 3), (8, 199, 2), (9, 200, 3), (-1, -1, -1)),
    ((300, 200), (0, 0), (300, 200), (1, 1)),
    ((130, 70, 5), (3, 0, 2), (120, 35, 1), (1, 2, 1)),
]
"""Sizes of the larger tensor, and along each axis the first place, how many there are, and the step."""


def window(first: Sizes, count: Sizes, step: Sizes) -> dict[str, Sizes]:
    """The least window in which the steps meet these places."""
    lengths = tuple((n - 1) * abs(s) + 1 for n, s in zip(count, step, strict=True))
    begin = tuple(f if s > 0 else f - n + 1 for f, n, s in zip(first, lengths, step, strict=True))
    return {"input_window_offsets": begin, "input_window_sizes": lengths, "input_window_strides": step}


def cut(sizes: Sizes, axis: int, length: int) -> Sizes:
    return (*sizes[:axis], length, *sizes[axis + 1 :])


def others(sizes: Sizes, axis: int, lengths: Sequence[int]) -> Callable[[str], tuple[Array, ...]]:
    return lambda dtype: tuple(any_bits(n, cut(sizes, axis, n), dtype) for n in lengths)


def joins() -> list[Way]:
    return [
        Way(cut(sizes, axis, first), {"axis": axis}, others=others(sizes, axis, rest))
        for sizes, axis, (first, *rest) in PARTS
    ]


def splits() -> list[Way]:
    parts = [(sizes, axis, [cut(sizes, axis, n) for n in lengths]) for sizes, axis, lengths in PARTS]
    return [Way(sizes, {"axis": axis, "output_sizes": asked}) for sizes, axis, asked in parts]


def slices() -> list[Way]:
    forward = [one for one in SLICES if min(one[3]) > 0]
    return [Way(sizes, {"offsets": first, "sizes": count, "strides": step}) for sizes, first, count, step in forward]


def gradients() -> list[Way]:
    return [Way(count, {"output_sizes": sizes, **window(first, count, step)}) for sizes, first, count, step in SLICES]


WAYS: dict[str, list[Way]] = {
    "join": joins(),
    "split": splits(),
    "tile": [Way(sizes, {"repeats": repeats}) for sizes, repeats in REPEATS],
    "slice": slices(),
    "slice1": [Way(sizes, window(*given)) for sizes, *given in SLICES],
    "slice_grad": gradients(),
}


def ways(operator: Operator) -> list[Way]:
    return WAYS[operator.python]


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
