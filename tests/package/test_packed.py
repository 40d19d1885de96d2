"""Calls with tensors of INT4 and UINT4: arrays of ml_dtypes, packed bytes, what is refused, recordings, dask."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from four_bits import Array, numbers, packed, packed_bytes, with_and_without_ml_dtypes

import dmlcy as dml
from dmlcy import testing
from dmlcy._runtime.four_bits import BOUNDS

BOTH: Any = {"quantization_type": "SCALE_ZERO_POINT"}
SIZES, BLOCKS = (3, 5, 6), (3, 1, 2)
"""An odd number of rows of a plane, and blocks of 5 x 3 elements."""


@pytest.fixture(params=["ml_dtypes", "none"])
def has_ml_dtypes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    return with_and_without_ml_dtypes(request, monkeypatch)


def whole(blocks: Array) -> Array:
    """The elements of blocks for each element."""
    return blocks.repeat(5, 1).repeat(3, 2)


def use(dtype: str, seed: int = 0) -> tuple[Array, Array, Array, Array, Array]:
    """Numbers, scales, zero points, what they are quantized to by NumPy, and what this stands for."""
    random = np.random.default_rng(seed)
    low, high = BOUNDS[dtype]
    x = (random.standard_normal(SIZES) * 4).astype(np.float32)
    scale = random.choice([0.25, 0.5, 2], BLOCKS).astype(np.float32)
    zero = random.integers(low, high + 1, BLOCKS)
    quantized = np.clip(np.rint(x / whole(scale)) + whole(zero), low, high).astype(np.int64)
    return x, scale, zero, quantized, ((quantized - whole(zero)) * whole(scale)).astype(np.float32)


@pytest.mark.parametrize("dtype", ["INT4", "UINT4"])
def test_calls_equal_numpy(dtype: str, has_ml_dtypes: bool) -> None:
    x, scale, zero, quantized, numbers_again = use(dtype)
    found: Any = dml.quantize(x, [scale, packed(zero, dtype)], **BOTH)
    assert isinstance(found, dml.Packed) is not has_ml_dtypes
    assert numbers(found).tolist() == quantized.tolist()
    assert dml.dequantize(found, [scale, packed(zero, dtype)], **BOTH).tolist() == numbers_again.tolist()
    asked: Any = dml.quantize(x, [scale], quantization_type="SCALE", output_dtype=dtype)
    low, high = BOUNDS[dtype]
    assert numbers(asked).tolist() == np.clip(np.rint(x / whole(scale)) + low + 8, low, high).tolist()


@pytest.mark.parametrize("dtype", ["INT4", "UINT4"])
def test_arrays_of_ml_dtypes(dtype: str) -> None:
    """In any layout, as inputs and as out; the upper half of their bytes means nothing."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes, which JAX and ONNX bring")
    kind = getattr(ml_dtypes, dtype.lower())
    x, scale, zero, quantized, numbers_again = use(dtype)
    points = zero.astype(kind)
    points.view(np.uint8)[...] |= 0xA0
    out = np.zeros((3, 6, 10), kind).transpose(0, 2, 1)[:, ::-2]
    found: Any = dml.quantize(x, [scale, points], **BOTH, out=out)
    assert found is out and out.astype(np.int64).tolist() == quantized.tolist()
    assert dml.dequantize(out, [scale, points], **BOTH).tolist() == numbers_again.tolist()
    assert dml.TensorDesc.from_array(points) == dml.TensorDesc(dtype, BLOCKS) == dml.TensorDesc(kind, BLOCKS)
    assert dml.quantize(x, [scale, points], **BOTH).dtype == kind
    assert dml.quantize(x, [scale], quantization_type="SCALE", output_dtype=kind).dtype == kind


def test_packed_out_gets_the_bytes(has_ml_dtypes: bool) -> None:
    """An odd number of elements: the last half is 0."""
    x = np.array([-3, 2, 1], np.float32)
    data = np.full(2, 0xFF, np.uint8)
    out = dml.packed(data, "INT4", (3,))
    found: Any = dml.quantize(x, [np.ones(1, np.float32)], quantization_type="SCALE", out=out)
    assert found is out and data.tolist() == [0x2D, 0x01]
    assert out.values().tolist() == [-3, 2, 1] and out.values().dtype == np.int8
    data[1] = 0xF1  # what is in the last half is not read
    again = dml.dequantize(out, [np.ones(1, np.float32)], quantization_type="SCALE")
    assert again.tolist() == x.tolist()
    assert repr(out) == "packed(array([ 45, 241], dtype=uint8), 'INT4', (3,))"


