"""The report as SARIF 2.1.0, for code scanning: one run with the rules that were broken and a result per finding."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dmlcy._errors import Violation
from dmlcy._facts.tables import ERRORS, OPERATORS
from dmlcy._frontends.dxdispatch.lint import Finding, Report
from dmlcy._frontends.dxdispatch.mend import Mend
from dmlcy._show.reports.json import verdict
from dmlcy._version import __version__

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FORMAT: Final = "https://github.com/microsoft/DirectML/tree/master/DxDispatch"


def lines(report: Report) -> Iterator[str]:
    """The document."""
    rules = {finding.violation.id: _rule(finding) for finding in report.findings}
    index = {identifier: position for position, identifier in enumerate(rules)}
    driver = {"name": "dmlcy", "version": __version__, "rules": list(rules.values())}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": report.status != 2, "exitCode": report.status}],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, index[finding.violation.id], file.text)
            for file in report.files
            for finding in file.findings
        ],
        "properties": {
            "featureLevel": report.level,
            "dispatchables": [
                {"file": _uri(file.name), **verdict(one)} for file in report.files for one in file.dispatchables
            ],
        },
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False)


def _rule(finding: Finding) -> dict[str, object]:
    violation = finding.violation
    operator = OPERATORS.get(violation.operator)
    short, full = _descriptions(violation)
    return {
        "id": violation.id,
        "shortDescription": _message(short),
        "fullDescription": _message(full),
        "help": {"text": f"dmlcy explain {violation.id}"},
        "helpUri": operator.source if operator else _FORMAT,
        "defaultConfiguration": {"level": finding.severity},
    }


def _descriptions(violation: Violation) -> tuple[str, str]:
    """The meaning of the id, shortly and in full, whatever the values are."""
    operator = OPERATORS.get(violation.operator)
    rule = next((rule for rule in operator.rules if rule.id == violation.id), None) if operator else None
    if rule is not None:
        return f"{rule.about} {rule.says}.", f"{rule.text} must hold. {rule.hint}".rstrip()
    if violation.id in ERRORS:
        return ERRORS[violation.id].about, ERRORS[violation.id].about
    about = ERRORS[violation.id.split("-", 3)[3]].about  # DML-<OPERATOR>-<subject>-<slug>
    subject = f"{violation.field} of {violation.operator}" if violation.field else violation.operator
    return about, f"{subject}: {about}"


def _message(text: str) -> dict[str, str]:
    """A message, in which braces would be placeholders."""
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _result(finding: Finding, index: int, text: str) -> dict[str, object]:
    place, violation = finding.place, finding.violation
    uri = _uri(place.file)
    physical: dict[str, object] = {"artifactLocation": {"uri": uri}}
    if finding.line is not None:
        physical["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endColumn": finding.end_column,
        }
    elif place.byte >= 0:
        physical["region"] = {"byteOffset": place.byte}
    known = "\0".join((uri, place.path, violation.id, violation.message))
    return {
        "ruleId": violation.id,
        "ruleIndex": index,
        "level": finding.severity,
        "message": _message(finding.sentence),
        "locations": [
            {"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": place.path}]},
        ],
        "partialFingerprints": {"placeAndMessage/v1": hashlib.sha256(known.encode()).hexdigest()},
        **({"fixes": fixes} if (fixes := [_fix(mend, uri, text) for mend in finding.mends if mend.splices]) else {}),
        **(
            {"properties": {"repairs": repairs}} if (repairs := [one.repair.to_json() for one in finding.mends]) else {}
        ),
    }


def _fix(mend: Mend, uri: str, text: str) -> dict[str, object]:
    """A repair as changes of the file."""
    replacements = [
        {"deletedRegion": _region(text, one.at, one.end), "insertedContent": {"text": one.text}} for one in mend.splices
    ]
    return {
        "description": _message(f"{mend.repair.text} makes this desc valid."),
        "artifactChanges": [{"artifactLocation": {"uri": uri}, "replacements": replacements}],
    }


def _region(text: str, at: int, end: int) -> dict[str, int]:
    """The characters from one place to another, which is behind them."""
    places = ((text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)) for place in (at, end))
    (line, column), (end_line, end_column) = places
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(name: str) -> str:
    """The file, relative to the current folder where it lies below it."""
    path = Path(os.path.abspath(name))
    try:
        return quote(os.fsencode(path.relative_to(Path.cwd()).as_posix()))
    except ValueError:
        return path.as_uri()
