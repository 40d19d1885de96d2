"""Properties of normalize, compared with PyTorch, its automatic differentiation and ONNX Runtime."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
from dmlcy import testing
from dmlcy._arithmetic import EXACT, WIDE
from dmlcy._families import blocks
from dmlcy._families.activations import activated
from dmlcy._families.normalize import family
from families.common import assert_near, peak

Array = np.ndarray[Any, Any]
DTYPES = (np.float32, np.float16)
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((7,), (0,)), ((3, 4), (1,)), ((3, 4), (0,)), ((2, 5, 3), (1, 2)), ((2, 5, 3), (2, 0)), ((1, 4, 1, 3), (1, 3)),
    ((2, 3, 2, 3), (0, 2, 3)), ((3, 2), ()),
]  # fmt: skip
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e4, -6e4, 1e-7]


def lines(torch: Any, x: Array, axes: tuple[int, ...]) -> Any:
    """The elements along the axes as the last axis."""
    kept = [d for d in range(x.ndim) if d not in axes]
    wide = torch.from_numpy(np.ascontiguousarray(x.transpose(*kept, *sorted(axes)).astype(np.float64)))
    return wide.reshape(*(x.shape[d] for d in kept), -1)


def back(found: Any, x: Array, axes: tuple[int, ...]) -> Array:
    """A result of ``lines`` in the order of the axes."""
    order = [*(d for d in range(x.ndim) if d not in axes), *sorted(axes)]
    result: Array = found.numpy().reshape([x.shape[d] for d in order]).transpose(np.argsort(order))
    return result


def drawn(random: np.random.Generator, shape: tuple[int, ...], dtype: Any, special: bool) -> Array:
    x = (random.standard_normal(shape) * random.choice([0.1, 3, 50])).astype(dtype)
    if special:
        x.ravel()[random.integers(x.size, size=2)] = random.choice(np.array(SPECIAL, dtype), 2)
    found: Array = x
    return found


@each_of("name", ["softmax", "log_softmax", "hardmax"])
def test_softmax_is_that_of_pytorch(name: str) -> None:
    """Along any axes, with infinities and NaN too, and in the older version along the last one."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    function = getattr(dml, f"activation_{name}1")
    for (shape, axes), dtype, special in itertools.product(SHAPES, DTYPES, (False, True, True)):
        x = drawn(random, shape, dtype, special)
        flat = lines(torch, x, axes)
        if name == "hardmax":
            numbers = flat.nan_to_num(nan=-np.inf)
            found = torch.nn.functional.one_hot(numbers.argmax(-1), flat.shape[-1])
            np.testing.assert_array_equal(function(x, axes=axes), back(found, x, axes))
            continue
        expected = back(getattr(flat, name)(-1), x, axes)
        bound = 6 if dtype == np.float32 else 1
        assert_near(function(x, axes=axes), expected, 1e-8, bound)  # PyTorch loses the digits of small logarithms
        if x.ndim == 2 and axes == (1,):
            np.testing.assert_array_equal(getattr(dml, f"activation_{name}")(x), function(x, axes=axes))


def test_small_logarithms_keep_their_digits() -> None:
    x = np.array([0, -30, -60, 5, 5, -90], np.float32)
    for first, second in ((0, 1), (0, 2), (0, 5)):
        pair = x[[first, second]]
        expected = -np.log1p(np.exp(np.float64(pair[1])))
        assert_near(dml.activation_log_softmax1(pair, axes=[0])[:1], np.array([expected]))
    assert_near(dml.activation_log_softmax1(x[3:], axes=[0])[:2], -np.log(np.array([2, 2], np.float64)))


