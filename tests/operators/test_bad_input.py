"""Refusals, by hand: calls and descs with one mistake, and the messages about several mistakes."""

from __future__ import annotations

import enum
import math
import time
from typing import Any

import numpy as np
import pytest
from each import each_of
from numpy.lib.stride_tricks import as_strided
from uses import (
    NEWEST,
    NUMPY,
    RUNNABLE,
    UINT_MAX,
    Array,
    memory,
)

import dmlcy as dml

# By hand

X = np.arange(1, 65, dtype=np.float32).reshape(1, 4, 4, 4)
ROI = np.array([[[[0, 0, 0, 3, 3], [0, 1, 1, 2, 3]]]], np.float32)
GOOD: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "average_pooling": ({"input": X, "window_size": 2}, (1, 4, 3, 3)),
    "max_pooling": ({"input": X, "window_size": 2}, (1, 4, 3, 3)),
    "max_pooling1": ({"input": X, "window_size": 2}, (1, 4, 3, 3)),
    "max_pooling2": ({"input": X, "window_size": 2, "dilations": 2}, (1, 4, 2, 2)),
    "lp_pooling": ({"input": X, "window_size": 2, "p": 2}, (1, 4, 3, 3)),
    "lp_pooling1": ({"input": X, "window_size": 2, "dilations": 2, "p": 1}, (1, 4, 2, 2)),
    "roi_pooling": ({"input": X, "roi": ROI, "spatial_scale": 1.0, "pooled_size": 2}, (2, 4, 2, 2)),
    "depth_to_space1": ({"input": X, "block_size": 2}, (1, 1, 8, 8)),
    "padding1": ({"input": X, "start_padding": 0, "end_padding": (0, 0, 0, 1)}, (1, 4, 4, 5)),
    "unfold": ({"input": X, "window_sizes": 2}, (1, 16, 9)),
    "fold": ({"input": X.reshape(1, 4, 16), "output_sizes": (5, 5), "window_sizes": 2}, (1, 1, 5, 5)),
}
STRUCTURED = np.zeros(X.shape, [("a", "<f4")])
HUGE = as_strided(X, (1, 4, 65536, 65536), (0, 0, 0, 0))
LONG = as_strided(X, (2**33, 4, 4, 4), (0, 0, 0, 0))
SHARED = np.ones(300, np.float32)


def roi(index: int, value: float) -> Array:
    changed = ROI.copy()
    changed[0, 0, 1, index] = value
    return changed


