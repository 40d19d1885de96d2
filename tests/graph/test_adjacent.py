"""Nodes that have nothing to do: inputs of JOIN are computed in its output, outputs of SPLIT are views of its input."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from graphs import tensor

import dmlcy as dml

Drawn = tuple[dml.graph.GraphDesc, dict[int, Any], list[Any]]


def drawn(seed: int) -> Drawn:
    """A graph that splits and joins channels, its inputs, and what NumPy and the functions of operators give."""
    draw = random.Random(seed)
    g = dml.Graph()
    given: list[Any] = []
    values: list[tuple[Any, Any]] = []
    size = draw.choice([(1, 2), (2, 3), (1, 3)])  # the last one is no multiple of 8 bytes
    batch = 1 if seed % 4 else 2

    def add(value: Any, array: Any) -> None:
        values.append((value, np.asarray(array)))

    for number in range(2):
        array = np.random.default_rng(seed + number).normal(size=(batch, 4, *size)).astype(np.float32)
        given.append(array)
        add(g.input(tensor(*array.shape)), array)
    for _ in range(20):
        value, array = values[-1 - draw.randrange(min(len(values), 4))]
        kind = draw.randrange(6)
        channels = array.shape[1]
        if kind == 0 and channels > 1:
            cut = draw.randrange(1, channels)
            counts = [(batch, cut, *size), (batch, channels - cut, *size)]
            for part, one in zip(g.split(value, axis=1, output_sizes=counts), np.split(array, [cut], 1), strict=True):
                add(part, one)
        elif kind <= 2 and channels < 40:
            others = [draw.choice(values[-5:]) for _ in range(draw.randrange(1, 4))]
            whole = [(value, array), *others]
            add(g.join([one for one, _ in whole], axis=1), np.concatenate([one for _, one in whole], 1))
        elif kind == 3:
            add(g.activation_relu(value), dml.activation_relu(array))
        elif kind == 4:
            add(g.element_wise_add(value, value), array + array)
        else:
            add(g.activation_linear(value, alpha=0.5, beta=1), dml.activation_linear(array, alpha=0.5, beta=1))
    ends = [draw.choice(values[2:]) for _ in range(draw.randrange(3))] + values[-1:]
    return g.build(*(value for value, _ in ends)), dict(enumerate(given)), [array for _, array in ends]


@pytest.mark.parametrize("part", range(4))
def test_graphs_that_split_and_join_give_what_numpy_gives(part: int) -> None:
    adjacent = 0
    for seed in range(part, 120, 4):
        graph, given, expected = drawn(seed)
        op, arrays = dml.compile(graph), [*given.values()]
        adjacent += sum(step.adjacent for step in op.plan().steps)
        found = [op(*arrays), op(*arrays), op.run(arrays, {}, seen=lambda port, array: None)]
        with dml.record() as recorded:
            found.append(op(*arrays))
        assert len(recorded.calls) == len(op.plan().steps)
        outs = tuple(np.zeros_like(one) for one in expected)
        found.append(op(*arrays, out=outs[0] if len(outs) == 1 else outs))
        for results in found:
            for one, other in zip(results if isinstance(results, tuple) else (results,), expected, strict=True):
                assert one.tobytes() == other.tobytes(), seed
    assert adjacent > 5 if part else adjacent == 0


def test_a_join_of_computed_values_takes_no_memory_of_its_own() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 8, 16, 16))
    joined = g.join([g.activation_tanh(x), g.activation_relu(x), g.activation_elu(x)], axis=1)
    left, right = g.split(g.activation_tanh(joined), axis=1, output_sizes=[(1, 12, 16, 16)] * 2)
    op = dml.compile(g.build(g.max_pooling(g.element_wise_add(left, right), window_size=2, strides=2)))
    plan = op.plan()
    assert [(step.operator, step.written) for step in plan.steps if step.adjacent or step.view] == [
        ("JOIN", "adjacent"), ("SPLIT", "view")
    ]  # fmt: skip
    assert (plan.arena, plan.results) == (3 * 8 * 16 * 16 * 4, 12 * 8 * 8 * 4) and "adjacent" in str(plan)
    assert all(step.live <= plan.peak for step in plan.steps)
    array = np.random.default_rng(0).normal(size=(1, 8, 16, 16)).astype(np.float32)
    parts = np.concatenate([dml.activation_tanh(array), np.maximum(array, 0), dml.activation_elu(array)], 1)
    whole = dml.activation_tanh(parts)
    expected = dml.max_pooling(whole[:, :12] + whole[:, 12:], window_size=2, strides=2)
    assert op(array).tobytes() == expected.tobytes()
