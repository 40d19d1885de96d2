"""The operators of PyDirectML as functions of expressions.

An empty list stands for the default of DirectMLX: 1 for strides and dilations, 0 for paddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlcy._field_types.size_2d import Size2D as HeightWidth
from dmlcy._frontends.directml.enums import (
    ConvolutionDirection,
    ConvolutionMode,
    MatrixTransform,
    OutputOptions,
    name_of,
)
from dmlcy._frontends.directml.expressions import Expression, FusedActivation, use
from dmlcy._words.values import show

NONE = FusedActivation()
Ints = Sequence[int]


class Size2D:
    """A width and a height."""

    def __init__(self, width: int, height: int) -> None:
        self.width: int = width
        self.height: int = height


class MaxPoolingOutputs(NamedTuple):
    """The outputs of ``max_pooling``; ``indices`` is None if they were not asked for."""

    values: Expression
    indices: Expression | None


class GRUOutputs(NamedTuple):
    """The outputs of ``gru``; one that was not asked for is None."""

    sequence: Expression | None
    single: Expression | None


def convolution(
    input: Expression,
    filter: Expression,
    bias: Expression | None = None,
    mode: Any = ConvolutionMode.CROSS_CORRELATION,
    direction: Any = ConvolutionDirection.FORWARD,
    strides: Ints = (),
    dilations: Ints = (),
    start_padding: Ints = (),
    end_padding: Ints = (),
    output_padding: Ints = (),
    group_count: int = 1,
    fused_activation: FusedActivation = NONE,
    output_sizes: Ints = (),
) -> Expression:
    """CONVOLUTION. ``output_sizes``: of all axes; left out, as the operator computes them."""
    found: Expression = use(
        "convolution",
        input,
        filter,
        bias,
        mode=name_of(mode),
        direction=name_of(direction),
        strides=_or(strides, 1),
        dilations=_or(dilations, 1),
        start_padding=_or(start_padding, 0),
        end_padding=_or(end_padding, 0),
        output_padding=_or(output_padding, 0),
        group_count=group_count,
        fused_activation=_desc(fused_activation),
        output_sizes=_or(output_sizes, None),
    )
    return found


def gemm(
    a: Expression,
    b: Expression,
    c: Expression | None = None,
    trans_a: Any = MatrixTransform.NONE,
    trans_b: Any = MatrixTransform.NONE,
    alpha: float = 1.0,
    beta: float = 1.0,
    fused_activation: FusedActivation = NONE,
) -> Expression:
    """GEMM."""
    found: Expression = use(
        "gemm",
        a,
        b,
        c,
        trans_a=name_of(trans_a),
        trans_b=name_of(trans_b),
        alpha=alpha,
        beta=beta,
        fused_activation=_desc(fused_activation),
    )
    return found


def add(a: Expression, b: Expression, fused_activation: FusedActivation = NONE) -> Expression:
    """ELEMENT_WISE_ADD1."""
    found: Expression = use(("add", "element_wise_add1"), a, b, fused_activation=_desc(fused_activation))
    return found


def subtract(a: Expression, b: Expression) -> Expression:
    """ELEMENT_WISE_SUBTRACT."""
    found: Expression = use(("subtract", "element_wise_subtract"), a, b)
    return found


def multiply(a: Expression, b: Expression) -> Expression:
    """ELEMENT_WISE_MULTIPLY."""
    found: Expression = use(("multiply", "element_wise_multiply"), a, b)
    return found


def divide(a: Expression, b: Expression) -> Expression:
    """ELEMENT_WISE_DIVIDE."""
    found: Expression = use(("divide", "element_wise_divide"), a, b)
    return found


def activation_relu(input: Expression) -> Expression:
    """ACTIVATION_RELU."""
    found: Expression = use("activation_relu", input)
    return found


def activation_sigmoid(input: Expression) -> Expression:
    """ACTIVATION_SIGMOID."""
    found: Expression = use("activation_sigmoid", input)
    return found


def activation_identity(input: Expression) -> Expression:
    """ACTIVATION_IDENTITY."""
    found: Expression = use("activation_identity", input)
    return found


def activation_tanh(input: Expression) -> Expression:
    """ACTIVATION_TANH."""
    found: Expression = use("activation_tanh", input)
    return found


def activation_gelu(input: Expression) -> Expression:
    """ACTIVATION_GELU."""
    found: Expression = use("activation_gelu", input)
    return found


def activation_linear(input: Expression, alpha: float, beta: float) -> Expression:
    """ACTIVATION_LINEAR."""
    found: Expression = use("activation_linear", input, alpha=alpha, beta=beta)
    return found


def activation_softmax(input: Expression, axes: Ints = ()) -> Expression:
    """ACTIVATION_SOFTMAX1 along axes; without axes ACTIVATION_SOFTMAX, along the last one."""
    given = _or(axes, None)
    found: Expression = (
        use("activation_softmax", input)
        if given is None
        else use(("activation_softmax", "activation_softmax1"), input, axes=given)
    )
    return found


def padding(
    input: Expression, padding_mode: Any, padding_value: float, start_padding: Ints, end_padding: Ints
) -> Expression:
    """PADDING."""
    found: Expression = use(
        "padding",
        input,
        padding_mode=name_of(padding_mode),
        padding_value=padding_value,
        start_padding=start_padding,
        end_padding=end_padding,
    )
    return found


def mean_variance_normalization(
    input: Expression,
    scale: Expression | None = None,
    bias: Expression | None = None,
    axes: Ints = (),
    normalize_variance: bool | None = None,
    normalize_mean: bool | float | None = None,
    epsilon: float | FusedActivation | None = None,
    fused_activation: FusedActivation = NONE,
) -> Expression:
    """MEAN_VARIANCE_NORMALIZATION2; without ``normalize_mean``, which older versions lack, the mean is used."""
    if epsilon is None or isinstance(epsilon, FusedActivation):  # the arguments of an older version by position
        fused_activation = fused_activation if epsilon is None else epsilon
        epsilon, normalize_mean = normalize_mean, True
    if normalize_variance is None or epsilon is None:
        missing = "normalize_variance" if normalize_variance is None else "epsilon"
        raise TypeError(f"mean_variance_normalization() missing required argument {missing!r}")
    found: Expression = use(
        ("mean_variance_normalization", "mean_variance_normalization2"),
        input,
        scale,
        bias,
        axes=tuple(axes),
        use_mean=normalize_mean is None or bool(normalize_mean),
        use_variance=bool(normalize_variance),
        epsilon=epsilon,
        fused_activation=_desc(fused_activation),
    )
    return found


def batch_normalization(
    input: Expression,
    mean: Expression,
    variance: Expression,
    scale: Expression,
    bias: Expression,
    spatial: bool,
    epsilon: float,
    fused_activation: FusedActivation = NONE,
) -> Expression:
    """BATCH_NORMALIZATION."""
    found: Expression = use(
        "batch_normalization",
        input,
        mean,
        variance,
        scale,
        bias,
        spatial=bool(spatial),
        epsilon=epsilon,
        fused_activation=_desc(fused_activation),
    )
    return found


def local_response_normalization(
    input: Expression, cross_channel: bool, local_size: int, alpha: float, beta: float, bias: float
) -> Expression:
    """LOCAL_RESPONSE_NORMALIZATION."""
    found: Expression = use(
        "local_response_normalization",
        input,
        cross_channel=bool(cross_channel),
        local_size=local_size,
        alpha=alpha,
        beta=beta,
        bias=bias,
    )
    return found


def average_pooling(
    input: Expression,
    strides: Ints,
    window_sizes: Ints,
    start_padding: Ints,
    end_padding: Ints,
    dilations: Ints | bool = (),
    include_padding: bool | None = None,
) -> Expression:
    """AVERAGE_POOLING1. Without ``dilations``, which older versions lack, ``include_padding`` is in their place."""
    if isinstance(dilations, bool | int):
        dilations, include_padding = (), bool(dilations)
    if include_padding is None:
        raise TypeError("average_pooling() missing required argument 'include_padding'")
    found: Expression = use(
        ("average_pooling", "average_pooling1"),
        input,
        strides=_or(strides, 1),
        window_size=window_sizes,
        start_padding=_or(start_padding, 0),
        end_padding=_or(end_padding, 0),
        dilations=_or(dilations, 1),
        include_padding=bool(include_padding),
    )
    return found


def max_pooling(
    input: Expression,
    window_sizes: Ints,
    strides: Ints = (),
    start_padding: Ints = (),
    end_padding: Ints = (),
    dilations: Ints = (),
    output_indices: bool = False,
) -> MaxPoolingOutputs:
    """MAX_POOLING2."""
    found = use(
        ("max_pooling", "max_pooling2"),
        input,
        window_size=window_sizes,
        strides=_or(strides, 1),
        start_padding=_or(start_padding, 0),
        end_padding=_or(end_padding, 0),
        dilations=_or(dilations, 1),
        output_indices=bool(output_indices),
    )
    return MaxPoolingOutputs(*found) if output_indices else MaxPoolingOutputs(found, None)


def slice(
    input: Expression, input_window_offsets: Ints, input_window_sizes: Ints, input_window_strides: Ints
) -> Expression:
    """SLICE1."""
    found: Expression = use(
        ("slice", "slice1"),
        input,
        input_window_offsets=input_window_offsets,
        input_window_sizes=input_window_sizes,
        input_window_strides=input_window_strides,
    )
    return found


def join(input: Sequence[Expression], axis: int) -> Expression:
    """JOIN."""
    if not isinstance(input, Sequence) or isinstance(input, str):
        raise TypeError(f"join() takes a list of expressions, not {show(input)}")
    found: Expression = use("join", [*input], axis=axis)
    return found


def gather(input: Expression, indices: Expression, axis: int, index_dimensions: int) -> Expression:
    """GATHER."""
    found: Expression = use("gather", input, indices, axis=axis, index_dimensions=index_dimensions)
    return found


def up_sample_2d(input: Expression, scale_size: Size2D, interpolation_mode: Any) -> Expression:
    """UPSAMPLE_2D."""
    scale = HeightWidth(scale_size.height, scale_size.width) if isinstance(scale_size, Size2D) else scale_size
    found: Expression = use(
        ("up_sample_2d", "upsample_2d"), input, scale_size=scale, interpolation_mode=name_of(interpolation_mode)
    )
    return found


def value_scale_2d(input: Expression, scale: float, bias: Sequence[float]) -> Expression:
    """VALUE_SCALE_2D."""
    found: Expression = use("value_scale_2d", input, scale=scale, bias=bias)
    return found


def gru(
    input: Expression,
    weight: Expression,
    recurrence: Expression,
    bias: Expression | None = None,
    hidden_init: Expression | None = None,
    sequence_lengths: Expression | None = None,
    activation_descs: Sequence[FusedActivation] = (),
    direction: Any = None,
    linear_before_reset: int = 1,
    output_options: Any = None,
) -> GRUOutputs:
    """GRU."""
    if direction is None or output_options is None:
        missing = "direction" if direction is None else "output_options"
        raise TypeError(f"gru() missing required argument {missing!r}")
    options = OutputOptions(output_options)
    found = use(
        "gru",
        input,
        weight,
        recurrence,
        bias,
        hidden_init,
        sequence_lengths,
        activation_descs=tuple(map(_desc, activation_descs)),
        direction=name_of(direction),
        linear_before_reset=bool(linear_before_reset),
        output_sequence=options is not OutputOptions.Single,
        output_single=options is not OutputOptions.Sequence,
    )
    if options is OutputOptions.Both:
        return GRUOutputs(*found)
    return GRUOutputs(found, None) if options is OutputOptions.Sequence else GRUOutputs(None, found)


def _or(given: Any, default: int | None) -> Any:
    """The entries, or the default for each axis where there are none; what is no list, the operator refuses."""
    return default if hasattr(given, "__len__") and not len(given) else given


def _desc(activation: FusedActivation) -> Any:
    if not isinstance(activation, FusedActivation):
        raise TypeError(
            "fused_activation must be a FusedActivation, such as FusedActivation(OperatorType.ACTIVATION_RELU), not "
            f"{show(activation)}"
        )
    return activation._desc()
