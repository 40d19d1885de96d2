"""Each function of dmlcy.directml gives what PyTorch gives for the same program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy.directml

SIZES = {
    "x": (2, 4, 6, 5), "y": (2, 4, 6, 5), "one": (1, 4, 1, 1), 
    "image": (2, 3, 4, 5), "matrix": (1, 1, 3, 4), "filter": (8, 4, 3, 3), "grouped": (8, 2, 2, 3),
    "back": (4, 3, 3, 2), "bias8": (1, 8, 1, 1), "bias3": (1, 3, 1, 1), "a": (1, 2, 3, 4), "b": (1, 2, 4, 5),
    "c": (1, 2, 3, 5), "bt": (1, 2, 5, 4),
}  # fmt: skip


def fused(d: Any, name: str, *params: float) -> Any:
    return d.FusedActivation(getattr(d.OperatorType, name), *params)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "convolution": lambda d, t: d.convolution(t.x, t.filter, t.bias8),
    "strides": lambda d, t: d.convolution(
        t.x, t.filter, strides=[2, 1], dilations=[1, 2], start_padding=[1, 2], end_padding=[0, 1],
        fused_activation=fused(d, "ACTIVATION_RELU"),
    ),
    "groups": lambda d, t: d.convolution(t.x, t.grouped, group_count=2, mode=d.ConvolutionMode.CONVOLUTION),
    "backward": lambda d, t: d.convolution(
        t.x, t.back, t.bias3, direction=d.ConvolutionDirection.BACKWARD, strides=[2, 2], start_padding=[1, 1],
        end_padding=[1, 0], output_padding=[1, 0],
    ),
    "output sizes": lambda d, t: d.convolution(
        t.x, t.back, direction=d.ConvolutionDirection.BACKWARD, strides=[2, 2], start_padding=[1, 1],
        end_padding=[1, 1], output_sizes=[2, 3, 12, 9],
    ),
    "gemm": lambda d, t: d.gemm(t.a, t.b),
    "transposed": lambda d, t: d.gemm(
        t.a, t.bt, t.c, trans_b=d.MatrixTransform.TRANSPOSE, alpha=0.5, beta=2.0,
        fused_activation=fused(d, "ACTIVATION_LINEAR", 2.0, 0.25),
    ),
    "add": lambda d, t: d.add(t.x, t.y), "add1": lambda d, t: d.add(t.x, t.y, fused(d, "ACTIVATION_ELU", 0.5)),
    "subtract": lambda d, t: d.subtract(t.x, t.y), "multiply": lambda d, t: d.multiply(t.x, t.y),
    "divide": lambda d, t: d.divide(t.x, t.y), "relu": lambda d, t: d.activation_relu(t.x),
    "sigmoid": lambda d, t: d.activation_sigmoid(t.x), "identity": lambda d, t: d.activation_identity(t.x),
    "tanh": lambda d, t: d.activation_tanh(t.x), "gelu": lambda d, t: d.activation_gelu(t.x),
    "linear": lambda d, t: d.activation_linear(t.x, 2.0, -1.0), "softmax": lambda d, t: d.activation_softmax(t.matrix),
    "softmax along axes": lambda d, t: d.activation_softmax(t.x, [1, 3]),
    "constant": lambda d, t: d.padding(t.x, d.PaddingMode.CONSTANT, 1.5, [0, 1, 0, 2], [1, 0, 2, 0]),
    "reflection": lambda d, t: d.padding(t.x, d.PaddingMode.REFLECTION, 0.0, [0, 0, 3, 2], [0, 0, 1, 4]),
    "mvn": lambda d, t: d.mean_variance_normalization(t.x, t.one, t.one, [0, 2, 3], 1, 1, 1e-5),
    "mvn without scale": lambda d, t: d.mean_variance_normalization(
        t.x, None, None, [1, 2, 3], True, False, 1e-3, fused(d, "ACTIVATION_LEAKY_RELU", 0.125)
    ),
    "batch normalization": lambda d, t: d.batch_normalization(
        t.x, t.one, d.multiply(t.one, t.one), t.one, t.one, True, 1e-5, fused(d, "ACTIVATION_RELU")
    ),
    "lrn": lambda d, t: d.local_response_normalization(t.x, True, 3, 0.001, 0.75, 1.0),
    "average": lambda d, t: d.average_pooling(t.x, [2, 1], [2, 3], [1, 0], [0, 1], [1, 1], False),
    "average with padding": lambda d, t: d.average_pooling(t.x, [1, 2], [3, 2], [1, 1], [1, 0], [1, 1], True),
    "max": lambda d, t: d.max_pooling(t.x, [2, 3], [2, 2], [1, 0], [0, 1]).values,
    "indices": lambda d, t: d.max_pooling(t.x, [2, 2], strides=[2, 1], output_indices=True).indices,
    "slice": lambda d, t: d.slice(t.x, [0, 1, 0, 1], [2, 3, 6, 4], [1, 2, 3, 1]),
    "join": lambda d, t: d.join([t.x, t.y, t.x], 2), "gather": lambda d, t: d.gather(t.x, t.indices, 2, 1),
    "nearest": lambda d, t: d.up_sample_2d(t.x, d.Size2D(2, 3), d.InterpolationMode.NEAREST_NEIGHBOR),
    "bilinear": lambda d, t: d.up_sample_2d(t.x, d.Size2D(2, 2), d.InterpolationMode.LINEAR),
    "value scale": lambda d, t: d.value_scale_2d(t.image, 0.5, [1.0, 2.0, 3.0]),
    "reinterpret": lambda d, t: d.reinterpret(
        d.activation_identity(t.x), d.TensorDataType.FLOAT32, [1, 1, 8, 30], [240, 240, 30, 1]
    ),
    "operators": lambda d, t: (t.x + t.y) * (t.x - t.y) / t.y % t.x,
    "floats": lambda d, t: 2.0 - (0.5 + t.x * 3.0 - 1.0) / 4.0,
    "more floats": lambda d, t: -(2.0 * (1.0 / t.x)),
}  # fmt: skip


class Tensors:
    """Graph inputs by their names, in the order of SIZES."""

    def __init__(self, d: Any, builder: Any) -> None:
        for index, (name, sizes) in enumerate(SIZES.items()):
            desc = d.TensorDesc(d.TensorDataType.FLOAT32, [*sizes])
            setattr(self, name, d.input_tensor(builder, index, desc))
        desc = d.TensorDesc(d.TensorDataType.UINT32, [1, 1, 1, 3])
        self.indices = d.input_tensor(builder, len(SIZES), desc)


def computed(d: Any, program: Callable[[Any, Any], Any]) -> np.ndarray[Any, Any]:
    """The result of a program."""
    device = d.Device(True, False)
    builder = d.GraphBuilder(device)
    tensors = Tensors(d, builder)
    result = program(d, tensors)
    random = np.random.default_rng(4)
    bindings = [d.Binding(getattr(tensors, name), random.standard_normal(sizes)) for name, sizes in SIZES.items()]
    bindings.append(d.Binding(tensors.indices, np.array([5, 0, 2], np.uint32)))
    model = builder.build(d.ExecutionFlags.NONE, [result])
    (found,) = device.compute(model, bindings, [result])
    return np.asarray(found)


@each_of("name", PROGRAMS)
def test_a_function(name: str) -> None:
    pytest.importorskip("torch")
    import peer

    found = computed(dmlcy.directml, PROGRAMS[name])
    expected = computed(peer.module("directml"), PROGRAMS[name])
    assert found.dtype == ("uint32" if name == "indices" else "float32")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_a_layer_with_a_state() -> None:
    """Both outputs, and each by itself: dmlcy.gru is held against PyTorch elsewhere."""
    d = dmlcy.directml
    random = np.random.default_rng(2)
    sizes = [(1, 5, 2, 3), (1, 1, 12, 3), (1, 1, 12, 4)]
    arrays = [random.standard_normal(one).astype(np.float32) for one in sizes]
    sigmoid, tanh = (d.FusedActivation(getattr(d.OperatorType, f"ACTIVATION_{name}")) for name in ("SIGMOID", "TANH"))
    direction, activations = d.RecurrentNetworkDirection.FORWARD, [sigmoid, tanh]
    expected = dmlcy.gru(
        *arrays, activation_descs=[dmlcy.desc.ActivationSigmoid(), dmlcy.desc.ActivationTanh()],
        linear_before_reset=True, output_sequence=True, output_single=True,
    )  # fmt: skip
    device = d.Device()
    for options in d.OutputOptions:
        builder = d.GraphBuilder(device)
        tensors = [
            d.input_tensor(builder, i, d.TensorDesc(d.TensorDataType.FLOAT32, [*one])) for i, one in enumerate(sizes)
        ]
        found = d.gru(*tensors, activation_descs=activations, direction=direction, output_options=options)
        there = [one for one in found if one is not None]
        model = builder.build(d.ExecutionFlags.NONE, there)
        bindings = [d.Binding(*pair) for pair in zip(tensors, arrays, strict=True)]
        results = device.compute(model, bindings, there)
        wanted = {"Both": expected, "Sequence": expected[:1], "Single": expected[1:]}[options.name]
        for one, other in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
