"""The operators in ONNX Runtime: the graphs of ``tests/onnx_backend``, and of operators that it leaves out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from devices.torch_peers import NotExpressible
from devices.uses import Arrays, Use
from dmlcy._arithmetic import Array
from dmlcy._reference.expected import outputs_of

if (path := str(Path(__file__).resolve().parents[1] / "onnx_backend")) not in sys.path:
    sys.path.append(path)

import onnx_graphs.graph as graphs
from onnx_graphs.graph import Graph

Conversion = Callable[[Graph, Any], Any]
MORE: dict[str, Conversion] = {}


def run(use: Use, arrays: Arrays) -> dict[str, Array]:
    """The outputs of a use by their names. NotExpressible if ONNX Runtime does not compute it."""
    import onnx_graphs  # noqa: F401

    given: dict[str, Array] = {}
    for name, array in arrays.items():
        several = enumerate(array) if isinstance(array, tuple) else [(None, array)]
        given |= {name if place is None else f"{name}_{place}": one for place, one in several}
    try:
        if use.operator.name not in MORE:
            found = graphs.evaluate(use.desc, given)
        else:
            graph = Graph(given)
            names = MORE[use.operator.name](graph, use.desc)
            found = graph.run([names] if isinstance(names, str) else list(names))
    except graphs.NotExpressible as error:
        raise NotExpressible(str(error)) from None
    return dict(zip(outputs_of(use.desc), found, strict=True))


def also(*operators: str) -> Callable[[Conversion], Conversion]:
    """Enter a conversion of these operators."""

    def enter(conversion: Conversion) -> Conversion:
        MORE.update(dict.fromkeys(operators, conversion))
        return conversion

    return enter


def flat(graph: Graph, *names: str) -> list[str]:
    """Inputs with one axis."""
    for name in names:
        graph.arrays[name] = graph.arrays[name].reshape(-1)
    return list(names)


@also("ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX")
def softmax(graph: Graph, desc: Any) -> Any:
    kind = "LogSoftmax" if "LOG" in desc.operator.name else "Softmax"
    return graph.add(kind, "input", axis=-1)


@also("MEAN_VARIANCE_NORMALIZATION")
def of_channels(graph: Graph, desc: Any) -> Any:
    return graph.add("InstanceNormalization", "input", *flat(graph, "scale", "bias"), epsilon=desc.epsilon)


@also("MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
def layer(graph: Graph, desc: Any) -> Any:
    return graph.add("LayerNormalization", "input", *flat(graph, "scale", "bias"), axis=-1, epsilon=desc.epsilon)


@also("LOCAL_RESPONSE_NORMALIZATION")
def response(graph: Graph, desc: Any) -> Any:
    return graph.add("LRN", "input", size=desc.local_size, alpha=desc.alpha, beta=desc.beta, bias=desc.bias)


@also("LP_NORMALIZATION")
def norm(graph: Graph, desc: Any) -> Any:
    return graph.add("LpNormalization", "input", axis=desc.axis, p=desc.p)


@also("RNN", "GRU", "LSTM")
def recurrent(graph: Graph, desc: Any) -> Any:
    """ONNX has the tensors without their first axes, and the last state with the directions first."""
    arrays, kind = graph.arrays, desc.operator.name
    hidden = arrays["recurrence"].shape[-1]
    for name, lead in (("input", 1), ("weight", 1), ("recurrence", 1), ("bias", 2)):
        arrays[name] = arrays[name][(0,) * lead]
    more = {"linear_before_reset": int(desc.linear_before_reset)} if kind == "GRU" else {}
    found = graph.add(kind, "input", "weight", "recurrence", "bias", outputs=2, hidden_size=hidden, **more)
    return graph.add("Unsqueeze", found[1], graph.constant(np.array([0])))


@also("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
def attention(graph: Graph, desc: Any) -> Any:
    """Of one head, by its formula."""
    dtype = graph.arrays["query"].dtype
    names = ["query", "key", "value"]
    if desc.bias is not None:
        parts = np.split(graph.arrays.pop("bias"), 3)
        names = [graph.add("Add", name, graph.constant(part)) for name, part in zip(names, parts, strict=True)]
    turned = graph.add("Transpose", names[1], perm=[0, 2, 1])
    scores = graph.add("Mul", graph.add("MatMul", names[0], turned), graph.constant(np.array(desc.scale, dtype)))
    return graph.add("MatMul", graph.add("Softmax", scores, axis=-1), names[2])


@also("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
def product(graph: Graph, desc: Any) -> Any:
    zeros = [name for name in ("a_zero_point", "b_zero_point") if name in graph.arrays]
    flat(graph, *zeros[:1])
    found = graph.cast(graph.add("MatMulInteger", "a", "b", *zeros), desc.output.dtype.name.lower())
    found = graph.add("Mul", found, graph.add("Mul", "a_scale", "b_scale"))
    return found if desc.bias is None else graph.add("Add", found, "bias")


@also("FOLD")
def fold(graph: Graph, desc: Any) -> Any:
    sizes = [graph.constant(np.array(one, np.int64)) for one in (desc.output.sizes[2:], desc.window_sizes)]
    return graph.add("Col2Im", "input", *sizes)


@also("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "UPSAMPLE_2D")
def resample(graph: Graph, desc: Any) -> Any:
    graphs.refuse(getattr(desc, "antialiased", False), "ONNX Runtime leaves elements beyond the ends out")
    sizes = graph.constant(np.array(desc.output.sizes, np.int64))
    return graph.add("Resize", "input", "", "", sizes, mode="linear", coordinate_transformation_mode="half_pixel")


@also("ROI_ALIGN1")
def regions(graph: Graph, desc: Any) -> Any:
    graphs.refuse(desc.reduction_function.name != "AVERAGE", "ONNX Runtime takes maxima of weighed elements")
    graph.arrays["batch_indices"] = graph.arrays["batch_indices"].astype(np.int64)
    height, width = desc.output.sizes[2:]
    settings = {"output_height": height, "output_width": width, "sampling_ratio": desc.maximum_samples_per_output}
    return graph.add("RoiAlign", "input", "roi", "batch_indices", mode="avg", **settings)


@also("DEQUANTIZE")
def dequantize(graph: Graph, desc: Any) -> Any:
    return graph.add("DequantizeLinear", "input", *flat(graph, "quantizations_0", "quantizations_1"), axis=1)


@also("QUANTIZE")
def quantize(graph: Graph, desc: Any) -> Any:
    return graph.add("QuantizeLinear", "input", *flat(graph, "quantizations_0", "quantizations_1"), axis=1)


@also("DYNAMIC_QUANTIZE_LINEAR")
def dynamic(graph: Graph, desc: Any) -> Any:
    return graph.add("DynamicQuantizeLinear", "input", outputs=3)
