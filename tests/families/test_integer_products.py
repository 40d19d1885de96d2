"""Products and convolutions of integers beside PyTorch, ONNX Runtime and exact numbers, by each of their kernels."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits
from each import each_of
from saturation import unsaturated
from strategies import Array

import dmlcy as dml
from dmlcy._runtime import integer_products
from families.products import assert_near, forward, normal, peer, random, tensor, whole


def runtime(op: str, arrays: list[Array], result: Any, **attributes: Any) -> Array:
    """An operator of ONNX Runtime whose output has a data type of its own."""
    helper = pytest.importorskip("onnx").helper
    ready = pytest.importorskip("onnxruntime")
    names = [f"input{number}" for number in range(len(arrays))]
    node = helper.make_node(op, names, ["output"], **attributes)
    kinds = [helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) for dtype in (*(x.dtype for x in arrays), result)]
    given = [helper.make_tensor_value_info(n, k, x.shape) for n, k, x in zip(names, kinds, arrays, strict=False)]
    graph = helper.make_graph([node], "graph", given, [helper.make_tensor_value_info("output", kinds[-1], None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ready.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    run = ready.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.asarray(run.run(None, dict(zip(names, arrays, strict=True)))[0])


SIGNS = [*itertools.product(("u1", "i1"), repeat=2)]


def scale(*sizes: int) -> Array:
    """A power of two: then every order of the operations of a quantization gives the same."""
    return (2.0 ** random.integers(-3, 2, sizes)).astype(np.float32)


@each_of("left, right", SIGNS)
def test_products_of_integers(left: str, right: str) -> None:
    """Beside Python's integers; and beside ONNX Runtime, which has one zero point for each matrix."""
    for rank in (2, 3, 4):
        *batch, rows, depth, columns = random.integers(1, 7, rank + 1)
        a, b = whole(left, *batch, rows, depth), whole(right, *batch, depth, columns)
        zeros = [whole(left, *(1,) * rank), whole(right, *(1,) * rank)]
        many = [whole(left, *(1,) * (rank - 2), rows, 1), whole(right, *(1,) * (rank - 1), columns)]
        for before in (zeros, many, [one.ravel() for one in many]):
            lines = before[0].reshape(-1, 1).astype(object), before[1].reshape(1, -1).astype(object)
            expected = (a.astype(object) - lines[0]) @ (b.astype(object) - lines[1])
            np.testing.assert_array_equal(dml.matrix_multiply_integer(a, before[0], b, before[1]), expected)
        np.testing.assert_array_equal(dml.matrix_multiply_integer(a, None, b), a.astype(object) @ b.astype(object))
        scales = [scale(*(1,) * rank) for _ in range(3)]
        output = whole(left, *(1,) * rank)

        def quantized(b: Array, a: Any = a, zeros: Any = zeros, scales: Any = scales, output: Array = output) -> Array:
            return dml.quantized_linear_matrix_multiply(
                a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], output, output_dtype=output.dtype.name
            )

        wide = (a - zeros[0].astype(np.int64)) @ (b - zeros[1].astype(np.int64))
        exact = np.rint(wide * (np.float64(scales[0]) * scales[1] / scales[2])) + output
        limits = np.iinfo(left)
        np.testing.assert_array_equal(quantized(b), exact.clip(limits.min, limits.max))
        if (left, right) == ("i1", "u1"):  # ONNX Runtime has no such product
            continue
        single = [one.reshape(()) for one in (*scales, *zeros, output)]
        few = unsaturated(b)
        given = [a, single[0], single[3], few, single[1], single[4], single[2], single[5]]
        assert_same_bits(quantized(few), runtime("QLinearMatMul", given, left))


@each_of("left, right", SIGNS)
def test_convolutions_of_integers(left: str, right: str) -> None:
    for spatial in (1, 2, 2, 2):
        x, filters, _, said = forward(spatial)
        x, filters = whole(left, *x.shape), whole(right, *filters.shape)
        ones = (1,) * (2 + spatial)
        zeros = [whole(left, *ones), whole(right, *ones)]
        result = dml.convolution_integer(x, zeros[0], filters, zeros[1], **said)
        moved = [(x - zeros[0].astype(np.int64)), filters - zeros[1].astype(np.int64)]
        torch = pytest.importorskip("torch")
        np.testing.assert_array_equal(result, peer(torch, tensor(moved[0]), tensor(moved[1]), said).numpy())
        channels = whole(right, 1, len(filters), *ones[2:])
        each = filters - channels.reshape(-1, 1, *ones[2:]).astype(np.int64)
        expected = peer(torch, tensor(moved[0]), tensor(each), said).numpy()
        for zero in (channels, channels.ravel()) if spatial == 2 else ():
            same = zeros[0].reshape((1,) * zero.ndim)
            np.testing.assert_array_equal(dml.convolution_integer(x, same, filters, zero, **said), expected)
        if spatial == 1 or (left, right) == ("i1", "u1"):  # ONNX Runtime has no such convolution
            continue
        pads = [*said["start_padding"], *said["end_padding"]]
        attributes = {"strides": said["strides"], "dilations": said["dilations"], "pads": pads}
        attributes["group"] = said["group_count"]
        scales = [scale(*ones), scale(1, len(filters), *ones[2:]), scale(*ones)]
        bias = random.integers(-500, 500, (1, len(filters), *ones[2:]), np.int32)
        output, filters = whole(left, *ones), unsaturated(filters)
        still = np.zeros(channels.shape, right)
        result = dml.quantized_linear_convolution(
            x, scales[0], zeros[0], filters, scales[1], still, bias, scales[2], output, **said, output_dtype=left
        )
        single = [one.reshape(()) for one in (scales[0], zeros[0], scales[2], output)]
        given = [x, *single[:2], filters, scales[1].ravel(), still.ravel(), *single[2:], bias.ravel()]
        assert_same_bits(result, runtime("QLinearConv", given, left, **attributes))


