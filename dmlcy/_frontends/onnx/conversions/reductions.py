"""Reductions, sums along an axis, the largest elements."""

from __future__ import annotations

from typing import Final

from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import OnnxValue

FUNCTIONS: Final = {
    "ReduceL1": "L1", "ReduceL2": "L2", "ReduceLogSum": "LOG_SUM", "ReduceLogSumExp": "LOG_SUM_EXP",
    "ReduceMax": "MAX", "ReduceMean": "AVERAGE", "ReduceMin": "MIN", "ReduceProd": "MULTIPLY", "ReduceSum": "SUM",
    "ReduceSumSquare": "SUM_SQUARE",
}  # fmt: skip
"""The functions of REDUCE."""


def reduce(use: Use) -> OnnxValue:
    """The rank stays that of the model. Without axes, all elements are reduced, or none where an attribute says so."""
    sizes = use[0].sizes
    x = use.view(0, sizes or (1,))
    given = use.integers("axes", 1)
    if not given and use.attribute("noop_with_empty_axes"):
        return use.out(use.g.element_wise_identity(x), sizes)
    axes = use.axes(given or range(len(sizes)))
    function = FUNCTIONS[use.row.name]
    return use.out(use.make(x, function=function, axes=sorted(axes) or [0]), reduced(use, axes))


def reduced(use: Use, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of the result, with or without the axes that are reduced."""
    sizes = enumerate(use[0].sizes)
    if use.integer("keepdims"):
        return tuple(1 if axis in axes else size for axis, size in sizes)
    return tuple(size for axis, size in sizes if axis not in axes)


def arg(use: Use) -> OnnxValue:
    """Of equal elements the first one counts, or the last one."""
    axis = use.axis()
    direction = "DECREASING" if use.attribute("select_last_index") else "INCREASING"
    axes = use.promoted([axis])
    indices = use.make(use.right(0), axes=axes, axis_direction=direction, output_dtype=use.dtype())
    return use.out(indices, reduced(use, (axis,)))


def top_k(use: Use) -> tuple[OnnxValue, OnnxValue]:
    """The indices are UINT64, and have the bytes of the INT64 of ONNX."""
    axis, sizes = use.axis(), [*use[0].sizes]
    k = use.integer("k") if "k" in use.version.attributes else use.single(1, "iu")
    length = sizes[axis] if sizes else 1
    if not 1 <= k <= length:
        use.refuse("DML-ONNX-attribute-value", name="k", value=k, known=f"from 1 to {length}")
    sizes[axis : axis + 1] = [k] * len(sizes[axis : axis + 1])
    values, indices = use.make(
        use.right(0),
        axis=use.promoted([axis])[0],
        k=k,
        axis_direction="DECREASING" if use.attribute("largest") in (None, 1) else "INCREASING",
        output_index_dtype="UINT64",
    )
    return use.out(values, sizes), use.out(indices, sizes, 1)


def cumulate(use: Use) -> OnnxValue:
    """The axis is an input that must be a constant."""
    axes = use.promoted(use.axes([use.single(1, "iu")], "axis"))
    summed = use.make(
        use.right(0),
        axis=axes[0],
        axis_direction="DECREASING" if use.integer("reverse") else "INCREASING",
        has_exclusive_sum=bool(use.integer("exclusive")),
    )
    return use.out(summed, use[0].sizes)
