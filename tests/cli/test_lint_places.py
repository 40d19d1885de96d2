"""``dmlcy lint``: where a finding points, in tensors, descs and every member that a violation names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linting import model, of, pool, tensor

import dmlcy as dml

PLACES: list[tuple[dict[str, Any], str, str]] = [
    ({"DataType": "FLOAT3"}, "dtype", "DataType"),
    ({"DataType": "INT8"}, "dtype", "DataType"),
    ({"DataType": None}, "required", "DataType"),
    ({"Flags": "OWNED_BY_GPU"}, "member", "Flags"),
    ({"Flags": ["NONE", "NONE"]}, "type", "Flags"),
    ({"DimensionCount": 3}, "length", "DimensionCount"),
    ({"DimensionCount": 4.0}, "type", "DimensionCount"),
    ({"Sizes": [1, 1, 0, 7]}, "range", "Sizes[2]"),
    ({"Sizes": [1, 1, -6, 7]}, "range", "Sizes[2]"),
    ({"Sizes": [1, 1, 2**32, 7]}, "range", "Sizes[2]"),
    ({"Sizes": [1, 1, 6, 7.5]}, "type", "Sizes[3]"),
    ({"Sizes": [1, 1, "6", 7]}, "type", "Sizes[2]"),
    ({"Sizes": 4}, "type", "Sizes"),
    ({"Sizes": [6, 7], "Strides": [7, 1], "DimensionCount": 2}, "rank", "Sizes"),
    ({"Sizes": [2**31, 1, 6, 7], "Strides": None}, "elements", "Sizes"),
    ({"Sizes": None}, "required", "Sizes"),
    ({"Strides": [7, 1]}, "strides", "Strides"),
    ({"Strides": [42, 42, -7, 1]}, "strides", "Strides[2]"),
    ({"Strides": [42, 42, 7.0, 1]}, "type", "Strides[2]"),
    ({"Strides": "x"}, "type", "Strides"),
    ({"TotalTensorSizeInBytes": 160}, "total-size", "TotalTensorSizeInBytes"),
    ({"TotalTensorSizeInBytes": -1}, "range", "TotalTensorSizeInBytes"),
    ({"TotalTensorSizeInBytes": "x"}, "type", "TotalTensorSizeInBytes"),
    ({"GuaranteedBaseOffsetAlignment": 3}, "alignment", "GuaranteedBaseOffsetAlignment"),
    ({"GuaranteedBaseOffsetAlignment": 0.5}, "type", "GuaranteedBaseOffsetAlignment"),
]


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(("change", "slug", "place"), PLACES)
def test_places_in_a_tensor(change: dict[str, Any], slug: str, place: str, long: bool, tmp_path: Path) -> None:
    desc = tensor(**change)
    found = of(tmp_path, model(p=pool(InputTensor={"Type": "BUFFER", "Desc": desc} if long else desc)))
    path = f"$.dispatchables.p.desc.InputTensor{'.Desc' if long else ''}.{place}"
    assert (f"DML-AVERAGE_POOLING-input-{slug}", path) in [(one["id"], one["path"]) for one in found]


@pytest.mark.parametrize(
    ("change", "slug", "path"),
    [
        ({"InputTensor": {"Type": "x", "Desc": tensor()}}, "input-member", "InputTensor.Type"),
        ({"InputTensor": {"Type": "x", **tensor()}}, "input-member", "InputTensor.Type"),
        ({"InputTensor": {"Desc": 1, **tensor()}}, "input-unknown", "InputTensor.Desc"),
        ({"InputTensor": {"DataType": "FLOAT32"}}, "input-required", "InputTensor"),
        ({"InputTensor": {"Sizes": [1, 1, 6, 7]}}, "input-required", "InputTensor"),
        ({"InputTensor": [1, 1, 6, 7]}, "input-type", "InputTensor"),
        ({"InputTensor": None}, "input-required", ""),
        (
            {"OutputTensor": {"DataType": "FLOAT16", "Sizes": [1, 1, 4, 5]}},
            "output-same-dtype",
            "OutputTensor.DataType",
        ),
        ({"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6]}}, "output-sizes", "OutputTensor.Sizes[3]"),
        (
            {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 5], "Strides": [0, 0, 0, 0]}},
            "output-overlap",
            "OutputTensor.Strides",
        ),
        ({"DimensionCount": 4}, "dimension_count-length", "DimensionCount"),
        ({"Strides": [1, 0]}, "strides-range", "Strides[1]"),
        ({"Strides": [1, 1, 1]}, "strides-length", "Strides"),
        ({"WindowSize": [3, 8]}, "window_size-fits", "WindowSize[1]"),
        ({"WindowSize": 3}, "window_size-type", "WindowSize"),
        ({"StartPadding": [0, 2**32]}, "start_padding-range", "StartPadding[1]"),
        ({"StartPadding": [0, "1"]}, "start_padding-type", "StartPadding[1]"),
        ({"IncludePadding": 1}, "include_padding-type", "IncludePadding"),
        ({"EndPadding": None}, "end_padding-required", ""),
    ],
)
def test_places_in_a_desc(change: dict[str, Any], slug: str, path: str, tmp_path: Path) -> None:
    found = of(tmp_path, model(p=pool(**change)))
    whole = "$.dispatchables.p.desc" + (f".{path}" if path else "")
    assert (f"DML-AVERAGE_POOLING-{slug}", whole) in [(one["id"], one["path"]) for one in found]


def test_the_long_form_of_a_scalar(tmp_path: Path) -> None:
    desc = {
        "InputTensor": {"DataType": "INT32", "Sizes": [4]},
        "OutputTensor": {"DataType": "INT32", "Sizes": [6]},
        "PaddingMode": "CONSTANT",
        "PaddingValueDataType": "INT32",
        "PaddingValue": {"Int32": 7},
        "DimensionCount": 1,
        "StartPadding": [1],
        "EndPadding": [1],
    }
    assert not of(tmp_path, model(p={"type": "PADDING1", "desc": desc}))
    for value, slug, path in (
        ({"Float32": 7.0}, "type", "PaddingValue.Float32"),
        ({"Int32": 7, "Int64": 7}, "type", "PaddingValue.Int64"),
        ({"Int32": 7.5}, "value", "PaddingValue.Int32"),
        ({}, "type", "PaddingValue"),
    ):
        (found,) = of(tmp_path, model(p={"type": "PADDING1", "desc": {**desc, "PaddingValue": value}}))
        assert (found["id"], found["path"]) == (
            f"DML-PADDING1-padding_value-{slug}",
            f"$.dispatchables.p.desc.{path}",
        )


def test_places_of_other_operators(tmp_path: Path) -> None:
    roi = {
        "type": "ROI_POOLING",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]},
            "ROITensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
            "SpatialScale": 1,
            "PooledSize": {"Width": 2, "Height": -2},
        },
    }
    assert [one["path"] for one in of(tmp_path, model(p=roi))] == ["$.dispatchables.p.desc.PooledSize.Height"]
    unfold = {
        "type": "UNFOLD",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 3]},
            "DimensionCount": 1,
            "WindowSizes": [2],
            "Strides": [1],
            "Dilations": [1],
            "StartPadding": [0],
            "EndPadding": [0],
        },
    }
    found = of(tmp_path, model(p=unfold))
    assert [(one["id"], one["path"], one["member"]) for one in found] == [
        ("DML-UNFOLD-output-dimensions", "$.dispatchables.p.desc.OutputTensor.Sizes", "sizes")
    ]
    found = of(tmp_path, model(p=unfold), "--feature-level", "5_0")
    assert found[0]["path"] == "$.dispatchables.p.type"


def test_members_of_violations() -> None:
    rank = {slug: member for slug, member in (("rank", "sizes"), ("dtype", "dtype"))}
    desc = dml.desc.AveragePooling(input=dml.TensorDesc("INT8", (6, 7)), window_size=(3, 3))
    found = {one.id.rpartition("-")[2]: one.member for one in dml.check(desc) if one.field == "input"}
    assert found == rank
    wrap = dml.desc.Padding1(
        input=dml.TensorDesc("FLOAT32", (4,)), start_padding=(1,), end_padding=(1,), padding_mode="WRAP"
    )
    assert [(one.field, one.member) for one in dml.check(wrap, "5_0")] == [("padding_mode", None)]
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.roi_pooling(
            np.ones((1, 1, 8, 8), np.float32), np.ones((1, 5), np.float32), spatial_scale=1, pooled_size=(2, 0)
        )
    assert [one.member for one in caught.value.violations if one.field == "pooled_size"] == ["width"]
