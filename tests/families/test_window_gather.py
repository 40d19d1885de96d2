"""Properties of window_gather."""

from __future__ import annotations

import numpy as np
from checks import assert_same_bits

import dmlcy as dml


def test_an_int_fills_every_axis() -> None:
    x = np.arange(50).reshape(1, 2, 5, 5)
    arrays = dml.unfold(
        x, window_sizes=(2, 2), strides=(2, 2), dilations=(3, 3), start_padding=(1, 1), end_padding=(2, 2)
    )
    ints = dml.unfold(x, window_sizes=2, strides=2, dilations=3, start_padding=1, end_padding=2)
    assert_same_bits(ints, arrays)
