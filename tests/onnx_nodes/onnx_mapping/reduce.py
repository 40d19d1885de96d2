"""Sums and extremes along axes, softmax and what is like it, and normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_mapping.node import Array, Node, NotExpressible, along, converts, dml, normalised, scalar

FUNCTIONS = {
    "ReduceL1": "L1", "ReduceL2": "L2", "ReduceLogSum": "LOG_SUM", "ReduceLogSumExp": "LOG_SUM_EXP",
    "ReduceMax": "MAX", "ReduceMean": "AVERAGE", "ReduceMin": "MIN", "ReduceProd": "MULTIPLY", "ReduceSum": "SUM",
    "ReduceSumSquare": "SUM_SQUARE",
}  # fmt: skip
SOFT = {
    "Softmax": "activation_softmax1", "LogSoftmax": "activation_log_softmax1", "Hardmax": "activation_hardmax1",
}  # fmt: skip


@converts(*FUNCTIONS)
def reduce(node: Node) -> Array:
    x, axes = node[0], node.given("axes", 1)
    if not axes and node.attribute("noop_with_empty_axes", 0):
        return dml.element_wise_identity(x)
    chosen = normalised(axes or range(x.ndim), max(1, x.ndim))
    found = dml.reduce(x, function=FUNCTIONS[node.kind], axes=chosen or [0], output_dtype=_plain(x))
    found = found.view(bool) if x.dtype == bool else found
    return found if node.attribute("keepdims", 1) else found.squeeze(tuple(chosen))


@converts("ArgMax", "ArgMin")
def argmax(node: Node) -> Array:
    axis = node.axis(0)
    last = node.attribute("select_last_index", 0)
    function = dml.argmax if node.kind == "ArgMax" else dml.argmin
    found = function(node[0], axes=axis, axis_direction="DECREASING" if last else "INCREASING", output_dtype=np.int64)
    return found if node.attribute("keepdims", 1) else found.squeeze(axis)


@converts(*SOFT)
def softmax(node: Node) -> Array:
    if node.opset < 13:
        raise NotExpressible("before opset 13, the axis parted a matrix")
    return getattr(dml, SOFT[node.kind])(node[0], axes=node.axis(-1))


@converts("CumSum", "CumProd")
def scan(node: Node) -> Array:
    axis = int(scalar(node[1])) % node[0].ndim
    name = "sum" if node.kind == "CumSum" else "product"
    function = dml.cumulative_summation if node.kind == "CumSum" else dml.cumulative_product
    return function(
        node[0],
        axis=axis,
        axis_direction="DECREASING" if node.attribute("reverse", 0) else "INCREASING",
        **{f"has_exclusive_{name}": bool(node.attribute("exclusive", 0))},
    )


@converts("MeanVarianceNormalization")
def mvn(node: Node) -> Array:
    axes = normalised(node.attribute("axes", [0, 2, 3]), node[0].ndim)
    return dml.mean_variance_normalization1(node[0], axes=axes, epsilon=1e-9)


@converts("InstanceNormalization")
def instance(node: Node) -> Array:
    x = node[0]
    factors = [along(node[place], 1, x.ndim) for place in (1, 2)]
    axes = list(range(2, x.ndim))
    return dml.mean_variance_normalization1(x, *factors, axes=axes, epsilon=node.attribute("epsilon", 1e-5))


@converts("GroupNormalization")
def group(node: Node) -> Array:
    x, count = node[0], node.attribute("num_groups")
    parts = x.reshape(x.shape[0], count, x.shape[1] // count, -1)
    scale, bias = (node[place].reshape(1, count, -1, 1) for place in (1, 2))
    return dml.mean_variance_normalization1(
        parts, scale, bias, axes=[2, 3], epsilon=node.attribute("epsilon", 1e-5)
    ).reshape(x.shape)


@converts("LayerNormalization")
def layer(node: Node) -> Any:
    """The mean and the inverse of the deviation, where they are outputs, take more operators."""
    x, axis, epsilon = node[0], node.axis(-1), node.attribute("epsilon", 1e-5)
    axes = list(range(axis, x.ndim))
    factors = [None if one is None else _leading(one, x.ndim) for one in (node[1], node.get(2))]
    whole = dml.mean_variance_normalization1(x, *factors, axes=axes, epsilon=epsilon)
    if node.outputs == 1:
        return whole
    mean = dml.reduce(x, function="AVERAGE", axes=axes)
    squares = dml.element_wise_difference_square(x, np.broadcast_to(mean, x.shape))
    variance = dml.reduce(squares, function="AVERAGE", axes=axes)
    deviation = dml.element_wise_sqrt(variance, scale_bias=(1, epsilon))
    return (whole, mean, dml.element_wise_recip(deviation))[: node.outputs]


@converts("RMSNormalization")
def root_mean_square(node: Node) -> Array:
    x, axis = node[0], node.axis(-1)
    return dml.mean_variance_normalization2(
        x,
        _leading(node[1], x.ndim),
        axes=list(range(axis, x.ndim)),
        use_mean=False,
        epsilon=node.attribute("epsilon", 1e-5),
    )


@converts("LpNormalization")
def lp(node: Node) -> Array:
    """The least epsilon, so that zeros stay: ONNX has none, and divides zeros by 1."""
    least = float(np.finfo(np.float32).tiny)
    return dml.lp_normalization(node[0], axis=node.axis(-1), p=node.attribute("p", 2), epsilon=least)


@converts("LRN")
def local_response(node: Node) -> Array:
    return dml.local_response_normalization(
        node[0],
        cross_channel=True,
        local_size=node.attribute("size"),
        alpha=node.attribute("alpha", 1e-4),
        beta=node.attribute("beta", 0.75),
        bias=node.attribute("bias", 1.0),
    )


@converts("DynamicQuantizeLinear")
def dynamic_quantize(node: Node) -> Any:
    values, scale, zero = dml.dynamic_quantize_linear(node[0], output_dtype=np.uint8)
    return values, scale.reshape(()), zero.reshape(())


def _plain(x: Array) -> Any:
    """The data type of a tensor; that of truth is UINT8."""
    return np.dtype(np.uint8) if x.dtype == bool else x.dtype


def _leading(array: Array, rank: int) -> Array:
    return array.reshape((1,) * (rank - array.ndim) + array.shape)
