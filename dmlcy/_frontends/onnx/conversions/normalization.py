"""Normalizations."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, left_aligned, packed
from dmlcy._graph.values import Value

EPSILON: Final = 1e-9
"""What ONNX adds to the deviation in MeanVarianceNormalization."""
LP_EPSILON: Final = 1e-5
"""What ONNX Runtime takes as the least norm in LpNormalization."""


def batch(use: Use) -> OnnxValue:
    """The vectors of channels come in another order; before opset 9 they may have an element for each place."""
    is_tested = use.attribute("is_test") in (None, 1) and not use.attribute("training_mode")
    if not is_tested or any(use.node.outputs[1:]):
        use.refuse("DML-ONNX-unsupported", what="the training of a batch normalization")
    use.require_rank(1)
    sizes = left_aligned(use[0].sizes, RANK)
    vectors = (use.along(place, 1, sizes) for place in (3, 4, 1, 2))
    spatial = use.attribute("spatial") in (None, 1)
    made = use.make(use.left(0), *vectors, spatial=spatial, epsilon=use.number("epsilon"))
    return use.out(made, use[0].sizes)


def instance(use: Use) -> OnnxValue:
    """The mean is that of a channel."""
    use.require_rank(2)
    sizes = left_aligned(use[0].sizes, RANK)
    vectors = (use.along(place, 1, sizes) for place in (1, 2))
    made = use.make(use.left(0), *vectors, axes=range(2, len(sizes)), epsilon=use.number("epsilon"))
    return use.out(made, use[0].sizes)


def mean_variance(use: Use) -> OnnxValue:
    """Before opset 9, an attribute says whether the mean is of all channels."""
    given = use.integers("axes")
    axes = use.axes(([0, 1, 2, 3] if use.attribute("across_channels") else [0, 2, 3]) if given is None else given)
    has_variance = use.attribute("normalize_variance") in (None, 1)
    x = use.right(0)
    made = use.make(x, axes=use.promoted(axes), normalize_variance=has_variance, epsilon=EPSILON)
    return use.out(made, use[0].sizes)


def lp(use: Use) -> OnnxValue:
    """The divisor is a norm."""
    (axis,) = use.promoted([use.axis()])
    return use.out(use.make(use.right(0), axis=axis, p=use.integer("p"), epsilon=LP_EPSILON), use[0].sizes)


def local_response(use: Use) -> OnnxValue:
    """The squares that are added up are those of neighboring channels."""
    numbers: dict[str, Any] = {name: use.number(name) for name in ("alpha", "beta", "bias")}
    made = use.make(use.right(0), cross_channel=True, local_size=use.integer("size"), **numbers)
    return use.out(made, use[0].sizes)


def layer(use: Use) -> tuple[OnnxValue | None, ...]:
    """The mean and the inverse of the deviation, where the node gives them, are computed beside the result."""
    axis, sizes = use.axis(), use[0].sizes
    whole = use.out(_layer(use, use.left(0), axis, 1, 2), sizes)
    if not any(use.node.outputs[1:]):
        return (whole,)
    statistics = _statistics(use, axis)
    small = tuple(1 if place >= axis else size for place, size in enumerate(sizes))
    return whole, *(use.out(one, small, place) for place, one in enumerate(statistics, 1))


def simplified_layer(use: Use) -> OnnxValue:
    """The mean counts as 0."""
    if any(use.node.outputs[1:]):
        use.refuse("DML-ONNX-unsupported", what="the inverse of the deviation beside its result")
    return use.out(_layer(use, use.left(0), use.axis(), 1, 2, use_mean=False), use[0].sizes)


def skip_layer(use: Use) -> tuple[OnnxValue | None, ...]:
    """Two or three tensors are added first; the sum may be an output, too."""
    names = [one.name for one in use.version.inputs]
    if any(use.node.outputs[1:3]):
        use.refuse("DML-ONNX-unsupported", what="the mean or the inverse of the deviation beside its result")
    use.require_rank(1)
    sizes, has_mean = use[0].sizes, "beta" in names
    added = [place for place in (1, names.index("bias")) if place == 1 or use.has(place)]
    total = reduce(use.g.element_wise_add, (_spread_left(use, place, sizes) for place in added), use.left(0))
    beta = names.index("beta") if has_mean else len(names)
    whole = _layer(use, total, len(sizes) - 1, 2, beta, use_mean=has_mean)
    return use.out(whole, sizes), None, None, use.out(total, sizes, 3)


def _layer(use: Use, x: Value, axis: int, scale: int, bias: int, *, use_mean: bool = True) -> Value:
    """Normalize the axes from one on. A scale of another data type decides in which one is computed."""
    sizes = use[0].sizes
    factor = _spread_left(use, scale, sizes)
    made = use.make(
        _as(use, x, factor.desc.dtype),
        factor,
        _spread_left(use, bias, sizes) if use.has(bias) else None,
        axes=range(axis, len(x.desc.sizes)),
        use_mean=use_mean,
        epsilon=use.number("epsilon"),
    )
    return _as(use, made, use.dtype())


def _statistics(use: Use, axis: int) -> tuple[Value, Value]:
    """The mean of the axes from one on, and the inverse of their deviation."""
    g, x = use.g, _as(use, use.left(0), use.dtype(1))
    axes = range(axis, len(x.desc.sizes))
    mean = g.reduce(x, function="AVERAGE", axes=axes)
    squares = g.element_wise_difference_square(x, g.broadcast(mean, x.desc.sizes))
    variance = g.reduce(squares, function="AVERAGE", axes=axes)
    deviation = g.element_wise_sqrt(variance, scale_bias=(1, use.number("epsilon")))
    return mean, g.element_wise_recip(deviation)


def _spread_left(use: Use, place: int, sizes: tuple[int, ...]) -> Value:
    """An input broadcast to sizes of ONNX, with axes of size 1 at the end."""
    one = use.spread(place, sizes, len(sizes))
    strides = one.desc.strides or packed(one.desc.sizes)
    full = left_aligned(one.desc.sizes, RANK)
    return use.g.reinterpret(one, TensorDesc(one.desc.dtype, full, left_aligned(tuple(strides), len(full))))


def _as(use: Use, value: Value, dtype: Any) -> Value:
    return value if value.desc.dtype == dtype else use.g.cast(value, output_dtype=dtype)
