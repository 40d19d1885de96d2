"""Constant inputs that an operator prepares once for the runs of a graph."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def preparing(probe: ModuleType) -> Iterator[ModuleType]:
    probe.prepare_by("ELEMENT_WISE_ADD", True)
    yield probe
    probe.prepare_by("ELEMENT_WISE_ADD", False)


def graph(owned: bool = False) -> Any:
    """x + w + w + x: the same constant is prepared for two nodes, and a value that is not constant for none."""
    g = dml.Graph()
    desc = dml.TensorDesc("FLOAT32", X.shape)
    x = g.input(desc, name="x")
    flagged = dml.TensorDesc("FLOAT32", X.shape, flags="OWNED_BY_DML")
    w = g.input(flagged, name="w") if owned else g.constant(2 * X)
    return g.build(y=g.element_wise_add(g.element_wise_add(g.element_wise_add(x, w), w), x))


def test_a_constant_is_prepared_once(preparing: ModuleType) -> None:
    op = dml.compile(graph())
    assert preparing.prepared_counts() == (1, 0)
    for _ in range(3):
        assert op(X).tolist() == (6 * X).tolist()
    assert preparing.prepared_counts() == (1, 6)
    seen: list[Any] = []
    assert op.run((X,), {}, seen=lambda port, array: seen.append(array)).tolist() == (6 * X).tolist()
    assert preparing.prepared_counts() == (1, 8)
    with dml.record() as calls:  # each node is a call of its own
        assert op(X).tolist() == (6 * X).tolist()
    assert len(calls.calls) == 3 and preparing.prepared_counts() == (1, 8)


def test_what_dml_owns_is_prepared_when_it_is_given(preparing: ModuleType) -> None:
    op = dml.compile(graph(owned=True))
    assert preparing.prepared_counts() == (0, 0)
    op.initialize(2 * X)
    assert preparing.prepared_counts() == (1, 0)
    assert op(X).tolist() == (6 * X).tolist()
    op.initialize(3 * X)
    assert op(X).tolist() == (8 * X).tolist() == pickle.loads(pickle.dumps(op))(X).tolist()
    assert preparing.prepared_counts() == (3, 6)


def test_without_preparing_the_results_are_the_same(probe: ModuleType) -> None:
    assert dml.compile(graph())(X).tolist() == (6 * X).tolist()
    probe.prepare_by("ELEMENT_WISE_ADD", False)
    assert probe.prepared_counts() == (0, 0)
