"""What holds of elementwise beside tests/operators/test_reference.py: blocks that are quantized, special numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same_bits, assert_same_values
from each import each_of

import dmlcy as dml
from dmlcy import testing
from dmlcy._facts.tables import FAST
from dmlcy._families.elementwise import family

Array = np.ndarray[Any, Any]


def blocks(random: np.random.Generator) -> tuple[list[int], list[int]]:
    """Sizes of blocks, and how many there are, along each axis."""
    rank = int(random.integers(1, 4))
    return random.integers(1, 4, rank).tolist(), random.integers(1, 4, rank).tolist()


def repeated(x: Array, times: list[int]) -> Array:
    for axis, count in enumerate(times):
        x = x.repeat(count, axis)
    return x


def test_quantization_by_blocks_against_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    random = np.random.default_rng(1)
    for number in range(60):
        monkeypatch.setattr(family, "BLOCK", (1 << 16, 5)[number % 2])
        times, counts = blocks(random)
        sizes = [one * count for one, count in zip(times, counts, strict=True)]
        axis = int(random.integers(len(sizes)))
        counts = [count if d == axis else size for d, (count, size) in enumerate(zip(counts, sizes, strict=True))]
        x = (random.standard_normal(sizes) * 100).astype(np.float32)
        scale = random.choice([0.5, 0.1, 3, 0.01], counts).astype(np.float32)
        low, dtype = (0, np.uint8) if number % 4 < 2 else (-128, np.int8)
        zero = random.integers(low, low + 256, counts).astype(dtype)
        for forward in (True, False):
            name = "QuantizeLinear" if forward else "DequantizeLinear"
            given = x if forward else random.integers(low, low + 256, sizes).astype(dtype)
            node = helper.make_node(name, ["x", "s", "z"], ["y"], axis=axis, block_size=times[axis])
            types = {"x": given, "s": scale, "z": zero}
            inputs = [
                helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
                for key, one in types.items()
            ]
            outputs = [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)]
            model = helper.make_model(
                helper.make_graph([node], "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 21)]
            )
            (expected,) = ReferenceEvaluator(model).run(None, types)
            more: Any = {"output_dtype": dtype} if forward else {}
            function: Any = dml.quantize if forward else dml.dequantize
            found = function(given, [scale, zero], quantization_type="SCALE_ZERO_POINT", **more)
            assert_same_bits(found, expected)


def test_blocks_of_several_axes_are_repeated_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    for number in range(40):
        monkeypatch.setattr(family, "BLOCK", (1 << 16, 4)[number % 2])
        times, counts = blocks(random)
        scale = random.standard_normal(counts).astype(np.float32)
        small = [count if number % 3 else 1 for count in counts]
        zero = random.integers(-128, 128, small).astype(np.int8)
        sizes = [one * count for one, count in zip(times, counts, strict=True)]
        x = (random.standard_normal(sizes) * 100).astype(np.float32)
        whole = [repeated(scale, times), np.broadcast_to(repeated(zero, times if number % 3 else small), sizes)]
        kind: Any = {"quantization_type": "SCALE_ZERO_POINT"}
        quantized = dml.quantize(x, [scale, zero], **kind)
        assert_same_bits(quantized, dml.quantize(x, whole, **kind))
        assert_same_bits(quantized, dml.element_wise_quantize_linear(x, *whole, output_dtype="INT8"))
        numbers = dml.dequantize(quantized, [scale, zero], **kind)
        assert_same_bits(numbers, dml.element_wise_dequantize_linear(quantized, *whole))


def test_the_terms_of_a_step_of_adam_may_cancel() -> None:
    """The parameter and its change are 2 and almost 2: float64 has few digits of the difference."""
    one = dml.TensorDesc("FLOAT32", (1, 1, 1, 1))
    inputs = [field.python for field in dml.desc.AdamOptimizer.operator.fields if field.kind == "input"]
    values = dict(zip(inputs, (2.0, 0.0, 3.0, 1.1865879e12, 1.0), strict=True))
    arrays = {name: np.full((1, 1, 1, 1), value, np.float32) for name, value in values.items()}
    desc = dml.desc.AdamOptimizer(**dict.fromkeys(inputs, one), learning_rate=2, beta1=0, beta2=0, epsilon=1)
    result = dml.compile(desc)(*arrays.values())
    testing.assert_result(desc, arrays, result, bound="own")
    assert testing.expected(desc, arrays).errors(result[0]).item() > 0
    for place in range(3):
        wrong = [np.array(one) for one in result]
        wrong[place] += np.spacing(np.maximum(np.float32(2), wrong[place])) * 3
        with pytest.raises(AssertionError, match="1 of 1 elements are wrong"):
            testing.assert_result(desc, arrays, tuple(wrong), bound="own")


@pytest.mark.parametrize(("bias", "expected"), [(-1e-10, 25165826), (0, 25165828), (1e-10, 25165828)])
def test_scale_and_bias_are_rounded_once(bias: float, expected: int) -> None:
    """1.5 * 16777218 lies between two numbers of FLOAT32: the bias decides, though FLOAT64 does not hold the sum."""
    result = dml.element_wise_identity(np.array([1.5], np.float32), scale_bias=(16777218, bias))
    assert result.tolist() == [expected]


FUNCTIONS = [
    one.python for one in FAST.values() if "FLOAT32" in one.accuracy and one.accuracy["FLOAT32"].ulp.text == "2"
]
"""Operators that compute one function in FLOAT32."""


@each_of("name", FUNCTIONS)
def test_functions_of_special_numbers(name: str) -> None:
    """Zeros, infinities, NaN, denormal numbers, ends of domains; alone, and among so many that registers are full."""
    operator = FAST[name.upper()]
    ends = [
        one for size in (0.5, 1, 2**-126, 2**17) for one in (size, np.nextafter(np.float32(size), np.float32(np.inf)))
    ]
    numbers = np.concatenate([testing.specials("float32"), np.array([*ends, *np.negative(ends)], np.float32)])
    inputs = sum(one.kind == "input" for one in operator.fields)
    given = {one.python: 3 for one in operator.fields if one.kind == "attribute" and one.python != "scale_bias"}
    arrays = [one.ravel() for one in np.meshgrid(*[numbers] * inputs)]
    expected = reference.defined(operator, *arrays, **given)
    assert_same_values(getattr(dml, name)(*arrays, **given), expected)
    for at in range(0, arrays[0].size, 7):
        one = [np.array([array[at]]) for array in arrays]
        assert_same_values(getattr(dml, name)(*one, **given), reference.defined(operator, *one, **given))