@pytest.mark.parametrize("path", [None, "reference"])
def test_compiled_operators(path: Any, has_ml_dtypes: bool) -> None:
    x, scale, zero, quantized, _ = use("UINT4")
    points = packed(zero, "UINT4")
    desc = dml.desc.Quantize(
        input=dml.TensorDesc.from_array(x), quantizations=[dml.TensorDesc.from_array(one) for one in (scale, points)],
        output=dml.TensorDesc("UINT4", SIZES), **BOTH,
    )  # fmt: skip
    operator: Any = pickle.loads(pickle.dumps(dml.compile(desc, path=path)))
    assert numbers(operator(x, [scale, points])).tolist() == quantized.tolist()
    out = packed(np.zeros(SIZES, np.int64), "UINT4")
    assert operator(x, [scale, points], out=out) is out and numbers(out).tolist() == quantized.tolist()
    inputs: Any = {"input": x, "quantizations": (scale, points)}
    wrong = packed((quantized + 1) % 16, "UINT4")
    testing.assert_result(desc, inputs, out, bound="own")
    with pytest.raises(AssertionError, match="elements are wrong"):
        testing.assert_result(desc, inputs, wrong, bound="own")


DATA = np.arange(8, dtype=np.uint8)


TYPE_ID = "DML-MODEL-packed-type"
LAYOUT_ID = "DML-MODEL-packed-layout"
LENGTH_ID = "DML-MODEL-packed-length"
SIZES_ID = "DML-MODEL-packed-sizes"


@pytest.mark.parametrize(
    ("given", "id_", "said"),
    [
        (lambda: (DATA, "INT8", 16), TYPE_ID, 'packed() takes INT4 or UINT4, not "INT8".'),
        (lambda: (DATA.view(np.int8), "INT4", 16), TYPE_ID, "packed() takes an array of UINT8, not int8."),
        (lambda: (DATA.tolist(), "INT4", 16), TYPE_ID, "packed() takes an array of UINT8, not [0, 1, 2,"),
        (lambda: (np.ma.masked_array(DATA), "INT4", 16), TYPE_ID, "packed() takes an array of UINT8, not "),
        (lambda: (DATA[::2], "INT4", 8), LAYOUT_ID, "the array has the strides (2,)"),
        (lambda: (DATA[::-1], "INT4", 16), LAYOUT_ID, "the array has the strides (-1,)"),
        (lambda: (np.broadcast_to(DATA[1:2], 8), "INT4", 16), LAYOUT_ID, "the array has the strides (0,)"),
        (lambda: (DATA, "UINT4", (3, 6)), LENGTH_ID, "18 elements of UINT4 take 9 bytes, and the array has 8."),
        (lambda: (DATA, "UINT4", (2, 7)), LENGTH_ID, "14 elements of UINT4 take 7 bytes, and the array has 8."),
        (lambda: (DATA, "UINT4", (0, 7)), SIZES_ID, "1 to 8 sizes, each from 1 to 4294967295, not (0, 7)."),
        (lambda: (DATA, "UINT4", ()), SIZES_ID, "not ()."),
        (lambda: (DATA, "UINT4", (1,) * 9), SIZES_ID, "1 to 8 sizes"),
        (lambda: (DATA, "UINT4", 1.5), SIZES_ID, "not 1.5."),
        (lambda: (DATA, "UINT4", (2**32, 1)), SIZES_ID, "not (4294967296, 1)."),
    ],
)  # fmt: skip
def test_what_packed_refuses(given: Callable[[], Any], id_: str, said: str) -> None:
    with pytest.raises(dml.DmlError) as caught:
        dml.packed(*given())
    assert caught.value.id == id_ and said in str(caught.value)


def test_the_last_half_of_an_odd_number_counts_as_a_byte() -> None:
    assert dml.packed(DATA, "INT4", (3, 5)).values().tolist()[2] == [5, 0, 6, 0, 7]
    one: Any = 1
    assert dml.packed(bytes([0x21]), "UINT4", one).values().tolist() == [1]


def refused(call: Callable[[], Any], *ids: str) -> None:
    with pytest.raises(dml.DmlError) as caught:
        call()
    assert [one.id for one in caught.value.violations] == [*ids]


def test_nothing_is_written_where_something_is_wrong(has_ml_dtypes: bool) -> None:
    x, scale, zero, *_ = use("INT4")
    points = packed(zero, "INT4")
    before = points.data.copy()
    memory = np.zeros(SIZES, np.float32)
    inside = dml.packed(memory.view(np.uint8).reshape(-1)[7:52], "INT4", SIZES)
    read_only = packed(np.zeros(SIZES, np.int64), "INT4")
    read_only.data.flags.writeable = False
    bytes_ = np.zeros(45, np.uint8)
    for out, *ids in (
        (dml.packed(bytes_, "UINT4", SIZES), "DML-QUANTIZE-quantizations-other-type"),
        (dml.packed(bytes_, "INT4", (90,)), "DML-QUANTIZE-output-sizes"),
        (inside, "DML-QUANTIZE-output-overlap"),
        (read_only, "DML-QUANTIZE-output-readonly"),
        (np.zeros(SIZES, np.int8), "DML-QUANTIZE-quantizations-other-type"),
    ):
        given = memory if out is inside else x
        with pytest.raises(dml.DmlError) as caught:
            dml.quantize(given, [scale, points], **BOTH, out=out)
        assert {*ids} & {one.id for one in caught.value.violations}, caught.value
    assert not memory.any() and not bytes_.any() and not read_only.data.any()
    assert points.data.tolist() == before.tolist()
    refused(lambda: dml.element_wise_abs(points), "DML-ELEMENT_WISE_ABS-input-dtype")
    refused(lambda: dml.dequantize(points, [scale, zero.astype(np.int8)], **BOTH),
            "DML-DEQUANTIZE-quantizations-other-type")  # fmt: skip


