"""The functions of PyDirectML that are not elementwise: sizes and movement, sums, layers, gradients."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from truths import Array, Case, S, Tensor, by_torch, of_x, one

from dmlcy import directml as d

X = {"x": Tensor()}
IMAGE = (2, 4, 6, 5)
LINEAR, NEAREST = d.InterpolationMode.LINEAR, d.InterpolationMode.NEAREST_NEIGHBOR


def indices(*values: int, sizes: tuple[int, ...], dtype: str = "int32") -> Tensor:
    return Tensor(sizes, dtype, values=np.reshape(values, sizes))


def scattered(t: SimpleNamespace) -> Array:
    found: Array = t.x.copy()
    np.put_along_axis(found, t.i, t.u, 2)
    return found


def scattered_nd(t: SimpleNamespace) -> Array:
    found: Array = t.x.copy()
    for place, update in zip(t.i[0, 0], t.u[0, 0], strict=True):
        found[0, 0, place] = update
    return found


def reversed_parts(t: SimpleNamespace) -> Array:
    found: Array = t.x.copy()
    for channel, length in enumerate(t.n.ravel()):
        for row in range(3):
            found[0, channel, row, :length] = t.x[0, channel, row, :length][::-1]
    return found


def blocks(x: Array) -> Array:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, 4 * c, h // 2, w // 2)


def spaces(x: Array) -> Array:
    n, c, h, w = x.shape
    return x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)


def places_of(x: Array) -> tuple[Array, Array]:
    found = np.argwhere(x)
    rows = np.zeros((x.size, x.ndim), np.int64)
    rows[: len(found)] = found
    return np.array([len(found)]), rows


def moved() -> list[Case]:
    element = {"x": Tensor((1, 1, 3, 4)), "i": indices(2, 0, 1, 1, sizes=(1, 1, 1, 4))}
    pairs = {"x": Tensor((1, 1, 3, 4)), "i": indices(2, 0, sizes=(1, 1, 2, 1)), "u": Tensor((1, 1, 2, 4))}
    return [
        Case("slice", X, lambda t: d.slice(t.x, input_window_offsets=[0, 1, 0, 1], input_window_sizes=[1, 1, 3, 3],
             input_window_strides=[1, 1, -2, 2]), lambda t: t.x[:, 1:, ::-2, 1:4:2]),
        Case("slice_grad", {"g": Tensor((1, 1, 2, 2))}, lambda t: d.slice_grad(
            t.g, output_gradient_sizes=[1, 1, 3, 4], input_window_offsets=[0, 0, 1, 0], input_window_sizes=[1, 1, 2, 3],
            input_window_strides=[1, 1, 1, 2]), lambda t: placed(t.g)),
        Case("padding", X, lambda t: d.padding(t.x, start_padding=[0, 0, 1, 0], end_padding=[0, 1, 0, 2]),
             lambda t: np.pad(t.x, [(0, 0), (0, 1), (1, 0), (0, 2)])),
        Case("padding", X, lambda t: d.padding(t.x, padding_mode=d.PaddingMode.EDGE, start_padding=[0, 0, 0, 1],
             end_padding=[0, 0, 0, 1]), lambda t: np.pad(t.x, [(0, 0)] * 3 + [(1, 1)], "edge")),
        Case("join", {"x": Tensor(), "y": Tensor()}, lambda t: d.join([t.x, t.y, t.x], axis=2),
             lambda t: np.concatenate([t.x, t.y, t.x], 2)),
        Case("split", X, lambda t: tuple(d.split(t.x, axis=3, output_axis_sizes=[1, 3])),
             lambda t: (t.x[..., :1], t.x[..., 1:])),
        Case("tile", X, lambda t: d.tile(t.x, repeats=[2, 1, 1, 2]), lambda t: np.tile(t.x, (2, 1, 1, 2))),
        Case("one_hot", {"i": indices(2, 0, 1, sizes=(1, 1, 3, 1)), "v": Tensor((1, 1, 1, 2))},
             lambda t: d.one_hot(t.i, t.v, output_length=4, axis=3),
             lambda t: np.where(np.arange(4) == t.i, t.v.ravel()[1], t.v.ravel()[0]), of="v"),
        Case("top_k", {"x": Tensor(values=np.roll(np.arange(24), 5).reshape(1, 2, 3, 4))},
             lambda t: d.top_k(t.x, axis=3, k=2), lambda t: (-np.sort(-t.x, 3)[..., :2], np.argsort(-t.x, 3)[..., :2])),
        Case("top_k", {"x": Tensor(values=np.roll(np.arange(24), 5).reshape(1, 2, 3, 4))},
             lambda t: d.top_k(t.x, axis=2, k=1, axis_direction=d.AxisDirection.INCREASING).values,
             lambda t: t.x.min(2, keepdims=True)),
        Case("gather", {"x": Tensor(), "i": indices(2, 0, 1, sizes=(1, 1, 1, 3))},
             lambda t: d.gather(t.x, t.i, axis=2, index_dimensions=1), lambda t: t.x[:, :, t.i.ravel()]),
        Case("gather_elements", element, lambda t: d.gather_elements(t.x, t.i, axis=2),
             lambda t: np.take_along_axis(t.x, t.i, 2)),
        Case("gather_nd", {"x": Tensor((1, 1, 3, 4)), "i": indices(2, 1, 0, 3, sizes=(1, 1, 2, 2))},
             lambda t: d.gather_nd(t.x, t.i, input_dimension_count=2, indices_dimension_count=2),
             lambda t: t.x[0, 0, t.i[0, 0, :, 0], t.i[0, 0, :, 1]].reshape(1, 1, 1, 2)),
        Case("scatter_elements", element | {"u": Tensor((1, 1, 1, 4))},
             lambda t: d.scatter_elements(t.x, t.i, t.u, axis=2), scattered),
        Case("scatter_nd", pairs, lambda t: d.scatter_nd(
            t.x, t.i, t.u, input_dimension_count=2, indices_dimension_count=2), scattered_nd),
        Case("space_to_depth", {"x": Tensor((1, 2, 4, 6))}, lambda t: d.space_to_depth(t.x, block_size=2),
             lambda t: blocks(t.x)),
        Case("depth_to_space", {"x": Tensor((1, 8, 2, 3))}, lambda t: d.depth_to_space(t.x, block_size=2),
             lambda t: spaces(t.x)),
        Case("depth_to_space", {"x": Tensor((1, 8, 2, 3))}, lambda t: d.depth_to_space(
            t.x, block_size=2, order=d.DepthSpaceOrder.COLUMN_ROW_DEPTH), by_torch(
                lambda t, torch: torch.nn.functional.pixel_shuffle(t.x, 2))),
        Case("reverse_subsequences", {"x": Tensor(), "n": indices(3, 2, sizes=(1, 2, 1, 1), dtype="uint32")},
             lambda t: d.reverse_subsequences(d.reinterpret(t.x, [1, 2, 1, 4], [24, 12, 4, 1]), t.n, axis=3),
             lambda t: reversed_parts(t)[:, :, :1]),
        Case("upsample_2d", X, lambda t: d.upsample_2d(t.x, scale_size=(3, 2), interpolation_mode=NEAREST),
             lambda t: t.x.repeat(2, 2).repeat(3, 3)),
        Case("resample", X, lambda t: d.resample(
            t.x, output_sizes=[1, 2, 6, 4], mode=NEAREST, scales=[1, 1, 2, 1], input_pixel_offsets=[0] * 4,
            output_pixel_offsets=[0] * 4), lambda t: t.x[:, :, [0, 1, 1, 2, 2, 2]]),
        Case("resample", {"x": Tensor(low=0, high=9)}, lambda t: d.resample(
            t.x, output_sizes=[1, 2, 3, 7], mode=LINEAR), by_torch(lambda t, torch: torch.nn.functional.interpolate(
                 t.x.double(), (3, 7), mode="bilinear", align_corners=False))),
        Case("resample_grad", {"g": Tensor((1, 2, 6, 8))}, lambda t: d.resample_grad(
            t.g, output_sizes=[1, 2, 3, 4], mode=NEAREST), lambda t: t.g.reshape(1, 2, 3, 2, 4, 2).sum((3, 5))),
        Case("resample_grad", {"g": Tensor((1, 2, 6, 8))}, lambda t: d.resample_grad(
            t.g, output_sizes=[1, 2, 3, 4], mode=LINEAR), by_torch(grad_of_interpolation)),
    ]  # fmt: skip


def placed(g: Array) -> Array:
    found: Array = np.zeros((1, 1, 3, 4), g.dtype)
    found[0, 0, 1:3, 0:3:2] = g[0, 0]
    return found


def grad_of_interpolation(t: SimpleNamespace, torch: Any) -> Any:
    x = torch.zeros((1, 2, 3, 4), dtype=t.g.dtype, requires_grad=True)
    torch.nn.functional.interpolate(x, (6, 8), mode="bilinear", align_corners=False).backward(t.g)
    return x.grad


REDUCTIONS: dict[str, Any] = {
    "ARGMAX": lambda x: x.argmax(3)[..., None], "ARGMIN": lambda x: x.argmin(3)[..., None],
    "AVERAGE": lambda x: x.mean(3, keepdims=True), "L1": lambda x: np.abs(x).sum(3, keepdims=True),
    "L2": lambda x: np.sqrt((x**2).sum(3, keepdims=True)), "LOG_SUM": lambda x: np.log(x.sum(3, keepdims=True)),
    "LOG_SUM_EXP": lambda x: np.log(np.exp(x).sum(3, keepdims=True)), "MAX": lambda x: x.max(3, keepdims=True),
    "MIN": lambda x: x.min(3, keepdims=True), "MULTIPLY": lambda x: x.prod(3, keepdims=True),
    "SUM": lambda x: x.sum(3, keepdims=True), "SUM_SQUARE": lambda x: (x**2).sum(3, keepdims=True),
}  # fmt: skip


def folded() -> list[Case]:
    found = [
        Case("reduce", {"x": Tensor(low=1, dtype="float32")}, partial(of_x, partial(d.reduce, function=of, axes=[3])),
             partial(of_x, REDUCTIONS[of.name]))
        for of in d.ReduceFunction
    ]  # fmt: skip
    layer = {name: Tensor((1, 4, 1, 1), low=0.5) for name in ("m", "v", "s", "b")}
    return [
        *found,
        Case("reduce", {"x": Tensor(low=0)}, lambda t: d.reduce(t.x, function=d.ReduceFunction.SUM),
             lambda t: t.x.sum(keepdims=True), without=("int8", "int16", "uint8", "uint16")),
        one("reduce", lambda x: x.max((1, 3), keepdims=True), function=d.ReduceFunction.MAX, axes=(1, 3)),
        one("cumulative_summation", lambda x: x.cumsum(2), 0, 3, axis=2),
        one("cumulative_summation", lambda x: np.flip(np.flip(x, 3).cumsum(3), 3) - x, 0, 3, axis=3,
            axis_direction=d.AxisDirection.DECREASING, has_exclusive_sum=True),
        one("cumulative_product", lambda x: x.cumprod(3), 1, 3, axis=3),
        Case("non_zero_coordinates", {"x": Tensor((2, 3), low=0, high=2)}, lambda t: d.non_zero_coordinates(t.x),
             lambda t: places_of(t.x)),
        Case("average_pooling", {"x": Tensor(IMAGE)}, lambda t: d.average_pooling(
            t.x, window_sizes=[2, 3], strides=[2, 1], start_padding=[1, 0], end_padding=[1, 0]), by_torch(
                lambda t, torch: torch.nn.functional.avg_pool2d(t.x, (2, 3), (2, 1), (1, 0), count_include_pad=False))),
        Case("max_pooling", {"x": Tensor(IMAGE, values=np.random.default_rng(3).permutation(240).reshape(IMAGE) % 120)},
             lambda t: d.max_pooling(t.x, window_sizes=[2, 2], strides=[2, 1]).values, by_torch(
                lambda t, torch: torch.nn.functional.max_pool2d(t.x.double(), 2, (2, 1)))),
        Case("max_pooling", {"x": Tensor((1, 1, 6, 5), values=np.arange(30)[::-1].reshape(1, 1, 6, 5))},
             lambda t: d.max_pooling(t.x, window_sizes=[3, 2], dilations=[1, 2], output_indices=True), by_torch(
                lambda t, torch: torch.nn.functional.max_pool2d(
                    t.x.double(), (3, 2), 1, 0, (1, 2), return_indices=True))),
        Case("mean_variance_normalization", {"x": Tensor(IMAGE)}, lambda t: d.mean_variance_normalization(
            t.x, axes=[0, 2, 3]), lambda t: normalized(t.x), near=4),
        Case("batch_normalization", {"x": Tensor(IMAGE), **layer}, lambda t: d.batch_normalization(
            t.x, t.m, t.v, t.s, t.b), lambda t: (t.x - t.m) / np.sqrt(t.v + 1e-5) * t.s + t.b, near=4),
        Case("local_response_normalization", {"x": Tensor(IMAGE)}, lambda t: d.local_response_normalization(
            t.x, cross_channel=True, local_size=3, alpha=0.3, beta=0.75, bias=1.0), by_torch(
                lambda t, torch: torch.nn.functional.local_response_norm(t.x, 3, 0.3, 0.75, 1.0))),
        Case("value_scale_2d", {"x": Tensor((2, 3, 4, 5))}, lambda t: d.value_scale_2d(t.x, scale=0.5, bias=[1, 2, 3]),
             lambda t: t.x * 0.5 + np.reshape([1, 2, 3], (3, 1, 1))),
        Case("gemm", {"a": Tensor((1, 1, 3, 4)), "b": Tensor((1, 1, 5, 4)), "c": Tensor((1, 1, 3, 5))},
             lambda t: d.gemm(t.a, t.b, t.c, trans_b=d.MatrixTransform.TRANSPOSE, alpha=0.5, beta=2),
             lambda t: 0.5 * t.a @ t.b.swapaxes(2, 3) + 2 * t.c, near=4),
        Case("convolution", {"x": Tensor(IMAGE), "f": Tensor((8, 2, 3, 2)), "b": Tensor((1, 8, 1, 1))},
             lambda t: d.convolution(t.x, t.f, t.b, strides=[1, 2], start_padding=[1, 0], end_padding=[1, 0],
                                     group_count=2), by_torch(
                lambda t, torch: torch.nn.functional.conv2d(t.x, t.f, t.b.ravel(), (1, 2), (1, 0), groups=2)), near=8),
        Case("multihead_attention", {name: Tensor((2, 1, 3, 8), low=-1, high=1) for name in "qkv"},
             lambda t: d.multihead_attention(t.q, t.k, t.v, head_count=2, scale=0.5), by_torch(attention), near=4),
    ]  # fmt: skip


def normalized(x: Array) -> Array:
    found: Array = (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
    return found


def attention(t: SimpleNamespace, torch: Any) -> Any:
    heads = [one.reshape(2, 3, 2, 4).transpose(1, 2) for one in (t.q, t.k, t.v)]
    found = torch.nn.functional.scaled_dot_product_attention(*heads, scale=0.5)
    return found.transpose(1, 2).reshape(2, 1, 3, 8)


def quantized() -> list[Case]:
    ones = (1, 1, 1, 1)
    scale, zero = Tensor(dtype="float32", low=0.25, high=2), Tensor(dtype="uint8", low=100, high=140)
    weights = {"x": Tensor((1, 2, 4, 4), low=0, high=9), "f": Tensor((3, 2, 2, 2), "int8", -4, 4)}
    points = {"z": Tensor(ones, "", 1, 5), "w": Tensor(ones, "int8", -2, 2)}
    scales = {name: Tensor(ones, "float32", values=np.full(ones, value)) for name, value in
              (("p", 0.5), ("q", 0.25), ("r", 2.0))}  # fmt: skip

    def convolved(t: SimpleNamespace, torch: Any) -> Any:
        z, w = (t.z, t.w) if hasattr(t, "z") else (0, 0)
        return torch.nn.functional.conv2d((t.x - z).double(), (t.f - w).double(), stride=2)

    return [
        *(Case("quantize_linear", {"x": Tensor(low=-9, high=9), "s": Tensor(S, dtype, 0.25, 2), "z": zero},
               lambda t: d.quantize_linear(t.x, t.s, t.z), quantized_linear, without=without)
          for dtype, without in (("", ("int32",)), ("float32", ("float16",)))),
        Case("dequantize_linear", {"x": Tensor(low=0, high=9), "s": scale, "z": Tensor(low=0, high=5)},
             lambda t: d.dequantize_linear(t.x, t.s, t.z), lambda t: (t.x - t.z) * t.s),
        Case("dequantize", {"x": Tensor((1, 1, 2, 4), low=0, high=9), "s": Tensor((1, 1, 2, 2), "float32", 0.25, 2),
                            "z": Tensor((1, 1, 2, 2), low=0, high=5)},
             lambda t: d.dequantize(t.x, [t.s, t.z], quantization_type=d.QuantizationType.SCALE_ZERO_POINT),
             lambda t: (t.x - t.z.repeat(2, 3)) * t.s.repeat(2, 3)),
        Case("dequantize", {"x": Tensor((1, 1, 2, 4), "uint8", 0, 255), "s": Tensor((1, 1, 2, 1), "float32", 0.25, 2)},
             lambda t: d.dequantize(t.x, [t.s], quantization_type=d.QuantizationType.SCALE),
             lambda t: (t.x - 128) * t.s),
        Case("convolution_integer", weights, lambda t: d.convolution_integer(t.x, t.f, strides=[2, 2]),
             by_torch(convolved)),
        Case("convolution_integer", weights | points, lambda t: d.convolution_integer(
            t.x, t.f, t.z, t.w, strides=[2, 2], output_sizes=[1, 3, 2, 2]), by_torch(convolved)),
        Case("quantized_linear_convolution", weights | scales, lambda t: d.quantized_linear_convolution(
            t.x, t.p, t.f, t.q, t.r, output_dtype="int8", strides=[2, 2]), by_torch(
                lambda t, torch: torch.round(convolved(t, torch) * 0.5 * 0.25 / 2).clamp(-128, 127))),
        Case("quantized_linear_convolution", weights | scales | points | {"b": Tensor((1, 3, 1, 1), "int32", -8, 8)},
             lambda t: d.quantized_linear_convolution(
                 t.x, t.p, t.f, t.q, t.r, t.z, t.w, t.b, output_dtype=np.int8, strides=[2, 2]), by_torch(
                lambda t, torch: torch.round((convolved(t, torch) + t.b) * 0.5 * 0.25 / 2).clamp(-128, 127))),
    ]  # fmt: skip


def quantized_linear(t: SimpleNamespace) -> Array:
    """No quotient of these numbers is near a tie."""
    found: Array = np.clip(np.round(t.x / t.s) + t.z, 0, 255)
    return found


def batch(t: SimpleNamespace, torch: Any, training: bool) -> tuple[Any, ...]:
    """The gradients of a batch normalization with the statistics of the input, or with given ones."""
    x, s = t.x.clone().requires_grad_(), t.s.clone().requires_grad_()
    b = torch.zeros_like(t.s).requires_grad_()
    axes = (0, 2, 3)
    mean, variance = (x.mean(axes, keepdim=True), x.var(axes, False, keepdim=True)) if training else (t.m, t.v)
    ((x - mean) / torch.sqrt(variance + 1e-5) * s + b).backward(t.g)
    return x.grad, s.grad, b.grad


def trained() -> list[Case]:
    layer = {"s": Tensor((1, 4, 1, 1), low=0.5), "b": Tensor((1, 4, 1, 1))}
    given = {"x": Tensor(IMAGE), "g": Tensor(IMAGE), "s": layer["s"]}
    statistics = {name: Tensor((1, 4, 1, 1), low=0.5) for name in ("m", "v")}

    def grads(t: SimpleNamespace) -> Any:
        x, axes = t.x, (0, 2, 3)
        mean = d.reduce(x, function=d.ReduceFunction.AVERAGE, axes=axes)
        square = d.reduce(x * x, function=d.ReduceFunction.AVERAGE, axes=axes)
        return d.batch_normalization_training_grad(x, t.g, mean, square - mean * mean, t.s)

    return [
        Case("batch_normalization_training", {"x": Tensor(IMAGE), **layer, "a": Tensor(IMAGE)},
             lambda t: d.batch_normalization_training(
                 t.x, t.s, t.b, t.a, fused_activation=d.FusedActivation.relu()),
             lambda t: (np.maximum(normalized(t.x) * t.s + t.b + t.a, 0), t.x.mean((0, 2, 3), keepdims=True),
                        t.x.var((0, 2, 3), keepdims=True)), near=4),
        Case("batch_normalization_grad", given | statistics, lambda t: d.batch_normalization_grad(
            t.x, t.g, t.m, t.v, t.s), by_torch(lambda t, torch: batch(t, torch, False)), near=16),
        Case("batch_normalization_training_grad", given, grads,
             by_torch(lambda t, torch: batch(t, torch, True)), near=64),
    ]  # fmt: skip
