"""A node that no valid model has is refused, or becomes a graph that a check refuses: nothing else is raised."""

from __future__ import annotations

import odd_nodes
import pytest
from depth import draws_of

import dmlcy
from dmlcy._frontends.onnx.model import ELEMENTS, Model
from dmlcy._frontends.onnx.tables import operator
from dmlcy._frontends.onnx.values import OnnxValue
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._generated.onnx import OPERATORS

ROWS = [row for key in sorted(OPERATORS) if (row := operator(*key)) is not None and row.conversion and row.versions]


@draws_of(6, 300)
@pytest.mark.parametrize("group", sorted({row.group for row in ROWS}))
def test_odd_nodes_are_refused_or_converted(group: str, draws: int) -> None:
    for row in (one for one in ROWS if one.group == group):
        for seed in range(draws):
            model = odd_nodes.model(row, row.versions[-1 - seed % len(row.versions)], seed)
            try:
                _look(model)
            except Exception as failure:
                failure.add_note(f"{model.graph}")
                raise


def _look(model: Model) -> None:
    walk = Walk(model)
    graph = walk.graph()
    if graph is not None:
        dmlcy.check(graph)
    for visit in walk.all():
        for known in visit.outputs:
            if known.value is not None:
                _check_elements(known.value)


def _check_elements(value: OnnxValue) -> None:
    """A constant has the elements that its sizes and its data type say."""
    if value.read is not None:
        array = value.read()
        assert array.shape == value.sizes and array.dtype == ELEMENTS[value.element].numpy
