"""The outcomes of the nodes of a model, as data, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dmlcy._facts.tables import CATALOGUE, LEVEL_INDEX, LEVELS, FeatureLevelName
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._frontends.onnx.binding import FreeDimension, options, unbound
from dmlcy._frontends.onnx.placing import Reason, Where
from dmlcy._graph.check import counted
from dmlcy._words.values import quote

WORDS: Final[dict[Where, str]] = {
    "dml": "DirectML",
    "view": "DirectML, without an operator: only the sizes change",
    "folded": "folded to constants before the model runs",
    "removed": "removed by the optimiser",
    "fused": "joined with another node by the optimiser",
    "cpu": "CPU",
}
"""The outcomes of nodes."""
SHOWN: Final = 3
"""Further nodes of a reason that are named without ``--all``, and operators that are named for a feature level."""

UNSIZED: Final = "DML-ONNX-alone-sizes"
"""Why a node is in no graph if a size of its inputs or outputs is not known."""
_GOES_ON: Final = ("DML-ONNX-cpu-", "DML-ONNX-alone-", "DML-ONNX-model-", "DML-ONNX-fused")
_UNTOLD: Final = frozenset(
    {
        "DML-ONNX-dynamic",
        "DML-ONNX-empty",
        "DML-ONNX-fold-large",
        "DML-ONNX-input-unknown",
        "DML-ONNX-type",
        "DML-ONNX-unsupported",
    }
)


def fails(identifier: str) -> bool:
    """Whether the model does not run where this is the reason; else the node is elsewhere, or its descs are unknown."""
    return not identifier.startswith(_GOES_ON) and identifier not in _UNTOLD


def urgency(identifier: str) -> int:
    """The place of a reason in the report: what the model fails of, nodes on the CPU, nodes that are in no graph."""
    late = ("DML-ONNX-alone-", "DML-ONNX-fused")
    return 0 if fails(identifier) else 2 if identifier.startswith(late) else 1


def in_need(operators: Sequence[str], level: FeatureLevelName) -> list[str]:
    """The operators of a node for which it needs a level: those new in it, or else all, for their tensors."""
    return [one for one in operators if CATALOGUE[one].since == level] or [*operators]


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
        "dml"; "view": DirectML, without an operator: only the sizes change; "folded" to constants before the model
        runs; "removed" by the optimiser; "fused": the optimiser joined it with another node; "cpu".
    reasons
        Which node does its work, why the node is on the CPU, why it is no part of a DirectML graph, or why DirectML
        refuses it.
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
class ModelReport:
    """A model, node by node.

    Attributes
    ----------
    file, producer, opset
        The file, the program that wrote it, and the opset of ONNX's own operators.
    runtime
        The release of ONNX Runtime whose rules hold.
    level
        The feature level of the device.
    optimize
        The level of the optimiser: "none", "basic" or "extended".
    nodes
        The nodes in the order of their values.
    partitions
        The number of DirectML graphs.
    dimensions
        The dimensions that ``shapes=`` would have to give, so that all sizes are known.
    notes
        Sentences about the model as a whole.
    """

    file: str
    producer: str
    opset: int | None
    runtime: str
    level: FeatureLevelName
    optimize: str
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
        return "\n".join(lines(self))


def lines(report: ModelReport, *, every: bool = False) -> Iterator[str]:
    """The lines; with ``every``, each node has one."""
    file = printable(report.file)
    opset = f"opset {report.opset}" if report.opset is not None else "no opset of ai.onnx"
    optimised = f", optimised: {report.optimize}" if report.optimize != "none" else ""
    producer = f", from {quote(report.producer)[1:-1]}" if report.producer else ""
    yield f"{file}: {counted(len(report.nodes), 'node')}, {opset}{producer}; ONNX Runtime {report.runtime}{optimised}"
    for where, words in WORDS.items():
        number = report.count(where)
        if number:
            yield f"  {number:>6} {words}{_graphs(report) if where == 'dml' else ''}"
    yield from _refused(report)
    yield from _needs(report)
    yield from _bind(report)
    for note in report.notes:
        yield f"{file}: note: {note.message} [{note.id}]"
    yield from _every(report) if every else _reasons(report)
    yield from _operators(report)


def _graphs(report: ModelReport) -> str:
    """The number of graphs, and of the nodes of DirectML that are in none of them."""
    inside = sum(one.where == "dml" and one.partition is not None for one in report.nodes)
    alone, graphs = report.count("dml") - inside, counted(report.partitions, "graph")
    return f": {inside} in {graphs}, {alone} in no graph" if inside and alone else f", in {graphs}"


def _refused(report: ModelReport) -> Iterator[str]:
    number = sum(any(fails(why.id) for why in node.reasons) for node in report.nodes)
    if number:
        yield f"  {counted(number, 'node')} cannot run: the session, or its first run, fails"


def _needs(report: ModelReport) -> Iterator[str]:
    needs = report.needs
    if needs is None:
        return
    found = {
        name: None
        for one in report.nodes
        if one.where == "dml" and one.level == needs
        for name in in_need(one.directml, needs)
    }
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    directml = LEVELS[LEVEL_INDEX[needs]].directml
    yield f"  needs feature level {needs} (DirectML {directml}), for {', '.join([*found][:SHOWN])}{more}"


def _bind(report: ModelReport) -> Iterator[str]:
    """The options that give all sizes, or that sizes are not known though no dimension is free."""
    if found := unbound(report.dimensions):
        yield f"  free dimensions: {options(found)}, with a number in place of each N"
    elif any(why.id == UNSIZED for node in report.nodes for why in node.reasons):
        yield f"  unknown sizes, though no dimension is free: dmlcy explain {UNSIZED}"


def _reasons(report: ModelReport) -> Iterator[str]:
    """Each reason once, with the first nodes that it holds for: reasons that differ in names only are the same."""
    groups: dict[tuple[object, ...], list[tuple[NodeReport, Why]]] = {}
    for node in report.nodes:
        for why in node.reasons:
            values = (str(value) for name, value in why.values.items() if name not in ("name", "node"))
            groups.setdefault((why.id, *values), []).append((node, why))
    for (first, why), *others in sorted(groups.values(), key=lambda group: urgency(group[0][1].id)):
        yield f"{printable(report.file)}: {first.place}: {why.message} [{why.id}]"
        named = [node.place for node, _ in others[:SHOWN]]
        left = len(others) - len(named)
        if named:
            more = f"; and {left} more (--all names them)" if left else ""
            yield f"    also {'; '.join(named)}{more}"


def _every(report: ModelReport) -> Iterator[str]:
    for one in report.nodes:
        level = f", level {one.level}" if one.level else ""
        graph = f", graph {one.partition}" if one.partition is not None else ""
        operators = f": {', '.join(one.directml)}{level}" if one.directml else ""
        yield f"{printable(report.file)}: {one.place}: {WORDS[one.where]}{operators}{graph}"
        for why in one.reasons:
            yield f"    {why.message} [{why.id}]"


def _operators(report: ModelReport) -> Iterator[str]:
    if report.operators:
        yield "DirectML operators, and the nodes that become them:"
        width = max(map(len, report.operators))
        for name, number in report.operators.items():
            yield f"  {name:{width}} {number:>6}"


def _severity(node: NodeReport, why: Why) -> str:
    return "error" if fails(why.id) else "note" if node.where == "fused" else "warning"


def to_json(report: ModelReport) -> dict[str, Any]:
    """The report as json.dumps takes it."""
    return {
        "version": 1,
        "file": report.file,
        "producer": report.producer,
        "opset": report.opset,
        "onnxruntime": report.runtime,
        "feature_level": report.level,
        "optimize": report.optimize,
        "needs": report.needs,
        "counts": {where: report.count(where) for where in WORDS},
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
                "reasons": [
                    {"id": why.id, "severity": _severity(one, why), "message": why.message} for why in one.reasons
                ],
                "directml": [*one.directml],
                "level": one.level,
                "partition": one.partition,
                "exact": one.is_exact,
            }
            for one in report.nodes
        ],
    }
