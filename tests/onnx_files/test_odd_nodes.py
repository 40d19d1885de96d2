"""A node that no valid model has is refused, or becomes a graph that a check refuses: nothing else is raised."""

from __future__ import annotations

import odd_nodes
import pytest

import dmlcy
from dmlcy._frontends.onnx.tables import OPERATORS, OperatorRow, operator
from dmlcy._frontends.onnx.walk import Walk

ROWS = [row for key in sorted(OPERATORS) if (row := operator(*key)) is not None and row.conversion and row.versions]
NODES = 12
"""How many nodes of each operator are drawn."""


@pytest.mark.parametrize("group", sorted({row.group for row in ROWS}))
def test_odd_nodes_are_refused_or_converted(group: str) -> None:
    for row in (one for one in ROWS if one.group == group):
        for seed in range(NODES):
            _look(row, seed)


def _look(row: OperatorRow, seed: int) -> None:
    version = row.versions[-1 - seed % len(row.versions)]
    model = odd_nodes.model(row, version, seed)
    try:
        graph = Walk(model).graph()
        if graph is not None:
            dmlcy.check(graph)
    except Exception as failure:
        failure.add_note(f"{model.graph}")
        raise
