"""The report as one JSON document, for programs.

::

    {
      "version": 1,              changes when a key changes its meaning or goes
      "feature_level": "6_4",    the level at which the models were checked
      "status": 1,               the exit status: 0 clean, 1 violations, 2 unreadable file
      "errors": 3, "warnings": 1,
      "files": [{
        "file": "model.json",    as given; <stdin> for standard input
        "status": 1,
        "findings": [{           in the order of the file
          "severity": "error",   or "warning", which does not count for the status
          "file", "path",        the file again, and the JSON path in it: $.dispatchables.pool.desc.WindowSize[1]
          "line", "column",      from 1, in characters; null where the file as a whole is meant, as is end_column
          "end_column",          behind the value, or behind the part of it that is on the line
          ...                    every attribute of dmlcy.Violation: id, operator, field, member, index, message, rule,
                                 values, hint, fix, level, provenance, error; in a graph of
                                 dmlcy.graph.GraphViolation: also node, node_name, part, entry, origin
          "repairs": [{          changes of which each makes the whole desc valid
            "field", "value",    the Python name, and the value in DirectML's spelling
            "text"               the member as it is written in the file
          }],
          "provisional": false   whether the id may change, because its operator does not run yet
        }],
        "unsearched": 0,         findings behind the first 20 that may have repairs, which were not searched for them
        "returned": {            only if the name of the file says what DirectML returned, as dmlcy_layer.h writes it
          "call": "CreateOperator", "hresult": "80070057"
        },
        "dispatchables": [{      in the order of the file
          "name", "path", "line", "column",
          "operator": "PADDING1",               null where it is not known or has no spec, and of a graph
          "nodes": 12,                          of a graph only: how many it has
          "minimum": {                          null where the desc is valid at no level
            "feature_level": "6_4", "directml": "1.15.0",
            "dxdispatch": false,                whether a stock DxDispatch knows that level
            "forced_by": [{"field", "subject"}] refused by the level before it; empty at the first level
          }
        }]
      }]
    }
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from dmlcy._facts.ids import published
from dmlcy._frontends.dxdispatch.lint import FileReport, Finding, Report, Verdict


def lines(report: Report) -> Iterator[str]:
    """The document."""
    document = {
        "version": 1,
        "feature_level": report.level,
        "status": report.status,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "files": [_file(file) for file in report.files],
    }
    yield json.dumps(document, indent=2, allow_nan=False)


def _file(file: FileReport) -> dict[str, object]:
    returned = file.returned
    return {
        "file": file.name,
        "status": file.status,
        "findings": [_finding(finding) for finding in file.findings],
        "unsearched": file.unsearched,
        **({} if returned is None else {"returned": {"call": returned.call, "hresult": f"{returned.code:08X}"}}),
        "dispatchables": [verdict(one) for one in file.dispatchables],
    }


def _finding(finding: Finding) -> dict[str, object]:
    place = finding.place
    return {
        "severity": finding.severity,
        "file": place.file,
        "path": place.path,
        "line": place.line or None,
        "column": place.column or None,
        "end_column": finding.end_column if place.line else None,
        **({"byte": place.byte} if place.byte >= 0 else {}),
        **{key: value for key, value in finding.violation.to_json().items() if key != "severity"},
        "provisional": finding.violation.id in published().provisional,
    }


def verdict(one: Verdict) -> dict[str, object]:
    """A dispatchable and what it needs."""
    minimum = one.minimum and {
        "feature_level": one.minimum.level,
        "directml": one.minimum.directml,
        "dxdispatch": one.dxdispatch,
        "forced_by": [{"field": reason.field, "subject": reason.subject} for reason in one.minimum.forced_by],
    }
    return {
        "name": one.name,
        "path": one.place.path,
        "line": one.place.line,
        "column": one.place.column,
        "operator": one.operator,
        **({} if one.nodes is None else {"nodes": one.nodes}),
        "minimum": minimum,
    }
