"""Properties of region_reduce."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, channels_permuted, more_data_gives_no_less, run, whole


def regions_one_by_one(desc: Any, arrays: Arrays, result: Array) -> bool:
    x, roi = arrays["input"], arrays["roi"]
    rows = [run(desc, {"input": x, "roi": roi[:, :, r : r + 1]}) for r in range(roi.shape[2])]
    assert_same_values(np.concatenate(rows), result)
    return len(rows) > 1


def one_bin_of_everything_is_the_maximum(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = whole(desc, arrays)["input"]
    roi = np.zeros((1, 1, len(x), 5), x.dtype)
    roi[0, 0, :, 0], roi[0, 0, :, 3:] = range(len(x)), (x.shape[3] - 1, x.shape[2] - 1)
    found = run(desc, {"input": x, "roi": roi}, spatial_scale=1.0, pooled_size=(1, 1))
    assert_same_bits(found, x.max((2, 3), keepdims=True))
    return True


def images_permuted(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The batch in another order, and the regions with the new numbers."""
    x, roi = arrays["input"], np.array(arrays["roi"], order="C")
    order = np.arange(len(x))[::-1]
    roi[..., 0] = len(x) - 1 - roi[..., 0]
    assert_same_values(run(desc, {"input": x[order], "roi": roi}), result)
    return len(x) > 1


def properties(operator: Operator) -> list[Property]:
    return [
        regions_one_by_one, channels_permuted, one_bin_of_everything_is_the_maximum, more_data_gives_no_less,
        images_permuted,
    ]  # fmt: skip
