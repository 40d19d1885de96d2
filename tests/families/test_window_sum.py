"""Properties of window_sum: gradients of pooling by autograd, quantized averages by ONNX Runtime; memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._families.blocks import RESULTS, sizes_of
from dmlcy._families.given import Given
from dmlcy._families.window_sum import family

Array = np.ndarray[Any, Any]


def windows(random: np.random.Generator, spatial: int, dilated: bool) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Sizes of an image, and a window of whose elements at least one is inside, as PyTorch demands."""
    window = [int(one) for one in random.integers(1, 4, spatial)]
    dilations = [int(one) for one in random.integers(1, 3, spatial)] if dilated else [1] * spatial
    padding = [int(random.integers(0, one // 2 + 1)) for one in window]
    sizes = [int(random.integers(0, 5)) + (k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    strides = [int(one) for one in random.integers(1, 4, spatial)]
    use = {"window_size": window, "strides": strides, "start_padding": padding, "end_padding": padding}
    return (int(random.integers(1, 3)), int(random.integers(1, 4)), *sizes), use | {"dilations": dilations}


def test_average_pooling_grad_is_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    for number in range(60):
        monkeypatch.setattr(family, "RESULTS", (1 << 18, 7, 60)[number % 3])
        spatial, counted = 2 + number % 2, bool(number % 5 < 3)
        sizes, use = windows(random, spatial, dilated=False)
        del use["dilations"]
        x = torch.zeros(sizes, dtype=torch.float64, requires_grad=True)
        pool = functional.avg_pool2d if spatial == 2 else functional.avg_pool3d
        y = pool(x, use["window_size"], use["strides"], use["start_padding"], count_include_pad=counted)
        gradient = random.standard_normal(y.shape).astype(("f4", "f2")[number % 2])
        y.backward(torch.from_numpy(gradient.astype(np.float64)))
        found = dml.average_pooling_grad(gradient, output_sizes=sizes[2:], include_padding=counted, **use)
        np.testing.assert_allclose(found, x.grad.numpy(), atol=(1e-6, 4e-3)[number % 2])


def test_max_pooling_grad_is_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of numbers of which many are equal: the first maximum of a window gets the element."""
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(2)
    for number in range(60):
        monkeypatch.setattr(family, "RESULTS", (1 << 18, 7, 60)[number % 3])
        spatial = 2 + number % 2
        sizes, use = windows(random, spatial, dilated=True)
        x = random.integers(-2, 3, sizes).astype(("f4", "f2")[number % 2])
        wide = torch.from_numpy(x.astype(np.float64)).requires_grad_()
        pool = functional.max_pool2d if spatial == 2 else functional.max_pool3d
        y = pool(wide, use["window_size"], use["strides"], use["start_padding"], use["dilations"])
        gradient = random.integers(-8, 9, y.shape).astype(x.dtype)
        y.backward(torch.from_numpy(gradient.astype(np.float64)))
        np.testing.assert_array_equal(dml.max_pooling_grad(x, gradient, **use), wide.grad.numpy())


def test_special_values_of_gradients() -> None:
    """Windows of padding only give nothing; NaN loses; NaN and infinities of a gradient go where they belong."""
    gradient = np.array([[[[7, 1, np.nan, np.inf, -0.0]]]], np.float32)
    use: Any = {"window_size": (1, 1), "start_padding": (0, 1)}
    np.testing.assert_array_equal(
        dml.average_pooling_grad(gradient, output_sizes=(1, 4), **use)[0, 0, 0], [1, np.nan, np.inf, 0]
    )
    x = np.array([[[[np.nan, -3, np.nan, np.nan]]]], np.float32)
    result = dml.max_pooling_grad(x, np.array([[[[5, 2, 4, 8]]]], np.float32), window_size=(1, 2), start_padding=(0, 1))
    np.testing.assert_array_equal(result[0, 0, 0], [5, 6, 8, 0])
    result = dml.max_pooling_grad(x, np.ones((1, 1, 1, 8), np.float32), window_size=(1, 1), start_padding=(0, 4))
    np.testing.assert_array_equal(result[0, 0, 0], np.ones(4))
    assert not np.signbit(dml.average_pooling_grad(-0.0 * np.ones((1, 1, 1, 1), np.float32), window_size=(1, 1),
                                                   output_sizes=(1, 1))).any()  # fmt: skip


def quantized(value: Array, scale: Array, zero: Array, dtype: Any) -> Array:
    limits = np.iinfo(dtype)
    found: Array = np.clip(np.rint((value / scale).astype(np.float32)) + zero, limits.min, limits.max).astype(dtype)
    return found


def test_quantized_averages_are_those_of_what_the_integers_stand_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each data type, with scales and zero points of each channel or of all; PyTorch averages."""
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    for number in range(60):
        monkeypatch.setattr(family, "RESULTS", (1 << 18, 7, 60)[number % 3])
        sizes, use = windows(random, 2, dilated=False)
        dtypes = [("u1", "i1")[number % 2], ("u1", "i1")[number // 2 % 2]]
        x = random.integers(*(np.iinfo(dtypes[0]).min, np.iinfo(dtypes[0]).max + 1), sizes).astype(dtypes[0])
        few = [(1, 1, 1, 1), (1, sizes[1], 1, 1)]
        shapes = [few[int(random.integers(2))] for _ in range(4)]
        scales = [2.0 ** random.integers(-3, 2, shape).astype(np.float32) for shape in shapes[:2]]
        zeros = [random.integers(0, 50, shape).astype(dtype) for shape, dtype in zip(shapes[2:], dtypes, strict=True)]
        counted = bool(number % 3)
        wide = torch.from_numpy((x.astype(np.float64) - zeros[0]) * scales[0])
        mean = functional.avg_pool2d(
            wide, use["window_size"], use["strides"], use["start_padding"], count_include_pad=counted
        ).numpy()
        found = dml.quantized_linear_average_pooling(
            x, scales[0], zeros[0], scales[1], zeros[1], include_padding=counted, output_dtype=dtypes[1], **use
        )
        np.testing.assert_array_equal(found, quantized(mean, scales[1], zeros[1], dtypes[1]))


def test_quantized_averages_are_those_of_onnx_runtime() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    random = np.random.default_rng(4)
    x = random.integers(0, 256, (2, 3, 8, 9)).astype(np.uint8)
    names = {"x": 2, "s": 1, "z": 2, "t": 1, "w": 2}
    inputs = [
        helper.make_tensor_value_info(name, kind, [None] * (4 if name == "x" else 0)) for name, kind in names.items()
    ]
    node = helper.make_node(
        "QLinearAveragePool",
        [*names],
        ["y"],
        domain="com.microsoft",
        kernel_shape=[3, 2],
        strides=[2, 1],
        pads=[1, 0, 1, 1],
    )
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 2, [None] * 4)])
    opsets = [helper.make_opsetid("", 16), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feeds = {"s": np.float32(0.5), "z": np.uint8(7), "t": np.float32(0.75), "w": np.uint8(30)}
    (expected,) = session.run(None, {"x": x} | {name: np.array(value) for name, value in feeds.items()})
    found = dml.quantized_linear_average_pooling(
        x, *(np.array([value]) for value in feeds.values()), window_size=(3, 2), strides=(2, 1),
        start_padding=(1, 0), end_padding=(1, 1),
    )  # fmt: skip
    apart = np.abs(found.astype(int) - expected)
    assert apart.max() <= 1
    assert (apart == 0).mean() > 0.97  # ONNX Runtime divides in another order


def test_scales_of_0_and_windows_of_padding() -> None:
    x = np.array([[[[9, 9]], [[1, 200]]]], np.uint8)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    use: Any = {"window_size": (1, 1), "start_padding": (0, 1), "output_dtype": "UINT8"}
    found = dml.quantized_linear_average_pooling(x, one, None, zero, np.array([3], np.uint8), **use)
    assert found.ravel().tolist() == [0, 255, 255, 0, 255, 255]
    found = dml.quantized_linear_average_pooling(x, one, np.array([9], np.uint8), one, np.array([3], np.uint8), **use)
    assert found.ravel().tolist() == [3, 3, 3, 3, 0, 194]


def test_large_tensors_take_little_memory() -> None:
    x = np.ones((4, 4, 512, 512), np.float32)
    gradient = np.ones((4, 4, 256, 256), np.float32)
    half: Any = {"window_size": (2, 2), "strides": (2, 2)}
    scale, bytes_ = np.ones(1, np.float32), np.ones((4, 4, 1024, 1024), np.uint8)
    calls: list[Any] = [
        lambda: dml.average_pooling_grad(gradient, output_sizes=(512, 512), **half),
        lambda: dml.max_pooling_grad(x, gradient, **half),
        lambda: dml.quantized_linear_average_pooling(bytes_, scale, None, scale, output_dtype="UINT8", **half),
    ]
    for call in calls:
        tracemalloc.start()
        try:
            found = call()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < found.nbytes + (32 << 20), f"{peak / 2**20:.0f} MB"


def test_parts_shrink_with_the_sides_of_a_window_and_not_with_its_area() -> None:
    """Since sums are along one axis after the other; and no part keeps more numbers than it may."""
    counts = []
    for side in (8, 32):
        gradient = np.ones((1, 8, 129 - side, 129 - side), np.float32)
        tensors = {"input_gradient": gradient, "output_gradient": np.ones((1, 8, 128, 128), np.float32)}
        descs: dict[str, Any] = {name: dml.TensorDesc.from_array(array) for name, array in tensors.items()}
        desc = dml.desc.AveragePoolingGrad(**descs, window_size=(side, side), include_padding=False)
        shares = family._Shares(Given.of_desc(desc, {"input_gradient": gradient}))
        parts = [*shares.parts()]
        assert max(shares.kept(sizes_of(at)) for at in parts) <= RESULTS
        counts.append(len(parts))
    assert counts[1] <= 6 * counts[0]
