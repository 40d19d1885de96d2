"""The report that ``dmlcy onnx`` prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from json import dumps
from typing import Final

from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVELS
from dmlcy._frontends.dxdispatch.lint import FileReport, Report, findings
from dmlcy._frontends.dxdispatch.problems import Refusal
from dmlcy._frontends.onnx.model_report import ModelReport, fails, lines, to_json
from dmlcy._frontends.onnx.reader import read
from dmlcy._frontends.onnx.report import report_of
from dmlcy._show.onnx_findings import as_findings
from dmlcy._show.reports import github, json, sarif, text

_REFUSED: Final = {"text": text, "json": json, "sarif": sarif, "github": github}
"""Functions that lay out why a file is no model, by format."""


def execute(options: argparse.Namespace) -> int:
    """Print the report; the status: 1 where DirectML refuses a node, 2 for a file that is no valid model."""
    try:
        report = report_of(
            read(options.model),
            shapes=dict(options.shape),
            **({} if options.ort is None else {"runtime": options.ort}),
            level=options.feature_level,
            types=options.device_types,
            limit=options.limit,
            optimize=options.optimize,
        )
    except Refusal as error:
        unread = FileReport(error.problems[0].place.file, findings(error.problems, ""))
        shown = Report(options.feature_level or LEVELS[NEWEST].name, (unread,))
        for line in _REFUSED[options.format].lines(shown):
            sys.stdout.write(f"{line}\n")
        return unread.status
    for line in _lines(report, options):
        sys.stdout.write(f"{line}\n")
    refused = any(fails(why.id) for node in report.nodes for why in node.reasons)
    return int(refused or (options.strict and report.count("cpu") > 0))


def _lines(report: ModelReport, options: argparse.Namespace) -> Iterator[str]:
    if options.format == "json":
        yield dumps(to_json(report), indent=2, allow_nan=False)
    elif options.format == "text":
        yield from lines(report, every=options.all)
    else:
        yield from {"sarif": sarif, "github": github}[options.format].lines(as_findings(report))