def test_every_kernel_of_integers_gives_the_same() -> None:
    """The kernels of the levels and those with VNNI, for signs of both kinds, many rows (packed before) and few."""
    calls: list[Callable[[], Array]] = []
    for left, right in SIGNS:
        for rows, depth, columns in ((1, 130, 70), (13, 1030, 100), (200, 17, 33)):
            a, b = whole(left, 2, rows, depth), whole(right, 2, depth, columns)
            zeros = whole(left, 1, rows, 1), whole(right, 1, 1, columns)
            calls.append(partial(dml.matrix_multiply_integer, a, zeros[0], b, zeros[1]))
        x, w, zero = whole(left, 2, 7, 12, 15), whole(right, 20, 7, 3, 3), whole(left, 1, 1, 1, 1)
        scales = [normal(1, 1, 1, 1), normal(1, 20, 1, 1), np.full((1, 1, 1, 1), 1e3, np.float32)]
        calls.append(
            partial(
                dml.quantized_linear_convolution,
                x,
                scales[0],
                zero,
                w,
                scales[1],
                None,
                None,
                scales[2],
                zero,
                start_padding=1,
                strides=2,
            )
        )
    expected = [call() for call in calls]
    before = integer_products.set_kernels(0)
    try:
        for number in integer_products.kernels():
            integer_products.set_kernels(number)
            for call, result in zip(calls, expected, strict=True):
                assert_same_bits(call(), result)
    finally:
        integer_products.set_kernels(before)
    with pytest.raises(ValueError, match="no kernels of the number 9"):
        integer_products.set_kernels(9)


