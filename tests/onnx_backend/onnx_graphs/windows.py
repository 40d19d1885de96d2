"""Pooling and convolutions."""

from __future__ import annotations

from typing import Any

from onnx_graphs.graph import Graph, converts, refuse


def window(desc: Any) -> dict[str, Any]:
    """Attributes that most operators of windows have."""
    found: dict[str, Any] = {"pads": [*desc.start_padding, *desc.end_padding], "strides": list(desc.strides)}
    dilations = getattr(desc, "dilations", None)
    return found if dilations is None else found | {"dilations": list(dilations)}


def with_least_output(desc: Any) -> None:
    """Windows that begin in the padding at the end are not there in ONNX; the sizes of the output tell."""
    sizes, dilations = desc.input.sizes[2:], getattr(desc, "dilations", (1,) * len(desc.strides))
    for axis, size in enumerate(sizes):
        span = (desc.window_size[axis] - 1) * dilations[axis] + 1
        whole = (size + desc.start_padding[axis] + desc.end_padding[axis] - span) // desc.strides[axis] + 1
        refuse(desc.output.sizes[2 + axis] != whole, "the output has windows that do not fit")


@converts("AVERAGE_POOLING", "AVERAGE_POOLING1")
def average(graph: Graph, desc: Any) -> str:
    with_least_output(desc)
    settings: dict[str, Any] = {"kernel_shape": list(desc.window_size), "count_include_pad": int(desc.include_padding)}
    return str(graph.add("AveragePool", "input", **window(desc), **settings))


@converts("LP_POOLING", "LP_POOLING1")
def norm(graph: Graph, desc: Any) -> str:
    with_least_output(desc)
    return str(graph.add("LpPool", "input", kernel_shape=list(desc.window_size), p=desc.p, **window(desc)))


@converts("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
def maximum(graph: Graph, desc: Any) -> str:
    with_least_output(desc)
    refuse(getattr(desc, "output_indices", None) is not None, "indices of ONNX are of the whole tensor")
    return str(graph.add("MaxPool", "input", kernel_shape=list(desc.window_size), **window(desc)))


@converts("CONVOLUTION")
def convolution(graph: Graph, desc: Any) -> str:
    refuse(desc.mode.name != "CROSS_CORRELATION", "ONNX has cross-correlations only")
    forward = desc.direction.name == "FORWARD"
    refuse(forward and any(desc.output_padding), "Conv has no output padding")
    inputs = ["input", "filter"]
    if desc.bias is not None:
        graph.arrays["bias"] = graph.arrays["bias"].reshape(-1)
        inputs.append("bias")
    settings = window(desc) | {"group": desc.group_count}
    if not forward:
        settings["output_padding"] = list(desc.output_padding)
    return str(graph.add("Conv" if forward else "ConvTranspose", *inputs, **settings))
