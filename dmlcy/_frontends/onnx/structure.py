"""The structure of a model: each value is given once, by something, and no node waits for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from dmlcy._frontends.dxdispatch.problems import Place, Problem, did_you_mean, make, refuse
from dmlcy._frontends.onnx.model import Function, Graph, Model, Node
from dmlcy._frontends.onnx.places import in_words, place_of
from dmlcy._graph.order import cycle_of, in_order
from dmlcy._words.values import quote

_MOST: Final = 100
"""Problems of a model that are reported."""
_NAMED: Final = 8  # nodes of a cycle that a message names
Steps = tuple[Node | str, ...]
"""The way to a graph inside of the model, as place_of takes it."""


def ordered(graph: Graph | Function, file: str = "", steps: Steps = ()) -> tuple[Node, ...]:
    """The nodes, each behind those whose outputs it reads, otherwise in the order of the file; Refusal for a cycle.

    A node with a graph in an attribute reads what the graph reads of the values around it.
    """
    givers = {name: place for place, node in enumerate(graph.nodes) for name in node.outputs if name}
    before = [[givers[name] for name in reads(node) if name in givers] for node in graph.nodes]
    if all(giver < place for place, given in enumerate(before) for giver in given):
        return graph.nodes
    order = in_order(before)
    if len(order) < len(before):
        cycle = [graph.nodes[place] for place in cycle_of(before, order)]
        named = " <- ".join([in_words(node) for node in cycle[:_NAMED]])
        more = f" <- ... ({len(cycle)} nodes in all)" if len(cycle) > _NAMED else f" <- {in_words(cycle[0])}"
        refuse([make("DML-ONNX-graph-cycle", place_of(file, *steps, cycle[0]), {"nodes": named + more})])
    return tuple(graph.nodes[place] for place in order)


def check(model: Model, functions: Sequence[Function]) -> list[Problem]:
    """The problems of the structure of a model, at most so many as are reported; Refusal for a cycle alone."""
    found = [*islice(_problems(model, functions), _MOST + 1)]
    if len(found) > _MOST:
        violation = replace(found[_MOST - 1].violation, hint=f"Only {_MOST} problems are listed.")
        found[_MOST - 1 :] = [replace(found[_MOST - 1], violation=violation)]
    if not found:
        _no_cycles(model.file, model.graph, ())
        for function in functions:
            _no_cycles(model.file, function, _steps(function))
    return found


def subgraphs(node: Node) -> Iterator[tuple[str, Graph]]:
    """The graphs in the attributes of a node, with the names of the attributes."""
    for attribute in node.attributes.values():
        if attribute.kind == "GRAPH" and attribute.value is not None:
            yield attribute.name, attribute.value
        elif attribute.kind == "GRAPHS":
            yield from ((attribute.name, graph) for graph in attribute.value or ())


def reads(node: Node) -> Iterator[str]:
    """The names that a node reads, those in its graphs included."""
    yield from node.inputs
    for _, graph in subgraphs(node):
        yield from _free(graph)


def _free(graph: Graph) -> set[str]:
    """The names that a graph reads of the values around it."""
    given = {one.name for one in graph.inputs} | {*graph.initializers}
    given.update(name for node in graph.nodes for name in node.outputs)
    read = {one.name for one in graph.outputs}
    read.update(name for node in graph.nodes for name in reads(node))
    return read - given


def _no_cycles(file: str, graph: Graph | Function, steps: Steps) -> None:
    ordered(graph, file, steps)
    for node in graph.nodes:
        for attribute, inner in subgraphs(node):
            _no_cycles(file, inner, (*steps, node, attribute))


# Order ---------------------------------------------------------------------------------------------------------------


# Problems ------------------------------------------------------------------------------------------------------------


def _problems(model: Model, functions: Sequence[Function]) -> Iterator[Problem]:
    file = model.file
    yield from _graph(file, model.graph, (), model.opsets, ())
    keys: dict[tuple[str, str, str], int] = {}
    for place, function in enumerate(functions):
        key = function.domain, function.name, function.overload
        if key in keys:
            values = {"name": function.name, "domain": quote(function.domain)}
            yield make("DML-ONNX-graph-function-twice", place_of(file, *_steps(function)), values)
        keys[key] = place
        yield from _function(file, function)
    before = [[keys[key] for key in _calls(function.nodes) if key in keys] for function in functions]
    order = in_order(before)
    if len(order) < len(functions):
        cycle = [functions[place] for place in cycle_of(before, order)]
        by = "" if len(cycle) == 1 else f" by way of {quote(cycle[1].name)}"
        values = {"name": cycle[0].name, "by": by}
        yield make("DML-ONNX-graph-recursion", place_of(file, *_steps(cycle[0])), values)


def _steps(function: Function) -> Steps:
    return (f"function {quote(function.name)}",)


def _calls(nodes: Sequence[Node]) -> Iterator[tuple[str, str, str]]:
    for node in nodes:
        yield node.domain, node.operator, node.overload
        for _, graph in subgraphs(node):
            yield from _calls(graph.nodes)


def _graph(
    file: str, graph: Graph, steps: Steps, opsets: Mapping[str, int], outer: tuple[Mapping[str, object], ...]
) -> Iterator[Problem]:
    given: dict[str, Node | str] = dict.fromkeys(graph.initializers, "an initializer")
    names: set[str] = set()
    for one in graph.inputs:
        if one.name in names:
            values = {"name": one.name, "first": "an input", "second": "another"}
            yield make("DML-ONNX-graph-twice", place_of(file, *steps), values)
        names.add(one.name)
        given.setdefault(one.name, "an input")
    yield from _nodes(file, graph.nodes, steps, opsets, given, outer)
    for place, name in enumerate(one.name for one in graph.outputs):
        if not _known(name, given, outer):
            yield _undefined(place_of(file, *steps), f"Output {place} of the graph is", name, given)


def _function(file: str, function: Function) -> Iterator[Problem]:
    steps = _steps(function)
    given: dict[str, Node | str] = dict.fromkeys(function.inputs, "an input")
    yield from _nodes(file, function.nodes, steps, function.opsets, given, ())
    for place, name in enumerate(function.outputs):
        if name not in given:
            yield _undefined(place_of(file, *steps), f"Output {place} of the function is", name, given)


def _nodes(
    file: str,
    nodes: Sequence[Node],
    steps: Steps,
    opsets: Mapping[str, int],
    given: dict[str, Node | str],
    outer: tuple[Mapping[str, object], ...],
) -> Iterator[Problem]:
    """The problems of nodes; ``given`` gets their outputs."""
    missing: set[str] = set()  # names and domains, each of which is reported once
    for node in nodes:
        for name in node.outputs:
            if name in given:
                first = given[name]
                first = first if isinstance(first, str) else in_words(first)
                values = {"name": name, "first": first, "second": in_words(node)}
                yield make("DML-ONNX-graph-twice", place_of(file, *steps, node), values)
            elif name:
                given[name] = node
    for node in nodes:
        for place, name in enumerate(node.inputs):
            if name not in given and name and name not in missing and not _known(name, given, outer):
                missing.add(name)
                yield _undefined(place_of(file, *steps, node), f"Input {place} of the node is", name, given)
        if node.domain not in opsets and f"\0{node.domain}" not in missing:
            missing.add(f"\0{node.domain}")
            owner = f"the {steps[0]}" if steps and isinstance(steps[0], str) else "the model"
            values = {"name": node.domain, "owner": owner}
            yield make("DML-ONNX-graph-domain", place_of(file, *steps, node), values)
        for attribute, graph in subgraphs(node):
            yield from _graph(file, graph, (*steps, node, attribute), opsets, (*outer, given))


def _known(name: str, given: Mapping[str, object], outer: Sequence[Mapping[str, object]]) -> bool:
    return name in given or any(name in names for names in outer)


def _undefined(place: Place, reader: str, name: str, given: Mapping[str, object]) -> Problem:
    return make("DML-ONNX-graph-undefined", place, {"reader": reader, "name": name}, hint=did_you_mean(name, given))
