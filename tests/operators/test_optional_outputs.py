"""An optional output: how a call asks for it, what is given for it, and what descs and recordings have of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from each import each_of
from uses import ALL, NUMPY, USES

import dmlcy as dml

X = np.array([[[[1, 2, 3], [2, 4, 2], [5, 6, 7]]]], np.float32)

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


# Arguments for the outputs

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
        both: Any = (Y, INDICES)
        dml.max_pooling1(X, window_size=2, out=both)


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
    assert isinstance(first.desc, dml.desc.MaxPooling1)
    assert list(first.outputs) == ["output"] and first.desc.output_indices is None
    assert list(second.outputs) == ["output", "output_indices"]
    assert_same_bits(tuple(second.outputs.values()), expected)
    assert_same_bits(dml.compile(second.desc)(X), expected)


@each_of("name", [name for name, use in USES.items() if use.requests])
def test_a_number_of_numpy_is_no_data_type(name: str) -> None:
    """The number has a data type, and ``numpy.dtype`` gives it."""
    use = USES[name]
    given = use.arguments({}, use.attributes, compiled=False) | {"out": None}
    for request, dtype in use.requests.items():
        if dtype in NUMPY:
            with pytest.raises(dml.InvalidDataTypeError, match=f"{request} must be .*-type"):
                getattr(dml, use.operator.python)(**given | {request: NUMPY[dtype].type(1)})


def test_the_sizes_of_an_output_that_is_left_out_mean_nothing() -> None:
    calls = 0
    for use in (use for uses in ALL.values() for use in uses):
        given = use.arguments({}, use.attributes, compiled=False) | {"out": None}
        sized = [use.operator.sized_by(one) for one in use.operator.outputs if one.optional and not use.has(one)]
        for name in filter(None, sized):
            getattr(dml, use.operator.python)(**given | {name: "text"})
            calls += 1
    assert calls


def test_a_number_is_no_sizes() -> None:
    """A number is refused where a formula or values give the sizes. Sizes that the caller chooses may be one number."""
    with pytest.raises(
        dml.InvalidDataTypeError, match="output_count_sizes must be a sequence of ints, one for each axis, not 1"
    ):
        dml.nonzero_coordinates(X, output_count_sizes=1)  # type: ignore[call-overload]
