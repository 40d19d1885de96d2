"""Runs a compiled graph several times, and says how long each of its steps takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import index
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import dtype_of, extent
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import size_in_bytes
from dmlcy._families import family_of
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.actions import Action
from dmlcy._graph.model import Node, Port, Structure
from dmlcy._graph.profile import LeftOut, Profile, StepProfile
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._runtime.memory import require
from dmlcy._runtime.threads import get_num_threads

Stamps: TypeAlias = npt.NDArray[np.int64]


def profiled(
    graph: Structure,
    steps: Sequence[Sequence[Action]],
    adjacent: frozenset[int],
    run: Callable[[Stamps | None], object],
    runs: int,
) -> Profile:
    """The profile of so many runs, after one that is not measured.

    ``steps``: what each step of the program computes; ``adjacent``: the nodes that have nothing to do; ``run``: a run
    whose stamps are the times at its start and after each step.
    """
    count = index(runs)
    if count < 1:
        raise ValueError(f"profile() takes 1 run or more, not {count}")
    require(8 * count * (len(steps) + 1), "profile(): the times")
    stamps: Stamps = np.zeros((count, len(steps) + 1), np.int64)
    run(None)
    whole = []
    for number in range(count):
        start = time.perf_counter()
        run(stamps[number])
        whole.append(time.perf_counter() - start)
    return _profile(graph, steps, adjacent, stamps, whole)


def _profile(
    graph: Structure,
    steps: Sequence[Sequence[Action]],
    adjacent: frozenset[int],
    stamps: Stamps,
    whole: Sequence[float],
) -> Profile:
    """The profile that follows from the stamps. A step whose nodes are all folded, adjacent or views does not count."""
    took = np.median(np.diff(stamps, axis=1), axis=0) * 1e-9
    middle = stamps[np.argsort(stamps[:, -1] - stamps[:, 0], kind="stable")[(len(stamps) - 1) // 2]]
    since = (middle - middle[0]) * 1e-9
    left = [LeftOut(*_named(graph, one), "folded" if one.folded else "view" if one.views else "adjacent")
            for step in steps for one in step if one.folded or one.views or one.node in adjacent]  # fmt: skip
    out = {one.node for one in left}
    there = [place for place, step in enumerate(steps) if any(one.node not in out for one in step)]
    total = float(sum(took[place] for place in there)) or 1.0
    known: dict[int, int | None] = {}
    rows = []
    for place in there:
        members = [one for one in steps[place] if one.node not in out]
        nodes, names, operators = zip(*(_named(graph, one) for one in members), strict=True)
        rows.append(
            StepProfile(
                nodes, names, operators,
                seconds=float(took[place]),
                share=float(took[place]) / total,
                bytes=_moved(wiring_of(graph), members),
                operations=_sum([_operations(_desc(graph, one.node), known) for one in members]),
                start=float(since[place]),
                end=float(since[place + 1]),
                origins=tuple(str(graph.nodes[number].origin or "") for number in nodes),
            )
        )  # fmt: skip
    return Profile(tuple(rows), tuple(left), len(stamps), get_num_threads(), float(np.median(whole)))


def steps_of(actions: Sequence[Action]) -> list[Sequence[Action]]:
    """The nodes that each step of a program computes: the first step of a chain all its nodes, and the others none."""
    found: list[Sequence[Action]] = []
    for place, action in enumerate(actions):
        chain = action.chain
        places = (place,) if chain is None else chain.places if place == chain.places[0] else ()
        found.append([actions[one] for one in places])
    return found


def _named(graph: Structure, action: Action) -> tuple[int, str, str]:
    node = graph.nodes[action.node]
    return action.node, node.name, node.kind


def _desc(graph: Structure, number: int) -> OperatorDesc:
    node = graph.nodes[number]
    assert isinstance(node, Node)
    return node.desc


def _operations(desc: OperatorDesc, known: dict[int, int | None]) -> int | None:
    """The operations of a node; nodes that are alike have one desc."""
    if id(desc) not in known:
        known[id(desc)] = family_of(desc.operator).operations(desc)
    return known[id(desc)]


def _sum(parts: Sequence[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _moved(wiring: Wiring, members: Sequence[Action]) -> int:
    """Bytes of what a step reads and writes; what only its own nodes read of each other does not count."""
    own = {action.node for action in members}
    read: dict[Port, int] = {}
    written = 0
    for action in members:
        for one in action.read():
            if one.port.node not in own:
                read[one.port] = max(read.get(one.port, 0), _bytes(one.desc))
        for one in action.outputs:
            readers = {target.node for target in wiring.readers.get(one.port, ())}
            if not readers or not readers <= own:
                written += _bytes(one.desc)
    return sum(read.values()) + written


def _bytes(desc: TensorDesc) -> int:
    """Bytes of the elements of a tensor: one that is repeated counts once."""
    return min(extent(desc), size_in_bytes(dtype_of(desc), desc.element_count))