BAD: list[tuple[str, dict[str, Any], str, type[dml.DmlError], str]] = [
    # data types
    ("average_pooling", {"input": X.astype(np.float64)}, "input-dtype", dml.InvalidDataTypeError, NEWEST),
    ("average_pooling", {"input": X.astype(np.int32)}, "input-dtype", dml.InvalidDataTypeError, NEWEST),
    ("max_pooling", {"input": X.astype(np.float64)}, "input-dtype", dml.InvalidDataTypeError, NEWEST),
    ("max_pooling", {"input": X.astype(np.int32)}, "input-level", dml.FeatureLevelError, "4_1"),
    ("max_pooling", {"input": X.astype(np.int8)}, "input-level", dml.FeatureLevelError, "2_1"),
    ("max_pooling1", {}, "operator-level", dml.FeatureLevelError, "1_0"),
    ("roi_pooling", {"input": X.astype(np.uint8)}, "input-dtype", dml.InvalidDataTypeError, NEWEST),
    ("roi_pooling", {"roi": ROI.astype(np.float16)}, "roi-same-dtype", dml.InvalidDataTypeError, NEWEST),
    ("depth_to_space1", {"input": X.astype(np.float64)}, "input-level", dml.FeatureLevelError, "4_1"),
    ("depth_to_space1", {"out": np.ones((1, 1, 8, 8), np.int8)}, "output-same-dtype", dml.InvalidDataTypeError, NEWEST),
    *(
        (name, {"input": X.astype(dtype)}, "input-dtype", dml.InvalidDataTypeError, NEWEST)
        for name in GOOD
        for dtype in (object, complex, np.longdouble, "S4", "U4")
    ),
    *((name, {"input": X.astype(">f4")}, "input-byteorder", dml.InvalidDataTypeError, NEWEST) for name in GOOD),
    *((name, {"input": STRUCTURED}, "input-dtype", dml.InvalidDataTypeError, NEWEST) for name in GOOD),
    *((name, {"out": np.ones(shape, ">f4")}, "output-byteorder", dml.InvalidDataTypeError, NEWEST)
      for name, (_, shape) in GOOD.items()),
    # ranks
    ("average_pooling", {"input": X[0]}, "input-rank", dml.InvalidDescError, NEWEST),
    ("average_pooling", {"input": X[None, None]}, "input-rank", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"input": X[0]}, "input-rank", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"roi": ROI[None]}, "roi-rank", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"roi": ROI[..., :4]}, "roi-sizes", dml.InvalidDescError, NEWEST),
    ("depth_to_space1", {"input": X[..., None]}, "input-rank", dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.reshape((1,) * 6 + (4, 4, 4))}, "input-rank", dml.InvalidDescError, NEWEST),
    ("unfold", {"input": X[0, 0]}, "input-rank", dml.InvalidDescError, NEWEST),
    # lengths, ranges
    ("average_pooling", {"window_size": (2, 2, 2)}, "window_size-length", dml.InvalidDescError, NEWEST),
    ("average_pooling", {"strides": (1,)}, "strides-length", dml.InvalidDescError, NEWEST),
    ("padding1", {"start_padding": (1, 1)}, "start_padding-length", dml.InvalidDescError, NEWEST),
    ("unfold", {"dilations": ()}, "dilations-length", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"pooled_size": (2, 2, 2)}, "pooled_size-type", dml.InvalidDataTypeError, NEWEST),
    ("average_pooling", {"strides": 0}, "strides-range", dml.InvalidDescError, NEWEST),
    ("average_pooling", {"window_size": (2, 0)}, "window_size-range", dml.InvalidDescError, NEWEST),
    ("average_pooling", {"start_padding": -1}, "start_padding-range", dml.InvalidDescError, NEWEST),
    ("depth_to_space1", {"block_size": 0}, "block_size-range", dml.InvalidDescError, NEWEST),
    ("lp_pooling", {"p": 0}, "p-range", dml.InvalidDescError, NEWEST),
    ("unfold", {"window_sizes": 0}, "window_sizes-range", dml.InvalidDescError, NEWEST),
    ("unfold", {"strides": (0, 1)}, "strides-range", dml.InvalidDescError, NEWEST),
    ("unfold", {"dilations": 0}, "dilations-range", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"pooled_size": (0, 1)}, "pooled_size-range", dml.InvalidDescError, NEWEST),
    ("padding1", {"end_padding": 2**32}, "end_padding-range", dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X[:, :0]}, "input-range", dml.InvalidDescError, NEWEST),
    # rules
    ("average_pooling", {"window_size": 5}, "window_size-fits", dml.InvalidDescError, NEWEST),
    ("average_pooling", {"window_size": (7, 4), "start_padding": 1, "end_padding": 1}, "window_size-fits",
     dml.InvalidDescError, NEWEST),
    ("unfold", {"window_sizes": 3, "dilations": 2}, "window_sizes-fits", dml.InvalidDescError, NEWEST),
    ("depth_to_space1", {"block_size": 3}, "block_size-divides", dml.InvalidDescError, NEWEST),
    ("depth_to_space1", {"block_size": UINT_MAX}, "block_size-divides", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"spatial_scale": 0.0}, "spatial_scale-positive", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"spatial_scale": 1e-46}, "spatial_scale-positive", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"spatial_scale": math.nan}, "spatial_scale-finite", dml.InvalidDescError, NEWEST),
    # output
    *((name, {"out": np.ones((*shape[:-1], shape[-1] + 1), np.float32)}, "output-sizes", dml.InvalidDescError, NEWEST)
      for name, (_, shape) in GOOD.items()),
    ("unfold", {"out": np.ones((1, 1, 16, 9), np.float32)}, "output-sizes", dml.InvalidDescError, NEWEST),
    # levels
    ("depth_to_space1", {}, "operator-level", dml.FeatureLevelError, "2_0"),
    ("padding1", {}, "operator-level", dml.FeatureLevelError, "4_1"),
    ("unfold", {}, "operator-level", dml.FeatureLevelError, "6_3"),
    ("padding1", {"padding_mode": "WRAP"}, "padding_mode-level", dml.FeatureLevelError, "6_3"),
    ("padding1", {"padding_mode": "REFLECT"}, "padding_mode-member", dml.InvalidDescError, NEWEST),
    ("depth_to_space1", {"order": dml.PaddingMode.EDGE}, "order-type", dml.InvalidDataTypeError, NEWEST),
    # padding values
    ("padding1", {"padding_value": 1e39}, "padding_value-value", dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.astype(np.float16), "padding_value": 65520}, "padding_value-value",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.astype(np.uint8), "padding_value": 256}, "padding_value-value",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.astype(np.int8), "padding_value": -129}, "padding_value-value",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.astype(np.uint64), "padding_value": -1}, "padding_value-value",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.astype(np.int64), "padding_value": 2**63}, "padding_value-value",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"input": X.astype(np.int64), "padding_value": 9.0}, "padding_value-value",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"padding_value": True}, "padding_value-type", dml.InvalidDataTypeError, NEWEST),
    # sizes that overflow
    *((name, {"input": HUGE}, "input-elements", dml.InvalidDescError, NEWEST) for name in GOOD),
    ("padding1", {"input": LONG}, "input-range", dml.InvalidDescError, NEWEST),
    ("padding1", {"start_padding": UINT_MAX, "end_padding": UINT_MAX, "out": None}, "output-range",
     dml.InvalidDescError, NEWEST),
    ("padding1", {"start_padding": 2**16, "out": None}, "output-elements", dml.InvalidDescError, NEWEST),
    ("padding1", {"start_padding": 2**16}, "output-sizes", dml.InvalidDescError, NEWEST),
    ("unfold", {"window_sizes": 2**31, "end_padding": 2**31, "out": None}, "output-range",
     dml.InvalidDescError, NEWEST),
    ("unfold", {"input": X.reshape((1, 1, 2, 2, 2, 2, 2, 2)), "window_sizes": UINT_MAX, "end_padding": UINT_MAX,
                "out": None}, "output-range", dml.InvalidDescError, NEWEST),
    ("roi_pooling", {"pooled_size": 2**31 - 1, "out": None}, "output-elements", dml.InvalidDescError, NEWEST),
    # values
    ("roi_pooling", {"roi": roi(0, 1)}, "roi-batch", dml.InvalidDataError, NEWEST),
    ("roi_pooling", {"roi": roi(0, -1)}, "roi-batch", dml.InvalidDataError, NEWEST),
    ("roi_pooling", {"roi": roi(0, 0.5)}, "roi-batch", dml.InvalidDataError, NEWEST),
    ("roi_pooling", {"roi": roi(0, 1e30)}, "roi-batch", dml.InvalidDataError, NEWEST),
    *(("roi_pooling", {"roi": roi(index, value)}, "roi-finite", dml.InvalidDataError, NEWEST)
      for index in range(5) for value in (math.nan, math.inf, -math.inf)),
    ("roi_pooling", {"roi": roi(3, 0.5)}, "roi-ordered", dml.InvalidDataError, NEWEST),
    ("roi_pooling", {"roi": roi(2, 3.5)}, "roi-ordered", dml.InvalidDataError, NEWEST),
    ("roi_pooling", {"roi": roi(2, 3.5)[0, 0]}, "roi-ordered", dml.InvalidDataError, NEWEST),
    # no arrays
    *((name, {"input": X.tolist()}, "input-type", dml.InvalidDataTypeError, NEWEST) for name in GOOD),
    *((name, {"input": np.ma.masked_array(X)}, "input-type", dml.InvalidDataTypeError, NEWEST) for name in GOOD),
    *((name, {"out": [[1.0]]}, "output-type", dml.InvalidDataTypeError, NEWEST) for name in GOOD),
    # memory
    *((name, {"out": np.broadcast_to(np.float32(1), shape)}, "output-readonly", dml.InvalidDescError, NEWEST)
      for name, (_, shape) in GOOD.items()),
    *((name, {"out": as_strided(np.ones(1, np.float32), shape, (0,) * len(shape))}, "output-overlap",
       dml.InvalidDescError, NEWEST) for name, (_, shape) in GOOD.items()),
    *((name, {"input": SHARED[:64].reshape(good["input"].shape),
              "out": SHARED[63 : 63 + math.prod(shape)].reshape(shape)}, "output-overlap", dml.InvalidDescError, NEWEST)
      for name, (good, shape) in GOOD.items()),
]  # fmt: skip


