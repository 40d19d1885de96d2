"""Poolings beside ONNX Runtime: one to three spatial axes, indices, rounded sizes, quantized and global ones."""

from __future__ import annotations

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

from single import MICROSOFT, Single, bytes_, floats, longs, must_be_refused, must_pass, outcome_of, scale, zero

AGAIN = {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}


@each_of(
    "single, operator",
    [
        (Single("GlobalAveragePool", [floats(2, 3, 7)], {}), "AVERAGE_POOLING"),
        (Single("GlobalMaxPool", [floats(2, 3, 4, 5, 6)], {}), "MAX_POOLING"),
        (Single("GlobalLpPool", [floats(2, 3, 4, 5)], {"p": 3}), "LP_POOLING"),
        (Single("LpPool", [floats(2, 3, 9)], {"kernel_shape": [3], "p": 1, "strides": [2]}), "LP_POOLING"),
        (
            Single("AveragePool", [floats(2, 3, 9, 9)], {**AGAIN, "dilations": [2, 1]}, opset=19),
            "AVERAGE_POOLING1",
        ),
        (Single("AveragePool", [floats(2, 3, 8)], {"kernel_shape": [3], "count_include_pad": 1}), "AVERAGE_POOLING"),
        (
            Single("MaxPool", [floats(2, 3, 9)], {"kernel_shape": [3], "strides": [2]}, outputs=2),
            "MAX_POOLING2",
        ),
        (Single("MaxPool", [bytes_(2, 3, 9, 9)], AGAIN, opset=12), "MAX_POOLING"),
        (
            Single(
                "MaxRoiPool",
                [floats(2, 3, 9, 9), np.array([[0, 1, 1, 5, 6], [1, 0, 2, 7, 7]], np.float32)],
                {"pooled_shape": [2, 3]},
            ),
            "ROI_POOLING",
        ),
        (
            Single(
                "RoiAlign",
                [floats(2, 3, 9, 9), np.abs(floats(4, 4)) * 3, longs(0, 1, 1, 0)],
                {"output_height": 3, "output_width": 2, "sampling_ratio": 2},
            ),
            "ROI_ALIGN1",
        ),
        (
            Single(
                "MaxUnpool",
                [floats(1, 1, 2, 2), longs(5, 7, 13, 15).reshape(1, 1, 2, 2), longs(1, 1, 5, 5)],
                {"kernel_shape": [2, 2], "strides": [2, 2]},
            ),
            "MAX_UNPOOLING",
        ),
    ],
)
def test_poolings(single: Single, operator: str) -> None:
    must_pass(single, operator)


QUANTIZED = [scale(0.25), zero(3), scale(0.7071), zero(7)]
"""Scales with which no mean of 1, 2, 4 or 16 elements lies halfway between two integers."""


@each_of(
    "single",
    [
        Single(
            "QLinearAveragePool",
            [bytes_(2, 3, 5, 6), *QUANTIZED],
            {"kernel_shape": [2, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]},
            MICROSOFT,
        ),
        Single(
            "QLinearAveragePool",
            [bytes_(2, 5, 6, 3), *QUANTIZED],
            {"kernel_shape": [2, 2], "channels_last": 1, "count_include_pad": 1, "pads": [1, 1, 1, 1]},
            MICROSOFT,
        ),
        Single(
            "QLinearAveragePool",
            [bytes_(2, 3, 6), *QUANTIZED],
            {"kernel_shape": [2], "ceil_mode": 1, "strides": [3]},
            MICROSOFT,
        ),
        Single("QLinearGlobalAveragePool", [bytes_(2, 3, 4, 4), *QUANTIZED], {}, MICROSOFT),
        Single("QLinearGlobalAveragePool", [bytes_(2, 2, 8, 3), *QUANTIZED], {"channels_last": 1}, MICROSOFT),
    ],
)
def test_quantized_poolings(single: Single) -> None:
    must_pass(single, "QUANTIZED_LINEAR_AVERAGE_POOLING")


def test_refused_poolings() -> None:
    window = {"kernel_shape": [2, 2]}
    x = floats(1, 1, 3, 3)
    for single, identifier in (
        (Single("MaxPool", [x], {**window, "storage_order": 1}, outputs=2), "DML-ONNX-unsupported"),
        (Single("AveragePool", [x], {"kernel_shape": [2]}), "DML-ONNX-attribute-value"),
        (Single("AveragePool", [floats(3)], {"kernel_shape": [1]}), "DML-ONNX-rank"),
        (Single("RoiAlign", [x, floats(1, 4), longs(0)], {"mode": "min"}), "DML-ONNX-attribute-value"),
        (Single("MaxRoiPool", [x, floats(1, 5)], {"pooled_shape": [2]}), "DML-ONNX-attribute-value"),
        (Single("GlobalLpPool", [x], {"p": 1.5}, opset=1), "DML-ONNX-unsupported"),
    ):
        must_be_refused(single, identifier)


def test_a_window_beyond_the_input_is_refused_by_the_rule_of_the_operator() -> None:
    found = outcome_of(Single("MaxPool", [floats(1, 1, 3, 3)], {"kernel_shape": [5, 5]}, expected=[floats(1)]))
    assert (found.verdict, found.why) == (
        "violations",
        "DML-MAX_POOLING-window_size-fits DML-MAX_POOLING-window_size-fits",
    )
