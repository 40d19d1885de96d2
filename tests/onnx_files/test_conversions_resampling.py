"""Resize and Upsample beside ONNX Runtime: modes of coordinates, ways to the nearest element, axes, policies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

from single import Single, floats, longs, must_be_refused, must_pass

MODES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
WAYS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
SCALES = np.array([1, 1, 1.7, 0.6], np.float32)


def resize(
    scales: Any = None, sizes: Any = None, x: Any = None, opset: int = 19, roi: Any = None, **attributes: Any
) -> Single:
    x = floats(1, 2, 5, 7) if x is None else x
    inputs = [x, roi, scales, sizes]
    return Single("Resize", inputs if sizes is not None else inputs[:3], attributes, opset=opset)


@each_of("mode", MODES)
def test_linear(mode: str) -> None:
    must_pass(resize(SCALES, mode="linear", coordinate_transformation_mode=mode), "RESAMPLE3")


@each_of("mode, way", [(mode, way) for mode in (*MODES, "tf_half_pixel_for_nn") for way in WAYS])
def test_nearest(mode: str, way: str) -> None:
    """No place lies halfway between two elements: what is chosen there hangs on the last bit of a scale."""
    sizes = longs(1, 1, 7, 3) if mode == "asymmetric" else longs(1, 1, 8, 4)
    single = resize(sizes=sizes, x=floats(1, 1, 5, 7), coordinate_transformation_mode=mode, nearest_mode=way, opset=13)
    must_pass(single, "RESAMPLE3")


@each_of(
    "single",
    [
        resize(sizes=longs(9, 3), axes=[2, 3], keep_aspect_ratio_policy="not_larger"),
        resize(sizes=longs(9, 3), axes=[3, 2], keep_aspect_ratio_policy="not_smaller", mode="linear"),
        resize(np.array([2, 3], np.float32), x=floats(4, 5), mode="linear"),
        resize(np.array([1, 1, 1, 2, 2, 1], np.float32), x=floats(1, 1, 2, 3, 4, 5), opset=13),
        resize(sizes=longs(1, 2, 5, 1), coordinate_transformation_mode="align_corners", mode="linear"),
        resize(
            sizes=longs(1, 2, 4, 3),
            roi=np.array([0, 0, 0, 0.2, 1, 1, 1, 0.9], np.float32),
            coordinate_transformation_mode="tf_crop_and_resize",
            mode="linear",
        ),
        Single("Upsample", [floats(1, 2, 3, 4), np.array([1, 1, 2, 3], np.float32)], {}, opset=9),
        Single("Upsample", [floats(1, 2, 3, 4)], {"scales": [1.0, 1.0, 2.0, 3.0]}, opset=7),
    ],
)
def test_sizes_and_axes(single: Single) -> None:
    must_pass(single, "RESAMPLE3")


@each_of(
    "single, identifier",
    [
        (resize(SCALES, mode="cubic"), "DML-ONNX-unsupported"),
        (resize(SCALES, exclude_outside=1), "DML-ONNX-unsupported"),
        (resize(SCALES, extrapolation_value=1.0), "DML-ONNX-unsupported"),
        (resize(SCALES, mode="area"), "DML-ONNX-attribute-value"),
        (resize(SCALES, nearest_mode="round"), "DML-ONNX-attribute-value"),
        (resize(SCALES[:3]), "DML-ONNX-attribute-value"),
        (resize(-SCALES), "DML-ONNX-attribute-value"),
        (resize(SCALES * 0.01), "DML-ONNX-empty"),
        (resize(SCALES, axes=[0, 1, 2, 4]), "DML-ONNX-axis"),
        (resize(), "DML-ONNX-node-input"),
        (resize(SCALES, coordinate_transformation_mode="tf_crop_and_resize"), "DML-ONNX-node-input"),
    ],
)
def test_refused(single: Single, identifier: str) -> None:
    must_be_refused(single, identifier)
