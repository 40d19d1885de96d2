"""The reports of ``dmlcy compare`` of two dumps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.differences import Differences
from dmlcy._judge.dumps.compare import Judged, Report
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote


def text(report: Report) -> Iterator[str]:
    """A line for each output of each node, and the first node that is wrong."""
    for one in report.nodes:
        style = {"passed": "note", "not judged": "warning", "suspect": "warning"}.get(one.verdict, "error")
        yield f"{one.label} {quote(one.value)}: {paint(one.verdict, style)}{_alone(one)}"
    first = report.first_wrong
    yield ""
    if first is None:
        yield f"{_count(report)}: every node is right for the inputs that it had"
        return
    why = f": {first.problem}" if first.problem else ""
    yield f"the first wrong node is {first.label}{why}"


def _count(report: Report) -> str:
    number = len(report.nodes)
    return f"{number} output{'' if number == 1 else 's'} of nodes"


def _alone(one: Judged) -> str:
    if one.problem:
        return f" ({one.problem})"
    return f"; alone {_shown(one.alone)}; accumulated {_shown(one.accumulated)}"


def _shown(found: Differences | None) -> str:
    """The largest error, and where the bound counts what is allowed."""
    if found is None:
        return "unknown"
    worst = found.worst
    if worst is None:
        return "equal"
    exceeding = f", {found.failing.count} of {found.elements} exceed {worst.allowed:g}" if found.failing.count else ""
    return f"up to {worst.error:g} ({worst.steps} steps){exceeding}"


def as_json(report: Report) -> Iterator[str]:
    """The report as one document."""
    first = report.first_wrong
    yield json.dumps(
        {
            "format": "dmlcy-dump-comparison",
            "version": 2,
            "expected": printable(str(report.expected)),
            "actual": printable(str(report.actual)),
            "passed": first is None,
            "warnings": [],
            "first_wrong": None if first is None else first.node,
            "outputs": [_output(one) for one in report.nodes],
        },
        indent=2,
        allow_nan=False,
    )


def _output(one: Judged) -> dict[str, Any]:
    return {
        "node": one.node, "label": one.label, "operator": one.operator, "value": one.value, "verdict": one.verdict,
        "problem": one.problem or None, "alone": _found(one.alone), "accumulated": _found(one.accumulated),
    }  # fmt: skip


def _found(found: Differences | None) -> dict[str, Any] | None:
    if found is None:
        return None
    worst = found.worst
    return {
        "elements": found.elements,
        "different": found.different,
        "exceeding": found.failing.count,
        "suspect": found.suspect.count,
        "not_judged": found.unjudged,
        "worst": None if worst is None else {
            "at": worst.at, "error": _number(worst.error), "allowed": _number(worst.allowed), "steps": worst.steps
        },
    }  # fmt: skip


def _number(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)
