"""Properties of window_gather."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from checks import assert_same_bits
from numpy.lib.stride_tricks import sliding_window_view
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, a_batch_is_its_items, channels_permuted, run
from .windows import a_flip_flips, a_window_of_one_is_the_identity, window_of


def unfolding_a_constant(desc: Any, arrays: Arrays, result: Array) -> bool:
    x: Array = np.full(arrays["input"].shape, 7, arrays["input"].dtype)
    found = run(desc, {"input": x})
    window = window_of(desc, arrays)
    assert window.blocks is not None
    count = sum(1 for at in np.ndindex(window.blocks) for _ in window.inside(at))
    assert set(np.unique(found)) <= {0, 7}
    assert int((found == 7).sum()) == count * x.shape[0] * x.shape[1]
    return True


def columns_are_windows_of_a_sliding_view(desc: Any, arrays: Arrays, result: Array) -> bool:
    window, x = window_of(desc, arrays), arrays["input"]
    end = desc.end_padding
    extents = [d * (w - 1) + 1 for d, w in zip(window.dilations, window.sizes, strict=True)]
    padded_sizes = [n + a + b for n, a, b in zip(window.limits, window.start, end, strict=True)]
    if math.prod(padded_sizes) * math.prod(x.shape[:2]) > 2**18:
        return False
    padded = np.pad(x, [(0, 0), (0, 0), *zip(window.start, end, strict=True)])
    view = sliding_window_view(padded, extents, tuple(range(2, x.ndim)))
    taps = view[(slice(None), slice(None), *(slice(None, None, s) for s in (*window.strides, *window.dilations)))]
    spatial = len(extents)
    ordered = np.moveaxis(taps, range(2 + spatial, 2 + 2 * spatial), range(2, 2 + spatial))
    assert_same_bits(np.ascontiguousarray(ordered).reshape(result.shape), result)
    return True


def properties(operator: Operator) -> list[Property]:
    return [
        a_batch_is_its_items, channels_permuted, a_flip_flips, a_window_of_one_is_the_identity, unfolding_a_constant,
        columns_are_windows_of_a_sliding_view,
    ]  # fmt: skip
