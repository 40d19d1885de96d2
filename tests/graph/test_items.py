"""Random graphs: where an analysis says that the items of an input stay apart in an output, no run shows otherwise."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from by_nodes import tensor_of_input
from depth import draws_of
from random_graphs import Drawer, arrays_for

import dmlcy as dml
from dmlcy._graph.items import Axis, Batch, Mixed, output_of
from dmlcy._graph.wiring import wiring_of

Run = Callable[[Mapping[str, Any]], tuple[Any, ...] | None]


def item(array: Any, axis: Axis, number: int) -> bytes:
    """The bytes of an item of an output."""
    places = range(number * axis.each, (number + 1) * axis.each)
    return bytes(np.take(np.asarray(array), places, axis.axis).tobytes())


def claims(graph: dml.graph.GraphDesc, operator: Any, arrays: Mapping[str, Any]) -> Iterator[tuple[str, int, int, Any]]:
    """Each axis of each input, with what each output is of, unless the items are mixed in it."""
    wiring = wiring_of(graph)
    for index in range(len(graph.inputs)):
        port = dml.graph.Port(None, index)
        name = wiring.value_names[port]
        if name not in operator.called or name not in arrays:
            continue
        for axis, number in enumerate(arrays[name].shape):
            batch = Batch(graph, {index: (arrays[name].shape, axis)}, number, operator.known) if number > 1 else None
            for place in range(len(graph.outputs) if batch is not None else 0):
                assert batch is not None
                found = batch.of_output(place, output_of(graph, place)[1].sizes)
                if not isinstance(found, Mixed):
                    yield name, axis, place, found


def refuted(seed: int) -> tuple[int, list[str]]:
    """The number of outputs of a random graph that have items, and the outputs of which runs refute it."""
    below, rng = random.Random(seed), np.random.default_rng(seed)
    graph = Drawer(below.randrange).graph(1 + below.randrange(6))
    if dml.check(graph):
        return 0, []
    names = wiring_of(graph).value_names
    given = arrays_for(graph, tensor_of_input, rng)
    arrays = {names[dml.graph.Port(None, index)]: array for index, array in given.items()}
    operator = dml.compile(graph)
    operator.initialize(**{name: arrays[name] for name in operator.owned})

    def run(others: Mapping[str, Any]) -> tuple[Any, ...] | None:
        try:
            found = operator(**{name: others.get(name, arrays.get(name)) for name in operator.called})
        except dml.DmlError:  # of the values
            return None
        return found if isinstance(found, tuple) else (found,)

    count, wrong = 0, []
    for name, axis, place, found in claims(graph, operator, arrays):
        count += found is not None
        if not all(holds(run, arrays[name], name, axis, place, found)):
            wrong.append(f"{seed}: {name} along {axis}, output {place} {found}")
    return count, wrong


def holds(run: Run, array: Any, name: str, axis: int, place: int, found: Axis | None) -> Iterator[bool]:
    """Whether an item of an output changes with its item of the input only, and goes where this goes."""
    number, before = array.shape[axis], run({})
    order = np.roll(np.arange(number), 1)
    after = run({name: np.take(array, order, axis)})
    if before is not None and after is not None:
        yield found is None or all(
            item(after[place], found, k) == item(before[place], found, int(order[k])) for k in range(number)
        )
    for k in range(number) if before is not None else ():
        changed = array.copy()
        changed[(slice(None),) * axis + (k,)] += 1
        after = run({name: changed})
        if before is not None and after is not None and found is None:
            yield np.asarray(after[place]).tobytes() == np.asarray(before[place]).tobytes()
        elif before is not None and after is not None and found is not None:
            yield all(item(after[place], found, j) == item(before[place], found, j) for j in range(number) if j != k)


@draws_of(60, 3000)
def test_items_stay_apart_where_it_is_said(draws: int) -> None:
    found = [refuted(seed) for seed in range(draws)]
    assert [line for _, wrong in found for line in wrong] == []
    assert sum(count for count, _ in found) > draws // 5


def test_a_wrong_analysis_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batch, "_are_same", lambda *_: True)
    assert all(refuted(seed)[1] for seed in (159, 216, 235, 283))
