"""Products of matrices and convolutions beside PyTorch and ONNX Runtime, and by hand where those say nothing."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, assert_same_values
from each import each_of
from peers import onnx, session

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import OPERATORS
from dmlcy._families.contract import family, matrices, windows
from dmlcy._runtime import integer_products

Array = np.ndarray[Any, Any]
random = np.random.default_rng(23)
RELU = dml.desc.ActivationLeakyRelu(alpha=0.25)


def activations(name: str) -> Any:
    return next(field.among for field in OPERATORS[name.upper()].fields if field.among)


def normal(*sizes: int, dtype: str = "f4") -> Array:
    return random.standard_normal(sizes).astype(dtype)


def whole(dtype: str, *sizes: int) -> Array:
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, sizes, dtype, endpoint=True)


def assert_near(result: Array, expected: Any, terms: int = 0, magnitudes: Any = 0) -> None:
    """The nearest numbers to those in float64, which are off by next to nothing.

    ``terms``: so many were added in FLOAT32, each of which rounds the sum. ``magnitudes`` is that of their sizes.
    """
    wide = np.asarray(expected, np.float64)
    assert result.shape == wide.shape
    limits = np.finfo(result.dtype)
    error = float(limits.smallest_subnormal) + 1e-12 + terms * 2.0**-24 * np.asarray(magnitudes, np.float64)
    off = np.abs(result.astype(np.float64) - wide) - error
    assert np.all(off <= float(limits.eps) * 0.501 * np.abs(wide)), off.max()


def tensor(array: Array) -> Any:
    return pytest.importorskip("torch").from_numpy(np.array(array, np.float64))


@each_of("dtype, rank", itertools.product(("f4", "f2"), (2, 3, 4)))
def test_matrices_beside_pytorch(dtype: str, rank: int) -> None:
    torch = pytest.importorskip("torch")
    for turned in itertools.product((False, True), repeat=2):
        *batch, rows, depth, columns = random.integers(1, 9, rank + 1)
        a, b = normal(*batch, rows, depth, dtype=dtype), normal(*batch, depth, columns, dtype=dtype)
        c = normal(*batch, rows, columns, dtype=dtype) if random.random() < 0.5 else None
        product = torch.matmul(tensor(a), tensor(b)) * 0.75
        expected = product if c is None else product - 1.5 * tensor(c)
        magnitudes = np.matmul(np.abs(a, dtype="f8"), np.abs(b, dtype="f8")) * 0.75
        magnitudes = magnitudes if c is None else magnitudes + 1.5 * np.abs(c)
        near = int(depth) + 4, magnitudes
        given = [np.swapaxes(x, -1, -2) if turn else x for x, turn in zip((a, b), turned, strict=True)]
        names = ["TRANSPOSE" if turn else "NONE" for turn in turned]
        said = {"trans_a": names[0], "trans_b": names[1], "alpha": 0.75, "beta": -1.5}
        assert_near(dml.gemm(*given, c, **said), expected, *near)
        for axis in range(rank):
            fused = dml.gemm(*given, c, **said, fused_activation=dml.desc.ActivationSoftmax1(axes=[axis]))
            assert_near(fused, torch.softmax(expected, axis))
        fused = dml.gemm(*given, c, **said, fused_activation=dml.desc.ActivationSoftmax())
        assert_near(fused, torch.softmax(expected, -1))
        fused = dml.gemm(*given, c, **said, fused_activation=RELU)
        assert_near(fused, torch.nn.functional.leaky_relu(expected, 0.25), *near)


def forward(spatial: int) -> tuple[Array, Array, Array, dict[str, Any]]:
    """The tensors and the attributes of a convolution."""
    groups, batch = (int(n) for n in random.integers(1, 4, 2))
    inputs, outputs = (groups * int(n) for n in random.integers(1, 4, 2))
    sizes, window, strides, dilations, start, end = (
        random.integers(low, high, spatial).tolist() for low, high in ((1, 8), (1, 4), (1, 4), (1, 3), (0, 4), (0, 4))
    )
    for axis in range(spatial):
        extent = dilations[axis] * (window[axis] - 1) + 1
        sizes[axis] = max(sizes[axis], extent - start[axis] - end[axis], 1)
    said = {"strides": strides, "dilations": dilations, "start_padding": start, "end_padding": end}
    ones = (1,) * spatial
    filters = normal(outputs, inputs // groups, *window)
    return normal(batch, inputs, *sizes), filters, normal(1, outputs, *ones), said | {"group_count": groups}


def peer(torch: Any, x: Any, filters: Any, said: dict[str, Any], **more: Any) -> Any:
    """The convolution in PyTorch."""
    spatial = x.ndim - 2
    pairs = [*zip(said["start_padding"], said["end_padding"], strict=True)]
    padded = torch.nn.functional.pad(x, [n for pair in reversed(pairs) for n in pair])
    function = getattr(torch.nn.functional, f"conv{spatial}d")
    attributes = {"stride": said["strides"], "dilation": said["dilations"], "groups": said["group_count"]}
    return function(padded, filters, **attributes, **more)


HOSTS = [(name, fused) for name in ("gemm", "convolution") for fused, _ in activations(name) if "SOFTMAX" not in fused]


@each_of("name, fused", HOSTS)
def test_each_activation_of_sums(name: str, fused: str) -> None:
    """That of the sums, by the operator itself. A softmax, which the reference computes, is tested above."""
    operator = OPERATORS[fused]
    numbers = {one.python: 0.5 for one in operator.fields if one.type == "float"}
    x, w = normal(2, 3, 1, 9), normal(4, 3, 1, 1)
    calls = {
        "gemm": lambda **given: dml.gemm(x, np.swapaxes(x, 2, 3).copy(), **given),
        "convolution": lambda **given: dml.convolution(x, w, **given),
    }
    plain = calls[name]()
    result = calls[name](fused_activation=getattr(dml.desc, operator.desc)(**numbers))
    expected = getattr(dml, operator.python)(plain, **numbers)
    np.testing.assert_allclose(result, expected, 1e-5, 1e-6)


@each_of("spatial, mode", itertools.product((1, 2, 3), ("CROSS_CORRELATION", "CONVOLUTION")))
def test_convolutions_beside_pytorch(spatial: int, mode: str) -> None:
    torch = pytest.importorskip("torch")
    for _ in range(6):
        x, filters, bias, said = forward(spatial)
        turned = filters if mode == "CROSS_CORRELATION" else np.flip(filters, tuple(range(2, 2 + spatial)))
        expected = peer(torch, tensor(x), tensor(turned), said, bias=tensor(bias.ravel()))
        sizes = peer(torch, tensor(x).abs(), tensor(turned).abs(), said, bias=tensor(bias.ravel()).abs())
        near = filters[0].size + 2, sizes
        assert_near(dml.convolution(x, filters, bias, mode=mode, **said), expected, *near)
        fused = dml.convolution(x, filters, bias, mode=mode, **said, fused_activation=RELU)
        assert_near(fused, torch.nn.functional.leaky_relu(expected, 0.25), *near)
        half = [one.astype(np.float16) for one in (x, turned)]
        expected = peer(torch, *map(tensor, half), said)
        assert_near(dml.convolution(half[0], half[1], **said), expected, *near)


@each_of("spatial", (1, 2, 3))
def test_transposed_convolutions_beside_pytorch(spatial: int) -> None:
    """The output is as large as it must be, or larger, by OutputPadding or by the sizes of the desc."""
    torch = pytest.importorskip("torch")
    function = getattr(torch.nn.functional, f"conv_transpose{spatial}d")
    for number in range(6):
        output, filters, _, said = forward(spatial)
        x = normal(len(output), len(filters), *random.integers(3, 6, spatial))
        bias = normal(1, output.shape[1], *(1,) * spatial)
        padding = [min(pair) for pair in zip(said["start_padding"], filters.shape[2:], strict=True)]
        padding = [min(p, k - 1) for p, k in zip(padding, filters.shape[2:], strict=True)]
        more = [max(pair) - 1 for pair in zip(said["strides"], said["dilations"], strict=True)]
        attributes = {"stride": said["strides"], "dilation": said["dilations"], "groups": said["group_count"]}
        said |= {"start_padding": padding, "end_padding": padding, "direction": "BACKWARD"}
        turned = np.flip(filters, tuple(range(2, 2 + spatial))) if number % 2 else filters
        said["mode"] = "CONVOLUTION" if number % 2 else "CROSS_CORRELATION"
        for extra in ([0] * spatial, more):
            expected = function(
                tensor(x), tensor(turned), tensor(bias.ravel()), padding=padding, output_padding=extra, **attributes
            )
            sizes = [one.abs() for one in (tensor(x), tensor(turned), tensor(bias.ravel()))]
            sizes = function(*sizes, padding=padding, output_padding=extra, **attributes)
            near = filters.size + 2, sizes
            assert_near(dml.convolution(x, filters, bias, **said, output_padding=extra), expected, *near)
            tensors = {name: dml.TensorDesc.from_array(one) for name, one in (("input", x), ("filter", filters))}
            tensors["output"] = dml.TensorDesc("FLOAT32", tuple(expected.shape))
            larger = dml.compile(dml.desc.Convolution(**tensors, **said))(x, filters)
            assert_near(larger, expected - tensor(bias), *near)


@each_of("spatial", (1, 2, 3))
def test_a_transposed_convolution_is_the_gradient(spatial: int) -> None:
    """Of the convolution with the same attributes, by autograd; the sizes are those of its input."""
    torch = pytest.importorskip("torch")
    for _ in range(6):
        source, filters, _, said = forward(spatial)
        x = tensor(source).requires_grad_()
        result = peer(torch, x, tensor(filters), said)
        upstream = normal(*result.shape)
        (gradient,) = torch.autograd.grad(result, x, tensor(upstream))
        arrays = {"input": upstream, "filter": filters}
        tensors = {name: dml.TensorDesc.from_array(one) for name, one in arrays.items()}
        desc = {**tensors, "output": dml.TensorDesc("FLOAT32", source.shape), **said, "direction": "BACKWARD"}
        if dml.check(dml.desc.Convolution(**desc)):
            assert any(stride > 1 for stride in said["strides"]), "what a stride leaves out at the end may be too much"
            continue
        found = dml.compile(dml.desc.Convolution(**desc))(*arrays.values())
        assert_near(found, gradient, filters.size, np.abs(upstream).max() * np.abs(filters).sum())


def test_elements_that_are_appended() -> None:
    """They are 0 before the bias and the activation, with FORWARD."""
    x, filters = np.ones((1, 1, 2, 3), np.float32), np.ones((1, 1, 1, 2), np.float32)
    bias = np.full((1, 1, 1, 1), -2, np.float32)
    said = {"output_padding": (1, 2), "end_padding": (0, 3)}
    result = dml.convolution(x, filters, bias, **said, fused_activation=dml.desc.ActivationLinear(alpha=10, beta=1))
    row = [1, 1, -9, -19, -19, -19, -19]
    np.testing.assert_array_equal(result, [[[row, row, [-19] * 7]]])


def test_special_values() -> None:
    """Infinities and NaN as IEEE 754 has them; padding is no summand; sums may be beyond the range of the output."""
    infinite = np.array([[[np.inf, 1, 1]]], np.float32)
    x = np.array([[[1, 2, 3]]], np.float32)
    np.testing.assert_array_equal(dml.convolution(x, infinite, start_padding=1, end_padding=1), [[[3, np.inf, np.inf]]])
    zero = np.array([[[0, 1]]], np.float32)
    found = dml.convolution(np.array([[[np.inf, 1, -np.inf, np.nan]]], np.float32), zero)
    np.testing.assert_array_equal(found, [[[np.nan, -np.inf, np.nan]]])
    backward = dml.convolution(np.array([[[np.inf, 1]]], np.float32), zero, direction="BACKWARD", strides=2)
    np.testing.assert_array_equal(backward, [[[np.nan, np.inf, 0, 1]]])
    a, b = np.array([[60000, 60000, 1]], np.float16), np.array([[60000], [-60000], [0.5]], np.float16)
    np.testing.assert_array_equal(dml.gemm(a, b), [[0.5]])
    np.testing.assert_array_equal(dml.gemm(a[:, :2], b[:2], alpha=-1), [[0]])
    np.testing.assert_array_equal(dml.gemm(a[:, :1], b[:1]), [[np.inf]])
    nothing = np.array([[np.nan]], np.float16)
    np.testing.assert_array_equal(dml.gemm(a, b, nothing, beta=0), [[np.nan]])
    np.testing.assert_array_equal(dml.gemm(a, np.array([[np.inf], [0], [0]], np.float16), alpha=0), [[np.nan]])


def test_one_place_in_the_padding() -> None:
    x, w = normal(3, 40, 2, 2), normal(7, 40, 1, 1)
    bias = normal(1, 7, 1, 1)
    product = np.einsum("oi,ni->no", w[:, :, 0, 0].astype("f8"), x[:, :, 0, 0].astype("f8"))[..., None, None]
    for padding, expected in ((0, product + bias), (1, 0 * product + bias)):
        found = dml.convolution(x, w, bias, strides=9, start_padding=padding, end_padding=1)
        np.testing.assert_allclose(found, expected, 1e-3, 1e-4)


@each_of("name", ("gemm", "convolution"))
def test_the_bound_is_near_the_worst_error(name: str) -> None:
    """A search among terms that are lost beside the first one: the error is a fourth of the bound, or more."""
    terms = 2000
    small = 2.0**-24 * np.linspace(0.5, 1.5, 64)  # half a unit of 1 is 2^-24
    b = np.vstack([np.ones((1, 64)), np.repeat(small[None], terms - 1, 0)]).astype(np.float32)
    if name == "gemm":
        a = np.ones((1, terms), np.float32)
        found = dml.gemm(a, b).ravel()
        desc = dml.desc.Gemm(a=dml.TensorDesc.from_array(a), b=dml.TensorDesc.from_array(b))
    else:
        x, ones = b.reshape(1, terms, 8, 8), np.ones((1, terms, 1, 1), np.float32)
        found = dml.convolution(x, ones).ravel()
        desc = dml.desc.Convolution(input=dml.TensorDesc.from_array(x), filter=dml.TensorDesc.from_array(ones))
    exact = b.sum(0, dtype=np.float64)
    rules = Check(desc.operator, desc._values(), NEWEST, call=False).rules
    bound = desc.operator.accuracy["FLOAT32"].ulp.function(rules)
    error = np.abs(found - exact) / np.spacing(exact.astype(np.float32))
    assert bound / 4 < error.max() <= bound


@each_of("dtype", ("f4", "f2"))
def test_no_partial_sum_overflows(dtype: str) -> None:
    """Sums beyond the range of FLOAT32 come back; and alpha makes digits of sums below the normal numbers matter."""
    large = np.float32(3e38) if dtype == "f4" else np.float16(60000)
    for rows, columns in ((1, 1), (9, 70)):
        a = np.full((rows, 102), large, dtype)
        a[:, 51:] = -large
        a[:, -1] = 0
        b = np.ones((102, columns), dtype)
        np.testing.assert_array_equal(dml.gemm(a, b), np.full((rows, columns), large, dtype))
    if dtype == "f4":
        tiny = np.full((2, 3), 1e-30, np.float32)
        found = dml.gemm(tiny, tiny.T.copy(), alpha=1e30)
        np.testing.assert_allclose(found, np.full((2, 2), 3e-30), 1e-6)


@each_of("filters, groups, side, batch", ((70, 1, 9, 3), (6, 3, 20, 2), (4, 4, 11, 1), (2, 1, 5, 2)))
def test_bits_of_a_convolution_depend_on_sizes_only(filters: int, groups: int, side: int, batch: int) -> None:
    """Not on threads, layouts and items beside; an infinite element of a filter changes its own sums only."""
    x, w = normal(batch, 12, side, side), normal(filters, 12 // groups, 3, 3)
    said = {"start_padding": 1, "end_padding": 1, "group_count": groups}
    expected = dml.convolution(x, w, **said)
    before = dml.get_num_threads()
    for threads in (1, 3):
        dml.set_num_threads(threads)
        assert_same_bits(dml.convolution(np.asfortranarray(x), np.asfortranarray(w), **said), expected)
    dml.set_num_threads(before)
    assert_same_bits(dml.convolution(x[-1:], w, **said), expected[-1:])
    w[0, 0, 0, 0] = np.inf
    found = dml.convolution(x, w, **said)
    assert_same_bits(found[:, 1:], expected[:, 1:])
    assert np.isfinite(found[:, 0, 0]).all() and np.isfinite(found[:, 0, :, 0]).all()  # its place is padding there
    assert np.isinf(found[:, 0, 1:, 1:]).all()


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
        result = dml.quantized_linear_matrix_multiply(
            a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], output, output_dtype=left
        )
        if (left, right) == ("i1", "u1"):  # ONNX Runtime has no such product
            continue
        single = [one.reshape(()) for one in (*scales, *zeros, output)]
        given = [a, single[0], single[3], b, single[1], single[4], single[2], single[5]]
        assert_same_bits(result, runtime("QLinearMatMul", given, left))


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
        np.testing.assert_array_equal(result, peer(torch, *map(tensor, moved), said).numpy())
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
        output = whole(left, *ones)
        still = np.zeros(channels.shape, right)
        result = dml.quantized_linear_convolution(
            x, scales[0], zeros[0], filters, scales[1], still, bias, scales[2], output, **said, output_dtype=left
        )
        single = [one.reshape(()) for one in (scales[0], zeros[0], scales[2], output)]
        given = [x, *single[:2], filters, scales[1].ravel(), still.ravel(), *single[2:], bias.ravel()]
        assert_same_bits(result, runtime("QLinearConv", given, left, **attributes))


def test_every_kernel_of_integers_gives_the_same() -> None:
    """Those of the levels and those with VNNI, for signs of both kinds; many rows, which are packed before, and few."""
    calls: list[Callable[[], Array]] = []
    for left, right in SIGNS:
        for rows, depth, columns in ((1, 130, 70), (13, 1030, 100), (200, 17, 33)):
            a, b = whole(left, 2, rows, depth), whole(right, 2, depth, columns)
            zeros = whole(left, 1, rows, 1), whole(right, 1, 1, columns)
            calls.append(lambda a=a, b=b, z=zeros: dml.matrix_multiply_integer(a, z[0], b, z[1]))
        x, w, zero = whole(left, 2, 7, 12, 15), whole(right, 20, 7, 3, 3), whole(left, 1, 1, 1, 1)
        scales = [normal(1, 1, 1, 1), normal(1, 20, 1, 1), np.full((1, 1, 1, 1), 1e3, np.float32)]
        calls.append(
            lambda x=x, w=w, z=zero, s=scales: dml.quantized_linear_convolution(
                x, s[0], z, w, s[1], None, None, s[2], z, start_padding=1, strides=2
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


@each_of("left, right", SIGNS)
def test_quantization_by_products_gives_what_the_steps_give(left: str, right: str) -> None:
    """Also where results are in the middle between two numbers, infinite or NaN."""
    for bits in (False, True):
        a, b = whole(left, 30, 40), whole(right, 40, 70)
        drawn = whole("u4", 4).view(np.float32) if bits else 2.0 ** random.integers(-9, 1, 4)
        first, second, third, _ = (np.full((1, 1), one, np.float32) for one in drawn)
        third = third if bits else np.float32(1)
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
    single = [np.ones((1, 1), np.float32), np.zeros((1, 1), dtype)]
    plain = dml.matrix_multiply_integer_to_float(a, *single, b, *single, None)
    assert_near(plain, (a.astype(object) @ b.astype(object)).astype(np.float64))


def test_onnx_runtime_agrees_on_floats() -> None:
    """Gemm with a stretched summand, Conv and ConvTranspose: sums of small integers are exact in any order."""
    a, b, c = (random.integers(-8, 9, sizes).astype(np.float32) for sizes in ((5, 7), (7, 4), (5, 4)))
    expected = onnx("Gemm", 13, [a, b, c], alpha=0.5, beta=2.0)
    assert_same_values(dml.gemm(a, b, c, alpha=0.5, beta=2.0), expected)
    x, filters = (random.integers(-8, 9, sizes).astype(np.float32) for sizes in ((2, 4, 7, 6), (6, 2, 3, 2)))
    said = {"strides": [2, 1], "dilations": [1, 2], "group": 2, "pads": [1, 0, 2, 1]}
    own = {"strides": (2, 1), "dilations": (1, 2), "group_count": 2, "start_padding": (1, 0), "end_padding": (2, 1)}
    assert_same_values(dml.convolution(x, filters, **own), onnx("Conv", 11, [x, filters], **said))
    filters = np.ascontiguousarray(filters[:4])
    expected = onnx("ConvTranspose", 11, [x, filters], **said)
    assert_same_values(dml.convolution(x, filters, **own, direction="BACKWARD"), expected)
    assert session.cache_info().currsize


def test_items_of_a_batch_are_independent() -> None:
    """As the specs say: the items of the inputs give those of the output."""
    x, filters = whole("i1", 4, 4, 5, 6), whole("i1", 6, 2, 3, 2)
    a, b = whole("u1", 4, 3, 5, 6), whole("u1", 4, 3, 6, 2)
    one = np.ones((1, 1, 1, 1), np.float32)

    def product(at: slice) -> Array:
        return dml.matrix_multiply_integer_to_float(a[at], one, None, b[at], one, None, None)

    calls = {
        "CONVOLUTION_INTEGER": lambda at: dml.convolution_integer(x[at], None, filters, group_count=2),
        "MATRIX_MULTIPLY_INTEGER": lambda at: dml.matrix_multiply_integer(a[at], None, b[at]),
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": product,
    }
    for name, function in calls.items():
        assert OPERATORS[name].independent
        parts = [function(at) for at in (slice(0, 1), slice(1, 4))]
        assert_same_bits(np.concatenate(parts), function(slice(None)))


def test_parts_give_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small integers, whose sums are exact in any order; any layout."""

    def numbers(*sizes: int) -> Array:
        return random.integers(-8, 9, sizes).astype(np.float32)

    calls = []
    for batch in ((), (2,), (2, 2)):
        given = numbers(*batch, 5, 7), numbers(*batch, 7, 3), numbers(*batch, 5, 3)
        calls.append((dml.gemm, given, {"fused_activation": RELU}))
        calls.append((dml.gemm, tuple(np.asfortranarray(x) for x in given), {"alpha": 2}))
        for axes in ((len(batch),), (len(batch) + 1,)):
            calls.append((dml.gemm, given, {"fused_activation": dml.desc.ActivationSoftmax1(axes=axes)}))
    for spatial, direction in itertools.product((1, 2), ("FORWARD", "BACKWARD")):
        said = {"strides": (2, 1)[:spatial], "direction": direction, "start_padding": 1, "group_count": 2}
        x, filters = numbers(2, 4, *(6, 5)[:spatial]), numbers(4, 2, *(3, 2)[:spatial])
        calls.append((dml.convolution, (x[..., ::-1], filters), said))
    expected = [function(*given, **said) for function, given, said in calls]
    for limit, side in ((1, 1), (7, 2), (64, 3), (100, 1000)):
        for module in (family, matrices, windows):
            monkeypatch.setattr(module, "LIMIT", limit, raising=False)
            monkeypatch.setattr(module, "SIDE", side, raising=False)
        for (function, given, said), result in zip(calls, expected, strict=True):
            if isinstance(said.get("fused_activation"), dml.desc.ActivationSoftmax1):
                np.testing.assert_array_max_ulp(function(*given, **said), result, 1)
            else:
                assert_same_bits(function(*given, **said), result)


def test_the_memory_of_a_call() -> None:
    """The result, and parts of at most 8 MB each of what is computed, whatever the sizes are."""
    tall, wide = np.ones((8, 1 << 20), np.float16), np.ones((1 << 20, 8), np.float16)
    image, filters = np.ones((1, 4, 2048, 1024), np.float16), np.ones((4, 4, 1, 2), np.float16)
    calls: list[tuple[Any, tuple[Array, ...], dict[str, Any]]] = [
        (dml.gemm, (tall, wide), {}),
        (dml.gemm, (wide, tall[:, :8]), {}),
        (dml.gemm, (wide, tall[:, :8]), {"fused_activation": dml.desc.ActivationSoftmax()}),
        (dml.convolution, (image, filters), {"end_padding": (0, 1)}),
        (dml.convolution, (image[:, :, ::2, ::2], filters), {"direction": "BACKWARD", "strides": 2}),
    ]
    for function, given, said in calls:
        tracemalloc.start()
        try:
            result = function(*given, **said)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= result.nbytes + (56 << 20), (function, peak >> 20, result.nbytes >> 20)