def test_threads_share_tiles() -> None:
    """Rows, columns, filters, groups, rows of images, and places of long rows."""
    a, b, zero = whole("u1", 300, 500), whole("i1", 500, 700), whole("u1", 1, 1)
    calls: list[Callable[[], Array]] = [lambda: dml.matrix_multiply_integer(a, zero, b)]
    for sizes, filters, groups in (((1, 64, 40, 40), 300, 1), ((2, 32, 30, 31), 64, 2), ((1, 16, 9000), 40, 1)):
        x, w = whole("u1", *sizes), whole("i1", filters, sizes[1] // groups, *(3,) * (len(sizes) - 2))
        said: dict[str, Any] = {"start_padding": 1, "group_count": groups}
        calls.append(partial(dml.convolution_integer, x, None, w, **said))
        middle = np.s_[..., 7:20] if len(sizes) > 3 else np.s_[..., 4000:4100]
        torch = pytest.importorskip("torch")
        padded = np.pad(x, [(0, 0), (0, 0), *[(1, 0)] * (len(sizes) - 2)])
        function = getattr(torch.nn.functional, f"conv{len(sizes) - 2}d")
        exact = function(tensor(padded), tensor(w), groups=groups).numpy()
        np.testing.assert_array_equal(calls[-1]()[middle], exact[middle])
    np.testing.assert_array_equal(calls[0](), (a - zero.astype("f8")) @ b.astype("f8"))
    before, expected = dml.get_num_threads(), [call() for call in calls]
    try:
        for threads in (1, 3):
            dml.set_num_threads(threads)
            for call, result in zip(calls, expected, strict=True):
                assert_same_bits(call(), result)
    finally:
        dml.set_num_threads(before)


@each_of("left, right", SIGNS)
def test_each_kernel_takes_what_was_packed_once(left: str, right: str) -> None:
    """Zero points may be others in each call."""
    a, b = whole(left, 3, 30, 41), whole(right, 3, 41, 70)
    x, w = whole(left, 2, 6, 9, 10), whole(right, 4, 3, 3, 2)
    before = integer_products.set_kernels(0)
    try:
        for number in integer_products.kernels():
            integer_products.set_kernels(number)
            tensors: dict[str, Any] = {name: dml.TensorDesc.from_array(one) for name, one in (("a", a), ("b", b))}
            zeros = whole(left, 1, 30, 1), whole(right, 1, 1, 70)
            tensors |= {f"{n}_zero_point": dml.TensorDesc.from_array(z) for n, z in zip("ab", zeros, strict=True)}
            product = dml.compile(dml.desc.MatrixMultiplyInteger(**tensors))
            product.initialize(b=b)
            assert_same_bits(product(a, *zeros), dml.matrix_multiply_integer(a, zeros[0], b, zeros[1]))
            tensors = {name: dml.TensorDesc.from_array(one) for name, one in (("input", x), ("filter", w))}
            zeros = whole(left, 1, 1, 1, 1), whole(right, 1, 4, 1, 1)
            tensors["input_zero_point"], tensors["filter_zero_point"] = map(dml.TensorDesc.from_array, zeros)
            said: dict[str, Any] = {"start_padding": (1, 2), "strides": (2, 1), "group_count": 2}
            convolution = dml.compile(dml.desc.ConvolutionInteger(**tensors, **said))
            convolution.initialize(filter=w)
            assert_same_bits(convolution(x, *zeros), dml.convolution_integer(x, zeros[0], w, zeros[1], **said))
    finally:
        integer_products.set_kernels(before)


@each_of("left, right", SIGNS)
def test_quantization_by_products_gives_what_the_steps_give(left: str, right: str) -> None:
    """Also where results are in the middle between two numbers, infinite or NaN."""
    for bits in (False, True):
        a, b = whole(left, 30, 40), whole(right, 40, 70)
        drawn = whole("u4", 4).view(np.float32) if bits else 2.0 ** random.integers(-9, 1, 4)
        first, second, own, _ = (np.full((1, 1), one, np.float32) for one in drawn)
        third = own if bits else np.float32(1)
        exact = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.float64)
        with np.errstate(all="ignore"):
            steps = np.rint((exact * first.astype("f8") * second.astype("f8") / third).astype(np.float32))
        result = dml.quantized_linear_matrix_multiply(
            a, first, None, b, second, None, np.broadcast_to(third, (1, 1)), None, output_dtype="INT8"
        )
        expected = np.clip(np.nan_to_num(steps, nan=0, posinf=np.inf, neginf=-np.inf), -128, 127)
        np.testing.assert_array_equal(result, expected.astype(np.int8))


def test_quantization_saturates_and_rounds_halves_to_even() -> None:
    a = np.array([[1], [3], [-3], [100], [-100], [0]], np.int8)
    b = np.array([[1]], np.int8)
    one, half, none = (np.array([[value]], np.float32) for value in (1, 0.5, 0))
    zero = np.array([[10]], np.int8)
    found = dml.quantized_linear_matrix_multiply(a, half, None, b, one, None, one, zero, output_dtype="INT8")
    np.testing.assert_array_equal(found.ravel(), [10, 12, 8, 60, -40, 10])
    found = dml.quantized_linear_matrix_multiply(a, one, None, b, one, None, half, zero, output_dtype="INT8")
    np.testing.assert_array_equal(found.ravel(), [12, 16, 4, 127, -128, 10])
    found = dml.quantized_linear_matrix_multiply(a, one, None, b, one, None, none, zero, output_dtype="INT8")
    np.testing.assert_array_equal(found.ravel(), [127, 127, -128, 127, -128, 0])


def test_integer_sums_wrap() -> None:
    ones = np.full((1, 2**17), -128, np.int8)
    found = dml.matrix_multiply_integer(ones, None, ones.T)
    assert 128 * 128 * ones.size == 2**31
    assert found.item() == -(2**31)


@each_of("dtype", ("u1", "i1", "u2", "i2", "u4", "i4"))
def test_integers_to_floats(dtype: str) -> None:
    """Exact sums of any integers, then scales and bias."""
    for bias in (None, normal(2, 3, 4)):
        a, b = whole(dtype, 2, 3, 40), whole(dtype, 2, 40, 4)
        zeros, scales = [whole(dtype, 3, 1), whole(dtype, 1, 4)], [normal(3, 1), normal(1, 4)]
        exact = (a.astype(object) - zeros[0].astype(object)) @ (b.astype(object) - zeros[1].astype(object))
        wide = exact.astype(np.float64) * scales[0].astype(np.float64) * scales[1].astype(np.float64)
        given = (a, scales[0], zeros[0], b, scales[1], zeros[1], bias)
        result = dml.matrix_multiply_integer_to_float(*given)
        assert_near(result, wide if bias is None else wide + bias)
    one, none = np.ones((1, 1), np.float32), np.zeros((1, 1), dtype)
    plain = dml.matrix_multiply_integer_to_float(a, one, none, b, one, none, None)
    assert_near(plain, (a.astype(object) @ b.astype(object)).astype(np.float64))
