"""MAX_POOLING1: the values are those of MAX_POOLING, and the indices say where they stand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
from checks import (
    assert_same_bits,
    assert_same_output_on_any_processor,
    assert_same_values,
    check_everywhere,
    onnx_run,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import Array, Windows, examples, seeds, small_integers
from test_max_pooling import DTYPES, LARGER, any_windows, dtypes, image

import dmlcy as dml

NONE = 2**32 - 1
X = np.array([[[[1, 2, 3], [2, 4, 2], [5, 6, 7]]]], np.float32)


def everywhere(sizes: tuple[int, ...]) -> Array:
    """The index of each element."""
    return np.arange(math.prod(sizes)).reshape(sizes)


@examples(150)
@given(any_windows, dtypes, seeds, st.sampled_from(["UINT32", "UINT64"]))
def test_the_definition(case: Windows, dtype: str, seed: int, index: str) -> None:
    x = image(seed, case.sizes, dtype)
    expected = reference.max_pooling1(x, **case.pooling, output_indices=index)
    values, indices = dml.max_pooling1(x, **case.pooling, output_indices=index)
    assert_same_values((values, indices), expected)
    assert_same_values(values, dml.max_pooling(x, **case.pooling))
    assert_same_values(dml.max_pooling1(x, **case.pooling), values)


@examples(100)
@given(any_windows, dtypes, seeds, st.sampled_from(["UINT32", "UINT64"]), st.data())
def test_any_layout(case: Windows, dtype: str, seed: int, index: str, data: st.DataObject) -> None:
    given = {**case.pooling, "output_indices": index}
    check_everywhere(data, "max_pooling1", [image(seed, case.sizes, dtype)], given, assert_same_values)


@pytest.mark.parametrize("case", LARGER, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_larger_tensors(case: Windows, dtype: str) -> None:
    """The elements at the indices are the values, bit for bit, and no element before them in the window is one."""
    x = image(5, case.sizes, dtype)
    expected = dml.max_pooling(x, **case.pooling)
    values, indices = dml.max_pooling1(x, **case.pooling, output_indices=True)
    assert_same_values(values, expected)
    found = indices != NONE
    assert_same_values(x.ravel()[indices[found]], values[found])
    assert (values[~found] == (-np.inf if x.dtype.kind == "f" else np.iinfo(dtype).min)).all()
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    out = np.empty(values.shape, dtype, "F"), np.empty(values.shape, np.uint64, "F")
    for source in (x, last, np.asfortranarray(x), x[..., ::-1].copy()[..., ::-1]):
        assert_same_values(dml.max_pooling1(source, **case.pooling, output_indices=True), (values, indices))
        dml.max_pooling1(source, **case.pooling, output_indices="UINT64", out=out)
        assert_same_values(tuple(map(np.ascontiguousarray, out)), (values, indices.astype(np.uint64)))


def test_same_bits_on_any_processor() -> None:
    program = """
        import hashlib, itertools, numpy as np, dmlcy as dml
        bits = hashlib.sha256()
        for dtype, (window, stride, padding) in itertools.product(
            ["f4", "f2", "i1", "u2", "u4", "i8", "u8"], [(2, 2, 0), (3, 1, 1), (3, 2, 1), (13, 5, 6)]
        ):
            for sizes in (2, 5, 19, 37), (1, 40, 3, 19, 70):
                x = (np.random.default_rng(0).standard_normal(sizes) * 9).astype("i8").astype(dtype)
                for y in x, np.asfortranarray(x):
                    for one in dml.max_pooling1(
                            y, window_size=(3, window, window)[5 - len(sizes):], strides=stride,
                            start_padding=padding, end_padding=padding, output_indices=True):
                        bits.update(one.tobytes())
        print(bits.hexdigest())
    """
    assert_same_output_on_any_processor(program)


def test_any_number_of_threads_gives_the_same() -> None:
    x = small_integers(3, (4, 32, 60, 61), "f4")
    results, before = [], dml.get_num_threads()
    try:
        for threads in (1, 2, 3):
            dml.set_num_threads(threads)
            results.append(dml.max_pooling1(x, window_size=3, strides=2, start_padding=1, output_indices=True))
    finally:
        dml.set_num_threads(before)
    for result in results[1:]:
        assert_same_bits(result, results[0])


# The interpretations


def test_an_index_counts_all_axes_of_the_packed_input() -> None:
    x = np.zeros((2, 3, 4, 5), np.float32)
    x[1, 2, 3, 4] = 1
    for source in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
        _, indices = dml.max_pooling1(source, window_size=(4, 5), output_indices=True)
        assert indices.ravel().tolist() == [0, 20, 40, 60, 80, 119]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_first_of_equal_elements(dtype: str) -> None:
    x = np.zeros((1, 2, 6, 7), dtype)
    _, indices = dml.max_pooling1(x, window_size=(2, 3), strides=(2, 1), output_indices=True)
    np.testing.assert_array_equal(indices, everywhere(x.shape)[:, :, ::2, :5])


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_numbers_before_nan_and_zeros_by_their_sign(dtype: str) -> None:
    row = np.array([np.nan, np.nan, -np.inf, np.nan, -0.0, 0.0, -0.0, 0.0], dtype)
    values, indices = dml.max_pooling1(row.reshape(1, 1, 1, 8), window_size=(1, 2), output_indices=True)
    assert indices.ravel().tolist() == [0, 2, 2, 4, 5, 5, 7]
    assert_same_values(values.ravel(), np.array([np.nan, -np.inf, -np.inf, -0.0, 0.0, 0.0, 0.0], dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [np.uint32, np.uint64])
def test_a_window_of_padding_only_has_the_index_of_no_element(dtype: str, index: Any) -> None:
    x = np.zeros((1, 1, 2, 2), dtype)
    _, indices = dml.max_pooling1(x, window_size=1, start_padding=2, end_padding=1, output_indices=index)
    expected = np.pad(everywhere(x.shape), [(0, 0), (0, 0), (2, 1), (2, 1)], constant_values=NONE)
    assert_same_bits(indices, expected.astype(index))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_least_number_of_a_data_type_has_an_index(dtype: str) -> None:
    least = -np.inf if dtype[0] == "f" else np.iinfo(dtype).min
    x = np.full((1, 1, 2, 2), least, dtype)
    values, indices = dml.max_pooling1(x, window_size=2, start_padding=1, output_indices=True)
    assert indices.ravel().tolist() == [0, 0, 0, 0] and (values == least).all()


# How indices are asked for


@pytest.mark.parametrize("request_", [None, False, np.False_])
def test_one_array_where_indices_are_not_asked_for(request_: Any) -> None:
    result = dml.max_pooling1(X, window_size=2, output_indices=request_)
    assert_same_bits(result, dml.max_pooling(X, window_size=2))
    out = np.empty_like(result)
    assert dml.max_pooling1(X, window_size=2, output_indices=request_, out=out) is out


@pytest.mark.parametrize(
    ("request_", "dtype"),
    [
        (True, "u4"), (np.True_, "u4"), ("UINT32", "u4"), ("UINT64", "u8"), ("DML_TENSOR_DATA_TYPE_UINT64", "u8"),
        ("uint64", "u8"), (np.uint64, "u8"), (np.dtype("u4"), "u4"), (dml.TensorDataType.UINT64, "u8"),
    ],
)  # fmt: skip
def test_a_request_is_true_or_a_data_type(request_: Any, dtype: str) -> None:
    result = dml.max_pooling1(X, window_size=2, output_indices=request_)
    assert type(result) is tuple
    assert_same_bits(result, (np.array([[[[4, 4], [6, 7]]]], "f4"), np.array([[[[4, 4], [7, 8]]]], dtype)))


@pytest.mark.parametrize(
    ("request_", "slug", "message"),
    [
        (1, "type", "output_indices must be True, False or a data type, not 1."),
        ([True], "type", "output_indices must be True, False or a data type, not [True]."),
        (dml.TensorDesc("UINT32", (1,)), "type", "output_indices must be True, False or a data type"),
        ("UINT31", "dtype", 'output_indices has data type "UINT31", which is not among UINT32, UINT64.'),
        ("INT64", "dtype", "output_indices has data type INT64, which is not among UINT32, UINT64."),
        (np.complex64, "dtype", "which is not among UINT32, UINT64."),
    ],
)
def test_other_requests_are_refused(request_: Any, slug: str, message: str) -> None:
    with pytest.raises(dml.InvalidDataTypeError) as caught:
        dml.max_pooling1(X, window_size=2, output_indices=request_)
    (violation,) = caught.value.violations
    assert violation.id == f"DML-MAX_POOLING1-output_indices-{slug}"
    assert message in violation.message


def test_the_level_that_brought_a_data_type() -> None:
    with dml.feature_level("4_1"):
        assert dml.max_pooling1(X, window_size=2, output_indices=True)[1].dtype == np.uint32
        with pytest.raises(dml.FeatureLevelError, match="output_indices of data type UINT64 needs feature level 5_0"):
            dml.max_pooling1(X, window_size=2, output_indices="UINT64")


# What is given for the outputs

Y, INDICES = np.empty((1, 1, 2, 2), np.float32), np.empty((1, 1, 2, 2), np.uint32)


@pytest.mark.parametrize(
    ("out", "ids", "message"),
    [
        (Y, ["output-type"], "out must be a tuple of 2 arrays, output at 0 and output_indices at 1, not an array"),
        ([Y, INDICES], ["output-type"], "out must be a tuple of 2 arrays"),
        ((Y,), ["output-type"], "out must be a tuple of 2 arrays"),
        ((Y, INDICES, INDICES), ["output-type"], "out must be a tuple of 2 arrays"),
        ((Y, None), ["output_indices-type"], "out[1] must be an array, not None"),
        ((None, INDICES), ["output-type"], "out[0] must be an array, not None"),
        ((Y, [1]), ["output_indices-type"], "out[1] must be an array, not [1]"),
        ((INDICES, Y), ["output-same-dtype", "output_indices-dtype"], ""),
        ((Y, INDICES.astype("u8")), ["output_indices-same-dtype"], "out[1] has data type UINT64, and must have"),
        ((Y, INDICES[..., :1]), ["output_indices-sizes"], "out[1] has sizes (1, 1, 2, 1)"),
        ((Y, Y.view("u4")), ["output_indices-overlap"], "out[1] shares memory with out[0]."),
        ((Y, X[:, :, :2, :2].view("u4")), ["output_indices-overlap"], "out[1] shares memory with input."),
    ],
)
def test_out_has_an_array_for_each_output(out: Any, ids: list[str], message: str) -> None:
    ids = [f"DML-MAX_POOLING1-{one}" for one in ids]
    given = dml.TensorDesc("FLOAT32", (1, 1, 3, 3)), dml.TensorDesc("UINT32", (1, 1, 2, 2))
    compiled = dml.compile(dml.desc.MaxPooling1(input=given[0], output_indices=given[1], window_size=2))
    with pytest.raises(dml.DmlError) as called:
        dml.max_pooling1(X, window_size=2, output_indices=True, out=out)
    assert [one.id for one in called.value.violations] == ids
    assert message in called.value.violations[0].message
    with pytest.raises(dml.DmlError) as ran:
        compiled(X, out=out)
    assert [one.field for one in ran.value.violations] == [one.field for one in called.value.violations]


def test_how_to_ask_for_the_data_type_of_out() -> None:
    with pytest.raises(dml.InvalidDataTypeError, match=r'Pass output_indices="UINT64"\.'):
        dml.max_pooling1(X, window_size=2, output_indices=True, out=(Y, INDICES.astype("u8")))
    out = dml.max_pooling1(X, window_size=2, output_indices="UINT64", out=(Y, INDICES.astype("u8")))
    assert out[1].dtype == np.uint64
    with pytest.raises(dml.InvalidDataTypeError) as raised:
        dml.max_pooling1(X, window_size=2, output_indices=True, out=(Y.astype("f2"), INDICES))
    assert raised.value.violations[0].hint == ""


def test_a_tuple_for_one_output_is_refused() -> None:
    with pytest.raises(dml.InvalidDataTypeError, match="Pass a tuple only if the call asks for output_indices too"):
        dml.max_pooling1(X, window_size=2, out=(Y, INDICES))


def test_a_desc_says_what_the_compiled_operator_gives() -> None:
    image = dml.TensorDesc.from_array(X)
    without = dml.desc.MaxPooling1(input=image, window_size=2)
    assert without.output_indices is None and without.to_dict()["desc"]["OutputIndicesTensor"] is None
    assert_same_bits(dml.compile(without)(X), dml.max_pooling(X, window_size=2))
    indices = dml.TensorDesc("UINT64", without.output.sizes)
    desc = dml.desc.MaxPooling1(input=image, output_indices=indices, window_size=2)
    expected = dml.max_pooling1(X, window_size=2, output_indices="UINT64")
    operator = dml.compile(desc)
    assert_same_bits(operator(X), expected)
    out = tuple(map(np.empty_like, expected))
    assert operator(X, out=out) is out
    assert_same_bits(out, expected)
    for one in (without, desc):
        assert dml.desc.OperatorDesc.from_dict(one.to_dict()) == one
        left_out = one.to_dict()
        if one is without:
            del left_out["desc"]["OutputIndicesTensor"]
        assert dml.check(dml.desc.OperatorDesc.from_dict(left_out)) == []
    assert str(dml.minimum_feature_level(desc)).endswith(", for output_indices of data type UINT64")
    assert dml.minimum_feature_level(without).level == "2_0"


def test_recorded_calls_have_the_outputs_that_there_were() -> None:
    with dml.record() as recording:
        dml.max_pooling1(X, window_size=2)
        expected = dml.max_pooling1(X, window_size=2, output_indices=True)
    first, second = recording.calls
    assert list(first.outputs) == ["output"] and first.desc.output_indices is None
    assert list(second.outputs) == ["output", "output_indices"]
    assert_same_bits(tuple(second.outputs.values()), expected)
    assert_same_bits(dml.compile(second.desc)(X), expected)


# Other libraries


@examples(80)
@given(any_windows, st.sampled_from(["f4", "f2", "i1", "i2", "i4", "i8", "u1"]), seeds)
def test_torch(case: Windows, dtype: str, seed: int) -> None:
    """Padding is part of the image there, with the least number; its indices count the elements of one channel."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pool = torch.nn.functional.max_pool2d if len(case.window) == 2 else torch.nn.functional.max_pool3d
    x = small_integers(seed, case.sizes, dtype) + (dtype[0] == "u")  # more than padding, which is 0 of these
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(dtype).min
    edges = [(0, 0), (0, 0), *zip(case.start, case.end, strict=True)]
    padded = np.pad(x, edges, constant_values=least)
    expected, places = pool(torch.from_numpy(padded), case.window, case.strides, return_indices=True)
    values, indices = dml.max_pooling1(x, **case.pooling, output_indices="UINT64")
    assert_same_bits(values, expected.numpy())
    channel = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * len(case.window))
    numbers = np.pad(everywhere(x.shape), edges, constant_values=NONE)
    flat = places.numpy() + channel * math.prod(padded.shape[2:])
    np.testing.assert_array_equal(indices, np.where(indices == NONE, NONE, numbers.ravel()[flat]))
    assert (numbers.ravel()[flat] == NONE)[indices == NONE].all()


@examples(60)
@given(any_windows, st.sampled_from(["f4", "f2", "i1", "u1"]), seeds)
def test_onnx_runtime(case: Windows, dtype: str, seed: int) -> None:
    start, end = (
        tuple(min(p, w - 1) for p, w in zip(paddings, case.window, strict=True)) for paddings in (case.start, case.end)
    )
    sizes = tuple(
        max(n, w - before - after) for n, w, before, after in zip(case.sizes[2:], case.window, start, end, strict=True)
    )
    x = small_integers(seed, (*case.sizes[:2], *sizes), dtype)
    window = {"kernel_shape": case.window, "strides": case.strides, "pads": (*start, *end)}
    expected, places = onnx_run("MaxPool", 12, [x], 2, **window)
    given: dict[str, Any] = {**case.pooling, "start_padding": start, "end_padding": end}
    values, indices = dml.max_pooling1(x, **given, output_indices="UINT64")
    assert_same_bits(values, expected)
    np.testing.assert_array_equal(indices, places)