@each_of("name, changes, slug, error, level", BAD)
def test_a_bad_call(name: str, changes: dict[str, Any], slug: str, error: type[dml.DmlError], level: Any) -> None:
    good, shape = GOOD[name]
    arguments: dict[str, Any] = good | {"out": np.full(shape, 77, np.float32)} | changes
    dtype = getattr(arguments["input"], "dtype", None)
    if "out" not in changes and dtype in NUMPY.values():
        arguments["out"] = arguments["out"].astype(dtype)
    out, before = arguments["out"], memory(arguments["out"])
    with dml.feature_level(level), pytest.raises(dml.DmlError) as raised:
        getattr(dml, name)(**arguments)
    assert raised.value.id == f"DML-{name.upper()}-{slug}", raised.value
    assert type(raised.value) is error
    assert memory(out) == before


DESCS = [row for row in BAD if "out" not in row[1] and row[2] != "output-sizes" and row[3] is not dml.InvalidDataError]


@each_of("name, changes, slug, error, level", DESCS)
def test_a_bad_desc(name: str, changes: dict[str, Any], slug: str, error: type[dml.DmlError], level: Any) -> None:
    values: dict[str, Any] = GOOD[name][0] | changes
    operator = RUNNABLE[name.upper()]
    tensors = {key: dml.TensorDesc(value.dtype, value.shape) for key, value in values.items() if type(value) is type(X)}
    for field in operator.chosen:  # a desc has them in its output
        del values[field.python]
        tensors["output"] = dml.TensorDesc("FLOAT32", GOOD[name][1])
    d = getattr(dml.desc, operator.desc)(**(values | tensors))
    found = dml.check(d, level)
    assert found[0].id == f"DML-{name.upper()}-{slug}", found
    with pytest.raises(error) as raised:
        dml.compile(d, level)
    assert list(raised.value.violations) == found


