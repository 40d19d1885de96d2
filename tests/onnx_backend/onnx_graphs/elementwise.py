"""Operators that work element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx_mapping import elementwise

import dmlcy
from onnx_graphs.graph import Graph, converts, refuse

ONE = {name.upper(): kind for kind, name in elementwise.ONE.items() if kind != "Identity"}
TWO = {name.upper(): kind for kind, name in elementwise.TWO.items()}
TWO |= {
    "ELEMENT_WISE_ADD1": "Add",
    "ELEMENT_WISE_BIT_SHIFT_LEFT": "BitShift",
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": "BitShift",
    "ELEMENT_WISE_MAX": "Max",
    "ELEMENT_WISE_MIN": "Min",
    "ELEMENT_WISE_MODULUS_FLOOR": "Mod",
    "ELEMENT_WISE_MODULUS_TRUNCATE": "Mod",
}
LOGIC = {name.upper(): kind for kind, name in elementwise.LOGIC.items()}
TRUTH = {name.upper(): kind for kind, name in elementwise.TRUTH.items()}
WITH = {name.upper(): (kind, attributes) for kind, (name, attributes) in elementwise.WITH.items()}
ATTRIBUTES = {
    "ELEMENT_WISE_BIT_SHIFT_LEFT": {"direction": "LEFT"},
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": {"direction": "RIGHT"},
    "ELEMENT_WISE_MODULUS_TRUNCATE": {"fmod": 1},
}
FIXED: dict[str, dict[str, Any]] = {
    "ACTIVATION_HARD_SWISH": {"alpha": float(np.float32(1 / 6)), "beta": 0.5},
    "ACTIVATION_SOFTPLUS": {"steepness": 1.0},
    "ELEMENT_WISE_ROUND": {"rounding_mode": dmlcy.RoundingMode.HALVES_TO_NEAREST_EVEN},
}
"""Attributes that the node of ONNX does not have."""


def tensors(graph: Graph) -> list[str]:
    return list(graph.arrays)


@converts(*ONE)
def one(graph: Graph, desc: Any) -> str:
    fixed = FIXED.get(desc.operator.name, {})
    refuse(any(getattr(desc, name) != value for name, value in fixed.items()), "ONNX has this attribute of one value")
    return str(graph.add(ONE[desc.operator.name], "input"))


@converts(*TWO)
def two(graph: Graph, desc: Any) -> str:
    name = desc.operator.name
    kind = graph.arrays[tensors(graph)[0]].dtype.kind
    refuse(name == "ELEMENT_WISE_MODULUS_FLOOR" and kind == "f", "Mod of ONNX truncates floats")
    return str(graph.add(TWO[name], *tensors(graph), **ATTRIBUTES.get(name, {})))


@converts(*LOGIC)
def logic(graph: Graph, desc: Any) -> str:
    inputs = [graph.cast(name, np.bool_) for name in tensors(graph)]
    return graph.cast(graph.add(LOGIC[desc.operator.name], *inputs), desc.output.dtype.name.lower())


@converts(*TRUTH)
def truth(graph: Graph, desc: Any) -> str:
    return graph.cast(graph.add(TRUTH[desc.operator.name], *tensors(graph)), desc.output.dtype.name.lower())


@converts("ELEMENT_WISE_IS_INFINITY")
def is_infinity(graph: Graph, desc: Any) -> str:
    mode = desc.infinity_mode.name
    found = graph.add(
        "IsInf", "input", detect_negative=int(mode != "POSITIVE"), detect_positive=int(mode != "NEGATIVE")
    )
    return graph.cast(found, desc.output.dtype.name.lower())


@converts(*WITH)
def with_attributes(graph: Graph, desc: Any) -> str:
    kind, attributes = WITH[desc.operator.name]
    return str(graph.add(kind, "input", **{name: float(getattr(desc, name)) for name in attributes}))


@converts("ACTIVATION_SHRINK")
def shrink(graph: Graph, desc: Any) -> str:
    return str(graph.add("Shrink", "input", bias=desc.bias, lambd=desc.threshold))


@converts("ACTIVATION_GELU")
def gelu(graph: Graph, desc: Any) -> str:
    return str(graph.add("Gelu", "input"))


@converts("ACTIVATION_IDENTITY", "ELEMENT_WISE_IDENTITY")
def identity(graph: Graph, desc: Any) -> str:
    return str(graph.add("Identity", "input"))


@converts("ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1")
def clip(graph: Graph, desc: Any) -> str:
    dtype = graph.arrays["input"].dtype
    refuse(not desc.min <= desc.max, "where Min is above Max, ONNX gives Max and DirectML Min")
    limits: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    ends = [desc.min, desc.max]
    if desc.operator.name == "ELEMENT_WISE_CLIP":
        refuse(dtype.kind != "f" and any(end != int(end) for end in ends), "the ends are no numbers of the data type")
        refuse(any(not limits.min <= end <= limits.max for end in ends), "the ends are no numbers of the data type")
    return str(graph.add("Clip", "input", *(graph.constant(np.array(end, dtype)) for end in ends)))


@converts("ELEMENT_WISE_IF")
def where(graph: Graph, desc: Any) -> str:
    return str(graph.add("Where", graph.cast("condition", np.bool_), "a", "b"))


@converts("CAST")
def cast(graph: Graph, desc: Any) -> str:
    return graph.cast("input", desc.output.dtype.name.lower())


@converts("ELEMENT_WISE_MEAN")
def mean(graph: Graph, desc: Any) -> str:
    return str(graph.add("Mean", "a", "b"))
