"""Properties of index."""

from __future__ import annotations

from typing import Any

import numpy as np
from checks import assert_same_bits
from strategies import Array

from dmlcy._facts.rows import Operator

from .common import Arrays, Property, contiguous, run

INTEGERS = {"indices", "sequence_lengths"}
"""The inputs that say where elements come from, or go to."""


def inverted(x: Array) -> Array:
    """The elements with all bits changed."""
    found: Array = (~contiguous(x).view(f"u{x.itemsize}")).view(x.dtype)
    return found


def other_bits_move_alike(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The value of an element makes no difference."""
    changed = {name: x if name in INTEGERS else inverted(x) for name, x in arrays.items()}
    assert_same_bits(run(desc, changed), inverted(result))
    return result.size > 0


def elements_to_which_none_goes_are_zero(desc: Any, arrays: Arrays, result: Array) -> bool:
    """All others have the bits of an input."""
    bits = f"u{result.itemsize}"
    named = np.zeros(result.size, np.bool_)
    named[arrays["indices"].reshape(-1).astype(np.intp)] = True
    assert not result.view(bits).reshape(-1)[~named].any()
    assert {*result.view(bits).reshape(-1)[named].tolist()} <= {
        *contiguous(arrays["input"]).view(bits).reshape(-1).tolist()
    }
    return bool(named.any())


def indices_of_another_data_type(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Indices from the end, where the data type has a sign, are the same places as those from the beginning."""
    (name,) = INTEGERS & {*arrays}
    indices = arrays[name]
    if indices.dtype.kind == "i" and indices.size and int(indices.min()) < 0:
        return False
    other = indices.astype(np.uint32 if indices.dtype == np.uint64 else np.uint64)
    assert_same_bits(run(desc, {**arrays, name: other}), result)
    return indices.size > 0


def properties(operator: Operator) -> list[Property]:
    clears = operator.python == "max_unpooling"
    return [
        elements_to_which_none_goes_are_zero if clears else other_bits_move_alike, indices_of_another_data_type,
    ]  # fmt: skip
