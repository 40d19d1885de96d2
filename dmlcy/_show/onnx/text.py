"""The report on an ONNX model for people: where the nodes go, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dmlcy._facts.tables import LEVEL_INDEX
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._frontends.onnx.binding import FreeDimension, unbound
from dmlcy._frontends.onnx.placing import Where
from dmlcy._frontends.onnx.report import ModelReport, NodeReport, Why
from dmlcy._graph.check import counted
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote

WORDS: Final[dict[Where, str]] = {
    "dml": "DirectML",
    "view": "DirectML, but only other sizes for the same bytes",
    "folded": "folded to constants before the model runs",
    "removed": "removed by the optimiser",
    "cpu": "CPU",
}
"""What becomes of nodes."""
SHOWN: Final = 3
"""Nodes of a reason that are named without ``--all``."""


def lines(report: ModelReport, *, every: bool = False) -> Iterator[str]:
    """The lines; with ``every``, each node has one."""
    file = paint(printable(report.file), "head")
    opset = f"opset {report.opset}" if report.opset is not None else "no opset of ai.onnx"
    producer = f", from {quote(report.producer)[1:-1]}" if report.producer else ""
    yield f"{file}: {counted(len(report.nodes), 'node')}, {opset}{producer}; ONNX Runtime {report.runtime}"
    for where, words in WORDS.items():
        number = report.count(where)
        if number:
            graphs = f", in {counted(report.partitions, 'graph')}" if where == "dml" else ""
            yield f"  {number:>6} {words}{graphs}"
    yield from _needs(report)
    yield from _bind(report.dimensions)
    for note in report.notes:
        yield f"{file}: {paint('note:', 'note')} {note.message} [{note.id}]"
    yield from _every(report) if every else _reasons(report)
    yield from _operators(report)


def _needs(report: ModelReport) -> Iterator[str]:
    if report.needs is None:
        return
    index = LEVEL_INDEX[report.needs]
    found = {
        name: None
        for one in report.nodes
        if one.where == "dml" and one.level is not None and LEVEL_INDEX[one.level] == index
        for name in one.directml
    }
    yield f"  needs feature level {report.needs}, for {', '.join(found)}"


def _bind(dimensions: Iterable[FreeDimension]) -> Iterator[str]:
    """The option that gives all sizes."""
    options = [f"--shape {quote(name)[1:-1]}={printable(sizes)}" for name, sizes in unbound(dimensions).items()]
    if options:
        yield f"  free dimensions: {' '.join(options)} with numbers in place of the names"


def _reasons(report: ModelReport) -> Iterator[str]:
    """Each reason once, with the first nodes that it holds for: a reason that differs in the value only is the same."""
    groups: dict[tuple[object, ...], list[tuple[NodeReport, Why]]] = {}
    for node in report.nodes:
        for why in node.reasons:
            values = (str(value) for name, value in why.values.items() if name != "name")
            groups.setdefault((why.id, *values), []).append((node, why))
    for (first, why), *others in groups.values():
        yield f"{printable(report.file)}: {first.place}: {why.message} [{why.id}]"
        named = [_short(node) for node, _ in others[:SHOWN]]
        left = len(others) - len(named)
        if named:
            more = f", and {left} more (--all names them)" if left else ""
            yield f"    also {', '.join(named)}{more}"


def _short(node: NodeReport) -> str:
    name = f" {quote(node.name)}" if node.name else ""
    return f"node {node.number}{name} ({node.operator})"


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