@each_of("use_mean, use_variance", [*itertools.product((True, False), (True, False))])
def test_mean_and_variance_are_those_of_pytorch(use_mean: bool, use_variance: bool) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(4)
    for (shape, axes), dtype, (scaled, biased) in itertools.product(
        SHAPES, DTYPES, [(True, True), (False, False), (True, False), (False, True)]
    ):
        x = drawn(random, shape, dtype, False)
        small = tuple(int(random.choice([1, size])) for size in shape)
        scale = random.standard_normal(small).astype(dtype) if scaled else None
        bias = random.standard_normal(small).astype(dtype) if biased else None
        flat = lines(torch, x, axes)
        centered = flat - flat.mean(-1, keepdim=True) if use_mean else flat
        divisor = (centered.square().mean(-1, keepdim=True) + float(np.float32(0.125))).sqrt() if use_variance else 1.0
        normal = back(centered / divisor, x, axes)
        times, plus = 1.0 if scale is None else scale.astype(float), 0.0 if bias is None else bias.astype(float)
        more: dict[str, Any] = {"scale": scale, "bias": bias, "axes": axes, "epsilon": 0.125}
        size = np.abs(normal) + np.abs(x.astype(float)).max()
        result = dml.mean_variance_normalization2(x, use_mean=use_mean, use_variance=use_variance, **more)
        assert_near(result, normal * times + plus, np.abs(times) * size + np.abs(plus))
        if use_mean:
            older = dml.mean_variance_normalization1(x, normalize_variance=use_variance, **more)
            np.testing.assert_array_equal(older, result)
    x = drawn(random, (2, 3, 4, 5), np.float32, False)
    for cross, axes in ((False, (2, 3)), (True, (1, 2, 3))):
        np.testing.assert_array_equal(
            dml.mean_variance_normalization(x, cross_channel=cross, fused_activation=dml.desc.ActivationRelu()),
            np.maximum(dml.mean_variance_normalization1(x, axes=axes), 0) + 0,
        )


def test_layer_and_batch_normalization_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(5).standard_normal((3, 4, 5, 6)).astype(np.float32)
    wide = torch.from_numpy(x.astype(np.float64))
    layer = torch.nn.functional.layer_norm(wide, (5, 6), eps=float(np.float32(1e-3))).numpy()
    assert_near(dml.mean_variance_normalization1(x, axes=(2, 3), epsilon=1e-3), layer, 5.0)
    batch = torch.nn.functional.batch_norm(wide, None, None, training=True, eps=float(np.float32(1e-3))).numpy()
    ones, zeros = np.ones((1, 4, 1, 1), np.float32), np.zeros((1, 4, 1, 1), np.float32)
    output, mean, variance = dml.batch_normalization_training(x, ones, zeros, epsilon=1e-3)
    assert_near(output, batch, 5.0)
    assert_near(mean, wide.mean((0, 2, 3), keepdim=True).numpy(), 1.0)
    assert_near(variance, wide.var((0, 2, 3), keepdim=True, correction=0).numpy())
    added = dml.batch_normalization_training(
        x, ones, zeros, x, epsilon=1e-3, fused_activation=dml.desc.ActivationTanh()
    )
    assert_near(added[0], np.tanh(batch + x.astype(float)), 9.0)
    np.testing.assert_array_equal(added[1], mean)
    np.testing.assert_array_equal(added[2], variance)


def test_numbers_that_are_nearly_the_same() -> None:
    """The mean is subtracted without a loss of digits: constants give 0, and a last place counts."""
    for value in (0.1, 1e30, -3.3e-20, 1e-40, 16777215):
        x = np.full((3, 700), value, np.float32)
        assert not dml.mean_variance_normalization1(x, axes=(1,), epsilon=1e-30).any()
        assert np.isnan(dml.mean_variance_normalization1(x, axes=(1,), epsilon=0)).all()
        x[0, 5] = np.nextafter(x[0, 5], np.float32(np.inf))
        found = dml.mean_variance_normalization1(x, axes=(1,), epsilon=0)[0]
        one = np.full(700, -1 / 700)
        one[5] += 1
        assert_near(found, one / np.sqrt((one * one).mean()))


@each_of("most", [1e-42, 1e-30, 1e-12, 1e12, 1e30, 3e38])
def test_lines_of_huge_and_of_tiny_numbers(most: float) -> None:
    """Such lines are computed in FLOAT64, and their neighbors in FLOAT32, whatever the layout."""
    random = np.random.default_rng(12)
    for rows, n in ((40, 20), (3, 200), (33, 64)):
        x = random.uniform(-1, 1, (rows, n)).astype(np.float32)
        x[1] = (x[1] * most).astype(np.float32)
        x[2] = 0
        scale, bias = (random.uniform(-2, 2, (1, n)).astype(np.float32) for _ in range(2))
        wide = x.astype(np.float64)
        deviation = wide - wide.mean(1, keepdims=True)
        root = np.sqrt((deviation * deviation).mean(1, keepdims=True) + np.float64(np.float32(1e-30)))
        norm = np.maximum(np.sqrt((wide * wide).sum(1, keepdims=True)), np.float64(np.float32(1e-30)))
        for given in (x, np.asfortranarray(x)):
            found = dml.mean_variance_normalization1(given, scale, bias, axes=(1,), epsilon=1e-30)
            size = np.abs(scale) * (np.abs(deviation / root) + 1) + np.abs(bias)
            assert_near(found, deviation / root * scale + bias, size, 9)
            assert_near(dml.lp_normalization(given, axis=1, epsilon=1e-30), wide / norm, 0.0, 5)


