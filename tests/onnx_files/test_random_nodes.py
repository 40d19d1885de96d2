"""Random nodes of ONNX, most of them invalid: each is folded or converted, or has an id that says why not."""

from __future__ import annotations

import warnings
from collections import Counter
from math import prod

from depth import seeds_of
from random_nodes import Nodes

import dmlcy
from dmlcy._facts.tables import ERRORS
from dmlcy._frontends.onnx.values import LARGEST
from dmlcy._frontends.onnx.walk import Walk

COUNT = 2000


@seeds_of(20)
def test_nodes_become_values_or_problems(seeds: range) -> None:
    fates: Counter[str] = Counter()
    for seed in seeds:
        nodes = Nodes(seed)
        for number in range(COUNT):
            model = nodes.model()
            try:
                with warnings.catch_warnings(action="error"):
                    fates.update(_look(Walk(model)))
            except Exception as error:
                error.add_note(f"seed {seed}, number {number}: {model.graph.nodes[0]} of {model.opsets}")
                raise
    assert min(fates[fate] for fate in ("converted", "folded", "view", "inside")) > 5 * len(seeds)


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
