"""Parts of the properties of families, and properties that several families share."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values
from example_descs import own_attributes, requests
from strategies import Array, small_integers

import dmlcy as dml
from dmlcy._desc.operator_desc import OperatorDesc

Arrays = dict[str, Array]
Property = Callable[[Any, Arrays, Any], bool]
"""Takes a use and its result; False where the use leaves nothing to compare, such as a batch of one."""


def attributes_of(desc: OperatorDesc) -> dict[str, Any]:
    """The arguments beside tensors of a call, without sizes that follow: other attributes give other sizes."""
    follow = {field.sized_by for field in desc.operator.fields if field.sizes is not None}
    outputs = [field for field in desc.operator.fields if field.kind == "output"]
    every = all(field.optional for field in outputs)  # a call must ask for one
    dtypes = {name: dtype for name, dtype in requests(desc).items() if every or name.endswith("_dtype")}
    return {name: value for name, value in own_attributes(desc).items() if name not in follow} | dtypes


def inputs_of(desc: OperatorDesc, arrays: Arrays) -> list[Array | None]:
    """The inputs of a call by position; None for one that is left out."""
    return [arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"]


def run(desc: OperatorDesc, arrays: Arrays, **changes: Any) -> Array:
    """The call with other attributes."""
    function = getattr(dml, desc.operator.python)
    result: Array = function(*inputs_of(desc, arrays), **{**attributes_of(desc), **changes})
    return result


def several(result: Any) -> tuple[Array, ...]:
    """The outputs of a call, or the arrays of an input."""
    return result if isinstance(result, tuple) else (result,)


def whole(desc: OperatorDesc, arrays: Arrays) -> Arrays:
    """The same use on small whole numbers, whose sums are exact; what a rule looks at stays."""
    ruled = {rule.about for rule in desc.operator.rules if rule.data}
    return {n: x if n in ruled else small_integers(x.size, x.shape, x.dtype, 9) for n, x in arrays.items()}


def contiguous(x: Any) -> Any:
    """The same array, or the same arrays, as new ones are."""
    return tuple(map(contiguous, x)) if isinstance(x, tuple) else np.array(x, order="C")


def strided_is_contiguous(desc: Any, arrays: Arrays, result: Array) -> bool:
    assert_same_values(run(desc, {name: contiguous(x) for name, x in arrays.items()}), result)
    outs = tuple(np.empty(one.shape, one.dtype, "F") for one in several(result))
    assert_same_values(run(desc, arrays, out=outs if isinstance(result, tuple) else outs[0]), result)
    return not arrays or any(not one.flags.c_contiguous for x in arrays.values() for one in several(x))


def threads_make_no_difference(desc: Any, arrays: Arrays, result: Array) -> bool:
    before = dml.get_num_threads()
    try:
        for threads in (1, 2, 5):
            dml.set_num_threads(threads)
            assert_same_bits(run(desc, arrays), run(desc, arrays))
            assert_same_values(run(desc, arrays), result)
    finally:
        dml.set_num_threads(before)
    return True


def a_batch_is_its_items(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = arrays["input"]
    items = [run(desc, {"input": x[i : i + 1]}) for i in range(len(x))]
    assert_same_values(np.concatenate(items), result)
    return len(x) > 1


def channels_permuted(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = arrays["input"]
    channels = x.shape[1]
    order = np.roll(np.arange(channels)[::-1], 1)
    moved = run(desc, {**arrays, "input": x[:, order]})
    grouped = result.reshape(len(result), channels, -1)[:, order]
    assert_same_values(moved.reshape(grouped.shape), np.ascontiguousarray(grouped))
    return bool(channels > 1)


def other_bits_are_moved_alike(desc: Any, arrays: Arrays, result: Array) -> bool:
    """An operator that only moves elements knows nothing of their values."""
    x = arrays["input"]
    bits = f"u{x.itemsize}"
    other = run(desc, {"input": (~np.array(x, order="C").view(bits)).view(x.dtype)})
    assert_same_bits(other, (~result.view(bits)).view(x.dtype))
    return True


def more_data_gives_no_less(desc: Any, arrays: Arrays, result: Array) -> bool:
    exact = whole(desc, arrays)
    x = exact["input"]
    more = x + small_integers(1, x.shape, x.dtype, 5).clip(0)
    low, high = run(desc, exact), run(desc, {**exact, "input": more})
    assert (low <= high).all()
    return bool((low < high).any())


ALWAYS: list[Property] = [strided_is_contiguous, threads_make_no_difference]


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that a call has allocated at once, beside the earlier ones."""
    tracemalloc.start()
    try:
        result = call()
        most = tracemalloc.get_traced_memory()[1]
        del result
    finally:
        tracemalloc.stop()
    return most


def assert_near(result: Array, expected: Array, size: Any = 0.0, ulp: float = 1.0) -> None:
    """A result is the expected one of float64, within units in the last place of it, or of a larger ``size``."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(result.dtype)
        unit = np.spacing(np.maximum(np.abs(rounded), np.abs(np.asarray(size)).astype(result.dtype)))
        off = np.abs(result.astype(np.float64) - expected) > ulp * unit
    wrong = (off | (np.isnan(result) != np.isnan(rounded)) | (np.isinf(rounded) & (result != rounded))) & (
        result != rounded
    )
    wrong &= ~(np.isnan(result) & np.isnan(rounded))
    assert not wrong.any(), [(one[wrong][:3]) for one in (result, expected)]
