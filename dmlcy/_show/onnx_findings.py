"""The report on an ONNX model as findings, which the formats of ``dmlcy lint`` lay out."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcy._frontends.dxdispatch.lint import FileReport, Report, findings
from dmlcy._frontends.dxdispatch.problems import Place, Problem, make, whole
from dmlcy._frontends.onnx.model_report import ModelReport, fails


def as_findings(report: ModelReport) -> Report:
    """A warning for each node that is on the CPU or in no graph, an error for each that DirectML refuses."""
    return Report(report.level, (FileReport(report.file, findings(_problems(report), "")),))


def _problems(report: ModelReport) -> Iterator[Problem]:
    for note in report.notes:
        yield make(note.id, whole(report.file), note.values, warning=True)
    for node in report.nodes:
        place = Place(report.file, node.place, 0, 0, byte=max(node.byte, 0))
        for why in node.reasons if node.where != "fused" else ():
            yield make(why.id, place, why.values, warning=not fails(why.id))
