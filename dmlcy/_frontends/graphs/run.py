"""Run a graph from a file: with given or made inputs, its outputs printed, its values dumped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

import numpy as np

from dmlcy._compile import compile as compile_desc
from dmlcy._errors import DmlError
from dmlcy._facts.levels import current_level
from dmlcy._facts.tables import LEVEL_INDEX, FeatureLevelName
from dmlcy._frontends.dxdispatch import show
from dmlcy._frontends.dxdispatch.given import made, of_file
from dmlcy._frontends.dxdispatch.problems import printable, refuse
from dmlcy._frontends.graphs.found import Read
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Port
from dmlcy._graph.wiring import wiring_of
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array

if TYPE_CHECKING:
    from dmlcy._graph.profile import Profile
    from dmlcy._graph.run import CompiledGraph


@dataclass(frozen=True, slots=True)
class Options:
    """``inputs``: files by the name of the graph input; the others get small integers, drawn from ``seed``.

    ``keep``: every value of the last iteration is kept. ``every``: all elements of an output are printed.
    """

    level: FeatureLevelName | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    iterations: int = 1
    keep: bool = False
    name: str = "graph"
    every: bool = False


def run(found: Read, graph: GraphDesc, out: TextIO, options: Options) -> dict[Port, Array]:
    """Run the graph of a file, which is valid, and print its outputs; the values that are kept."""
    values, results = computed(found, graph, options, out)
    for index, result in enumerate(results):
        port = wiring_of(graph).source_of(Port(None, index))
        assert port is not None
        name = graph.outputs[index].name or wiring_of(graph).value_names[port]
        out.writelines(show.output(name, np.asarray(to_array(result)), every=options.every))
    return values


def valid(found: Read, level: FeatureLevelName | None) -> GraphDesc:
    """The graph of a file; raises all that is wrong with it, at its places."""
    wrong = found.broken(LEVEL_INDEX[level or current_level()])
    problems = [*found.wrong, *(one for one in wrong if not one.warning)]
    if problems or found.graph is None:
        refuse(problems)
    return found.graph


def computed(
    found: Read, graph: GraphDesc, options: Options, out: TextIO | None = None
) -> tuple[dict[Port, Array], tuple[Array, ...]]:
    """The values of a run that are kept, and the outputs."""
    values: dict[Port, Array] = {}
    try:
        operator, arguments = _prepared(graph, options)
        times = []
        for number in range(options.iterations):
            keep = options.keep and number == options.iterations - 1
            start = time.perf_counter()
            results = operator.run((), arguments, None, _keeper(values) if keep else None)
            times.append((time.perf_counter() - start) * 1000)
    except DmlError as error:
        refuse(found.problems(error.violations))
    if out is not None:
        out.write(show.timing("Graph", printable(options.name), times))
        out.write(f"Optimizations: {operator.optimizations}\n")
    return values, results if isinstance(results, tuple) else (results,)


def profile(found: Read, graph: GraphDesc, options: Options) -> Profile:
    """The profile of a run of the graph of a file, which is valid."""
    try:
        operator, arguments = _prepared(graph, options)
        return operator.profile(*arguments.values(), runs=options.iterations)
    except DmlError as error:
        refuse(found.problems(error.violations))


def _prepared(graph: GraphDesc, options: Options) -> tuple[CompiledGraph, dict[str, Array]]:
    """The compiled graph, and the inputs of a call."""
    operator = compile_desc(graph, options.level)
    given = inputs(graph, options)
    operator.initialize(**{name: given[name] for name in operator.owned})
    return operator, {name: given[name] for name in operator.called}


def _keeper(values: dict[Port, Array]) -> Callable[[Port, Array], None]:
    def keep(port: Port, value: Array) -> None:
        values[port] = np.array(to_array(value), order="C")

    return keep


def inputs(graph: GraphDesc, options: Options) -> dict[str, Array]:
    """An array for each graph input, by its name."""
    wiring = wiring_of(graph)
    found = {}
    for index in range(len(graph.inputs)):
        name, desc = wiring.value_names[Port(None, index)], wiring.desc_of(Port(None, index))
        if desc is None:
            found[name] = np.zeros(0, np.uint8)  # nothing reads it
        elif name in options.inputs:
            found[name] = of_file(options.inputs[name], desc)
        else:
            found[name] = made(desc, np.random.default_rng((options.seed, index)))
    return found
