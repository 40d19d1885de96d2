"""Properties of window_scatter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

from dmlcy._facts.rows import Operator
from dmlcy._families.given import Given
from dmlcy._families.windows import slide

from .common import Arrays, Property, a_batch_is_its_items, run, whole


def folding_ones_counts_the_windows(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Each element of the image is the number of windows over it, and their total that of elements inside it."""
    x = np.ones(arrays["input"].shape, arrays["input"].dtype)
    found = run(desc, {"input": x})
    window = slide(Given.of_desc(desc, {"input": x}), found.shape)
    assert window.blocks is not None
    if math.prod(window.blocks) * math.prod(window.sizes) > 20_000:
        return False
    counts = np.zeros(found.shape[2:], np.int64)
    for at in np.ndindex(window.blocks):
        for _, place in window.inside(at):
            counts[place] += 1
    if counts.max() > 2000:  # in FLOAT16 not exact
        return False
    with np.errstate(over="ignore"):
        assert_same_bits(found, np.broadcast_to(counts.astype(x.dtype), found.shape).copy())
    return True


def every_element_inside_the_image_counts_once(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The sum of everything is that of the elements that lie inside the image."""
    exact = whole(desc, arrays)["input"].astype(arrays["input"].dtype)
    window = slide(Given.of_desc(desc, {"input": exact}), result.shape)
    assert window.blocks is not None
    if math.prod(window.blocks) * math.prod(window.sizes) > 20_000:
        return False
    rows = exact.reshape(*result.shape[:2], math.prod(window.sizes), -1).astype(np.int64)
    total = sum(
        int(rows[:, :, row, column].sum())
        for column, at in enumerate(np.ndindex(window.blocks))
        for row, _ in window.inside(at)
    )
    found = run(desc, {"input": exact}).astype(np.int64)
    bits = 8 * exact.itemsize
    same = (int(found.sum()) - total) % 2**bits == 0 if exact.dtype.kind in "iu" else int(found.sum()) == total
    assert same or abs(found).max() > 2000
    return True


def properties(operator: Operator) -> list[Property]:
    return [a_batch_is_its_items, folding_ones_counts_the_windows, every_element_inside_the_image_counts_once]
