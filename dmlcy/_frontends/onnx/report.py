"""What ONNX Runtime does with a model on DirectML, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import CATALOGUE, LEVEL_INDEX, LEVELS, FeatureLevelName
from dmlcy._frontends.onnx.binding import FreeDimension
from dmlcy._frontends.onnx.model import Model
from dmlcy._frontends.onnx.places import node_path
from dmlcy._frontends.onnx.placing import Placement, Placer, Reason, Where, reason
from dmlcy._frontends.onnx.tables import RELEASES, shown
from dmlcy._frontends.onnx.visits import Visit
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._graph.check import counted
from dmlcy._graph.levels import levels_of
from dmlcy._graph.model import MOST
from dmlcy._words.notebook import Shown

_GOES_ON: Final = ("DML-ONNX-cpu-", "DML-ONNX-alone-", "DML-ONNX-model-")
_UNTOLD: Final = frozenset(
    {"DML-ONNX-input-unknown", "DML-ONNX-empty", "DML-ONNX-type", "DML-ONNX-unsupported", "DML-ONNX-fold-large"}
)


def fails(identifier: str) -> bool:
    """Whether the model does not run where this is the reason; else the node is elsewhere, or its descs are unknown."""
    return not identifier.startswith(_GOES_ON) and identifier not in _UNTOLD


@dataclass(frozen=True, slots=True)
class Why:
    """A reason: its id, which ``dmlcy explain`` explains, its text, and the values in the text."""

    id: str
    message: str
    values: Mapping[str, object]

    @classmethod
    def of(cls, found: Reason) -> Why:
        """The reason as users see it."""
        return cls(found.id, found.message, found.values)


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node of the model, and what becomes of it.

    Attributes
    ----------
    place
        Such as ``node 17 "/conv1/Conv" (Conv)``.
    number, name, operator
        The number of the node in its graph, its name, and its operator, with the domain where it is not ONNX's own.
    version
        The version of the operator; None where the operator, or this version, is not known.
    where
        "dml"; "view": DirectML, but only other sizes for the same bytes; "folded" to constants before the model runs;
        "removed" by the optimiser; "cpu".
    reasons
        Why the node is on the CPU, why it is no part of a DirectML graph, or why DirectML refuses it.
    directml
        The operators of DirectML that the node becomes.
    level
        The feature level that they need; None where they have none.
    partition
        The number of the DirectML graph that has the node.
    is_exact
        Whether the operators and the level are those of this node; else they are what the tables say of all nodes of
        the operator, because sizes are not known.
    byte
        Where the node begins in the file.
    """

    place: str
    number: int
    name: str
    operator: str
    version: int | None
    where: Where
    reasons: tuple[Why, ...]
    directml: tuple[str, ...]
    level: FeatureLevelName | None
    partition: int | None
    is_exact: bool
    byte: int


@dataclass(frozen=True, slots=True)
class ModelReport(Shown):
    """A model, node by node.

    Attributes
    ----------
    file, producer, opset
        The file, the program that wrote it, and the opset of ONNX's own operators.
    runtime
        The release of ONNX Runtime whose rules hold.
    level
        The feature level of the device.
    nodes
        The nodes in the order of their values.
    partitions
        The number of DirectML graphs.
    dimensions
        What ``shapes=`` would have to say, so that all sizes are known.
    notes
        What is true of the model as a whole.
    """

    file: str
    producer: str
    opset: int | None
    runtime: str
    level: FeatureLevelName
    nodes: tuple[NodeReport, ...]
    partitions: int
    dimensions: tuple[FreeDimension, ...]
    notes: tuple[Why, ...]

    def count(self, where: Where) -> int:
        """The number of nodes that go there."""
        return sum(one.where == where for one in self.nodes)

    @property
    def needs(self) -> FeatureLevelName | None:
        """The lowest feature level at which DirectML takes all nodes that it gets; None where it gets none."""
        found = [LEVEL_INDEX[one.level] for one in self.nodes if one.level is not None and one.where == "dml"]
        return LEVELS[max(found)].name if found else None

    @property
    def operators(self) -> dict[str, int]:
        """The operators of DirectML, and the number of nodes that become each, the most frequent first."""
        found = Counter(name for one in self.nodes if one.where == "dml" for name in one.directml)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def __str__(self) -> str:
        counts = ", ".join(f"{self.count(where)} {where}" for where in ("dml", "view", "folded", "removed", "cpu"))
        return f"ModelReport({self.file}: {counts})"


