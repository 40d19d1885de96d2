"""Convolutions beside ONNX Runtime: one, two and three spatial axes, paddings, groups, fused activations."""

from __future__ import annotations

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

from single import DML, MICROSOFT, Single, bytes_, floats, ints, longs, must_be_refused, must_pass, scale, signed, zero

CONVOLUTIONS = [
    Single(
        "Conv", [floats(2, 4, 9), floats(6, 2, 3), floats(6)], {"group": 2, "auto_pad": "SAME_LOWER", "strides": [2]}
    ),
    Single("Conv", [floats(2, 2, 5, 6, 7), floats(3, 2, 3, 2, 3), floats(3)], {"dilations": [2, 1, 2]}),
    Single("Conv", [floats(1, 2, 5, 6), floats(3, 2, 3, 3)], {"auto_pad": "VALID", "dilations": [1, 2]}),
    Single(
        "ConvTranspose",
        [floats(2, 4, 5, 6), floats(4, 3, 3, 3), floats(6)],
        {"group": 2, "strides": [3, 2], "output_padding": [1, 1], "pads": [1, 0, 2, 1]},
    ),
    Single("ConvTranspose", [floats(2, 4, 5), floats(4, 3, 3)], {"strides": [3], "auto_pad": "SAME_UPPER"}),
    Single("ConvTranspose", [floats(2, 4, 5, 5), floats(4, 3, 3, 3)], {"strides": [2, 2], "output_shape": [10, 11]}),
    Single("ConvTranspose", [floats(2, 4, 5, 5), floats(4, 3, 3, 3)], {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    Single(
        "ConvTransposeWithDynamicPads",
        [floats(2, 4, 5, 5), floats(4, 3, 3, 3), longs(1, 0, 1, 1), floats(3)],
        {"strides": [2, 2]},
        MICROSOFT,
    ),
]


@each_of("single", CONVOLUTIONS)
def test_convolutions(single: Single) -> None:
    must_pass(single, "CONVOLUTION")


def quantized(*more: object, **attributes: object) -> Single:
    return Single("QLinearConv", more, attributes, opset=10)


@each_of(
    "single",
    [
        quantized(
            bytes_(2, 4, 6, 6), scale(0.1), zero(3), signed(6, 2, 3, 3), floats(6) ** 2, np.zeros(6, np.int8),
            scale(0.9), zero(9), ints(1, -99, 7, 900, 5, 6), group=2, pads=[1, 1, 1, 1],
        ),
        quantized(
            bytes_(2, 4, 6), scale(0.1), zero(3), bytes_(6, 4, 3), scale(0.2), zero(5), scale(9), zero(9),
            auto_pad="SAME_UPPER", strides=[2],
        ),
    ],
)  # fmt: skip
def test_quantized_convolutions(single: Single) -> None:
    must_pass(single, "QUANTIZED_LINEAR_CONVOLUTION")


def test_a_convolution_of_integers_along_one_axis() -> None:
    must_pass(
        Single("ConvInteger", [bytes_(2, 4, 6), bytes_(6, 4, 3), zero(3)], {"pads": [1, 0]}, opset=10),
        "CONVOLUTION_INTEGER",
    )


def test_channels_last() -> None:
    x, weights, bias = floats(2, 5, 6, 4), floats(6, 3, 2, 4), floats(6)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0))), (3, 2), (1, 2))
    expected = np.einsum("nhwcij,mijc->nhwm", windows, weights) + bias
    single = Single("NhwcConv", [x, weights, bias], {"pads": [1, 0, 0, 1]}, MICROSOFT, expected=[expected])
    must_pass(single, "CONVOLUTION")


def test_fused_activations() -> None:
    x, weights = floats(1, 2, 3, 3), floats(2, 2, 1, 1)
    product = np.einsum("nchw,mcij->nmhw", x, weights)
    attributes = {"fused_activation_domain": "", "fused_activation_since_version": 6}
    for name, number, expected in (
        ("Elu", {"fused_alpha": 0.5}, np.where(product < 0, 0.5 * np.expm1(product), product)),
        ("LeakyRelu", {}, np.where(product < 0, np.float32(0.01) * product, product)),
        ("Dropout", {}, product),
    ):
        given = {"fused_activation": name, **number, **attributes}
        expected = expected.astype(np.float32)
        must_pass(Single("DmlFusedConv", [x, weights], given, DML, expected=[expected]), "CONVOLUTION")
    must_be_refused(
        Single("DmlFusedConv", [x, weights], {"fused_activation": "Softmax", **attributes}, DML),
        "DML-ONNX-unsupported",
    )


@each_of(
    "attributes, identifier",
    [
        ({"strides": [1]}, "DML-ONNX-attribute-value"),
        ({"auto_pad": "SAME"}, "DML-ONNX-attribute-value"),
        ({"pads": [1, 1]}, "DML-ONNX-attribute-value"),
        ({"kernel_shape": [3]}, "DML-ONNX-attribute-value"),
    ],
)
def test_wrong_attributes(attributes: dict[str, object], identifier: str) -> None:
    must_be_refused(Single("Conv", [floats(1, 2, 5, 6), floats(3, 2, 3, 3)], attributes), identifier)


def test_wrong_axes() -> None:
    must_be_refused(Single("Conv", [floats(2, 5), floats(3, 2)], {}), "DML-ONNX-rank")
    must_be_refused(Single("Conv", [floats(1, 2, 5, 6), floats(3, 2, 3)], {}), "DML-ONNX-rank")
