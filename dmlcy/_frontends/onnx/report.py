"""The report of a model in ONNX Runtime on DirectML, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import CATALOGUE, LEVEL_INDEX, LEVELS, FeatureLevelName
from dmlcy._frontends.onnx.fusing import optimized
from dmlcy._frontends.onnx.fusing.editing import Gone
from dmlcy._frontends.onnx.model import Model
from dmlcy._frontends.onnx.model_report import UNSIZED, ModelReport, NodeReport, Why, fails, in_need
from dmlcy._frontends.onnx.places import place_of
from dmlcy._frontends.onnx.placing import Placement, Placer, Reason, older_opset, reason
from dmlcy._frontends.onnx.tables import RELEASES, operator, shown
from dmlcy._frontends.onnx.visits import Visit
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._graph.check import counted
from dmlcy._graph.levels import levels_of
from dmlcy._graph.limits import MOST


def report_of(
    model: Model,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    runtime: str = next(iter(RELEASES)),
    level: FeatureLevelName | None = None,
    types: Collection[str] | None = None,
    limit: int = MOST,
    optimize: str = "none",
) -> ModelReport:
    """The report of a model; see ``dmlcy.onnx.report``."""
    model, gone = optimized(model, optimize, shapes)
    walk = Walk(model, shapes, limit)
    release = RELEASES[runtime]
    asked = level or LEVELS[NEWEST].name
    placer = Placer(model.opsets, walk.visits, types)
    levels = _levels(walk)
    nodes = tuple(_with_gone([_node(one, levels, asked) for one in placer.placements], model.opsets, gone))
    return ModelReport(
        model.file,
        model.producer,
        model.opsets.get("ai.onnx"),
        release.version,
        asked,
        optimize,
        nodes,
        placer.partitions,
        tuple(walk.free()),
        tuple(_notes(placer, nodes)),
    )


def _levels(walk: Walk) -> dict[int, FeatureLevelName | None]:
    """The level of each DirectML node."""
    graph = walk.graph()
    return {} if graph is None else {one.node: one.level for one in levels_of(graph).nodes}


def _node(one: Placement, levels: Mapping[int, FeatureLevelName | None], asked: FeatureLevelName) -> NodeReport:
    visit = one.visit
    exact = visit.fate in ("converted", "view")
    operators, level = _made(visit, levels) if exact else _said(visit)
    if one.where != "dml":
        operators, level = (), None
    reasons = [*one.reasons]
    if one.where in ("dml", "view"):
        wrong = [Reason(found.identifier, found.values) for found in visit.problems if fails(found.identifier)]
        # Of a node that fails, the sizes of outputs are not known because it fails.
        reasons = [*wrong, *(found for found in reasons if not (wrong and found.id == UNSIZED))]
    if level is not None and LEVEL_INDEX[level] > LEVEL_INDEX[asked]:
        reasons.append(reason("level", operators=" and ".join(in_need(operators, level)), level=level, asked=asked))
    return NodeReport(
        place_of("", *visit.steps).path,
        visit.node.number,
        visit.node.name,
        shown(visit.node.domain, visit.node.operator),
        None if visit.version is None else visit.version.since,
        one.where,
        tuple(map(Why.of, reasons)),
        operators,
        level,
        one.partition,
        exact or one.where != "dml",
        visit.node.byte,
    )


def _with_gone(nodes: Sequence[NodeReport], opsets: Mapping[str, int], gone: Sequence[Gone]) -> Iterator[NodeReport]:
    """The nodes, each before the nodes that the optimiser joined with it. The removed nodes are at the end."""
    left = [*gone]
    for node in nodes:
        yield node
        mine = [one for one in left if one.into is not None and place_of("", one.into).path == node.place]
        yield from (_taken_away(one, opsets) for one in mine)
        left = [one for one in left if one not in mine]
    yield from (_taken_away(one, opsets) for one in left)


def _taken_away(one: Gone, opsets: Mapping[str, int]) -> NodeReport:
    """A node that the optimiser took away."""
    node, row = one.node, operator(one.node.domain, one.node.operator)
    version = None if row is None else row.version(opsets.get(node.domain, 1))
    into = None if one.into is None else place_of("", one.into).path
    why = () if into is None else (Why.of(reason("fused", node=into, by=one.by)),)
    return NodeReport(
        place_of("", node).path,
        node.number,
        node.name,
        shown(node.domain, node.operator),
        None if version is None else version.since,
        "removed" if into is None else "fused",
        why,
        (),
        None,
        None,
        True,
        node.byte,
    )


def _made(
    visit: Visit, levels: Mapping[int, FeatureLevelName | None]
) -> tuple[tuple[str, ...], FeatureLevelName | None]:
    """The operators of the DirectML nodes that were made, and the highest of their levels."""
    found = [LEVEL_INDEX[level] for number in visit.made if (level := levels.get(number)) is not None]
    return visit.kinds, LEVELS[max(found)].name if found else None


def _said(visit: Visit) -> tuple[tuple[str, ...], FeatureLevelName | None]:
    """The operators and the level by the tables: the way of the lowest level."""
    if visit.row is None or not visit.row.becomes:
        return (), None
    ways = [(max(LEVEL_INDEX[CATALOGUE[name].since] for name in way), way) for way in visit.row.becomes]
    level, way = min(ways, key=lambda one: one[0])
    return way, LEVELS[level].name


def _notes(placer: Placer, nodes: Sequence[NodeReport]) -> Iterator[Why]:
    if placer.has_subgraph:
        yield Why.of(reason("model-subgraph"))
    opsets = [
        opset
        for one in placer.placements
        if one.visit.row is not None and one.visit.version is not None
        if any(why.id == "DML-ONNX-cpu-version" for why in one.reasons)
        if (opset := older_opset(one.visit.row, one.visit.version)) is not None
    ]
    if opsets:
        yield Why.of(reason("model-opset", count=counted(len(opsets), "node"), opset=min(opsets)))