@pytest.mark.parametrize("name", GOOD)
def test_a_good_call(name: str) -> None:
    good, shape = GOOD[name]
    out = np.full(shape, 77, np.float32)
    assert getattr(dml, name)(**good, out=out) is out


@pytest.mark.parametrize("name", GOOD)
def test_all_violations_stand_in_one_error(name: str) -> None:
    good, shape = GOOD[name]
    bad: dict[str, Any] = dict.fromkeys(good, "nonsense") | {"out": np.full(shape, 77, np.int16)}
    with pytest.raises(dml.DmlError) as raised:
        getattr(dml, name)(**bad)
    assert {found.field for found in raised.value.violations} >= set(good)


def test_a_refusal_does_not_wait_for_all_the_data() -> None:
    rois = as_strided(ROI, (1, 1, 2**18, 5), (0, 0, 0, 4))
    start = time.process_time()
    with pytest.raises(dml.InvalidDescError, match=r"pooled_size-range"):
        dml.roi_pooling(X, rois, spatial_scale=1.0, pooled_size=0)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("name", GOOD)
def test_unknown_and_missing_arguments(name: str) -> None:
    good, _ = GOOD[name]
    with pytest.raises(TypeError, match="bogus"):
        getattr(dml, name)(**good, bogus=1)
    with pytest.raises(TypeError):
        getattr(dml, name)(*good.values())
    with pytest.raises(TypeError):
        getattr(dml, name)()


