"""Normalizations."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Final

from dmlcy._facts.tables import TensorDataType
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.activations import fused
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, left_aligned, packed
from dmlcy._graph.values import Value

EPSILON: Final = 1e-9
"""The number that ONNX adds to the deviation in MeanVarianceNormalization."""
LP_EPSILON: Final = 1e-5
"""The least norm of ONNX Runtime in LpNormalization."""


def batch(use: Use) -> OnnxValue:
    """The vectors of channels come in another order; before opset 9 they may have an element for each place."""
    is_tested = use.attribute("is_test") in (None, 1) and not use.attribute("training_mode")
    if not is_tested or any(map(use.wants, range(1, 5))):
        use.refuse("DML-ONNX-unsupported", what="the training of a batch normalization")
    use.require_rank(1)
    sizes = left_aligned(use[0].sizes, RANK)
    vectors = (use.along(place, 1, sizes) for place in (3, 4, 1, 2))
    spatial = use.attribute("spatial") in (None, 1)
    fields: dict[str, object] = {"epsilon": use.number("epsilon"), "fused_activation": fused(use)}
    made = use.make(use.left(0), *vectors, spatial=spatial, **fields)
    return use.out(made, use[0].sizes)


def instance(use: Use) -> OnnxValue:
    """The mean is that of a channel."""
    use.require_rank(2)
    sizes = left_aligned(use[0].sizes, RANK)
    vectors = (use.along(place, 1, sizes) for place in (1, 2))
    fields: dict[str, object] = {"epsilon": use.number("epsilon"), "fused_activation": fused(use)}
    made = use.make(use.left(0), *vectors, axes=range(2, len(sizes)), **fields)
    return use.out(made, use[0].sizes)


def mean_variance(use: Use) -> OnnxValue:
    """Before opset 9, an attribute says whether the mean is of all channels."""
    given = use.integers("axes")
    axes = use.axes(([0, 1, 2, 3] if use.attribute("across_channels") else [0, 2, 3]) if given is None else given)
    fields: dict[str, object] = {"epsilon": EPSILON, "fused_activation": fused(use)}
    fields["normalize_variance"] = use.attribute("normalize_variance") in (None, 1)
    made = use.make(use.right(0), axes=use.promoted(axes), **fields)
    return use.out(made, use[0].sizes)


def lp(use: Use) -> OnnxValue:
    """The divisor is a norm."""
    (axis,) = use.promoted([use.axis()])
    return use.out(use.make(use.right(0), axis=axis, p=use.integer("p"), epsilon=LP_EPSILON), use[0].sizes)


def local_response(use: Use) -> OnnxValue:
    """The squares that are added up are those of neighboring channels."""
    numbers: dict[str, object] = {name: use.number(name) for name in ("alpha", "beta", "bias")}
    made = use.make(use.right(0), cross_channel=True, local_size=use.integer("size"), **numbers)
    return use.out(made, use[0].sizes)


def layer(use: Use) -> tuple[OnnxValue | None, ...]:
    """The mean and the inverse of the deviation, where the node gives them, are computed beside the result."""
    axis, sizes = use.axis(), use[0].sizes
    whole = use.out(_layer(use, use.left(0), axis, 1, 2), sizes)
    if not (use.wants(1) or use.wants(2)):
        return (whole,)
    statistics = _statistics(use, axis)
    small = tuple(1 if place >= axis else size for place, size in enumerate(sizes))
    return whole, *(use.out(one, small, place) for place, one in enumerate(statistics, 1))


def simplified_layer(use: Use) -> OnnxValue:
    """The mean counts as 0."""
    if use.wants(1):
        use.refuse("DML-ONNX-unsupported", what="a normalization with a second output")
    return use.out(_layer(use, use.left(0), use.axis(), 1, 2, use_mean=False), use[0].sizes)


def skip_layer(use: Use) -> tuple[OnnxValue | None, ...]:
    """Two or three tensors are added first; the sum may be an output, too."""
    names = [one.name for one in use.version.inputs]
    if use.wants(1) or use.wants(2):
        use.refuse("DML-ONNX-unsupported", what="the mean or a normalization with a second output")
    use.require_rank(1)
    sizes, has_mean = use[0].sizes, "beta" in names
    added = [place for place in (1, names.index("bias")) if place == 1 or use.has(place)]
    total = reduce(use.g.element_wise_add, (_spread_left(use, place, sizes) for place in added), use.left(0))
    beta = names.index("beta") if has_mean else len(names)
    whole = _layer(use, total, len(sizes) - 1, 2, beta, use_mean=has_mean)
    return use.out(whole, sizes), None, None, use.out(total, sizes, 3) if use.wants(3) else None


def _layer(use: Use, x: Value, axis: int, scale: int, bias: int, *, use_mean: bool = True) -> Value:
    """Normalize the axes from one on. A scale of another data type decides in which one is computed."""
    sizes = use[0].sizes
    made = use.make(
        _as(use, x, use.dtype_of(scale)),
        _spread_left(use, scale, sizes),
        _spread_left(use, bias, sizes) if use.has(bias) else None,
        axes=range(axis, max(len(sizes), RANK)),
        use_mean=use_mean,
        epsilon=use.number("epsilon"),
    )
    return _as(use, made, use.dtype())


def _statistics(use: Use, axis: int) -> tuple[Value, Value]:
    """The mean of the axes from one on, and the inverse of their deviation."""
    g, x = use.g, _as(use, use.left(0), use.dtype(1))
    full = left_aligned(use[0].sizes, RANK)
    axes = range(axis, len(full))
    mean = g.reduce(x, function="AVERAGE", axes=axes)
    squares = g.element_wise_difference_square(x, g.broadcast(mean, full))
    variance = g.reduce(squares, function="AVERAGE", axes=axes)
    deviation = g.element_wise_sqrt(variance, scale_bias=(1, use.number("epsilon")))
    return mean, g.element_wise_recip(deviation)


def _spread_left(use: Use, place: int, sizes: tuple[int, ...]) -> Value:
    """An input broadcast to sizes of ONNX, with axes of size 1 at the end."""
    one = use.spread(place, sizes, len(sizes))
    strides = one.desc.strides or packed(one.desc.sizes)
    full = left_aligned(one.desc.sizes, RANK)
    return use.g.reinterpret(one, TensorDesc(one.desc.dtype, full, left_aligned(tuple(strides), len(full))))


def _as(use: Use, value: Value, dtype: str) -> Value:
    return value if value.desc.dtype == TensorDataType[dtype] else use.g.cast(value, output_dtype=dtype)


def group(use: Use) -> OnnxValue:
    """The channels, which come last or second, are parted into groups; the last axis holds the places."""
    use.require_rank(4, 4)
    groups, is_last = use.integer("groups"), use.integer("channels_last") != 0
    sizes = use[0].sizes
    channels, places = sizes[3 if is_last else 1], prod(sizes[1:3] if is_last else sizes[2:])
    if groups < 1 or channels % groups:
        use.refuse("DML-ONNX-attribute-value", name="groups", value=groups, known=f"divisors of {channels}")
    part = channels // groups
    full = (sizes[0], groups, part, places)
    factors = [use.view(_vector(use, place, channels), full, (0, part, 1, 0)) for place in (1, 2)]
    x = use.view(0, full, (places * channels, part, 1, channels) if is_last else packed(full))
    x = _as(use, x, use.dtype_of(1))
    made = use.g.mean_variance_normalization(x, *factors, cross_channel=False, epsilon=use.number("epsilon"))
    if use.integer("activation"):
        made = use.g.element_wise_multiply(made, use.g.activation_sigmoid(made))
    made = _as(use, made, use.dtype())
    if is_last:
        made = use.g.element_wise_identity(use.g.transpose(made, (0, 3, 1, 2)))
    return use.out(made, sizes)


def embed_layer(use: Use) -> tuple[OnnxValue | None, ...]:
    """Rows of two or three tables are added up and normalized, and the mask is counted."""
    use.require_rank(2, 2)
    sizes, g, tokens = use[0].sizes, use.g, use.right(0)
    if use.has(8):
        numbers = use.spread(8, sizes)
    else:
        row = g.fill_value_sequence(
            output_sizes=(1, 1, 1, sizes[1]), value_start=0, value_delta=1, output_dtype="INT32"
        )  # fmt: skip
        numbers = g.broadcast(row, (1, 1, *sizes))
    indices = [(2, tokens), (3, numbers)]
    if use.has(1):
        indices.append((4, use.spread(1, sizes)))
    rows = [g.gather(_table(use, place), index, axis=2, index_dimensions=2) for place, index in indices]
    total = reduce(g.element_wise_add, rows)
    full = (*sizes, use[2].sizes[1])
    factors = (use.along(place, 2, full) for place in (5, 6))
    whole = use.make(total, *factors, axes=3, epsilon=use.number("epsilon"))
    return use.out(whole, full), _counted(use), use.out(total, full, 2)


def _table(use: Use, place: int) -> Value:
    """A table of rows, as long as those of the first table."""
    one = use[place]
    if one.rank != 2:
        use.refuse("DML-ONNX-rank", name=one.name, rank=one.rank, wanted=2)
    if one.sizes[1] != use[2].sizes[1]:
        use.refuse("DML-ONNX-broadcast", sizes=[*one.sizes], wanted=[one.sizes[0], use[2].sizes[1]])
    return use.right(one)


def _counted(use: Use) -> OnnxValue | None:
    """How many elements of each row of the mask are 1; 0 without a mask. The comparison is read as INT32."""
    if not use.wants(1):
        return None
    g, sizes = use.g, use[0].sizes
    if not use.has(7):
        zeros = g.fill_value_constant(output_sizes=(1, 1, sizes[0], 1), value=0, output_dtype="INT32")
        return use.out(zeros, sizes[:1], 1)
    one = g.fill_value_constant(output_sizes=(1, 1, 1, 1), value=1, output_dtype="INT32")
    is_one = g.element_wise_logical_equals(
        use.spread(7, sizes), g.broadcast(one, (1, 1, *sizes)), output_dtype="UINT32"
    )  # fmt: skip
    counts = g.reduce(g.reinterpret(is_one, TensorDesc("INT32", (1, 1, *sizes))), function="SUM", axes=3)
    return use.out(counts, sizes[:1], 1)


def _vector(use: Use, place: int, count: int) -> OnnxValue:
    if use[place].sizes != (count,):
        use.refuse("DML-ONNX-broadcast", sizes=[*use[place].sizes], wanted=[count])
    return use[place]
