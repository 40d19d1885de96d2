"""MAX_POOLING2: windows whose elements lie apart, with the loops and the indices of MAX_POOLING1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, assert_same_values, check_everywhere, onnx_run
from hypothesis import given
from hypothesis import strategies as st
from strategies import Windows, examples, seeds, small_integers, windows
from test_max_pooling import DTYPES, dtypes, image

import dmlcy as dml

NONE = 2**32 - 1
requests = st.sampled_from([False, "UINT32", "UINT64"])
dilated = st.integers(2, 3).flatmap(lambda spatial: windows(spatial, dilated=True))


def pooling(case: Windows) -> dict[str, Any]:
    return {**case.pooling, "dilations": case.dilations}


@examples(200)
@given(dilated, dtypes, seeds, requests)
def test_the_definition(case: Windows, dtype: str, seed: int, request_: Any) -> None:
    x = image(seed, case.sizes, dtype)
    expected = reference.max_pooling2(x, **pooling(case), output_indices=request_ or "")
    assert_same_values(dml.max_pooling2(x, **pooling(case), output_indices=request_), expected)


@examples(80)
@given(dilated, dtypes, seeds, requests, st.data())
def test_any_layout(case: Windows, dtype: str, seed: int, request_: Any, data: st.DataObject) -> None:
    given = {**pooling(case), "output_indices": request_}
    check_everywhere(data, "max_pooling2", [image(seed, case.sizes, dtype)], given, assert_same_values)


LARGER = [
    Windows((2, 3, 30, 40), (3, 3), (2, 2), (2, 3), (1, 1), (1, 1)),
    Windows((1, 2, 5, 2500), (2, 3), (1, 1), (3, 700), (1, 2), (0, 7)),
    Windows((1, 3, 300, 4), (50, 3), (75, 1), (3, 1), (10, 1), (20, 1)),
    Windows((1, 2, 9, 14, 15), (3, 5, 2), (2, 1, 3), (2, 3, 5), (2, 3, 9), (0, 6, 1)),
    Windows((2, 33, 14, 14), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2)),
    Windows((2, 3, 20, 70), (3, 3), (2, 1), (2, 2), (2, 2), (2, 2)),
    Windows((1, 1, 2, 6000), (1, 3), (1, 1), (1, 2500), (0, 10), (0, 700)),  # gaps beyond a block
]


@pytest.mark.parametrize("case", LARGER, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_larger_tensors(case: Windows, dtype: str) -> None:
    x = image(7, case.sizes, dtype)
    values, indices = dml.max_pooling2(x, **pooling(case), output_indices=True)
    assert_same_values(dml.max_pooling2(x, **pooling(case)), values)
    expected = reference.max_pooling2(x, **pooling(case), output_indices="UINT32")
    assert_same_values((values, indices), expected)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    for source in (last, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        assert_same_values(dml.max_pooling2(source, **pooling(case), output_indices=True), expected)


LAST = [
    Windows((2, 70, 9, 11), (2, 2), (2, 2), (1, 1), (0, 0), (0, 0)),
    Windows((1, 33, 12, 14), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    Windows((2, 40, 9, 10), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2)),
    Windows((2, 37, 5, 6, 7), (2, 3, 2), (2, 2, 1), (1, 2, 1), (1, 1, 0), (0, 2, 1)),
    Windows((1, 32, 7, 8), (2, 3), (2, 1), (1, 1), (3, 0), (0, 4)),  # windows of padding only
    Windows((2, 8, 7, 8), (2, 3), (2, 1), (1, 1), (0, 0), (0, 0)),
]


@pytest.mark.parametrize("case", LAST, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", ["UINT32", "UINT64"])
def test_channels_that_are_neighbours_in_all_tensors(case: Windows, dtype: str, index: str) -> None:
    x = image(9, case.sizes, dtype)
    expected = dml.max_pooling2(x, **pooling(case), output_indices=index)
    assert_same_values(expected, reference.max_pooling2(x, **pooling(case), output_indices=index))
    source = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    out = tuple(np.moveaxis(np.empty_like(np.moveaxis(one, 1, -1), order="C"), -1, 1) for one in expected)
    dml.max_pooling2(source, **pooling(case), output_indices=index, out=out)
    assert_same_values(tuple(map(np.ascontiguousarray, out)), expected)


@examples(60)
@given(dilated, st.sampled_from(["f4", "f2", "i1", "i4", "u1"]), seeds)
def test_torch(case: Windows, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pool = torch.nn.functional.max_pool2d if len(case.window) == 2 else torch.nn.functional.max_pool3d
    x = small_integers(seed, case.sizes, dtype) + (dtype[0] == "u")  # more than padding, which is 0 of these
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(dtype).min
    edges = [(0, 0), (0, 0), *zip(case.start, case.end, strict=True)]
    padded = torch.from_numpy(np.pad(x, edges, constant_values=least))
    expected, places = pool(padded, case.window, case.strides, 0, case.dilations, return_indices=True)
    values, indices = dml.max_pooling2(x, **pooling(case), output_indices="UINT64")
    assert_same_bits(values, expected.numpy())
    channel = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * len(case.window))
    numbers = np.pad(np.arange(x.size).reshape(x.shape), edges, constant_values=NONE).ravel()
    flat = places.numpy() + channel * math.prod(padded.shape[2:])
    np.testing.assert_array_equal(indices, np.where(indices == NONE, NONE, numbers[flat]))
    assert (numbers[flat] == NONE)[indices == NONE].all()


@examples(60)
@given(dilated, st.sampled_from(["f4", "f2", "i1", "u1"]), seeds)
def test_onnx_runtime(case: Windows, dtype: str, seed: int) -> None:
    start, end = (
        tuple(min(p, w - 1) for p, w in zip(paddings, case.window, strict=True)) for paddings in (case.start, case.end)
    )
    rows = zip(case.sizes[2:], case.window, case.dilations, start, end, strict=True)
    sizes = tuple(max(n, d * (w - 1) + 1 - before - after) for n, w, d, before, after in rows)
    x = small_integers(seed, (*case.sizes[:2], *sizes), dtype)
    window = {"kernel_shape": case.window, "strides": case.strides, "dilations": case.dilations}
    expected, places = onnx_run("MaxPool", 12, [x], 2, **window, pads=(*start, *end))
    given: dict[str, Any] = {**pooling(case), "start_padding": start, "end_padding": end}
    values, indices = dml.max_pooling2(x, **given, output_indices="UINT64")
    found = indices != NONE  # of a window that covers padding only it gives the least finite number
    assert_same_bits(values[found], expected[found])
    np.testing.assert_array_equal(indices[found], places[found])
