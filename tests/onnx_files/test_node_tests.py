"""The nodes that ONNX tests, as DirectML graphs, give the values that ONNX expects."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx, whose node tests these are")

from node_tests import Case, Outcome, cases, cases_of, judge

PASSED = {
    "activations": 63,
    "convolution": 20,
    "elementwise": 163,
    "generators": 30,
    "indexing": 18,
    "layout": 92,
    "logic": 90,
    "normalization": 32,
    "pooling": 52,
    "products": 25,
    "quantization": 13,
    "recurrent": 15,
    "reductions": 113,
    "resampling": 21,
}
"""How many tests pass at least, by the file of specs/onnx."""
REGIONS = "ONNX Runtime reads at least one element of an axis"
DIFFERENCES = {
    "clip_min_greater_than_max": "where Min is above Max, ONNX gives Max and DirectML Min",
    "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True": "what is beyond the padding counts",
    "maxunpool_export_with_output_shape": "the indices count the elements of the output",
    "resize_downsample_scales_linear_align_corners": "ONNX Runtime divides by whole sizes",
    "resize_downsample_scales_linear_antialias": "RESAMPLE3 widens the filter of scales of less than a half only",
    "resize_downsample_sizes_linear_antialias": "RESAMPLE3 widens the filter of scales of less than a half only",
    "resize_downsample_sizes_linear_pytorch_half_pixel": "ONNX Runtime asks for the size of the input, not the output",
    "resize_tf_crop_and_resize": REGIONS,
    "resize_tf_crop_and_resize_axes_2_3": REGIONS,
    "resize_tf_crop_and_resize_axes_3_2": REGIONS,
    "roialign_mode_max": "the maximum is that of the samples, not of elements times their weights",
}
"""Tests that fail on DirectML, with the descs that ONNX Runtime makes."""


@cache
def outcomes_of(group: str) -> list[tuple[Case, Outcome]]:
    return [(case, judge(case)) for case in cases_of(group)]


@pytest.mark.parametrize("group", PASSED)
def test_conversions_give_the_expected_values(group: str) -> None:
    failed = {case.name: one.why for case, one in outcomes_of(group) if one.verdict == "failed"}
    assert not failed.keys() - DIFFERENCES.keys(), failed
    assert sum(one.verdict == "passed" for _, one in outcomes_of(group)) >= PASSED[group]


@pytest.mark.parametrize("group", PASSED)
def test_rules_refuse_only_data_types_and_ranks(group: str) -> None:
    found = {name for _, one in outcomes_of(group) if one.verdict == "violations" for name in one.why.split()}
    assert all(one.endswith(("-dtype", "-rank")) for one in found), found


@pytest.mark.parametrize("group", PASSED)
def test_an_operator_that_has_a_conversion_is_converted(group: str) -> None:
    """Except where DirectML does not have a data type."""
    found = [case for case, one in outcomes_of(group) if one.verdict == "unconverted" and case.has_types]
    assert not [case.name for case in found if case.row is not None and case.row.conversion]


def test_wrong_results_fail() -> None:
    right = next(case for case in cases() if case.name == "neg_example")
    (y,) = right.expected
    for wrong in (-y, y[:1], y.astype(np.float64), np.full_like(y, np.nan)):
        assert judge(replace(right, expected=(wrong,))).verdict == "failed"
    assert judge(replace(right, expected=(y, y))).verdict == "failed"
    assert judge(right).verdict == "passed"
