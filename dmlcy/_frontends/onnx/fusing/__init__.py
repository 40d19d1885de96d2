"""ONNX Runtime's optimiser, which changes a model before DirectML gets it: passes over the nodes, each in its file.

The passes are those whose conditions are known, on the nodes of the graph of the model itself. The optimiser's other
changes, such as moved Transpose nodes, are in the file that ``optimized_model_filepath`` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from dmlcy._frontends.onnx.fusing import (
    activations,
    bias_gelu,
    common,
    conv,
    fused_matmul,
    gelu,
    gemm,
    gemm_sum,
    gemm_transpose,
    layer_norm,
    no_ops,
    pad_conv,
    quantized,
    quick_gelu,
    relu_clip,
    reshapes,
    skip_layer_norm,
)
from dmlcy._frontends.onnx.fusing.editing import Editing, Gone
from dmlcy._frontends.onnx.model import Model
from dmlcy._frontends.onnx.placing import Placement, Placer
from dmlcy._frontends.onnx.walk import Walk

LEVELS: Final = ("none", "basic", "extended")
"""The levels, as ONNX Runtime's GraphOptimizationLevel calls them: ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ..."""
ROUNDS: Final = 10
"""How often the passes of a level run, if each time one of them changes something."""
Pass = Callable[[Editing], None]


class Optimized(NamedTuple):
    """A model behind the optimiser, and the nodes that are gone."""

    model: Model
    gone: tuple[Gone, ...]


def optimized(model: Model, level: str, sizes: Mapping[str, Sequence[int]] | None = None) -> Optimized:
    """The model as the optimiser leaves it at a level of ``LEVELS``; ``sizes``: as ``Walk`` takes them."""
    gone: tuple[Gone, ...] = ()
    if level == "none":
        return Optimized(model, gone)
    walk = Walk(model, sizes)
    first = Editing(walk, [one.node for one in walk.visits if one.fate != "folded"])
    _run(first, _basic(first))
    gone, model = _settled(first, ()), first.model_now()
    if level == "extended":
        walk = Walk(model, sizes)
        placements = Placer(model.opsets, walk.visits).placements
        second = Editing(walk, [one.visit.node for one in placements if _is_taken(one)])
        _run(second, _extended(second))
        activations.join(second)
        gone, model = _settled(second, gone), second.model_now()
    return Optimized(model, gone)


def _is_taken(one: Placement) -> bool:
    """Whether DirectML has a node. ONNX Runtime folds no DequantizeLinear of constants before."""
    return one.where in ("dml", "view") or (one.where == "folded" and one.visit.node.operator == "DequantizeLinear")


def _basic(graph: Editing) -> list[Pass]:
    """The passes that run before nodes are placed."""
    found: list[Pass] = [
        no_ops.remove, relu_clip.join, gemm_sum.join, gemm_transpose.join, conv.join, pad_conv.join, common.join,
        gemm.join, reshapes.join,
    ]  # fmt: skip
    if gelu.is_onnx(graph):
        found.append(partial(gelu.join, kind="ai.onnx.Gelu"))
    if layer_norm.is_onnx(graph):
        found.append(layer_norm.join)
    return found


def _extended(graph: Editing) -> list[Pass]:
    """The passes that take nodes of DirectML only."""
    found: list[Pass] = [quantized.join]
    if not gelu.is_onnx(graph):
        found.append(partial(gelu.join, kind="com.microsoft.Gelu"))
    if not layer_norm.is_onnx(graph):
        found.append(layer_norm.join)
    return [
        *found,
        fused_matmul.turn,
        bias_gelu.join,
        skip_layer_norm.join,
        quick_gelu.join,
        fused_matmul.scale,
        fused_matmul.activate,
    ]


def _run(graph: Editing, passes: Sequence[Pass]) -> None:
    for _ in range(ROUNDS):
        before = graph.changes
        for one in passes:
            one(graph)
        if graph.changes == before:
            return


def _settled(graph: Editing, earlier: Sequence[Gone]) -> tuple[Gone, ...]:
    """The nodes that are gone, each with the node that does its work at the end, unless that is gone for nothing."""
    found = []
    for one in (*earlier, *graph.gone):
        into = None if one.into is None else graph.place(one.into)
        found.append(Gone(one.node, into if into in graph.nodes else None, one.by))
    return tuple(found)
