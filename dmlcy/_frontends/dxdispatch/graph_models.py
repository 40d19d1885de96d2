"""Serialized graphs as dispatchables of a model: read, checked against what is bound to them, and executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dmlcy._errors import Violation
from dmlcy._facts.levels import current_level
from dmlcy._facts.names import not_runnable
from dmlcy._facts.tables import LEVEL_INDEX, FeatureLevelName
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch import buffers, files
from dmlcy._frontends.dxdispatch.json import is_flatbuffer
from dmlcy._frontends.dxdispatch.model import DispatchGraph, GraphDispatchable, Model
from dmlcy._frontends.dxdispatch.problems import Problem, Refusal, make
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.graphs import serialized
from dmlcy._frontends.graphs.found import Read
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Node, Port
from dmlcy._graph.run import CompiledGraph
from dmlcy._graph.violations import of_node
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array


@dataclass(frozen=True, slots=True)
class Loaded:
    """The graph of a dispatchable; ``valid``: nothing is wrong with it, at a later level at least."""

    graph: GraphDesc
    valid: bool

    def tensors(self) -> Iterator[tuple[str, str, TensorDesc]]:
        """The tensors that are bound, as (kind, name, desc): the inputs that something reads, then the outputs."""
        wiring = wiring_of(self.graph)
        for index, end in enumerate(self.graph.inputs):
            port = Port(None, index)
            desc = wiring.desc_of(port) if port in wiring.readers else None
            if desc is not None:
                yield "input", end.name, desc
        for index, end in enumerate(self.graph.outputs):
            source = wiring.source_of(Port(None, index))
            desc = None if source is None else wiring.desc_of(source)
            if desc is not None:
                yield "output", end.name, desc


def load(
    reader: Reader, model: Model, folder: Path, level: FeatureLevelName | None, *, fill: bool
) -> dict[str, Loaded]:
    """The graphs of a model by the name of the dispatchable; problems are at the path of the file."""
    found = {}
    for name, dispatchable in model.graphs.items():
        read = _read(reader, dispatchable, folder, fill)
        if read is None:
            continue
        broken = [*read.wrong, *read.broken(LEVEL_INDEX[level or current_level()])]
        for problem in broken:
            if problem.warning:
                reader.warnings.append(Problem(reader.document.place(dispatchable.source), problem.located(), True))
            else:
                reader.add(dispatchable.source, problem.located())
        if read.graph is not None:
            sound = all(one.warning or one.violation.error == "FeatureLevelError" for one in broken)
            found[name] = Loaded(read.graph, sound)
    return found


def _read(reader: Reader, one: GraphDispatchable, folder: Path, fill: bool) -> Read | None:
    """The graph in a file; None, with a problem, where there is none."""
    path = files.find(folder, one.source.value)
    try:
        with files.open_regular(path) as stream:
            data = files.read_bytes(stream)
        if not is_flatbuffer(data):
            raise ValueError("it is not a serialized graph")
        return serialized.read(serialized.decode(str(path), data), path.parent, fill=fill)
    except Refusal as error:
        for problem in error.problems:
            reader.add(one.source, problem.located())
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or str(error)
        reader.report("DML-MODEL-source", one.source, path=one.source.value, why=why)
    return None


def check(reader: Reader, model: Model, graphs: Mapping[str, Loaded]) -> None:
    """Report what is not bound to a graph, is not a part of it, is too small, or is shared with an output."""
    for command in model.commands:
        if not isinstance(command, DispatchGraph) or command.dispatchable not in graphs:
            continue
        loaded = graphs[command.dispatchable]
        tensors = [*loaded.tensors()]
        reader.ignore_others(command.bound, [one.name for one in (*loaded.graph.inputs, *loaded.graph.outputs)])
        if not loaded.valid:
            continue
        for _, name, _ in tensors:
            if name not in command.bound.value:
                reader.missing("DML-MODEL-unbound", command.bound, name, field=name, name=command.dispatchable)
        buffers.reach(reader, model, ((name, desc) for _, name, desc in tensors), command.bindings)
        buffers.overlaps(reader, model, command.bindings, tensors, ())


def must_run(reader: Reader, model: Model, graphs: Mapping[str, Loaded], *, observed: bool) -> None:
    """Report nodes that do not run, and that the values of a graph have no bounds to be expected within."""
    for name, loaded in graphs.items():
        source = model.graphs[name].source
        for number, node in enumerate(loaded.graph.nodes):
            if isinstance(node, Node) and not node.desc.operator.runs:
                reader.add(source, of_node(not_runnable(node.kind), node, number))
        if observed:
            reader.add(source, _unexpected(reader, name))


def _unexpected(reader: Reader, name: str) -> Violation:
    return make("DML-GRAPH-file-expect", reader.document.place(reader.document.root), {"name": name}).violation


def execute(graph: CompiledGraph, views: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of a graph; ``views``: the tensors that are bound, by the name of the value."""
    arguments = {name: views.get(name, np.zeros(0, np.uint8)) for name in graph.called}
    found = graph.run((), arguments)
    return found if isinstance(found, tuple) else (found,)
