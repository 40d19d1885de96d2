"""The program of a graph: its steps with their loops, and where each pointer of them leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dmlcy._desc.memory import dtype_of
from dmlcy._desc.whole import Switches
from dmlcy._facts.dtypes import has_four_bits, numpy_dtype
from dmlcy._graph.actions import Action, actions, is_plain
from dmlcy._graph.model import Port, Structure
from dmlcy._graph.places import Place, places_of
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._runtime.program import Form, Program, form_of


def program_of(graph: Structure, operators: Sequence[Any], left: set[int], without: Switches) -> Program:
    """The program of a valid graph, for the compiled operator of each node.

    ``left``: nodes that are folded, and that each run refuses nevertheless.
    """
    wiring, places = wiring_of(graph), places_of(graph, without)
    forms: dict[tuple[int, tuple[Any, ...]], Form | None] = {}
    steps: list[tuple[Form | bool | None, list[Place], list[tuple[int, int, int]]]] = []
    for action in actions(graph, without):
        if action.node in places.adjacent or action.views:
            steps.append((False, [], []))
            continue
        if action.folded:
            steps.append((None if action.node in left else False, [], []))
            continue
        reads = [
            (port, desc if port is None else places.seen(port, desc))
            for (_, desc), port in zip(wiring.inputs[action.node], wiring.read[action.node], strict=True)
            if desc is not None
        ]
        operator = operators[action.node]
        key = id(operator), tuple(desc.strides if port in places.views else None for port, desc in reads)
        if key not in forms:
            tensors = [desc for _, desc in reads] + [one.desc for one in action.outputs]
            forms[key] = form_of(operator, tensors)
        form = forms[key]
        if form is None or any(port is None for port, _ in reads):
            steps.append((None, [], _gaps(action, places.of)))
            continue
        of = [places.of[port] for port, _ in reads if port is not None]
        of += [places.of[one.port] for one in action.outputs]
        steps.append((form, of, _gaps(action, places.of)))
    fixed = [_aligned(wiring, port) for port in places.fixed]
    inputs = []
    for port in places.given:
        desc = wiring.desc_of(port)
        takes = desc is not None and is_plain(desc, wiring.sizes[port]) and not has_four_bits(dtype_of(desc))
        inputs.append((desc if takes else None, desc is not None, _aligned(wiring, port)))
    results = [desc for _, desc in places.results.values()]
    return Program(fixed, inputs, results, len(results) == len(graph.outputs), places.arena, steps)


def _gaps(action: Action, of: dict[Port, Place]) -> list[tuple[int, int, int]]:
    """What is 0 before a node runs: outputs with bytes between or behind their elements."""
    if action.over is not None or all(is_plain(one.desc, one.size) for one in action.outputs):
        return []
    return [(*of[one.port], one.size) for one in action.outputs]


def _aligned(wiring: Wiring, port: Port) -> int:
    """The bytes of the largest element that is read of a value."""
    readers = (wiring.desc_of_target(target) for target in wiring.readers.get(port, ()))
    descs = [wiring.desc_of(port), *readers]
    return max((numpy_dtype(dtype_of(desc)).itemsize for desc in descs if desc is not None), default=1)
