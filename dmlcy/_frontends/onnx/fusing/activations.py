"""The fusion of the DirectML provider itself: a node takes the activation that alone reads its output."""

from __future__ import annotations

from dmlcy._frontends.onnx.fusing.editing import Editing, made
from dmlcy._frontends.onnx.tables import operator

DOMAIN = "com.microsoft.dml"


def join(graph: Editing) -> None:
    """The nodes and their activations are those of the tables; Sum has two inputs then."""
    for node in graph.each(*HOSTS):
        row = operator(node.domain, node.operator)
        activation = graph.reader(node, *row.fused) if row is not None and row.fused else None
        if activation is None or len(activation.inputs) != 1 or len(node.outputs) != 1:
            continue
        if node.operator == "Sum" and len(node.inputs) != 2:
            continue
        attributes = {name: one for name, one in node.attributes.items()}
        said = {f"fused_{name}": one.value for name, one in activation.attributes.items()}
        joined = made(
            node,
            f"{DOMAIN}.DmlFused{node.operator}",
            node.inputs,
            activation.outputs,
            **attributes,
            **{name: value for name, value in said.items() if isinstance(value, int | float)},
            fused_activation=activation.operator,
            fused_activation_domain="",
            fused_activation_since_version=graph.since(activation),
        )
        graph.join((node, activation), joined, "activation")


HOSTS = (
    "Conv", "ConvTranspose", "BatchNormalization", "InstanceNormalization", "MeanVarianceNormalization", "Gemm",
    "MatMul", "Add", "Sum",
)  # fmt: skip
"""The operators of ONNX whose nodes take an activation."""