def report_of(
    model: Model,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    runtime: str = next(iter(RELEASES)),
    level: FeatureLevelName | None = None,
    types: Collection[str] | None = None,
    limit: int = MOST,
) -> ModelReport:
    """The report of a model; see ``dmlcy.onnx.report``."""
    walk = Walk(model, shapes, limit)
    release = RELEASES[runtime]
    asked = level or LEVELS[NEWEST].name
    placer = Placer(model.opsets, walk.visits, types)
    levels = _levels(walk)
    nodes = tuple(_node(one, levels, asked) for one in placer.placements)
    return ModelReport(
        model.file,
        model.producer,
        model.opsets.get("ai.onnx"),
        release.version,
        asked,
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
        reasons += [Reason(found.identifier, found.values) for found in visit.problems]
    if level is not None and LEVEL_INDEX[level] > LEVEL_INDEX[asked]:
        reasons.append(reason("level", operators=" and ".join(operators), level=level, asked=asked))
    return NodeReport(
        node_path(visit.node, visit.path),
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


def _made(
    visit: Visit, levels: Mapping[int, FeatureLevelName | None]
) -> tuple[tuple[str, ...], FeatureLevelName | None]:
    """The operators of the DirectML nodes that were made, and the highest of their levels."""
    found = [LEVEL_INDEX[level] for number in visit.made if (level := levels.get(number)) is not None]
    return visit.kinds, LEVELS[max(found)].name if found else None


def _said(visit: Visit) -> tuple[tuple[str, ...], FeatureLevelName | None]:
    """What the tables say: the way of the lowest level."""
    if visit.row is None or not visit.row.becomes:
        return (), None
    ways = [(max(LEVEL_INDEX[CATALOGUE[name].since] for name in way), way) for way in visit.row.becomes]
    level, way = min(ways, key=lambda one: one[0])
    return way, LEVELS[level].name


def _notes(placer: Placer, nodes: Sequence[NodeReport]) -> Iterator[Why]:
    if placer.has_subgraph:
        yield Why.of(reason("model-subgraph"))
    newer = [one for one in placer.placements if any(why.id == "DML-ONNX-cpu-version" for why in one.reasons)]
    if newer:
        opset = min(int(str(why.values["opset"])) for one in newer for why in one.reasons if "opset" in why.values)
        yield Why.of(reason("model-opset", count=counted(len(newer), "node"), opset=opset))


def to_json(report: ModelReport) -> dict[str, Any]:
    """The report as json.dumps takes it."""
    return {
        "version": 1,
        "file": report.file,
        "producer": report.producer,
        "opset": report.opset,
        "onnxruntime": report.runtime,
        "feature_level": report.level,
        "needs": report.needs,
        "counts": {where: report.count(where) for where in ("dml", "view", "folded", "removed", "cpu")},
        "partitions": report.partitions,
        "operators": report.operators,
        "dimensions": [
            {"input": one.input, "axis": one.axis, "name": one.name, "sizes": [*one.sizes]} for one in report.dimensions
        ],
        "notes": [{"id": one.id, "message": one.message} for one in report.notes],
        "nodes": [
            {
                "node": one.number,
                "name": one.name,
                "operator": one.operator,
                "version": one.version,
                "place": one.place,
                "where": one.where,
                "reasons": [{"id": why.id, "message": why.message} for why in one.reasons],
                "directml": [*one.directml],
                "level": one.level,
                "partition": one.partition,
                "exact": one.is_exact,
            }
            for one in report.nodes
        ],
    }
