"""The ways of window_gather."""

from __future__ import annotations

from checks import assert_same_bits as same
from strategies import Windows, any_bits

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("uint8", "float16", "int32", "float64")


def image(sizes: tuple[int, ...], window: int, stride: int = 1, dilation: int = 1, padding: int = 0) -> Windows:
    n = len(sizes) - 2
    return Windows(sizes, (window,) * n, (stride,) * n, (dilation,) * n, (padding,) * n, (padding,) * n)


WINDOWS = {
    "joined lines": image((2, 3, 40, 43), 3, padding=1),
    "short lines": image((2, 5, 9, 7), 3, padding=1),
    "long lines": image((1, 2, 3, 3000), 3, padding=1),
    "many channels": image((2, 70, 12, 11), 3, padding=1),
    "many channels side by side": image((1, 70, 40, 44), 2, stride=2),
    "windows apart, many channels": image((1, 70, 9, 17), 1, stride=8),
    "dilated": image((1, 5, 33, 37), 3, dilation=2, padding=2),
    "dilated by the stride": image((1, 5, 33, 37), 3, stride=2, dilation=2, padding=2),
    "overlapping strides": image((2, 5, 33, 35), 3, stride=2, padding=1),
    "side by side 2": image((2, 5, 64, 70), 2, stride=2),
    "side by side 3": image((2, 4, 48, 51), 3, stride=3),
    "side by side 4": image((2, 3, 64, 68), 4, stride=4),
    "one block short": image((1, 3, 15 * 4, 15 * 4), 4, stride=4),
    "one block more": image((1, 3, 17 * 4, 17 * 4), 4, stride=4),
    "patches 16": image((2, 3, 64, 16 * 18), 16, stride=16),
    "patches 14": image((1, 3, 56, 14 * 17), 14, stride=14),
    "patches with padding": image((1, 2, 60, 100), 8, stride=8, padding=3),
    "patches apart": image((1, 2, 61, 103), 5, stride=7, padding=3),
    "windows larger than the line": image((1, 2, 20, 20), 17, padding=1),
    "padding only at most places": image((1, 2, 3, 2), 2, padding=9),
    "hardly anything but padding": Windows((1, 2, 3, 5), (2, 2), (1, 1), (1, 1), (400, 500), (3, 2)),
    "more taps than slots": Windows((1, 2, 4, 300), (2, 70), (1, 1), (1, 1), (0, 69), (1, 69)),
    "more taps than positions": Windows((1, 1, 9, 400), (2, 300), (1, 3), (2, 1), (0, 50), (0, 7)),
    "one axis": image((2, 3, 1000), 3, padding=1),
    "one axis, strided": image((2, 3, 1001), 5, stride=3, padding=2),
    "one long axis": Windows((1, 2, 70_000), (3,), (1,), (2,), (1,), (4,)),
    "one long axis, strided": Windows((1, 1, 70_000), (5,), (7,), (1,), (9,), (0,)),
    "paddings apart": Windows((1, 2, 300, 9), (7, 9), (4, 1), (3, 1), (20, 4), (2, 4)),
    "volumes": image((1, 4, 9, 10, 11), 3, padding=1),
    "volumes side by side": image((1, 2, 8, 8, 40), 2, stride=2),
    "four axes": Windows((1, 1, 5, 4, 6, 7), (2, 2, 2, 3), (1, 1, 1, 1), (1, 1, 2, 1), (1, 0, 1, 1), (0, 1, 1, 1)),
}  # fmt: skip


def ways(operator: Operator) -> list[Way]:
    return [Way(case.sizes, case.unfold) for case in WINDOWS.values()]


def kinds(operator: Operator) -> list[Kind]:
    return [any_bits]
