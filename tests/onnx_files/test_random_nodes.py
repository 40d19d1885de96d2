"""Random nodes of ONNX, most of them invalid: each is folded or converted, or has an id that says why not."""

from __future__ import annotations

import warnings
from collections import Counter
from math import prod

import pytest
from depth import seeds_of
from random_nodes import Nodes
from written import block, graph, model, node, tensor

import dmlcy
from dmlcy._facts.tables import ERRORS
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.values import LARGEST
from dmlcy._frontends.onnx.walk import Walk

COUNT = 2000


@seeds_of(20)
def test_nodes_become_values_or_problems(seeds: range) -> None:
    fates: Counter[str] = Counter()
    for seed in seeds:
        nodes = Nodes(seed)
        for number in range(COUNT):
            drawn = nodes.model()
            try:
                with warnings.catch_warnings(action="error"):
                    fates.update(_look(Walk(drawn)))
            except Exception as error:
                error.add_note(f"seed {seed}, number {number}: {drawn.graph.nodes[0]} of {drawn.opsets}")
                raise
    assert min(fates[fate] for fate in ("converted", "folded", "view", "inside")) > 5 * len(seeds)


@pytest.mark.parametrize("sizes", [(4,) * 9, (16, 1, 16, 1, 16, 1, 16, 1, 4), (4,) * 6 + (8, 8, 1)])
def test_a_constant_of_nine_axes_is_seen_under_other_sizes(sizes: tuple[int, ...]) -> None:
    """DirectML has no tensor of nine axes. So many elements are computed by DirectML's operators."""
    elements = bytes(range(256)) * (prod(sizes) // 256)
    data = block(5, tensor("x", 2, sizes, block(9, elements)))
    walk = Walk(decode("m", model(graph(data, node("Squeeze", "x", "y"), inputs="")), None))
    (visit,) = walk.all()
    found = visit.outputs[0].value
    assert visit.fate == "folded" and found is not None and found.read is not None
    assert found.read().shape == tuple(size for size in sizes if size > 1) and found.read().tobytes() == elements


def _look(walk: Walk) -> list[str]:
    """The outcomes of the nodes."""
    graph = walk.graph()
    if graph is not None:
        dmlcy.check(graph)
    for visit in walk.all():
        for problem in visit.problems:
            assert ERRORS[problem.identifier].message.format(**problem.values)
        for known in visit.outputs:
            if known.value is not None:
                assert all(type(size) is int and size >= 0 for size in known.value.sizes)
                if known.value.read is not None and prod(known.value.sizes) <= LARGEST:
                    assert known.value.read().shape == known.value.sizes
    return [visit.fate for visit in walk.all()]
