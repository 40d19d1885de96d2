"""The DirectML graph of a model as files: as JSON, and each graph that ONNX Runtime makes as it serializes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dmlcy._frontends.dxdispatch.files import Content, Contents
from dmlcy._frontends.graphs import serialized, writer
from dmlcy._frontends.graphs.to_records import constant_files, to_records
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.placing import Placer
from dmlcy._frontends.onnx.stages import Stage
from dmlcy._frontends.serialized.writer import write
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Node, Port
from dmlcy._graph.owned import LEAST, as_inputs, data_of, large_constants
from dmlcy._graph.parts import within
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array


def saved(model: CompiledModel, arrays: Mapping[str, Array]) -> Contents:
    """The files: ``graph.json`` with its constants, then each partition with the constants that it reads."""
    stage, _ = model.stage(arrays, [one.name for one in model.outputs])
    if stage.graph is None:
        return {}
    graph = as_onnx_runtime_names(stage)
    found: Contents = writer.contents(graph)
    for number, part in enumerate(partitions(stage, graph)):
        found |= _serialized(part, f"Partition_{number}")
    return found


def as_onnx_runtime_names(stage: Stage) -> GraphDesc:
    """The graph, whose nodes have the names that ONNX Runtime gives them: ``#3 '/conv/Conv'_dmlEp_0``."""
    graph = stage.graph
    assert graph is not None
    names: dict[int, str] = {}
    for visit in stage.walk.all():
        outer = visit.steps[0]
        index = visit.node.number if isinstance(outer, str) else outer.number
        made = [stage.numbers[number] for number in visit.made if number in stage.numbers]
        for place, number in enumerate(made):
            names[number] = f"#{index} '{visit.node.name}'_dmlEp_{place}"
    nodes = (
        replace(node, name=names[number]) if number in names and isinstance(node, Node) else node
        for number, node in enumerate(graph.nodes)
    )
    return replace(graph, nodes=tuple(nodes))


def partitions(stage: Stage, graph: GraphDesc) -> Iterator[GraphDesc]:
    """The graphs that ONNX Runtime makes of the nodes, in their order; nodes that are compiled alone are in none."""
    placer = Placer(stage.settings.model.opsets, stage.walk.visits)
    for number in range(placer.partitions):
        made = {
            stage.numbers[one]
            for placement in placer.placements
            if placement.partition == number
            for one in placement.visit.made
            if one in stage.numbers
        }
        if made:
            yield within(graph, made, wiring_of(graph).value_names)


def _serialized(graph: GraphDesc, name: str) -> Contents:
    numbers = large_constants(graph, LEAST)
    owned = as_inputs(graph, numbers)
    names = constant_files(owned)
    found: Contents = {}
    for place, number in enumerate(numbers, len(graph.inputs)):
        file = f"{names[Port(None, place)]}{serialized.SUFFIX}"
        found[(name, file)] = _bytes_writer(data_of(graph, number).tobytes())
    found[(name, f"{name}{serialized.SUFFIX}")] = _bytes_writer(write(to_records(owned)))
    return found


def _bytes_writer(data: bytes) -> Content:
    return lambda stream: stream.write(data)