def test_a_product_that_overflows_before_the_result() -> None:
    """Only the sum with the bias is a number of FLOAT32."""
    for rows in (1, 40):
        x = np.tile(np.array([-1, 0, 0, 0, 0, 0, 0, 8], np.float32), (rows, 1))
        scale, bias = np.full((1, 8), 3e38, np.float32), np.full((1, 8), -3e38, np.float32)
        wide = x.astype(np.float64)
        deviation = wide - wide.mean(1, keepdims=True)
        exact = deviation / np.sqrt((deviation**2).mean(1, keepdims=True) + float(np.float32(1e-5)))
        found = dml.mean_variance_normalization1(x, scale, bias, axes=(1,), epsilon=1e-5)
        assert_near(found[:, 7:], exact[:, 7:] * float(scale[0, 0]) + float(bias[0, 0]), 3.3e38, 9)


def test_norms() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(6)
    for shape, dtype, p in itertools.product([(5,), (3, 4), (2, 3, 4)], DTYPES, (1, 2)):
        for axis, epsilon in itertools.product(range(len(shape)), (0.0, 1e-5, 4.0)):
            x = drawn(random, shape, dtype, False)
            x[..., 0] = 0
            wide = torch.from_numpy(x.astype(np.float64))
            limit = float(np.float32(epsilon))
            expected = torch.nn.functional.normalize(wide, p, axis, limit).numpy()
            bound = 5 if dtype == np.float32 else 1
            assert_near(dml.lp_normalization(x, axis=axis, p=p, epsilon=epsilon), expected, 0.0, bound)
    assert np.isnan(dml.lp_normalization(np.array([np.nan, 1], np.float32), axis=0)).all()


def neighbors(torch: Any, x: Any, cross: bool, size: int, alpha: float, beta: float, bias: float) -> Any:
    """The formula of the page, over a window of PyTorch."""
    squares = x.square()
    before, after = (size - 1) // 2, size // 2
    pad = (0, 0, 0, 0, before, after) if cross else (before, after, before, after)
    padded = torch.nn.functional.pad(squares, pad)
    for axis in (1,) if cross else (2, 3):
        padded = padded.unfold(axis, size, 1).sum(-1)
    return x / (bias + alpha / size * padded) ** beta


@each_of("cross, size", [*itertools.product((True, False), (1, 2, 3, 4, 9))])
def test_local_responses_and_their_gradients(cross: bool, size: int) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(7)
    more: dict[str, Any] = {"cross_channel": cross, "local_size": size, "alpha": 0.75, "beta": 0.625, "bias": 1.5}
    for shape, dtype in itertools.product([(1, 5, 3, 2), (2, 1, 4, 6)], DTYPES):
        x, gradient = ((random.standard_normal(shape) * 2).astype(dtype) for _ in range(2))
        wide = torch.from_numpy(x.astype(np.float64)).requires_grad_()
        output = neighbors(torch, wide, cross, size, 0.75, 0.625, 1.5)
        bound = 5.0 if dtype == np.float32 else 1.0  # of magnitudes: that of the power counts beta times
        assert_near(dml.local_response_normalization(x, **more), output.detach().numpy(), 0.0, bound)
        if cross and size % 2:
            again = torch.nn.functional.local_response_norm(wide.detach(), size, 0.75, 0.625, 1.5)
            assert_near(dml.local_response_normalization(x, **more), again.numpy(), 0.0, bound)
        output.backward(torch.from_numpy(gradient.astype(np.float64)))
        found = dml.local_response_normalization_grad(x, gradient, **more)
        assert_near(found, wide.grad.numpy(), np.abs(gradient).max(), bound)


