"""What must hold between results of an operator, per family, on any use that ``dmlcy.testing.cases`` draws.

A property takes a use and its result. It returns False where the use leaves nothing to compare, such as a batch of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from checks import assert_same_bits, assert_same_values, own_attributes
from numpy.lib.stride_tricks import sliding_window_view
from reference.rearrange import depth_to_space, space_to_depth
from strategies import Array, small_integers

import dmlcy as dml
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Operator
from dmlcy._reference.given import Given
from dmlcy._reference.slide import Slide, slide

Arrays = dict[str, Array]
Property = Callable[[Any, Arrays, Array], bool]


def run(desc: OperatorDesc, arrays: Arrays, **changes: Any) -> Array:
    """The call with other attributes."""
    result: Array = getattr(dml, desc.operator.python)(*arrays.values(), **{**own_attributes(desc), **changes})
    return result


def whole(desc: OperatorDesc, arrays: Arrays) -> Arrays:
    """The same use on small whole numbers, whose sums are exact; what a rule looks at stays."""
    ruled = {rule.about for rule in desc.operator.rules if rule.data}
    return {n: x if n in ruled else small_integers(x.size, x.shape, x.dtype, 9) for n, x in arrays.items()}


def window_of(desc: OperatorDesc, arrays: Arrays) -> Slide:
    given = Given(desc, arrays)
    return slide(given, given.input.shape)


# Of every family


def strided_is_contiguous(desc: Any, arrays: Arrays, result: Array) -> bool:
    assert_same_values(run(desc, {name: np.array(x, order="C") for name, x in arrays.items()}), result)
    out = np.empty(result.shape, result.dtype, "F")
    assert_same_values(getattr(dml, desc.operator.python)(*arrays.values(), **own_attributes(desc), out=out), result)
    return any(not x.flags.c_contiguous for x in arrays.values())


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
    return channels > 1


def other_bits_are_moved_alike(desc: Any, arrays: Arrays, result: Array) -> bool:
    """An operator that only moves elements knows nothing of their values."""
    x = arrays["input"]
    bits = f"u{x.itemsize}"
    other = run(desc, {"input": (~np.array(x, order="C").view(bits)).view(x.dtype)})
    assert_same_bits(other, (~result.view(bits)).view(x.dtype))
    return True


# window_reduce and window_gather


def one_more_stride_of_padding_shifts(desc: Any, arrays: Arrays, result: Array) -> bool:
    window = window_of(desc, arrays)
    if window.blocks is not None or max(window.strides) > 50:
        return False
    start = tuple(before + step for before, step in zip(window.start, window.strides, strict=True))
    exact = whole(desc, arrays)
    moved = run(desc, exact, **{desc.operator.window.start: start})
    inner = moved[(slice(None), slice(None), *[slice(1, None)] * len(start))]
    assert_same_bits(np.ascontiguousarray(inner), run(desc, exact))
    return True


def a_flip_flips(desc: Any, arrays: Arrays, result: Array) -> bool:
    """With as much padding at the end as it takes for no element to be left out."""
    exact, window, roles = whole(desc, arrays), window_of(desc, arrays), desc.operator.window
    spatial = len(window.sizes)
    if max(window.strides) > 50:
        return False
    end = tuple(
        after - (n + before + after - dilation * (w - 1) - 1) % -step
        for n, w, step, dilation, before, after in zip(
            window.limits, window.sizes, window.strides, window.dilations, window.start, desc.end_padding, strict=True
        )
    )
    axes = tuple(range(2, 2 + spatial))
    flipped = run(desc, {"input": np.flip(exact["input"], axes)}, **{roles.start: end, "end_padding": window.start})
    plain = run(desc, exact, end_padding=end)
    if window.blocks is not None:  # rows and columns both run backwards; channels do not
        split = (plain.shape[0], exact["input"].shape[1], -1, plain.shape[2])
        flipped, plain = flipped.reshape(split), plain.reshape(split)[:, :, ::-1, ::-1]
    else:
        plain = np.flip(plain, axes)
    assert_same_bits(flipped, np.ascontiguousarray(plain))
    return True


def a_depth_of_one_makes_no_difference(desc: Any, arrays: Arrays, result: Array) -> bool:
    """An image is a volume of depth 1."""
    given = own_attributes(desc)
    if len(given[desc.operator.window.window]) != 2:
        return False
    deep = {
        name: (0 if name.endswith("padding") else 1, *value) if isinstance(value, tuple) else value
        for name, value in given.items()
    }
    found = getattr(dml, desc.operator.python)(arrays["input"][:, :, None], **deep)
    assert_same_values(np.ascontiguousarray(found[:, :, 0]), result)
    return True


def sums_of_a_constant(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Where padding is not counted, the mean of a constant is that; 0 of a window over padding only."""
    x = np.full(arrays["input"].shape, 3, arrays["input"].dtype)
    reached = run(desc, {"input": np.ones_like(x)}, include_padding=False)
    assert set(np.unique(reached)) <= {0.0, 1.0}
    assert_same_bits(run(desc, {"input": x}, include_padding=False), reached * x.dtype.type(3))
    return True