def test_a_desc_with_strides_is_valid_and_does_not_run() -> None:
    x = dml.TensorDesc("FLOAT32", (2, 4))
    for strides in ((8, 2), (0, 1), (1, 2)):
        desc = dml.desc.Dequantize(
            input=dml.TensorDesc("INT4", (2, 4), strides), output=x,
            quantizations=[dml.TensorDesc("FLOAT32", (1, 1))], quantization_type="SCALE",
        )  # fmt: skip
        assert dml.check(desc) == []
        with pytest.raises(dml.InvalidDescError, match="input has the data type INT4 and the strides") as caught:
            dml.compile(desc)
        assert caught.value.id == "DML-MODEL-packed-strides"


def test_recordings(tmp_path: Path, has_ml_dtypes: bool, capsys: pytest.CaptureFixture[str]) -> None:
    from dmlcy._cli import main

    x, scale, zero, quantized, numbers_again = use("UINT4")
    with dml.record() as recording:
        found: Any = dml.quantize(x, [scale, packed(zero, "UINT4")], **BOTH)
        dml.dequantize(found, [scale, packed(zero, "UINT4")], **BOTH)
    first, second = recording.calls
    assert numbers(first.inputs["quantizations"][1]).tolist() == zero.tolist()
    assert numbers(first.outputs["output"]).tolist() == numbers(second.inputs["input"]).tolist() == quantized.tolist()
    with pytest.raises(ValueError, match="read-only"):
        getattr(first.outputs["output"], "data" if not has_ml_dtypes else "T")[...] = 0
    exported = recording.export(tmp_path / "model")
    points = np.load(tmp_path / "model" / "1_quantize_quantizations_1.npy")
    assert points.dtype == np.uint8 and points.tolist() == packed_bytes(zero).tolist()
    assert main(["run", str(exported.model), "--output-path", str(tmp_path)]) == 0
    assert np.load(tmp_path / "1_quantize_output.npy").tolist() == packed_bytes(quantized).tolist()
    assert np.load(tmp_path / "2_dequantize_output.npy").tolist() == numbers_again.tolist()


def test_dask_arrays(has_ml_dtypes: bool) -> None:
    da = pytest.importorskip("dask.array")
    import dmlcy.dask as chunks

    x, scale, zero, quantized, numbers_again = use("INT4")
    points = packed(zero, "INT4")
    given = da.from_array(x, chunks=(1, 5, 3))
    if not has_ml_dtypes:
        with pytest.raises(TypeError, match="dask arrays of INT4 need ml_dtypes"):
            chunks.quantize(given, [scale, points], **BOTH)
        return
    found = chunks.quantize(given, [scale, points], **BOTH)
    assert found.dtype.name == "int4" and numbers(found.compute()).tolist() == quantized.tolist()
    assert chunks.dequantize(found, [scale, points], **BOTH).compute().tolist() == numbers_again.tolist()


def test_a_matrix_of_bytes_is_packed_as_an_array() -> None:
    x = dml.packed(np.array([[0x21, 0x43]], np.uint8).view(np.matrix), "INT4", (2, 2))
    assert x.values().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("strides", [(99, 0, 1), (0, 7, 1), (3, 3, 1)])
def test_strides_of_axes_of_one_element_do_not_count(strides: tuple[int, ...]) -> None:
    """Front ends write 0 there, for an axis that could be repeated."""
    tensors = [dml.TensorDesc("FLOAT32", (1, 1, 1)), dml.TensorDesc("INT4", (1, 1, 1), (0, 0, 0))]
    desc = dml.desc.Dequantize(
        input=dml.TensorDesc("INT4", (1, 1, 3), strides), quantizations=tensors, **BOTH,
        output=dml.TensorDesc("FLOAT32", (1, 1, 3)),
    )  # fmt: skip
    x, zero = packed(np.array([[[1, -2, 7]]]), "INT4"), packed(np.array([[[3]]]), "INT4")
    compiled: Any = dml.compile(desc)
    assert compiled(x, [np.ones((1, 1, 1), np.float32), zero]).tolist() == [[[-2, -5, 4]]]
