"""Reductions, products, moves of elements, indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_graphs.graph import Graph, converts, refuse

REDUCE = {
    "AVERAGE": "ReduceMean", "L1": "ReduceL1", "L2": "ReduceL2", "LOG_SUM": "ReduceLogSum",
    "LOG_SUM_EXP": "ReduceLogSumExp", "MAX": "ReduceMax", "MIN": "ReduceMin", "MULTIPLY": "ReduceProd",
    "SUM": "ReduceSum", "SUM_SQUARE": "ReduceSumSquare",
}  # fmt: skip
AXIS = {
    "ACTIVATION_HARDMAX1": "Hardmax", "ACTIVATION_LOG_SOFTMAX1": "LogSoftmax", "ACTIVATION_SOFTMAX1": "Softmax",
}  # fmt: skip


def whole(graph: Graph, numbers: Any) -> str:
    """Whole numbers as a tensor."""
    return graph.constant(np.array(numbers, np.int64))


def signed(graph: Graph, name: str) -> str:
    """Indices in a data type that ONNX has for them."""
    return name if graph.arrays[name].dtype in (np.int32, np.int64) else graph.cast(name, np.int64)


@converts("REDUCE")
def reduce(graph: Graph, desc: Any) -> str:
    function = desc.function.name
    if function in ("ARGMAX", "ARGMIN"):
        refuse(len(desc.axes) != 1, "ONNX finds the place of an extreme along one axis")
        found = graph.add(f"Arg{function[3:].title()}", "input", axis=desc.axes[0])
        return graph.cast(found, desc.output.dtype.name.lower())
    refuse(not desc.axes, "without axes, ONNX reduces all")
    return str(graph.add(REDUCE[function], "input", whole(graph, desc.axes)))


@converts("ARGMAX", "ARGMIN")
def place(graph: Graph, desc: Any) -> str:
    refuse(len(desc.axes) != 1, "ONNX finds the place of an extreme along one axis")
    last = int(desc.axis_direction.name == "DECREASING")
    kind = {"ARGMAX": "ArgMax", "ARGMIN": "ArgMin"}[desc.operator.name]
    found = graph.add(kind, "input", axis=desc.axes[0], select_last_index=last)
    return graph.cast(found, desc.output.dtype.name.lower())


@converts(*AXIS)
def along(graph: Graph, desc: Any) -> str:
    refuse(len(desc.axes) != 1, "ONNX takes one axis")
    return str(graph.add(AXIS[desc.operator.name], "input", axis=desc.axes[0]))


@converts("GEMM")
def gemm(graph: Graph, desc: Any) -> str:
    names = []
    for name in ("a", "b"):
        rank = graph.arrays[name].ndim
        turned = [*range(rank - 2), rank - 1, rank - 2]
        is_turned = getattr(desc, f"trans_{name}").name == "TRANSPOSE"
        names.append(graph.add("Transpose", name, perm=turned) if is_turned else name)
    dtype = graph.arrays["a"].dtype
    found = graph.add("Mul", graph.add("MatMul", *names), graph.constant(np.array(desc.alpha, dtype)))
    if desc.c is None:
        return str(found)
    return str(graph.add("Add", found, graph.add("Mul", "c", graph.constant(np.array(desc.beta, dtype)))))


@converts("JOIN")
def join(graph: Graph, desc: Any) -> str:
    return str(graph.add("Concat", *graph.arrays, axis=desc.axis))


@converts("SPLIT")
def split(graph: Graph, desc: Any) -> Any:
    sizes = whole(graph, [one.sizes[desc.axis] for one in desc.outputs])
    found = graph.add("Split", "input", sizes, outputs=len(desc.outputs), axis=desc.axis)
    return [found] if isinstance(found, str) else found


@converts("TILE")
def tile(graph: Graph, desc: Any) -> str:
    return str(graph.add("Tile", "input", whole(graph, desc.repeats)))


@converts("PADDING")
def padding(graph: Graph, desc: Any) -> str:
    modes = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "WRAP": "wrap"}
    refuse(desc.padding_mode.name not in modes, "ONNX has no such padding")
    pads = whole(graph, [*desc.start_padding, *desc.end_padding])
    dtype = graph.arrays["input"].dtype
    values = (
        [graph.constant(np.array(desc.padding_value).astype(dtype))] if desc.padding_mode.name == "CONSTANT" else []
    )
    return str(graph.add("Pad", "input", pads, *values, mode=modes[desc.padding_mode.name]))


@converts("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1")
def depth_to_space(graph: Graph, desc: Any) -> str:
    order = getattr(desc, "order", None)
    mode = "DCR" if order is None or order.name == "DEPTH_COLUMN_ROW" else "CRD"
    return str(graph.add("DepthToSpace", "input", blocksize=desc.block_size, mode=mode))


@converts("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1")
def space_to_depth(graph: Graph, desc: Any) -> str:
    order = getattr(desc, "order", None)
    refuse(order is not None and order.name != "DEPTH_COLUMN_ROW", "ONNX has one order")
    return str(graph.add("SpaceToDepth", "input", blocksize=desc.block_size))


@converts("SLICE1")
def slice_(graph: Graph, desc: Any) -> str:
    rank = range(len(desc.input.sizes))
    offsets, sizes, steps = desc.input_window_offsets, desc.input_window_sizes, desc.input_window_strides
    starts = [offsets[n] if steps[n] > 0 else offsets[n] + sizes[n] - 1 for n in rank]
    ends = [
        offsets[n] + sizes[n] if steps[n] > 0 else offsets[n] - 1 - (desc.input.sizes[n] if offsets[n] == 0 else 0)
        for n in rank
    ]
    return str(graph.add("Slice", "input", *(whole(graph, one) for one in (starts, ends, rank, steps))))


@converts("GATHER_ELEMENTS")
def gather_elements(graph: Graph, desc: Any) -> str:
    return str(graph.add("GatherElements", "input", signed(graph, "indices"), axis=desc.axis))


@converts("SCATTER")
def scatter(graph: Graph, desc: Any) -> str:
    return str(graph.add("ScatterElements", "input", signed(graph, "indices"), "updates", axis=desc.axis))


@converts("TOP_K", "TOP_K1")
def top_k(graph: Graph, desc: Any) -> Any:
    direction = getattr(desc, "axis_direction", None)
    largest = int(direction is None or direction.name == "DECREASING")
    values, indices = graph.add("TopK", "input", whole(graph, [desc.k]), outputs=2, axis=desc.axis, largest=largest)
    return values, graph.cast(indices, desc.output_index.dtype.name.lower())


@converts("CUMULATIVE_SUMMATION")
def sums(graph: Graph, desc: Any) -> str:
    settings = {"exclusive": int(desc.has_exclusive_sum), "reverse": int(desc.axis_direction.name == "DECREASING")}
    return str(graph.add("CumSum", "input", graph.constant(np.array(desc.axis, np.int64)), **settings))


@converts("BATCH_NORMALIZATION")
def batch_normalization(graph: Graph, desc: Any) -> str:
    channels = graph.arrays["input"].shape[1] if graph.arrays["input"].ndim > 1 else 0
    names = ("scale", "bias", "mean", "variance")
    for name in names:
        array = graph.arrays[name]
        refuse(
            array.ndim < 2 or array.size != channels or array.shape[1] != channels,
            "ONNX has one number for each channel",
        )
        graph.arrays[name] = array.reshape(-1)
    return str(graph.add("BatchNormalization", "input", *names, epsilon=desc.epsilon))


@converts("MATRIX_MULTIPLY_INTEGER")
def matrix_multiply_integer(graph: Graph, desc: Any) -> str:
    refuse(desc.a_zero_point is not None or desc.b_zero_point is not None, "zero points of other sizes")
    found = graph.add("MatMulInteger", "a", "b")
    return graph.cast(found, desc.output.dtype.name.lower())


@converts("REVERSE_SUBSEQUENCES")
def reverse(graph: Graph, desc: Any) -> str:
    lengths = graph.arrays["sequence_lengths"]
    refuse(lengths.ndim < 2 or desc.axis > 1, "ReverseSequence has one axis of sequences and one of batches")
    batch = 1 - desc.axis
    refuse(lengths.size != lengths.shape[batch], "ReverseSequence has one axis of sequences and one of batches")
    graph.arrays["sequence_lengths"] = lengths.reshape(-1).astype(np.int64)
    return str(graph.add("ReverseSequence", "input", "sequence_lengths", time_axis=desc.axis, batch_axis=batch))