def test_a_size_that_is_wrong_leaves_the_number_of_dimensions_known() -> None:
    d = dml.desc.AveragePooling(
        input=dml.TensorDesc("FLOAT32", (1, 1, 0, 5)), window_size=3, end_padding=(1, 2, 3), dimension_count=7
    )
    assert [found.id.removeprefix("DML-AVERAGE_POOLING-") for found in dml.check(d)] == [
        "input-range",
        "dimension_count-length",
        "end_padding-length",
    ]


def test_sizes_that_are_too_large_are_refused_once() -> None:
    d = dml.desc.AveragePooling(input=dml.TensorDesc("FLOAT32", (9, 9, 2**32 - 1, 2**32 - 1)), window_size=3)
    assert [found.id for found in dml.check(d)] == ["DML-AVERAGE_POOLING-input-elements"]


POOLED = dml.TensorDesc("FLOAT32", (1, 1, 6, 6))
FRACTION: Any = (999, 2.5)


@pytest.mark.parametrize(
    ("d", "wanted"),
    [
        (dml.desc.AveragePooling(input=POOLED, window_size=(0, 999)), ["window_size-range", "window_size-fits"]),
        (
            dml.desc.AveragePooling(input=POOLED, window_size=(2, 999), start_padding=(-1, 0)),
            ["start_padding-range", "window_size-fits"],
        ),
        (
            dml.desc.AveragePooling(input=POOLED, window_size=FRACTION, strides=(0, 1)),
            ["strides-range", "window_size-type", "window_size-fits"],
        ),
        (
            dml.desc.AveragePooling(input=POOLED, output=dml.TensorDesc("FLOAT32", (1, 0, 5, 9)), window_size=2),
            ["output-range", "output-sizes"],
        ),
        (
            dml.desc.AveragePooling(input=dml.TensorDesc("FLOAT32", (1, 1, 0, 6)), window_size=(9, 9)),
            ["input-range", "window_size-fits"],
        ),
    ],
)
def test_one_bad_entry_hides_only_what_reads_it(d: Any, wanted: list[str]) -> None:
    assert [found.id.removeprefix("DML-AVERAGE_POOLING-") for found in dml.check(d)] == wanted


def test_huge_ints_and_odd_names_can_be_printed() -> None:
    Odd = enum.Enum("Odd", {"\x1b[31mred": 1})
    odd: Any = next(iter(Odd))
    for value in (10**5000, (10**5000, 1), odd):
        for found in dml.check(dml.desc.AveragePooling(input=POOLED, window_size=value, strides=odd)):
            assert repr(found).isprintable() and str(found).isprintable()


def test_only_inputs_are_owned_by_directml() -> None:
    owned = {"input": "FLOAT32", "output": "FLOAT32"}
    for name in owned:
        tensors: dict[str, Any] = {
            key: dml.TensorDesc("FLOAT32", (1, 1, 3, 3) if key == "output" else (1, 1, 4, 4)) for key in owned
        }
        tensors[name] = dml.TensorDesc("FLOAT32", tensors[name].sizes, flags="OWNED_BY_DML")
        found = dml.check(dml.desc.AveragePooling(**tensors, window_size=2))
        assert [one.id for one in found] == (["DML-AVERAGE_POOLING-output-member"] if name == "output" else [])


@pytest.mark.parametrize(
    ("name", "argument", "theirs", "ours"),
    [
        ("depth_to_space1", "order", "CRD", "COLUMN_ROW_DEPTH"),
        ("depth_to_space1", "order", "dcr", "DEPTH_COLUMN_ROW"),
        ("padding1", "padding_mode", "replicate", "EDGE"),
        ("padding1", "padding_mode", "circular", "WRAP"),
    ],
)
def test_names_of_other_libraries_lead_to_ours(name: str, argument: str, theirs: str, ours: str) -> None:
    given, _ = GOOD[name]
    with pytest.raises(dml.InvalidDescError, match=f'Did you mean "{ours}"?'):
        getattr(dml, name)(**{**given, argument: theirs})
