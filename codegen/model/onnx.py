"""ONNX's operators: their versions, and what ONNX Runtime makes of them for DirectML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ATTRIBUTES = (
    "FLOAT", "INT", "STRING", "TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO", "FLOATS", "INTS", "STRINGS", "TENSORS",
    "GRAPHS",
)  # fmt: skip
"""The kinds of attributes."""
ONNX = "ai.onnx"
"""The domain of ONNX's own operators."""
PLACES = ("view", "cpu", "shader", "copy", "removed")
"""Where a node goes that becomes no operator of DirectML: see ``OnnxOperator.place``."""


@dataclass(frozen=True, slots=True)
class OnnxParameter:
    """An input or an output. ``mark``: "?" optional, "*" and "+" any number, "+" at least one."""

    name: str
    type: str  # a data type, such as INT64, or the variable of a constraint, such as T
    mark: str


@dataclass(frozen=True, slots=True)
class OnnxAttribute:
    """An attribute. ``default``: The value is None without a default."""

    name: str
    kind: str
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class OnnxVersion:
    """A version of an operator, which holds until the next one."""

    since: int
    inputs: tuple[OnnxParameter, ...]
    outputs: tuple[OnnxParameter, ...]
    attributes: tuple[OnnxAttribute, ...]
    deprecated: bool
    function: bool


@dataclass(frozen=True, slots=True)
class OnnxOperator:
    """An operator of ONNX, or of another domain that ONNX Runtime knows.

    ``becomes``: the operators of DirectML, one tuple for each way that a node can go; ``sometimes``: operators that
    some nodes add. ``place`` is "view" for the same bytes under other sizes, "cpu" for a kernel of the CPU that is
    registered for DirectML, "shader" for a compute shader of ONNX Runtime. The value "copy" copies between the memory
    of CPU and GPU; "removed" is done by the optimiser, where the version has no kernel.
    """

    name: str
    domain: str
    group: str  # the file
    kernels: tuple[int, ...]  # the versions that have a kernel
    becomes: tuple[tuple[str, ...], ...]
    sometimes: tuple[str, ...]
    place: str
    graph: str  # "never" a node of a DirectML graph, only with "two inputs", or ""
    constants: tuple[int, ...]  # the inputs that the kernel reads on the CPU
    types: Mapping[str, tuple[str, ...]]  # by input or output: the data types of the kernels
    query: str  # the name of the condition under which ONNX Runtime leaves a node to the CPU
    fused: tuple[str, ...]  # the activations that it fuses into a node
    about: str  # what else ONNX Runtime makes of a node, in sentences
    conversion: str  # the function that makes the descs of a node
    fold: str  # the function that gives the elements of the outputs from constant inputs
    element: str  # the attribute that gives the data type of the outputs whose variable no input of a node has
    otherwise: str  # their data type, or the variable that it is of, where the attribute is left out or 0
    sizes: str  # "first": each output has the sizes of the first input, as is said of operators without a conversion
    inlined: str  # the function that gives the nodes in place of this one
    source: str  # where the versions are described
    versions: tuple[OnnxVersion, ...]

    @property
    def shown(self) -> str:
        """The name, with the domain where that is not ONNX's own."""
        return self.name if self.domain == ONNX else f"{self.domain}.{self.name}"

    def read(self) -> tuple[str, ...]:
        """The names of the inputs that the newest kernel reads on the CPU."""
        newest = [one for one in self.versions if one.since in self.kernels][-1:]
        return tuple(one.inputs[at].name for one in newest for at in self.constants if at < len(one.inputs))

    def opsets(self) -> tuple[tuple[int, int], ...]:
        """The opsets that have a kernel, as the first and the last one of each range; 0 for a last one that is open."""
        found: list[tuple[int, int]] = []
        ends = [one.since - 1 for one in self.versions[1:]]
        for one, last in zip(self.versions, [*ends, 0], strict=False):
            if one.since in self.kernels and not one.deprecated:
                first = found.pop()[0] if found and found[-1][1] == one.since - 1 else one.since
                found.append((first, last))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class OnnxRuntime:
    """A release of ONNX Runtime that the tables describe."""

    version: str
    opset: int
    minimum: str
    source: str


@dataclass(frozen=True, slots=True)
class Onnx:
    """Everything in specs/onnx."""

    runtimes: tuple[OnnxRuntime, ...]
    queries: Mapping[str, str]  # by name: a condition in words
    operators: tuple[OnnxOperator, ...]
