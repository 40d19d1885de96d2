"""Uses of operators of which the elements that are not judged were found by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dmlcy as dml
from dmlcy._desc.classes import desc_class
from dmlcy._field_types.tensor_desc import TensorDesc

NAN, INF = np.nan, np.inf
Values = Any  # nested lists


@dataclass(frozen=True)
class Use:
    """Inputs as nested lists, with data types other than FLOAT32 in ``types``; outputs as descs."""

    operator: str
    inputs: dict[str, Values]
    given: dict[str, Any] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    def case(self) -> tuple[Any, dict[str, Any]]:
        """The desc and the arrays."""
        arrays = {name: np.array(x, self.types.get(name, "float32")) for name, x in self.inputs.items()}
        tensors = {name: TensorDesc(array.dtype, array.shape) for name, array in arrays.items()}
        return desc_class(self.operator)(**tensors, **self.given), arrays


def row(*values: float) -> Values:
    """A tensor of one row."""
    return [[[[*values]]]]


def tensor(dtype: str, *sizes: int) -> TensorDesc:
    """The desc of an output."""
    return TensorDesc(dtype, sizes)


AT_THE_START: dict[str, Any] = {"window_size": (1, 2), "start_padding": (0, 2)}
"""Along a row of 3 elements the first one of four windows has padding only."""
PAST_THE_END: dict[str, Any] = {"window_size": (1, 2), "strides": (1, 2), "include_padding": True}
"""Along a row of 3 elements the second one of two windows reaches past its end."""
TEXTURE = [[[[float(4 * y + x) for x in range(4)] for y in range(4)]]]


def texture(y: int, x: int, value: float) -> Values:
    """An image of 4 by 4 elements with this one."""
    image = [list(line) for line in TEXTURE[0][0]]
    image[y][x] = value
    return [[image]]


def sampled(image: Values, first: float, **given: Any) -> dict[str, Any]:
    """A region of the size of the image, whose samples are at the places first, first + 1 and so on."""
    return {
        "inputs": {"input": image, "roi": [[first, first, first + 4, first + 4]], "batch_indices": [0]},
        "types": {"batch_indices": "uint32"},
        "given": {"output": tensor("FLOAT32", 1, 1, 4, 4), "maximum_samples_per_output": 1, **given},
    }


def aligned_gradient(image: Values, first: float, gradient: Values, **given: Any) -> Use:
    """The gradient of such a region, with as many samples as the image has elements."""
    whole = sampled(image, first, **given)
    del whole["given"]["output"]
    whole["inputs"]["input_gradient"] = gradient
    whole["given"] |= {"output_gradient": tensor("FLOAT32", 1, 1, 4, 4), "maximum_samples_per_output": 2}
    return Use("ROI_ALIGN_GRAD", **whole)


def reduced(function: str) -> dict[str, Any]:
    """Two rows of two elements become one each."""
    return {"function": function, "axes": (3,), "output": tensor("FLOAT32", 1, 1, 2, 1)}


def resampled(operator: str, size: int, count: int, scale: float, **given: Any) -> Use:
    """A row of this size becomes one of so many elements."""
    scales = {"output": tensor("FLOAT32", 1, 1, 1, count), "scales": (1, 1, 1, scale)}
    return Use(operator, {"input": row(*range(size))}, {"interpolation_mode": "NEAREST_NEIGHBOR", **scales, **given})


def gradient(operator: str, size: int, count: int, scale: float, **given: Any) -> Use:
    """The gradient of such a use."""
    scales = {"output_gradient": tensor("FLOAT32", 1, 1, 1, size), "scales": (1, 1, 1, scale)}
    inputs = {"input_gradient": row(*range(count))}
    return Use(operator, inputs, {"interpolation_mode": "NEAREST_NEIGHBOR", **scales, **given})


INDICES = {"output_indices": tensor("UINT32", 1, 1, 1, 4)}
ALIGNED = {"reduction_function": "MAX", "interpolation_mode": "LINEAR"}
NEAREST = {"reduction_function": "AVERAGE", "interpolation_mode": "NEAREST_NEIGHBOR"}
HALVES = {"interpolation_mode": "LINEAR", "input_pixel_offsets": 0, "output_pixel_offsets": 0}
"""Of twice as many elements, every second one is at an element."""
ODD = {"input_pixel_offsets": (0.5, 0.5, 0.5, -0.5)}
"""Of half as many elements, the places are 1.5, 3.5 and so on."""
WHOLE = {"input_pixel_offsets": (0.5, 0.5, 0.5, 0), "output_pixel_offsets": -0.5}
"""With a scale of 0.3 the second place of three is 5, of which the quotient is rounded."""

BOTH_WAYS = [[[[1], [1], [1], [1]], [[1], [1], [1], [1]]]]
"""Weights of four gates in two directions."""

PLACES: list[tuple[str, Use, str, list[int]]] = [
    *(
        (condition, Use(operator, {"input": row(1, 2, 3)}, {**AT_THE_START, **given}), output, [0])
        for operator, condition, output, given in (
            ("AVERAGE_POOLING", "window-only-padding", "output", {}),
            ("AVERAGE_POOLING1", "window-only-padding", "output", {}),
            ("LP_POOLING", "padding-is-zero", "output", {"p": 2}),
            ("LP_POOLING1", "padding-is-zero", "output", {"p": 2}),
            ("MAX_POOLING", "window-only-padding", "output", {}),
            ("MAX_POOLING1", "window-only-padding", "output", INDICES),
            ("MAX_POOLING1", "index-of-padding", "output_indices", INDICES),
            ("MAX_POOLING2", "window-only-padding", "output", INDICES),
            ("MAX_POOLING2", "index-of-padding", "output_indices", INDICES),
        )
    ),
    (
        "window-only-padding",
        Use("AVERAGE_POOLING", {"input": row(1, 2, 3)}, {**AT_THE_START, "include_padding": True}),
        "output",
        [],
    ),
    *(
        (
            "divisor-past-padding",
            Use(operator, {"input": row(1, 2, 3)}, {**PAST_THE_END, **given, "output": tensor("FLOAT32", 1, 1, 1, 2)}),
            "output",
            found,
        )
        for operator in ("AVERAGE_POOLING", "AVERAGE_POOLING1")
        for given, found in (({}, [1]), ({"include_padding": False}, []), ({"end_padding": (0, 1)}, []))
    ),
    (
        "divisor-past-padding",
        Use(
            "QUANTIZED_LINEAR_AVERAGE_POOLING",
            {"input": row(1, 2, 3), "input_scale": row(1), "output_scale": row(1)},
            {**PAST_THE_END, "output": tensor("INT8", 1, 1, 1, 2)},
            {"input": "int8"},
        ),
        "output",
        [1],
    ),
    *(
        (
            "divisor-past-padding",
            Use(
                "AVERAGE_POOLING_GRAD",
                {"input_gradient": row(1, 2)},
                {**PAST_THE_END, "output_gradient": tensor("FLOAT32", 1, 1, 1, count)},
            ),
            "output_gradient",
            found,
        )
        for count, found in ((3, [0, 1, 2]), (4, []))
    ),
    *(
        (
            "index-of-equal-elements",
            Use(
                operator,
                {"input": row(-0.0, 0.0, -1, 1)},
                {"window_size": (1, 2), "output_indices": tensor("UINT32", 1, 1, 1, 3)},
            ),
            "output_indices",
            [0],
        )
        for operator in ("MAX_POOLING1", "MAX_POOLING2")
    ),
    ("nan", Use("MAX_POOLING", {"input": row(NAN, 1, 2)}, {"window_size": (1, 2)}), "output", [0]),
    (
        "maxima",
        Use("MAX_POOLING_GRAD", {"input": row(NAN, 1, 2, 3), "input_gradient": row(1, 1, 1)}, {"window_size": (1, 2)}),
        "output_gradient",
        [0, 1],
    ),
    (
        "padding",
        Use(
            "QUANTIZED_LINEAR_AVERAGE_POOLING",
            {"input": row(1, 2, 3), "input_scale": row(1), "output_scale": row(1)},
            {**AT_THE_START, "output": tensor("INT8", 1, 1, 1, 4)},
            {"input": "int8"},
        ),
        "output",
        [0],
    ),
    ("nan-and-zeros", Use("REDUCE", {"input": [[[[NAN, 1], [2, 3]]]]}, reduced("MAX")), "output", [0]),
    ("nan-and-zeros", Use("REDUCE", {"input": [[[[NAN, 1], [2, 3]]]]}, reduced("SUM")), "output", []),
    ("floats-overflow", Use("REDUCE", {"input": [[[[1e20, 1], [2, 3]]]]}, reduced("L2")), "output", [0]),
    ("floats-overflow", Use("REDUCE", {"input": [[[[80.0, 88.5], [2, 3]]]]}, reduced("LOG_SUM_EXP")), "output", [0]),
    ("infinities", Use("ACTIVATION_SOFTMAX", {"input": [[[[INF, 1], [-INF, 3]]]]}), "output", [0, 1]),
    (
        "not-finite",
        Use(
            "BATCH_NORMALIZATION_TRAINING",
            {"input": [[[[5]], [[1]]], [[[5]], [[2]]]], "scale": [[[[1]], [[1]]]], "bias": [[[[0]], [[0]]]]},
            {"epsilon": 0},
        ),
        "output",
        [0, 2],
    ),
    *(
        ("not-finite", Use(operator, {"input": [[[[2, 2]], [[1, 3]]]]}, {"epsilon": 0, **given}), "output", [0, 1])
        for operator, given in (
            ("MEAN_VARIANCE_NORMALIZATION", {"cross_channel": False, "normalize_variance": True, "epsilon": 0}),
            ("MEAN_VARIANCE_NORMALIZATION1", {"axes": (3,), "normalize_variance": True}),
            ("MEAN_VARIANCE_NORMALIZATION2", {"axes": (3,)}),
        )
    ),
    (
        "zeros",
        Use("DYNAMIC_QUANTIZE_LINEAR", {"input": row(0, -0.0)}, {"output": tensor("UINT8", 1, 1, 1, 2)}),
        "output",
        [0, 1],
    ),
    (
        "zeros",
        Use("DYNAMIC_QUANTIZE_LINEAR", {"input": row(0, 1)}, {"output": tensor("UINT8", 1, 1, 1, 2)}),
        "output",
        [],
    ),
    (
        "epsilon",
        Use("LP_NORMALIZATION", {"input": [[[[0.5, 0.25], [3, 4]]]]}, {"axis": 3, "epsilon": 1.0}),
        "output",
        [0, 1],
    ),
    ("overflow", Use("CUMULATIVE_SUMMATION", {"input": row(3e38, 3e38, -3e38, 1)}, {"axis": 3}), "output", [1, 2, 3]),
    ("overflow", Use("CUMULATIVE_SUMMATION", {"input": row(INF, 1)}, {"axis": 3}), "output", []),
    (
        "beta-of-0",
        Use("GEMM", {"a": [[[[1, 2], [3, 4]]]], "b": [[[[1, 2], [3, 4]]]], "c": [[[[1, NAN], [0, 0]]]]}, {"beta": 0}),
        "output",
        [1],
    ),
    (
        "beta-of-0",
        Use("GEMM", {"a": [[[[1, 2], [3, 4]]]], "b": [[[[1, 2], [3, 4]]]], "c": [[[[1, NAN], [0, 0]]]]}),
        "output",
        [],
    ),
    (
        "padding",
        Use(
            "CONVOLUTION",
            {"input": row(1, 2, 3, 4), "filter": row(INF, 1, 1)},
            {"start_padding": (0, 1), "end_padding": (0, 1)},
        ),
        "output",
        [0],
    ),
    (
        "padding",
        Use(
            "CONVOLUTION",
            {"input": row(1, 2), "filter": row(1, 1, INF)},
            {"direction": "BACKWARD", "strides": (1, 2), "output": tensor("FLOAT32", 1, 1, 1, 5)},
        ),
        "output",
        [0, 1, 3],
    ),
    *(("places", resampled(operator, 27, 8, 0.3), "output", [1, 4, 7]) for operator in ("RESAMPLE", "RESAMPLE1")),
    ("places", resampled("RESAMPLE", 10, 3, 0.36), "output", []),
    *(("places", resampled(operator, 12, 2, 1 / 6), "output", [0, 1]) for operator in ("RESAMPLE", "RESAMPLE1")),
    *(("places", resampled(operator, 4, 2, 0.5), "output", []) for operator in ("RESAMPLE", "RESAMPLE1")),
    ("places", resampled("RESAMPLE", 12, 2, 1 / 6, interpolation_mode="LINEAR"), "output", []),
    ("places", gradient("RESAMPLE_GRAD", 27, 8, 0.3), "output_gradient", [4, 5, 14, 15, 24, 25]),
    ("tie", gradient("RESAMPLE_GRAD", 8, 4, 0.5, **ODD), "output_gradient", [1, 2, 3, 4, 5, 6]),
    ("tie", gradient("RESAMPLE_GRAD", 8, 4, 0.5), "output_gradient", []),
    *(
        ("places", resampled(operator, 10, 3, 0.3, rounding_direction=direction, **WHOLE), "output", [1])
        for operator in ("RESAMPLE2", "RESAMPLE3")
        for direction in ("INCREASING", "DECREASING")
    ),
    (
        "places",
        gradient("RESAMPLE_GRAD1", 10, 3, 0.3, rounding_direction="DECREASING", **WHOLE),
        "output_gradient",
        [5, 6],
    ),
    *(
        (
            "no-weight",
            Use(
                operator,
                {"input": row(1, INF)},
                {**HALVES, "output": tensor("FLOAT32", 1, 1, 1, 4), "scales": (1, 1, 1, 2)},
            ),
            "output",
            [0],
        )
        for operator in ("RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
    ),
    (
        "no-weight",
        Use(
            "RESAMPLE_GRAD1",
            {"input_gradient": row(INF, 1, 1, 1)},
            {**HALVES, "output_gradient": tensor("FLOAT32", 1, 1, 1, 2), "scales": (1, 1, 1, 2)},
        ),
        "output_gradient",
        [1],
    ),
    (
        "no-weight",
        Use("UPSAMPLE_2D", {"input": row(1, INF)}, {"scale_size": (1, 3), "interpolation_mode": "LINEAR"}),
        "output",
        [0, 1],
    ),
    (
        "antialiased-scales",
        resampled("RESAMPLE3", 4, 3, 0.75, interpolation_mode="LINEAR", antialiased=True),
        "output",
        [0, 1, 2],
    ),
    (
        "antialiased-scales",
        resampled("RESAMPLE3", 4, 1, 0.25, interpolation_mode="LINEAR", antialiased=True),
        "output",
        [],
    ),
    *(
        case
        for operator in ("ROI_ALIGN", "ROI_ALIGN1")
        for case in (
            ("nan", Use(operator, **sampled(texture(0, 0, NAN), 0, **ALIGNED)), "output", [0]),
            ("no-weight", Use(operator, **sampled(texture(1, 1, INF), 0, **ALIGNED)), "output", [0, 1, 4]),
            ("tie", Use(operator, **sampled(TEXTURE, 0.5, **NEAREST)), "output", [1, 4, 5, 6, 7, 9, 13]),
        )
    ),
    *(
        (
            condition,
            Use(
                "ROI_POOLING",
                {"input": TEXTURE, "roi": [[[[0, *corner], [0, 0, 0, 4, 4]]]]},
                {"spatial_scale": 0.5, "pooled_size": (1, 1)},
            ),
            "output",
            [0],
        )
        for condition, corner in (("round", (1, 0, 4, 4)), ("empty-bin", (20, 20, 24, 24)))
    ),
    (
        "nan",
        Use(
            "ROI_POOLING",
            {"input": texture(3, 3, NAN), "roi": [[[[0, 0, 0, 3, 3], [0, 0, 0, 1, 1]]]]},
            {"spatial_scale": 1, "pooled_size": (1, 1)},
        ),
        "output",
        [0],
    ),
    (
        "two-updates",
        Use(
            "SCATTER",
            {"input": row(0, 0, 0), "indices": row(1, 1, 2), "updates": row(5, 6, 7)},
            {"axis": 3},
            {"indices": "uint32"},
        ),
        "output",
        [1],
    ),
    (
        "two-updates",
        Use(
            "SCATTER",
            {"input": row(0, 0, 0), "indices": row(1, 1, 2), "updates": row(5, 5, 7)},
            {"axis": 3},
            {"indices": "uint32"},
        ),
        "output",
        [],
    ),
    (
        "two-updates",
        Use(
            "SCATTER_ND",
            {"input": [[1, 2], [3, 4]], "indices": [[1], [1]], "updates": [[5, 6], [5, 7]]},
            {"input_dimension_count": 2, "indices_dimension_count": 2},
            {"indices": "uint32"},
        ),
        "output",
        [3],
    ),
    (
        "two-elements",
        Use(
            "MAX_UNPOOLING",
            {"input": row(4, 5, 6), "indices": row(1, 1, 2)},
            {"output": tensor("FLOAT32", 1, 1, 1, 4)},
            {"indices": "uint32"},
        ),
        "output",
        [1],
    ),
    *(
        (
            "reflection-of-one",
            Use(
                operator,
                {"input": row(7)},
                {"padding_mode": "REFLECTION", "start_padding": (0, 0, 0, 1), "end_padding": 0},
            ),
            "output",
            [0],
        )
        for operator in ("PADDING", "PADDING1")
    ),
    *(
        (
            "no-weight",
            Use(
                "MULTIHEAD_ATTENTION",
                {"query": [[[1]]], "key": [[[0], [score]]], "value": [[[1], [INF]]]},
                {"head_count": 1, "scale": 1.0, "output": tensor("FLOAT32", 1, 1, 1)},
            ),
            "output",
            expected,
        )
        for score, expected in ((-200, [0]), (-10, []))
    ),
    (
        "clip",
        Use(
            "LSTM",
            {"input": [[[[1], [1]], [[NAN], [1]], [[1], [1]]]], "weight": BOTH_WAYS, "recurrence": BOTH_WAYS},
            {"direction": "BIDIRECTIONAL", "use_clip_threshold": True, "clip_threshold": 1.0}
            | {"activation_descs": [dml.desc.ActivationTanh()] * 6, "output_sequence": tensor("FLOAT32", 3, 2, 2, 1)},
        ),
        "output_sequence",
        [2, 4, 6, 8],
    ),
    *(
        (
            "sequence-end",
            Use(
                "RNN",
                {
                    "input": [[[[1], [1]], [[1], [1]]]],
                    "weight": row(1),
                    "recurrence": row(1),
                    "sequence_lengths": row(1, 0),
                },
                {"activation_descs": [dml.desc.ActivationTanh()], "output_sequence": tensor("FLOAT32", 2, 1, 2, 1)}
                | {"output_single": tensor("FLOAT32", 1, 1, 2, 1)},
                {"sequence_lengths": "uint32"},
            ),
            output,
            expected,
        )
        for output, expected in (("output_sequence", [1, 2, 3]), ("output_single", [1]))
    ),
    (
        "output-padding",
        Use(
            "CONVOLUTION",
            {"input": row(1, 2), "filter": row(1, 1, 1)},
            {
                "direction": "BACKWARD",
                "strides": (1, 2),
                "output_padding": (0, 1),
                "output": tensor("FLOAT32", 1, 1, 1, 6),
            },
        ),
        "output",
        [5],
    ),
    (
        "tie",
        aligned_gradient(TEXTURE, 0.5, texture(0, 0, 1), **NEAREST),
        "output_gradient",
        [*{*range(16)} - {0, 3, 12, 15}],
    ),
    (
        "no-weight",
        aligned_gradient(TEXTURE, 0, texture(0, 0, INF), **{**ALIGNED, "reduction_function": "AVERAGE"}),
        "output_gradient",
        [1, 4, 5],
    ),
    (
        "greatest-sample",
        aligned_gradient(texture(0, 0, 5), 0, [[[[1, 1], [1, 1]]]], **ALIGNED),
        "output_gradient",
        [0, 1, 4, 5],
    ),
    ("greatest-sample", aligned_gradient(TEXTURE, 0, [[[[1, 1], [1, 1]]]], **ALIGNED), "output_gradient", []),
]
"""The id of an interpretation, a use, an output, and which of its elements are not judged, counted row by row."""