@each_of("training", [False, True])
def test_gradients_are_those_of_automatic_differentiation(training: bool) -> None:
    """Of the batch normalization, over channels and over other axes."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(8)
    function = dml.batch_normalization_training_grad if training else dml.batch_normalization_grad
    for shape, small in [((3, 4, 2, 5), (1, 4, 1, 1)), ((4, 3), (4, 1)), ((6, 2, 3), (1, 1, 1)), ((2, 3), (2, 3))]:
        for dtype, epsilon in itertools.product(DTYPES, (0.5, 1e-3)):
            x, gradient = ((random.standard_normal(shape) * 2 + 1).astype(dtype) for _ in range(2))
            scale = random.standard_normal(small).astype(dtype)
            axes = tuple(d for d, size in enumerate(small) if size == 1)
            wide, times = (torch.from_numpy(one.astype(np.float64)).requires_grad_() for one in (x, scale))
            plus = torch.zeros(small, dtype=torch.float64, requires_grad=True)
            about = wide.mean(axes, keepdim=True) if axes else wide
            spread = wide.var(axes, keepdim=True, correction=0) if axes else wide * 0
            if not training:
                about, spread = about.detach(), spread.detach() + 0.25
            mean, variance = (one.detach().numpy().astype(dtype) for one in (about, spread))
            if training and not axes:
                continue
            if not training:
                about, spread = (torch.from_numpy(one.astype(np.float64)) for one in (mean, variance))
            (times * (wide - about) / (spread + float(np.float32(epsilon))).sqrt() + plus).backward(
                torch.from_numpy(gradient.astype(np.float64))
            )
            found = function(x, gradient, mean, variance, scale, epsilon=epsilon)
            loss = 40 if training else 1  # mean and variance are rounded to the data type
            for one, other in zip(found, (wide, times, plus), strict=True):
                expected = other.grad.numpy()
                assert_near(one, expected, np.abs(gradient).sum() * max(1, np.abs(expected).max()), loss)


def test_dynamic_quantization_is_that_of_onnx_runtime() -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    make = onnx.helper
    node = make.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    tensors = [("x", 1), ("y", 2), ("s", 1), ("z", 2)]
    x, y, s, z = (make.make_tensor_value_info(name, kind, None) for name, kind in tensors)
    model = make.make_model(make.make_graph([node], "g", [x], [y, s, z]), opset_imports=[make.make_opsetid("", 11)])
    model.ir_version = 8
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(9)
    for k in range(60):
        data = drawn(random, (4, 9), np.float32, False) + np.float32(random.choice([0, 3, -40]))
        data = np.abs(data) * random.choice([1, -1]) if k % 3 else data
        data = (data * 0 if k == 7 else data).astype(np.float32)
        expected = session.run(None, {"x": data})
        found = dml.dynamic_quantize_linear(data, output_dtype="UINT8")
        np.testing.assert_array_equal(found[1].ravel(), expected[1].ravel())
        np.testing.assert_array_equal(found[2].ravel(), expected[2].ravel())
        np.testing.assert_array_equal(found[0], expected[0])
        signed = dml.dynamic_quantize_linear(data, output_dtype="INT8")
        np.testing.assert_array_equal(signed[0].astype(int), expected[0].astype(int) - 128)


def test_quantization_of_numbers_that_are_not_finite() -> None:
    y, scale, zero = dml.dynamic_quantize_linear(np.array([np.nan, 255, 1, 0.5, 1.5], np.float32), output_dtype="UINT8")
    assert scale == 1 and zero == 0
    np.testing.assert_array_equal(y, [0, 255, 1, 0, 2])
    y, scale, zero = dml.dynamic_quantize_linear(np.array([np.inf, 1], np.float32), output_dtype="UINT8")
    assert scale == np.inf and zero == 0
    np.testing.assert_array_equal(y, [0, 0])


@each_of("name", ["ActivationSoftmax1", "ActivationSoftmax"])
def test_a_softmax_is_an_activation(name: str) -> None:
    """Of the numbers of another operator, over arrays and over exact numbers."""
    x = np.random.default_rng(1).standard_normal((3, 5))
    more = {"axes": (0,)} if name == "ActivationSoftmax1" else {}
    desc = getattr(dml.desc, name)(**more)
    axis = 0 if more else 1
    powers = np.exp(x)
    np.testing.assert_allclose(activated(desc, x, WIDE), powers / powers.sum(axis, keepdims=True), 1e-14)
    np.testing.assert_allclose(
        activated(desc, EXACT.of(x), EXACT).astype(float), powers / powers.sum(axis, keepdims=True), 1e-14
    )


def uses(x: Array) -> dict[str, Any]:
    """Calls of all that is computed in parts, on a tensor of 4 axes."""
    ones = np.ones((1, x.shape[1], 1, 1), x.dtype)
    quarter = np.linspace(0.5, 2, x.shape[1]).astype(x.dtype).reshape(ones.shape)
    more: dict[str, Any] = {"alpha": 0.5, "beta": 0.5, "bias": 2}
    return {
        **{f"softmax {axes}": lambda axes=axes: dml.activation_softmax1(x, axes=axes) for axes in ((3,), (0, 2), (0,))},
        "log": lambda: dml.activation_log_softmax1(x, axes=(1, 2, 3)),
        "hard": lambda: dml.activation_hardmax1(x, axes=(1, 3)),
        "mean": lambda: dml.mean_variance_normalization1(x, quarter, ones, axes=(2, 3)),
        "batch": lambda: dml.batch_normalization_training(x, quarter, ones, x, epsilon=0.5),
        "gradient": lambda: dml.batch_normalization_training_grad(x, x, ones, quarter, ones, epsilon=0.5),
        "quantize": lambda: dml.dynamic_quantize_linear(x, output_dtype="UINT8"),
        "norm": lambda: dml.lp_normalization(x, axis=1),
        "channels": lambda: dml.local_response_normalization(x, cross_channel=True, local_size=3, **more),
        "rows": lambda: dml.local_response_normalization_grad(x, x, cross_channel=False, local_size=2, **more),
    }


def test_large_tensors_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(2).standard_normal((3, 4, 5, 6)).astype(np.float32)
    whole = {name: use() for name, use in uses(x).items()}
    for block, results in ((1, 1), (7, 2), (50, 1000)):
        monkeypatch.setattr(blocks, "BLOCK", block)
        monkeypatch.setattr(blocks, "RESULTS", results)
        for name, use in uses(x.transpose(3, 1, 2, 0).copy().transpose(3, 1, 2, 0)).items():
            found, expected = (one if isinstance(one, tuple) else (one,) for one in (use(), whole[name]))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, 1e-6, 1e-6, err_msg=name)


def test_memory_is_that_of_parts() -> None:
    shape = (2, 4, 1 << 9, 1 << 9)
    x = np.broadcast_to(np.linspace(0.5, 1.5, shape[-1], dtype=np.float16), shape)
    outputs = {"batch": 1, "gradient": 1, "quantize": 1}
    for name, use in uses(x).items():
        assert peak(use) < (outputs.get(name, 1)) * x.size * 2 + (16 << 20), name


def test_an_infinity_that_a_result_does_not_depend_on() -> None:
    """Without mean and variance, an infinity along the axes says nothing of the size of another result."""
    x, one = np.array([[[[np.inf, 7]]]], np.float16), np.full((1, 1, 1, 1), 15.4296875, np.float16)
    desc = dml.desc.MeanVarianceNormalization2(
        input=dml.TensorDesc.from_array(x), scale=dml.TensorDesc.from_array(one), bias=dml.TensorDesc.from_array(one),
        output=dml.TensorDesc.from_array(x), axes=(2, 3), use_mean=False, use_variance=False, epsilon=0.0,
    )  # fmt: skip
    arrays = {"input": x, "scale": one, "bias": one}
    testing.assert_result(desc, arrays, dml.compile(desc)(x, one, one), bound="own")


@each_of("cross", [True, False])
def test_many_neighbors_are_few_additions(cross: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbors of all elements at once: each sum is made of sums, not of elements."""
    additions, add = [], family._plus

    def plus(*given: Any) -> Any:
        additions.append(given[4])
        return add(*given)

    monkeypatch.setattr(family, "_plus", plus)
    x = np.random.default_rng(11).standard_normal((1, 30000, 1, 2) if cross else (1, 2, 3, 30000)).astype(np.float32)
    more: dict[str, Any] = {"cross_channel": cross, "alpha": 2.0, "beta": 1.0, "bias": 1.0}
    for size in (2**32 - 1, 50001):
        wide = x.astype(np.float64)
        before, after = (size - 1) // 2, size // 2
        axes = (1,) if cross else (2, 3)
        sums = np.square(wide)
        for axis in axes:
            to = np.cumsum(sums, axis)
            places = np.arange(x.shape[axis])
            last = np.take(to, np.minimum(places + after, x.shape[axis] - 1), axis)
            first = np.maximum(places - before, 0)
            sums = last - np.take(to, first, axis) + np.take(sums, first, axis)
        tensor = dml.TensorDesc.from_array(x)
        desc = dml.desc.LocalResponseNormalization(input=tensor, output=tensor, local_size=size, **more)
        assert_near(dml.compile(desc, path="reference")(x), wide / (1 + 2 / size * sums))
        assert_near(dml.local_response_normalization(x, local_size=size, **more), wide / (1 + 2 / size * sums), 0.0, 6)
        assert np.isfinite(dml.local_response_normalization_grad(x, x, local_size=size, **more)).all()
    assert 0 < len(additions) < 1000