def signs_make_no_difference(desc: Any, arrays: Arrays, result: Array) -> bool:
    assert_same_values(run(desc, {"input": -arrays["input"]}), result)
    return True


def a_norm_of_one_element_is_its_size(desc: Any, arrays: Arrays, result: Array) -> bool:
    roles, x = desc.operator.window, np.abs(whole(desc, arrays)["input"])
    changes = dict.fromkeys(filter(None, (roles.window, roles.strides, roles.dilations)), 1)
    same = run(desc, {"input": x}, **changes, **{roles.start: 0}, end_padding=0, p=min(desc.p, 50))
    assert_same_bits(same, np.array(x, order="C").reshape(same.shape))
    return True


def larger_data_gives_no_less(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = whole(desc, arrays)["input"]
    low, high = run(desc, {"input": x}), run(desc, {"input": 2 * x})
    assert (low <= high).all()
    return bool((low < high).any())


def the_maximum_axis_after_axis(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The maximum of maxima; of numbers, to which those of padding only lose."""
    exact, roles = whole(desc, arrays), desc.operator.window
    neutral = {roles.window: 1, roles.strides: 1, roles.start: 0, "end_padding": 0}
    neutral |= {roles.dilations: 1} if roles.dilations else {}
    found = exact["input"]
    count = len(getattr(desc, roles.window))
    if any(size > 100 for name in (roles.start, "end_padding") for size in getattr(desc, name)):
        return False
    for axis in range(count):
        here = {
            name: tuple(getattr(desc, name)[d] if d == axis else value for d in range(count))
            for name, value in neutral.items()
        }
        found = run(desc, {"input": found}, **here)
    assert_same_bits(found, run(desc, exact))
    return True


def a_linear_ramp_gives_the_middle_of_the_window(desc: Any, arrays: Arrays, result: Array) -> bool:
    window, shape = window_of(desc, arrays), arrays["input"].shape
    limits = window.limits
    if math.prod(limits) > 2000 or math.prod(window.sizes) > 2000:
        return False
    slopes = [2 * axis + 1 for axis in range(len(limits))]
    places = np.meshgrid(*map(np.arange, limits), indexing="ij")
    ramp = sum(slope * place for slope, place in zip(slopes, places, strict=True))
    dtype = arrays["input"].dtype
    found = run(desc, {"input": np.broadcast_to(ramp, shape).astype(dtype)})
    seen = False
    for position in np.ndindex(found.shape[2:]):
        first = [i * step - before for i, step, before in zip(position, window.strides, window.start, strict=True)]
        reach = [(w - 1) * apart for w, apart in zip(window.sizes, window.dilations, strict=True)]
        if all(f >= 0 and f + r < n for f, r, n in zip(first, reach, limits, strict=True)):
            middle = sum((s * (f + Fraction(r, 2)) for s, f, r in zip(slopes, first, reach, strict=True)), Fraction(0))
            assert (found[(slice(None), slice(None), *position)] == dtype.type(np.float32(float(middle)))).all()
            seen = True
    return seen


def a_window_of_one_is_the_identity(desc: Any, arrays: Arrays, result: Array) -> bool:
    roles, x = desc.operator.window, arrays["input"]
    changes = dict.fromkeys(filter(None, (roles.window, roles.strides, roles.dilations)), 1)
    same = run(desc, {"input": x}, **changes, **{roles.start: 0}, end_padding=0)
    number = np.array(x, order="C").reshape(same.shape)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        assert_same_values(same + same.dtype.type(0), number + same.dtype.type(0))
    return True


def unfolding_a_constant(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = np.full(arrays["input"].shape, 7, arrays["input"].dtype)
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


# pad


def cropping_gives_the_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    x = arrays["input"]
    inside = tuple(slice(start, start + n) for start, n in zip(desc.start_padding, x.shape, strict=True))
    assert_same_bits(np.ascontiguousarray(result[inside]), np.array(x, order="C"))
    return result.size > x.size


def padding_a_flip_is_a_flip(desc: Any, arrays: Arrays, result: Array) -> bool:
    turned = {"start_padding": desc.end_padding, "end_padding": desc.start_padding}
    assert_same_bits(run(desc, {"input": np.flip(arrays["input"])}, **turned), np.ascontiguousarray(np.flip(result)))
    return True


def padding_in_two_steps(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Where the mode reads nothing but the edge, or nothing at all."""
    if desc.padding_mode.name not in ("CONSTANT", "EDGE"):
        return False
    first = run(desc, arrays, end_padding=0)
    assert_same_bits(run(desc, {"input": first}, start_padding=0), result)
    return result.size > arrays["input"].size


def padding_another_axis_order(desc: Any, arrays: Arrays, result: Array) -> bool:
    turned = {"start_padding": desc.start_padding[::-1], "end_padding": desc.end_padding[::-1]}
    assert_same_bits(run(desc, {"input": arrays["input"].T}, **turned), np.ascontiguousarray(result.T))
    return arrays["input"].ndim > 1


# rearrange


def inverse(desc: Any, y: Array) -> Array:
    """Space to depth of a result of depth to space, or the other way round, by NumPy."""
    order = desc.order.name if hasattr(desc, "order") else "DEPTH_COLUMN_ROW"
    back = space_to_depth if desc.output.sizes[2] >= desc.input.sizes[2] else depth_to_space
    return back(y, block_size=desc.block_size, order=order)


def the_inverse_in_numpy_gives_the_input(desc: Any, arrays: Arrays, result: Array) -> bool:
    assert_same_bits(np.ascontiguousarray(inverse(desc, result)), np.array(arrays["input"], order="C"))
    return bool(desc.block_size > 1)


def the_operator_undoes_its_inverse(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Of any tensor of the sizes of the result."""
    other = result[..., ::-1]
    assert_same_bits(run(desc, {"input": inverse(desc, other)}), np.ascontiguousarray(other))
    return bool(desc.block_size > 1)


# region_reduce


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


def more_data_gives_no_less(desc: Any, arrays: Arrays, result: Array) -> bool:
    exact = whole(desc, arrays)
    x = exact["input"]
    more = x + small_integers(1, x.shape, x.dtype, 5).clip(0)
    low, high = run(desc, exact), run(desc, {**exact, "input": more})
    assert (low <= high).all()
    return bool((low < high).any())


def images_permuted(desc: Any, arrays: Arrays, result: Array) -> bool:
    """The batch in another order, and the regions with the new numbers."""
    x, roi = arrays["input"], np.array(arrays["roi"], order="C")
    order = np.arange(len(x))[::-1]
    roi[..., 0] = len(x) - 1 - roi[..., 0]
    assert_same_values(run(desc, {"input": x[order], "roi": roi}), result)
    return len(x) > 1


# window_scatter


def folding_ones_counts_the_windows(desc: Any, arrays: Arrays, result: Array) -> bool:
    """Each element of the image is the number of windows over it, and their total that of elements inside it."""
    x = np.ones(arrays["input"].shape, arrays["input"].dtype)
    found = run(desc, {"input": x})
    window = slide(Given(desc, {"input": x}), found.shape)
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
    window = slide(Given(desc, {"input": exact}), result.shape)
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


ALWAYS: list[Property] = [strided_is_contiguous, threads_make_no_difference]
PROPERTIES: dict[str, list[Property]] = {
    "window_reduce": [
        a_batch_is_its_items, channels_permuted, one_more_stride_of_padding_shifts, a_flip_flips,
        a_depth_of_one_makes_no_difference,
    ],
    "window_gather": [
        a_batch_is_its_items, channels_permuted, a_flip_flips, a_window_of_one_is_the_identity, unfolding_a_constant,
        columns_are_windows_of_a_sliding_view,
    ],
    "window_scatter": [
        a_batch_is_its_items, folding_ones_counts_the_windows, every_element_inside_the_image_counts_once,
    ],
    "pad": [
        cropping_gives_the_input, padding_a_flip_is_a_flip, padding_in_two_steps, padding_another_axis_order,
    ],
    "rearrange": [
        a_batch_is_its_items, other_bits_are_moved_alike, the_inverse_in_numpy_gives_the_input,
        the_operator_undoes_its_inverse,
    ],
    "region_reduce": [
        regions_one_by_one, channels_permuted, one_bin_of_everything_is_the_maximum, more_data_gives_no_less,
        images_permuted,
    ],
}  # fmt: skip
REDUCTIONS: dict[tuple[str, str], list[Property]] = {
    ("window_reduce", "acc + x"): [
        sums_of_a_constant, a_linear_ramp_gives_the_middle_of_the_window, a_window_of_one_is_the_identity,
    ],
    ("window_reduce", "max"): [
        the_maximum_axis_after_axis, more_data_gives_no_less, a_window_of_one_is_the_identity,
    ],
    ("window_reduce", "norm"): [signs_make_no_difference, a_norm_of_one_element_is_its_size, larger_data_gives_no_less],
}  # fmt: skip


def kind_of(operator: Operator) -> str:
    """What an operator that reduces makes of the elements: acc + x, norm or max."""
    told = operator.definition
    kind = told.words.get("reduction", "")
    if kind == "sum":
        step = told.formulas["step"].text
        kind = step if step == "acc + x" else "norm"
    return kind


def properties_of(operator: Operator) -> list[Property]:
    return [*ALWAYS, *PROPERTIES[operator.family], *REDUCTIONS.get((operator.family, kind_of(operator)), [])]
