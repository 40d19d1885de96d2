"""Properties of region_sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_values
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, run, several


def of_regions(arrays: Arrays, some: slice) -> Arrays:
    """The same for some of the regions."""
    found = dict(arrays)
    found["roi"] = arrays["roi"][..., some, :]
    found["batch_indices"] = arrays["batch_indices"][..., some]
    return found


def regions_one_by_one(desc: Any, arrays: Arrays, result: Array) -> bool:
    count = len(result)
    each = [run(desc, of_regions(arrays, slice(r, r + 1))) for r in range(count)]
    assert_same_values(np.concatenate(each), result)
    return count > 1


def channels_the_other_way_round(desc: Any, arrays: Arrays, result: Any) -> bool:
    turned = {name: x[:, ::-1] if name in ("input", "input_gradient") else x for name, x in arrays.items()}
    first, second = several(result)[0], several(run(desc, turned))[0]
    if desc.operator.python.endswith("_grad") and desc.output_gradient is None:  # corners add up channels
        return False
    assert_same_values(np.ascontiguousarray(second[:, ::-1]), first)
    found: bool = first.shape[1] > 1
    return found


def properties(operator: Operator) -> list[Property]:
    if operator.python.endswith("_grad"):
        return [channels_the_other_way_round]
    return [regions_one_by_one, channels_the_other_way_round]
