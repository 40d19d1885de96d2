"""Products of matrices and convolutions beside PyTorch and ONNX Runtime, and by hand where those say nothing."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, assert_same_values
from each import each_of
from peers import onnx, session

import dmlcy as dml
from dmlcy import testing
from dmlcy._check.checker import Check
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import OPERATORS
from dmlcy._families.contract import family, matrices, windows
from families.products import assert_near, forward, normal, peer, random, tensor, whole

Array = np.ndarray[Any, Any]
RELU = dml.desc.ActivationLeakyRelu(alpha=0.25)


def activations(name: str) -> Any:
    return next(field.among for field in OPERATORS[name.upper()].fields if field.among)


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
        left, right = (np.swapaxes(x, -1, -2) if turn else x for x, turn in zip((a, b), turned, strict=True))
        names = ["TRANSPOSE" if turn else "NONE" for turn in turned]
        said: dict[str, Any] = {"trans_a": names[0], "trans_b": names[1], "alpha": 0.75, "beta": -1.5}
        assert_near(dml.gemm(left, right, c, **said), expected, *near)
        last = (dml.desc.ActivationSoftmax(), rank - 1)
        for softmax, axis in [*((dml.desc.ActivationSoftmax1(axes=[one]), one) for one in range(rank)), last]:
            fused = dml.gemm(left, right, c, **said, fused_activation=softmax)
            wanted = torch.softmax(expected, axis)
            changes = 2 * magnitudes.max(axis, keepdims=True) + 1  # of the exponentials, for those of the sums
            assert_near(fused, wanted, near[0], wanted.numpy() * changes)
            if dtype == "f4":
                sums = dml.gemm(left, right, c, **said)
                assert fused.tobytes() == dml.activation_softmax1(sums, axes=[axis]).tobytes()
        fused = dml.gemm(left, right, c, **said, fused_activation=RELU)
        assert_near(fused, torch.nn.functional.leaky_relu(expected, 0.25), *near)


HOSTS = [(name, fused) for name in ("gemm", "convolution") for fused, _ in activations(name) if "SOFTMAX" not in fused]


@each_of("name, fused", HOSTS)
def test_each_activation_of_sums(name: str, fused: str) -> None:
    """The activation equals the operator itself. A softmax, which the reference computes, is tested above."""
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
def test_convolutions_beside_pytorch(spatial: int, mode: Any) -> None:
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
        expected = peer(torch, tensor(half[0]), tensor(half[1]), said)
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
            tensors: dict[str, Any] = {
                name: dml.TensorDesc.from_array(one) for name, one in (("input", x), ("filter", filters))
            }
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
    """The appended elements are 0 before the bias and the activation, with FORWARD."""
    x, filters = np.ones((1, 1, 2, 3), np.float32), np.ones((1, 1, 1, 2), np.float32)
    bias = np.full((1, 1, 1, 1), -2, np.float32)
    said: dict[str, Any] = {"output_padding": (1, 2), "end_padding": (0, 3)}
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
        desc: dml.desc.OperatorDesc = dml.desc.Gemm(a=dml.TensorDesc.from_array(a), b=dml.TensorDesc.from_array(b))
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
    said: dict[str, Any] = {"start_padding": 1, "end_padding": 1, "group_count": groups}
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


def test_onnx_runtime_agrees_on_floats() -> None:
    """Gemm with a stretched summand, Conv and ConvTranspose: sums of small integers are exact in any order."""
    a, b, c = (random.integers(-8, 9, sizes).astype(np.float32) for sizes in ((5, 7), (7, 4), (5, 4)))
    expected = onnx("Gemm", 13, [a, b, c], alpha=0.5, beta=2.0)
    assert_same_values(dml.gemm(a, b, c, alpha=0.5, beta=2.0), expected)
    x, filters = (random.integers(-8, 9, sizes).astype(np.float32) for sizes in ((2, 4, 7, 6), (6, 2, 3, 2)))
    said: dict[str, Any] = {"strides": [2, 1], "dilations": [1, 2], "group": 2, "pads": [1, 0, 2, 1]}
    own: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 2), "group_count": 2}
    own |= {"start_padding": (1, 0), "end_padding": (2, 1)}
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

    calls: list[tuple[Any, tuple[Array, ...], dict[str, Any]]] = []
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
        for (function, arrays, said), result in zip(calls, expected, strict=True):
            if isinstance(said.get("fused_activation"), dml.desc.ActivationSoftmax1):
                np.testing.assert_array_max_ulp(function(*arrays, **said), result, 1)
            else:
                assert_same_bits(function(*arrays, **said), result)


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


def test_an_activation_of_sums_of_huge_terms() -> None:
    """Terms that cancel each other leave the right sum. A sum beyond the range is infinite before the activation."""
    huge = np.float32(3e38)
    a = np.array([[[[huge, huge, -huge, -huge, 1], [-huge, -huge, -huge, 0, 0]]]], np.float32)
    b = np.ones((1, 1, 5, 1), np.float32)
    desc = dml.desc.Gemm(a=dml.TensorDesc.from_array(a), b=dml.TensorDesc.from_array(b), fused_activation=RELU)
    result = dml.compile(desc)(a, b)
    assert_same_bits(result.ravel(), np.array([1, -np.inf], np.float32))
    testing.assert_result(desc, {"a": a, "b": b}, result, bound="own")
    with pytest.raises(AssertionError, match="1 of 2 elements are wrong"):
        testing.assert_result(desc, {"a": a, "b": b}, result + np.float32(1e35), bound="own")
