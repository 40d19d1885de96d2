"""Everything that is wrong with an ONNX model on DirectML: what the reports of ``dmlcy lint`` are made from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from dmlcy._desc.minimum import LevelReason, MinimumLevel
from dmlcy._errors import DmlError
from dmlcy._facts.tables import LEVEL_INDEX, FeatureLevelName
from dmlcy._frontends.dxdispatch.lint import FileReport, Verdict, findings
from dmlcy._frontends.dxdispatch.problems import Place, Problem, make, printable, whole
from dmlcy._frontends.onnx import valid
from dmlcy._frontends.onnx.binding import options, unbound, written
from dmlcy._frontends.onnx.model import Model
from dmlcy._frontends.onnx.model_report import fails
from dmlcy._frontends.onnx.places import place_of
from dmlcy._frontends.onnx.placing import Placement, Placer
from dmlcy._frontends.onnx.visits import Visit
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._graph.check import counted, violations
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._graph.minimum import NodeReason, lowest
from dmlcy._graph.model import Node
from dmlcy._graph.violations import GraphViolation, without_label

_OF_A_WHOLE_GRAPH: Final = frozenset(
    {"DML-GRAPH-name-twice", "DML-GRAPH-text", "DML-GRAPH-unused", "DML-GRAPH-unread", "DML-GRAPH-edge-reinterprets"}
)
"""Warnings about things that ONNX Runtime does by intent, or does not do: its graphs have other names, and no part that
nothing reads.
"""
_CHECKED: Final = frozenset({"DML-ONNX-cpu-version", "DML-ONNX-cpu-shape"})
"""Why nodes are on the CPU whose descs are checked all the same: with another opset, or other sizes, they are not."""


class Found(NamedTuple):
    """The findings: the problems, the level that the descs need if they are valid, and the numbers of nodes.

    ``cpu``: the nodes that ONNX Runtime leaves to the CPU.
    """

    problems: list[Problem]
    minimum: MinimumLevel | None
    nodes: int
    cpu: int


def lint(
    model: Model, level: FeatureLevelName, shapes: Mapping[str, Sequence[int]] | None = None, limit: int = MOST
) -> FileReport:
    """Look at a model at a feature level. Nothing is executed."""
    found = problems(model, level, shapes, limit)
    verdict = Verdict(model.graph.name or model.file, whole(model.file), None, found.minimum, found.nodes)
    elsewhere = ""
    if found.cpu:
        given = [f"--shape={name}={'x'.join(map(str, sizes))}" for name, sizes in (shapes or {}).items()]
        command = shlex.join(["dmlcy", "onnx", model.file, *given])
        elsewhere = (
            f"{counted(found.cpu, 'node')} on the CPU, not on DirectML: `{printable(command)}` says which and why"
        )
    return FileReport(model.file, findings(found.problems, ""), (verdict,), elsewhere=elsewhere)


def problems(
    model: Model, level: FeatureLevelName, shapes: Mapping[str, Sequence[int]] | None = None, limit: int = MOST
) -> Found:
    """The problems of the nodes of a model, and of the descs that they become."""
    walk = Walk(model, shapes, limit)
    found = [*_of_nodes(walk)]
    cpu = [one for one in Placer(walk.model.opsets, walk.visits).placements if one.where == "cpu"]
    graph = walk.graph()
    minimum: MinimumLevel | None = None
    if graph is not None:
        wrong = [*_of_graph(walk, graph, cpu, LEVEL_INDEX[level])]
        found += wrong
        later = all(one.warning or one.violation.error == "FeatureLevelError" for one in wrong)
        if later and not any(one.is_unmade for one in walk.all()):
            minimum = _lowest(walk, graph)
    found += [
        make(
            "DML-ONNX-shape-free",
            whole(model.file),
            {"name": name, "sizes": written(sizes), "options": options({name: sizes})},
            warning=True,
        )
        for name, sizes in unbound(walk.free()).items()
    ]
    return Found(found, minimum, sum(1 for _ in walk.all()), len(cpu))


def _lowest(walk: Walk, graph: GraphDesc) -> MinimumLevel | None:
    """The level that the descs need, and each reason once, with the first node of the model that has it."""
    try:
        found = lowest(graph)
    except DmlError:
        return None
    places = {number: visit for visit in walk.all() for number in visit.made}
    first: dict[str, LevelReason] = {}
    for one in found.forced_by:
        node = graph.nodes[one.node] if isinstance(one, NodeReason) and one.node in places else None
        if isinstance(node, Node) and isinstance(one, NodeReason):
            label, kind = graph.label(one.node), node.kind
            place = place_of(walk.model.file, *places[one.node].steps)
            said = one.subject.replace(label, f"{kind} of {place.path}")
            first.setdefault(one.subject.replace(label, kind), replace(one, subject=said))
    return replace(found, forced_by=(*first.values(),))


def _of_nodes(walk: Walk) -> Iterator[Problem]:
    """The problems of the nodes in ONNX's own terms."""
    for visit in walk.all():
        place = place_of(walk.model.file, *visit.steps)
        for one in visit.problems:
            yield make(one.identifier, place, one.values, warning=not fails(one.identifier))
        if visit.row is not None and visit.version is not None:
            for one in valid.unknown(visit.node, visit.row, visit.version):
                yield make(one.identifier, place, one.values, warning=True)


def _of_graph(walk: Walk, graph: GraphDesc, cpu: Sequence[Placement], level: int) -> Iterator[Problem]:
    """The problems of the descs, at the nodes of the model that they are made for."""
    places = {number: visit for visit in walk.all() for number in visit.made}
    elsewhere = {
        number for one in cpu if not all(why.id in _CHECKED for why in one.reasons) for number in one.visit.made
    }
    for one in violations(graph, level):
        if one.id in _OF_A_WHOLE_GRAPH or not isinstance(one, GraphViolation) or one.node in elsewhere:
            continue
        yield Problem(_place(walk, places, one), without_label(graph, one), one.severity == "warning")


def _place(walk: Walk, visits: Mapping[int, Visit], one: GraphViolation) -> Place:
    visit = None if one.node is None else visits.get(one.node)
    return whole(walk.model.file) if visit is None else place_of(walk.model.file, *visit.steps)
