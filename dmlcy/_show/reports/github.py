"""The report as workflow commands of GitHub Actions, which shows them beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcy._frontends.dxdispatch.lint import Finding, Report


def lines(report: Report) -> Iterator[str]:
    """A command for each finding."""
    for finding in report.findings:
        yield _command(finding)


def _command(finding: Finding) -> str:
    place, violation = finding.place, finding.violation
    properties = {
        "file": place.file,
        **({"line": place.line, "endLine": place.line, "col": place.column} if place.line else {}),
        **({"endColumn": finding.end_column} if place.line else {}),
        "title": violation.id,
    }
    shown = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    rule = "" if violation.rule is None else f"\nRule: {violation.rule} ({violation.provenance})"
    path = f"{place.path}: " if place.line or place.byte >= 0 else ""
    return f"::{finding.severity} {shown}::{_data(f'{path}{finding.sentence}{rule}')}"


def _data(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
